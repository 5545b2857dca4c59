"""Loops over arrays: elementwise operations and reductions of one shape in one loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.staging.operations import Guard, Operation, Variable
from .elementwise import is_elementwise
from .emitter import Emitter
from .entry import BOOL, Entry, integer
from .fetching import reads_ahead
from .layouts import contiguous, contiguous_strides
from .nesting import Access, nest
from .quotients import with_shared_divisions
from .totals import Total, folded, identity
from .unrolled import FOLDS, axes_of, entries_of

__all__ = ["Body", "write_loop"]


def write_loop(kernel: Any, loop: Any) -> None:
    """Write the loop of a plan."""
    Body(kernel, loop).write()


class Body:
    """What one loop computes."""

    def __init__(self, kernel: Any, loop: Any):
        self.kernel, self.loop = kernel, loop
        self.e: Emitter = kernel.emitter
        self.reads: dict[Any, Access] = {}
        self.fixed: dict[Any, Entry] = {}
        self.entries: dict[Variable, Entry] = {}
        self.stores: dict[Variable, Access] = {}
        self.numbers: dict[int, tuple[str, np.dtype]] = {}
        self.totals: dict[int, Total] = {}
        self.partial: dict[int, Access] = {}
        self.is_long = math.prod(loop.shape) >= 32
        self.steps = with_shared_divisions(loop.steps) if self.is_long else loop.steps
        self.members = {
            r
            for s in self.steps
            if type(s) is Operation and is_elementwise(s.primitive.name)
            for r in s.results
        }

    def write(self) -> None:
        for s in self.steps:
            self._prepare(s)
        if reads_ahead(self.loop.shape, self.steps, self.accesses):
            for a in self.reads.values():
                a.is_fetched = True
        if not write_shared(self):
            self._write()
        for s in self.steps:
            self._conclude(s)

    def _write(self) -> None:
        e = self.e
        e.is_long = self.is_long
        self.begin(e)
        nest(e, self.loop.shape, self.accesses, self.body, self.around)
        e.is_long = False

    @property
    def accesses(self) -> list[Access]:
        """The arrays that move along."""
        return [*self.reads.values(), *self.stores.values(), *self.partial.values()]

    def begin(self, e: Emitter) -> None:
        """Go on with a function: that of the kernel, or that of a range."""
        self.e = e
        self.totals = {k: Total(e, *of) for k, of in self.numbers.items()}

    @property
    def around(self) -> Any:
        """What surrounds the innermost loop, if there is anything."""
        return self._around if self.totals else None

    # --- before the loop ---------------------------------------------------------------------

    def _prepare(self, s: Operation | Guard) -> None:
        for x in (s.variable,) if isinstance(s, Guard) else s.operands:
            self._read(x)
        if isinstance(s, Guard):
            self.numbers[id(s)] = ("nan", BOOL)
            return
        (result,) = s.results
        name = s.primitive.name
        if name in FOLDS:
            if result.shape == ():
                self.numbers[id(s)] = (FOLDS[name], result.dtype)
            else:
                self.partial[id(s)] = self._partial(s, result)
        elif result in self.kernel.plan.stored:
            where = contiguous(result, result.shape)
            pointer = self.kernel.pointer(result)
            self.stores[result] = Access(pointer, where, result.dtype, where.strides)

    def _read(self, x: Any) -> None:
        if x in self.members if type(x) is Variable else not isinstance(x, np.ndarray):
            return
        key = x if type(x) is Variable else id(x)
        if key in self.reads or key in self.fixed:
            return
        kernel = self.kernel
        if type(x) is Variable and kernel.plan.is_small(x) and x.size == 1:
            self.fixed[key] = kernel.operand(x).reshape(-1)[0]
            return
        layout = kernel.place(x)
        strides = layout.broadcast(self.loop.shape)
        pointer = kernel.pointer(layout.base)
        if not any(strides):
            self.fixed[key] = self.e.load(pointer, integer(layout.offset), x.dtype)
        else:
            self.reads[key] = Access(pointer, layout, x.dtype, strides)

    def _partial(self, s: Operation, result: Variable) -> Access:
        """Where the parts of a reduction over some axes are gathered."""
        small = self.kernel.plan.is_small(result)
        if small:
            self.kernel.memory[result] = self.kernel.scratch(result)
        pointer = self.kernel.pointer(result)
        where = contiguous(result, result.shape)
        fill = Access(pointer, where, result.dtype, where.strides)
        start = identity(self.e, FOLDS[s.primitive.name], result.dtype)
        nest(self.e, result.shape, [fill], lambda: fill.store(self.e, start))
        kept = iter(contiguous_strides(result.shape))
        reduced = axes_of(s)
        strides = [0 if a in reduced else next(kept) for a in range(len(self.loop.shape))]
        return Access(pointer, where, result.dtype, tuple(strides))

    # --- in the loop -------------------------------------------------------------------------

    def _around(self, write: Any) -> None:
        for total in self.totals.values():
            total.begin(self.e)
        write()
        for total in self.totals.values():
            total.end(self.e)

    def body(self) -> None:
        """One turn."""
        self.entries = {}
        for s in self.steps:
            self._step(s)

    def _operand(self, x: Any) -> Any:
        if type(x) is Variable:
            if x not in self.entries:
                found = self.fixed.get(x)
                self.entries[x] = found if found is not None else self.reads[x].load(self.e)
            return self.entries[x]
        if isinstance(x, np.ndarray):
            key: Any = id(x)
            if key not in self.entries:
                found = self.fixed.get(key)
                self.entries[key] = found if found is not None else self.reads[key].load(self.e)
            return self.entries[key]
        if isinstance(x, np.generic) and x.dtype != np.float64:
            return self.e.constant(x, x.dtype)
        return float(x) if isinstance(x, np.generic) else x

    def _step(self, s: Operation | Guard) -> None:
        e = self.e
        if isinstance(s, Guard):
            found = e.function("isnan", (self._operand(s.variable),))
            self.totals[id(s)].add(e, found)
            return
        (result,) = s.results
        name = s.primitive.name
        if name not in FOLDS:
            args = tuple([self._operand(x) for x in s.operands])
            self.entries[result] = e.function(name, args, result.dtype)
            if result in self.stores:
                self.stores[result].store(e, self.entries[result])
            return
        x = e.cast(self._operand(s.operands[0]), result.dtype)
        if id(s) in self.totals:
            self.totals[id(s)].add(e, x)
        else:
            place = self.partial[id(s)]
            place.store(e, folded(e, FOLDS[name], place.load(e), x))

    # --- behind the loop ---------------------------------------------------------------------

    def _conclude(self, s: Operation | Guard) -> None:
        b = self.e.builder
        if isinstance(s, Guard):
            found = self.totals[id(s)].result(self.e).value
            self.kernel.fails(s, b.not_(found) if s.answer else found)
            return
        (result,) = s.results
        if id(s) in self.totals:
            self.kernel.entries[result] = entries_of([self.totals[id(s)].result(self.e)], ())
        elif id(s) in self.partial and self.kernel.plan.is_small(result):
            where = contiguous(result, result.shape)
            self.kernel.entries[result] = self.kernel.loaded(where, result.dtype)


def write_shared(body: Body) -> bool:
    """Write a loop that pays for threads in ranges; whether it is one."""
    if body.e.cores is None:
        return False
    from .shared import write_in_ranges

    return write_in_ranges(body)
