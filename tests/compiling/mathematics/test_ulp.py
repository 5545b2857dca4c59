"""No function of dualad.compiling.mathematics is further from mpmath than the bound it states."""

import math

import numpy as np
import pytest

numba = pytest.importorskip("numba")
mpmath = pytest.importorskip("mpmath")

from mpmath import mp, mpf  # noqa: E402

from dualad.compiling.mathematics.registry import FUNCTIONS  # noqa: E402

PRECISION = 160
TINY, HUGE = 2.0**-1022, np.finfo(float).max


def loop(name):
    """The function over arrays, as a generated program calls it."""
    function = FUNCTIONS[name].compiled
    if FUNCTIONS[name].arguments == 1:

        def run(x, out):
            for i in range(x.size):
                out[i] = function(x[i])

    else:

        def run(x, y, out):
            for i in range(x.size):
                out[i] = function(x[i], y[i])

    return numba.njit(run, fastmath={"contract"}, error_model="numpy")


def ulps(value, exact):
    """The distance of a double from a number of many digits, in units of its last place."""
    if mpmath.isnan(exact):
        return 0.0 if math.isnan(value) else math.inf
    if math.isinf(value) or mpmath.isinf(exact):
        # Half a unit beyond the largest double is where rounding to nearest gives infinity.
        edge = mpf(HUGE) + mpf(2) ** 970
        rounded = exact if abs(exact) < edge else mpmath.sign(exact) * mpmath.inf
        if rounded == value:
            return 0.0
        value = math.copysign(2.0**1023, value) * mpf(2) if math.isinf(value) else mpf(value)
        if mpmath.isinf(exact):
            return math.inf
    place = max(mpmath.mag(exact) - 53, -1074) if exact else -1074
    return float(abs(mpf(value) - exact) / mpf(2) ** place)


def exponents(low, high, count=300):
    """Numbers of both signs with exponents between two."""

    def drawn(rng):
        sizes = rng.uniform(1, 2, count) * rng.choice([-1.0, 1.0], count)
        return np.ldexp(sizes, rng.integers(low, high, count))

    return drawn


def interval(low, high, count=300):
    return lambda rng: rng.uniform(low, high, count)


def around(*points):
    """Points, with their neighbours."""
    steps = np.arange(-3, 4)

    def drawn(rng):
        centres = np.array(points, float)
        return (centres[:, None] + steps * np.spacing(np.abs(centres))[:, None]).ravel()

    return drawn


def subnormal(rng):
    return rng.integers(-(2**52), 2**52, 60) * 2.0**-1074


def halves_of_log2(rng):
    """Where the reduction of exp changes from one n to the next."""
    return around(*(rng.integers(-1074, 1023, 40) + 0.5) * math.log(2))(rng)


def quarters_of_pi(rng):
    """The doubles next to multiples of pi/4, where sine or cosine vanish or the quadrant ends."""
    count = np.unique(np.trunc(2.0 ** rng.uniform(0, 40, 60)))
    with mp.workprec(PRECISION):
        return around(*(float(mp.pi / 4 * int(n)) for n in count))(rng)


def roots_of_half(rng):
    """Where the logarithm's mantissa changes its exponent."""
    return around(*(math.sqrt(0.5) * 2.0**k for k in (-1000, -1, 0, 1, 1000)))(rng)


def positive(draw):
    return lambda rng: np.abs(draw(rng))


WIDE, LOGS = exponents(-1074, 1023), positive(exponents(-1074, 1023))
SMALL = exponents(-60, 0)
EXPS = (WIDE, SMALL, interval(-1, 1), interval(-760, 760), halves_of_log2, subnormal)
NEAR_ONE = lambda rng: 1 + exponents(-52, -1)(rng)
UNIT = (WIDE, SMALL, subnormal, interval(-1, 1), around(0.5, -0.5, 1.0, -1.0))
ANGLES = (WIDE, SMALL, subnormal, interval(-10, 10), exponents(0, 40), quarters_of_pi)
SAMPLES = {
    "exp": (mp.exp, *EXPS, around(709.782712893384, -708.396, -745.1332, 1.0)),
    "exp2": (lambda x: mpf(2) ** x, *EXPS, around(1023.999, 1024.0, -1022.0, -1074.5, -1075.0)),
    "expm1": (mp.expm1, *EXPS, around(709.782712893384, -37.4, 0.35, -0.35)),
    "sinh": (mp.sinh, *EXPS, around(710.4758600739439, 18.6, 0.35)),
    "cosh": (mp.cosh, *EXPS, around(710.4758600739439, 18.6, 0.35)),
    "tanh": (mp.tanh, *EXPS, interval(-20, 20), around(19.06, 0.175)),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), *EXPS, around(-708.4, -745.0, 36.7)),
    "log": (mp.log, LOGS, NEAR_ONE, roots_of_half, positive(subnormal), around(HUGE / 2)),
    "log2": (lambda x: mp.log(x, 2), LOGS, NEAR_ONE, roots_of_half, positive(subnormal)),
    "log10": (mp.log10, LOGS, NEAR_ONE, roots_of_half, positive(subnormal), around(1e22, 1e-3)),
    "log1p": (
        lambda x: mp.log1p(x) if x > -1 else mp.nan,
        *(WIDE, SMALL, subnormal, interval(-1, 3), around(0.4142135, -0.2928932, 1e300)),
    ),
    "logaddexp": (  # of numbers whose sum does not cancel
        lambda x, y: mp.log(mp.exp(x) + mp.exp(y)),
        (interval(0, 5), interval(0, 5)),
        (positive(exponents(-60, 10)), positive(exponents(-60, 10))),
        (interval(-800, -100), interval(-3, -2)),
    ),
    "sin": (mp.sin, *ANGLES),
    "cos": (mp.cos, *ANGLES),
    "tan": (mp.tan, *ANGLES),
    "arcsin": (lambda x: mp.asin(x) if abs(x) <= 1 else mp.nan, *UNIT),
    "arccos": (lambda x: mp.acos(x) if abs(x) <= 1 else mp.nan, *UNIT),
    "arctan": (mp.atan, WIDE, SMALL, subnormal, interval(-4, 4), around(0.4142136, 2.414214)),
    "arcsinh": (mp.asinh, WIDE, SMALL, subnormal, interval(-4, 4), around(2.0**30, HUGE / 2)),
    "arccosh": (
        lambda x: mp.acosh(x) if x >= 1 else mp.nan,
        *(LOGS, NEAR_ONE, interval(1, 5), around(2.0**30, HUGE / 2)),
    ),
    "arctanh": (lambda x: mp.atanh(x) if abs(x) < 1 else mp.nan, *UNIT[:-1], around(0.5, 0.99)),
    "erf": (mp.erf, exponents(-1074, 6), subnormal, interval(-6, 6), around(1.0, -1.0, 6.0)),
    "erfc": (mp.erfc, interval(-7, 2), interval(0.4, 28), around(0.5, -0.5, 26.54, 27.226)),
    "cbrt": (
        lambda x: mp.sign(x) * mp.cbrt(abs(x)),
        *(WIDE, subnormal, around(8.0, 27.0, 1e300)),
    ),
    "sqrt": (lambda x: mp.sqrt(x) if x >= 0 else mp.nan, WIDE, subnormal),
    "power": (
        lambda x, y: mp.power(x, y) if x > 0 or y == int(y) else mp.nan,
        (positive(exponents(-1074, 1023)), interval(-1.2, 1.2)),
        (interval(0, 50), interval(-60, 60)),
        (NEAR_ONE, exponents(0, 50)),
        (interval(1.1, 1.5), interval(1500, 2200)),
        (
            lambda rng: rng.integers(-40, 40, 300).clip(1) * 1.0,
            lambda rng: np.arange(300) % 30 - 9,
        ),
        (interval(-50, -1), lambda rng: rng.integers(-100, 100, 300) * 1.0),
    ),
    "arctan2": (
        mp.atan2,
        (interval(-1, 1), interval(-1, 1)),
        (WIDE, WIDE),
        (exponents(-1074, -900), exponents(-1074, -900)),
        (exponents(1000, 1023), exponents(1000, 1023)),
    ),
    "hypot": (
        mp.hypot,
        (interval(-1, 1), interval(-1, 1)),
        (exponents(-1074, 1022), exponents(-1074, 1022)),
        (exponents(-1074, -500), exponents(-1074, -500)),
        (exponents(480, 1022), exponents(480, 1022)),
    ),
}


def worst(name, seed):
    """The largest error over all samples, and where."""
    exact, *draws = SAMPLES[name]
    rng = np.random.default_rng(seed)
    run = loop(name)
    found = 0.0, None
    for draw in draws:
        inputs = [d(rng).astype(float) for d in (draw if isinstance(draw, tuple) else (draw,))]
        out = np.empty(inputs[0].size)
        run(*inputs, out)
        with mp.workprec(PRECISION):
            for *x, y in zip(*inputs, out, strict=True):
                error = ulps(float(y), exact(*(mpf(float(v)) for v in x)))
                found = max(found, (error, tuple(map(float, x))), key=lambda pair: pair[0])
    return found


def test_every_function_that_rounds_is_measured():
    assert set(SAMPLES) == {name for name, function in FUNCTIONS.items() if function.ulp > 0}


@pytest.mark.parametrize("name", SAMPLES)
def test_no_result_is_further_off_than_stated(name):
    error, where = worst(name, seed=1)
    assert error <= FUNCTIONS[name].ulp, where


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_no_result_is_further_off_than_stated_on_more_samples(name):
    for seed in range(2, 12):
        error, where = worst(name, seed)
        assert error <= FUNCTIONS[name].ulp, where


@pytest.mark.parametrize("name", SAMPLES)
def test_a_processor_without_fused_products_keeps_the_bound(name, monkeypatch):
    """The products are then Dekker's, of halves."""
    from dualad.compiling.mathematics import registry
    from dualad.compiling.mathematics.arithmetic import Machine

    monkeypatch.setattr(registry, "machine", lambda context, builder: Machine(builder, False))
    error, where = worst(name, seed=12)
    assert error <= FUNCTIONS[name].ulp, where
