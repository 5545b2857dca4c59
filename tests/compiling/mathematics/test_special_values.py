"""Infinities, NaN and signed zeros: what C99 and NumPy state, and no other sign."""

import itertools
import math

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from dualad.compiling.mathematics.registry import FUNCTIONS  # noqa: E402

INF, NAN = math.inf, math.nan
TINY = 5e-324
SPECIAL = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, TINY, -TINY, 2.5, -2.5, 3.0, -3.0, 1e300, -1e300]
#: f(0), f(-0), f(inf), f(-inf), f(NaN).
ENDS = {
    "exp": (1, 1, INF, 0, NAN),
    "exp2": (1, 1, INF, 0, NAN),
    "expm1": (0.0, -0.0, INF, -1, NAN),
    "sinh": (0.0, -0.0, INF, -INF, NAN),
    "cosh": (1, 1, INF, INF, NAN),
    "tanh": (0.0, -0.0, 1, -1, NAN),
    "expit": (0.5, 0.5, 1, 0.0, NAN),
    "log": (-INF, -INF, INF, NAN, NAN),
    "log2": (-INF, -INF, INF, NAN, NAN),
    "log10": (-INF, -INF, INF, NAN, NAN),
    "log1p": (0.0, -0.0, INF, NAN, NAN),
    "sin": (0.0, -0.0, NAN, NAN, NAN),
    "cos": (1, 1, NAN, NAN, NAN),
    "tan": (0.0, -0.0, NAN, NAN, NAN),
    "arcsin": (0.0, -0.0, NAN, NAN, NAN),
    "arccos": (math.pi / 2, math.pi / 2, NAN, NAN, NAN),
    "arctan": (0.0, -0.0, math.pi / 2, -math.pi / 2, NAN),
    "arcsinh": (0.0, -0.0, INF, -INF, NAN),
    "arccosh": (NAN, NAN, INF, NAN, NAN),
    "arctanh": (0.0, -0.0, NAN, NAN, NAN),
    "erf": (0.0, -0.0, 1, -1, NAN),
    "erfc": (1, 1, 0.0, 2, NAN),
    "cbrt": (0.0, -0.0, INF, -INF, NAN),
    "sqrt": (0.0, -0.0, INF, NAN, NAN),
    "absolute": (0.0, 0.0, INF, INF, NAN),
    "fabs": (0.0, 0.0, INF, INF, NAN),
    "sign": (0.0, 0.0, 1, -1, NAN),
    "floor": (0.0, -0.0, INF, -INF, NAN),
    "ceil": (0.0, -0.0, INF, -INF, NAN),
    "trunc": (0.0, -0.0, INF, -INF, NAN),
    "rint": (0.0, -0.0, INF, -INF, NAN),
}
#: f(x) and its value, exactly.
EXACT = [
    ("exp", 1.0, math.e),
    ("exp", 709.7827128933841, INF),
    ("exp", -745.1332191019411, TINY),
    ("exp", -745.1332191019412, 0.0),
    ("exp2", 1023.0, 2.0**1023),
    ("exp2", 1024.0, INF),
    ("exp2", -1074.0, TINY),
    ("exp2", -1075.0, 0.0),
    ("expm1", -50.0, -1.0),
    ("sinh", 710.4758600739440, INF),
    ("cosh", -710.4758600739440, INF),
    ("log", 1.0, 0.0),
    ("log", -TINY, NAN),
    ("log2", TINY, -1074.0),
    ("log2", 2.0**1023, 1023.0),
    ("log10", 1e22, 22.0),
    ("log1p", -1.0, -INF),
    ("log1p", -1.0000000000000002, NAN),
    ("arctanh", 1.0, INF),
    ("arctanh", -1.0, -INF),
    ("arctanh", 1.0000000000000002, NAN),
    ("arcsin", 1.0, math.pi / 2),
    ("arcsin", 1.0000000000000002, NAN),
    ("arccos", 1.0, 0.0),
    ("arccos", -1.0, math.pi),
    ("arccosh", 1.0, 0.0),
    ("arccosh", 0.9999999999999999, NAN),
    ("cbrt", 27.0, 3.0),
    ("cbrt", -1e-300, -1e-100),
    ("erfc", 27.3, 0.0),
    ("sign", TINY, 1.0),
    ("rint", 2.5, 2.0),
]
EXACT += [("log10", float(10**k), float(k)) for k in range(1, 22)]
EXACT += [("exp2", float(k), 2.0**k) for k in range(-1074, 1024, 97)]
#: Two arguments: NumPy's, or by C99's Annex F.
PAIRS = [
    "logaddexp",
    "power",
    "arctan2",
    "hypot",
    "copysign",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
]


def same(value, expected):
    if math.isnan(expected):
        return math.isnan(value)
    return value == expected and math.copysign(1, value) == math.copysign(1, expected)


def evaluated(name, *columns):
    """The function on every row, in a loop long enough for vector instructions."""
    function = FUNCTIONS[name].compiled

    def one(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    def two(x, y, out):
        for i in range(x.size):
            out[i] = function(x[i], y[i])

    run = numba.njit(one if len(columns) == 1 else two, fastmath={"contract"})
    inputs = [np.tile(np.array(column, float), 9) for column in columns]
    out = np.empty(inputs[0].size)
    run(*inputs, out)
    # Whatever place in a vector a number has, the result is the same.
    rows = out.reshape(9, -1)
    assert all(same(a, b) for row in rows for a, b in zip(row, rows[0], strict=True))
    return rows[0].tolist()


def test_every_function_has_its_ends_stated():
    assert {*ENDS, *PAIRS} == set(FUNCTIONS)


@pytest.mark.parametrize("name", ENDS)
def test_one_argument(name):
    points = [(x, y) for function, x, y in EXACT if function == name]
    x = [0.0, -0.0, INF, -INF, NAN, *(x for x, _ in points)]
    expected = [*ENDS[name], *(y for _, y in points)]
    for point, value, right in zip(x, evaluated(name, x), expected, strict=True):
        assert same(value, float(right)), (point, value, right)


@pytest.mark.parametrize("name", PAIRS)
def test_two_arguments(name):
    x, y = zip(*itertools.product(SPECIAL, SPECIAL), strict=True)
    reference = {"power": power, "arctan2": math.atan2, "hypot": math.hypot}
    exact = reference.get(name) or np.errstate(invalid="ignore")(getattr(np, name))
    for a, b, value in zip(x, y, evaluated(name, x, y), strict=True):
        if {a, b} == {0.0} and name in ("maximum", "minimum", "fmax", "fmin"):
            assert value == 0.0  # of two zeros either
        else:
            right = float(exact(a, b))
            assert same(value, right) or abs(value - right) <= math.ulp(right), (a, b, value)


def power(x, y):
    """C99's pow: Python's has an error in place of an infinity or a NaN."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INF if x < 0 and y % 2 == 1 else INF
    except ValueError:
        if x == 0:
            return math.copysign(INF, x) if y % 2 == 1 else INF
        return NAN


def test_powers_of_integers_are_exact():
    x, y = zip(*((x, y) for x in range(-12, 13) for y in range(15)), strict=True)
    assert evaluated("power", x, y) == [float(a**b) for a, b in zip(x, y, strict=True)]
