"""What a program gives back of an argument that it writes into is copied before it is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...engine.primitives.primitive import Opaque
from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import Loop
from ..program import Program

__all__ = ["writes_last"]


def copy_of(x: Any) -> Any:
    """A copy of an array."""
    return np.array(x)


COPY = Opaque(copy_of, builtin=False)


def writes_last(program: Program) -> Program:
    """The program with results of their own where passes have put an argument in their place.

    Arguments are written to at the very end, one after the other; x * 1 has become x until then.
    """
    if not program.writes:
        return program
    written = {program.inputs[k] for k, _ in program.writes}
    made = {r: s for s in program.steps if not isinstance(s, Guard) for r in s.results}
    steps = list(program.steps)
    copies: dict[Variable, Variable] = {}

    def kept(v: Any, but: Variable | None = None) -> Any:
        if type(v) is not Variable or not v.is_array or not (_roots(v, made) & written) - {but}:
            return v
        if v not in copies:
            copies[v] = v.another()
            steps.append(Operation(COPY, (v,), {}, (copies[v],), True, False, ()))
        return copies[v]

    outputs = tuple([o if o.is_view else replace(o, value=kept(o.value)) for o in program.outputs])
    writes = tuple([(k, kept(v, program.inputs[k])) for k, v in program.writes])
    return Program(
        program.inputs, tuple(steps), outputs, program.tree, writes, program.notes
    )  # fmt: skip


def _roots(v: Variable, made: dict[Variable, Any]) -> set[Variable]:
    """The variables whose memory a variable may lie in."""
    found, todo = {v}, [v]
    while todo:
        s = made.get(todo.pop())
        if s is None:
            continue
        for a in s.reads() if isinstance(s, Loop) else s.aliases:
            if a not in found:
                found.add(a)
                todo.append(a)
    return found
