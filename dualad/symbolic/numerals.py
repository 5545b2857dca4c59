"""Floating point numbers in a program, read as the exact numbers that they stand for.

A formula says 0.1 or np.pi or np.log(2), and means 1/10, pi and log 2. A number is read so only
where the exact number rounds to it; any other is the binary fraction that it is.
"""

from __future__ import annotations

import contextlib
import contextvars
import math
from collections.abc import Iterator
from fractions import Fraction

import sympy

__all__ = ["noted", "read"]

#: The largest denominator of the rational factor in front of a constant.
DENOMINATOR = 720
#: The largest whole number that a constant is divided by.
PARTS = 10**6
#: The most significant digits of a decimal number that a person types.
DIGITS = 12

CONSTANTS = tuple(
    (float(c), c)
    for c in (
        sympy.pi,
        1 / sympy.pi,
        sympy.sqrt(sympy.pi),
        1 / sympy.sqrt(sympy.pi),
        sympy.sqrt(2 * sympy.pi),
        1 / sympy.sqrt(2 * sympy.pi),
        sympy.pi**2,
        sympy.log(2),
        1 / sympy.log(2),
        sympy.log(10),
        1 / sympy.log(10),
        sympy.log(2 * sympy.pi),
        sympy.log(sympy.pi),
        sympy.E,
        sympy.EulerGamma,
        sympy.sqrt(2),
        sympy.sqrt(3),
        sympy.sqrt(5),
    )
)

_noted: contextvars.ContextVar[dict[float, sympy.Expr] | None] = contextvars.ContextVar(
    "noted", default=None
)


@contextlib.contextmanager
def noted() -> Iterator[dict[float, sympy.Expr]]:
    """Collect which floats are read as a number that is not the float itself."""
    found: dict[float, sympy.Expr] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def read(value: float) -> sympy.Expr:
    """The exact number that a float stands for.

    >>> import numpy as np
    >>> read(0.1), read(-0.75), read(np.pi / 2), read(float(np.log(2)))
    (1/10, -3/4, pi/2, log(2))
    """
    if math.isnan(value):
        return sympy.nan
    if math.isinf(value):
        return sympy.oo if value > 0 else -sympy.oo
    exact = Fraction(value)
    if exact.denominator <= 1 << 20:
        return sympy.Rational(exact.numerator, exact.denominator)
    meant = _meant(value)
    notes = _noted.get()
    if meant is not None and notes is not None:
        notes[value] = meant
    return sympy.Rational(exact.numerator, exact.denominator) if meant is None else meant


def _meant(value: float) -> sympy.Expr | None:
    digits = repr(abs(value)).partition("e")[0].replace(".", "").strip("0")
    if len(digits) <= DIGITS:
        return sympy.Rational(repr(value))
    ratio = Fraction(value).limit_denominator(DENOMINATOR)
    if ratio and float(ratio) == value:
        return sympy.Rational(ratio.numerator, ratio.denominator)
    for approximate, constant in CONSTANTS:
        ratio = Fraction(value / approximate).limit_denominator(DENOMINATOR)
        if ratio and abs(float(ratio) * approximate - value) <= 2 * math.ulp(value):
            return sympy.Rational(ratio.numerator, ratio.denominator) * constant
        parts = round(approximate / value)
        if 0 < abs(parts) <= PARTS and abs(approximate / parts - value) <= 2 * math.ulp(value):
            return constant / parts
    return None
