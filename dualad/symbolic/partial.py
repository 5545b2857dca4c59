"""Functions that have no real value for some real arguments: where they have one."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

import sympy

__all__ = ["real_only", "watched", "watching"]

#: Name of a ufunc -> what has to be at least zero for a real value.
DOMAINS: dict[str, Callable[..., Any]] = {
    "sqrt": lambda x: x,
    "log": lambda x: x,
    "log2": lambda x: x,
    "log10": lambda x: x,
    "log1p": lambda x: 1 + x,
    "arcsin": lambda x: 1 - x**2,
    "arccos": lambda x: 1 - x**2,
    "arccosh": lambda x: x - 1,
    "arctanh": lambda x: 1 - x**2,
    "power": lambda x, y: sympy.Integer(1) if y.is_integer else x,
    "float_power": lambda x, y: sympy.Integer(1) if y.is_integer else x,
}

_noted: contextvars.ContextVar[list[Any] | None] = contextvars.ContextVar("noted", default=None)
_real: contextvars.ContextVar[bool] = contextvars.ContextVar("real", default=False)


@contextlib.contextmanager
def watching() -> Iterator[list[Any]]:
    """Collect what has to be at least zero for the code to have values, if it may be less."""
    found: list[Any] = []
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


@contextlib.contextmanager
def real_only() -> Iterator[None]:
    """What leaves the real numbers is NaN, as it is in NumPy."""
    token = _real.set(True)
    try:
        yield
    finally:
        _real.reset(token)


def watched(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of expressions that notes where it has a value, if it has not everywhere."""
    domain = DOMAINS.get(name)
    if domain is None:
        return f

    def call(*args: Any) -> Any:
        if any(a.has(sympy.I) for a in args):
            return f(*args)
        inside = domain(*args)
        noted = _noted.get()
        if noted is not None and not (inside.is_nonnegative or inside.is_number):
            noted.append(inside)
        return sympy.nan if _real.get() and inside.is_negative else f(*args)

    return call
