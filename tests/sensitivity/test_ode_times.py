"""Times that depend on parameters: the ends of the span, and the times of the result."""

import numpy as np
import pytest

from dualad import sensitivity as ds

from .models import decay

K, T0, T1 = 0.7, 0.4, 2.5
P = {"k": K, "t0": T0, "t1": T1}
ASK = {"rtol": 1e-8, "atol": 1e-10}


def close(value, exact):
    np.testing.assert_allclose(value, exact, rtol=1e-6, atol=1e-8)


def test_the_end_of_the_span_moves():
    """y(t1) = exp(-k t1): the derivative by t1 is the slope there."""
    r = ds.ode(decay, [1.0], {"k": K, "t1": T1}, (0.0, ds.Time("t1")), **ASK)
    e = np.exp(-K * T1)
    close(r.S[-1, 0], [-T1 * e, -K * e])
    close(r.S[1:-1, 0, 1], 0.0)
    close(r.dt[-1], [0.0, 1.0])
    assert (r.dt[:-1] == 0).all()


def test_the_start_of_the_span_moves():
    """y(t) = exp(-k (t - t0))."""
    r = ds.ode(decay, [1.0], P, (ds.Time("t0"), 2.0), t_eval=[1.0, 2.0], wrt=["k", "t0"], **ASK)
    for i, t in enumerate(r.t):
        e = np.exp(-K * (t - T0))
        close(r.S[i, 0], [-(t - T0) * e, K * e])


def test_the_first_time_itself_has_the_start_for_a_state():
    r = ds.ode(decay, lambda p: [p.k], {"k": K, "t0": T0}, (ds.Time("t0"), 2.0),
               t_eval=[ds.Time("t0")], **ASK)  # fmt: skip
    close(r.S[0, 0], [1.0, 0.0])


@pytest.mark.parametrize(
    "times",
    [
        [1.0, ds.Time("t1")],
        [1.0, lambda p: p.t1],
        (1.0, ds.Time(lambda p: p["t1"])),
        lambda p: [1.0, p.t1],
        lambda p: np.stack([0 * p.t1 + 1.0, p.t1]),
    ],
)
def test_times_of_the_result_move_however_they_are_given(times):
    r = ds.ode(decay, [1.0], {"k": K, "t1": T1}, (0.0, 3.0), t_eval=times, **ASK)
    e = np.exp(-K * T1)
    close(r.t, [1.0, T1])
    close(r.S[:, 0], [[-np.exp(-K), 0.0], [-T1 * e, -K * e]])


def test_a_time_that_is_a_function_of_several_parameters():
    """y at the half-life log(2)/k is 1/2, whatever k is."""
    r = ds.ode(decay, [1.0], {"k": K}, (0.0, 3.0), t_eval=[lambda p: np.log(2.0) / p.k], **ASK)
    close(r.y, 0.5)
    close(r.S, 0.0)
    close(r.dt, -np.log(2.0) / K**2)


def test_outputs_take_the_motion_of_their_time():
    """g = t y at t1: d/dt1 = y + t y'."""
    r = ds.ode(decay, [1.0], {"k": K, "t1": T1}, (0.0, 3.0), t_eval=[ds.Time("t1")],
               outputs={"g": lambda t, y, p: t * y[0]}, **ASK)  # fmt: skip
    e = np.exp(-K * T1)
    close(r.column("g"), T1 * e)
    close(r.column("g", "t1"), e - K * T1 * e)
    close(r.column("g", "k"), -(T1**2) * e)


def test_an_integral_over_a_span_that_moves_at_both_ends():
    """The integral of exp(-k (t - t0)) from t0 to t1."""
    r = ds.ode(decay, [1.0], P, (ds.Time("t0"), ds.Time("t1")),
               integrals={"area": lambda t, y, p: y[0]}, **ASK)  # fmt: skip
    d = T1 - T0
    e = np.exp(-K * d)
    close(r.integrals.values, (1 - e) / K)
    close(r.integrals.jacobian, [[d * e / K - (1 - e) / K**2, -e, e]])


def test_the_check_moves_the_times_too():
    r = ds.ode(decay, [1.0], P, (ds.Time("t0"), ds.Time("t1")),
               t_eval=[1.0, ds.Time("t1")], method="DOP853")  # fmt: skip
    table = r.check()
    assert {row[-1] for row in table.rows} == {"agrees"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"t_span": (0.0, ds.Time("t2"))}, "no parameter 't2'"),
        ({"t_span": (ds.Time("t1"), ds.Time("t1"))}, "two different"),
        ({"t_eval": [2.0, ds.Time("k")]}, "must rise from t0 to t1"),
        ({"t_eval": [ds.Time("t1")], "t_span": (0.0, 1.0)}, "outside of t_span"),
        ({"t_eval": [ds.Time(lambda p: [p.k, p.k])]}, r"gave shape \(2,\)"),
        ({"t_eval": ["a"]}, "real numbers"),
        ({"t_eval": lambda p: p.k}, "list of times"),
    ],
)
def test_times_that_are_none(change, says):
    ask = {"t_span": (0.0, 3.0)} | change
    with pytest.raises(ds.SensitivityError, match=says):
        ds.ode(decay, [1.0], P, ask.pop("t_span"), **ask)


def test_a_time_is_a_name_or_a_function():
    with pytest.raises(ds.SensitivityError, match="Time takes the name of a parameter"):
        ds.Time(3.0)


@pytest.mark.parametrize("forward", [True, False])
def test_a_moving_end_is_checked_at_the_solver_s_own_times(forward):
    """The last of the solver's steps is short, so that the end moves before its beginning."""
    span = (0.0, ds.Time("t1")) if forward else (ds.Time(lambda p: 0.0 * p.t1), ds.Time("t1"))
    r = ds.ode(decay, [1.0], {"k": K, "t1": T1 if forward else -T1}, span, max_step=0.1)
    assert r.t.size > 25
    assert r.check().ok


# --- times that come more than once, or pass each other


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
@pytest.mark.parametrize("ahead", [1.0, -1.0])
def test_a_time_may_come_again_as_replicates_of_an_experiment_do(method, ahead):
    """y = exp(-k t): dy/dk = -t y."""
    t = ahead * np.array([0.0, 0.5, 0.5, 1.0, 1.0, 1.0])
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 2.0}, (0.0, ahead), t_eval=t, method=method,
               rtol=1e-9, atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(r.S[:, 0, 0], -t * np.exp(-2 * t), rtol=1e-6)
    assert r.check("complex").ok


def test_second_derivatives_at_a_time_that_comes_again():
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 2.0}, (0.0, 1.0), t_eval=[0.5, 0.5, 1.0],
               order=2, rtol=1e-9)  # fmt: skip
    np.testing.assert_allclose(r.hessian.ravel(), r.t**2 * np.exp(-2 * r.t), rtol=1e-6)


def test_replicates_are_fitted():
    t = np.array([0.1, 0.1, 0.5, 0.5])
    model = lambda p, t: ds.ode(lambda t, y, p: -p.k * y, lambda p: [p.a], p, (0.0, 1.0), t_eval=t)
    fitted = ds.fit(model, {"k": 1.0, "a": 2.0}, {"y1": np.exp(-2 * t)}, x=t)
    np.testing.assert_allclose(fitted.params.vector(), [2.0, 1.0], rtol=1e-5)


@pytest.mark.parametrize(
    ("t_eval", "end"),
    [
        ([0.5, ds.Time("T"), ds.Time("T"), 1.0], 2.0),
        ([ds.Time("T"), 0.51, 1.0], 2.0),
        ([0.25, 0.49, ds.Time("T")], ds.Time("T")),
        ([0.25, ds.Time("T")], 0.5),
    ],
    ids=["together", "one passes the other", "the end passes a time", "a time passes the end"],
)
def test_times_that_pass_each_other_within_a_difference_are_checked(t_eval, end):
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0, "T": 0.5}, (0.0, end), t_eval=t_eval,
               rtol=1e-8, integrals={"area": lambda t, y, p: y[0]})  # fmt: skip
    moving = [callable(t) for t in t_eval]
    np.testing.assert_allclose(r.S[:, 0, 1], np.where(moving, -np.exp(-0.5), 0.0), rtol=1e-6)
    assert r.check().ok and r.integrals.check().ok


def test_a_result_that_an_event_ended_before_its_last_times_is_checked():
    event = ds.Event(lambda t, y, p: y[0] - p.c, terminal=True, name="end")
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0, "c": 0.5}, (0.0, 3.0),
               t_eval=[0.2, 0.4, 2.0], events=event, rtol=1e-8)  # fmt: skip
    assert r.t.tolist() == [0.2, 0.4]
    assert r.check().ok and r.events["end"].check().ok
