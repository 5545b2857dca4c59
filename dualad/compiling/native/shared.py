"""The loops of a kernel that threads share, and what is done with the sums of their ranges."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.staging.operations import Guard
from ..mathematics.registry import FUNCTIONS
from .emitter import Emitter
from .entry import Entry, integer
from .layouts import contiguous, contiguous_strides
from .loops import Body
from .nesting import Access, nest, turns
from .ranges import Cores, Cut, Outside, Parts, cut
from .totals import folded, identity
from .unrolled import FOLDS

__all__ = ["each", "write_in_ranges"]

#: About how many nanoseconds an entry takes: to be read or written, and in an elementwise
#: function: one of a few instructions, vector mathematics, and what is in between.
MOVED, SIMPLE, VECTOR, OTHERS = 0.15, 0.1, 0.6, 0.3
CHAINS = {"power", "tanh_slope"}
ARITHMETIC = {
    "add", "subtract", "multiply", "negative", "absolute", "square", "maximum", "minimum",
    "where", "cast", "positive", "sign", "copysign", "floor", "ceil", "rint", "trunc", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan", "isinf", "isfinite",
    "signbit", "logical_and", "logical_or", "logical_xor", "logical_not", "stop_gradient",
}  # fmt: skip
#: From how many nanoseconds on a loop is shared, and how many there are for each thread: to wake
#: one takes about 25 000.
LEAST, EACH = 100_000.0, 50_000.0


def write_in_ranges(body: Body) -> bool:
    """Write a loop in ranges, where that pays; whether it does."""
    duration = _duration(body)
    if duration < LEAST:
        return False
    accesses = body.accesses
    first = len(body.reads) + len(body.stores)
    sums = {first + k: _size(a) for k, a in enumerate(body.partial.values())}
    found = cut(body.loop.shape, [a.strides for a in accesses], sums)
    if found is None:
        return False
    Shared(body, found).write(int(duration // EACH) - 1)
    return True


def each(
    e: Emitter,
    shape: tuple[int, ...],
    accesses: list[Access],
    fixed: list[Entry],
    body: Callable[[Emitter, list[Entry]], None],
) -> None:
    """A loop that moves entries, in ranges where that pays.

    Args:
        e: the emitter of the kernel.
        shape: of the loop.
        accesses: the arrays that move along.
        fixed: numbers from outside that the body reads.
        body: one turn; it gets the emitter, and the numbers as they are known there.
    """
    found = None
    duration = MOVED * len(accesses) * math.prod(shape)
    if e.cores is not None and duration >= LEAST:
        found = cut(shape, [a.strides for a in accesses], {})
    if found is None:
        nest(e, shape, accesses, lambda: body(e, fixed))
        return
    outside = Outside(e.cores, found)
    known = [x.value for x in fixed]
    for a in accesses:
        outside.give(a.pointer, functools.partial(setattr, a, "pointer"))
    for k, value in enumerate(known):
        outside.give(value, functools.partial(known.__setitem__, k))

    def in_range(inside: Emitter, scratch: Any, unit: Any, first: Any, count: Any) -> None:
        own = [Entry(inside, v, x.dtype) for v, x in zip(known, fixed, strict=True)]
        _turns(inside, found, accesses, first, count, lambda: body(inside, own))

    outside.write(in_range, int(duration // EACH) - 1)


def _turns(
    e: Emitter, cut: Cut, accesses: list[Access], first: Any, count: Any, body: Any,
    around: Any = None,
) -> None:  # fmt: skip
    """The loops of one range."""
    starts = []
    for a, s in zip(accesses, cut.strides, strict=True):
        moved = e.builder.mul(first, integer(s[cut.axis]), flags=("nsw",))
        starts.append(e.builder.add(moved, integer(a.layout.offset), flags=("nsw",)))
    dims: list[Any] = list(cut.dims)
    dims[cut.axis] = count
    turns(e, dims, cut.strides, starts, accesses, body, around)


def _size(a: Access) -> int:
    return math.prod(a.layout.shape)


def _duration(body: Body) -> float:
    """About how long a loop takes on one core."""
    entry = MOVED * len(body.accesses)
    for s in body.steps:
        name = "isnan" if isinstance(s, Guard) else s.primitive.name
        if name in ARITHMETIC or name in FOLDS:
            entry += SIMPLE
        else:
            entry += VECTOR if name in FUNCTIONS or name in CHAINS else OTHERS
    return entry * math.prod(body.loop.shape)


class Shared:
    """A loop while it is written in ranges."""

    def __init__(self, body: Body, cut: Cut):
        self.body, self.cut = body, cut
        self.outer: Emitter = body.e
        self.cores: Cores = body.e.cores
        self.accesses = body.accesses
        #: sums over some axes that every range has for itself: the whole, and its parts
        self.own: dict[int, tuple[Access, Access, Parts]] = {}
        self.totals = Parts(2 * len(body.numbers))
        self._plan()

    def _plan(self) -> None:
        """Where in scratch memory the parts lie."""
        end = 8 * self.totals.width * self.cut.ranges
        places = {id(a): k for k, a in enumerate(self.accesses)}
        for key, a in self.body.partial.items():
            if self.cut.strides[places[id(a)]][self.cut.axis] == 0:
                width = -(-_size(a) * a.dtype.itemsize // 8)
                whole = Access(a.pointer, a.layout, a.dtype, a.strides)
                self.own[key] = (whole, a, Parts(width, end))
                end += 8 * width * self.cut.ranges
        self.cores.room(end)

    def write(self, most: int) -> None:
        outside = Outside(self.cores, self.cut)
        for a in self.accesses:
            if not any(a is mine for _, mine, _ in self.own.values()):
                outside.give(a.pointer, functools.partial(setattr, a, "pointer"))
        for key, x in self.body.fixed.items():
            outside.give(x.value, functools.partial(self._fixed, key))
        outside.write(self._range, most)
        self.body.begin(self.outer)
        self._join()
        self._join_own()

    def _fixed(self, key: Any, value: Any) -> None:
        self.body.fixed[key] = Entry(self.outer, value, self.body.fixed[key].dtype)

    # --- in a range --------------------------------------------------------------------------

    def _range(self, e: Emitter, scratch: Any, unit: Any, first: Any, count: Any) -> None:
        body = self.body
        body.begin(e)
        body.fixed = {k: Entry(e, x.value, x.dtype) for k, x in body.fixed.items()}
        for key, (_, mine, parts) in self.own.items():
            mine.pointer = parts.place(e, scratch, unit, 0)
            self._cleared(e, key, mine)
        _turns(e, self.cut, self.accesses, first, count, body.body, body.around)
        for k, total in enumerate(body.totals.values()):
            value, rest = total.state(e)
            self.totals.put(e, scratch, unit, 2 * k, value)
            if rest is not None:
                self.totals.put(e, scratch, unit, 2 * k + 1, rest)

    def _cleared(self, e: Emitter, key: int, mine: Access) -> None:
        shape = mine.layout.shape
        start = identity(e, self._fold(key), mine.dtype)
        each = Access(mine.pointer, contiguous(None, shape), mine.dtype, contiguous_strides(shape))
        nest(e, shape, [each], lambda: each.store(e, start))

    def _fold(self, key: int) -> str:
        s: Any
        (s,) = [s for s in self.body.steps if id(s) == key]
        return FOLDS[s.primitive.name]

    # --- behind the ranges -------------------------------------------------------------------

    def _join(self) -> None:
        """The totals of the ranges, in their order."""
        e = self.outer
        if not self.body.totals:
            return
        with e.loop(self.cut.ranges) as unit:
            for k, total in enumerate(self.body.totals.values()):
                part = self._part(unit, 2 * k, total.dtype)
                rest = None
                if total.rest is not None:
                    rest = self._part(unit, 2 * k + 1, total.dtype)
                total.join(e, part, rest)

    def _part(self, unit: Any, k: int, dtype: np.dtype) -> Any:
        return self.totals.get(self.outer, self.cores.scratch, unit, k, dtype).value

    def _join_own(self) -> None:
        """The sums over some axes that ranges have for themselves, in their order."""
        e = self.outer
        for key, (whole, mine, parts) in self.own.items():
            shape = mine.layout.shape
            strides = contiguous_strides(shape)
            target = Access(whole.pointer, contiguous(None, shape), whole.dtype, strides)
            with e.loop(self.cut.ranges) as unit:
                pointer = parts.place(e, self.cores.scratch, unit, 0)
                part = Access(pointer, contiguous(None, shape), whole.dtype, strides)
                name = self._fold(key)

                def add(target: Access = target, part: Access = part, name: str = name) -> None:
                    target.store(e, folded(e, name, target.load(e), part.load(e)))

                nest(e, shape, [target, part], add)
