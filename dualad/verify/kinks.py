"""Where a function has kinks and jumps, and which slope this library gives there."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import sympy

from ..symbolic.calculus import conventional
from ..symbolic.held import released
from ..symbolic.steps import LOCALLY_CONSTANT
from .claims import Values, cells
from .deadline import Deadline, OutOfTime
from .pieces import boundaries, impossible
from .proof import Entry, Kink
from .region import Region

__all__ = ["kinks_of"]

EVEN = "ties share the slope evenly"
ZERO = "slope 0"
BRANCH = "the slope of the branch that holds there"
STEP = "the step itself has slope 0, at a jump as beside it"


#: Seconds for a look at what the claims give on the kinks.
SECONDS = 2.0


def kinks_of(values: Values, region: Region, entries: Sequence[Entry] = ()) -> tuple[Kink, ...]:
    """The kinks of the values of a function that lie in the region, each of them once.

    With the entries of a proof each kink says what the claims give there.
    """
    named = dict(cells(values))
    found: dict[tuple[str, str], Kink] = {}
    places: dict[str, Any] = {}
    for e in named.values():
        for place, operation, convention in _kinks(released(sympy.sympify(e))):
            if isinstance(place, sympy.Expr) and _away(place, region):
                continue
            where = place if isinstance(place, str) else f"{place} = 0"
            places[where] = place
            found.setdefault((where, operation), Kink(where, operation, convention))
    kinks = [found[k] for k in sorted(found)]
    try:
        with Deadline(SECONDS):
            return tuple(
                replace(k, claim=_claim(places[k.where], entries, named, region)) for k in kinks
            )
    except OutOfTime:
        return tuple(kinks)


def _claim(place: Any, entries: Sequence[Entry], named: dict[str, Any], region: Region) -> str:
    """What the claims give at a point of the kink, beside what the library gives."""
    point = None if isinstance(place, str) else _point_on(place, region)
    if point is None:
        return ""
    symbols = {str(s): s for s in region.symbols}
    seen = False
    for e in entries:
        value, by = named.get(e.output.removesuffix(" (backward)")), symbols.get(e.input)
        if value is None or by is None or by not in value.free_symbols:
            continue
        claimed = _value(e.claimed, point)
        exact = _value(sympy.diff(conventional(value), by), point)
        if claimed is None or exact is None:
            continue
        seen = True
        if sympy.simplify(claimed - exact) != 0:
            at = ", ".join(f"{s} = {v}" for s, v in point.items())
            return f"the claim gives {claimed} for {e.name} at {at}, not {exact}"
    return "the claim agrees" if seen else ""


def _value(e: Any, point: dict[Any, Any]) -> Any:
    value = sympy.sympify(e).subs(point)
    return value if value.is_number and value.is_finite else None


def _point_on(place: Any, region: Region) -> dict[Any, Any] | None:
    """A point on a kink whose equation is linear in one of its symbols."""
    for s in sorted(place.free_symbols, key=str):
        if s.is_integer or not place.is_polynomial(s) or sympy.degree(place, s) != 1:
            continue
        slope, rest = place.coeff(s, 1), place.coeff(s, 0)
        alone = copy.copy(region)
        alone.positive, alone.different = [], []
        for point in alone.points(region.symbols, 0, 50):
            point[s] = (-rest / slope).subs(point)
            if point[s].is_Rational and region.has(point):
                return point
    return None


def _away(place: Any, region: Region) -> bool:
    """Whether an expression is never zero in the region."""
    if place.is_zero is False:
        return True
    return impossible([*region.positive, place]) or impossible([*region.positive, -place])


def _kinks(e: Any) -> Iterator[tuple[Any, str, str]]:
    for u in e.atoms(sympy.Abs):
        yield _canonical(u.args[0]), "abs", ZERO
    for u in e.atoms(sympy.sign):
        yield _canonical(u.args[0]), "sign", ZERO
    for u in e.atoms(sympy.Max, sympy.Min):
        name = "maximum" if isinstance(u, sympy.Max) else "minimum"
        for k, a in enumerate(u.args):
            for b in u.args[:k]:
                yield _canonical(a - b), name, EVEN
    for u in e.atoms(sympy.Piecewise):
        for _, condition in u.args:
            if condition not in (sympy.true, sympy.false):
                for b in boundaries(condition):
                    yield b, "where", BRANCH
    for u in e.atoms(*LOCALLY_CONSTANT):
        yield f"{u.args[0]} an integer", u.func.__name__, STEP


def _canonical(b: Any) -> Any:
    b = sympy.expand(b)
    return -b if b.could_extract_minus_sign() else b
