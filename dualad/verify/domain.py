"""Points where a claim has no value: SymPy reads sqrt(x)**2 as x, NumPy as NaN for negative x.

The code is run again at such points on exact numbers, where a root or logarithm that leaves the
real numbers is NaN, as it is in NumPy.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import mpmath
import sympy

from ..symbolic.errors import NotSymbolicError
from ..symbolic.partial import real_only
from .deadline import Deadline, OutOfTime
from .numeric import DIGITS, WORKING
from .proof import REFUTED, Counterexample, Entry
from .region import SIMPLE, Region

__all__ = ["without_value"]

#: How many points are tried outside the domain of each partial function.
POINTS = 4

#: The values of the function and those of its claims, at a point.
Run = Callable[[dict[Any, Any]], tuple[list[Any], list[Any]]]


def without_value(
    entries: Sequence[Entry], run: Run, partial: Sequence[Any], region: Region, limit: float,
    seed: int,
) -> tuple[Entry, ...]:  # fmt: skip
    """The entries, refuted where the function has a derivative and the claim is NaN.

    partial: expressions which have to be at least zero for some operation of the code.
    """
    found = list(entries)
    try:
        with Deadline(limit):
            for point in _points(partial, region, seed):
                _look(found, run, point)
    except OutOfTime:
        pass
    return tuple(found)


def _points(partial: Sequence[Any], region: Region, seed: int) -> Iterator[dict[Any, Any]]:
    for u in dict.fromkeys(partial):
        outside = region.within([-u])
        yield from islice(filter(outside.has, _simple(u, region)), POINTS)
        yield from islice(outside.points(region.symbols, seed, 300), POINTS)


def _simple(u: Any, region: Region) -> Iterator[dict[Any, Any]]:
    """Points of small numbers, the same one for all symbols on which u does not depend."""
    moving = [s for s in region.symbols if s in u.free_symbols]
    if len(moving) <= 2:
        for values in itertools.product(SIMPLE[:7], repeat=len(moving)):
            yield dict.fromkeys(region.symbols, SIMPLE[1]) | dict(zip(moving, values, strict=True))


def _look(entries: list[Entry], run: Run, point: dict[Any, Any]) -> None:
    try:
        with real_only():
            values, claimed = run(point)
    except (NotSymbolicError, ArithmeticError, TypeError, ValueError, NotImplementedError):
        return
    if any(v.has(sympy.nan, sympy.zoo) for v in values) or len(claimed) != len(entries):
        return
    for k, (e, c) in enumerate(zip(entries, claimed, strict=True)):
        if c is sympy.nan and e.verdict != REFUTED:
            exact = _number(e.exact, point)
            if exact is not None:
                entries[k] = replace(
                    e, verdict=REFUTED, steps=(), reason="",
                    counterexample=Counterexample(
                        {str(s): str(v) for s, v in point.items()}, "nan", exact,
                        "the claim has no real value there",
                    ),
                )  # fmt: skip


def _number(exact: Any, point: dict[Any, Any]) -> str | None:
    """A real value to 50 digits, None where there is none."""
    value = sympy.N(sympy.sympify(exact).subs(point), WORKING)
    return mpmath.nstr(mpmath.mpf(value), DIGITS) if value.is_Float or value.is_Integer else None
