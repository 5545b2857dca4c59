"""A tangent times a formula is that product, whatever way it is written."""

import pytest

from dualad.engine.primitives.elementwise import Partial
from dualad.engine.primitives.terms import names_in, scaled, summed

FORMULAS = [
    "x", "x + x", "-x", "- x", "(-x) * y", "-x * y", "-x + y", "-(x + y)", "-x ** 2 * y",
    "1 / x", "(1) / x", "((1 / x))", "1.0 / x", "-1 / (x * y)", "1 / x * y", "(1 / x) * y",
    "(1 + x) / y", "1 + x / y", "1 - x", "0.5 / x", "10 / x", "-x % y", "+x", "~2 * x", " x + y ",
    "x  # a comment", "-x # another", "1 / x # and this", "(x > y) + 0.5 * (x == y)",
    "x if x > y else -y", "-x / y", "x / y - y / x", "abs(x) / y", "1 /\\\nx",
]  # fmt: skip
AT = {"x": 3.0, "y": -7.0, "t": 5.0}


@pytest.mark.parametrize("text", FORMULAS, ids=range(len(FORMULAS)))
def test_the_product_with_one(text):
    sign, term = scaled("t", text)
    value = eval(term, dict(AT))
    expected = AT["t"] * eval(text.strip(), dict(AT))
    assert (value if sign == "+" else -value) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("second", FORMULAS, ids=range(len(FORMULAS)))
@pytest.mark.parametrize("first", ["1 / y", "-x / y", "x", "-1"])
def test_the_sum_of_two(first, second):
    found = eval(summed([("t", first), ("x", second)]), dict(AT))
    a, b = (eval(text.strip(), dict(AT)) for text in (first, second))
    assert found == pytest.approx(AT["t"] * a + AT["x"] * b, rel=1e-14, abs=1e-13)


@pytest.mark.parametrize(
    "text, constant, names",
    [
        ("1", 1.0, ""),
        ("-2.5e-3", -2.5e-3, ""),
        ("1 / 4", 0.25, ""),
        ("x", None, "x"),
        ("LN2", None, ""),
        ("2 * out", None, "out"),
        ("-f(x, y1) / y", None, "xy"),
        ("where(x>y,x,0)", None, "xy"),
    ],
)
def test_what_a_formula_reads(text, constant, names):
    partial = Partial(text, {})
    assert partial.constant == constant
    assert partial.names == ({"out"} if names == "out" else set(names))


def test_numbers_are_no_names():
    assert names_in("1e5 * x1 + 0.5e-3 - LOG2_E / x[0]") == {"x1", "LOG2_E", "x"}
