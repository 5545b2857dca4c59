"""The logarithms.

x = 2**k m with m in [sqrt(1/2), sqrt(2)); with f = m - 1 and s = f / (2 + f),
log(1 + f) = f - f**2 / 2 + s (f**2 / 2 + R(s**2)), as in fdlibm's e_log.c (K. C. Ng, 1993), R a
minimax polynomial (coefficients: benchmarks/minimax.py). log2 and log10 carry log(1 + f) as a sum
of two doubles; log1p carries what 1 + x loses.
"""

from __future__ import annotations

import math

from .arithmetic import Real, Word, fma, polynomial, select
from .compensated import fast_two_sum, two_product, two_sum
from .exponentials import LN2, LN2_HIGH, LN2_LOW, exp

__all__ = ["log", "log1p", "log2", "log10", "logaddexp"]

#: 1 / log 2 and 1 / log 10, each in two parts; log10(2) with a first part of 32 bits.
LOG2_E, LOG2_E_REST = 1.4426950408889634, 2.0355273740931033e-17
LOG10_E, LOG10_E_REST = 0.4342944819032518, 1.098319650216765e-17
LOG10_2_HIGH, LOG10_2_LOW = 0.3010299955494702, 1.1451100898021838e-10
ONE, SQRT_HALF = 1023 << 52, 0x3FE6A09E667F3BCD
MANTISSA = (1 << 52) - 1
#: The bits of 2**52, whose last places hold an integer.
INTEGER = 0x4330 << 48
SMALLEST_NORMAL = 2.0**-1022
#: (2 artanh(s) / s - 2) / s**2 in z = s**2; error below 2**-57.
SERIES = (
    0.6666666666666735,
    0.39999999999413194,
    0.285714287427389,
    0.22222198534852042,
    0.1818356644403068,
    0.15313993025461203,
    0.1479655943080659,
)


def log(x: Real) -> Real:
    """The natural logarithm."""
    k, m = split(x)
    f = m - 1.0
    half = 0.5 * f * f
    tail = fma(k, LN2_LOW, correction(f, half))
    return special(x, fma(k, LN2_HIGH, f - (half - tail)))


def log2(x: Real) -> Real:
    """The logarithm to base 2: k and log(m) / log 2."""
    k, m = split(x)
    high, low = log_parts(m - 1.0)
    product, lost = two_product(high, LOG2_E)
    rest = fma(low, LOG2_E, fma(high, LOG2_E_REST, lost))
    total, left = fast_two_sum(k, product)
    return special(x, total + (left + rest))


def log10(x: Real) -> Real:
    """The logarithm to base 10: k times that of 2, and log(m) / log 10."""
    k, m = split(x)
    high, low = log_parts(m - 1.0)
    product, lost = two_product(high, LOG10_E)
    rest = fma(low, LOG10_E, fma(high, LOG10_E_REST, fma(k, LOG10_2_LOW, lost)))
    total, left = fast_two_sum(k * LOG10_2_HIGH, product)
    return special(x, total + (left + rest))


def log1p(x: Real) -> Real:
    """The logarithm of 1 + x, of u = fl(1 + x) and what u lacks."""
    u, rest = two_sum(x.like(1.0), x)
    return select(x.equals(0.0), x, special(u, log_sum(u, rest)))


def logaddexp(x: Real, y: Real) -> Real:
    """log(exp(x) + exp(y)): the larger, and log1p of exp of minus the distance.

    The bound is in units of the largest of the two summands, for they may cancel.
    """
    large, small = select(x > y, x, y), select(x > y, y, x)
    e = exp(small - large)
    u, rest = fast_two_sum(1.0, e)
    total = select(e >= 0.0, large + log_sum(u, rest), e)
    # Of two infinities of one sign the distance is no number.
    return select(x.equals(y), x + LN2, total)


def log_sum(u: Real, rest: Real) -> Real:
    """log(u + rest) for 2**-54 <= u and |rest| far below u."""
    k, m = split_normal(u)
    # 2**-k as bits(m) - bits(u); from 2**60 on the rest is nothing.
    rest = select(u < 2.0**60, rest * (m.bits() - u.bits() + ONE).real(), 0.0)
    f, low = fast_two_sum(m - 1.0, rest)
    half = 0.5 * f * f
    tail = fma(k, LN2_LOW, correction(f, half) + low)
    return fma(k, LN2_HIGH, f - (half - tail))


def correction(f: Real, half: Real) -> Real:
    """log(1 + f) - f + half, half = f**2 / 2."""
    s = f / (2.0 + f)
    z = s * s
    return s * fma(z, polynomial(z, SERIES), half)


def log_parts(f: Real) -> tuple[Real, Real]:
    """log(1 + f) as a sum of two."""
    half, lost = two_product(0.5 * f, f)
    high, low = fast_two_sum(f, -half)
    return high, (low - lost) + correction(f, half)


def split(x: Real) -> tuple[Real, Real]:
    """k and m with x = 2**k m for a positive x, also a subnormal one."""
    small = x < SMALLEST_NORMAL
    k, m = parts(select(small, x * 2.0**54, x).bits())
    return k - select(small, 2.0**52 + 1023 + 54, 2.0**52 + 1023), m


def split_normal(x: Real) -> tuple[Real, Real]:
    """The same where x is no subnormal number."""
    k, m = parts(x.bits())
    return k - (2.0**52 + 1023), m


def parts(bits: Word) -> tuple[Real, Real]:
    """k + 1023 + 2**52, and m."""
    word = bits + (ONE - SQRT_HALF)
    return ((word >> 52) | INTEGER).real(), ((word & MANTISSA) + SQRT_HALF).real()


def special(x: Real, y: Real) -> Real:
    """Logarithms of 0, of negative numbers, of infinity and of NaN."""
    y = select(x < math.inf, y, x)
    return select(x > 0.0, y, select(x.equals(0.0), x.like(-math.inf), math.nan))
