"""Both sides of a claim in 60-digit arithmetic, at rational points."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import mpmath
import sympy
from sympy.core.relational import Relational

from ..symbolic.digits import MPMATH
from ..symbolic.steps import LOCALLY_CONSTANT
from .pieces import boundaries, can_vanish
from .proof import Counterexample, Numeric
from .region import SIMPLE, Region

__all__ = ["DIGITS", "Sampler"]

#: Digits that are shown, and digits that are computed with.
DIGITS = 50
WORKING = 70
#: A difference is real if it is larger than this and stays when the precision is doubled.
NOTICED = mpmath.mpf(10) ** -40
POINTS = 16
#: How far away from a point another one is beside it.
BESIDE = sympy.Rational(1, 10007)
#: What arithmetic raises at a point where a value is none, or has no room (exp of exp of exp).
BEYOND = (ArithmeticError, ValueError, TypeError, NotImplementedError, NameError, MemoryError)
INFINITE = (sympy.zoo, sympy.oo, -sympy.oo)


class Sampler:
    """Compares two expressions at points of a region.

    Attributes:
        seen: the points at which both have a value.
        worst: the largest difference there.
    """

    def __init__(self, claimed: Any, exact: Any, region: Region, seed: int):
        self.claimed, self.exact, self.region, self.seed = claimed, exact, region, seed
        used = sympy.sympify(claimed).free_symbols | sympy.sympify(exact).free_symbols
        used = used.union(*(p.free_symbols for p in (*region.positive, *region.different)))
        self.symbols = [s for s in region.symbols if s in used]
        self.symbols += sorted(used - set(region.symbols), key=str)
        self.f = sympy.lambdify(
            self.symbols, [_finite(claimed), _finite(exact)], modules=[MPMATH, "mpmath"], cse=True
        )
        self.edges = [b for b in boundaries(claimed - exact) if not can_vanish(b)]
        arguments = {u.args[0] for u in (claimed - exact).atoms(*LOCALLY_CONSTANT)}
        self.jumps = [u for u in arguments if any(not s.is_integer for s in u.free_symbols)]
        #: edges that were met so often that they may have volume
        self.thick: set[Any] = set()
        self.seen: list[dict[Any, Any]] = []
        self.worst = mpmath.mpf(0)

    def values(self, point: dict[Any, Any], digits: int = WORKING) -> tuple[Any, Any] | None:
        """Both values at a point, None where one of them is no finite real or complex number."""
        with mpmath.workdps(digits):
            try:
                at = [mpmath.mpf(int(point[s].p)) / int(point[s].q) for s in self.symbols]
                a, b = (mpmath.mpmathify(v) for v in self.f(*at))
            except BEYOND:
                return None
            if not (mpmath.isfinite(a) and mpmath.isfinite(b)):
                return None
            return None if self._outside(b) else (a, b)

    def _outside(self, exact: Any) -> bool:
        """Whether a function of real arguments has left the real numbers."""
        imaginary = abs(mpmath.im(exact)) > NOTICED * (1 + abs(exact))
        return imaginary and not self.exact.has(sympy.I) and not self.claimed.has(sympy.I)

    def gap(self, point: dict[Any, Any], digits: int = WORKING, unit: Any = 1) -> Any:
        """The difference at a point, relative to the values where these exceed the unit.

        None where there is none.
        """
        pair = self.values(point, digits)
        if pair is None:
            return None
        with mpmath.workdps(digits):
            a, b = pair
            return abs(a - b) / max(unit, abs(a), abs(b)) if a != b else mpmath.mpf(0)

    def differs(self, point: dict[Any, Any]) -> bool:
        """Whether the two values differ at a point, at two precisions."""
        gap = self.gap(point, unit=0)
        if gap is None or gap < NOTICED or self.on_an_edge(point):
            return False
        # The difference itself has to stay: beside a zero, rounding is as large as the values.
        first, second = (self._apart(point, digits) for digits in (WORKING, 2 * WORKING))
        return second is not None and abs(second - first) < first / 10**5

    def _apart(self, point: dict[Any, Any], digits: int) -> Any:
        """How far apart the two values are; None where there are none."""
        pair = self.values(point, digits)
        with mpmath.workdps(digits):
            return None if pair is None else abs(pair[0] - pair[1])

    def on_an_edge(self, point: dict[Any, Any]) -> bool:
        """Whether a point lies between pieces, where there is no derivative to compare with."""
        return any(e.subs(point).is_zero for e in self.edges) or self.on_a_jump(point)

    def on_a_jump(self, point: dict[Any, Any]) -> bool:
        """Whether a step function jumps at a point."""
        beside = {s: v if s.is_integer else v + BESIDE for s, v in point.items()}
        return any((at := u.subs(point)).is_integer and u.subs(beside) != at for u in self.jumps)

    def vanishes(self, e: Any) -> bool:
        """Whether an expression was zero at a point that is on no edge by its looks."""
        with mpmath.workdps(WORKING):
            f = sympy.lambdify(self.symbols, e, modules=[MPMATH, "mpmath"])
            return e in self.thick or any(
                abs(f(*(mpmath.mpf(int(q[s].p)) / int(q[s].q) for s in self.symbols))) < NOTICED
                for q in self.seen
            )

    def search(self, enough: int = POINTS) -> dict[Any, Any] | None:
        """A point where the two differ; otherwise `seen` and `worst` say what was looked at."""
        met: Counter[Any] = Counter()
        random = self.region.points(self.symbols, self.seed, 40 * POINTS)
        for point in itertools.chain(random, self._simple_points()):
            gap = self.gap(point)
            if gap is None:
                continue
            at = [e for e in self.edges if e.subs(point).is_zero]
            met.update(at)
            self.thick |= {e for e in at if met[e] > 3 and not e.is_polynomial()}
            if at or self.on_a_jump(point):
                continue
            self.seen.append(point)
            if self.differs(point):
                return point
            self.worst = max(self.worst, gap)
            if len(self.seen) >= enough or not self.symbols:
                return None
        return None

    def shrunk(self, point: dict[Any, Any]) -> dict[Any, Any]:
        """The simplest point found at which the two still differ."""
        for simple in self._simple_points():
            if self.differs(simple):
                return simple
        for s in self.symbols:
            for v in SIMPLE:
                moved = {**point, s: v}
                if moved == point:
                    break
                if self.region.has(moved) and self.differs(moved):
                    point = moved
                    break
        return point

    def _simple_points(self) -> Iterator[dict[Any, Any]]:
        few = SIMPLE[: 7 if len(self.symbols) <= 3 else 3]
        products = itertools.product(range(len(few)), repeat=len(self.symbols))
        if len(self.symbols) <= 4:
            ordered: Any = sorted(products, key=lambda c: (sum(c), max(c, default=0)))
        else:
            ordered = [(k,) * len(self.symbols) for k in range(3)]
        for choice in ordered:
            point = {s: few[k] for s, k in zip(self.symbols, choice, strict=True)}
            if self.region.has(point):
                yield point

    def counterexample(self, point: dict[Any, Any]) -> Counterexample:
        """The report of a point where the two differ."""
        pair = self.values(point, WORKING)
        assert pair is not None
        return Counterexample(
            {str(s): str(v) for s, v in point.items()},
            mpmath.nstr(pair[0], DIGITS),
            mpmath.nstr(pair[1], DIGITS),
            self._difference(point),
        )

    def _difference(self, point: dict[Any, Any]) -> str:
        """The difference as an expression that holds on the piece in which a point lies."""
        difference = self.claimed - self.exact
        here = difference
        for _ in range(difference.count(sympy.Piecewise)):
            decided = {r: r.subs(point) for r in here.atoms(Relational)}
            if not decided or any(d not in (sympy.true, sympy.false) for d in decided.values()):
                break
            here = here.xreplace(decided)
        return _short(here) + ("" if here == difference else " near this point")

    def report(self) -> Numeric:
        """What was looked at without a difference."""
        return Numeric(len(self.seen), self.region.describe(), DIGITS, mpmath.nstr(self.worst, 2))


def _finite(e: Any) -> Any:
    """What is infinite on some piece is no number to compare."""
    return sympy.sympify(e).xreplace(dict.fromkeys(INFINITE, sympy.nan))


def _short(difference: Any) -> str:
    """An expression as text, expanded where that is shorter."""
    candidates = [str(difference)]
    if difference.count_ops() < 60:
        candidates += [str(sympy.expand(difference)), str(sympy.factor_terms(difference))]
    return min(candidates, key=len)
