"""Sums of large arrays over some axes.

NumPy adds along an axis row by row, which costs a call of its loop for each row. For tangents and
cotangents, where rows are short, or their sum is a number, the product with ones takes a fifth of
the time. The value of a function is the same to the last bit as without derivative: short rows
are added by columns, in the order in which NumPy adds the entries of a row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .cutting import scratch
from .guard import ignore, restore
from .memory import F64, LARGE, workspace

__all__ = ["halves", "is_by_columns", "is_total", "joined", "quick_sum", "sum_up", "total"]

#: Up to how many entries a row of the last axis is summed as a product; NumPy adds longer ones in
#: pairs, with less rounding error.
SHORT = 64
#: Up to how long a row that is added to others is short.
NARROW = 256
#: How many columns are added as such at most.
COLUMNS = 15
#: How many entries of them are in the cache together: 512 kB.
TOGETHER = 1 << 16


def total(x: Any, axes: tuple[int, ...]) -> Any:
    """np.add.reduce(x, axis=axes), to the last bit."""
    if type(x) is np.ndarray and x.size >= LARGE and is_by_columns(x.shape, axes):
        if x.dtype is F64 and x.flags.c_contiguous:
            out = _by_columns(x)
            # NumPy's warnings are those of its own sum.
            if math.isfinite(np.vdot(out, out)):
                return out
    return np.add.reduce(x, axis=axes)


def is_by_columns(shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Whether a sum is over a short last axis."""
    return len(axes) == 1 and axes[0] == len(shape) - 1 and 1 < shape[-1] <= COLUMNS


def _by_columns(x: np.ndarray) -> np.ndarray:
    """The sum over the last axis, of up to 15 entries.

    NumPy adds seven entries one by one; of more it adds eight in pairs, then the rest. It starts
    from 0, which makes 0 of -0.
    """
    out = workspace(x.shape[:-1], F64)
    rows, sums = x.reshape(-1, x.shape[-1]), out.reshape(-1)
    step = TOGETHER // x.shape[-1]
    token = ignore()
    try:
        for start in range(0, sums.size, step):
            _add_columns(rows[start : start + step].T, sums[start : start + step])
            sums[start : start + step] += 0.0
    finally:
        restore(token)
    return out


def _add_columns(c: np.ndarray, s: np.ndarray) -> None:
    np.add(c[0], c[1], s)
    done = 2
    if len(c) >= 8:
        t, u = scratch(2, s.size)
        s += np.add(c[2], c[3], t)
        np.add(c[4], c[5], t)
        t += np.add(c[6], c[7], u)
        s += t
        done = 8
    for k in range(done, len(c)):
        s += c[k]


def quick_sum(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum of an array over some axes; None where NumPy's own is as quick."""
    if type(x) is not np.ndarray or x.size < LARGE or x.dtype is not F64 or not axes:
        return None
    if not x.flags.c_contiguous:
        return _of_broadcast(x, axes)
    if len(axes) == x.ndim or max(axes) - min(axes) + 1 != len(axes):
        return None
    first, last, shape = min(axes), max(axes) + 1, x.shape
    before, after = shape[:first], shape[last:]
    n, width = math.prod(shape[first:last]), math.prod(after)
    if n > SHORT if width == 1 else width > NARROW or n * width < SHORT:
        return None
    token = ignore()
    try:
        if width == 1:
            return np.matmul(x.reshape(-1, n), np.ones(n)).reshape(before + after)
        return np.matmul(np.ones(n), x.reshape(-1, n, width)).reshape(before + after)
    finally:
        restore(token)


def sum_up(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum of an array over some axes, up to rounding."""
    out = quick_sum(x, axes)
    return np.add.reduce(x, axis=axes) if out is None else out


def _of_broadcast(x: np.ndarray, axes: tuple[int, ...]) -> Any:
    """An array that repeats its entries along some of the axes: each once, times their number."""
    repeated = [k for k in axes if x.strides[k] == 0]
    if not repeated:
        return None
    one = x[tuple([0 if k in repeated else slice(None) for k in range(x.ndim)])]
    rest = tuple([k - sum(r < k for r in repeated) for k in axes if k not in repeated])
    one = one * float(math.prod([x.shape[k] for k in repeated]))
    return np.add.reduce(one, axis=rest) if rest else one


# --- the sum of all entries from sums of parts -------------------------------------------------
#
# NumPy adds the entries of an array without gaps in pairs: it cuts it in halves, of which the
# first is a multiple of eight long. Where it is cut there, the sums of the parts give its sum.


def is_total(x: Any, axes: tuple[int, ...]) -> bool:
    """Whether a sum over axes is that of all entries."""
    return len(axes) == len(x.shape)


def halves(n: int, most: int) -> list[int]:
    """How long the parts are that NumPy cuts n entries into, each as long as `most` at most."""
    if n <= most:
        return [n]
    first = n // 2 - n // 2 % 8
    return halves(first, most) + halves(n - first, most)


def joined(n: int, most: int, sums: Iterator[Any]) -> Any:
    """The sum of n entries from those of their `halves`."""
    if n <= most:
        return next(sums)
    first = n // 2 - n // 2 % 8
    total = joined(first, most, sums)
    return total + joined(n - first, most, sums)


def sum_of_parts(n: int, most: int, sums: Sequence[Any]) -> Any:
    """The sum of n entries from those of all their `halves`, without warnings."""
    token = ignore()
    try:
        return joined(n, most, iter(sums))
    finally:
        restore(token)
