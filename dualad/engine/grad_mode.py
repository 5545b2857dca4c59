"""Whether operations on tensors are recorded: a setting of the context."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

__all__ = ["enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled"]

_enabled: ContextVar[bool] = ContextVar("dualad_grad_enabled", default=True)


def is_grad_enabled() -> bool:
    """Whether operations on tensors that require grad are recorded now."""
    return _enabled.get()


class _GradMode:
    """A context manager and decorator that sets the grad mode."""

    def __init__(self, mode: bool):
        self.mode = mode
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        self._tokens.append(_enabled.set(self.mode))

    def __exit__(self, *exc: object) -> None:
        _enabled.reset(self._tokens.pop())

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self).__new__(type(self))._with(self.mode):
                return f(*args, **kwargs)

        return wrapped

    def _with(self, mode: bool) -> _GradMode:
        _GradMode.__init__(self, mode)
        return self


class no_grad(_GradMode):
    """Within it nothing is recorded for backward; forward mode goes on.

    >>> import dualad
    >>> x = dualad.tensor(1.0, requires_grad=True)
    >>> with dualad.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, f: Callable[..., Any] | None = None):
        super().__init__(False)

    def __new__(cls, f: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if f is None else cls()(f)


class enable_grad(_GradMode):
    """Within it operations are recorded again, also inside no_grad."""

    def __init__(self, f: Callable[..., Any] | None = None):
        super().__init__(True)

    def __new__(cls, f: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if f is None else cls()(f)


class set_grad_enabled(_GradMode):
    """Set the grad mode: at once when called, restored at the end of a with block."""

    def __init__(self, mode: bool):
        super().__init__(bool(mode))
        self._tokens.append(_enabled.set(self.mode))

    def __enter__(self) -> None:
        pass
