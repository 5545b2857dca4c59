"""Every elementwise rule against the derivative of its SymPy counterpart.

Symbolically where the formula can be evaluated on symbols, numerically at 50 digits and more in
any case: at ordinary points, near the edges of the domain, at huge and at tiny arguments.
"""

import itertools
import warnings
from dataclasses import dataclass, replace

import mpmath
import numpy as np
import pytest
import sympy
from sympy import Piecewise, Rational, log, pi, sqrt

import dualad
from dualad.engine.primitives.primitive import PRIMITIVES

EPS = np.finfo(float).eps
x, y, z = sympy.symbols("x y z", real=True)
#: the part of a function that is constant between its jumps: quotients, exponents
q = sympy.Symbol("q", real=True)

RNG = np.random.default_rng(20)
SIGNS = RNG.choice([-1.0, 1.0], 60)


# --- domains: where the slopes are compared --------------------------------------------------

ORDINARY = np.concatenate([[0.5, -0.5, 1.5, -2.0, 3.0, -7.25], RNG.normal(size=40) * 3])
TINY = 10.0 ** RNG.uniform(-300, -3, 60) * SIGNS
HUGE = 10.0 ** RNG.uniform(2, 300, 60) * SIGNS
REAL = np.concatenate([ORDINARY, TINY, HUGE])
MODERATE = np.concatenate([ORDINARY, TINY])
POSITIVE = np.abs(REAL)
EXPONENTS = np.concatenate([MODERATE, RNG.uniform(-700, 700, 60)])
BELOW_ONE = 1 - 10.0 ** RNG.uniform(-15.9, -1, 60)
UNIT = np.concatenate([RNG.uniform(-1, 1, 40), TINY, BELOW_ONE, -BELOW_ONE])
ABOVE_ONE = 1 + 10.0 ** np.concatenate([RNG.uniform(-15.6, 0, 60), RNG.uniform(0, 300, 60)])
ABOVE_MINUS_ONE = np.concatenate([UNIT, np.abs(HUGE)])
ANGLES = np.concatenate([MODERATE, RNG.uniform(-1e5, 1e5, 60)])


def pairs(a, b):
    """Random pairs, and some of equal and of opposite arguments."""
    n = 120
    u, v = RNG.choice(a, n), RNG.choice(b, n)
    return np.concatenate([u, u[:10]]), np.concatenate([v, v[10:20]])


def untied(a):
    """Random pairs of different arguments."""
    u, v = pairs(a, a)
    return u[u != v], v[u != v]


def near(a):
    """Pairs of nearly equal arguments, of every size."""
    u = RNG.choice(a, 60)
    return u, u * (1 + RNG.normal(size=60) * 10.0 ** RNG.uniform(-16, 0, 60))


def together(*some):
    return tuple(np.concatenate(column) for column in zip(*some, strict=True))


@dataclass
class Counterpart:
    """What SymPy says a ufunc is, where to look, and how many rounding errors are allowed."""

    expr: sympy.Expr
    points: tuple
    ulps: float = 4
    jumps: object = None  # the value of q at a point
    absolute: float = 0.0  # error allowed beside the relative one
    arguments: int = 3  # how many, at most, are differentiated


def one(expr, points, ulps=4, **more):
    return Counterpart(expr, (points,), ulps, **more)


def two(expr, points, ulps=4, **more):
    return Counterpart(expr, points, ulps, **more)


def toward_zero(v):
    return mpmath.sign(v) * mpmath.floor(abs(v))


def odd(f):
    """An odd function of a real argument from its values for positive ones."""
    return Piecewise((f(x), x > 0), (-f(-x), True))


POWERS = together(
    pairs(np.abs(ORDINARY), ORDINARY),
    pairs(POSITIVE, RNG.uniform(-1, 1, 60)),
    (np.array([-2.0, -2.5, -0.1, -3.0, -1.5]), np.array([3.0, 2.0, -1.0, -4.0, 1.0])),
)
SCALED = (RNG.choice(MODERATE, 60), RNG.integers(-30, 30, 60).astype(float))
ORDERS = (RNG.choice(MODERATE, 40), RNG.integers(1, 5, 40).astype(float))
POLYNOMIAL = (np.concatenate([MODERATE, ORDINARY]), np.array([1.0, 2.0, 3.0, 5.0, 12.0]))
ANY_PAIR = together(pairs(REAL, REAL), pairs(ORDINARY, ORDINARY), near(REAL), near(ORDINARY))
ORDINARIES = pairs(ORDINARY, ORDINARY)
NEAR_ZERO = np.concatenate([TINY, RNG.uniform(-3, 3, 80)])
BOUNDS = (untied(REAL)[0][:120], untied(REAL)[0][:120], untied(TINY)[0][:120])
LOGARITHMS = together(pairs(EXPONENTS, EXPONENTS), near(EXPONENTS), near(HUGE))

# fmt: off
COUNTERPARTS = {
    "add":              two(x + y, ANY_PAIR),
    "subtract":         two(x - y, ANY_PAIR),
    "multiply":         two(x * y, ANY_PAIR),
    "divide":           two(x / y, ANY_PAIR),
    "negative":         one(-x, REAL),
    "positive":         one(x, REAL),
    "polynomial_power": two(x**y, POLYNOMIAL, 20, arguments=1),
    "power":            two(x**y, POWERS, 8),
    "float_power":      two(x**y, POWERS, 8),
    "square":           one(x**2, REAL),
    "reciprocal":       one(1 / x, REAL),
    "sqrt":             one(sqrt(x), POSITIVE),
    "cbrt":             one(odd(sympy.cbrt), REAL, 6),
    "remainder":        two(x - q * y, ORDINARIES, jumps=lambda a, b: mpmath.floor(a / b)),
    "fmod":             two(x - q * y, ORDINARIES, jumps=lambda a, b: toward_zero(a / b)),
    "hypot":            two(sqrt(x**2 + y**2), ANY_PAIR),
    "exp":              one(sympy.exp(x), EXPONENTS),
    "exp2":             one(2**x, EXPONENTS),
    "expm1":            one(sympy.exp(x) - 1, EXPONENTS),
    "log":              one(log(x), POSITIVE),
    "log2":             one(log(x, 2), POSITIVE),
    "log10":            one(log(x, 10), POSITIVE),
    "log1p":            one(log(1 + x), ABOVE_MINUS_ONE),
    "logaddexp":        two(log(sympy.exp(x) + sympy.exp(y)), LOGARITHMS, 8),
    "logaddexp2":       two(log(2**x + 2**y, 2), LOGARITHMS, 8),
    "sin":              one(sympy.sin(x), ANGLES),
    "cos":              one(sympy.cos(x), ANGLES),
    "tan":              one(sympy.tan(x), ANGLES, 8),
    "arcsin":           one(sympy.asin(x), UNIT),
    "arccos":           one(sympy.acos(x), UNIT),
    "arctan":           one(sympy.atan(x), REAL),
    "arctan2":          two(sympy.atan2(x, y), ANY_PAIR, 6),
    "sinh":             one(sympy.sinh(x), EXPONENTS),
    "cosh":             one(sympy.cosh(x), EXPONENTS),
    "tanh":             one(sympy.tanh(x), EXPONENTS),
    "tanh_slope":       one(sympy.cosh(x) ** -2, EXPONENTS, 8),
    "arcsinh":          one(sympy.asinh(x), REAL),
    "arccosh":          one(sympy.acosh(x), ABOVE_ONE),
    "arctanh":          one(sympy.atanh(x), UNIT),
    "deg2rad":          one(x * pi / 180, REAL),
    "radians":          one(x * pi / 180, REAL),
    "rad2deg":          one(x * 180 / pi, REAL),
    "degrees":          one(x * 180 / pi, REAL),
    "sinc":             one(sympy.sin(pi * x) / (pi * x), NEAR_ZERO, 40, absolute=4 * EPS),
    "absolute":         one(odd(lambda v: v) * Piecewise((1, x > 0), (-1, True)), REAL),
    "fabs":             one(odd(lambda v: v) * Piecewise((1, x > 0), (-1, True)), REAL),
    "maximum":          two(Piecewise((x, x > y), (y, True)), untied(REAL)),
    "minimum":          two(Piecewise((x, x < y), (y, True)), untied(REAL)),
    "fmax":             two(Piecewise((x, x > y), (y, True)), untied(REAL)),
    "fmin":             two(Piecewise((x, x < y), (y, True)), untied(REAL)),
    "copysign":         two(Piecewise((x, x * y > 0), (-x, True)), untied(REAL)),
    "fraction":         one(x - q, MODERATE, jumps=toward_zero),
    "mantissa":         one(x / q, MODERATE, jumps=lambda v: mpmath.mpf(2) ** mpmath.frexp(v)[1]),
    "ldexp":            two(x * 2**y, SCALED, arguments=1),
    "heaviside":        two(Piecewise((0, x < 0), (1, True)) + 0 * y, pairs(REAL, REAL)),
    "nextafter":        two(x, ORDINARIES),
    "clip":             Counterpart(Piecewise((z, z < Piecewise((y, x < y), (x, True))),
                                              (y, x < y), (x, True)), BOUNDS),
    "complex_power":    two(x**y, POWERS, 20),
    "complex_tanh":     one(sympy.tanh(x), ORDINARY, absolute=2 * EPS),
    "complex_arcsin":   one(sympy.asin(x), UNIT),
    "complex_arccos":   one(sympy.acos(x), UNIT),
    "complex_arcsinh":  one(sympy.asinh(x), ORDINARY),
    "complex_arccosh":  one(sympy.acosh(x), ABOVE_ONE),
    "i0":               one(sympy.besseli(0, x), MODERATE, 40),
    "bessel_i":         two(sympy.besseli(y, x), ORDERS, 40, arguments=1, absolute=4 * EPS),
}
# fmt: on

#: Rules that choose by value, or through a helper function: compared numerically only.
CHOOSE_BY_VALUE = {
    *("power", "float_power", "polynomial_power", "complex_power", "remainder", "fmod"),
    *("logaddexp", "logaddexp2", "arctan2", "sinc", "absolute", "fabs"),
    *("maximum", "minimum", "fmax", "fmin", "copysign"),
    *("fraction", "mantissa", "ldexp", "heaviside", "nextafter", "clip", "i0", "bessel_i"),
    *("complex_arcsin", "complex_arccos", "complex_arcsinh", "complex_arccosh"),
    *("tanh", "tanh_slope"),
}

COMPLEX_ENTRIES = {n for n in PRIMITIVES if n.startswith("complex_")}
#: What users reach only with complex arguments, or whole orders.
OF_THEIR_OWN = {*COMPLEX_ENTRIES, "bessel_i", "tanh_slope"}

ELEMENTWISE = {n: p for n, p in PRIMITIVES.items() if p.family == "elementwise"}
NAMES = sorted(set(COUNTERPARTS) & set(ELEMENTWISE))


def test_every_elementwise_primitive_has_a_counterpart():
    assert set(ELEMENTWISE) == set(COUNTERPARTS)


# --- symbolically ----------------------------------------------------------------------------

SYMBOLIC = {
    **{n: getattr(sympy, n) for n in ("exp", "log", "sin", "cos", "sinh", "cosh", "sqrt", "sign")},
    "LN2": log(2),
    "LOG2_E": 1 / log(2),
    "LOG10_E": 1 / log(10),
    "hypot": lambda a, b: sqrt(a**2 + b**2),
    "where": lambda condition, a, b: a if condition else b,
}


@pytest.mark.parametrize("name", sorted(set(NAMES) - CHOOSE_BY_VALUE))
def test_formula_is_the_derivative(name):
    """The text of each partial, read by SymPy, is the derivative of the counterpart."""
    expr = COUNTERPARTS[name].expr
    for variable, partial in zip((x, y), ELEMENTWISE[name].partials, strict=False):
        text = partial.text.replace("1 /", "Integer(1) /").replace("0.5", "Rational(1, 2)")
        scope = {**SYMBOLIC, "Rational": Rational, "Integer": sympy.Integer}
        stated = sympy.sympify(eval(text, scope, {"x": x, "y": y, "out": expr}))
        difference = sympy.simplify(stated - sympy.diff(expr, variable))
        if stated.has(sympy.Float):
            assert abs(difference.evalf(50)) < 1e-16 * abs(stated)
        else:
            assert sympy.simplify(difference.subs(x, sympy.Symbol("x", positive=True))) == 0


# --- numerically -----------------------------------------------------------------------------


#: The function a user calls, where it is not the one that the primitive applies.
CALLS = {
    "polynomial_power": lambda v, p: v ** float(p),
    "ldexp": lambda v, p: np.ldexp(v, np.asarray(p).astype(int)),
    "fraction": lambda v: np.modf(v)[0],
    "mantissa": lambda v: np.frexp(v)[0],
    "clip": np.clip,
    "bessel_i": PRIMITIVES["bessel_i"],
}


def function_of(name):
    primitive = ELEMENTWISE[name]
    return CALLS.get(name, primitive if primitive.text else primitive.impl)


def exact_slopes(case, wrt):
    """The slopes at all points, at so many digits that nothing cancels."""
    f = sympy.lambdify((x, y, z, q), sympy.diff(case.expr, wrt), "mpmath")
    slopes = []
    with mpmath.workdps(700):
        for point in zip(*case.points, strict=True):
            at = [mpmath.mpf(float(v)) for v in point]
            jump = case.jumps(*at) if case.jumps else 0
            at += [mpmath.mpf(0)] * (3 - len(at))
            slopes.append(mpmath.re(f(*at, jump)))
    return slopes


def assert_slopes(computed, exact, case):
    for k, (a, b) in enumerate(zip(np.atleast_1d(computed), exact, strict=True)):
        allowed = case.ulps * EPS * abs(b) + case.absolute + 1e-307
        if abs(b) > np.finfo(float).max:
            assert np.isinf(a) and np.sign(a) == mpmath.sign(b), [p[k] for p in case.points]
        else:
            error = abs(mpmath.mpf(float(a)) - b)
            assert error <= allowed, ([float(p[k]) for p in case.points], a, float(b))


def finite(case, f):
    """The points where the value itself does not overflow."""
    with np.errstate(all="ignore"):
        ok = np.isfinite(f(*case.points))
    points = tuple(p[ok] for p in case.points)
    return replace(case, points=points)


def slope_functions(f, points, k):
    """The slope in argument k at all points: both modes, arrays and scalars."""

    def moved(v, at=points):
        return f(*at[:k], v, *at[k + 1 :])

    ones = np.ones_like(points[k])
    yield dualad.jvp(moved, (points[k],), (ones,))[1]
    yield dualad.vjp(moved, points[k])[1](ones)[0]
    rows = list(zip(*points, strict=True))
    yield np.array([dualad.jvp(lambda v: moved(v, r), (r[k],), (1.0,))[1] for r in rows])
    yield np.array([dualad.grad(lambda v: moved(v, r))(r[k]) for r in rows])


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"polynomial_power", *COMPLEX_ENTRIES}))
def test_slopes_are_accurate(name):
    """Within a few rounding errors of 700-digit arithmetic, in both modes."""
    f = function_of(name)
    case = finite(COUNTERPARTS[name], f)
    for k, variable in enumerate((x, y, z)[: min(len(case.points), case.arguments)]):
        at = case
        if variable == y and name in ("power", "float_power"):
            positive = case.points[0] > 0  # log of the base
            at = replace(case, points=tuple(p[positive] for p in case.points))
        exact = exact_slopes(at, variable)
        with np.errstate(all="ignore"):
            for slopes in slope_functions(f, at.points, k):
                assert_slopes(slopes, exact, at)


@pytest.mark.parametrize("exponent", [1, 2, 3, 5, 1.0, 2.0, 12.0, np.float64(3), np.int64(4)])
def test_slopes_of_powers_with_a_constant_exponent(exponent):
    base = POLYNOMIAL[0]
    case = Counterpart(x**y, (base, np.full(base.shape, float(exponent))), 20)
    exact = exact_slopes(case, x)
    for f in (lambda v: v**exponent, lambda v: np.power(v, exponent)):
        for slopes in slope_functions(f, (base,), 0):
            assert_slopes(slopes, exact, case)


HUGE_POINTS = [
    # where squares overflow or underflow
    (np.hypot, (1e200, 1e200), (sqrt(2) / 2, sqrt(2) / 2)),
    (np.hypot, (3e-200, 4e-200), (Rational(3, 5), Rational(4, 5))),
    (np.arctan2, (1e200, 1e200), (5e-201, -5e-201)),
    (np.arctan2, (1e-200, 1e-200), (5e199, -5e199)),
    (np.arctan2, (1e-200, 1.0), (1.0, -1e-200)),
    (np.arctan, (1e200,), (0.0,)),
    (np.arctan, (1e150,), (1e-300,)),
    (np.arcsinh, (1e200,), (1e-200,)),
    (np.arcsinh, (-1e300,), (1e-300,)),
    (np.arccosh, (1e200,), (1e-200,)),
    (np.log10, (1e308,), (1e-308 / log(10),)),
    # where the value has lost what the slope needs
    (np.logaddexp, (1e10, 1e10), (0.5, 0.5)),
    (np.logaddexp, (1e10, 1e10 - 1), (1 / (1 + sympy.exp(-1)), 1 / (1 + sympy.exp(1)))),
    (np.logaddexp, (800.0, -800.0), (1.0, 0.0)),
    (np.logaddexp, (0.0, 700.0), (sympy.exp(-700), 1.0)),
    (np.expm1, (-40.0,), (sympy.exp(-40),)),
    (np.log1p, (-1 + 2.0**-50,), (2.0**50,)),
    (np.fmod, (1.0, 0.1), (1.0, -9.0)),  # 1 / 0.1 rounds up to 10, but fmod counts 9
    (np.remainder, (1.0, 0.1), (1.0, -9.0)),
]


@pytest.mark.parametrize("f, args, slopes", HUGE_POINTS)
def test_slopes_where_the_textbook_formula_fails(f, args, slopes):
    for k, expected in enumerate(slopes):
        for found in slope_functions(f, tuple(np.array([a]) for a in args), k):
            np.testing.assert_allclose(found, [float(expected)], rtol=1e-14, atol=1e-320)


# --- edges -----------------------------------------------------------------------------------

INF, NAN = np.inf, np.nan
EDGES = [
    (np.sqrt, (0.0,), (INF,)),
    (np.sqrt, (INF,), (0.0,)),
    (np.cbrt, (0.0,), (INF,)),
    (np.cbrt, (-0.0,), (INF,)),
    (np.cbrt, (INF,), (0.0,)),
    (np.log, (0.0,), (INF,)),
    (np.log, (INF,), (0.0,)),
    (np.log2, (INF,), (0.0,)),
    (np.log10, (INF,), (0.0,)),
    (np.log1p, (-1.0,), (INF,)),
    (np.log1p, (INF,), (0.0,)),
    (np.arcsin, (1.0,), (INF,)),
    (np.arcsin, (-1.0,), (INF,)),
    (np.arccos, (1.0,), (-INF,)),
    (np.arccos, (-1.0,), (-INF,)),
    (np.arccosh, (1.0,), (INF,)),
    (np.arccosh, (INF,), (0.0,)),
    (np.arctanh, (1.0,), (INF,)),
    (np.arctanh, (-1.0,), (INF,)),
    (np.arcsinh, (-INF,), (0.0,)),
    (np.arctan, (INF,), (0.0,)),
    (np.arctan, (-INF,), (0.0,)),
    (np.tanh, (INF,), (0.0,)),
    (np.tanh, (-INF,), (0.0,)),
    (np.exp, (-INF,), (0.0,)),
    (np.exp2, (-INF,), (0.0,)),
    (np.expm1, (-INF,), (0.0,)),
    (np.reciprocal, (INF,), (0.0,)),
    (np.reciprocal, (0.0,), (-INF,)),
    (np.sinc, (0.0,), (0.0,)),
    (np.absolute, (0.0,), (0.0,)),
    (np.absolute, (-INF,), (-1.0,)),
    (np.fabs, (-0.0,), (0.0,)),
    (np.divide, (1.0, INF), (0.0, 0.0)),
    (np.divide, (1.0, 0.0), (INF, -INF)),
    (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    (np.hypot, (-3.0, 0.0), (-1.0, 0.0)),
    (np.arctan2, (0.0, 2.0), (0.5, 0.0)),
    (np.arctan2, (2.0, 0.0), (0.0, -0.5)),
    (np.arctan2, (0.0, -2.0), (-0.5, 0.0)),
    (np.arctan2, (1.0, INF), (0.0, 0.0)),
    (np.arctan2, (-INF, 1.0), (0.0, 0.0)),
    (np.logaddexp, (-INF, 1.0), (0.0, 1.0)),
    (np.logaddexp, (INF, 1.0), (1.0, 0.0)),
    (np.logaddexp, (-INF, -INF), (0.5, 0.5)),
    (np.logaddexp2, (-INF, -INF), (0.5, 0.5)),
    (np.logaddexp2, (1.0, -INF), (1.0, 0.0)),
    (np.power, (0.0, 0.0), (0.0, 0.0)),
    (np.power, (0.0, 1.0), (1.0, 0.0)),
    (np.power, (0.0, 2.0), (0.0, 0.0)),
    (np.power, (0.0, 0.5), (INF, 0.0)),
    (np.power, (INF, 0.0), (0.0, INF)),
    (np.power, (3.0, 0.0), (0.0, np.log(3.0))),
    (np.power, (-2.0, 3.0), (12.0, NAN)),
    (np.power, (-2.0, 0.0), (0.0, NAN)),
    (np.power, (-0.5, -2.0), (16.0, NAN)),
    (np.float_power, (0.0, 0.0), (0.0, 0.0)),
    (np.maximum, (1.0, 1.0), (0.5, 0.5)),
    (np.minimum, (INF, INF), (0.5, 0.5)),
    (np.maximum, (1.0, INF), (0.0, 1.0)),
    (np.fmax, (2.0, 2.0), (0.5, 0.5)),
    (np.fmax, (NAN, 1.0), (0.0, 1.0)),
    (np.fmin, (1.0, NAN), (1.0, 0.0)),
    (np.remainder, (5.5, 2.0), (1.0, -2.0)),
    (np.remainder, (-5.5, 2.0), (1.0, 3.0)),
    (np.remainder, (1.0, INF), (1.0, 0.0)),
    (np.fmod, (-5.5, 2.0), (1.0, 2.0)),
    (np.fmod, (5.5, -2.0), (1.0, 2.0)),
    (np.fmod, (1.0, INF), (1.0, 0.0)),
    (np.copysign, (3.0, -2.0), (-1.0, 0.0)),
    (np.copysign, (-3.0, -2.0), (1.0, 0.0)),
    (np.copysign, (0.0, -2.0), (0.0, 0.0)),
]


@pytest.mark.parametrize("f, args, slopes", EDGES)
def test_slopes_at_edges_kinks_and_infinities(f, args, slopes):
    """One-sided limits at edges, the documented conventions at kinks and ties."""
    with np.errstate(all="ignore"):
        for k, expected in enumerate(slopes):
            for found in slope_functions(f, tuple(np.array([a]) for a in args), k):
                np.testing.assert_array_equal(found, [expected])


def finite_edges():
    with np.errstate(all="ignore"):
        return [(f, args) for f, args, _ in EDGES if np.isfinite(f(*args))]


@pytest.mark.parametrize("f, args", finite_edges())
def test_a_zero_tangent_stays_zero_at_an_edge(f, args):
    """Moving in no direction changes nothing, however steep the function is."""
    points = tuple(np.array([a, a]) for a in args)
    with np.errstate(all="ignore"):
        for k in range(len(args)):
            moved = lambda v: f(*points[:k], v, *points[k + 1 :])
            zero = np.zeros(2)
            np.testing.assert_array_equal(dualad.jvp(moved, (points[k],), (zero,))[1], zero)
            np.testing.assert_array_equal(dualad.vjp(moved, points[k])[1](zero)[0], zero)
            g = dualad.grad(lambda v: moved(v)[0])(points[k])
            assert g[1] == 0.0


# --- warnings --------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.0, INF, -INF, NAN]
SPECIAL += [1e-310, -1e-200, 1e200, 1e308, -1e308, 710.0, -746.0, 1e-20]
CATEGORIES = ("divide", "over", "invalid")


def given_off(call):
    """The categories of NumPy's warnings that a call gives."""
    given = set()
    for category in CATEGORIES:
        with np.errstate(all="ignore"), np.errstate(**{category: "raise"}):
            try:
                call()
            except FloatingPointError:
                given.add(category)
    return given


def quiet_names():
    """Where the value is infinite and the rule is not flagged singular a zero tangent may warn."""
    return sorted(set(NAMES) - {"polynomial_power", "ldexp"} - OF_THEIR_OWN)


@pytest.mark.parametrize("name", quiet_names())
def test_no_rule_warns_where_the_function_does_not(name):
    """Forward: no category of warning beyond the function's own. Reverse: no warning at all."""
    f = function_of(name)
    arity = len(ELEMENTWISE[name].partials)
    values = SPECIAL if arity < 3 else SPECIAL[::2]
    for args in itertools.product(values, repeat=arity):
        args = tuple(map(np.float64, args))
        for at in (args, tuple(np.array([a, 1.0]) for a in args)):
            own = given_off(lambda: f(*at))
            with np.errstate(all="ignore"):
                finite = np.all(np.isfinite(f(*at)))
            for k in range(min(arity, COUNTERPARTS[name].arguments)):
                moved = lambda v: f(*at[:k], v, *at[k + 1 :])
                one = np.ones_like(at[k])[()]
                seeds = [one, 0 * one] if finite or ELEMENTWISE[name].singular else [one]
                for t in seeds:
                    jvp = given_off(lambda: dualad.jvp(moved, (at[k],), (t,)))
                    assert jvp <= own, (at, k, t)
                with np.errstate(all="ignore"):
                    _, pullback = dualad.vjp(moved, at[k])
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    for t in (one, 0 * one):
                        pullback(t)


def test_an_error_state_of_the_function_holds_for_its_derivative():
    """A function that silences its own warnings is differentiated without a warning."""

    def entropy(p):
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sum(np.where(p > 0, -p * np.log(p), 0.0))

    p = np.array([0.0, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = dualad.grad(entropy)(p)
        tangent = dualad.jvp(entropy, (p,), (np.array([0.0, 1.0]),))[1]
    np.testing.assert_allclose(gradient, [0.0, np.log(2.0) - 1.0])
    np.testing.assert_allclose(tangent, np.log(2.0) - 1.0)


# --- higher order ----------------------------------------------------------------------------

#: points for second derivatives beside the ordinary ones
CURVED = {
    "sinc": [(1.3,), (0.0,), (1e-5,), (0.299999,), (0.300001,)],
    "power": [(1.5, -0.7), (2.0, 0.0), (0.5, 1.0), (3.0, 2.0), (2.0, 1.0)],
    "float_power": [(2.0, 0.0), (0.5, 1.0), (3.0, 2.0)],
    "polynomial_power": [(2.0, 2.0), (-0.5, 3.0), (1.5, 1.0)],
    "logaddexp": [(1.0, 1.0), (0.3, -2.0), (-1.0, 40.0), (0.0, 800.0)],
    "logaddexp2": [(1.0, 1.0), (0.3, -2.0)],
    "arctan2": [(1.0, 2.0), (-0.5, 0.0), (0.0, -2.0), (1e-3, 1e3)],
    "hypot": [(3.0, 4.0), (-0.5, 0.0)],
    "arccosh": [(1.5,), (7.0,)],
    "remainder": [(5.5, 2.0)],
    "fmod": [(5.5, 2.0)],
    "ldexp": [(0.7, 3.0)],
    "fraction": [(2.5,)],
    "mantissa": [(0.7,)],
    "clip": [(0.5, 0.2, 0.9), (0.1, 0.2, 0.9), (1.1, 0.2, 0.9)],
}


def curved_points(name):
    if name in CURVED:
        return CURVED[name]
    lo = 0.3 if len(COUNTERPARTS[name].points) == 1 else 0.4
    return [
        (lo, -0.6)[: len(COUNTERPARTS[name].points)],
        (0.7, 0.2)[: len(COUNTERPARTS[name].points)],
    ]


def second(outer, inner, f, at, i, j):
    """d2 f / dx_i dx_j by one of the four nestings."""

    def slope(mode, g, k):
        def of(*v):
            if mode == "jvp":
                return dualad.jvp(lambda u: g(*v[:k], u, *v[k + 1 :]), (v[k],), (1.0,))[1]
            return dualad.grad(g, argnums=k)(*v)

        return of

    return slope(outer, slope(inner, f, i), j)(*at)


@pytest.mark.parametrize("outer", ["jvp", "grad"])
@pytest.mark.parametrize("inner", ["jvp", "grad"])
@pytest.mark.parametrize("name", sorted(set(NAMES) - OF_THEIR_OWN))
def test_second_derivatives_are_those_of_the_counterpart(name, inner, outer):
    f, expr = function_of(name), COUNTERPARTS[name].expr
    variables = (x, y, z)[: min(COUNTERPARTS[name].arguments, len(COUNTERPARTS[name].points))]
    for at in curved_points(name):
        g = lambda *v: f(*v, *at[len(v) :])
        subs = {q: 2, **dict(zip((x, y, z), map(sympy.nsimplify, at), strict=False))}
        for (i, a), (j, b) in itertools.product(enumerate(variables), repeat=2):
            derivative = sympy.diff(expr, a, b)
            if name == "sinc" and at[0] == 0.0:
                exact = -(np.pi**2) / 3
            else:
                exact = float(sympy.re(derivative.subs(subs).evalf(30)))
            found = second(outer, inner, g, at[: len(variables)], i, j)
            np.testing.assert_allclose(
                found, exact, rtol=1e-9, atol=1e-12, err_msg=f"{at} {a} {b}"
            )


@pytest.mark.parametrize(
    "name", ["exp", "tanh", "log", "arctan", "sqrt", "sinc", "arcsinh", "cbrt"]
)
def test_fourth_derivatives_by_forward_mode(name):
    f, expr = function_of(name), COUNTERPARTS[name].expr
    g = f
    for _ in range(4):
        g = (lambda h: lambda v: dualad.jvp(h, (v,), (1.0,))[1])(g)
    exact = float(sympy.diff(expr, x, 4).subs(x, Rational(7, 10)).evalf(30))
    np.testing.assert_allclose(g(0.7), exact, rtol=1e-8)


# --- complex ---------------------------------------------------------------------------------

HOLOMORPHIC = sorted(
    n
    for n in set(NAMES) - {"polynomial_power", "complex_power", "complex_arcsinh", "absolute"}
    if isinstance(ELEMENTWISE[n].impl, np.ufunc)
    and any(t in ("D->D", "DD->D") for t in ELEMENTWISE[n].impl.types)
    and n not in ("maximum", "minimum", "fmax", "fmin")
)
COMPLEX = [0.4 + 0.3j, -1.2 + 0.7j, 2.0 - 1.5j, -0.3 - 0.9j, 1e-3 + 2j]


@pytest.mark.parametrize("name", [*HOLOMORPHIC, "sinc"])
def test_complex_slopes_are_those_of_the_counterpart(name):
    """Forward: t f'(z). Reverse: the adjoint under Re<., .>, that is c conj(f'(z))."""
    f, expr = function_of(name), COUNTERPARTS[name].expr
    arity = len(COUNTERPARTS[name].points)
    z = sympy.symbols("z w")[:arity]
    expr = expr.subs(dict(zip((x, y), z, strict=False)))
    t, c = 0.7 - 0.2j, -0.4 + 1.1j
    for at in itertools.permutations(COMPLEX, arity):
        for k in range(arity):
            slope = complex(sympy.diff(expr, z[k]).subs(dict(zip(z, at, strict=True))).evalf(30))
            moved = lambda v: f(*at[:k], v, *at[k + 1 :])
            got_t = dualad.jvp(moved, (at[k],), (t,))[1]
            got_c = dualad.vjp(moved, at[k])[1](c)[0]
            np.testing.assert_allclose(got_t, t * slope, rtol=1e-13, err_msg=str(at))
            np.testing.assert_allclose(got_c, c * np.conj(slope), rtol=1e-13, err_msg=str(at))


@pytest.mark.parametrize("op, first", [(np.maximum, 1.0), (np.minimum, 0.0)])
def test_complex_extrema_pick_by_the_order_that_numpy_has(op, first):
    t = dualad.jvp(lambda a: op(a, 1.0 + 2j), (3.0 + 0j,), (1.0 + 1j,))[1]
    assert t == first * (1.0 + 1j)


# --- dtypes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble, np.float16])
@pytest.mark.parametrize("name", sorted(set(NAMES) - OF_THEIR_OWN))
def test_slopes_keep_the_dtype_of_their_argument(name, dtype):
    """Tangents have the dtype of the output, cotangents that of the argument."""
    f, case = function_of(name), COUNTERPARTS[name]
    if name == "float_power" and dtype in (np.float32, np.float16):
        pytest.skip("np.float_power computes in float64 by definition")
    at = curved_points(name)[0]
    args = tuple(np.full(3, a, dtype) for a in at)
    for k in range(min(case.arguments, len(args))):
        fixed = at if name == "polynomial_power" else args
        moved = lambda v: f(*fixed[:k], v, *fixed[k + 1 :])
        out, t = dualad.jvp(moved, (args[k],), (np.ones(3, dtype),))
        assert t.dtype == out.dtype == dtype
        g = dualad.vjp(moved, args[k])[1](np.ones(3, dtype))[0]
        assert g.dtype == dtype
        exact = exact_slopes(
            replace(case, points=tuple(a.astype(float) for a in args)),
            (x, y, z)[k],
        )
        tolerance = max(8 * float(np.finfo(dtype).eps), 8 * EPS)
        np.testing.assert_allclose(t.astype(float), [float(e) for e in exact], rtol=10 * tolerance)
        np.testing.assert_allclose(g.astype(float), [float(e) for e in exact], rtol=10 * tolerance)
