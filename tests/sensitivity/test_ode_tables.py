"""Published and recomputed tables of sensitivities of differential equations."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from dualad import sensitivity as ds

from .models import ROBERTSON, robertson

TABLES = Path(__file__).parent / "tables"


def rows(name):
    lines = (TABLES / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def figures(name):
    return json.loads((TABLES / name).read_text())


# --- Robertson's kinetics


def robertson_table(column):
    table = rows("robertson.csv")
    t = sorted({float(r["t"]) for r in table})
    y, s = np.full((len(t), 3), np.nan), np.full((len(t), 3, 3), np.nan)
    for r in table:
        k, i = t.index(float(r["t"])), int(r["state"][1]) - 1
        if r["parameter"]:
            s[k, i, int(r["parameter"][1]) - 1] = float(r[column])
        else:
            y[k, i] = float(r[column])
    return np.array(t), y, s


@pytest.fixture(scope="module")
def robertson_result():
    t, _, _ = robertson_table("computed")
    return ds.ode(
        robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 4e10), t_eval=t,
        rtol=1e-6, atol=[1e-15, 1e-21, 1e-13],
    )  # fmt: skip


def test_robertson_as_recomputed_at_all_twelve_times(robertson_result):
    _, y, s = robertson_table("computed")
    np.testing.assert_allclose(robertson_result.y, y, rtol=1e-6)
    np.testing.assert_allclose(robertson_result.S, s, rtol=1e-6)


@pytest.mark.parametrize("print_", ["simultaneous", "staggered"])
def test_robertson_as_printed_at_the_accuracy_of_that_run(print_, robertson_result):
    t, y, s = robertson_table(print_)
    for k, moment in enumerate(t):
        rtol = 2.5e-3 if moment < 1e8 else 2e-2 if moment < 1e10 else 2e-1
        np.testing.assert_allclose(robertson_result.y[k], y[k], rtol=rtol)
        np.testing.assert_allclose(robertson_result.S[k], s[k], rtol=rtol)


# --- advection and diffusion on ten points


DX = 2.0 / 11


def advection_diffusion(t, u, p):
    v = np.concatenate([[0.0], u, [0.0]])
    return p.q1 * (v[:-2] - 2 * v[1:-1] + v[2:]) / DX**2 + p.q2 * (v[2:] - v[:-2]) / (2 * DX)


@pytest.fixture(scope="module")
def norms():
    x = DX * np.arange(1, 11)
    r = ds.ode(
        advection_diffusion, x * (2 - x) * np.exp(2 * x), {"q1": 1.0, "q2": 0.5}, (0.0, 5.0),
        t_eval=np.linspace(0.5, 5.0, 10), method="DOP853", rtol=1e-11, atol=1e-14,
        max_step=0.025,
    )  # fmt: skip
    return {"": abs(r.y).max(axis=1)} | {
        name: abs(r.S[:, :, j]).max(axis=1) for j, name in enumerate(("q1", "q2"))
    }


def test_advection_and_diffusion_against_the_matrix_exponential(norms):
    for r in rows("advection_diffusion.csv"):
        value = norms[r["parameter"]][round(float(r["t"]) / 0.5) - 1]
        np.testing.assert_allclose(value, float(r["exact"]), rtol=1e-9)


def test_advection_and_diffusion_as_printed(norms):
    for r in rows("advection_diffusion.csv"):
        value = norms[r["parameter"]][round(float(r["t"]) / 0.5) - 1]
        np.testing.assert_allclose(float(r["printed"]), value, rtol=1e-3, atol=1e-4)


# --- gradient and Hessian of an integral


@pytest.fixture(scope="module")
def functional():
    def rhs(t, y, p):
        return np.array([-p.p1 * y[0] ** 2 - y[2], -y[1], -(p.p2**2) * y[1] * y[2]])

    return ds.ode(
        rhs, np.ones(3), {"p1": 1.0, "p2": 2.0}, (0.0, 2.0), t_eval=[2.0], order=2,
        integrals={"G": lambda t, y, p: (y[0] ** 2 + y[1] ** 2 + y[2] ** 2) / 2},
        method="DOP853", rtol=1e-9, atol=1e-11,
    )  # fmt: skip


def test_state_and_first_derivatives_of_the_integral_s_problem(functional):
    f = figures("integral_hessian.json")
    np.testing.assert_allclose(functional.y[0], np.array(f["state_T"], float), rtol=5e-5)
    for j, name in enumerate(("dstate_dp1", "dstate_dp2")):
        np.testing.assert_allclose(functional.S[0, :, j], np.array(f[name], float), atol=1e-5)


def test_an_integral_with_gradient_and_hessian(functional):
    f = figures("integral_hessian.json")
    g = functional.integrals
    np.testing.assert_allclose(g.values, float(f["G"]), rtol=2e-5)
    np.testing.assert_allclose(g.jacobian[0], np.array(f["dG_dp_forward"], float), rtol=5e-5)
    np.testing.assert_allclose(g.hessian[0], np.array(f["hessian"], float), rtol=5e-5)
    np.testing.assert_array_equal(g.hessian[0], g.hessian[0].T)


# --- two linear time courses


COURSES = {
    "simple_flux": (
        lambda t, y, p: [-p.kf * y[0] + p.kb * y[1], p.kf * y[0] - p.kb * y[1]],
        [10.0, 1.0],
        {"kf": 0.1, "kb": 0.01},
        2e-2,
    ),
    "open_linear_flux": (
        lambda t, y, p: [p.kin - p.kf * y[0], p.kf * y[0] - p.kout * y[1]],
        [0.0, 0.0],
        {"kin": 1.0, "kf": 0.1, "kout": 0.2, "kb": 0.01},
        1.5e-3,
    ),
}


@pytest.mark.filterwarnings("ignore:parameter 'kb' does not enter")
@pytest.mark.parametrize("name", COURSES)
def test_linear_time_courses(name):
    rhs, y0, params, printed = COURSES[name]
    r = ds.ode(rhs, y0, params, (0.0, 10.0), t_eval=[5.0, 10.0], rtol=1e-9, atol=1e-11,
               method="DOP853")  # fmt: skip
    f = figures("time_courses.json")
    for k, t in enumerate(("5", "10")):
        for j, parameter in enumerate(params):
            exact = f["exact"][name][t][parameter]
            np.testing.assert_allclose(r.S[k, :, j], exact, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(
                f["printed"][name][t][parameter], r.S[k, :, j], rtol=printed, atol=4e-5
            )


# --- a jump at an event, three times


def test_events_that_add_to_the_state_in_closed_form():
    f = figures("additive_jump.json")
    rtol = 1e-7
    event = ds.Event(
        lambda t, x, p: x[0] - p.xc, lambda t, x, p: x + p.v, direction=-1, name="refill"
    )
    r = ds.ode(
        lambda t, x, p: -p.k * x**2 * t, lambda p: [p.x0],
        {"x0": 1.0, "k": 0.1, "v": 0.5, "xc": 0.4}, (0.0, 9.5), t_eval=[2.0, 5.0, 6.0, 8.0],
        events=event, method="DOP853", rtol=rtol, atol=1e-10,
    )  # fmt: skip
    times = np.array(f["event_times"], float)
    moves = np.array(f["d_event_time"]["values"], float)
    np.testing.assert_allclose(r.events["refill"].times, times, rtol=100 * rtol)
    np.testing.assert_allclose(r.events["refill"].dt, moves, rtol=100 * rtol, atol=1e-9)
    for k, t in enumerate(("2", "5", "6", "8")):
        np.testing.assert_allclose(r.y[k, 0], float(f["states"][t]), rtol=100 * rtol)
        exact = np.array(f["d_state"][t], float)
        np.testing.assert_allclose(r.S[k, 0], exact, rtol=100 * rtol, atol=1e-9)
