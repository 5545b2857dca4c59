"""How precise slopes are far out: against mpmath over a log grid of each domain.

An error is counted in units of the relative precision of a slope (2.2e-16), at all points at which
the function and its slope are normal numbers. The reference is a central difference of the
function itself in 800 digits, so no formula is assumed.
"""

import itertools
from typing import NamedTuple

import numpy as np
from mpmath import mp, mpf

import dualad

EPS, TINY, HUGE = np.finfo(float).eps, np.finfo(float).tiny, np.finfo(float).max


class Case(NamedTuple):
    """A function, the same in mpmath, and the points at which it is looked at."""

    name: str
    function: object
    exact: object
    points: tuple
    edges: tuple = ()
    digits: int = 800
    #: whether it is of scipy.special
    special: bool = False


# --- grids ---------------------------------------------------------------------------------------


def decades(low, high, n=60):
    """Numbers evenly spaced on a log scale, off the powers of ten."""
    return 1.2345 * 10.0 ** np.linspace(low, high, n)


def both(x):
    return np.concatenate([-x[::-1], x])


FULL = both(decades(-300, 300))
POSITIVE = decades(-300, 300, 120)
#: from the edges -1 and 1 inwards
INSIDE = np.concatenate([both(decades(-300, -0.5)), both(1 - decades(-15, -0.5, 30))])
#: from the edge outwards
ABOVE_ONE = np.concatenate([1 + decades(-15, 0, 30), decades(0.1, 300)])
ABOVE_MINUS_ONE = np.concatenate(
    [-1 + decades(-15, -0.2, 30), both(decades(-300, -1)), decades(-1, 300)]
)
EXPONENTS = both(np.concatenate([decades(-300, 2.7), np.linspace(20.5, 745.1, 60)]))
PERIODS = both(np.concatenate([decades(-300, 300), np.pi / 2 * np.arange(1, 9)]))
PAIRS = tuple(
    np.array(p)
    for p in zip(*itertools.product(both(decades(-300, 300, 10)), repeat=2), strict=True)
)
BASES = tuple(
    np.array(p)
    for p in zip(
        *itertools.product(decades(-300, 300, 12), both(decades(-3, 2.5, 8))), strict=True
    )
)
SMALL = both(np.concatenate([decades(-300, 0), np.linspace(0.1, 30.0, 60)]))
#: fewer, for what takes long in many digits
FEW = both(np.concatenate([decades(-300, -1, 8), np.linspace(0.1, 30.0, 46)]))
NEAR = tuple(
    np.array(p)
    for p in zip(*itertools.product(SMALL[::8], both(decades(-20, 2.6, 12))), strict=True)
)


def case(f, exact, points, edges=(), digits=800, name=None):
    points = points if isinstance(points, tuple) else (points,)
    return Case(name or f.__name__, f, exact, points, edges, digits)


def sinc(x):
    return mp.sin(mp.pi * x) / (mp.pi * x)


CASES = [
    case(np.square, lambda x: x * x, FULL),
    case(np.multiply, lambda x, y: x * y, PAIRS),
    case(np.divide, lambda x, y: x / y, PAIRS),
    case(np.reciprocal, lambda x: 1 / x, FULL),
    case(np.sqrt, mp.sqrt, POSITIVE, (0,)),
    case(np.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), FULL),
    case(np.power, mp.power, BASES, (0,)),
    case(np.float_power, mp.power, BASES, (0,)),
    case(lambda x: x**3, lambda x: x**3, FULL, name="x ** 3"),
    case(lambda x: x**-1.5, lambda x: x ** mpf(-1.5), POSITIVE, (0,), name="x ** -1.5"),
    case(np.hypot, mp.hypot, PAIRS),
    case(np.arctan2, mp.atan2, PAIRS),
    case(np.exp, mp.exp, EXPONENTS),
    case(np.exp2, lambda x: mpf(2) ** x, EXPONENTS),
    case(np.expm1, mp.expm1, EXPONENTS),
    case(np.log, mp.log, POSITIVE, (0,)),
    case(np.log2, lambda x: mp.log(x) / mp.log(2), POSITIVE, (0,)),
    case(np.log10, mp.log10, POSITIVE, (0,)),
    case(np.log1p, mp.log1p, ABOVE_MINUS_ONE, (-1,)),
    case(np.logaddexp, lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), NEAR),
    case(np.logaddexp2, lambda x, y: mp.log(2**x + 2**y) / mp.log(2), NEAR),
    case(np.sin, mp.sin, PERIODS),
    case(np.cos, mp.cos, PERIODS),
    case(np.tan, mp.tan, PERIODS),
    case(np.arcsin, mp.asin, INSIDE, (-1, 1)),
    case(np.arccos, mp.acos, INSIDE, (-1, 1)),
    case(np.arctan, mp.atan, FULL),
    case(np.sinh, mp.sinh, EXPONENTS),
    case(np.cosh, mp.cosh, EXPONENTS),
    case(np.tanh, mp.tanh, EXPONENTS),
    case(np.arcsinh, mp.asinh, FULL),
    case(np.arccosh, mp.acosh, ABOVE_ONE, (1,)),
    case(np.arctanh, mp.atanh, INSIDE, (-1, 1)),
    case(np.sinc, sinc, np.concatenate([both(decades(-300, 8)), both(np.linspace(0.05, 4, 80))])),
]


SCALED = both(np.concatenate([decades(-20, 3, 20), np.linspace(1, 60, 40)]))


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def dawson(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def special_cases():
    """The same for scipy.special."""
    from scipy import special as sp

    cases = [
        case(sp.expit, lambda x: 1 / (1 + mp.exp(-x)), EXPONENTS),
        case(sp.log_expit, lambda x: -mp.log1p(mp.exp(-x)), EXPONENTS),
        case(sp.logit, lambda x: mp.log(x) - mp.log1p(-x), abs(INSIDE), (0, 1)),
        case(sp.xlogy, lambda x, y: x * mp.log(y), (abs(PAIRS[0]), abs(PAIRS[1])), (0,)),
        case(sp.xlog1py, lambda x, y: x * mp.log1p(y), (PAIRS[0], abs(PAIRS[1]))),
        case(sp.entr, lambda x: -x * mp.log(x), POSITIVE, (0,)),
        case(sp.rel_entr, lambda x, y: x * mp.log(x / y), (abs(PAIRS[0]), abs(PAIRS[1])), (0,)),
        case(sp.exprel, lambda x: mp.expm1(x) / x, EXPONENTS),
        case(sp.cosm1, lambda x: mp.cos(x) - 1, SMALL),
        case(sp.erf, mp.erf, FEW[FEW > 0], digits=400),
        case(sp.erfc, mp.erfc, FEW, digits=400),
        case(sp.erfcx, erfcx, FEW[FEW > -26], digits=400),
        case(sp.erfi, mp.erfi, FEW[(FEW > 0) & (FEW < 26)], digits=120),
        case(sp.ndtr, mp.ncdf, FEW, digits=400),
        case(sp.log_ndtr, lambda x: mp.log(mp.ncdf(x)), FEW, digits=400),
        case(sp.dawsn, dawson, FEW[FEW > 0], digits=120),
        case(sp.gammaln, lambda x: mp.log(mp.gamma(x)), decades(-300, 2), (0,), 60),
        case(sp.gamma, mp.gamma, decades(-150, 2), (0,), 60),
        case(sp.rgamma, mp.rgamma, decades(-300, 2), (0,), 60),
        case(sp.psi, mp.digamma, decades(-150, 5), (0,), 60),
        case(sp.exp1, mp.e1, decades(-300, 2.8), (0,), 400),
        case(sp.expi, mp.ei, decades(-300, 2.8), (0,), 400),
        case(sp.i0, lambda x: mp.besseli(0, x), FEW[FEW > 0], digits=700),
        case(sp.i1, lambda x: mp.besseli(1, x), FEW[FEW > 0], digits=120),
        case(sp.i0e, lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), SCALED, (0,), 120),
        case(sp.k0, lambda x: mp.besselk(0, x), FEW[FEW > 0], (0,), 60),
        case(sp.k1, lambda x: mp.besselk(1, x), FEW[FEW > 0], (0,), 60),
        case(sp.boxcox, lambda x, p: mp.expm1(p * mp.log(x)) / p, BASES, (0,)),
    ]
    return [c._replace(special=True) for c in cases]


# --- the reference and the error -----------------------------------------------------------------


def exact_slope(c, k, at):
    """The slope in argument k at a point, by a central difference in many digits."""
    with mp.workdps(c.digits):
        at = [mpf(float(v)) for v in at]
        x = at[k]
        room = min([abs(x) or mpf(1), mpf(1), *(abs(x - e) for e in c.edges if x != e)])
        h = room * mpf(10) ** -40
        ends = [c.exact(*at[:k], x + s * h, *at[k + 1 :]) for s in (1, -1)]
        return mp.re(ends[0] - ends[1]) / (2 * h)


def slopes(c, k, points):
    """The slopes that dualad gives in argument k, and the values."""
    tangents = tuple(np.full_like(p, float(j == k)) for j, p in enumerate(points))
    with np.errstate(all="ignore"):
        return dualad.jvp(c.function, points, tangents)


class Found(NamedTuple):
    """The largest errors of a slope and of the function itself, and where that of the slope is."""

    slope: float
    value: float
    at: tuple
    points: int


def measured(c, k, every=1):
    """The errors of the slope in argument k, in units of relative precision."""
    points = tuple(p[::every] for p in c.points)
    values, found = slopes(c, k, points)
    worst = Found(0.0, 0.0, (), 0)
    for at, value, slope in zip(zip(*points, strict=True), values, found, strict=True):
        if not np.isfinite(value):
            continue
        exact = exact_slope(c, k, at)
        if not TINY <= abs(exact) <= HUGE:
            continue
        wrong = relative(slope, exact)
        first = wrong > worst.slope or not worst.at
        worst = Found(
            max(wrong, worst.slope),
            max(error_of_value(c, at, value), worst.value),
            tuple(map(float, at)) if first else worst.at,
            worst.points + 1,
        )
    return worst


def relative(found, exact):
    return (
        float(abs(mpf(float(found)) - exact) / abs(exact) / EPS) if np.isfinite(found) else np.inf
    )


def error_of_value(c, at, value):
    with mp.workdps(c.digits):
        exact = mp.re(c.exact(*(mpf(float(v)) for v in at)))
        return relative(value, exact) if TINY <= abs(exact) <= HUGE else 0.0


# --- the page of the documentation ---------------------------------------------------------------

HEAD = """# Accuracy

How precise slopes are, out to the ends of each domain. Made by `python docs/generate_accuracy.py`:
every smooth elementwise rule of NumPy, and functions of `scipy.special` that mpmath has too, on a
log grid from 1e-300 to 1e300 of both signs, as far as the domain goes, towards its edges in steps
down to 1e-15, and beside them where a function changes its formula. The reference is a central
difference of the function itself in up to 900 digits. A point counts where function and slope are
normal numbers.

The errors are relative, in units of 2.2e-16; below 1 a slope is as good as rounded once. The last
column is the error of the function itself, of NumPy or SciPy, on the same points: a slope that is
computed from its value can be no better.

| function | slope in | points | largest error | at | of the function |
| --- | --- | ---: | ---: | --- | ---: |
"""


def row(c, k, found):
    at = ", ".join(f"{v:.4g}" for v in found.at)
    name = f"special.{c.name}" if c.special else c.name
    numbers = f"{found.points} | {found.slope:.2g} | {at} | {found.value:.2g}"
    return f"| `{name}` | {'xy'[k]} | {numbers} |\n"


def page():
    """docs/accuracy.md; it takes minutes."""
    cases = [*CASES, *special_cases()]
    return HEAD + "".join(row(c, k, measured(c, k)) for c in cases for k in range(len(c.points)))
