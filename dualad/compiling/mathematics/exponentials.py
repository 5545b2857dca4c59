"""The exponential function and its kin.

exp(x) = 2**n exp(r) with n = round(x / log 2) and r = x - n log 2, |r| <= log(2) / 2, by the
reduction of W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), whose
constant has a first part so short that its product with n is exact. exp(r) = 1 + r + r**2 Q(r)
with a minimax polynomial Q (E. Remez; coefficients by benchmarks/minimax.py). Where 2**n alone
would overflow or leave the normal numbers the scale is applied as two factors, so that only one
rounding falls into the subnormal numbers.
"""

from __future__ import annotations

from typing import NamedTuple

from .arithmetic import Real, Word, copysign, fast_two_sum, fma, polynomial, quotient, select

__all__ = ["exp", "tanh"]

#: 1.5 * 2**52: added to a number below 2**51 it leaves its nearest integer in the last bits.
ROUND = 6755399441055744.0
LOG2_E = 1.4426950408889634
#: log 2 in two parts, the first of 32 bits (fdlibm's).
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ONE = 1023 << 52
#: (exp(r) - 1 - r) / r**2; error below 2**-62.
QUOTIENT = (
    0.5,
    0.1666666666666667,
    0.041666666666666685,
    0.008333333333326138,
    0.0013888888888874428,
    0.00019841269874812273,
    2.480158734727084e-05,
    2.7557255409863784e-06,
    2.755725297607184e-07,
    2.5105213309257596e-08,
    2.0921568710896196e-09,
)


class Reduced(NamedTuple):
    """A number as n log 2 + high + low; `bits` holds n in its last places."""

    n: Real
    bits: Word
    high: Real
    low: Real


def reduced(x: Real) -> Reduced:
    shifted = fma(x, LOG2_E, ROUND)
    n = shifted - ROUND
    first = fma(n, -LN2_HIGH, x)
    high = fma(n, -LN2_LOW, first)
    return Reduced(n, shifted.bits(), high, fma(n, -LN2_LOW, first - high))


def power_of_two(bits: Word) -> Real:
    """2**n for an n in the last places of a word, -1022 <= n <= 1023."""
    return ((bits << 52) + ONE).real()


def scaled(y: Real, n: Real, bits: Word) -> Real:
    """y 2**n for |n| <= 2044, rounded once."""
    half = fma(n, 0.5, ROUND).bits()
    return y * power_of_two(half) * power_of_two(bits - half)


def limited(x: Real, low: float, high: float) -> Real:
    """x between two bounds, or NaN."""
    x = select(x < low, low, x)
    return select(x > high, high, x)


def exp(x: Real) -> Real:
    x = limited(x, -746.0, 710.0)
    n, bits, r, low = reduced(x)
    high, lost = fast_two_sum(1.0, r)
    return scaled(high + fma(r * r, polynomial(r, QUOTIENT), lost + low), n, bits)


def exponential_less_one(part: Reduced) -> tuple[Real, Real]:
    """exp(high + low) - 1 as a sum of two."""
    r = part.high
    return fast_two_sum(r, fma(r * r, polynomial(r, QUOTIENT), part.low))


def tanh(x: Real) -> Real:
    """(E - 1) / (E + 1) with E = exp(2 |x|) = 2**n (1 + p)."""
    size = abs(x)
    part = reduced(limited(size + size, 0.0, 40.0))
    p, rest = exponential_less_one(part)
    scale = power_of_two(-part.bits)
    less, less_low = fast_two_sum(1.0, -scale)
    more, more_low = fast_two_sum(1.0, scale)
    top, top_low = fast_two_sum(less, p)
    bottom, bottom_low = fast_two_sum(more, p)
    low = (top_low + less_low) + rest
    return copysign(quotient(top, low, bottom, (bottom_low + more_low) + rest), x)
