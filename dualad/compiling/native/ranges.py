"""Long loops in ranges, which threads share.

Where the ranges lie depends on the loop alone, and what they give is put together in their order:
no result depends on how many threads there are, or on which of them computes what.

A range is a function of its own, of what the loop reads from outside. Code that knows no types,
the thunk, takes that from memory and calls it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from .emitter import Callee, Emitter
from .entry import INT, POINTER, Entry, integer, kind_of
from .layouts import merged

__all__ = ["Cores", "Cut", "Outside", "Parts", "cut"]

#: About how many entries a range has, and how many ranges a loop has at most.
ENTRIES, RANGES = 8192, 4096
#: How many ranges are enough, and how many with sums of their own there are at most.
ENOUGH, PRIVATE = 64, 256
#: Entries that lie side by side in a range, so that threads do not share lines of the cache.
SIDE_BY_SIDE = 128
#: The sums that ranges have of their own are at most this part of the entries.
SHARE = 16
BYTE = ir.IntType(8)


class Cores:
    """What the loops of a kernel have in common: how they are run, and memory for their parts."""

    def __init__(self, emitter: Emitter, run: Any, scratch: Any):
        self.emitter, self.run, self.scratch = emitter, run, scratch
        #: bytes of scratch memory that are used
        self.bytes = 0
        #: how many loops are in ranges
        self.loops = 0

    def room(self, size: int) -> None:
        """Ask for scratch memory, for one loop at a time."""
        self.bytes = max(self.bytes, -(-size // 64) * 64)

    def call(self, thunk: Any, context: Any, count: int, most: int) -> None:
        """Call a function for each number below count: by threads, or one after the other."""
        b = self.emitter.builder
        b.call(self._runner(), [self.run, thunk, context, integer(count), integer(most)])

    def _runner(self) -> Any:
        """run (words of `python.CORES`, thunk, context, count, most)."""
        module = self.emitter.module
        if "ranges" in module.globals:
            return module.globals["ranges"]
        kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, POINTER, INT, INT])
        function = ir.Function(module, kind, "ranges")
        function.linkage = "internal"
        function.attributes.add("noinline")
        words, thunk, context, count, most = function.args
        e = Emitter(function)
        b = e.builder
        workers, pool, run = [
            b.load(b.gep(words, [integer(k)], source_etype=POINTER), typ=kind)
            for k, kind in enumerate([INT, POINTER, POINTER])
        ]
        given = b.select(b.icmp_unsigned("<", workers, most), workers, most)
        with b.if_else(b.icmp_unsigned("==", given, integer(0))) as (alone, shared):
            with alone, e.loop(count) as k:
                b.call(Callee(thunk, ir.FunctionType(ir.VoidType(), [POINTER, INT])), [context, k])
            with shared:
                types = [POINTER, POINTER, POINTER, INT, INT]
                b.call(
                    Callee(run, ir.FunctionType(ir.VoidType(), types)),
                    [pool, thunk, context, count, given],
                )
        b.ret_void()
        e.finish()
        return function


class Cut(NamedTuple):
    """A loop in ranges of one of its axes, after axes were merged."""

    dims: list[int]
    #: for each array its strides
    strides: list[list[int]]
    axis: int
    step: int
    ranges: int


def cut(
    shape: tuple[int, ...], strides: list[tuple[int, ...]], sums: dict[int, int]
) -> Cut | None:
    """The ranges of a loop; None where it has no axis that can be cut.

    Args:
        shape: of the loop.
        strides: of the arrays.
        sums: the size of those arrays that sums over some axes are gathered in, by their number.
    """
    dims, steps = merged(shape, strides)
    found = [c for c in (_cut(dims, steps, k, sums) for k in range(len(dims))) if c is not None]
    return max(found, key=lambda c: min(c.ranges, ENOUGH), default=None)


def _cut(dims: list[int], steps: list[list[int]], axis: int, sums: dict[int, int]) -> Cut | None:
    """The ranges along one axis."""
    total, n = math.prod(dims), dims[axis]
    inner = math.prod(dims[axis + 1 :])
    step = max(ENTRIES * n // total, -(-SIDE_BY_SIDE // inner), -(-n // RANGES), 1)
    own = sum(size for k, size in sums.items() if steps[k][axis] == 0)
    if own:
        step = max(step, -(-n * SHARE * own // total), -(-n // PRIVATE))
    count = -(-n // step)
    return Cut(dims, steps, axis, step, count) if count > 1 else None


class Outside:
    """A function of a range, and what it is given of the values around it."""

    def __init__(self, cores: Cores, cut: Cut):
        self.cores, self.cut = cores, cut
        self.values: list[Any] = []
        self._pending: list[Callable[[dict[int, Any]], None]] = []

    def give(self, value: Any, use: Callable[[Any], None]) -> None:
        """Give a value to the range: `use` gets it as it is called in there."""
        if isinstance(value, (ir.Constant, ir.GlobalVariable)):
            return
        if not any(v is value for v in self.values):
            self.values.append(value)
        self._pending.append(lambda known: use(known[id(value)]))

    def write(self, body: Callable[[Emitter, Any, Any, Any, Any], None], most: int) -> None:
        """Write the function, and the call of all ranges.

        The body gets the emitter inside, the scratch memory, the number of the range, where it
        begins along the axis, and how many turns it has.
        """
        outer = self.cores.emitter
        module, name = outer.module, f"range{self.cores.loops}"
        self.cores.loops += 1
        types = [_plain(v.type) for v in self.values]
        kind = ir.FunctionType(ir.VoidType(), [*types, POINTER, INT, INT, INT])
        function = ir.Function(module, kind, name)
        for attribute in ("noinline", "nounwind"):
            function.attributes.add(attribute)
        function.linkage = "internal"
        for value, a in zip(self.values, function.args, strict=False):
            if _plain(value.type) == POINTER and self._is_alone(value):
                a.add_attribute("noalias")
        *given, scratch, unit, first, count = function.args
        scratch.add_attribute("noalias")
        known = {id(v): a for v, a in zip(self.values, given, strict=True)}
        for use in self._pending:
            use(known)
        e = Emitter(function)
        e.is_long, e.has_slopes = True, outer.has_slopes
        e.alarm = None if outer.alarm is None else type(outer.alarm)(e)
        body(e, scratch, unit, first, count)
        if e.alarm is not None:
            e.alarm.raise_flag()
        e.builder.ret_void()
        e.finish()
        self._call(self._thunk(function), most)

    def _is_alone(self, pointer: Any) -> bool:
        """Whether no other pointer is one into the same memory."""
        mine = _root(pointer)
        return not any(
            v is not pointer and _plain(v.type) == POINTER and _root(v) is mine
            for v in self.values
        )

    def _thunk(self, function: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [POINTER, INT])
        thunk = ir.Function(function.module, kind, f"{function.name}_of")
        thunk.linkage = "internal"
        thunk.attributes.add("nounwind")
        context, unit = thunk.args
        b = ir.IRBuilder(thunk.append_basic_block())
        types = [*(_plain(v.type) for v in self.values), POINTER]
        given = [
            b.load(b.gep(context, [integer(k)], source_etype=POINTER), typ=kind)
            for k, kind in enumerate(types)
        ]
        n, step = self.cut.dims[self.cut.axis], integer(self.cut.step)
        first = b.mul(unit, step, flags=("nuw", "nsw"))
        left = b.sub(integer(n), first, flags=("nuw", "nsw"))
        count = b.select(b.icmp_unsigned("<", left, step), left, step)
        b.call(function, [*given, unit, first, count])
        b.ret_void()
        return thunk

    def _call(self, thunk: Any, most: int) -> None:
        outer = self.cores.emitter
        values = [*self.values, self.cores.scratch]
        b = outer.builder
        context = outer.top.alloca(POINTER, integer(len(values)))
        for k, v in enumerate(values):
            b.store(v, b.gep(context, [integer(k)], source_etype=POINTER))
        self.cores.call(thunk, context, self.cut.ranges, most)


def _plain(kind: Any) -> Any:
    """A type; llvmlite's pointers know what they point to, LLVM's do not."""
    return POINTER if isinstance(kind, ir.PointerType) else kind


def _root(pointer: Any) -> Any:
    while isinstance(pointer, ir.instructions.GEPInstr):
        pointer = pointer.pointer
    return pointer


class Parts:
    """Numbers that each range leaves behind, in rows of scratch memory."""

    def __init__(self, width: int, start: int = 0):
        self.width, self.start = width, start

    def place(self, e: Emitter, scratch: Any, unit: Any, k: Any) -> Any:
        """The k-th place of a range."""
        b = e.builder
        at = b.add(b.mul(unit, integer(self.width)), k if not isinstance(k, int) else integer(k))
        base = b.gep(scratch, [integer(self.start)], source_etype=BYTE)
        return b.gep(base, [at], source_etype=POINTER)

    def put(self, e: Emitter, scratch: Any, unit: Any, k: Any, value: Any) -> None:
        e.builder.store(value, self.place(e, scratch, unit, k))

    def get(self, e: Emitter, scratch: Any, unit: Any, k: Any, dtype: np.dtype) -> Entry:
        place = self.place(e, scratch, unit, k)
        return Entry(e, e.builder.load(place, typ=kind_of(dtype)), dtype)
