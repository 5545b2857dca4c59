"""What nobody asks for is not computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...engine.staging.operations import Guard, Variable
from ..loop import Loop, variables_of
from ..program import Program

__all__ = ["without_dead_code"]


def without_dead_code(program: Program) -> Program:
    """Without the operations whose results nobody reads."""
    return program.with_steps(_needed(program.steps, program.results()))


def _needed(steps: Sequence[Any], wanted: Iterable[Variable]) -> list[Any]:
    needed = set(wanted)
    kept: list[Any] = []
    for s in reversed(steps):
        if isinstance(s, Loop):
            s = shortened(s, needed)
        if not isinstance(s, Guard) and not any(r in needed for r in s.results):
            if not (isinstance(s, Loop) and s.asks):
                continue
        needed.update(variables_of(s))
        kept.append(s)
    return kept[::-1]


def shortened(loop: Loop, needed: set[Variable]) -> Loop:
    """A loop without what nobody asks for: saved values, carries, rows, operations."""
    saves = tuple([s for s in loop.saves if any(v in needed for v in s.outside)])
    finals = tuple([(v, inside) for v, inside in loop.finals if v in needed])
    carries = loop.carries
    while True:  # what only a carry reads that nobody reads is not needed either
        wanted = [s.inside for s in saves] + [v for _, v in finals] + [c.update for c in carries]
        body = _needed(loop.body, wanted)
        read = {v for s in body for v in variables_of(s)} | {c.update for c in carries}
        read |= {v for _, v in finals} | {s.inside for s in saves}
        kept = tuple([c for c in carries if c.inside in read])
        if len(kept) == len(carries):
            break
        carries = kept
    streams = tuple([s for s in loop.streams if s.inside in read])
    return loop._replace(
        body=tuple(body), carries=carries, streams=streams, saves=saves, finals=finals
    )
