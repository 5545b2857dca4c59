"""What is known of a matrix that is alive: its factors, its inverse, what was solved by them.

It is remembered by its thread, and found again by the identity of the matrix and by its content;
see `shared`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.arrays.memory import large_copy
from .lapack import LU

__all__ = ["LEAST", "MEMORY", "Known", "is_large", "recall", "record_of"]

#: From this many rows on it pays to look for what is known of a matrix.
LEAST = 64

every = np.logical_and.reduce


def nothing() -> None:
    """In the place of a reference to what is there no more."""


class Known:
    """What is known of a matrix as it was: its factors, its inverse.

    As it was is a copy, which no write to the matrix reaches, and where that lies. A product with
    a vector would cost less to keep and to compare, but hides what is changed in an entry that is
    tiny beside others of its row, where the determinant may hang on it.
    """

    __slots__ = ("copy", "inverse", "log_det", "lu", "place", "solution", "strides")

    def __init__(self, a: np.ndarray):
        self.copy, self.strides, self.place = large_copy(a), a.strides, _place(a)
        self.lu: LU | None = None
        self.inverse: np.ndarray | None = None
        #: the value that `slogdet_of` gave
        self.log_det: np.float64 | None = None
        #: what `solution` gave last
        self.solution: Callable[[], Any] = nothing

    def is_of(self, a: np.ndarray) -> bool:
        """Whether it is known of a, where the memory is the same."""
        return a.strides == self.strides and bool(every(np.equal(a, self.copy), axis=None))


def _place(a: np.ndarray) -> tuple:
    return a.__array_interface__["data"], a.shape, a.dtype


class _Memory(threading.local):
    """Of the last matrix of a thread: who owns its memory, and what is known, if anything."""

    def __init__(self) -> None:
        self.owner: Callable[[], Any] = nothing
        self.known: list[Known] = []
        #: what was found last by substitution, and whether in a lower triangle
        self.substituted: tuple[Callable[[], Any], bool] = nothing, True


MEMORY = _Memory()


def _owner(a: np.ndarray) -> np.ndarray:
    return a.base if isinstance(a.base, np.ndarray) else a


def is_large(a: Any) -> bool:
    """Whether a is one plain real square matrix of which more is worth to be remembered."""
    return (
        type(a) is np.ndarray and a.ndim == 2 and a.shape[0] == a.shape[1] >= LEAST
        and a.dtype.char in "fd" and type(_owner(a)) is np.ndarray
    )  # fmt: skip


def record_of(a: np.ndarray) -> Known:
    """What is known of this matrix from now on; one that holds a NaN is never like it."""
    found, is_transposed = recall(a)
    if found is not None and not is_transposed:
        return found
    record = Known(a)
    known = [record]
    MEMORY.owner, MEMORY.known = weakref.ref(_owner(a), lambda _: known.clear()), known
    return record


def recall(a: np.ndarray) -> tuple[Known | None, bool]:
    """What is known of a or of its transpose, and of which."""
    if MEMORY.owner() is _owner(a) and MEMORY.known:
        (known,) = MEMORY.known
        if known.place == _place(a):
            if known.is_of(a):
                return known, False
            if known.is_of(a.T):
                return known, True
    return None, False
