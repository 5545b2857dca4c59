"""Both sides of a claim in 60-digit arithmetic, at rational points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import mpmath
import sympy

from ..symbolic.steps import LOCALLY_CONSTANT, MPMATH
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
        self.seen: list[dict[Any, Any]] = []
        self.worst = mpmath.mpf(0)

    def values(self, point: dict[Any, Any], digits: int = WORKING) -> tuple[Any, Any] | None:
        """Both values at a point, None where one of them is no finite real or complex number."""
        with mpmath.workdps(digits):
            try:
                at = [mpmath.mpf(int(point[s].p)) / int(point[s].q) for s in self.symbols]
                a, b = (mpmath.mpmathify(v) for v in self.f(*at))
            except (ArithmeticError, ValueError, TypeError, NotImplementedError):
                return None
            if not (mpmath.isfinite(a) and mpmath.isfinite(b)):
                return None
            return None if self._outside(b) else (a, b)

    def _outside(self, exact: Any) -> bool:
        """Whether a function of real arguments has left the real numbers."""
        imaginary = abs(mpmath.im(exact)) > NOTICED * (1 + abs(exact))
        return imaginary and not self.exact.has(sympy.I) and not self.claimed.has(sympy.I)

    def gap(self, point: dict[Any, Any], digits: int = WORKING) -> Any:
        """The difference at a point in units of the values, None where there is none."""
        pair = self.values(point, digits)
        if pair is None:
            return None
        with mpmath.workdps(digits):
            a, b = pair
            return abs(a - b) / max(1, abs(a), abs(b))

    def differs(self, point: dict[Any, Any]) -> bool:
        """Whether the two values differ at a point, at two precisions."""
        first = self.gap(point)
        if first is None or first < NOTICED or self.on_an_edge(point):
            return False
        second = self.gap(point, 2 * WORKING)
        return second is not None and abs(second - first) < first / 10**5

    def on_an_edge(self, point: dict[Any, Any]) -> bool:
        """Whether a point lies between pieces, where there is no derivative to compare with."""
        return any(e.subs(point).is_zero for e in self.edges) or any(
            u.subs(point).is_integer for u in self.jumps
        )

    def vanishes(self, e: Any) -> bool:
        """Whether an expression was zero at every point that was looked at."""
        with mpmath.workdps(WORKING):
            f = sympy.lambdify(self.symbols, e, modules=[MPMATH, "mpmath"])
            return all(
                abs(f(*(mpmath.mpf(int(q[s].p)) / int(q[s].q) for s in self.symbols))) < NOTICED
                for q in self.seen
            )

    def search(self) -> dict[Any, Any] | None:
        """A point where the two differ; otherwise `seen` and `worst` say what was looked at."""
        for point in self.region.points(self.symbols, self.seed, 40 * POINTS):
            gap = self.gap(point)
            if gap is None or self.on_an_edge(point):
                continue
            self.seen.append(point)
            if gap > NOTICED and self.differs(point):
                return point
            self.worst = max(self.worst, gap)
            if len(self.seen) >= POINTS or not self.symbols:
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
            _short(self.claimed - self.exact),
        )

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
