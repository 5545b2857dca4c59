"""The passes in order, for straight code; a program with loops goes through them part by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...engine.levels.tree import LEAF_TREE
from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import Loop, variables_of
from ..program import Output, Program
from .arithmetic import ARITHMETIC
from .arrangement import ARRANGEMENT
from .constants import constants_of, private_arrays
from .dead_code import without_dead_code
from .formulas import FORMULAS
from .guards import without_implied_guards, without_known_shapes
from .reads_first import reads_first
from .repetition import without_repetition
from .rewriting import outputs_by, renamed, rewritten
from .slices import summed_by_slices

__all__ = ["simplified"]


def simplified(program: Program, private: set[int] | None = None) -> Program:
    """The program after all passes.

    `private` are the arrays that nobody else can write to, of the program as it was traced, where
    this is not that program itself.
    """
    known = private_arrays(program) if private is None else private
    if not any(isinstance(s, Loop) for s in program.steps):
        return _straight(program, known)
    return without_dead_code(_by_parts(without_dead_code(program), known))


#: From how many steps a program is rewritten once, and not twice.
LONG = 1000


def _straight(program: Program, known: set[int]) -> Program:
    program = without_known_shapes(program)
    program = rewritten(program, FORMULAS, constants_of(known), ARITHMETIC, ARRANGEMENT)
    program = without_dead_code(without_repetition(program))
    if any(s.primitive.name == "scatter_add" for s in program.operations):
        program = summed_by_slices(program)
    if len(program.steps) < LONG:  # what the first round has found may be used once after it
        program = rewritten(program, ARITHMETIC, ARRANGEMENT)
    program = without_dead_code(without_repetition(program))
    return without_dead_code(without_implied_guards(program))


def _by_parts(program: Program, known: set[int]) -> Program:
    """Straight parts, and the bodies of loops, each as a program of its own."""
    steps = list(program.steps)
    needed = _needed_after(steps, program.results())
    same: dict[Variable, Any] = {}
    out: list[Any] = []
    k = 0
    while k < len(steps):
        if isinstance(steps[k], Loop):
            out.append(_loop(_renamed(steps[k], same), known))
            k += 1
            continue
        end = k
        while end < len(steps) and not isinstance(steps[end], Loop):
            end += 1
        part = [_renamed(s, same) for s in steps[k:end]]
        part = [s for s in part if s is not None]
        made = {r for s in part if isinstance(s, Operation) for r in s.results}
        wanted = [v for v in made if v in needed[end]]
        short, values = _part(part, wanted, known)
        out += short
        same.update({v: new for v, new in zip(wanted, values, strict=True) if new is not v})
        k = end
    writes = tuple([(n, same.get(v, v)) for n, v in program.writes])
    return Program(
        program.inputs, tuple(out), outputs_by(program, same), program.tree, writes, program.notes
    )


def _needed_after(steps: list[Any], wanted: Iterable[Variable]) -> dict[int, set[Variable]]:
    """For each place between parts, what is read behind it."""
    needed = set(wanted)
    found = {len(steps): set(needed)}
    for k in range(len(steps) - 1, -1, -1):
        needed.update(variables_of(steps[k]))
        if isinstance(steps[k], Loop):
            found[k] = set(needed)
    return found


def _part(
    steps: Sequence[Any], wanted: Sequence[Variable], known: set[int]
) -> tuple[list[Any], list[Any]]:
    """Straight steps after the passes, and what stands for the variables that are wanted."""
    made = {r for s in steps if isinstance(s, Operation) for r in s.results}
    inputs = dict.fromkeys(v for s in steps for v in variables_of(s) if v not in made)
    outputs = tuple([Output(v) for v in wanted])
    program = _straight(Program(tuple(inputs), tuple(steps), outputs, LEAF_TREE), known)
    return list(program.steps), [o.value for o in program.outputs]


def _loop(loop: Loop, known: set[int]) -> Loop:
    """A loop with its body after the passes."""
    wanted = dict.fromkeys(
        [c.update for c in loop.carries]
        + [s.inside for s in loop.saves]
        + [v for _, v in loop.finals]
    )
    body, values = _part(loop.body, list(wanted), known)
    same = dict(zip(wanted, values, strict=True))
    if not all(type(v) is Variable for v in values):
        return loop  # a value that turned out to be a constant: rare, and left as it is
    return loop._replace(
        body=tuple(reads_first(body)),
        carries=tuple([c._replace(update=same[c.update]) for c in loop.carries]),
        saves=tuple([s._replace(inside=same[s.inside]) for s in loop.saves]),
        finals=tuple([(v, same[inside]) for v, inside in loop.finals]),
    )


def _renamed(step: Any, same: dict[Variable, Any]) -> Any:
    """A step that reads other variables; None for a question about a constant."""
    if not same:
        return step
    if isinstance(step, Guard):
        known = same.get(step.variable, step.variable)
        return step._replace(variable=known) if type(known) is Variable else None
    if not isinstance(step, Loop):
        return renamed(step, same)

    def new(x: Any) -> Any:
        return same.get(x, x) if type(x) is Variable else x

    body = [_renamed(s, same) for s in step.body]
    return step._replace(
        body=tuple([s for s in body if s is not None]),
        carries=tuple([c._replace(initial=new(c.initial)) for c in step.carries]),
        streams=tuple([s._replace(values=tuple(map(new, s.values))) for s in step.streams]),
    )
