"""Memory for what rules compute in between, which the next rule gets again.

The pages of a fresh array are faulted in one by one when it is first written to, and go back to
the system when it dies: for matrices of some hundred rows that takes longer than to compute what
is in them. So memory of this size stays with its thread, a few megabytes at most, and is lent.
"""

from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np

__all__ = ["copied", "is_lent_to_one", "workspace", "zeros"]

#: The sizes that are lent, in bytes, and how much of it a thread keeps.
LEAST, MOST, TOGETHER = 1 << 17, 1 << 22, 1 << 23


class _Kept(threading.local):
    """The memory of a thread that is not lent, the oldest first."""

    def __init__(self) -> None:
        self.free: list[np.ndarray] = []


_kept = _Kept()


class _Loan:
    """Memory that comes back when the last array on it is gone."""

    __slots__ = ("__array_interface__", "free", "memory")

    def __init__(self, memory: np.ndarray, free: list[np.ndarray]):
        self.memory, self.free = memory, free
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        self.free.append(self.memory)
        while sum([m.nbytes for m in self.free]) > TOGETHER:
            del self.free[0]


def workspace(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array with any content, in order C."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if not LEAST <= size <= MOST or dtype.kind not in "fc":
        return np.empty(shape, dtype)
    free = _kept.free
    for k in range(len(free) - 1, -1, -1):
        if free[k].nbytes == size:
            memory = free.pop(k)
            break
    else:
        memory = np.empty(size, np.uint8)
    return np.asarray(_Loan(memory, free)).view(dtype).reshape(shape)


def is_lent_to_one(array: np.ndarray) -> bool:
    """Whether an array is on memory that was lent, and no other array is."""
    return _is_lent(array.base) and _references_to_base(array) == HELD_BY_ONE


def _is_lent(base: Any) -> bool:
    return isinstance(base, np.ndarray) and isinstance(base.base, _Loan)


def _references_to_base(array: np.ndarray) -> int:
    return sys.getrefcount(array.base)


#: The count for an array that is the only one on its memory.
HELD_BY_ONE = _references_to_base(np.empty(2)[:1])


def zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of zeros, in order C."""
    n = math.prod(shape)
    if not LEAST <= n * np.dtype(dtype).itemsize <= MOST:
        return np.zeros(shape, dtype)
    out = workspace(shape, dtype)
    out[...] = 0
    return out


def copied(x: Any) -> np.ndarray:
    """A copy of an array, in order C."""
    out = workspace(x.shape, x.dtype)
    out[...] = x
    return out
