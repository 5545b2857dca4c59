"""Hyperbolic functions and the logistic function.

exp(|x|) = 2**n (1 + p), as in `exponentials`. sinh and expit keep p as a sum of two doubles and
what sums and quotients lose (T. J. Dekker, Numerische Mathematik 18, 1971), so that one rounding
is left; cosh and tanh, where less cancels, do without.
"""

from __future__ import annotations

from .arithmetic import Real, copysign, fma, polynomial, select
from .compensated import fast_two_sum, quotient, quotient_parts
from .exponentials import inverse_scale, less_one, limited, mantissa, power_of_two, reduced, scaled

__all__ = ["cosh", "expit", "sinh", "tanh"]

#: (tanh(x) / x - 1) / z in z = x**2 <= 0.75**2; error below 2**-54.
TANH = (
    -0.3333333333333231,
    0.13333333333207423,
    -0.0539682539141559,
    0.021869487368441933,
    -0.00886322071931787,
    0.003592007950808065,
    -0.001455181048244335,
    0.0005875781286657201,
    -0.00023273490162441885,
    8.532821444845824e-05,
    -2.4935406946473106e-05,
    4.090126690141901e-06,
)


def sinh(x: Real) -> Real:
    """2**(n-1) ((1 - s) + p + s p / (1 + p)) with s = 4**-n."""
    part = reduced(limited(abs(x), 0.0, 711.0))
    p, rest = less_one(part)
    scale = inverse_scale(part.n, part.bits << 1)
    bottom, missing = fast_two_sum(1.0, p)
    other, other_low = quotient_parts(p, rest, bottom, missing + rest)
    less, less_low = fast_two_sum(1.0, -scale)
    first, lost = fast_two_sum(less, p)
    total, low = fast_two_sum(first, scale * other)
    y = total + ((low + (lost + less_low)) + fma(scale, other_low, rest))
    return copysign(scaled(0.5 * y, part.n, part.bits), x)


def cosh(x: Real) -> Real:
    """2**(n-1) (e + s / e) with e = exp(r) and s = 4**-n."""
    part = reduced(limited(abs(x), 0.0, 711.0))
    e = mantissa(part.high)
    total = e + inverse_scale(part.n, part.bits << 1) / e
    return scaled(0.5 * total, part.n, part.bits)


def tanh(x: Real) -> Real:
    """1 - 2 / (exp(2 |x|) + 1); near 0 a minimax polynomial in x**2."""
    size = abs(x)
    part = reduced(select(size > 20.0, 40.0, size + size))
    far = 1.0 - 2.0 / fma(mantissa(part.high), power_of_two(part.bits), 1.0)
    z = x * x
    near = fma(size * z, polynomial(z, TANH), size)
    return copysign(select(size > 0.75, far, near), x)


def expit(x: Real) -> Real:
    """1 / (1 + exp(-x)), the logistic function: E / (1 + E) with E = exp(-|x|) where x < 0."""
    part = reduced(-limited(abs(x), 0.0, 746.0))
    p, rest = less_one(part)
    first, lost = fast_two_sum(1.0, p)
    e = scaled(first, part.n, part.bits)
    e_low = scaled(lost + rest, part.n, part.bits)
    bottom, bottom_low = fast_two_sum(1.0, e)
    negative = x < 0.0
    top, top_low = select(negative, e, 1.0), select(negative, e_low, 0.0)
    return quotient(top, top_low, bottom, bottom_low + e_low)
