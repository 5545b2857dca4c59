"""Sums of large tangents and cotangents over some axes.

NumPy adds along an axis row by row, which costs a call of its loop for each row: where rows are
short, or their sum is a number, the product with ones takes a fifth of the time. The value of a
function is summed by NumPy itself, so that it is the same to the last bit as without derivative.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .guard import ignore, restore
from .memory import F64, LARGE

__all__ = ["halves", "is_total", "joined", "quick_sum"]

#: Up to how many entries a row of the last axis is summed as a product; NumPy adds longer ones in
#: pairs, with less rounding error.
SHORT = 64
#: Up to how long a row that is added to others is short.
NARROW = 256


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
