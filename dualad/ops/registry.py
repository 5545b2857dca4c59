"""How a formulas file says which NumPy function a function stands for, and what it gives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from ..engine.levels.rules import FUNCTIONS, UFUNC_METHODS, UFUNCS, Table

__all__ = [
    "CONSTANT",
    "KINKS",
    "PREDICATE",
    "RESULTS",
    "function",
    "kinks",
    "ufunc",
    "ufunc_method",
]

F = TypeVar("F", bound=Callable[..., Any])

#: A result that is a number with derivative zero.
CONSTANT = "constant"
#: A result that answers a question: truth values, places, counts, types, text.
PREDICATE = "predicate"
#: What the results of a NumPy function are, where they carry no derivative.
RESULTS: dict[Any, str] = {}


def function(*numpy_functions: Any, result: str | None = None) -> Callable[[F], F]:
    """The decorated function handles these NumPy functions on traced arrays."""

    def register(f: F) -> F:
        for g in numpy_functions:
            FUNCTIONS[g] = f
            if result is not None:
                RESULTS[g] = result
        return f

    return register


def ufunc(*ufuncs: Any, result: str | None = None) -> Callable[[F], F]:
    """The decorated function, or primitive, handles a plain call of these ufuncs."""

    def register(f: F) -> F:
        for u in ufuncs:
            UFUNCS[u] = f
            if result is not None:
                RESULTS[u] = result
        return f

    return register


def ufunc_method(u: Any, method: str) -> Callable[[F], F]:
    """The decorated function handles a method of a ufunc (reduce, accumulate, outer, ...)."""

    def register(f: F) -> F:
        UFUNC_METHODS[u, method] = f
        return f

    return register


#: All conventions, as the formula files state them beside their rules, and the file of each:
#: function, point, slope, reason and section, by which `dualad.conventions` shows them.
KINKS = Table()


def kinks(*rows: tuple[str, str, str, str], section: str = "kinks") -> None:
    """State conventions: rows of function, point, slope, and the reason."""
    file = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]
    for row in rows:
        KINKS[*row, section] = file
