"""What is computed twice is computed once, and what is asked twice is asked once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.staging.operations import Guard, Operation, Variable
from ..program import Program
from .rewriting import outputs_by, renamed

__all__ = ["without_repetition"]


def without_repetition(program: Program) -> Program:
    """One operation for all that apply the same primitive to the same operands."""
    known: dict[Any, tuple[Variable, ...]] = {}
    asked: set[Any] = set()
    same: dict[Variable, Variable] = {}
    steps: list[Operation | Guard] = []
    for s in program.steps:
        if isinstance(s, Guard):
            g = s._replace(variable=same.get(s.variable, s.variable))
            question = (g.variable, g.question)
            if g.question == "value" or question not in asked:
                steps.append(g)
            asked.add(question)
            continue
        assert isinstance(s, Operation)
        operation = renamed(s, same)
        key = _key(operation)
        if key is not None and key in known:
            same.update(zip(operation.results, known[key], strict=True))
            continue
        if key is not None:
            known[key] = operation.results
        steps.append(operation)
    outputs = outputs_by(program, same)
    writes = tuple([(k, same.get(v, v)) for k, v in program.writes])
    return Program(program.inputs, tuple(steps), outputs, program.tree, writes, program.notes)


def _key(operation: Operation) -> Any:
    """What two operations have in common that give the same; None where nobody can tell."""
    try:
        key = (
            operation.primitive,
            tuple([_same(x) for x in operation.operands]),
            tuple([(k, _same(v)) for k, v in operation.params.items()]),
        )
        hash(key)
    except TypeError:
        return None
    return key


def _same(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return (np.ndarray, id(x))  # the program keeps it alive
    if type(x) in (tuple, list):
        return (type(x), tuple([_same(v) for v in x]))
    if type(x) is slice:
        return (slice, x.start, x.stop, x.step)
    if type(x) in (float, np.float64):
        return (type(x), np.float64(x).tobytes())  # -0.0 is not 0.0
    return x if type(x) is Variable else (type(x), x)
