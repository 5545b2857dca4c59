"""How a formulas file says which NumPy function a Python function stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..engine.traced import FUNCTIONS, UFUNC_METHODS, UFUNCS

__all__ = ["function", "ufunc", "ufunc_method"]

F = TypeVar("F", bound=Callable[..., Any])


def function(*numpy_functions: Any) -> Callable[[F], F]:
    """The decorated function handles these NumPy functions on traced arrays."""

    def register(f: F) -> F:
        for g in numpy_functions:
            FUNCTIONS[g] = f
        return f

    return register


def ufunc(*ufuncs: Any) -> Callable[[F], F]:
    """The decorated function handles a plain call of these ufuncs."""

    def register(f: F) -> F:
        for u in ufuncs:
            UFUNCS[u] = f
        return f

    return register


def ufunc_method(u: Any, method: str) -> Callable[[F], F]:
    """The decorated function handles a method of a ufunc (reduce, accumulate, outer, ...)."""

    def register(f: F) -> F:
        UFUNC_METHODS[u, method] = f
        return f

    return register
