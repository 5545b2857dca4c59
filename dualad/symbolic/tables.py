"""Where NumPy's functions on symbolic arrays are registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .value import FUNCTIONS

__all__ = ["METHODS", "UFUNCS", "handles"]


#: ufuncs that are not elementwise, and those that NumPy knows under two names.
UFUNCS: dict[str, Callable[..., Any]] = {}
#: Methods of ufuncs.
METHODS: dict[str, Callable[..., Any]] = {}


def handles(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what handles some NumPy functions on symbolic arrays."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for g in functions:
            FUNCTIONS[g] = f
        return f

    return register
