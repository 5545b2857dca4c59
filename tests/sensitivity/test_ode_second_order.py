"""Second derivatives where times move, through events, and at any time."""

from __future__ import annotations

import numpy as np
import pytest

from dualad import sensitivity as ds

TIGHT = {"rtol": 1e-10, "atol": 1e-12, "method": "DOP853"}


def curved(formula, params):
    """Values, first and second derivatives of a closed form, shapes (m,), (m, k), (m, k, k)."""
    r = ds.function(formula, params, order=2)
    return r.values, r.jacobian, r.hessian


def decay(t, y, p):
    return [-p.k * y[0]]


def test_order_two_at_an_end_and_at_times_that_are_parameters():
    params = {"k": 0.7, "t1": 1.5, "q": 2.0}
    r = ds.ode(
        decay, lambda p: [p.q**2], params, (0.0, ds.Time("t1")), order=2,
        t_eval=[0.5, lambda p: p.t1**2 / 3.0, ds.Time("t1")],
        outputs={"g": lambda t, y, p: t**2 * y[0] * p.k},
        integrals={"area": lambda t, y, p: y[0]}, **TIGHT,
    )  # fmt: skip

    def formula(p):
        t = np.stack([0.5 + 0.0 * p.t1, p.t1**2 / 3.0, p.t1])
        y = p.q**2 * np.exp(-p.k * t)
        return np.stack([y, t**2 * y * p.k], axis=1)

    y, s, h = curved(formula, params)
    assert np.allclose(r.y, y, rtol=1e-8)
    assert np.allclose(r.S, s, rtol=1e-7, atol=1e-9)
    assert np.allclose(r.hessian, h, rtol=1e-6, atol=1e-8)
    y, s, h = curved(lambda p: [p.q**2 * (1 - np.exp(-p.k * p.t1)) / p.k], params)
    assert np.allclose(r.integrals.values, y, rtol=1e-8)
    assert np.allclose(r.integrals.hessian, h, rtol=1e-6, atol=1e-8)
    assert np.allclose(r.dt[1], [0.0, 1.0, 0.0])


def test_order_two_with_a_start_that_is_a_parameter():
    params = {"k": 0.7, "t0": 0.3, "q": 2.0}
    r = ds.ode(
        lambda t, y, p: [-p.k * t * y[0]], lambda p: [p.q * p.t0], params,
        (lambda p: p.t0**2, 2.0),
        t_eval=[1.0, 2.0], order=2, **TIGHT,
    )  # fmt: skip

    def formula(p):
        t = np.array([1.0, 2.0])
        return (p.q * p.t0 * np.exp(-p.k * (t**2 - p.t0**4) / 2.0)).reshape((2, 1))

    y, s, h = curved(formula, params)
    assert np.allclose(r.y, y, rtol=1e-8)
    assert np.allclose(r.S, s, rtol=1e-7)
    assert np.allclose(r.hessian, h, rtol=1e-6, atol=1e-8)


BALL = {"h": 2.0, "g": 9.81, "e": 0.8}


def falling(t, y, p):
    return [y[1], -p.g + 0.0 * y[0]]


def bounce(**more):
    return ds.Event(
        lambda t, y, p: y[0], lambda t, y, p: {"v": -p.e * y[1]}, direction=-1, name="bounce",
        **more,
    )  # fmt: skip


def bounces(p, count):
    """Closed form: the first fall lasts T, and flight n lasts 2 e^n T."""
    fall = np.sqrt(2.0 * p.h / p.g)
    times, t = [fall], fall
    for n in range(1, count):
        t = t + 2.0 * p.e**n * fall
        times.append(t)
    return times


def test_order_two_of_event_times_and_of_what_comes_after_them():
    r = ds.ode(
        falling, lambda p: {"x": p.h, "v": 0.0}, BALL, (0.0, 2.5), t_eval=[0.5, 1.0, 2.0, 2.5],
        events=bounce(), order=2, dense_output=True, **TIGHT,
    )  # fmt: skip
    times = r.events["bounce"]
    t, dt, ddt = curved(lambda p: bounces(p, len(times.times)), BALL)
    assert len(t) >= 3
    assert np.allclose(times.times, t, rtol=1e-9)
    assert np.allclose(times.dt, dt, rtol=1e-8)
    assert np.allclose(times.hessian, ddt, rtol=1e-6, atol=1e-8)

    def course(p):
        at = bounces(p, len(times.times))
        rows = []
        for now in (0.5, 1.0, 2.0, 2.5, 1.3):
            n = int(np.searchsorted(t, now))
            if n == 0:
                rows.append([p.h - p.g * now**2 / 2.0, -p.g * now])
                continue
            v = p.e**n * p.g * at[0]
            gone = now - at[n - 1]
            rows.append([v * gone - p.g * gone**2 / 2.0, v - p.g * gone])
        return np.stack([np.stack(row) for row in rows])

    y, s, h = curved(course, BALL)
    assert np.allclose(r.y, y[:-1], rtol=1e-8, atol=1e-9)
    assert np.allclose(r.S, s[:-1], rtol=1e-7, atol=1e-8)
    assert np.allclose(r.hessian, h[:-1], rtol=1e-6, atol=1e-7)
    assert np.allclose(r.hessian_at(1.3), h[-1], rtol=1e-6, atol=1e-6)
    assert np.allclose(r.at(1.3)[1], s[-1], rtol=1e-6, atol=1e-7)
    first = ds.ode(
        falling, lambda p: {"x": p.h, "v": 0.0}, BALL, (0.0, 2.5), t_eval=[2.5],
        events=bounce(), **TIGHT,
    )  # fmt: skip
    assert np.allclose(first.events["bounce"].S_after, times.S_after, rtol=1e-7, atol=1e-8)
    assert first.events["bounce"].S_after.shape == times.S_after.shape


def test_order_two_of_an_integral_up_to_a_terminal_event():
    floor = ds.Event(lambda t, y, p: y[0], terminal=True, name="floor")
    params = {"h": 2.0, "g": 9.81}
    r = ds.ode(
        falling, lambda p: {"x": p.h, "v": 0.0}, params, (0.0, 9.0), events=floor, order=2,
        integrals={"area": lambda t, y, p: y[0]}, **TIGHT,
    )  # fmt: skip
    _, s, h = curved(lambda p: [2.0 / 3.0 * p.h * np.sqrt(2.0 * p.h / p.g)], params)
    assert np.allclose(r.integrals.jacobian, s, rtol=1e-7, atol=1e-9)
    assert np.allclose(r.integrals.hessian, h, rtol=1e-6, atol=1e-8)


def test_order_two_of_a_dose_at_a_time_that_is_a_parameter():
    params = {"k": 0.5, "tau": 1.2, "dose": 3.0}
    dose = ds.Event(lambda t, y, p: t - p.tau, lambda t, y, p: [y[0] + p.dose * y[0] ** 2])
    r = ds.ode(
        decay, [1.0], params, (0.0, 3.0), t_eval=[3.0], events=dose, order=2,
        rtol=1e-9, atol=1e-12,
    )  # fmt: skip

    def formula(p):
        before = np.exp(-p.k * p.tau)
        return [[(before + p.dose * before**2) * np.exp(-p.k * (3.0 - p.tau))]]

    _, s, h = curved(formula, params)
    assert np.allclose(r.S, s, rtol=1e-7, atol=1e-9)
    assert np.allclose(r.hessian, h, rtol=1e-6, atol=1e-8)
    assert np.allclose(r.events["event1"].hessian, 0.0)


def test_order_two_refuses_a_right_hand_side_that_jumps_at_an_event():
    def switched(t, y, p):
        return [np.where(t < p.tau, -p.k * y[0], p.k * y[0])]

    with pytest.raises(ds.EventError, match=r"jumps at event 'switch', t = 1\.2.*order=1"):
        ds.ode(
            switched, [1.0], {"k": 1.0, "tau": 1.2}, (0.0, 2.0), t_eval=[2.0], order=2,
            events=ds.Event(lambda t, y, p: t - p.tau, name="switch"),
        )  # fmt: skip


def test_second_derivatives_at_any_time_need_order_two():
    r = ds.ode(decay, [1.0], {"k": 1.0}, (0.0, 1.0), dense_output=True)
    with pytest.raises(ds.SensitivityError, match="order=2"):
        r.hessian_at(0.5)
