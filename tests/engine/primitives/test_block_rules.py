"""Rules on blocks: statements that write a value, a tangent, or a share of a cotangent."""

import numpy as np
import pytest

from dualad.engine.fast_paths.written_records import Shares
from dualad.engine.primitives.block_rules import joint_rule, known_rules, of_one, share_rule

X = np.linspace(0.5, 2.0, 9)
DX = np.cos(X)
NAMES = {"sin": np.sin, "cos": np.cos, "where": np.where, "maximum": np.maximum}


def spares(rule):
    return [np.full(X.size, np.nan) for _ in range(rule.spares)]


def test_value_and_tangent():
    rule = joint_rule(NAMES, "sin(x) * x", "dx * (cos(x) * x + sin(x))", ["x", "dx"], set(), False)
    out, t = np.empty(X.size), np.empty(X.size)
    rule.function()(out, t, spares(rule), X, DX)
    np.testing.assert_allclose(out, np.sin(X) * X, rtol=1e-15)
    np.testing.assert_allclose(t, DX * (np.cos(X) * X + np.sin(X)), rtol=1e-15)


def test_a_slope_that_is_more_than_ufuncs_is_computed_as_it_is():
    slope = "dx * ((x > 1) + where(x == X0, 0.5, 0))"
    rule = joint_rule(
        {**NAMES, "X0": X[2]}, "maximum(x, y)", slope, ["x", "dx", "y"], {"y"}, False
    )
    out, t = np.empty(X.size), np.empty(X.size)
    rule.function()(out, t, spares(rule), X, DX, 1.0)
    np.testing.assert_array_equal(out, np.where(X > 1, X, 1.0))
    np.testing.assert_array_equal(t, DX * np.where(X > 1, 1.0, np.where(X == X[2], 0.5, 0.0)))


@pytest.mark.parametrize("value", ["where(x > 1, x, 1)", "f(x)", "x if x is None else x"])
def test_a_value_that_is_more_than_ufuncs_has_no_rule(value):
    assert joint_rule({**NAMES, "f": lambda x: x}, value, None, ["x"], set(), False) is None


def test_a_slope_by_a_function_of_somebody_elses_has_no_rule():
    assert joint_rule(NAMES, "sin(x)", "dx * partial_x(out, x)", ["x", "dx"], set(), False) is None
    assert share_rule(NAMES, "c * (partial_x(x))", "+", ["x"], set()) is None


def test_a_power_is_that_of_the_operator():
    """NumPy takes roots and squares for some exponents."""
    rule = joint_rule(NAMES, "x ** y", None, ["x", "y"], {"y"}, False)
    for y in (0.5, 2, -1, 1.5):
        out = np.empty(X.size)
        rule.function()(out, None, spares(rule), X, y)
        np.testing.assert_array_equal(out, X**y)


@pytest.mark.parametrize("sign", ["+", "-"])
@pytest.mark.parametrize("share", ["c", "c * (cos(x) * x)", "c / (x)"])
def test_a_share_is_added_or_comes_first(share, sign):
    rules = share_rule(NAMES, share, sign, ["x"], set())
    want = eval(share, {"c": DX, "x": X, "cos": np.cos}) * (1 if sign == "+" else -1)
    total = np.empty(X.size)
    rules.function()(total, X, spares(rules), DX, X)
    np.testing.assert_allclose(total, X + want, rtol=1e-15)
    rules.function()(total, None, spares(rules), DX, X)
    np.testing.assert_allclose(total, want, rtol=1e-15)
    cotangent = DX.copy()
    rules.function()(cotangent, None, spares(rules), cotangent, X, True)
    np.testing.assert_allclose(cotangent, want, rtol=1e-15)


class Pull:
    """What states shares, as a written pull does."""

    def __init__(self, reads, *terms):
        self.shares = Shares(reads, terms, NAMES)


def test_shares_of_a_cotangent_that_is_a_number():
    pull = Pull(("x", "y"), ("-", "c * (x)"), ("+", "c / (y)"))
    with_arrays, without = known_rules(pull, (True, False), True)
    assert without is None  # it is a number itself
    total = np.empty(X.size)
    with_arrays.function()(total, None, spares(with_arrays), np.float64(-3.0), X, 4.0)
    np.testing.assert_array_equal(total, -3.0 * X)  # the sign is that of the number
    assert of_one(known_rules(pull, (True, False))[1], np.float64(3.0), (X, 4.0)) == 0.75


def test_rules_are_made_once():
    pull = Pull(("x",), ("+", "c * (x)"))
    assert known_rules(pull, (True,)) is known_rules(pull, (True,))
    assert known_rules(Pull(("x",), ("+", "c * (f(x))")), (True,)) is None
