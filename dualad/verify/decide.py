"""One claim: two expressions, and whether they are equal in a region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from ..symbolic.calculus import by_cases
from ..symbolic.steps import LOCALLY_CONSTANT
from .deadline import Deadline, OutOfTime
from .numeric import Sampler
from .pieces import Piece, impossible, pieces
from .proof import PROVED, REFUTED, UNDECIDED, Entry
from .region import Region
from .tactics import CHEAP, roots_apart, why_zero

__all__ = ["Claim", "decide"]


@dataclass(frozen=True)
class Claim:
    """That `claimed` equals `exact`; the names say which entry of a derivative it is."""

    output: str
    input: str
    claimed: Any
    exact: Any


def decide(claim: Claim, region: Region, limit: float, seed: int) -> Entry:
    """The verdict on a claim: numbers can only refute it, algebra can only prove it."""
    named = (claim.output, claim.input)
    sampler = None
    claimed, exact = claim.claimed, claim.exact
    try:
        with Deadline(limit):
            sampler = Sampler(by_cases(claimed), by_cases(exact), region, seed)
            point = sampler.search()
            if point is not None:
                found = sampler.counterexample(_shrunk(sampler, point))
                return Entry(*named, REFUTED, claimed, exact, counterexample=found)
            steps, reason = _proof(by_cases(claimed - exact), region)
    except OutOfTime:
        steps, reason = (), f"no proof within {limit:g} s"
    if sampler is None or sampler.seen == []:
        numeric = None if sampler is None else sampler.report()
        reason = reason or "no point of the region was found at which both have a value"
        return Entry(*named, UNDECIDED, claimed, exact, numeric=numeric, reason=reason)
    verdict = UNDECIDED if reason else PROVED
    return Entry(
        *named, verdict, claimed, exact, steps=steps, numeric=sampler.report(), reason=reason
    )


def _shrunk(sampler: Sampler, point: dict[Any, Any]) -> dict[Any, Any]:
    """The point as simple as a second's search makes it: it is a counterexample in any case."""
    try:
        with Deadline(1.0):
            return sampler.shrunk(point)
    except OutOfTime:
        return point


def _proof(difference: Any, region: Region) -> tuple[tuple[str, ...], str]:
    """(steps, "") if the difference is zero on every piece, else ((), why not)."""
    difference = _steps_as_symbols(sympy.sympify(difference))
    if difference == 0:
        return ("identical",), ""
    steps: list[str] = []
    try:
        for piece in pieces(difference):
            here = piece.of(difference)
            why = why_zero(here, CHEAP)
            if why is None and _empty(piece, region):
                continue
            if why is None:
                why = why_zero(piece.parametrized(here, region))
            if why is None:
                where = f" where {piece}" if piece.signs else ""
                return (), f"the difference was not simplified to zero{where}"
            steps.append(f"{piece}: {why}" if piece.signs else why)
    except (NotImplementedError, RecursionError) as e:
        return (), str(e) or type(e).__name__
    return tuple(steps), ""


def _empty(piece: Piece, region: Region) -> bool:
    """Whether no point of the region lies in the piece."""
    if not piece.signs:
        return False
    if impossible([*region.positive, *piece.positive]):
        return True
    everywhere = Piece({})
    return any(
        roots_apart(everywhere.parametrized(p, region)).is_nonpositive for p in piece.positive
    )


def _steps_as_symbols(e: Any) -> Any:
    """Step functions as unknown integers: what holds for any integer holds for theirs."""
    steps = e.atoms(*LOCALLY_CONSTANT)
    outer = [s for s in steps if not any(s != t and t.has(s) for t in steps)]
    if not outer:
        return e
    out = e.xreplace({s: sympy.Dummy("q", integer=True) for s in outer})
    return _steps_as_symbols(out)
