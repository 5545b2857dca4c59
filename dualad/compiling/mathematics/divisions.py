"""Quotients by what divides more than once, and by a number, without a division for each.

A division takes as long as thirty sums. With r = fl(1 / b) and q = fl(a r) one step by the exact
remainder, q + (a - q b) r, gives fl(a / b) (P. W. Markstein, IBM Journal of Research and
Development 34 (1990) 111-119; J.-M. Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed.
2018, section 4.7). For a number c, fl(a h + fl(a l)) with h + l = 1 / c to 106 bits is fl(a / c)
but in ties that no more bits decide (N. Brisebarre, J.-M. Muller and S. Raina, IEEE Transactions
on Computers 53 (2004) 1069-1072).
"""

from __future__ import annotations

import math
from fractions import Fraction

from .arithmetic import Real, copysign, fma, select

__all__ = [
    "SMALL",
    "by_number",
    "has_inverse",
    "inverse",
    "plain_inverse",
    "plain_quotient",
    "quotient",
]

#: Below this size a divisor is scaled up, so that its inverse is finite.
SMALL, SCALE = 2.0**-960, 2.0**100


def inverse(b: Real) -> Real:
    """What quotients by b share: the inverse of its size, scaled where it is small."""
    return plain_inverse(b * factor(b))


def quotient(a: Real, b: Real, inverse: Real) -> Real:
    """a / b, rounded once; NaN, infinities and zeros as a division gives them."""
    sign_and_scale = factor(b)
    return plain_quotient(a * sign_and_scale, b * sign_and_scale, inverse)


def factor(b: Real) -> Real:
    """What makes a divisor positive, and its inverse finite."""
    return copysign(select(abs(b) < SMALL, SCALE, 1.0), b)


def plain_inverse(b: Real) -> Real:
    """The same of a divisor that is positive and no smaller than `SMALL`."""
    return 1.0 / b


def plain_quotient(a: Real, b: Real, inverse: Real) -> Real:
    """a / b, for such a divisor."""
    first = a * inverse
    # Of a zero the step is zero times a positive number, with the sign that keeps the zero's.
    missing = fma(first, b, -a)
    better = fma(-missing, inverse, first)
    # Beside infinity there is no step.
    return select(better.differs(better), first, better)


def has_inverse(c: float) -> bool:
    """Whether `by_number` divides by a number as a division does."""
    return 2.0**-900 < abs(c) < 2.0**900


def by_number(a: Real, c: float) -> Real:
    """a / c, rounded once but in cases that look like ties to 106 bits."""
    exact = 1 / Fraction(c)
    # Towards zero, so that both products of an infinity have one sign.
    high = float(exact)
    if abs(Fraction(high)) > abs(exact):
        high = math.nextafter(high, 0.0)
    low = float(exact - Fraction(high))
    return fma(a, high, a * low) if low else a * high
