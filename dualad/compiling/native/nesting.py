"""Loops over the axes of a shape, along which arrays move; long ones go block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from .emitter import Emitter
from .entry import Entry, integer
from .fetching import AHEAD, SHORT
from .layouts import Layout, merged

__all__ = ["Access", "nest", "turns"]

#: Sums add so many entries in any order, and then what those gave with compensation.
BLOCK = 1024


class Access:
    """An array that moves along with a loop."""

    __slots__ = ("at", "dtype", "is_fetched", "layout", "pointer", "strides")

    def __init__(self, pointer: Any, layout: Layout, dtype: np.dtype, strides: tuple[int, ...]):
        self.pointer, self.layout, self.dtype = pointer, layout, dtype
        self.strides = strides
        self.at: Any = None
        #: whether it is asked for before it is read
        self.is_fetched = False

    def load(self, e: Emitter) -> Entry:
        return e.load(self.pointer, self.at, self.dtype)

    def store(self, e: Emitter, x: Entry) -> None:
        e.store(e.cast(x, self.dtype), self.pointer, self.at)


def nest(
    e: Emitter, shape: tuple[int, ...], accesses: list[Access], body: Any, around: Any = None
) -> None:
    """Loops over a shape; `around` gets the innermost one, to write before and behind it."""
    dims, steps = merged(shape, [a.strides for a in accesses])
    starts = [integer(a.layout.offset) for a in accesses]
    turns(e, dims, steps, starts, accesses, body, around)


def turns(
    e: Emitter, dims: list[Any], steps: list[list[int]], starts: list[Any],
    accesses: list[Access], body: Any, around: Any,
) -> None:  # fmt: skip
    """Loops of so many turns, from where each array starts on."""
    is_long = not isinstance(dims[0], int) or dims[0] > 4 * BLOCK
    is_fetched = any(a.is_fetched for a in accesses)
    if len(dims) == 1 and is_long and (around is not None or is_fetched):
        _blocks(e, dims[0], [s[0] for s in steps], starts, accesses, body, around)
    else:
        _turns(e, dims, steps, starts, accesses, body, around)


def _turns(
    e: Emitter, dims: list[Any], steps: list[list[int]], at: list[Any], accesses: list[Access],
    body: Any, around: Any,
) -> None:  # fmt: skip
    if not dims:
        for a, k in zip(accesses, at, strict=True):
            a.at = k
        body()
        return

    def write() -> None:
        with e.loop(dims[0]) as turn:
            moved = [_moved(e, k, turn, s[0]) for k, s in zip(at, steps, strict=True)]
            _turns(e, dims[1:], [s[1:] for s in steps], moved, accesses, body, around)

    if len(dims) == 1 and around is not None:
        around(write)
    else:
        write()


def _moved(e: Emitter, at: Any, turn: Any, step: Any) -> Any:
    b = e.builder
    if step == 0:
        return at
    move = turn if step == 1 else b.mul(turn, integer(step), flags=("nsw",))
    return move if isinstance(at, ir.Constant) and at.constant == 0 else b.add(at, move, ("nsw",))


def _blocks(
    e: Emitter, n: Any, steps: list[int], starts: list[Any], accesses: list[Access], body: Any,
    around: Any,
) -> None:  # fmt: skip
    """One long loop as loops over blocks."""
    b = e.builder
    fetched = [k for k, a in enumerate(accesses) if a.is_fetched and steps[k] == 1]
    size = SHORT if fetched else BLOCK
    whole = integer(n) if isinstance(n, int) else n
    with e.loop(b.udiv(b.add(whole, integer(size - 1)), integer(size))) as block:
        first = b.mul(block, integer(size), flags=("nuw", "nsw"))
        left = b.sub(whole, first, flags=("nuw", "nsw"))
        count = b.select(b.icmp_unsigned("<", left, integer(size)), left, integer(size))
        at = [_moved(e, k, first, s) for k, s in zip(starts, steps, strict=True)]
        for k in fetched:
            e.fetch(accesses[k].pointer, b.add(at[k], integer(AHEAD)), size, accesses[k].dtype)

        def write() -> None:
            with e.loop(count) as turn:
                for a, k, s in zip(accesses, at, steps, strict=True):
                    a.at = _moved(e, k, turn, s)
                body()

        if around is None:
            write()
        else:
            around(write)
