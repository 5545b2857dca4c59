"""Checks by complex steps: for functions, integrations, equations, linear systems."""

from __future__ import annotations

import numpy as np
import pytest

from dualad import sensitivity as ds


def agree(result, count=None):
    found = result.check("complex")
    assert found.ok and set(found["verdict"]) <= {"agrees", "below noise"}
    assert "agrees" in set(found["verdict"])
    return found


def lotka(t, y, p):
    x, z = y
    return np.array([p.a * x - p.b * x * z, p.b * x * z - p.c * z * np.exp(-0.1 * t)])


P = {"a": 1.0, "b": 0.4, "c": 0.7, "t1": 3.0, "t0": 0.2}


@pytest.mark.parametrize("method", ["Radau", "DOP853"])
def test_an_integration_with_all_that_moves(method):
    r = ds.ode(
        lotka, lambda p: {"x": p.a**2, "z": 1.0}, P, (ds.Time("t0"), ds.Time("t1")),
        t_eval=[0.5, lambda p: p.t1 / 2.0, ds.Time("t1")], method=method,
        outputs={"flux": lambda t, y, p: p.b * y[0] * y[1] * t},
        integrals={"area": lambda t, y, p: y[0]},
    )  # fmt: skip
    found = agree(r)
    agree(r.integrals)
    # The reference is a solution of its own, a hundred times as accurate.
    sharp = ds.ode(
        lotka, lambda p: {"x": p.a**2, "z": 1.0}, P, (ds.Time("t0"), ds.Time("t1")),
        t_eval=[0.5, lambda p: p.t1 / 2.0, ds.Time("t1")], method="DOP853", rtol=1e-11, atol=1e-13,
        outputs={"flux": lambda t, y, p: p.b * y[0] * y[1] * t},
    )  # fmt: skip
    reference = np.reshape(found["reference"], (5, 3, 3))
    assert np.allclose(np.moveaxis(reference, 0, -1), sharp.S, rtol=1e-5, atol=1e-6)


def test_an_integration_with_times_of_the_solver_and_an_end_that_moves():
    agree(ds.ode(lotka, [1.0, 1.0], {n: P[n] for n in "abc"} | {"t1": 2.0}, (0.0, ds.Time("t1"))))
    agree(
        ds.ode(
            lambda t, y, p: [-p.k * y[0], p.k * y[0]], [1.0, 0.0], {"k": 0.5}, (0.0, 2.0),
            t_eval=lambda p: np.stack([p.k, 2.0 * p.k]), outputs=["y2"], mass=2.0 * np.eye(2),
        )
    )  # fmt: skip


def test_a_derivative_that_is_wrong_is_found():
    r = ds.ode(lotka, [1.0, 1.0], {n: P[n] for n in "abc"}, (0.0, 1.0), t_eval=[1.0])
    r.jacobian[0, 1, 2] *= 1.001
    (bad,) = r.check("complex").failed()
    assert (bad["output"], bad["parameter"]) == ("y2", "c")


def test_events_and_algebraic_equations_have_no_complex_steps():
    ask = {"t_span": (0.0, 1.0), "t_eval": [1.0]}
    event = ds.Event(lambda t, y, p: y[0] - 0.5)
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, events=event, **ask)
    with pytest.raises(ds.SensitivityError, match=r"event happens where.*method='central'"):
        r.check("complex")
    with pytest.raises(ds.SensitivityError, match=r"event happens where.*method='central'"):
        r.events["event1"].check("complex")
    r = ds.ode(
        lambda t, y, p: [-p.k * y[0], y[1] - y[0]], [1.0, 1.0], {"k": 1.0}, mass=np.diag([1.0, 0]),
        **ask,
    )  # fmt: skip
    with pytest.raises(ds.SensitivityError, match=r"singular mass matrix.*method='central'"):
        r.check("complex")


def cycle(x, p):
    v = p.k * x[0] ** 2 - p.m * x[1]
    return np.array([-v, v])


def test_equations_steady_states_and_fixed_points():
    agree(
        ds.root(
            lambda x, p: [x[0] ** 2 + x[1] - p.a, x[0] - np.exp(p.b * x[1])], [1.0, 1.0],
            {"a": 2.0, "b": -0.3}, outputs={"both": lambda x, p: np.stack([x[0], p.a * x[1]])},
        )
    )  # fmt: skip
    agree(ds.root(lambda x, p: x**2 - p.a, 1.0, {"a": 2.0}))
    agree(
        ds.steady_state(
            cycle, lambda p: {"A": p.total, "B": 0.0}, {"k": 1.0, "m": 2.0, "total": 3.0}
        )
    )
    agree(ds.fixed_point(lambda x, p: np.cos(p.a * x), 1.0, {"a": 0.9}))


@pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
def test_linear_equations(kind):
    from dualad.scipy import sparse

    def dense(p):
        return np.stack([np.stack([p.a, 1.0 + 0.0 * p.a]), np.stack([p.b, 3.0 + p.a])])

    def matrix(p):
        if kind == "sparse":
            data = np.stack([p.a, p.b, 1.0 + 0.0 * p.a, 3.0 + p.a])
            return sparse.csc_array(
                (data, np.array([0, 1, 0, 1]), np.array([0, 2, 4])), shape=(2, 2)
            )
        return dense(p) if kind == "dense" else lambda x: dense(p) @ x

    agree(ds.linear_solve(matrix, lambda p: np.stack([p.b, p.a**2]), {"a": 2.0, "b": 0.5}))


def test_a_minimum_has_no_complex_steps():
    r = ds.minimize(lambda x, p: (x - p.a) ** 2, 0.0, {"a": 3.0})
    with pytest.raises(ds.SensitivityError, match=r"itself a derivative.*method='central'"):
        r.check("complex")


def test_fits_of_functions_have_complex_steps():
    t = np.arange(4.0)
    f = ds.fit(
        lambda p, t: p.a * np.exp(-p.k * t), {"a": 1.0, "k": 0.5}, [2.0, 1.1, 0.7, 0.3], x=t
    )
    agree(f.predict(x=t).result)


@pytest.mark.parametrize(
    "model",
    [
        lambda p: np.abs(p.x) * p.y,
        lambda p: np.real(p.x) ** 2 * p.y,
        lambda p: np.hypot(p.x, p.y) if np.isrealobj(p.x) else abs(p.x + 1j * p.y),
    ],
)
def test_a_model_that_is_not_analytic_is_compared_with_differences(model):
    found = ds.function(model, {"x": -2.0, "y": 3.0}).check("complex")
    assert found.ok
    assert any("not analytic" in verdict for verdict in found["verdict"])
