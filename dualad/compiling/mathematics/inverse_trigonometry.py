"""Arc functions.

arctan: |x| beyond tan(3 pi/8) as pi/2 - arctan(1/x), beyond tan(pi/8) as
pi/4 + arctan((x - 1) / (x + 1)) (S. L. Moshier, Methods and Programs for Mathematical Functions,
1989), so that the series sees at most tan(pi/8). arcsin and arccos: beyond 1/2 by the half
angle, arcsin(x) = pi/2 - 2 arcsin(sqrt((1 - x) / 2)), as in fdlibm's e_asin.c. Quotients are
sums of two doubles; minimax polynomials (coefficients: benchmarks/minimax.py).
"""

from __future__ import annotations

import math

from .arithmetic import SIGN, Real, Truth, copysign, fma, polynomial, select
from .compensated import fast_two_sum, quotient_parts, two_sum

__all__ = ["arccos", "arcsin", "arctan", "arctan2"]

PI = 3.141592653589793, 1.2246467991473532e-16
HALF_PI = 1.5707963267948966, 6.123233995736766e-17
QUARTER_PI = 0.7853981633974483, 3.061616997868383e-17
EIGHTH, THREE_EIGHTHS = math.sqrt(2) - 1, math.sqrt(2) + 1
#: (arctan(t) / t - 1) / z in z = t**2 <= tan(pi/8)**2; error below 2**-58.
ARCTAN = (
    -0.333333333333332,
    0.1999999999995407,
    -0.1428571428024643,
    0.11111110785996361,
    -0.09090897831593665,
    0.07692061540217306,
    -0.06663119188799475,
    0.05847999666895322,
    -0.050398017426012076,
    0.03807716316287204,
    -0.017920967404680698,
)
#: (arcsin(t) / t - 1) / z in z = t**2 <= 1/4; error below 2**-59.
ARCSIN = (
    0.16666666666666763,
    0.07499999999970225,
    0.044642857175147856,
    0.030381942682632234,
    0.02237221568105951,
    0.017351599817980477,
    0.013980963797627127,
    0.01139776286265914,
    0.010786575560195447,
    0.003682947867048588,
    0.02176356922643251,
    -0.021077210659371005,
    0.03267674759913003,
)


def arctan(x: Real) -> Real:
    """The angle whose tangent is x."""
    size = abs(x)
    size = select(size > 2.0**60, 2.0**60, size)
    high, low = angle(size, size.like(1.0))
    return copysign(high + low, x)


def arctan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y), from -pi to pi."""
    height, width = abs(y), abs(x)
    # Infinite coordinates are one beside the finite ones, which are nothing.
    infinite = height.equals(math.inf) | width.equals(math.inf)
    height = select(infinite, select(height.equals(math.inf), 1.0, 0.0), height)
    width = select(infinite, select(width.equals(math.inf), 1.0, 0.0), width)
    width = select(height.equals(0.0) & width.equals(0.0), 1.0, width)
    scale = scale_of(height, width)
    high, low = angle(height * scale, width * scale)
    negative = ~(x.bits() & SIGN).is_zero()
    other, lost = fast_two_sum(PI[0], -high)
    result = select(negative, other + (lost + (PI[1] - low)), high + low)
    missing = x.differs(x) | y.differs(y)
    return copysign(select(missing, math.nan, result), y)


def scale_of(x: Real, y: Real) -> Real:
    """A power of two that takes the larger of two positive numbers away from both ends."""
    largest = select(x > y, x, y)
    lifted = select(largest < 2.0**-200, 2.0**600, 1.0)
    return select(largest > 2.0**900, 2.0**-160, lifted)


def angle(y: Real, x: Real) -> tuple[Real, Real]:
    """The angle of (x, y), both positive, as a sum of two."""
    steep, diagonal = y > THREE_EIGHTHS * x, y > EIGHTH * x
    difference, difference_low = two_sum(y, -x)
    total, total_low = two_sum(y, x)
    top = select(steep, -x, select(diagonal, difference, y))
    bottom = select(steep, y, select(diagonal, total, x))
    middle = diagonal & ~steep
    t, t_low = quotient_parts(
        top,
        select(middle, difference_low, 0.0),
        bottom,
        select(middle, total_low, 0.0),
    )
    start = select(steep, HALF_PI[0], select(diagonal, QUARTER_PI[0], 0.0))
    rest = select(steep, HALF_PI[1], select(diagonal, QUARTER_PI[1], 0.0))
    z = t * t
    high, low = fast_two_sum(start, t)
    return high, low + (fma(t * z, polynomial(z, ARCTAN), t_low) + rest)


def arcsin(x: Real) -> Real:
    """The angle from -pi/2 to pi/2 whose sine is x."""
    large, u, rest = half_angle(abs(x))
    high, low = fast_two_sum(HALF_PI[0], -u)
    return copysign(select(large, high + (low + (HALF_PI[1] - rest)), u + rest), x)


def arccos(x: Real) -> Real:
    """The angle from 0 to pi whose cosine is x."""
    large, u, rest = half_angle(abs(x))
    negative = x < 0.0
    beyond = large & negative
    start = select(large, select(negative, PI[0], 0.0), HALF_PI[0])
    missing = select(large, select(negative, PI[1], 0.0), HALF_PI[1])
    more = (large | negative) & ~beyond
    high, low = fast_two_sum(start, select(more, u, -u))
    return high + (low + (missing + select(more, rest, -rest)))


def half_angle(size: Real) -> tuple[Truth, Real, Real]:
    """Whether size > 1/2, and as a sum of two arcsin(size), else 2 arcsin(sqrt((1-size)/2))."""
    large = size > 0.5
    z = select(large, 0.5 - 0.5 * size, size * size)
    s = select(large, z.through("sqrt"), size)
    rest = s * z * polynomial(z, ARCSIN)
    return large, select(large, s + s, s), select(large, rest + rest, rest)
