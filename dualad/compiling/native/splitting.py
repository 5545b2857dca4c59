"""A program as native kernels, with NumPy's functions between them for what has no native form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.levels.tree import LEAF_TREE
from ...engine.primitives.primitive import PRIMITIVES
from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import Loop, variables_of
from ..numpy_source import SHOWN, Failed, NumpySource
from ..program import Handed, Output, Program
from .forms import VIEWS, is_native
from .slopes import with_slopes
from .wrapper import function_of

__all__ = ["split"]

#: A kernel of fewer operations is left to NumPy.
FEWEST = 2
#: From how many entries on an array is freed as soon as nobody reads it.
LARGE = 1 << 14


def split(program: Program, threads: int = 1) -> Callable[..., Any] | None:
    """The function of a program, or None where no kernel pays."""
    plain = program
    program = with_slopes(program)
    native = {id(s) for s in program.steps if is_native(s)}
    program = _without_settled(program, native)
    if len(native) == len(program.steps):
        turned = _turned(program)
        if _is_whole(turned):
            return function_of(turned, threads, plain) if program.steps else None
    _leave_views(program, native)
    stages = _stages(program, native)
    if not any(_pays(kernel) for kernel, _ in stages):
        return None
    return Mixed(program, stages, threads).function_of()


def _without_settled(program: Program, native: set[int]) -> Program:
    """Without questions about shapes that no value can change."""
    fixed = set(program.inputs)
    steps = []
    for s in program.steps:
        if isinstance(s, Guard):
            if s.question == "shape" and s.variable in fixed:
                continue
        elif id(s) in native:
            fixed.update(s.results)
        steps.append(s)
    return program.with_steps(steps)


def _turned(program: Program) -> Program:
    """With the transposes of results in Fortran's order, as kernels write in that of C."""
    steps, outputs = list(program.steps), list(program.outputs)
    for k, o in enumerate(outputs):
        v = o.value
        if type(v) is Variable and len(v.shape) > 1 and v.axes == tuple(range(len(v.shape)))[::-1]:
            t = v.another()
            t.shape, t.axes, t.contiguous = v.shape[::-1], None, True
            transpose = PRIMITIVES["transpose"]
            steps.append(Operation(transpose, (v,), {"axes": v.axes}, (t,), True, True, (v,)))
            outputs[k] = replace(o, value=t, turned=True)
    return replace(program, steps=tuple(steps), outputs=tuple(outputs))


def _is_whole(program: Program) -> bool:
    """Whether every result is computed anew, so that a kernel can hand it out."""
    inputs = set(program.inputs)
    return not program.writes and all(
        type(o.value) is Variable
        and not o.is_view
        and o.value not in inputs
        and o.kind in (None, float)
        and o.value.axes is None
        for o in program.outputs
    )


def _pays(steps: list[Any]) -> bool:
    work = sum(1 if type(s) is Operation else FEWEST for s in steps if not isinstance(s, Guard))
    return work >= FEWEST


# --- which steps run together ----------------------------------------------------------------


def _leave_views(program: Program, native: set[int]) -> None:
    """A view that NumPy reads is NumPy's: a kernel would have to copy it.

    So is one that is a result in another order than C, which kernels do not write.
    """
    handed = {o.value for o in program.outputs if o.is_view} | {v for _, v in program.writes}
    outputs = [o.value for o in program.outputs if type(o.value) is Variable]
    handed.update([v for v in outputs if v.axes is not None])
    for s in reversed(program.steps):
        is_view = type(s) is Operation and s.primitive.name in VIEWS
        if is_view and any(r in handed for r in s.results):
            native.discard(id(s))
        if id(s) not in native:
            handed.update(variables_of(s))


Stage = tuple[list[Any], list[Any]]


def _stages(program: Program, native: set[int]) -> list[Stage]:
    """Kernels and what follows each: as few as the order of the data allows."""
    stage: dict[Variable, int] = {}
    is_kernel: dict[Variable, bool] = {}
    found: list[Stage] = []
    answered = last = 0
    for s in program.steps:
        mine = id(s) in native
        # NumPy's part keeps its order: some functions find what others left, as factors.
        at = 0 if mine else max(answered, last)
        for v in variables_of(s):
            if v in stage:
                at = max(at, stage[v] + (mine and not is_kernel[v]))
        while len(found) <= at:
            found.append(([], []))
        found[at][not mine].append(s)
        last = last if mine else at
        if isinstance(s, Guard) or (isinstance(s, Loop) and s.asks):
            # What follows in NumPy may raise unless the answer is what it was.
            answered = max(answered, at)
        for r in () if isinstance(s, Guard) else s.results:
            stage[r], is_kernel[r] = at, mine
    return found


# --- the function that calls them ------------------------------------------------------------


class Mixed:
    """The source of a function that calls kernels and programs of NumPy in turn."""

    def __init__(self, program: Program, stages: list[Stage], threads: int):
        self.program, self.threads = program, threads
        self.names = {v: f"x{k}" for k, v in enumerate(program.inputs)}
        self.parts: dict[str, Callable[..., Any]] = {}
        self.lines: list[str] = []
        order = {id(s): k for k, s in enumerate(program.steps)}
        parts: list[tuple[list[Any], bool]] = []
        for kernel, rest in stages:
            if _pays(kernel):
                parts += [(kernel, True), (rest, False)]
            else:
                parts.append((sorted([*kernel, *rest], key=lambda s: order[id(s)]), False))
        parts = _joined([p for p in parts if p[0]])
        last = _last_reads(parts)
        for k, (steps, is_kernel) in enumerate(parts):
            self._call(k, steps, is_kernel, last)
        self._results()

    def _call(self, k: int, steps: list[Any], is_kernel: bool, last: dict[Variable, int]) -> None:
        made = [r for s in steps if not isinstance(s, Guard) for r in s.results]
        known = set(made)
        read = list(dict.fromkeys(v for s in steps for v in variables_of(s) if v not in known))
        inputs = tuple([v for v in read if v in self.names])
        results = set(self.program.results())
        given = [v for v in dict.fromkeys(made) if v in results or last.get(v, k) > k]
        outputs = tuple([Output(v, not is_kernel) for v in given])
        part = Program(inputs, tuple(steps), outputs, LEAF_TREE)
        name = f"part{k}"
        if is_kernel:
            self.parts[name] = function_of(part, self.threads)
        else:
            self.parts[name] = NumpySource(part).function_of()
        self.lines.append(f"out = {name}({', '.join(self.names[v] for v in inputs)})")
        self.lines.append("if type(out) is Failed: return out")
        for v in given:
            self.names[v] = f"v{len(self.names)}"
        if given:
            self.lines.append(f"{', '.join(self.names[v] for v in given)}, = out")
        ended = [
            self.names[v] for v in inputs if last[v] == k and v.size >= LARGE and v not in results
        ]
        self.lines.append(f"del {', '.join(['out', *ended])}")

    def _results(self) -> None:
        for k, v in self.program.writes:
            self.lines.append(f"x{k}[...] = {self.names[v]}")
        shown: set[Variable] = set()
        leaves = []
        for k, o in enumerate(self.program.outputs):
            if type(o.value) is Variable:
                leaves.append(self._leaf(o, shown))
            elif type(o.value) is Handed:
                self.parts[f"c{k}"] = o.value.of
                leaves.append(f"c{k}(x{o.value.argument})")
            elif o.kind is not None:
                self.parts[f"c{k}"] = o.value
                leaves.append(f"{SHOWN[o.kind]}(c{k})")
            else:
                self.parts[f"c{k}"] = o.value
                leaves.append(f"c{k}.copy('K')" if isinstance(o.value, np.ndarray) else f"c{k}")
        self.lines.append(f"return ({''.join(f'{x}, ' for x in leaves)})")

    def _leaf(self, o: Output, shown: set[Variable]) -> str:
        """A result; what shares memory with an argument or another result is copied."""
        roots = self._roots(o.value)
        shared = bool(roots & {*self.program.inputs, *shown}) or self._is_spread(roots)
        shown |= roots
        name = self.names[o.value]
        if o.kind is not None:
            return f"{SHOWN[o.kind]}({name})"
        if not o.value.is_array or o.is_view:
            return name
        if o.value.axes is not None and not shared:
            return f"laid({name}, {o.value.axes})"
        return f"{name}.copy({'' if o.value.axes is None else repr('K')})" if shared else name

    def _roots(self, v: Variable) -> set[Variable]:
        made = {r: s for s in self.program.operations for r in s.results}
        found, todo = {v}, [v]
        while todo:
            s = made.get(todo.pop())
            new = [a for a in (() if s is None else s.aliases) if a not in found]
            found.update(new)
            todo += new
        return found

    def _is_spread(self, roots: set[Variable]) -> bool:
        spread = [s for s in self.program.operations if s.primitive.name == "broadcast_to"]
        return any(r in roots for s in spread for r in s.results)

    def function_of(self) -> Callable[..., Any]:
        """The function."""
        inputs = ", ".join(f"x{k}" for k in range(len(self.program.inputs)))
        text = "\n    ".join([f"def program({inputs}):", *self.lines])
        scope: dict[str, Any] = {**self.parts, "Failed": Failed, "np": np, "laid": laid}
        exec(compile(text, "<program>", "exec"), scope)
        return scope["program"]


def laid(a: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """An array that lies in memory with its axes in this order."""
    return np.ascontiguousarray(a.transpose(axes)).transpose(np.argsort(axes))


def _joined(parts: list[tuple[list[Any], bool]]) -> list[tuple[list[Any], bool]]:
    """Parts of NumPy that follow one another as one."""
    out: list[tuple[list[Any], bool]] = []
    for steps, is_kernel in parts:
        if out and not is_kernel and not out[-1][1]:
            out[-1] = ([*out[-1][0], *steps], False)
        else:
            out.append((steps, is_kernel))
    return out


def _last_reads(parts: list[tuple[list[Any], bool]]) -> dict[Variable, int]:
    return {v: k for k, (steps, _) in enumerate(parts) for s in steps for v in variables_of(s)}
