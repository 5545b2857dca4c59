"""Sine, cosine and tangent.

x = n pi/2 + r with |r| <= pi/4: pi/2 in three parts of 53 bits, the products by fused
multiply-add and r as a sum of two doubles (W. J. Cody and W. Waite, 1980; J.-M. Muller et al.,
Handbook of Floating-Point Arithmetic, 2nd ed. 2018, section 10.2). For |x| <= 2**40 this leaves
r a relative error below 2**-59, for the closest that a double comes to a multiple of pi/2 is
about 2**-62. Beyond, where n has no place in 53 bits, the system's library answers. On r: the
forms of fdlibm's k_sin.c and k_cos.c with minimax polynomials (coefficients:
benchmarks/minimax.py).
"""

from __future__ import annotations

from typing import NamedTuple

from .arithmetic import Real, Word, fma, horner, select
from .compensated import fast_two_sum, quotient, remainder, two_product, two_sum
from .exponentials import ROUND
from .far import far

__all__ = ["cos", "sin", "tan"]

TWO_OVER_PI = 0.6366197723675814
HALF_PI = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
#: The reduction holds up to here.
LARGEST = 2.0**40
#: (sin(r) / r - 1) / z and (cos(r) - 1 + z / 2) / z**2 in z = r**2; errors below 2**-56, 2**-60.
SINE = (
    -0.1666666666666664,
    0.008333333333323652,
    -0.0001984126983013425,
    2.755731364788223e-06,
    -2.5050733901559775e-08,
    1.5894669871393116e-10,
)
COSINE = (
    0.04166666666666665,
    -0.0013888888888882863,
    2.480158729463987e-05,
    -2.7557315741090134e-07,
    2.0875897954774088e-09,
    -1.1367987378566692e-11,
)


class Turned(NamedTuple):
    """Sine and cosine of r, each as a sum of two, and the quadrants that x has gone round."""

    sine: tuple[Real, Real]
    cosine: tuple[Real, Real]
    quadrant: Word


def sin(x: Real) -> Real:
    """The sine of an angle in radians."""
    turned = turn(x)
    near = turned_sine(turned, turned.quadrant)
    return far("sin", LARGEST, x, select(x.equals(0.0), x, near))


def cos(x: Real) -> Real:
    """The cosine of an angle in radians: the sine of one quadrant more."""
    turned = turn(x)
    return far("cos", LARGEST, x, turned_sine(turned, turned.quadrant + 1))


def tan(x: Real) -> Real:
    """Sine over cosine, in odd quadrants minus cosine over sine."""
    (sine, sine_low), (cosine, cosine_low), quadrant = turn(x)
    even = (quadrant & 1).is_zero()
    top, top_low = select(even, sine, cosine), select(even, sine_low, cosine_low)
    bottom, bottom_low = select(even, cosine, sine), select(even, cosine_low, sine_low)
    near = (quadrant << 63).signed(quotient(top, top_low, bottom, bottom_low))
    return far("tan", LARGEST, x, select(x.equals(0.0), x, near))


def turn(x: Real) -> Turned:
    """Reduce, and evaluate both series."""
    shifted = fma(x, TWO_OVER_PI, ROUND)
    n = shifted - ROUND
    # The first remainder is exact: a multiple of 2**-53 below 1.
    product, lost = two_product(n, HALF_PI[1])
    r, low = two_sum(remainder(x, n, HALF_PI[0]), -product)
    low = fma(n, -HALF_PI[2], low - lost)
    z = r * r
    half = 0.5 * z
    cosine, cosine_low = fast_two_sum(1.0, -half)
    sine_rest = fma(low, cosine, r * z * horner(z, SINE))
    cosine_rest = fma(z * z, horner(z, COSINE), fma(-r, low, cosine_low))
    return Turned(fast_two_sum(r, sine_rest), fast_two_sum(cosine, cosine_rest), shifted.bits())


def turned_sine(turned: Turned, quadrant: Word) -> Real:
    """The sine in one of the four quadrants."""
    even = (quadrant & 1).is_zero()
    return (quadrant << 62).signed(select(even, turned.sine[0], turned.cosine[0]))
