"""Sensitivities are as accurate as states, and cost what they may."""

import numpy as np
import pytest

from dualad import sensitivity as ds

from .models import ROBERTSON, chain, chain_solution, robertson
from .test_ode_tables import robertson_table

TOLERANCES = [1e-4, 1e-6, 1e-8]


def rms(error, size):
    """Of relative errors, each measured by the largest value of its column."""
    return np.sqrt(np.mean((error / np.abs(size).max(axis=0)) ** 2))


def compared(result, y, s):
    """The errors of states and of scaled sensitivities."""
    scaled = s * result.parameters.vector()
    return rms(result.y - y, y), rms(result.scaled() - scaled, scaled)


@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("method", ["BDF", "Radau"])
def test_robertson_s_sensitivities_are_as_accurate_as_its_states(method, rtol):
    t, y, s = (a[:3] for a in robertson_table("computed"))
    r = ds.ode(robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 40.0), t_eval=t, method=method,
               rtol=rtol, atol=rtol * np.array([1e-4, 1e-10, 1e-2]), compare=True)  # fmt: skip
    of_y, of_s = compared(r, y, s)
    assert of_s <= max(10 * of_y, rtol)
    assert max(r.stats["steps_ratio"], r.stats["rhs_ratio"]) <= 1.6
    assert r.stats["factorisations"] <= 1.5 * r.stats["alone"]["factorisations"]


def lotka_volterra(t, y, p):
    return np.array([p.a * y[0] - p.b * y[0] * y[1], -p.c * y[1] + p.d * y[0] * y[1]])


LV = {"a": 1.5, "b": 1.0, "c": 3.0, "d": 1.0}
LV_TIMES = np.linspace(1.0, 10.0, 10)


@pytest.fixture(scope="module")
def lotka_volterra_solution():
    """The model in complex numbers: steps of 1e-40 i in the parameters are derivatives."""
    from scipy.integrate import solve_ivp

    def solve(p):
        seen = type("P", (), p)
        return solve_ivp(
            lambda t, y: lotka_volterra(t, y, seen), (0.0, 10.0), np.array([10.0, 5.0], complex),
            method="DOP853", t_eval=LV_TIMES, rtol=1e-13, atol=1e-14, first_step=1e-3,
            max_step=0.02,
        ).y.T  # fmt: skip

    columns = [solve({**LV, name: LV[name] + 1e-40j}) for name in LV]
    return columns[0].real, np.stack([c.imag / 1e-40 for c in columns], axis=2)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_lotka_volterra_s_sensitivities_are_as_accurate_as_its_states(
    method, lotka_volterra_solution
):
    y, s = lotka_volterra_solution
    errors = []
    for rtol in TOLERANCES:
        r = ds.ode(lotka_volterra, [10.0, 5.0], LV, (0.0, 10.0), t_eval=LV_TIMES, method=method,
                   rtol=rtol, atol=rtol * 1e-2, compare=True)  # fmt: skip
        of_y, of_s = compared(r, y, s)
        assert of_s <= max(10 * of_y, 10 * rtol)
        assert max(r.stats["steps_ratio"], r.stats["rhs_ratio"]) <= 1.6
        errors.append(of_s)
    assert errors[1] < errors[0] / 10
    assert errors[2] < errors[1] / 10


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_a_hundredfold_tolerance_is_at_least_tenfold_accuracy(method):
    t = np.array([0.5, 1.0, 2.5])
    _, s = chain_solution(t, 1.3, 0.4)
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        r = ds.ode(chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 3.0), t_eval=t, method=method,
                   rtol=rtol, atol=rtol * 1e-3)  # fmt: skip
        errors.append(abs(r.S - s).max())
    assert errors[1] < errors[0] / 10
    assert errors[2] < errors[1] / 10


def test_robertson_over_all_its_time_for_few_more_steps():
    r = ds.ode(robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 4e10), method="BDF", rtol=1e-4,
               atol=[1e-8, 1e-14, 1e-6], compare=True)  # fmt: skip
    assert r.stats["steps_ratio"] <= 1.6
    assert r.stats["rhs_ratio"] <= 1.6


def brusselator(t, y, p):
    """Two fields on m cells, with fixed values at both ends."""
    m = len(y) // 2
    u, v = y[:m], y[m:]
    c = p.D * (m + 1) ** 2
    uu, vv = np.concatenate([[1.0], u, [1.0]]), np.concatenate([[3.0], v, [3.0]])
    du = p.A + u**2 * v - (p.B + 1) * u + c * (uu[:-2] - 2 * u + uu[2:])
    dv = p.B * u - u**2 * v + c * (vv[:-2] - 2 * v + vv[2:])
    return np.concatenate([du, dv])


def test_a_brusselator_of_fifty_cells_by_blocks_and_sparse():
    x = np.arange(1, 51) / 51
    y0 = np.concatenate([1 + np.sin(2 * np.pi * x), 3 * np.ones(50)])
    ask = {"method": "BDF", "rtol": 1e-5, "atol": 1e-6, "t_eval": [3.0]}
    p = {"A": 1.0, "B": 3.0, "D": 0.02}
    dense = ds.ode(brusselator, y0, p, (0.0, 3.0), **ask, compare=True)
    sparse = ds.ode(brusselator, y0, p, (0.0, 3.0), **ask, jac_sparsity="auto")
    np.testing.assert_allclose(sparse.scaled(), dense.scaled(), rtol=1e-3, atol=1e-4)
    assert dense.stats["steps_ratio"] <= 1.7
    total = [p_j * dense.S[0, :, j] for j, p_j in enumerate(p.values())]
    check = ds.ode(brusselator, y0, p, (0.0, 3.0), method="DOP853", rtol=1e-8, atol=1e-9,
                   t_eval=[3.0])  # fmt: skip
    np.testing.assert_allclose(np.array(total).T, check.scaled()[0], rtol=2e-3, atol=1e-3)
