"""The open pieces into which the conditions of an expression divide a region."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sympy
from sympy import Rational
from sympy.core.relational import Relational

from ..symbolic.steps import LOCALLY_CONSTANT
from .region import Region

__all__ = ["Piece", "boundaries", "can_vanish", "impossible", "pieces"]

#: More pieces than this are not looked at.
MOST = 200

#: Which relations hold for which signs of left - right.
HOLDS = {
    sympy.Gt: (1,),
    sympy.Ge: (0, 1),
    sympy.Lt: (-1,),
    sympy.Le: (-1, 0),
    sympy.Eq: (0,),
    sympy.Ne: (-1, 1),
}


class Piece:
    """One combination of signs of the boundaries.

    Attributes:
        signs: boundary expression -> 1 or -1, or 0 where it can vanish on more than a kink.
    """

    def __init__(self, signs: dict[Any, int]):
        self.signs = signs

    @property
    def positive(self) -> list[Any]:
        """Expressions that are positive here."""
        return [s * b for b, s in self.signs.items() if s]

    def equations(self) -> dict[Any, Any]:
        """The integers that have one value here: n - 3 = 0 says that n is 3."""
        out = {}
        for b, sign in self.signs.items():
            free = b.free_symbols
            if sign == 0 and len(free) == 1 and _linear(b, s := next(iter(free))) and s.is_integer:
                out[s] = -b.coeff(s, 0) / b.coeff(s, 1)
        return out

    def __str__(self) -> str:
        return " and ".join(f"{b} {'=><'[s]} 0" for b, s in self.signs.items())

    def of(self, e: Any) -> Any:
        """An expression with its conditions decided, those that have a sign here."""
        truths = {}
        for r in e.atoms(Relational):
            b, flip = _boundary(r)
            sign = 0 if b == 0 else _sign(b) or self.signs.get(b)
            if sign is not None:
                truths[r] = sympy.true if sign * flip in HOLDS[r.func] else sympy.false
        decided = e.xreplace(truths)
        return self.of(decided) if truths and decided.atoms(Relational) else decided

    def parametrized(self, e: Any, region: Region) -> Any:
        """The expression with positive symbols in place of those that the piece bounds.

        A symbol between two numbers becomes (a + b p) / (1 + p), one beyond a linear boundary
        that boundary plus p, where p is positive: SymPy then knows the signs.
        """
        positive = [p for p in (*region.positive, *self.positive) if _sign(p) != 1]
        for s in sorted(e.free_symbols, key=str):
            alone = Region({})
            alone.positive = [p for p in positive if p.free_symbols == {s}]
            low, high = alone.bounds(s)
            new = None if s.is_integer else _between(s, low, high)
            if new is not None:
                e = e.subs(s, new)
                positive = [q for q in (p.subs(s, new) for p in positive) if _sign(q) != 1]
        for p in positive:
            free = [s for s in p.free_symbols if s.is_positive is None and _linear(p, s)]
            if _sign(p) == 1 or not free:
                continue
            s = min(free, key=str)
            slope, rest = p.coeff(s, 1), p.coeff(s, 0)
            new = (sympy.Dummy("p", positive=True) - rest) / slope
            e, positive = e.subs(s, new), [q.subs(s, new) for q in positive]
        return e


def _between(s: Any, low: Any, high: Any) -> Any:
    if s.is_nonnegative:
        low = sympy.Max(low, 0)
    if s.is_nonpositive:
        high = sympy.Min(high, 0)
    p = sympy.Dummy(s.name, positive=True)
    if low.is_finite and high.is_finite:
        return (low + high * p) / (1 + p)
    if low.is_finite:
        return None if low == 0 and s.is_positive else low + p
    return high - p if high.is_finite else None


def _linear(e: Any, s: Any) -> bool:
    e = sympy.expand(e)
    return e.is_polynomial(s) and sympy.degree(e, s) == 1 and bool(e.coeff(s, 1).is_number)


def _sign(e: Any) -> int:
    return 1 if e.is_positive else -1 if e.is_negative else 0


def _boundary(r: Any) -> tuple[Any, int]:
    """(expression b, sign f) with left - right = f b: one b for a boundary however it is told."""
    b = sympy.expand(r.lhs - r.rhs) if isinstance(r.lhs, sympy.Expr) else r
    return (-b, -1) if b.could_extract_minus_sign() else (b, 1)


def boundaries(e: Any) -> list[Any]:
    """Where the conditions of an expression change, as expressions that vanish there."""
    found = {_boundary(r)[0] for r in e.atoms(Relational)}
    return sorted((b for b in found if b != 0 and not _sign(b)), key=str)


def can_vanish(b: Any) -> bool:
    """Whether an expression may be zero on more than a set without volume.

    One made of analytic functions of real symbols cannot, unless it is zero everywhere.
    """
    choosing = (sympy.Piecewise, sympy.Abs, sympy.sign, sympy.Max, sympy.Min, sympy.Heaviside)
    return b.has(*choosing, *LOCALLY_CONSTANT) or any(s.is_integer for s in b.free_symbols)


def pieces(e: Any, positive: Sequence[Any] = ()) -> Iterator[Piece]:
    """The combinations of signs of the boundaries of an expression.

    A boundary is asked for its sign only where the expression still depends on it, and what
    linear arithmetic shows to be empty beside `positive` is left out.
    """
    for count, piece in enumerate(_split(e, {}, list(positive))):
        if count >= MOST:
            raise NotImplementedError(f"its conditions give more than {MOST} pieces")
        yield piece


def _split(e: Any, signs: dict[Any, int], positive: list[Any]) -> Iterator[Piece]:
    left = [b for b in boundaries(e) if b not in signs]
    if not left:
        yield Piece(signs)
        return
    b = min(left, key=lambda b: (b.count_ops(), str(b)))
    for sign in (1, -1, 0) if can_vanish(b) else (1, -1):
        part = Piece({**signs, b: sign})
        if not (signs or positive) or not impossible([*positive, *part.positive]):
            yield from _split(part.of(e), part.signs, positive)


def impossible(positive: Sequence[Any]) -> bool:
    """Whether linear arithmetic shows that these expressions are never positive together.

    What is not linear counts as an unknown of its own, so the answer "no" may be wrong, "yes" not.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> impossible([x - y, y - 1, -x]), impossible([x - y, y - 1])
    (True, False)
    """
    from sympy.solvers.simplex import InfeasibleLPError, UnboundedLPError, lpmax

    unknowns: dict[Any, Any] = {}
    slack = sympy.Dummy("slack")
    constraints = [slack <= 1]
    for p in positive:
        total = sympy.Integer(0)
        for term, coefficient in sympy.expand(p).as_coefficients_dict().items():
            if not coefficient.is_Rational:
                return False
            if term == 1:
                total += coefficient
            else:
                total += coefficient * unknowns.setdefault(term, sympy.Dummy())
        constraints.append(total - slack >= 0)
    constraints += [u >= 0 for term, u in unknowns.items() if term.is_nonnegative]
    constraints += [u <= 0 for term, u in unknowns.items() if term.is_nonpositive]
    try:
        return bool(Rational(lpmax(slack, constraints)[0]) <= 0)
    except UnboundedLPError:
        return False
    except InfeasibleLPError:
        return True
