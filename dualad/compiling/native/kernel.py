"""A program as one LLVM function of pointers: its loops, and what it keeps in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staged import Guard, Operation, Variable
from ..program import Program
from .emitter import BOOL, I64, INT, POINTER, Emitter, Entry, integer, kind_of
from .layouts import Layout, contiguous
from .loops import write_loop
from .moves import write_move
from .plan import Plan
from .unrolled import entries_of, unrolled

__all__ = ["Kernel"]


class Kernel:
    """The function (inputs, constants, outputs, temporaries) -> number of a failed guard or -1."""

    def __init__(self, program: Program, module: Any):
        self.program = program
        self.plan = Plan(program)
        self.constants = _constants(program)
        self.outputs = [o.value for o in program.outputs]
        self.temporaries = self._temporaries()
        self.function = self._function(module)
        self.emitter = Emitter(self.function)
        #: small values
        self.entries: dict[Any, np.ndarray] = {}
        #: pointers to the memory of variables and constants
        self.memory: dict[Any, Any] = {}
        #: the answers to guards, whether they fail
        self.failures: dict[int, Any] = {}
        self._bind()
        self._write()

    # --- arguments ---------------------------------------------------------------------------

    def _temporaries(self) -> list[Variable]:
        """The variables whose memory nobody gives."""
        plan = self.plan
        own = [v for v, where in plan.layout.items() if where.base is v]
        made = dict.fromkeys([*plan.stored, *own])
        given = {*self.program.inputs, *self.outputs}
        return [v for v in made if v not in given and not plan.is_small(v)]

    def _function(self, module: Any) -> Any:
        inputs = [POINTER if v.is_array else kind_of(v.dtype) for v in self.program.inputs]
        rest = len(self.constants) + len(self.outputs) + len(self.temporaries)
        kind = ir.FunctionType(INT, [*inputs, *[POINTER] * rest])
        function = ir.Function(module, kind, "kernel")
        function.linkage = "internal"
        function.attributes.add("noinline")
        function.attributes.add("nounwind")
        for a in function.args:
            if a.type == POINTER:
                a.add_attribute("noalias")
        return function

    def _bind(self) -> None:
        args = iter(self.function.args)
        for v in self.program.inputs:
            a = next(args)
            if v.is_array:
                self.memory[v] = a
            else:
                self.entries[v] = entries_of([Entry(self.emitter, a, v.dtype)], ())
        for c in self.constants:
            self.memory[id(c)] = next(args)
        self.slots = [next(args) for _ in self.outputs]
        for v, slot in zip(self.outputs, self.slots, strict=True):
            self.memory.setdefault(v, slot)
        for v in self.temporaries:
            self.memory[v] = next(args)
        for v in self.program.inputs:
            if v.is_array and self.plan.is_small(v):
                self.entries[v] = self.loaded(contiguous(v, v.shape), v.dtype)

    # --- steps -------------------------------------------------------------------------------

    def _write(self) -> None:
        plan = self.plan
        for level in plan.levels:
            for (at, _), loop in plan.loops.items():
                if at == level:
                    write_loop(self, loop)
            for move in plan.moves.get(level, ()):
                write_move(self, move.operation)
            for s in plan.registers.get(level, ()):
                self._in_registers(s)
        for v, slot in zip(self.outputs, self.slots, strict=True):
            self._give(v, slot)
        self._return()
        self.emitter.finish()

    def _in_registers(self, s: Operation | Guard) -> None:
        if type(s) is Guard:
            self.failures[id(s)] = self._fails(s)
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
        if type(base) is not Variable:
            return self.memory[id(base)]
        if base not in self.memory:
            self.memory[base] = self._spilled(base)
        return self.memory[base]

    def _spilled(self, v: Variable) -> Any:
        place = self.scratch(v)
        for k, x in enumerate(self.entries[v].reshape(-1)):
            self.emitter.store(x, place, integer(k))
        return place

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

    # --- guards and results ------------------------------------------------------------------

    def _fails(self, g: Guard) -> Any:
        """Whether the answer to a question about a small value is another one."""
        entries = self.operand(g.variable).reshape(-1)
        e, b = self.emitter, self.emitter.builder
        if g.question == "has_nan":
            found = ir.Constant(BOOL_TYPE, 0)
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

    def _give(self, v: Variable, slot: Any) -> None:
        """Write a result to where the caller reads it, if it is not there."""
        if self.plan.is_small(v):
            for k, x in enumerate(self.operand(v).reshape(-1)):
                self.emitter.store(x, slot, integer(k))
        elif self.memory.get(v) is not slot or self.plan.layout_of(v).base is not v:
            from .moves import copy

            copy(self, self.plan.layout_of(v), slot, contiguous(v, v.shape), v.dtype)

    def _return(self) -> None:
        b = self.emitter.builder
        code: Any = integer(-1)
        for k, g in reversed(list(enumerate(self.program.guards))):
            code = b.select(self.failures[id(g)], integer(k), code)
        b.ret(code)


BOOL_TYPE = ir.IntType(1)


def differs(e: Emitter, x: Entry, expected: np.ndarray) -> Any:
    """Whether the bits of an entry are not those of a number."""
    b, value = e.builder, x.value
    if x.dtype.kind == "f":
        kind = ir.IntType(8 * x.dtype.itemsize)
        bits = int(expected.view(f"i{x.dtype.itemsize}")[()])
        return b.icmp_unsigned("!=", b.bitcast(value, kind), ir.Constant(kind, bits))
    return b.icmp_unsigned("!=", value, ir.Constant(value.type, int(expected)))


def _constants(program: Program) -> list[np.ndarray]:
    """The arrays that a program reads, each once."""
    found: dict[int, np.ndarray] = {}
    for s in program.operations:
        for x in s.operands:
            if isinstance(x, np.ndarray):
                found[id(x)] = x
    return list(found.values())
