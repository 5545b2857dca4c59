"""Short rows made long: how arrays are laid out for a ufunc in which one broadcasts.

NumPy's loops run along the last axis. Where that is short and an operand is repeated along the
axis before, a call of the loop for each row costs more than its work. So the operand is written
down a few times, one copy behind the other, and several rows of the others are taken as one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["has_short_rows", "in_long_rows", "long_rows"]

#: Rows of fewer entries are short.
SHORT = 64
#: How long they are made at most.
LONG = 1024
#: How many of the long rows there are at least, so that what is written down is little.
MANY = 8
#: How many rows are taken as one at least.
LEAST = 4


def long_rows(shape: tuple[int, ...], operands: Sequence[Any]) -> tuple[tuple, list] | None:
    """A shape with longer rows, and float64 operands (or numbers) that broadcast to it.

    The entries of the result lie in the same order. None where rows are long enough, or cannot be
    taken together: their number has no fitting divisor, or an operand has one entry for each.
    """
    if not has_short_rows(shape):
        return None
    together = _together(*shape[-2:])
    laid = [_laid(a, shape, together) if type(a) is np.ndarray else a for a in operands]
    if any(a is None for a in laid):
        return None
    return (*shape[:-2], shape[-2] // together, together * shape[-1]), laid


def has_short_rows(shape: tuple[int, ...]) -> bool:
    """Whether rows are short, and several may be taken as one."""
    return len(shape) > 1 and 1 < shape[-1] < SHORT and _together(*shape[-2:]) >= LEAST


def in_long_rows(ufunc: Callable[..., Any], *operands: Any, out: np.ndarray) -> np.ndarray:
    """A ufunc of float64 arrays and numbers into an array in order, whose rows are short."""
    longer = long_rows(out.shape, operands)
    if longer is None:
        ufunc(*operands, out=out)
        return out
    ufunc(*longer[1], out=out.reshape(longer[0]))
    return out


@functools.lru_cache(maxsize=1024)
def _together(n: int, width: int) -> int:
    """How many of n rows are taken as one."""
    return next((k for k in range(min(LONG // width, n // MANY), 0, -1) if n % k == 0), 0)


def _laid(a: np.ndarray, shape: tuple[int, ...], together: int) -> np.ndarray | None:
    """An operand as rows that are so many times as long."""
    if a.ndim < 2:
        a = a.reshape((1,) * (2 - a.ndim) + a.shape)
    # An axis along which it is repeated has one entry.
    a = a[tuple([slice(0, 1) if step == 0 else slice(None) for step in a.strides])]
    n, width = a.shape[-2:]
    if width != shape[-1]:
        return a if n == 1 else None
    long = together * width
    if n == 1:
        copies = np.empty((*a.shape[:-2], together, width))
        copies[...] = a
        return copies.reshape(*a.shape[:-2], 1, long)
    if a.strides[-2:] != (8 * width, 8):
        return None
    return a.reshape(*a.shape[:-2], n // together, long)
