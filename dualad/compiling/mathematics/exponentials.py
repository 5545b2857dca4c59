"""The exponential function and its kin.

exp(x) = 2**n exp(r) with n = round(x / log 2) and r = x - n log 2, |r| <= log(2) / 2, by the
reduction of W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), whose
constant has a first part so short that its product with n is exact. exp(r) = 1 + r + r**2 Q(r)
with a minimax polynomial Q (coefficients: benchmarks/minimax.py). The scale is applied as two
factors, so that a subnormal result is rounded once more and no more, and overflow comes where
the exact result overflows.
"""

from __future__ import annotations

from typing import NamedTuple

from .arithmetic import Real, Word, copysign, fma, polynomial, select
from .compensated import fast_two_sum, two_product, two_sum

__all__ = ["exp", "exp2", "expm1"]

#: 1.5 * 2**52: added to a number below 2**51 it leaves its nearest integer in the last bits.
ROUND = 6755399441055744.0
LOG2_E = 1.4426950408889634
#: log 2 in two parts, the first of 32 bits (fdlibm's), and in two parts of 53 bits.
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LN2, LN2_REST = 0.6931471805599453, 2.3190468138462996e-17
ONE = 1023 << 52
#: (exp(r) - 1 - r) / r**2; error below 2**-58.
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


def exp(x: Real) -> Real:
    """e to the power x."""
    part = reduced(limited(x, -746.0, 710.0))
    return scaled(mantissa(part.high), part.n, part.bits)


def exp2(x: Real) -> Real:
    """2 to the power x: n is the nearest integer, r = (x - n) log 2."""
    x = limited(x, -1076.0, 1025.0)
    shifted = x + ROUND
    n = shifted - ROUND
    rest = x - n
    high, low = two_product(rest, LN2)
    part = Reduced(n, shifted.bits(), high, fma(rest, LN2_REST, low))
    one, tail = mantissa_parts(part)
    return scaled(one + tail, n, part.bits)


def expm1(x: Real) -> Real:
    """2**n ((1 - 2**-n) + (exp(r) - 1)), with what each sum loses."""
    part = reduced(limited(x, -40.0, 710.0))
    p, rest = less_one(part)
    scale = inverse_scale(part.n, part.bits)
    offset, lost = two_sum(p.like(1.0), -scale)
    total, low = fast_two_sum(offset, p)
    return copysign(scaled(total + ((low + lost) + rest), part.n, part.bits), x)


def reduced(x: Real) -> Reduced:
    """For |x| < 2**20."""
    shifted = fma(x, LOG2_E, ROUND)
    n = shifted - ROUND
    first = fma(n, -LN2_HIGH, x)
    high = fma(n, -LN2_LOW, first)
    return Reduced(n, shifted.bits(), high, fma(n, -LN2_LOW, first - high))


def mantissa(r: Real) -> Real:
    """exp(r) for a reduced r; the sum is nested so that only its last rounding is of full size."""
    return fma(r, fma(r, polynomial(r, QUOTIENT), 1.0), 1.0)


def mantissa_parts(part: Reduced) -> tuple[Real, Real]:
    """exp(high + low) as a sum of two, its error a fifth of a unit in the last place."""
    r = part.high
    one, lost = fast_two_sum(1.0, r)
    return one, fma(r * r, polynomial(r, QUOTIENT), lost + part.low)


def less_one(part: Reduced) -> tuple[Real, Real]:
    """exp(high + low) - 1 as a sum of two."""
    r = part.high
    half, lost = two_product(0.5 * r, r)
    first, left = fast_two_sum(r, half)
    cubic = fma(r * (half + half), polynomial(r, QUOTIENT[1:]), lost + part.low)
    return fast_two_sum(first, left + cubic)


def power_of_two(bits: Word) -> Real:
    """2**n for an n in the last places of a word, -1022 <= n <= 1023."""
    return ((bits << 52) + ONE).real()


def inverse_scale(n: Real, bits: Word) -> Real:
    """2**-n, or 0 where that is nothing beside 1."""
    return select(n > 200.0, 0.0, power_of_two(-bits))


def scaled(y: Real, n: Real, bits: Word) -> Real:
    """y 2**n for |n| <= 2044."""
    half = fma(n, 0.5, ROUND).bits()
    return y * power_of_two(half) * power_of_two(bits - half)


def limited(x: Real, low: float, high: float) -> Real:
    """x between two bounds, or NaN."""
    x = select(x < low, low, x)
    return select(x > high, high, x)
