"""Area functions, as logarithms of a sum whose rounding is kept.

arcsinh(x) = log1p(x + x**2 / (1 + sqrt(1 + x**2))) (fdlibm's s_asinh.c);
arccosh(x) = log(x + sqrt((x - 1) (x + 1))); arctanh(x) = log1p(2 x / (1 - x)) / 2. Where the
square is beyond 53 bits the first two are log(x) + log 2.
"""

from __future__ import annotations

import math

from .arithmetic import Real, copysign, fma, select
from .compensated import quotient_parts, remainder, two_product, two_sum
from .exponentials import LN2
from .logarithms import log_sum

__all__ = ["arccosh", "arcsinh", "arctanh"]

#: From here on 1 is nothing beside the square.
LARGE = 2.0**30


def arcsinh(x: Real) -> Real:
    """The number whose hyperbolic sine is x."""
    size = abs(x)
    square = size * size
    root = (square + 1.0).through("sqrt")
    bottom, missing = two_sum(root, root.like(1.0))
    more, more_low = quotient_parts(square, square.like(0.0), bottom, missing)
    total, low = two_sum(size, more)
    u, lost = two_sum(total, total.like(1.0))
    return copysign(large_or(size, log_of(size, u, lost + (low + more_low))), x)


def arccosh(x: Real) -> Real:
    """The number from 0 on whose hyperbolic cosine is x."""
    less = x - 1.0
    more, missing = two_sum(x, x.like(1.0))
    square, low = two_product(less, more)
    root = square.through("sqrt")
    rest = (remainder(square, root, root) + fma(less, missing, low)) / (root + root)
    u, lost = two_sum(x, root)
    y = large_or(x, log_of(x, u, lost + select(root > 0.0, rest, 0.0)))
    return select(x < 1.0, math.nan, y)


def arctanh(x: Real) -> Real:
    """The number whose hyperbolic tangent is x."""
    size = abs(x)
    bottom, missing = two_sum(size.like(1.0), -size)
    ratio, low = quotient_parts(size + size, size.like(0.0), bottom, missing)
    u, lost = two_sum(ratio, ratio.like(1.0))
    y = 0.5 * log_sum(u, lost + low)
    return copysign(select(size < 1.0, y, select(size.equals(1.0), math.inf, math.nan)), x)


def log_of(size: Real, u: Real, rest: Real) -> Real:
    """log(u + rest), for a large size the logarithm of its double."""
    large = size > LARGE
    return log_sum(select(large, size, u), select(large, 0.0, rest)) + select(large, LN2, 0.0)


def large_or(size: Real, y: Real) -> Real:
    """y, or an infinite size or a NaN itself."""
    return select(size < math.inf, y, size)
