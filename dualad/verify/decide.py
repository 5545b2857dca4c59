"""One claim: two expressions, and whether they are equal in a region."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from ..symbolic.calculus import by_cases
from ..symbolic.steps import LOCALLY_CONSTANT
from .deadline import Deadline, OutOfTime
from .numeric import Sampler
from .pieces import Piece, boundaries, can_vanish, impossible, pieces
from .proof import PROVED, REFUTED, UNDECIDED, Counterexample, Entry
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
    named = (claim.output, claim.input, claim.claimed, claim.exact)
    both = by_cases(sympy.sympify(claim.claimed)), by_cases(sympy.sympify(claim.exact))
    sampler: Sampler | None = None
    steps: tuple[str, ...] = ()
    reason = f"no proof within {limit:g} s"
    try:
        with Deadline(limit):
            sampler = Sampler(*both, region, seed)
            found = _counterexample(sampler)
            if found is None:
                steps, reason, unproved = _proof(both[0] - both[1], region, sampler)
                if unproved is not None and unproved.signs:
                    found = _counterexample_within(unproved, both, region, seed)
            if found is not None:
                return Entry(*named[:2], REFUTED, *named[2:], counterexample=found)
    except OutOfTime:
        pass
    numeric = None if sampler is None else sampler.report()
    if not reason and (numeric is None or numeric.points == 0):
        reason = "no point of the region was found at which both have a value"
    verdict = UNDECIDED if reason else PROVED
    return Entry(*named[:2], verdict, *named[2:], steps=steps, numeric=numeric, reason=reason)


def _counterexample(sampler: Sampler) -> Counterexample | None:
    point = sampler.search()
    return None if point is None else sampler.counterexample(_shrunk(sampler, point))


def _counterexample_within(
    piece: Piece, both: tuple[Any, Any], region: Region, seed: int
) -> Counterexample | None:
    """A counterexample in a piece without proof, which may be too small to be met by chance."""
    known = set(region.symbols)
    positive = [p for p in piece.positive if p.free_symbols <= known]
    return _counterexample(Sampler(*both, region.within(positive), seed))


def _shrunk(sampler: Sampler, point: dict[Any, Any]) -> dict[Any, Any]:
    """The point as simple as a second's search makes it: it is a counterexample in any case."""
    try:
        with Deadline(1.0):
            return sampler.shrunk(point)
    except OutOfTime:
        return point


def _proof(
    difference: Any, region: Region, sampler: Sampler
) -> tuple[tuple[str, ...], str, Piece | None]:
    """(steps, "", None) if the difference is zero on every piece, else ((), why not, where)."""
    difference = _steps_as_symbols(sympy.sympify(difference))
    if difference == 0:
        return ("identical",), "", None
    for b in boundaries(difference):
        if not can_vanish(b) and sampler.vanishes(b):
            return (), f"whether {b} = 0 was not decided", None
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
                return (), f"the difference was not simplified to zero{where}", piece
            steps.append(f"{piece}: {why}" if piece.signs else why)
    except (NotImplementedError, RecursionError) as e:
        return (), str(e) or type(e).__name__, None
    return tuple(steps), "", None


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
