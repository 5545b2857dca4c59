"""A program as native kernels, with NumPy's functions between them for what has no native form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.staged import Guard, Operation, Variable
from ..numpy_source import Failed, NumpySource
from ..program import Output, Program, variables_of
from .plan import VIEWS, is_native
from .wrapper import function_of

__all__ = ["split"]

#: A kernel of fewer operations is left to NumPy.
FEWEST = 2
Step = Operation | Guard


class Run:
    """Steps that become one kernel, in place of a primitive."""

    name = "kernel"
    operator = None

    def __init__(self, program: Program):
        self.program = program
        self.impl = function_of(program)


def split(program: Program) -> Callable[..., Any] | None:
    """The function of a program, or None where no kernel pays."""
    native = {id(s) for s in program.steps if is_native(s)}
    if len(native) == len(program.steps) and _is_whole(program):
        return function_of(program) if program.steps else None
    stages = _stages(_with_own_views(program, native), native)
    steps: list[Step] = []
    kernels = 0
    for kernel, rest in stages:
        if sum(type(s) is Operation for s in kernel) < FEWEST:
            rest = sorted([*kernel, *rest], key=_order(program))
        else:
            steps.append(_kernel_of(kernel, _asked_outside(kernel, stages, program)))
            kernels += 1
        steps += rest
    if not kernels:
        return None
    return MixedSource(program.with_steps(steps)).function_of()


def _is_whole(program: Program) -> bool:
    """Whether every result is computed anew, so that a kernel can hand it out."""
    inputs = set(program.inputs)
    return not program.writes and all(
        type(o.value) is Variable and not o.is_view and o.value not in inputs
        for o in program.outputs
    )


def _order(program: Program) -> Callable[[Step], int]:
    place = {id(s): k for k, s in enumerate(program.steps)}
    return lambda s: place.get(id(s), 0)


# --- which steps run together ----------------------------------------------------------------


def read_by(s: Step) -> list[Variable]:
    """The variables that a step reads."""
    return [s.variable] if type(s) is Guard else variables_of(s)


def _with_own_views(program: Program, native: set[int]) -> list[Step]:
    """The steps, where a view that NumPy reads is NumPy's: kernels would have to copy it."""
    handed = {o.value for o in program.outputs if o.is_view} | {v for _, v in program.writes}
    for s in reversed(program.steps):
        is_view = type(s) is Operation and s.primitive.name in VIEWS
        if is_view and any(r in handed for r in s.results):
            native.discard(id(s))
        if id(s) not in native:
            handed.update(read_by(s))
    return list(program.steps)


def _stages(steps: list[Step], native: set[int]) -> list[tuple[list[Step], list[Step]]]:
    """Kernels and what follows each: as few as the order of the data allows."""
    stage: dict[Variable, int] = {}
    is_kernel: dict[Variable, bool] = {}
    found: list[tuple[list[Step], list[Step]]] = []
    answered = 0
    for s in steps:
        mine = id(s) in native
        at = 0 if mine else answered
        for v in read_by(s):
            if v in stage:
                at = max(at, stage[v] + (mine and not is_kernel[v]))
        while len(found) <= at:
            found.append(([], []))
        found[at][not mine].append(s)
        if type(s) is Guard:
            # What follows in NumPy may raise unless the answer is what it was.
            answered = max(answered, at)
            continue
        for r in s.results:
            stage[r], is_kernel[r] = at, mine
    return found


def _asked_outside(
    kernel: list[Step], stages: list[tuple[list[Step], list[Step]]], program: Program
) -> set[Variable]:
    asked = set(program.results())
    mine = set(map(id, kernel))
    for steps in (part for stage in stages for part in stage):
        for s in steps:
            if id(s) not in mine:
                asked.update(read_by(s))
    return asked


def _kernel_of(steps: list[Step], asked: set[Variable]) -> Operation:
    made = [r for s in steps if type(s) is Operation for r in s.results]
    known = set(made)
    read = [v for s in steps for v in read_by(s) if v not in known]
    inputs = tuple(dict.fromkeys(read))
    results = tuple([v for v in made if v in asked])
    outputs = tuple([Output(v) for v in results])
    run = Run(Program(inputs, tuple(steps), outputs, None))  # type: ignore[arg-type]
    return Operation(run, inputs, {}, results, False, False, ())


# --- the function that calls them ------------------------------------------------------------


class MixedSource(NumpySource):
    """The source of a program of kernels and NumPy's functions."""

    def __init__(self, program: Program):
        self.kernels = 0
        super().__init__(program)
        self.helpers["Failed"] = Failed

    def _step(self, step: Operation | Guard) -> None:
        if type(step) is Guard or type(step.primitive) is not Run:
            super()._step(step)
            return
        self._mode(False)
        name = f"kernel{self.kernels}"
        self.kernels += 1
        self.helpers[name] = step.primitive.impl
        given = ", ".join([self.value(x) for x in step.operands])
        for r in step.results:
            self.names[r] = f"v{len(self.names) - len(self.program.inputs)}"
        self._line(f"out = {name}({given})")
        if step.primitive.program.guards:
            self._line("if type(out) is Failed: return out")
        if step.results:
            self._line(f"{', '.join([self.names[r] for r in step.results])}, = out")
