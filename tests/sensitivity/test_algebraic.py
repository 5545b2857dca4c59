"""Systems of differential and algebraic equations, of index 1, with the derivatives of both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from dualad import sensitivity as ds

TIGHT = {"rtol": 1e-9, "atol": 1e-12, "method": "Radau"}
SEMI = [[1.0, 0.0], [0.0, 0.0]]


def closed(formula, params):
    r = ds.function(formula, params, order=2)
    return r.values, r.jacobian, r.hessian


def linear(t, y, p):
    """y' = -k y + z with z = a y^2 / y: y = exp((a - k) t)."""
    return [-p.k * y[0] + y[1], y[1] * y[0] - p.a * y[0] ** 2]


@pytest.mark.parametrize("method", ["BDF", "DOP853"])
def test_values_and_sensitivities_of_both_kinds_of_unknown(method):
    params, t = {"k": 1.0, "a": 0.3, "q": 2.0}, np.array([0.0, 0.5, 2.0])
    r = ds.ode(
        linear, lambda p: [p.q, 0.1], params, (0.0, 2.0), t_eval=t, mass=SEMI,
        **{**TIGHT, "method": method},
    )  # fmt: skip

    def formula(p):
        y = p.q * np.exp((p.a - p.k) * t)
        return np.stack([y, p.a * y], axis=1)

    y, s, _ = closed(formula, params)
    assert np.allclose(r.y, y, rtol=1e-6)
    assert np.allclose(r.S, s, rtol=1e-6, atol=1e-8)
    if method == "DOP853":
        assert r.check().ok


def test_second_derivatives_of_a_system_with_algebraic_equations():
    params = {"k": 1.0, "a": 0.3}
    r = ds.ode(
        linear, [2.0, 0.1], params, (0.0, 1.0), t_eval=[1.0], mass=SEMI, order=2, **TIGHT
    )  # fmt: skip

    def formula(p):
        y = 2.0 * np.exp((p.a - p.k) * 1.0)
        return np.stack([np.stack([y, p.a * y])])

    _, s, h = closed(formula, params)
    assert np.allclose(r.S, s, rtol=1e-7)
    assert np.allclose(r.hessian, h, rtol=1e-6, atol=1e-8)


def test_robertson_as_a_differential_algebraic_system_is_robertson():
    p = {"p1": 0.04, "p2": 1e4, "p3": 3e7}

    def rates(y, p):
        slow, fast = p.p1 * y[0], p.p2 * y[1] * y[2]
        return -slow + fast, slow - fast - p.p3 * y[1] ** 2

    def dae(t, y, p):
        return [*rates(y, p), y[0] + y[1] + y[2] - 1.0]

    def plain(t, y, p):
        one, two = rates(y, p)
        return [one, two, -one - two]

    ask = {"t_eval": [0.4, 40.0], "rtol": 1e-7, "atol": [1e-9, 1e-13, 1e-9]}
    a = ds.ode(dae, [1.0, 0.0, 0.3], p, (0.0, 40.0), mass=np.diag([1.0, 1.0, 0.0]), **ask)
    b = ds.ode(plain, [1.0, 0.0, 0.0], p, (0.0, 40.0), **ask)
    assert np.allclose(a.y, b.y, rtol=1e-6)
    assert np.allclose(a.scaled("p"), b.scaled("p"), rtol=1e-5, atol=1e-9)


def test_a_mass_matrix_of_rank_one_without_zero_rows_that_depends_on_a_parameter():
    """m (u' + w') = -k u, and u = c w: u' = -k u / (m (1 + 1/c))."""
    params, t = {"k": 0.8, "m": 2.0, "c": 3.0}, np.array([1.0, 2.0])
    r = ds.ode(
        lambda t, y, p: [-p.k * y[0] + (y[0] - p.c * y[1]), -p.k * y[0] - (y[0] - p.c * y[1])],
        [3.0, 1.0], params, (0.0, 2.0), t_eval=t, states=["u", "w"],
        mass=lambda p: p.m * np.ones((2, 2)), **TIGHT,
    )  # fmt: skip

    def formula(p):
        # The sum u + w is kept by making the start consistent.
        u = 4.0 / (1.0 + 1.0 / p.c) * np.exp(-p.k * t / (p.m * (1.0 + 1.0 / p.c)))
        return np.stack([u, u / p.c], axis=1)

    y, s, _ = closed(formula, params)
    assert np.allclose(r.y, y, rtol=1e-7)
    assert np.allclose(r.S, s, rtol=1e-6, atol=1e-8)


def test_events_and_a_start_time_that_moves_keep_the_state_consistent():
    params = {"k": 1.0, "a": 0.3, "tau": 0.7, "dose": 0.5, "t0": 0.1}
    event = ds.Event(
        lambda t, y, p: t - p.tau, lambda t, y, p: {"u": y[0] + p.dose}, name="dose"
    )  # fmt: skip
    r = ds.ode(
        linear, {"u": 2.0, "w": 0.0}, params, (ds.Time("t0"), 2.0), t_eval=[2.0], mass=SEMI,
        events=event, **TIGHT,
    )  # fmt: skip

    def formula(p):
        rate = p.a - p.k
        u = (2.0 * np.exp(rate * (p.tau - p.t0)) + p.dose) * np.exp(rate * (2.0 - p.tau))
        return np.stack([np.stack([u, p.a * u])])

    y, s, _ = closed(formula, params)
    assert np.allclose(r.y, y, rtol=1e-7)
    assert np.allclose(r.S, s, rtol=1e-6, atol=1e-8)
    after = r.events["dose"].y_after[0]
    assert np.isclose(after[1], 0.3 * after[0], rtol=1e-10)


@pytest.mark.parametrize(
    ("rhs", "start", "says"),
    [
        # The algebraic equation does not have its unknown: a pendulum would be like this.
        (lambda t, y, p: [y[1], y[0] - p.k], [1.0, 0.0], r"rhs\[1\] = 0.*index above 1"),
        (lambda t, y, p: [y[1], y[1] ** 2 + p.k], [1.0, 0.5], r"no state near .*rhs\[1\] = 0"),
    ],
)
def test_what_is_no_system_of_index_one(rhs, start, says):
    with pytest.raises(ds.ModelError, match=says):
        ds.ode(rhs, start, {"k": 1.0}, (0.0, 1.0), mass=SEMI)


def test_which_equations_are_algebraic_must_not_depend_on_parameters():
    with pytest.raises(ds.ModelError, match=r"depends on 'm'.*rows of zeros"):
        ds.ode(
            lambda t, y, p: [-y[0] + y[1], y[1] - y[0]], [1.0, 1.0], {"m": 0.0}, (0.0, 1.0),
            mass=lambda p: np.stack([np.stack([1.0, 0.0]), np.stack([p.m, 0.0 * p.m])]),
            pscale={"m": 1.0},
        )  # fmt: skip


def pendulum(t, s, p):
    x, y, u, v, pull = s
    return [u, v, -pull * x, -pull * y - p.g, u**2 + v**2 - pull * p.L**2 - p.g * y]


HANGS = {"g": 9.81, "L": 1.3}


def test_a_pendulum_in_cartesian_coordinates_is_one_by_its_angle():
    r = ds.ode(
        pendulum, lambda p: {"x": p.L, "y": 0.0, "u": 0.0, "v": 0.0, "pull": 0.0}, HANGS,
        (0.0, 2.0), t_eval=[1.0, 2.0], rtol=1e-8,
        mass=sparse.diags_array([1.0, 1.0, 1.0, 1.0, 0.0]), atol=1e-10, method="DOP853",
        outputs={"rest": lambda t, s, p: s[2] ** 2 + s[3] ** 2 - s[4] * p.L**2 - p.g * s[1]},
    )  # fmt: skip
    angle = ds.ode(
        lambda t, s, p: [s[1], -p.g / p.L * np.sin(s[0])], [np.pi / 2.0, 0.0], HANGS, (0.0, 2.0),
        t_eval=[1.0, 2.0], rtol=1e-10, atol=1e-12, method="DOP853",
        outputs={
            "x": lambda t, s, p: p.L * np.sin(s[0]), "y": lambda t, s, p: -p.L * np.cos(s[0])
        },
    )  # fmt: skip
    assert np.allclose(r.y[:, :2], angle.y[:, 2:], atol=1e-7)
    assert np.allclose(r.S[:, :2], angle.S[:, 2:], atol=1e-6)
    assert np.abs(r.column("rest")).max() < 1e-6
    assert np.abs(r.S[:, 5]).max() < 1e-5


def test_a_jacobian_of_one_s_own_does_not_go_with_algebraic_equations():
    with pytest.raises(ds.SensitivityError, match="jac does not go with a singular mass"):
        ds.ode(
            pendulum, [1.3, 0.0, 0.0, 0.0, 0.0], HANGS, (0.0, 1.0), jac=lambda t, s, p: np.eye(5),
            mass=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]),
        )  # fmt: skip
