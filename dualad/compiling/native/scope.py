"""What a part of a kernel knows: entries in registers, and where arrays lie."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staging.operations import Guard, Operation, Variable
from .emitter import Emitter
from .entry import BOOL, I64, TRUTH, Entry, integer, kind_of
from .layouts import Layout, contiguous
from .loops import write_loop
from .moves import write_move
from .plan import Plan, Turns
from .unrolled import entries_of, unrolled

__all__ = ["Scope"]


class Scope:
    """The steps of a plan, written one level after the other."""

    def __init__(self, emitter: Emitter, plan: Plan, outer: Scope | None = None):
        self.emitter, self.plan, self.outer = emitter, plan, outer
        #: small values
        self.entries: dict[Any, np.ndarray] = {}
        #: pointers to the memory of variables and constants
        self.memory: dict[Any, Any] = {}
        #: by the identity of a guard, whether it fails
        self.failures: dict[int, Any] = {}

    def write(self) -> None:
        """Write all steps."""
        plan = self.plan
        for level in plan.levels:
            for (at, _), loop in plan.loops.items():
                if at == level:
                    write_loop(self, loop)
            for move in plan.moves.get(level, ()):
                if isinstance(move, Turns):
                    from .turns import write_turns

                    write_turns(self, move)
                else:
                    write_move(self, move.operation)
            for s in plan.registers.get(level, ()):
                self._in_registers(s)

    def fails(self, guard: Guard, failing: Any) -> None:
        """Say whether a guard fails."""
        self.failures[id(guard)] = failing

    def _in_registers(self, s: Operation | Guard) -> None:
        if isinstance(s, Guard):
            self.fails(s, self._failing(s))
            return
        (result,) = s.results
        x = s.operands[0]
        if type(x) is Variable and not self.plan.is_small(x):
            self.entries[result] = self._picked(s, self.plan.layout_of(x), x.dtype)
            return
        operands = [self.operand(x) for x in s.operands]
        self.entries[result] = unrolled(self.emitter, s, operands)

    def operand(self, x: Any) -> Any:
        """A small operand: entries, or a number of Python."""
        if type(x) is Variable:
            if x not in self.entries:
                self.entries[x] = self.loaded(self.plan.layout_of(x), x.dtype)
            return self.entries[x]
        if isinstance(x, np.ndarray):
            return self.loaded(self.place(x), x.dtype)
        if isinstance(x, np.generic):
            if x.dtype == np.float64:  # an exponent may be looked at
                return float(x)
            return entries_of([self.emitter.constant(x, x.dtype)], ())
        return x

    def _picked(self, s: Operation, layout: Layout, dtype: np.dtype) -> np.ndarray:
        """Entries of an array in memory."""
        shape = layout.shape
        at = np.full(shape, layout.offset, np.int64)
        for axis, step in enumerate(layout.strides):
            at += (np.arange(shape[axis]) * step).reshape((-1,) + (1,) * (len(shape) - axis - 1))
        chosen = np.asarray(s.primitive.impl(at, **s.params))
        pointer = self.pointer(layout.base)
        loads = [self.emitter.load(pointer, integer(int(k)), dtype) for k in chosen.reshape(-1)]
        return entries_of(loads, chosen.shape)

    # --- memory ------------------------------------------------------------------------------

    def place(self, x: Any) -> Layout:
        """Where an operand lies in memory."""
        if type(x) is Variable:
            return self.plan.layout_of(x)
        strides = tuple([s // x.itemsize for s in x.strides])
        return Layout(x, 0, x.shape, strides)

    def pointer(self, base: Any) -> Any:
        """The memory of a variable or a constant; small values are written there first."""
        key = base if type(base) is Variable else id(base)
        scope: Scope | None = self
        while scope is not None:
            if key in scope.memory:
                return scope.memory[key]
            scope = scope.outer
        self.memory[key] = self._spilled(base)
        return self.memory[key]

    def _spilled(self, v: Variable) -> Any:
        place = self.scratch(v)
        for k, x in enumerate(self.known(v).reshape(-1)):
            self.emitter.store(x, place, integer(k))
        return place

    def known(self, v: Variable) -> np.ndarray:
        """The entries of a small value, of this part or one around it."""
        if v in self.entries or self.outer is None:
            return self.entries[v]
        return self.outer.known(v)

    def scratch(self, v: Variable) -> Any:
        """New memory for a small value."""
        kind = ir.IntType(8) if v.dtype.kind == "b" else kind_of(v.dtype)
        return self.emitter.top.alloca(kind, integer(v.size))

    def loaded(self, layout: Layout, dtype: np.dtype) -> np.ndarray:
        """The entries of a small value in memory."""
        pointer = self.pointer(layout.base)
        at = [
            layout.offset + sum(k * s for k, s in zip(index, layout.strides, strict=True))
            for index in np.ndindex(layout.shape)
        ]
        loads = [self.emitter.load(pointer, integer(k), dtype) for k in at]
        return entries_of(loads, layout.shape)

    def row(self, v: Variable) -> np.ndarray | None:
        """The addresses of a stream of arrays."""
        return None if self.outer is None else self.outer.row(v)

    def give(self, v: Variable, target: Any) -> None:
        """Write a value to memory, in C order."""
        if self.plan.is_small(v):
            for k, x in enumerate(self.operand(v).reshape(-1)):
                self.emitter.store(x, target, integer(k))
            return
        from .moves import copy

        where = self.plan.layout_of(v)
        if where.base is not v or self.memory.get(v) is not target:
            copy(self, where, target, contiguous(v, v.shape), v.dtype)

    # --- guards ------------------------------------------------------------------------------

    def _failing(self, g: Guard) -> Any:
        """Whether the answer to a question about a small value is another one."""
        entries = self.operand(g.variable).reshape(-1)
        e, b = self.emitter, self.emitter.builder
        if g.question == "has_nan":
            found = ir.Constant(TRUTH, 0)
            for x in entries:
                found = b.or_(found, e.function("isnan", (x,)).value)
            return b.not_(found) if g.answer else found
        (x,) = entries
        if g.question == "bool":
            found = e.cast(x, BOOL).value
            return b.not_(found) if g.answer else found
        dtype = np.dtype(np.float64) if g.question == "float" else x.dtype
        if g.question in ("int", "index"):
            return b.icmp_signed("!=", e.cast(x, I64).value, integer(int(g.answer)))
        return differs(e, e.cast(x, dtype), np.asarray(g.answer).reshape(()).astype(dtype))


def differs(e: Emitter, x: Entry, expected: np.ndarray) -> Any:
    """Whether the bits of an entry are not those of a number."""
    b, value = e.builder, x.value
    if x.dtype.kind == "f":
        kind = ir.IntType(8 * x.dtype.itemsize)
        bits = int(expected.view(f"i{x.dtype.itemsize}")[()])
        return b.icmp_unsigned("!=", b.bitcast(value, kind), ir.Constant(kind, bits))
    return b.icmp_unsigned("!=", value, ir.Constant(value.type, int(expected)))
