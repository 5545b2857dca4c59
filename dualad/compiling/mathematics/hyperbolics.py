"""Hyperbolic functions and the logistic function, from exp(|x|) - 1 as a sum of two doubles.

exp(|x|) = 2**n (1 + p), as in `exponentials`; the sums and quotients keep what rounding takes
from them (T. J. Dekker, Numerische Mathematik 18, 1971), so that one rounding is left.
"""

from __future__ import annotations

from .arithmetic import Real, copysign, fma, select
from .compensated import fast_two_sum, quotient, quotient_parts
from .exponentials import inverse_scale, less_one, limited, power_of_two, reduced, scaled

__all__ = ["cosh", "expit", "sinh", "tanh"]


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
    """2**(n-1) ((1 + p) + s / (1 + p)) with s = 4**-n."""
    part = reduced(limited(abs(x), 0.0, 711.0))
    p, rest = less_one(part)
    first, lost = fast_two_sum(1.0, p)
    total, low = fast_two_sum(first, inverse_scale(part.n, part.bits << 1) / first)
    return scaled(0.5 * (total + (low + (lost + rest))), part.n, part.bits)


def tanh(x: Real) -> Real:
    """(E - 1) / (E + 1) with E = exp(2 |x|)."""
    size = abs(x)
    part = reduced(limited(size + size, 0.0, 40.0))
    p, rest = less_one(part)
    scale = power_of_two(-part.bits)
    less, less_low = fast_two_sum(1.0, -scale)
    more, more_low = fast_two_sum(1.0, scale)
    top, top_low = fast_two_sum(less, p)
    bottom, bottom_low = fast_two_sum(more, p)
    low = (top_low + less_low) + rest
    return copysign(quotient(top, low, bottom, (bottom_low + more_low) + rest), x)


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
