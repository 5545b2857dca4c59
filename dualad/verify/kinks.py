"""Where a function has kinks and jumps, and which slope this library gives there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sympy

from ..symbolic.steps import LOCALLY_CONSTANT
from .pieces import boundaries, impossible
from .proof import Kink
from .region import Region

__all__ = ["kinks_of"]

EVEN = "ties share the slope evenly"
ZERO = "slope 0"
BRANCH = "the slope of the branch that holds there"
STEP = "the step itself has slope 0, at a jump as beside it"


def kinks_of(expressions: Iterable[Any], region: Region) -> tuple[Kink, ...]:
    """The kinks of the given expressions that lie in the region, each of them once."""
    found: dict[tuple[str, str], Kink] = {}
    for e in expressions:
        for place, operation, convention in _kinks(sympy.sympify(e)):
            if isinstance(place, sympy.Expr) and _away(place, region):
                continue
            where = place if isinstance(place, str) else f"{place} = 0"
            found.setdefault((where, operation), Kink(where, operation, convention))
    return tuple(found[k] for k in sorted(found))


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
