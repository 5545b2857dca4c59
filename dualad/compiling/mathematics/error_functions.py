"""The error function and its complement.

Near 0 a minimax polynomial in x**2. Away from it exp(-x**2) erfcx(x), where
(x + 1) erfcx(x) is a minimax polynomial in t = (x - 3) / (x + 3), after M. M. Shepherd and
J. G. Laframboise, Mathematics of Computation 36 (1981) 249-253 (coefficients:
benchmarks/minimax.py). What the square is beyond a double goes into exp's reduced argument, and
the scale 2**n comes last, so that a subnormal result is rounded once.
"""

from __future__ import annotations

from .arithmetic import Real, copysign, fma, polynomial, select
from .compensated import fast_two_sum, quotient_parts, two_product, two_sum
from .exponentials import less_one, reduced, scaled

__all__ = ["erf", "erfc"]

#: 2 / sqrt(pi) in two parts.
SLOPE, SLOPE_REST = 1.1283791670955126, 1.533545961316588e-17
#: (erf(x) / x - 2 / sqrt(pi)) / z in z = x**2 <= 1; error below 2**-55.
NEAR = (
    -0.37612638903183754,
    0.11283791670955005,
    -0.026866170645096586,
    0.005223977624977019,
    -0.000854832698829914,
    0.00012055331330710226,
    -1.4925599411471972e-05,
    1.6461051191896666e-06,
    -1.6350702871186325e-07,
    1.4661523553222759e-08,
    -1.137660737138725e-09,
    5.959031192763759e-11,
)
#: (x + 1) erfcx(x) in t for 1 <= x <= 6; relative error below 2**-54.
MIDDLE = (
    0.7160046047255598,
    -0.23092733308380925,
    0.09902075367943373,
    -0.010235388898995768,
    -0.023803913107867537,
    0.021957764012189653,
    -0.009750689331391298,
    0.0016185691173512338,
    0.0006458151069305853,
    -0.0003672876678076422,
    -2.0562622037252115e-05,
    5.610340296422298e-05,
    -1.4475729940085595e-06,
    -8.856330360866958e-06,
    1.0841922662972513e-07,
    1.1400560444939597e-06,
)
#: The same for 1/2 <= x <= 27.5; relative error below 2**-54.
TAIL = (
    0.7160046047255598,
    -0.23092733308380925,
    0.09902075367944028,
    -0.010235388899001233,
    -0.023803913108680762,
    0.021957764012373017,
    -0.009750689292431258,
    0.0016185691326098316,
    0.0006458141974073772,
    -0.0003672885381828614,
    -2.055154170782164e-05,
    5.611973721109473e-05,
    -1.5148363772165031e-06,
    -8.991440919431861e-06,
    2.6257615465671146e-07,
    1.591943074401684e-06,
    5.570267404278857e-08,
    -2.977624190312994e-07,
    -3.869490874550061e-08,
    5.383333645012383e-08,
    8.43531081961002e-09,
    -7.227733940586092e-09,
)


def erf(x: Real) -> Real:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""
    size = abs(x)
    high, low = near_zero(size)
    far = 1.0 - complement(select(size > 6.0, 6.0, size), MIDDLE)
    return copysign(select(size > 1.0, far, high + low), x)


def erfc(x: Real) -> Real:
    """1 - erf(x)."""
    size = abs(x)
    high, low = near_zero(x)
    one, lost = fast_two_sum(1.0, -high)
    far = complement(select(size > 27.5, 27.5, size), TAIL)
    far = select(x < 0.0, 2.0 - far, far)
    return select(size > 0.5, far, one + (lost - low))


def near_zero(x: Real) -> tuple[Real, Real]:
    """erf(x) for |x| <= 1 as a sum of two."""
    z = x * x
    high, lost = two_product(x, SLOPE)
    return high, fma(x * z, polynomial(z, NEAR), fma(x, SLOPE_REST, lost))


def complement(x: Real, series: tuple[float, ...]) -> Real:
    """erfc(x) for an x from 1/2 on."""
    t = (x - 3.0) / (x + 3.0)
    first, left = fast_two_sum(series[0], t * polynomial(t, series[1:]))
    bottom, missing = two_sum(x, x.like(1.0))
    ratio, ratio_low = quotient_parts(first, left, bottom, missing)
    square, rest = two_product(x, x)
    part = reduced(-square)
    r, r_low = two_sum(part.high, part.low - rest)
    p, p_low = less_one(part._replace(high=r, low=r_low))
    e, lost = fast_two_sum(1.0, p)
    product, missing = two_product(e, ratio)
    low = fma(e, ratio_low, fma(lost + p_low, ratio, missing))
    return scaled(product + low, part.n, part.bits)
