"""Where the entries of arrays lie: views as offsets and strides, computed by NumPy itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Layout", "contiguous", "contiguous_strides", "merged", "view_of"]


class Layout(NamedTuple):
    """Offset and strides in entries, relative to the memory of a base."""

    base: Any
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def broadcast(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Strides along the axes of a shape that this one is broadcast to."""
        lead = len(shape) - len(self.shape)
        kept = [s if n != 1 else 0 for n, s in zip(self.shape, self.strides, strict=True)]
        return (0,) * lead + tuple(kept)

    def within(self, view: Layout) -> Layout:
        """The layout of a view of an array of this layout, given relative to the array."""
        return Layout(self.base, self.offset + view.offset, view.shape, view.strides)


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array in C order."""
    out, step = [], 1
    for n in reversed(shape):
        out.append(step)
        step *= n
    return tuple(out[::-1])


def contiguous(base: Any, shape: tuple[int, ...]) -> Layout:
    """An array in C order."""
    return Layout(base, 0, shape, contiguous_strides(shape))


def view_of(layout: Layout, operation: Callable[[np.ndarray], Any]) -> Layout | None:
    """The layout of what an operation gives, where that is a view of its operand; else None.

    The operation is applied to memory that is never read, so that NumPy computes the strides.
    """
    span = 1 + sum(abs(s) * (n - 1) for n, s in zip(layout.shape, layout.strides, strict=True))
    memory = np.empty(2 * span, np.int8)
    middle = memory[span:] if any(s < 0 for s in layout.strides) else memory
    dummy = np.lib.stride_tricks.as_strided(middle, layout.shape, layout.strides)
    out = operation(dummy)
    if not isinstance(out, np.ndarray) or not np.may_share_memory(out, memory):
        return None
    start = out.__array_interface__["data"][0] - dummy.__array_interface__["data"][0]
    return Layout(layout.base, layout.offset + start, out.shape, out.strides)


def merged(
    shape: tuple[int, ...], strides: list[tuple[int, ...]]
) -> tuple[list[int], list[list[int]]]:
    """The fewest loops over a shape in which each array still moves by one stride a loop."""
    dims: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis in reversed(range(len(shape))):
        n = shape[axis]
        if n == 1:
            continue
        mine = [s[axis] for s in strides]
        if dims and all(m == s[0] * dims[0] for m, s in zip(mine, steps, strict=True)):
            dims[0] *= n
        else:
            dims.insert(0, n)
            for m, s in zip(mine, steps, strict=True):
                s.insert(0, m)
    return dims or [1], steps if dims else [[0] for _ in strides]
