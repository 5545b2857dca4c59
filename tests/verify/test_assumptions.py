"""Every way to tell an assumption means the same."""

import numpy as np
import pytest
import sympy

import dualad
from dualad.verify import prove
from dualad.verify.assumptions import statements

x, y = sympy.symbols("x y")
cube, slope = lambda x: np.abs(x) ** 3, lambda x: 3 * x**2

POSITIVE = [
    "x>0", "0 < x", "x positive", "x is positive", "x: positive", "x in (0, 1)", "x in (0, oo)",
    "x in [0, 1]", "x > 1e-3", "x > sqrt(2)", "x > pi/2", "x >= 0", "x>0 and x<2",
    ["x>0"], ("x > 0", "x < 3"), x > 0, [x > 0], sympy.And(x > 0, x < 3), sympy.Q.positive(x),
    {"x": "positive"}, {"x": "> 0"}, {"x": "x>0"}, {"x": (0, None)}, {"x": (0, np.inf)},
    {"x": (0, 1)}, {"x": sympy.Interval(0, 1)}, {"x": {"positive": True}}, {"x": "real, > 0"},
]  # fmt: skip


@pytest.mark.parametrize("assume", POSITIVE, ids=str)
def test_that_a_number_is_positive(assume):
    assert prove(cube, slope, assume=assume)


@pytest.mark.parametrize("assume", ["x > -1", {"x": (-2, None)}, "x real", {"x": float}])
def test_what_leaves_room_for_negative_numbers(assume):
    assert prove(cube, slope, assume=assume).verdict == "refuted"


def test_several_names_at_once():
    assert statements("x, y > 0; n positive integer") == (
        "x > 0", "y > 0", "n positive", "n integer",
    )  # fmt: skip
    f = lambda x, y: np.abs(x * y)
    assert prove(f, lambda x, y: (y, x), assume="x, y > 0")
    assert prove(f, lambda x, y: (-y, -x), assume={"x": "negative", "y": (0, None)})


@pytest.mark.parametrize(
    "assume", ["n integer", {"n": "integer"}, {"n": sympy.S.Integers}, {"n": int}, "n in Z"]
)
def test_integers(assume):
    f = lambda x, n: x * np.cos(np.pi * n)
    assert prove(f, lambda x, n: (-1.0) ** n, assume=assume)
    assert prove(f, lambda x, n: 1.0, assume=assume).verdict == "refuted"


def test_even_and_odd_integers():
    f = lambda x, n: x * np.cos(np.pi * n)
    assert prove(f, lambda x, n: 1.0, assume="n even")
    assert prove(f, lambda x, n: -1.0, assume="n odd")


def test_what_the_symbols_of_an_expression_are_is_assumed():
    positive = sympy.Symbol("x", positive=True)
    assert prove(sympy.Abs(positive) ** 3, 3 * x**2)
    assert prove(sympy.Abs(x) ** 3, 3 * x**2).verdict == "refuted"


NOT_UNDERSTOOD = [3, {"x": object()}, "x in nowhere", {"x": sympy.FiniteSet(1)}, x + 1, "x ~ 2"]


@pytest.mark.parametrize("assume", NOT_UNDERSTOOD, ids=lambda a: type(a).__name__)
def test_what_is_not_understood_is_an_error(assume):
    with pytest.raises(dualad.DualADError):
        prove(cube, slope, assume=assume)
