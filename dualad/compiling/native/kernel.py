"""A program as one LLVM function of pointers and numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staging.operations import Guard, Variable
from ..loop import Loop as Repetition
from ..program import Program
from .alarms import Alarm
from .emitter import Emitter
from .entry import INT, POINTER, Entry, TooLong, integer, kind_of
from .forms import are_alike, guards_of, is_tiled, operations_of
from .layouts import contiguous
from .plan import Plan
from .products import product_function
from .ranges import Cores
from .rooms import shared
from .scope import Scope
from .unrolled import entries_of

__all__ = ["Kernel"]


class Kernel(Scope):
    """The function (inputs, constants, outputs, temporaries) -> number of a failed guard or -1.

    One whose long loops are shared by threads takes two more pointers, to the words that say how
    (`python.CORES`) and to scratch memory of `scratch` bytes.
    """

    def __init__(
        self,
        program: Program,
        module: Any,
        most: float = math.inf,
        is_shared: bool = False,
        is_heard: bool = False,
    ):
        self.is_shared = is_shared
        self.program = program
        self.outputs: list[Variable] = [o.value for o in program.outputs]
        self.guards = guards_of(program.steps)
        plan = Plan(program.steps, program.inputs, self.outputs)
        if plan.cost() > most:
            raise TooLong(f"about {plan.cost() / 1000:.0f} seconds to compile")
        self.rows: dict[Variable, np.ndarray] = {}
        #: arrays that are read by their addresses
        self.kept: list[np.ndarray] = []
        self.constants = self._constants(program.steps)
        if any(map(is_tiled, operations_of(program.steps))):
            self.constants.append(product_function())
        found = plan.temporaries({*program.inputs, *self.outputs})
        #: values that share memory, and the largest of each group, which stands for it
        self.rooms = shared(plan, found, self.outputs)
        self.temporaries = [group[0] for group in self.rooms]
        super().__init__(Emitter(self._function(module)), plan)
        self.function = self.emitter.function_ir
        names = {s.primitive.name for s in operations_of(program.steps)}
        self.emitter.has_slopes = "tanh_slope" in names
        self._bind()
        if is_heard:
            self.emitter.alarm = Alarm(self.emitter)
        if is_shared:
            self.emitter.cores = Cores(self.emitter, *self.function.args[-2:])
        self.write()
        for v, slot in zip(self.outputs, self.slots, strict=True):
            self.give(v, slot)
        if is_heard:
            self.emitter.alarm.raise_flag()
        self._return()
        self.emitter.finish()

    def _constants(self, steps: Iterable[Any]) -> list[np.ndarray]:
        """The arrays that the steps read, each once."""
        found: dict[int, np.ndarray] = {}
        for s in steps:
            if isinstance(s, Guard):
                continue
            if isinstance(s, Repetition):
                operands = self._streams(s)
                found.update({id(a): a for a in self._constants(s.body)})
            else:
                operands = s.operands
            found.update({id(x): x for x in operands if isinstance(x, np.ndarray)})
        return list(found.values())

    def _streams(self, loop: Repetition) -> list[Any]:
        found = [c.initial for c in loop.carries]
        for s in loop.streams:
            arrays = [v for v in s.values if isinstance(v, np.ndarray)]
            if len(arrays) == len(s.values) and are_alike(arrays):
                self.rows[s.inside] = np.array([a.ctypes.data for a in arrays], np.uintp)
                self.kept += arrays
                found.append(self.rows[s.inside])
            else:
                found += s.values
        return found

    @property
    def cores(self) -> Cores | None:
        """What its long loops share; None where there is none in ranges."""
        cores = self.emitter.cores
        return cores if cores is not None and cores.loops else None

    def row(self, v: Variable) -> np.ndarray | None:
        """The addresses of a stream of arrays."""
        return self.rows.get(v)

    def _function(self, module: Any) -> Any:
        inputs = [POINTER if v.is_array else kind_of(v.dtype) for v in self.program.inputs]
        rest = len(self.constants) + len(self.outputs) + len(self.temporaries)
        rest += 2 * self.is_shared
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
        """Name the arguments."""
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
            if not self.plan.is_small(v):  # a small one is written at the end
                self.memory.setdefault(v, slot)
        for group in self.rooms:
            self.memory.update(dict.fromkeys(group, next(args)))
        for v in self.program.inputs:
            if v.is_array and self.plan.is_small(v):
                self.entries[v] = self.loaded(contiguous(v, v.shape), v.dtype)

    def _return(self) -> None:
        b = self.emitter.builder
        code: Any = integer(-1)
        for k, g in reversed(list(enumerate(self.guards))):
            code = b.select(self.failures[id(g)], integer(k), code)
        b.ret(code)
