"""Memory and its versions: who owns the memory of an array, and how often it was written in place.

A version belongs to the memory, so that a tensor, its views, its detached aliases and the duals
made of it share one. Only memory that has been written to is known here; all other is at 0.
"""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

import numpy as np

from ..levels.level import newest_rank
from ..levels.traced import memory_of

__all__ = [
    "bump",
    "copy_into",
    "overlap",
    "owner",
    "partly_overlap",
    "version",
    "version_of",
    "written_at",
]


class _Written(weakref.ref[np.ndarray]):
    """Memory that has been written to: how often, and when last (a rank among those of levels)."""

    __slots__ = ("count", "key", "time")
    count: int
    key: int
    time: int


_written: dict[int, _Written] = {}
#: Of memory that has died. C code puts it here: an interrupt that comes in Python code at that
#: moment would be lost.
_died: deque[_Written] = deque()


def owner(array: np.ndarray) -> np.ndarray:
    """The array at the end of the chain of bases."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def version(x: Any) -> int:
    """How often the memory under a value has been written in place."""
    value = memory_of(x)
    return version_of(owner(value)) if isinstance(value, np.ndarray) else 0


def version_of(memory: np.ndarray) -> int:
    """How often the memory that this array owns has been written in place."""
    written = _written.get(id(memory))
    return written.count if written is not None and written() is memory else 0


def bump(array: np.ndarray) -> None:
    """Count one write to the memory of an array."""
    memory = owner(array)
    key = id(memory)
    written = _written.get(key)
    if written is None or written() is not memory:
        _forget_the_dead()
        _written[key] = written = _Written(memory, _died.append)
        written.key, written.count = key, 0
    written.count += 1
    written.time = newest_rank()


def _forget_the_dead() -> None:
    while _died:
        try:
            written = _died.pop()
        except IndexError:  # another thread was quicker
            return
        if _written.get(written.key) is written:
            del _written[written.key]


def written_at(x: Any) -> int:
    """When the memory under a value was last written in place: never is 0."""
    value = memory_of(x)
    if not isinstance(value, np.ndarray):
        return 0
    written = _written.get(id(memory := owner(value)))
    return written.time if written is not None and written() is memory else 0


def copy_into(target: np.ndarray, value: Any) -> None:
    """Write plain values into an array and count the write."""
    if value is not target:
        np.copyto(target, value, casting="unsafe")
    bump(target)


def overlap(a: Any, b: Any) -> bool:
    """Whether the plain values of two values lie in the same memory (by their bounds)."""
    a, b = memory_of(a), memory_of(b)
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)


def partly_overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays without gaps share memory, but do not lie in it in the same way."""
    if owner(a) is not owner(b):
        return False
    if a.__array_interface__["data"] == b.__array_interface__["data"] and (
        a.shape == b.shape and a.strides == b.strides
    ):
        return False
    return _is_dense(a) and _is_dense(b) and np.may_share_memory(a, b)


def _is_dense(a: np.ndarray) -> bool:
    """Whether the entries lie in memory one after the other, in some order of the axes."""
    step = a.itemsize
    for stride, n in sorted(zip(a.strides, a.shape, strict=True)):
        if n != 1 and stride != step:
            return False
        step *= n
    return True
