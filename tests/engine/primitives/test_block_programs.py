"""Many rules on blocks as one function."""

import warnings

import numpy as np
import pytest

from dualad.engine.primitives.block_programs import Call, Program, written
from dualad.engine.primitives.block_rules import BlockRule, NotANumber, joint_rule, share_rule

X = np.linspace(0.5, 2.0, 40)


def parts(slots, cut, own=(), spares=0, step=8):
    """The slots, with the blocks of one part after the other."""
    for start in range(0, X.size, step):
        now = list(slots)
        for i in cut:
            now[i] = slots[i][start : start + step]
        for i in own:
            now[i] = np.full(step, np.nan)
        yield now, [np.full(step, np.nan) for _ in range(spares)]


def value(formula, names="x", **namespace):
    return joint_rule(namespace, formula, None, list(names), set(), False)


def test_calls_sums_and_looks():
    """Value x * x + 3 x, its sum, and the share of x in a cotangent c = 2."""
    square, triple, plus = value("x * x"), value("3.0 * x"), value("x + y", "xy")
    share = share_rule({}, "c * (2.0 * x + 3.0)", "+", ["x"], {"c"})
    slots = [None, X, None, None, np.empty(X.size), 2.0]
    calls = (
        Call(square, (2, 0, 1)), Call(triple, (3, 0, 1)), Call(plus, (2, 0, 2, 3)),
        Call(share.first, (4, 5, 1), True),
    )  # fmt: skip
    program = Program(calls, frozenset([1, 2, 3, 4]), (2,), 3, (4,))
    (found,), squares = program.carry_out(slots, parts(slots, [1, 4], [2, 3], program.spares))
    np.testing.assert_allclose(found, np.sum((X * X + 3 * X).reshape(-1, 8), axis=1), rtol=1e-14)
    np.testing.assert_allclose(slots[4], 2 * (2 * X + 3), rtol=1e-15)
    assert squares == pytest.approx(np.sum(slots[4] ** 2))


def test_functions_of_one_name_are_told_apart():
    one, other = value("F(x)", F=np.sin), value("F(x)", F=np.cos)
    slots = [None, X, np.empty(X.size), np.empty(X.size)]
    program = Program((Call(one, (2, 0, 1)), Call(other, (3, 0, 1))), frozenset([1, 2, 3]))
    program.carry_out(slots, parts(slots, [1, 2, 3]))
    np.testing.assert_array_equal(slots[2], np.sin(X))
    np.testing.assert_array_equal(slots[3], np.cos(X))


def test_names_of_a_formula_may_be_those_of_slots():
    rule = value("b1 * x + q", b1=2.0, q=0.5)
    slots = [None, X, np.empty(X.size)]
    Program((Call(rule, (2, 0, 1)),), frozenset([1, 2])).carry_out(slots, parts(slots, [1, 2]))
    np.testing.assert_array_equal(slots[2], 2.0 * X + 0.5)


def test_a_nan_is_seen():
    slots = [None, np.where(X == X[17], np.nan, X), np.empty(X.size)]
    call = Call(value("x * x"), (2, 0, 1))
    _, squares = Program((call,), frozenset([1, 2]), looks=(2,)).carry_out(
        slots, parts(slots, [1, 2])
    )
    assert np.isnan(squares)
    slots[1] = np.where(X == X[17], np.inf, X)
    _, squares = Program((call,), frozenset([1, 2]), looks=(2,)).carry_out(
        slots, parts(slots, [1, 2])
    )
    assert squares == np.inf


def test_who_has_warned_warns_no_more_and_tangents_never():
    rule = joint_rule({"log": np.log}, "log(x)", "dx / x", ["x", "dx"], set(), False)
    slots = [None, 0.0 * X, 1.0 + X, np.empty(X.size), np.empty(X.size)]

    def messages(is_quiet):
        call = Call(rule, (3, 4, 1, 2), is_quiet)
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            Program((call,), frozenset([1, 2, 3, 4])).carry_out(slots, parts(slots, [1, 2, 3, 4]))
        return {str(w.message) for w in log}

    assert messages(False) == {"divide by zero encountered in log"}
    assert messages(True) == set()
    assert np.all(slots[4] == np.inf)


def test_a_singular_rule_stops_at_a_nan():
    rule = joint_rule({"sqrt": np.sqrt}, "sqrt(x)", "dx * (0.5 / out)", ["x", "dx"], set(), True)
    slots = [None, 0.0 * X, 0.0 * X, np.empty(X.size), np.empty(X.size)]
    program = Program((Call(rule, (3, 4, 1, 2)),), frozenset([1, 2, 3, 4]))
    with pytest.raises(NotANumber):
        program.carry_out(slots, parts(slots, [1, 2, 3, 4], spares=program.spares))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        np.log(0.0)  # the error state is what it was


def test_programs_of_one_form_share_a_function():
    rule = BlockRule(["total", "s", "c"], (), ["add(s, c, total)"], 0, {})
    made = [Program((Call(rule, (1, 2, 3)),), frozenset([1, 2])) for _ in range(2)]
    assert written(made[0]) is written(made[1])
    assert written(made[0]) is not written(made[0]._replace(blocks=frozenset([1, 2, 3])))
