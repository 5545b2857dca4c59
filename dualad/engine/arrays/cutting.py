"""How large arrays are cut into blocks that fit the cache, and what is computed block by block.

Arrays of one shape in order are cut as if they had one axis, those that broadcast along their
first one, after `rows` has made short rows long.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .memory import F64, LARGE, aligned, copied
from .rows import long_rows

__all__ = ["TOGETHER", "add_products", "aligned_block", "by_blocks", "laid_out", "scratch"]

#: How many entries the blocks of one rule have together: 1 MB, a second level cache holds it.
TOGETHER = 1 << 17


class _Scratch(threading.local):
    """The blocks of a thread for what is intermediate, a few MB at most."""

    memory = np.empty(0)


_scratch = _Scratch()
_fresh = aligned(8)
#: How many references there are to the memory of blocks that nobody has.
IDLE = sys.getrefcount(_fresh.base)


def scratch(count: int, n: int) -> np.ndarray:
    """Rows of n float64 entries for intermediate blocks, the same ones at every call.

    Each begins where a line of the cache does. They are others while somebody has these: Python
    may run code in the midst of an operation, for a signal or an object that has died.
    """
    step = -(-n // 8) * 8
    if sys.getrefcount(_scratch.memory.base) != IDLE or _scratch.memory.size < count * step:
        _scratch.memory = aligned(count * step)
    return _scratch.memory[: count * step].reshape(count, step)[:, :n]


def aligned_block(count: int) -> int:
    """How long blocks are of which there are so many: whole lines of the cache."""
    return TOGETHER // count // 8 * 8


class Laid(NamedTuple):
    """How arrays are cut: along the first axis of a frame, in which they have their entries."""

    #: that of the result
    shape: tuple[int, ...]
    frame: tuple[int, ...]
    #: how far a block reaches: over all of the first axis where one block is enough
    step: int
    arrays: Sequence[np.ndarray]
    #: which of the arrays are cut; the others are the same for every block
    cut: Sequence[bool]


def laid_out(others: int, arrays: Sequence[Any]) -> Laid | None:
    """How to cut arrays into blocks that are in the cache together with so many others.

    Arrays of one shape in order are cut as if they had one axis; those that broadcast, or repeat
    their entries, along the first axis. Transposes of matrices beside a first one that is in order
    are copied, which takes less than to read them together. None where they are not plain float64,
    or lie otherwise.
    """
    shape, whole = arrays[0].shape, True
    for a in arrays:
        if type(a) is not np.ndarray or a.dtype is not F64:
            return None
        whole = whole and a.flags.c_contiguous
        if a.ndim > len(shape):
            shape = a.shape
    full = [a.shape == shape for a in arrays]
    if whole and all(full):
        n, block = arrays[0].size, aligned_block(others + len(arrays))
        if n <= block:
            return Laid(shape, shape, shape[0], arrays, full)
        return Laid(shape, (n,), block, [a.reshape(-1) for a in arrays], full)
    if all(full) and len(shape) == 2 and arrays[0].flags.c_contiguous:
        if all(a.flags.forc for a in arrays):
            return laid_out(others, [a if a.flags.c_contiguous else copied(a) for a in arrays])
    for a in arrays:
        if not (a.flags.c_contiguous or 0 in a.strides):
            return None
    if any(a.shape != shape[len(shape) - a.ndim :] for a in arrays):
        shape = np.broadcast(*arrays).shape
    if math.prod(shape) < LARGE:
        return None
    frame, laid = long_rows(shape, arrays) or (shape, arrays)
    row = math.prod(frame[1:])  # of an axis that is cut as it is
    if row > TOGETHER:
        return None
    cut = [a.ndim == len(frame) and a.shape[0] == frame[0] for a in laid]
    return Laid(shape, frame, max(1, aligned_block(others + sum(cut)) // row), laid, cut)


def by_blocks(
    rule: Callable[..., None], spares: int, laid: Laid, results: Sequence[Any], numbers: Sequence
) -> None:
    """Call rule(*results, work, *arrays, *numbers) on each block; a result may be None.

    work: so many blocks for what is intermediate.
    """
    _, frame, step, arrays, cut = laid
    whole = [None if r is None else r.reshape(frame) for r in results]
    if step >= frame[0]:
        work = [r.reshape(frame) for r in scratch(spares, math.prod(frame))] if spares else ()
        rule(*whole, work, *arrays, *numbers)
        return
    rows = scratch(spares, step * math.prod(frame[1:]))
    for start in range(0, frame[0], step):
        at = slice(start, start + step)
        now: list[Any] = [None if r is None else r[at] for r in whole]
        work = cut_rows(rows, now[0])
        rule(*now, work, *[a[at] if c else a for a, c in zip(arrays, cut, strict=True)], *numbers)


def add_products(into: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Add a @ b, which are stacks of as many small matrices, into a large array.

    Some matrices at a time, which are in the cache when they are added. False where the arrays
    are not plain float64 of fitting shapes.
    """
    shape, each = into.shape, into[:1].size
    if not (into.dtype is F64 is a.dtype is b.dtype) or into.size < LARGE or len(shape) < 3:
        return False
    if (*a.shape[:-1], b.shape[-1]) != shape or a.shape[:-2] != b.shape[:-2]:
        return False
    step = aligned_block(4) // each  # two operands, the product, their sum
    if not 0 < step < shape[0]:
        return False
    (memory,) = scratch(1, step * each)
    for start in range(0, shape[0], step):
        part = into[start : start + step]
        product = memory[: part.size].reshape(part.shape)
        np.matmul(a[start : start + step], b[start : start + step], product)
        part += product
    return True


def cut_rows(rows: np.ndarray, like: np.ndarray) -> list[np.ndarray]:
    """Intermediate blocks in the shape of a block."""
    if like.ndim == 1:
        return [r[: like.size] for r in rows]
    return [r[: like.size].reshape(like.shape) for r in rows]
