"""Hyperbolic functions and the logistic function.

exp(|x|) = 2**n exp(r), as in `exponentials`; where that would cancel near 0, minimax polynomials
(coefficients: benchmarks/minimax.py). expit keeps what its sums and its quotient lose.
"""

from __future__ import annotations

from .arithmetic import Real, copysign, fma, polynomial, select
from .compensated import fast_two_sum, quotient
from .exponentials import (
    inverse_scale,
    less_one,
    limited,
    mantissa,
    mantissa_parts,
    power_of_two,
    reduced,
    scaled,
)

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


#: (sinh(x) / x - 1) / z in z = x**2 <= 1; error below 2**-55.
SINH = (
    0.16666666666666669,
    0.008333333333333174,
    0.00019841269841425316,
    2.755731915670751e-06,
    2.5052123475627407e-08,
    1.6057217204400116e-10,
    7.760407922265145e-13,
)


def sinh(x: Real) -> Real:
    """2**(n-1) (e - s / e) with e = exp(r) and s = 4**-n; near 0 a minimax polynomial in x**2."""
    size = abs(x)
    part = reduced(limited(size, 0.0, 711.0))
    one, rest = mantissa_parts(part)
    total = (one - inverse_scale(part.n, part.bits << 1) / (one + rest)) + rest
    far = scaled(0.5 * total, part.n, part.bits)
    z = x * x
    near = fma(size * z, polynomial(z, SINH), size)
    return copysign(select(size > 1.0, far, near), x)


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
