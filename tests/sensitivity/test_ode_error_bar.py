"""The bar of accuracy: a sensitivity's error is at most ten times that of the states.

Both are measured in the unit of y, p dy/dp and y, by the largest value over time. The states are
those of a run of their own at the same tolerances: in the joint run they are better than asked,
since the sensitivities decide its steps.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity.integration.norms import BlockNorm
from dualad.sensitivity.integration.stepper import two_estimates

from .models import ROBERTSON, chain, chain_solution, robertson
from .test_ode_tables import robertson_table


def lotka_volterra(t, y, p):
    return np.array([p.a * y[0] - p.b * y[0] * y[1], -p.c * y[1] + p.d * y[0] * y[1]])


def van_der_pol(t, y, p):
    return np.array([y[1], p.mu * (1 - y[0] ** 2) * y[1] - p.w * y[0]])


def akzo_nobel(t, y, p):
    """A chemical process at Akzo Nobel, its algebraic equation solved for the sixth unknown."""
    s = p.Ks * y[0] * y[3]
    r1, r2 = p.k1 * y[0] ** 4 * np.sqrt(y[1]), p.k2 * y[2] * y[3]
    r3, r4 = p.k2 / p.K * y[0] * y[4], p.k3 * y[0] * y[3] ** 2
    r5, inflow = p.k4 * s**2 * np.sqrt(y[1]), p.klA * (0.9 / 737.0 - y[1])
    return np.array(
        [
            -2 * r1 + r2 - r3 - r4, -0.5 * r1 - r4 - 0.5 * r5 + inflow, r1 - r2 + r3,
            -r2 + r3 - 2 * r4, r2 - r3 + r5,
        ]
    )  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A model, where it begins, its parameters, the times of the result, and atol over rtol."""

    rhs: Any
    y0: list
    params: dict
    times: np.ndarray
    atol: Any


CASES = {
    "robertson": Case(
        robertson, [1.0, 0.0, 0.0], ROBERTSON, np.array([0.4, 4.0, 40.0]),
        np.array([1e-4, 1e-10, 1e-2]),
    ),
    "lotka-volterra": Case(
        lotka_volterra, [10.0, 5.0], {"a": 1.5, "b": 1.0, "c": 3.0, "d": 1.0},
        np.linspace(1.0, 10.0, 10), 1e-2,
    ),
    "akzo": Case(
        akzo_nobel, [0.444, 0.00123, 0.0, 0.007, 0.0],
        {"k1": 18.7, "k2": 0.58, "k3": 0.09, "k4": 0.42, "K": 34.4, "klA": 3.3, "Ks": 115.83},
        np.array([5.0, 20.0, 60.0, 180.0]), 1e-4,
    ),
    "van der pol": Case(
        van_der_pol, [2.0, 0.0], {"mu": 5.0, "w": 1.0}, np.linspace(2.0, 20.0, 10), 1e-2
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def exact():
    """y and p dy/dp: of Robertson's model from the table, else by steps of 1e-40 i in p."""
    from scipy.integrate import solve_ivp

    known = {}

    def solve(case, p):
        seen = type("P", (), p)
        return solve_ivp(
            lambda t, y: case.rhs(t, y, seen), (0.0, case.times[-1]), np.array(case.y0, complex),
            method="DOP853", t_eval=case.times, rtol=3e-13, atol=1e-15, first_step=1e-4,
        ).y.T  # fmt: skip

    def of(name):
        if name == "robertson":
            _, y, s = (a[:3] for a in robertson_table("computed"))
            return y, s * np.array(list(ROBERTSON.values()))
        if name not in known:
            case = CASES[name]
            runs = [
                solve(case, {**case.params, n: v * (1 + 1e-40j)}) for n, v in case.params.items()
            ]
            known[name] = runs[0].real, np.stack([r.imag / 1e-40 for r in runs], axis=2)
        return known[name]

    return of


def size(found, true):
    return np.sqrt(np.mean(((found - true) / np.abs(true).max(axis=0)) ** 2))


def solve(case, method, rtol, **options):
    return ds.ode(
        case.rhs, case.y0, case.params, (0.0, case.times[-1]), t_eval=case.times, method=method,
        rtol=rtol, atol=rtol * case.atol, **options,
    )  # fmt: skip


RUNS = [
    ("robertson", "BDF"), ("robertson", "Radau"), ("lotka-volterra", "RK45"),
    ("lotka-volterra", "DOP853"), ("akzo", "BDF"), ("akzo", "Radau"),
]  # fmt: skip


def require_the_bar(name, method, exact, tolerances):
    case, (y, s) = CASES[name], exact(name)
    # The table of Robertson's model has seven to ten digits.
    floor = 2e-9 if name == "robertson" else 2e-12
    before = np.inf
    for rtol in tolerances:
        full = solve(case, method, rtol)
        states = solve(case, method, rtol, error_control="states")
        of_s = size(full.scaled(), s)
        assert of_s <= 10 * size(states.y, y) + floor
        assert of_s < max(before / 10, floor)
        assert full.stats["steps"] <= 1.6 * states.stats["steps"]
        before = of_s


@pytest.mark.parametrize(("name", "method"), RUNS)
def test_sensitivities_are_as_accurate_as_states_for_few_more_steps(name, method, exact):
    require_the_bar(name, method, exact, (1e-4, 1e-6, 1e-8))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method"), [*RUNS, ("van der pol", "Radau"), ("van der pol", "DOP853")]
)
def test_so_they_are_at_tighter_tolerances(name, method, exact):
    require_the_bar(name, method, exact, (1e-7, 1e-10))


def test_radau_is_as_accurate_between_steps_as_at_their_ends():
    """The polynomial of its stages alone is 300 and 200 times as far off here."""
    r = ds.ode(
        chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 6.0), rtol=1e-7, atol=1e-9,
        dense_output=True,
    )  # fmt: skip
    between = np.concatenate([r.t[1:-1] + f * np.diff(r.t)[1:] for f in (0.2, 0.4, 0.6, 0.8)])
    y, s = chain_solution(between, 1.3, 0.4)
    y_ends, s_ends = chain_solution(r.t, 1.3, 0.4)
    found, slopes = r.at(between)
    assert abs(found - y).max() < 10 * abs(r.y - y_ends).max()
    assert abs(slopes - s).max() < 10 * abs(r.S - s_ends).max()


def test_an_iteration_that_once_was_fast_is_not_trusted_to_stay_so(exact):
    """At its turns the Jacobian of van der Pol's oscillator changes a lot in a few steps."""
    _, s = exact("van der pol")
    r = solve(CASES["van der pol"], "Radau", 1e-8)
    assert size(r.scaled(), s) < 1e-9


def test_dop853_measures_each_sensitivity_by_its_own_two_estimates():
    """Its error is h e5^2 / sqrt(e5^2 + e3^2 / 100): a large e3 of another would hide e5."""
    norm = BlockNorm(1, 2, only_states=False, multistep=False)
    stepper = type("Stepper", (), {"E5": np.array([1.0, 0.0]), "E3": np.array([0.0, 1.0])})()
    e5, e3 = np.array([0.0, 1.0, 1e-3]), np.array([0.0, 1.0, 1e4])
    found = two_estimates(norm)(stepper, np.stack([e5, e3]), 0.5, np.ones(3))
    alone = 0.5 * 0.5 / np.sqrt(0.5 + 0.01 * 0.5)
    assert np.isclose(found, alone)
    assert two_estimates(norm)(stepper, np.zeros((2, 3)), 0.5, np.ones(3)) == 0.0


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF"])
def test_the_first_step_is_that_of_the_worst_parameter(method):
    def rhs(t, y, p):
        return [-p.k * y[0] + 0.0 * p.c]

    ask = {"method": method, "rtol": 1e-6, "atol": 1e-9}
    alone = ds.ode(rhs, [1.0], {"k": 2.0, "c": 1.0}, (0.0, 1.0), wrt=["k"], **ask)
    with pytest.warns(ds.SensitivityWarning, match="does not enter"):
        both = ds.ode(
            lambda t, y, p: [-p.k * y[0]], [1.0], {"k": 2.0, "c": 1.0}, (0.0, 1.0), **ask
        )
    assert np.isclose(alone.t[1], both.t[1], rtol=1e-12)
