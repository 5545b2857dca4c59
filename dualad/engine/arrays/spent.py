"""Which large arrays may be written over: those that nobody holds but who is about to do it.

It is told by the count of references. A view holds what it is a view of; memory that is not an
array's own may be another's.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .memory import F64, has_own_memory

__all__ = ["SPENT", "added", "is_free", "is_spent", "subtracted"]

#: Among the numbers of variables whose cotangents the sweep owns: that the cotangent which a rule
#: is given is held by nobody else.
SPENT = -1


def added(c: Any, s: Any, reads: tuple[()] = (), over: bool = False) -> Any:
    """What has come so far and a cotangent as it is."""
    if s is None:
        return c
    return np.add(s, c, s) if _takes(s, c, sys.getrefcount(s)) else s + c


def subtracted(c: Any, s: Any, reads: tuple[()] = (), over: bool = False) -> Any:
    """What has come so far without a cotangent as it is."""
    if s is None:
        return np.negative(c, c) if over else -c
    return np.subtract(s, c, s) if _takes(s, c, sys.getrefcount(s)) else s - c


def _takes(s: Any, c: np.ndarray, references: int) -> bool:
    """Whether c may be added to s in place."""
    if type(s) is not np.ndarray or s.shape != c.shape or not (s.dtype is F64 is c.dtype):
        return False
    return is_free(s, references)


def is_free(array: np.ndarray, references: int) -> bool:
    """Whether a cotangent with so many references may be added to in place."""
    return references == HELD_ONCE and has_own_memory(array) and array.flags.writeable


def _held_once() -> int:
    """The count of references that a rule sees to a cotangent which the sweep alone holds."""

    def count(s: np.ndarray, references: int) -> int:
        return references

    def rule(s: np.ndarray) -> int:
        return count(s, sys.getrefcount(s))  # the call holds a reference, as that of is_free does

    g = [np.zeros(1)]
    s = g[0]
    return rule(s)


HELD_ONCE = _held_once()


def references(arrays: list[Any], k: int) -> int:
    """How many hold an array, as far as can be counted here."""
    return sys.getrefcount(arrays[k])


#: The count where the list alone does.
ALONE = references([np.zeros(1)], 0)


def is_spent(arrays: list[Any], k: int) -> bool:
    """Whether an array may be written over that nobody but a list has."""
    if references(arrays, k) != ALONE:
        return False
    a = arrays[k]
    return a.flags.c_contiguous and a.flags.writeable and has_own_memory(a)
