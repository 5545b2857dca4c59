"""Checks against independent methods: what agrees, what differs, what has no derivative."""

import math

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import CheckError, SensitivityError
from dualad.sensitivity.results.differences import central, complex_step, extrapolated


def model(p):
    return {"e": np.exp(p.a * p.b), "tiny": 1e-12 * np.sin(p.a) / p.b}


AB = {"a": 0.7, "b": 2.0}


@pytest.mark.parametrize("method", ["central", "complex", "high precision"])
def test_right_derivatives_agree(method):
    table = ds.function(model, AB).check(method)
    assert table.ok and len(table) == 4
    assert set(table["verdict"]) == {"agrees"}
    table.require()
    tight = {"central": 1e-11, "complex": 1e-14, "high precision": 1e-13}[method]
    for row in table:
        assert abs(row["difference"]) <= tight * abs(row["value"])


@pytest.mark.parametrize("method", ["central", "complex", "high precision"])
def test_a_wrong_derivative_is_found_and_named(method):
    r = ds.function(model, AB)
    wrong = r.jacobian.copy()
    wrong[1, 0] *= 1 + 1e-6
    table = r.replace(jacobian=wrong).check(method)
    assert not table.ok
    assert [(row["output"], row["parameter"]) for row in table.failed()] == [("tiny", "a")]
    with pytest.raises(CheckError, match=r"dtiny/da is .* but an independent method finds"):
        table.require()


def test_a_kink_is_told_with_both_sides():
    with pytest.warns(ds.SensitivityWarning, match="no effect of first order here"):
        r = ds.function(lambda p: np.abs(p.a) + 2 * p.b, {"a": 0.0, "b": 1.0})
    table = r.check()
    assert table[0]["verdict"] == "not differentiable: -1 from the left, 1 from the right"
    assert table[1]["verdict"] == "agrees" and table.ok
    assert r.replace(jacobian=[3.0, 2.0]).check()[0]["verdict"].startswith("differs: -1 from the")


def test_a_derivative_below_what_differences_can_tell():
    r = ds.function(lambda p: 1e8 * np.cos(p.a) + 1e-9 * p.b, {"a": 1.0, "b": 1.0})
    assert r.check()[1]["verdict"] == "below noise"


def test_a_zero_column_agrees():
    with pytest.warns(ds.SensitivityWarning):
        r = ds.function(lambda p: p.a**2, {"a": 2.0, "b": 0.0})
    assert r.check()["verdict"] == ["agrees", "agrees"]


def test_a_check_stays_within_the_bounds():
    seen = []

    def root(p):
        seen.append(float(np.asarray(p.a)) if isinstance(p.a, float) else 1.0)
        return np.sqrt(p.a)

    r = ds.function(root, {"a": ds.Parameter(0.01, lower=0.0)})
    seen.clear()
    assert r.check().ok and min(seen) >= 0.0
    r = ds.function(root, {"a": ds.Parameter(1.0, lower=0.999)})
    seen.clear()
    assert r.check().ok and min(seen) >= 0.999


def test_what_cannot_be_checked():
    r = ds.function(model, AB)
    with pytest.raises(SensitivityError, match="method must be one of"):
        r.check("forward")
    with pytest.raises(SensitivityError, match="does not know how to compute its values again"):
        r.replace(again=None).check()
    with pytest.raises(SensitivityError, match="fix the times"):
        r.replace(again=lambda x: np.zeros(3)).check()

    def refuses(p):
        if isinstance(p.a, complex):
            raise TypeError("no complex numbers")
        return p.a**2

    r = ds.function(refuses, {"a": 2.0})
    with pytest.raises(SensitivityError, match=r"complex parameters.*method='central'"):
        r.check("complex")


# --- the differences themselves


def test_extrapolated_differences_reach_nearly_full_precision():
    found = central(lambda x: np.array([np.exp(x[0]), np.sin(x[0])]), np.array([1.0]), 0, 0.05)
    exact = np.array([math.e, math.cos(1.0)])
    np.testing.assert_allclose(found.value, exact, rtol=1e-12)
    assert (np.abs(found.value - exact) <= 100 * found.error + 1e-15).all()
    np.testing.assert_allclose(found.left, exact, rtol=1e-9)
    np.testing.assert_allclose(found.right, exact, rtol=1e-9)


def test_the_extrapolation_of_a_polynomial_in_the_square_of_the_step_is_exact():
    steps = 0.5 ** np.arange(6)
    value, _ = extrapolated([np.array(3.0 + h**2 - 2 * h**4) for h in steps], 4.0)
    assert value == pytest.approx(3.0, rel=1e-14)


def test_complex_steps_are_exact():
    found = complex_step(lambda x: np.exp(x[:1]) * x[1], np.array([1.0, 2.0]), 0)
    np.testing.assert_allclose(found.value, [2 * math.e], rtol=1e-15)


def test_event_times_and_integrals_are_checked_too():
    bounce = ds.Event(
        lambda t, y, p: y[0], lambda t, y, p: [0.0, -p.e * y[1]], direction=-1, name="bounce"
    )  # fmt: skip
    r = ds.ode(
        lambda t, y, p: [y[1], -p.g + 0.0 * y[0]], [1.0, 0.0], {"g": 9.81, "e": 0.8}, (0.0, 1.5),
        events=bounce, integrals={"area": lambda t, y, p: y[0]}, method="DOP853",
    )  # fmt: skip
    for part in (r.events["bounce"], r.integrals):
        found = part.check()
        assert found.ok and "agrees" in found["verdict"]
        part.jacobian[0, 0] *= 1.01
        assert [row["parameter"] for row in part.check().failed()] == ["g"]


def test_a_tolerance_must_be_positive():
    with pytest.raises(SensitivityError, match="rtol must be positive, got -1"):
        ds.function(model, AB).check(rtol=-1)


def test_event_times_are_checked_where_events_come_and_go_with_the_steps_of_the_difference():
    """y falls to c again and again, the last time shortly before the end."""
    event = ds.Event(lambda t, y, p: y[0] - p.c, lambda t, y, p: y + p.d, name="refill")
    r = ds.ode(lambda t, y, p: -p.k * y * (1 + t), lambda p: [p.y0],
               {"k": 0.5, "y0": 2.0, "c": 1.0, "d": 0.5}, (0.0, 2.0), t_eval=[2.0],
               events=event, rtol=1e-9, atol=1e-12)  # fmt: skip
    # -log y falls by k (t + t^2 / 2): log 2 to the first, log 1.5 from each to the next.
    count = len(r.events["refill"].times)
    falls = (np.log(2.0) + np.log(1.5) * np.arange(count)) / 0.5
    np.testing.assert_allclose(r.events["refill"].times, np.sqrt(1 + 2 * falls) - 1, rtol=1e-8)
    assert falls[-1] < 4.0 < falls[-1] + np.log(1.5) / 0.5
    assert r.events["refill"].check().ok
    assert r.check().ok


def test_a_result_at_the_times_of_steps_and_events_says_why_it_cannot_be_checked():
    event = ds.Event(lambda t, y, p: y[0] - 0.5, terminal=True)
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 2.0), events=event)
    with pytest.raises(
        SensitivityError, match=r"times are those of steps and events \(give t_eval"
    ):
        r.check()
