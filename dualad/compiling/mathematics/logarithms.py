"""The logarithms.

x = 2**k m with m in [sqrt(1/2), sqrt(2)); with f = m - 1 and s = f / (2 + f),
log(1 + f) = f - f**2 / 2 + s (f**2 / 2 + R(s**2)), as in fdlibm's e_log.c (K. C. Ng, 1993), R a
minimax polynomial (coefficients by benchmarks/minimax.py).
"""

from __future__ import annotations

import math

from .arithmetic import Real, fma, polynomial, select

__all__ = ["log"]

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ONE, SQRT_HALF = 1023 << 52, 0x3FE6A09E667F3BCD
MANTISSA = (1 << 52) - 1
#: The bits of 2**52, whose last places hold an integer.
INTEGER = 0x4330 << 48
SMALLEST_NORMAL = 2.0**-1022
#: (2 artanh(s) / s - 2) / s**2 in z = s**2; error below 2**-59.
SERIES = (
    0.6666666666666734,
    0.3999999999941465,
    0.2857142874238346,
    0.22222198574341112,
    0.18183564244043704,
    0.15314052903270328,
    0.14795925936753068,
)


def split(x: Real) -> tuple[Real, Real]:
    """k and m with x = 2**k m for a positive x, also a subnormal one."""
    small = x < SMALLEST_NORMAL
    word = select(small, x * 2.0**54, x).bits() + (ONE - SQRT_HALF)
    k = ((word >> 52) | INTEGER).real() - select(small, 2.0**52 + 1023 + 54, 2.0**52 + 1023)
    return k, ((word & MANTISSA) + SQRT_HALF).real()


def special(x: Real, y: Real) -> Real:
    """Logarithms of 0, of negative numbers, of infinity and of NaN."""
    y = select(x < math.inf, y, x)
    return select(x > 0.0, y, select(x.equals(0.0), -math.inf, select(x < 0.0, math.nan, x)))


def log(x: Real) -> Real:
    k, m = split(x)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    half = 0.5 * f * f
    tail = fma(s, fma(z, polynomial(z, SERIES), half), k * LN2_LOW)
    return special(x, fma(k, LN2_HIGH, f - (half - tail)))
