"""Memory and its versions: who owns the memory of an array, and how often it was written in place.

A version belongs to the memory, so that a tensor, its views, its detached aliases and the duals
made of it share one. Only memory that has been written to is known here; all other is at 0.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from .traced import raw

__all__ = ["bump", "copy_into", "overlap", "owner", "version"]

_versions: dict[int, int] = {}


def owner(array: np.ndarray) -> np.ndarray:
    """The array at the end of the chain of bases."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def version(x: Any) -> int:
    """How often the memory under a value has been written in place."""
    value = raw(x)
    return _versions.get(id(owner(value)), 0) if isinstance(value, np.ndarray) else 0


def bump(array: np.ndarray) -> None:
    """Count one write to the memory of an array."""
    memory = owner(array)
    key = id(memory)
    if key not in _versions:
        weakref.finalize(memory, _versions.pop, key, None)
        _versions[key] = 0
    _versions[key] += 1


def copy_into(target: np.ndarray, value: Any) -> None:
    """Write plain values into an array and count the write."""
    if value is not target:
        np.copyto(target, value, casting="unsafe")
    bump(target)


def overlap(a: Any, b: Any) -> bool:
    """Whether the plain values of two values lie in the same memory (by their bounds)."""
    a, b = raw(a), raw(b)
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)
