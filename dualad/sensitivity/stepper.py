"""SciPy's solver classes, by name, and a subclass that counts its steps and tells of them."""

from __future__ import annotations

import inspect
from typing import Any

from .errors import SensitivityError
from .progress import Progress

__all__ = ["counting", "solver_class", "takes_jacobian"]


def solver_class(method: str | type, integrate: Any) -> type:
    """The OdeSolver class that a name stands for.

    Raises:
        SensitivityError: it is neither a known name nor such a class.
    """
    known = {
        name: cls
        for name, cls in vars(integrate).items()
        if inspect.isclass(cls) and issubclass(cls, integrate.OdeSolver) and name != "OdeSolver"
    }
    if isinstance(method, str) and method in known:
        return known[method]
    if inspect.isclass(method) and issubclass(method, integrate.OdeSolver):
        return method
    raise SensitivityError(
        f"method must be one of {', '.join(sorted(known))} or an OdeSolver class, got {method!r}"
    )


def takes_jacobian(solver: type) -> bool:
    """Whether the method is implicit: then it asks for the Jacobian of the system."""
    return "jac" in inspect.signature(solver.__init__).parameters  # type: ignore[misc]


def counting(base: Any, report: Progress) -> Any:
    """A subclass that counts its steps, keeps where the last one began, and tells of it.

    SciPy makes the instance itself, so that the class is what can be asked afterwards.
    """

    class Counting(base):
        steps = 0
        last = None

        def step(self) -> Any:
            cls = type(self)
            cls.last = (self.t, self.y)
            message = super().step()
            cls.steps += self.status != "failed"
            report(self.t, cls.steps)
            return message

    Counting.__name__ = base.__name__
    return Counting
