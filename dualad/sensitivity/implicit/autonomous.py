"""A right-hand side f(t, x, p) that does not depend on the time, as rates f(x, p)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelError

__all__ = ["autonomous"]

#: Times that have nothing to do with each other.
TIMES = (0.0, 0.73, 1234.5)


def autonomous(rhs: Any, further: int) -> Any:
    """rhs itself, if it takes (x, p) and further arguments; else f(t, x, p) without its t."""
    return Autonomous(rhs) if callable(rhs) and takes_time(rhs, 2 + further) else rhs


def takes_time(f: Callable[..., Any], without: int) -> bool:
    """Whether a function can be called with one argument more only."""
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        return False
    return not binds(signature, without) and binds(signature, without + 1)


def binds(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True


class Autonomous:
    """f(t, x, p) at one time, once it was seen to be the same at others."""

    def __init__(self, f: Callable[..., Any]):
        self.f, self.seen = f, False
        self.__name__ = getattr(f, "__name__", type(f).__name__)
        self.__code__ = getattr(f, "__code__", None)

    def __call__(self, x: Any, p: Any, *args: Any) -> Any:
        if not self.seen and type(x) is np.ndarray:
            self.require_same(x, p, *args)
        return self.f(TIMES[0], x, p, *args)

    def require_same(self, x: np.ndarray, p: Any, *args: Any) -> None:
        """The rates at several times must be the same.

        Raises:
            ModelError: they are not: there is no steady state.
        """
        first, *others = [np.asarray(self.f(t, x.copy(), p, *args), float) for t in TIMES]
        for t, other in zip(TIMES[1:], others, strict=True):
            if not np.array_equal(first, other, equal_nan=True):
                i = int(np.argmax(np.abs(np.ravel(first) - np.ravel(other))))
                raise ModelError(
                    f"{self.__name__} depends on the time: entry {i} is {np.ravel(first)[i]:.6g} "
                    f"at t = {TIMES[0]:g} and {np.ravel(other)[i]:.6g} at t = {t:g}, so "
                    f"that there is no steady state. Fix the time, rhs=lambda x, p: f(0.0, x, p)"
                )
        self.seen = True
