"""The error function and its complement.

Near 0 a minimax polynomial in x**2. Away from it exp(-x**2) times a minimax polynomial in
t = (x - 3) / (x + 3) for exp(x**2) erfc(x), or for (x + 1) times that where the tail reaches far,
after M. M. Shepherd and J. G. Laframboise, Mathematics of Computation 36 (1981) 249-253
(coefficients: benchmarks/minimax.py). In the tail what the square is beyond a double goes into
exp's reduced argument, and the scale 2**n comes last, so that a subnormal result is rounded once.
"""

from __future__ import annotations

from .arithmetic import Real, copysign, fma, polynomial, select
from .compensated import fast_two_sum, quotient_parts, two_product, two_sum
from .exponentials import less_one, mantissa, power_of_two, reduced, scaled

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
#: exp(x**2) erfc(x) in t for 1 <= x <= 6; relative error below 2**-52 of what is at most 0.16.
MIDDLE = (
    0.17900115118138996,
    -0.32623356004303733,
    0.24560380171233545,
    -0.15011593650075725,
    0.07166583719741093,
    -0.024392499320211945,
    0.0042691363589025,
    0.0007077465008286648,
    -0.0005970625132700647,
    4.525389698238057e-05,
    6.406265046159195e-05,
    -1.2842915552337345e-05,
    -8.00695449003386e-06,
    2.0068443593413057e-06,
    1.264467547246082e-06,
)
#: (x + 1) exp(x**2) erfc(x) in t for 1/2 <= x <= 27.5; relative error below 2**-54.
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
    inside = select(size > 6.0, 6.0, size)
    part = reduced(-inside * inside)
    t = (inside - 3.0) / (inside + 3.0)
    rest = mantissa(part.high) * power_of_two(part.bits) * polynomial(t, MIDDLE)
    return copysign(select(size > 1.0, 1.0 - rest, high + low), x)


def erfc(x: Real) -> Real:
    """1 - erf(x)."""
    size = abs(x)
    high, low = near_zero(x)
    one, lost = fast_two_sum(1.0, -high)
    far = tail(select(size > 27.5, 27.5, size))
    far = select(x < 0.0, 2.0 - far, far)
    return select(size > 0.5, far, one + (lost - low))


def near_zero(x: Real) -> tuple[Real, Real]:
    """erf(x) for |x| <= 1 as a sum of two."""
    z = x * x
    high, lost = two_product(x, SLOPE)
    return high, fma(x * z, polynomial(z, NEAR), fma(x, SLOPE_REST, lost))


def tail(x: Real) -> Real:
    """erfc(x) for an x from 1/2 on."""
    t = (x - 3.0) / (x + 3.0)
    first, left = fast_two_sum(TAIL[0], t * polynomial(t, TAIL[1:]))
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
