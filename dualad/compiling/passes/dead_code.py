"""What nobody asks for is not computed."""

from __future__ import annotations

from ...engine.staged import Guard, Operation
from ..program import Program, variables_of

__all__ = ["without_dead_code"]


def without_dead_code(program: Program) -> Program:
    """Without the operations whose results nobody reads."""
    needed = set(program.results())
    steps: list[Operation | Guard] = []
    for s in reversed(program.steps):
        if isinstance(s, Guard):
            needed.add(s.variable)
        elif not any(r in needed for r in s.results):
            continue
        else:
            needed.update(variables_of(s))
        steps.append(s)
    return program.with_steps(steps[::-1])
