"""Formulas that are nearly right, or right somewhere: none of them may be called proved."""

import numpy as np
import pytest

from dualad.verify import prove

identity = lambda x: x

#: Functions that are x for some arguments only.
NEARLY = [
    lambda x: np.arcsin(np.sin(x)), lambda x: np.arccos(np.cos(x)), lambda x: np.sqrt(x * x),
    lambda x: np.arccosh(np.cosh(x)), lambda x: (x**6) ** (1 / 6), lambda x: np.abs(x),
    lambda x: np.sign(x) * x, lambda x: np.maximum(x, -1000), lambda x: np.where(x < 1000, x, 0),
    lambda x: np.arctan2(np.sin(x), np.cos(x)), lambda x: np.cbrt(np.abs(x) ** 3),
    lambda x: x + np.heaviside(x - 50, 0), lambda x: x + 1e-30,
]  # fmt: skip


@pytest.mark.parametrize("f", NEARLY)
def test_equal_for_some_arguments_only(f):
    assert prove(identity, equals=f).verdict == "refuted"


#: These are x in SymPy, and NaN in NumPy where a root or a logarithm has no value.
NOT_A_NUMBER = [
    lambda x: np.sqrt(x) ** 2, lambda x: np.exp(np.log(x)), lambda x: np.sin(np.arcsin(x)),
    lambda x: np.tanh(np.arctanh(x)), lambda x: (x**0.5) ** 2, lambda x: 2 ** np.log2(x),
    lambda x: np.sqrt(x) * np.sqrt(x), lambda x: np.expm1(np.log1p(x)),
    lambda x: np.sqrt(100 - x) ** 2 + 2 * x - 100,
]  # fmt: skip


@pytest.mark.parametrize("f", NOT_A_NUMBER)
def test_a_claim_without_a_value_where_the_function_has_one(f):
    proof = prove(identity, equals=f)
    assert proof.verdict == "refuted" and proof.counterexample.claimed == "nan"
    assert prove(lambda x: x**2 / 2, f).verdict == "refuted"


def test_where_neither_has_a_value_nothing_is_claimed():
    assert prove(lambda x: x**1.5, lambda x: 1.5 * np.sqrt(x))
    assert prove(np.log, lambda x: 1 / x, shapes={"x": ()})
    assert prove(lambda x: x**2 / 2, lambda x: np.sqrt(x) ** 2, assume="x > 0")


def test_a_root_in_the_branch_that_is_not_taken_is_no_mistake():
    f = lambda x: np.where(x > 0, x**1.5, 0)
    assert prove(f, lambda x: np.where(x > 0, 1.5 * np.sqrt(x), 0))


n = {"assume": "n integer"}
#: (function, wrong derivative, options)
WRONG = [
    (lambda x, y: np.where((x > 10) & (x < 10.001) & (y > 3) & (y < 3.0001), x * y, x),
     lambda x, y: (1 + 0 * x, 0 * y), {}),
    (lambda x, y: np.where(x * x + y * y < 1e-6, x * y, x), lambda x, y: (1 + 0 * x, 0 * y), {}),
    (lambda x, n: np.where(n == 30, x**2, x), lambda x, n: 1 + 0 * x, n),
    (lambda x: np.rint(x) * x, lambda x: np.floor(x), {}),
    (lambda x: np.floor(x) * x, lambda x: np.trunc(x), {}),
    (lambda x: np.exp(-1000 * x * x), lambda x: -1000 * x * np.exp(-1000 * x * x),
     {"assume": "x > 1"}),
    (lambda x: 1e-60 * x**2, lambda x: 3e-60 * x, {}),
    (lambda x: np.sin(x), lambda x: np.cos(x) + 1e-14, {}),
    (lambda x: np.pi * x, lambda x: 3.14159265 + 0 * x, {}),
    (lambda x: np.where((x > 0) | (x < -3), x, -x), lambda x: np.where(x > 0, 1, -1), {}),
    (lambda x, a, b: np.where(x < a, a, np.where(x > b, b, x)),
     lambda x, a, b: np.where(x > a, 1, 0), {"wrt": "x", "assume": "a < b"}),
    (lambda x, y: np.sqrt(x * y), lambda x, y: 0.5 * np.sqrt(y) / np.sqrt(x), {"wrt": "x"}),
]  # fmt: skip


@pytest.mark.parametrize("f, wrong, options", WRONG)
def test_a_mistake_in_a_small_corner(f, wrong, options):
    assert prove(f, wrong, **options).verdict == "refuted"


#: Conditions that look like an equation and hold on more than a point.
THICK = [
    lambda x: np.sqrt(x * x + 2 * x + 1) == x + 1,
    lambda x: np.sqrt(x * x) == x,
    lambda x: np.arctan(np.tan(x)) == x,
]


@pytest.mark.parametrize("condition", THICK)
def test_an_equation_that_holds_on_an_interval_is_no_kink(condition):
    f = lambda x: np.where(condition(x), x, x**2)
    assert prove(f, lambda x: 2 * x).verdict != "proved"


def test_two_functions_of_two_arguments():
    assert prove(lambda x, y: np.log(x * y), equals=lambda x, y: np.log(x) + np.log(y)).verdict \
        == "refuted"  # fmt: skip
    root = lambda x, y: np.sqrt(x) * np.sqrt(y)
    assert prove(lambda x, y: np.sqrt(x * y), equals=root).verdict == "refuted"
    assert prove(lambda x, y: np.sqrt(x * y), equals=root, assume="x, y > 0")
    turned = lambda x, y: np.arctan2(y, x)
    assert prove(lambda x, y: np.arctan(y / x), equals=turned).verdict == "refuted"
