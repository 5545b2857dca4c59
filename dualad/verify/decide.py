"""One claim: two expressions, and whether they are equal in a region."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy

from ..symbolic.calculus import by_cases
from ..symbolic.held import released
from ..symbolic.steps import LOCALLY_CONSTANT
from .deadline import Deadline, OutOfTime
from .numeric import POINTS, Sampler
from .pieces import Piece, boundaries, can_vanish, impossible, pieces
from .proof import PROVED, REFUTED, UNDECIDED, Counterexample, Entry
from .region import Region
from .tactics import CHEAP, roots_apart, why_zero

__all__ = ["Claim", "decide"]


#: Expressions of more operations are simplified only where a point of the region may lie.
LARGE = 100
#: At how many points equal expressions are compared nevertheless.
FEW = 3


@dataclass(frozen=True)
class Claim:
    """That `claimed` equals `exact`; the names say which entry of a derivative it is."""

    output: str
    input: str
    claimed: Any
    exact: Any


def decide(claim: Claim, region: Region, limit: float, seed: int) -> Entry:
    """The verdict on a claim: numbers can only refute it, algebra can only prove it."""
    claim = replace(claim, claimed=released(claim.claimed), exact=released(claim.exact))
    named = (claim.output, claim.input, claim.claimed, claim.exact)
    both: Any = tuple(
        _on_region(sympy.sympify(e), region, limit) for e in (claim.claimed, claim.exact)
    )
    sampler: Sampler | None = None
    steps: tuple[str, ...] = ()
    reason = f"no proof within {limit:g} s"
    try:
        with Deadline(limit):
            sampler = Sampler(both[0], both[1], region, seed)
            found = _counterexample(sampler, FEW if _is_clear(*both) else POINTS)
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


def _on_region(e: Any, region: Region, limit: float) -> Any:
    """An expression by cases, without the cases that the region leaves out if there are many."""
    signs: dict[Any, int] = {}
    try:
        with Deadline(limit):
            for b in boundaries(e) if e.count_ops() > LARGE and region.positive else ():
                for sign in (1, -1):
                    if not can_vanish(b) and impossible([*region.positive, sign * b]):
                        signs[b] = -sign
            e = Piece(signs).of(e) if signs else e
    except OutOfTime:
        pass
    return by_cases(e)


def _is_clear(claimed: Any, exact: Any) -> bool:
    """Whether the two are so nearly the same expression that numbers have little to say."""
    difference = claimed - exact
    small = difference.count_ops() <= LARGE
    return difference == 0 or (small and why_zero(difference, ["expand"]) is not None)


def _counterexample(sampler: Sampler, enough: int = POINTS) -> Counterexample | None:
    point = sampler.search(enough)
    return None if point is None else sampler.counterexample(_shrunk(sampler, point))


def _counterexample_within(
    piece: Piece, both: tuple[Any, Any], region: Region, seed: int
) -> Counterexample | None:
    """A counterexample in a piece without proof, which may be too small to be met by chance."""
    known = set(region.symbols)
    positive = [p for p in piece.positive if p.free_symbols <= known]
    part = region.within(positive).at(piece.equations())
    return _counterexample(Sampler(*both, part, seed))


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
        for piece in pieces(difference, region.positive):
            values = piece.equations()
            if not region.allows(values):
                continue
            here = piece.of(difference).subs(values)
            large = here.count_ops() > LARGE
            if large and _empty(piece, region):
                continue
            why = why_zero(here, CHEAP)
            if why is None and not large and _empty(piece, region):
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
