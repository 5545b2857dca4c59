"""Powers of any exponent.

x**y = exp(y log x) with log x as a sum of two doubles good to 2**-65: log(m) =
2 s (1 + s**2 / 3 + s**4 Q(s**2)) with s = (m - 1) / (m + 1), where s, s**2 / 3 and the sums are
carried in two doubles (T. J. Dekker, 1971; P. W. Markstein, IA-64 and Elementary Functions,
2000) and Q is a minimax polynomial (coefficients: benchmarks/minimax.py). What y log x exceeds
a double by goes into exp's reduced argument. Special cases are those of C99's pow (Annex F).
"""

from __future__ import annotations

import math

from .arithmetic import SIGN, Real, fma, polynomial, select
from .compensated import fast_two_sum, quotient_parts, two_product, two_sum
from .exponentials import LN2_HIGH, LN2_LOW, limited, mantissa_parts, reduced, scaled
from .logarithms import split

__all__ = ["power"]

#: 1/3 in two parts.
THIRD, THIRD_REST = 0.3333333333333333, 1.850371707708594e-17
#: (artanh(s) / s - 1 - z / 3) / z**2 in z = s**2; relative error of the logarithm below 2**-67.
ARTANH = (
    0.19999999999999998,
    0.14285714285717124,
    0.11111111109901868,
    0.09090909313319852,
    0.07692285829868017,
    0.06667902503195769,
    0.05842140226386566,
    0.05958367277991975,
)


def power(x: Real, y: Real) -> Real:
    """x to the power y."""
    size = abs(x)
    high, low = log_parts(size)
    end = select(size.equals(0.0), -math.inf, size)
    high = select((size > 0.0) & (size < math.inf), high, end)
    # No exponent beyond 2**100 makes another power than that.
    exponent = limited(y, -(2.0**100), 2.0**100)
    product, lost = two_product(exponent, high)
    rest = fma(exponent, low, lost)
    # Beyond +-800 the power is 0 or infinite, and the products above may be no numbers.
    near = abs(product) < 800.0
    product = select(product > 800.0, 800.0, select(product < -800.0, -800.0, product))
    part = reduced(product)
    r, r_low = two_sum(part.high, part.low + select(near, rest, 0.0))
    one, tail = mantissa_parts(part._replace(high=r, low=r_low))
    return special(x, y, scaled(one + tail, part.n, part.bits))


def log_parts(x: Real) -> tuple[Real, Real]:
    """log x as a sum of two, for a positive finite x."""
    k, m = split(x)
    bottom, missing = fast_two_sum(2.0, m - 1.0)
    s, s_low = quotient_parts(m - 1.0, m.like(0.0), bottom, missing)
    z, z_low = two_product(s, s)
    z_low = fma(s + s, s_low, z_low)
    third, third_low = two_product(z, THIRD)
    third_low = fma(z_low, THIRD, third_low)
    rest = fma(z, fma(z, polynomial(z, ARTANH), THIRD_REST), third_low)
    series, series_low = fast_two_sum(third, rest)
    # 2 s (1 + series), the first part of it exact.
    double = s + s
    tail, tail_low = two_product(double, series)
    tail_low = fma(double, series_low, tail_low) + fma(s_low + s_low, series, s_low + s_low)
    mantissa, lost = fast_two_sum(double, tail)
    total, left = fast_two_sum(k * LN2_HIGH, mantissa)
    return fast_two_sum(total, fma(k, LN2_LOW, left + (lost + tail_low)))


def special(x: Real, y: Real, result: Real) -> Real:
    """Negative bases, and the exponents and bases for which C99 states a value."""
    whole = y.through("rint")
    odd = y.equals(whole) & (0.5 * y).differs((0.5 * y).through("rint")) & (abs(y) < 2.0**53)
    result = select(odd & ~(x.bits() & SIGN).is_zero(), -result, result)
    invalid = (x < 0.0) & (x > -math.inf) & y.differs(whole)
    result = select(invalid, math.nan, result)
    one = x.equals(1.0) | y.equals(0.0) | (x.equals(-1.0) & abs(y).equals(math.inf))
    return select(one, 1.0, result)
