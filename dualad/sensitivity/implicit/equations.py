"""A function of unknowns and parameters as its user wrote it, and what is said when it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ..errors import ModelError, SensitivityError
from ..given import members
from ..named import in_order
from ..parameters.parameters import ModelParameters, Parameters
from ..user_errors import failure
from .unknowns import Unknowns

__all__ = ["UserFunction", "called"]


class UserFunction:
    """f(x, p, *args), called with flat unknowns and the values of the parameters that move.

    Args:
        f: the function, written in NumPy.
        parameters: all parameters.
        wrt: the names of those that move.
        unknowns: what x is.
        args: further arguments of f.
        what: how messages call a function without a name of its own.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        parameters: Parameters,
        wrt: Sequence[str],
        unknowns: Unknowns,
        args: Sequence[Any] = (),
        what: str = "the function",
    ):
        if not callable(f):
            raise ModelError(f"{what} must be a function, got {type(f).__name__}")
        self.f, self.args = f, tuple(members("args", args, "further arguments of the function"))
        self.parameters, self.wrt, self.unknowns = parameters, tuple(wrt), unknowns
        self.name = called(f, what)

    def seen(self, q: Any) -> ModelParameters:
        """What the user's function sees, where q holds the values of the parameters that move."""
        return ModelParameters(
            {**self.parameters, **{name: q[j] for j, name in enumerate(self.wrt)}}
        )

    def raw(self, x: Any, q: Any) -> Any:
        """What f returned."""
        try:
            return self.f(self.unknowns.shaped(x), self.seen(q), *self.args)
        except SensitivityError:
            raise
        except Exception as error:
            more = ", ..." if self.args else ""
            given = f"(x, p{more}), x an array, in the order of the unknowns"
            raise ModelError(failure(self.name, self.f, error, given)) from error

    def __call__(self, x: Any, q: Any) -> Any:
        """What f returned, as one array."""
        complexes = np.iscomplexobj(x) or np.iscomplexobj(q)
        return self.array(self.raw(x, q), "fiuc" if complexes else "fiu")

    def array(self, out: Any, kinds: str = "fiu") -> Any:
        """A returned value as one array of real numbers, or of others where kinds has them.

        Parts with the names of the unknowns come in their order.
        """
        parts = in_order(out, self.unknowns.names, f"what {self.name} returned")
        if parts is None:
            raise ModelError(f"{self.name} returned None: is a return statement missing?")
        try:
            value = as_value(parts, f"what {self.name} returned")
        except (DualADError, ValueError) as error:
            raise ModelError(f"{self.name}: {error}") from error
        if value.dtype.kind not in kinds:
            raise ModelError(f"{self.name} returned {value.dtype}, not real numbers")
        return value

    def shaped_like_unknowns(self, x: Any, q: Any) -> Any:
        """What f returned, flat, of the shape of the unknowns."""
        out = self(x, q)
        if out.shape != self.unknowns.shape:
            raise ModelError(
                f"{self.name} returned shape {out.shape}; there must be one equation for each of "
                f"the unknowns {', '.join(self.unknowns.names[:8])}, of shape "
                f"{self.unknowns.shape}{': return [r] for a number r' if not out.shape else ''}"
            )
        return out.reshape((-1,))

    def try_out(self, x: np.ndarray, q: np.ndarray) -> None:
        """One plain call: finite, without side effects, the same when called again."""
        given = x.copy()
        first = np.array(self(given, q), float, copy=True)
        if not np.array_equal(given, x):
            raise ModelError(
                f"{self.name} writes into the unknowns that it is given: copy them first "
                f"(x = x.copy())"
            )
        if not np.array_equal(first, self(x.copy(), q), equal_nan=True):
            raise ModelError(
                f"{self.name} gave two results for the same x and p: it must not keep a state of "
                f"its own or draw random numbers"
            )

    def where(self, x: np.ndarray) -> str:
        """The point, in words."""
        p = ", ".join(f"{n} = {v:.6g}" for n, v in self.parameters.items())
        return f"at {self.unknowns.describe(x)}; parameters: {p}"


def called(f: Any, default: str) -> str:
    """The name of a function, or the default for one that has none."""
    name = getattr(f, "__name__", type(f).__name__)
    return default if name == "<lambda>" else str(name)
