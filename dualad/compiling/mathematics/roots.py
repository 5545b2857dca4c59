"""Cube roots and lengths.

cbrt: x = 2**(3 j) w with w in [0.35, 2.83]; a minimax polynomial good to 1e-5 starts one step
of the series of (1 + d)**(-1/3) with d = r**3 / w - 1, r**3 - w by exact products
(coefficients: benchmarks/minimax.py; the scheme is that of W. Kahan and K.-C. Ng in fdlibm's
s_cbrt.c). hypot: the square root of a sum of squares, scaled by a power of two where a square
would overflow or underflow.
"""

from __future__ import annotations

import math

from .arithmetic import Real, copysign, fma, polynomial, select
from .compensated import fast_two_sum, remainder, two_product
from .exponentials import ROUND, power_of_two
from .logarithms import split

__all__ = ["cbrt", "hypot"]

CUBE_ROOT_OF_2 = 1.2599210498948732
#: cbrt(m) for m from sqrt(1/2) to sqrt(2).
START = (
    0.45166890340954896,
    0.9048117230004981,
    -0.5356221158703711,
    0.21693310570599958,
    -0.03778736556296356,
)


def cbrt(x: Real) -> Real:
    """The real cube root."""
    size = abs(x)
    k, m = split(size)
    shifted = fma(k, 1 / 3, ROUND)
    rest = k - 3.0 * (shifted - ROUND)
    up, down = rest > 0.5, rest < -0.5
    w = m * select(up, 2.0, select(down, 0.5, 1.0))
    root = polynomial(m, START)
    root = root * select(up, CUBE_ROOT_OF_2, select(down, 1 / CUBE_ROOT_OF_2, 1.0))
    square, square_low = two_product(root, root)
    d = fma(square_low, root, -remainder(w, square, root)) / w
    step = d * fma(d, fma(d, 14 / 81, -2 / 9), 1 / 3)
    y = fma(-root, step, root) * power_of_two(shifted.bits())
    return copysign(select((size > 0.0) & (size < math.inf), y, size), x)


def hypot(x: Real, y: Real) -> Real:
    """The length of (x, y)."""
    width, height = abs(x), abs(y)
    wide = width > height
    large, small = select(wide, width, height), select(wide, height, width)
    up, down = large < 2.0**-400, large > 2.0**500
    scale = select(up, 2.0**600, select(down, 2.0**-600, 1.0))
    large, small = large * scale, small * scale
    first, left = two_product(large, large)
    second, rest = two_product(small, small)
    total, lost = fast_two_sum(first, second)
    root = total.through("sqrt")
    low = (remainder(total, root, root) + (lost + (left + rest))) / (root + root)
    length = root + select(root > 0.0, low, 0.0)
    length = length * select(up, 2.0**-600, select(down, 2.0**600, 1.0))
    infinite = width.equals(math.inf) | height.equals(math.inf)
    missing = x.differs(x) | y.differs(y)
    return select(infinite, math.inf, select(missing, math.nan, length))
