"""`ode` against closed forms, the Robertson reference, and the demands on its result."""

import csv
from pathlib import Path

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.errors import LostDerivativeError, MissingExtraError

from .models import ROBERTSON, chain, chain_solution, decay, robertson

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TIMES = np.array([0.5, 1.0, 2.5])


def close(value, exact, rtol=1e-5, atol=1e-7):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


# --- closed forms


def test_the_decay_of_one_state():
    r = ds.ode(decay, [2.0], {"k": 0.7}, (0.0, 3.0), t_eval=TIMES)
    close(r.y[:, 0], 2.0 * np.exp(-0.7 * TIMES))
    close(r.S[:, 0, 0], -TIMES * 2.0 * np.exp(-0.7 * TIMES))


@pytest.mark.parametrize("method", ["Radau", "BDF", "RK45", "DOP853", "LSODA"])
def test_a_chain_of_two_states_by_every_kind_of_solver(method):
    r = ds.ode(
        chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 3.0),
        t_eval=TIMES, method=method, rtol=1e-8, atol=1e-10,
    )  # fmt: skip
    y, s = chain_solution(TIMES, 1.3, 0.4)
    close(r.y, y, rtol=3e-6)
    close(r.S, s, rtol=3e-6)


def test_a_nonlinear_model_the_logistic_curve():
    """y' = r y (1 - y/K): y = K / (1 + c e^{-rt}), c = K/y0 - 1."""

    def rhs(t, y, p):
        return p["r"] * y * (1.0 - y / p["K"])

    r, K, y0 = 1.1, 5.0, 0.5
    e, c = np.exp(-r * TIMES), K / y0 - 1.0
    result = ds.ode(rhs, [y0], {"r": r, "K": K}, (0.0, 3.0), t_eval=TIMES)
    close(result.y[:, 0], K / (1 + c * e))
    close(result.column("y1", "r"), K * c * TIMES * e / (1 + c * e) ** 2)
    close(result.column("y1", "K"), 1 / (1 + c * e) - K / y0 * e / (1 + c * e) ** 2)


def test_time_in_the_right_hand_side():
    r = ds.ode(lambda t, y, p: p.w * np.cos(p.w * t) + 0 * y, [0.0], {"w": 2.0}, (0.0, 3.0),
               t_eval=TIMES)  # fmt: skip
    close(r.y[:, 0], np.sin(2.0 * TIMES))
    close(r.S[:, 0, 0], TIMES * np.cos(2.0 * TIMES), atol=1e-5)


def diffusion_by_slices(t, u, p):
    v = np.concatenate([[0.0], u, [0.0]])
    return p.q1 * (v[:-2] - 2 * v[1:-1] + v[2:]) + p.q2 * (v[2:] - v[:-2])


def diffusion_by_matrix(t, u, p):
    return (p.q1 * A1 + p.q2 * A2) @ u


def diffusion_by_loop(t, u, p):
    out = np.zeros_like(u)
    for i in range(len(u)):
        left = u[i - 1] if i else 0.0
        right = u[i + 1] if i + 1 < len(u) else 0.0
        out[i] = p.q1 * (left - 2 * u[i] + right) + p.q2 * (right - left)
    return out


A1 = np.eye(4, k=1) + np.eye(4, k=-1) - 2 * np.eye(4)
A2 = np.eye(4, k=1) - np.eye(4, k=-1)


@pytest.mark.parametrize("rhs", [diffusion_by_slices, diffusion_by_matrix, diffusion_by_loop])
def test_advection_and_diffusion_however_it_is_written(rhs):
    """u' = A u, A = q1 A1 + q2 A2: (u, du/dq) is the exponential of a block matrix."""
    from scipy.linalg import expm

    u0, q1, q2, t = np.array([0.3, 1.0, 0.7, 0.2]), 0.9, 0.2, 1.5
    r = ds.ode(rhs, u0, {"q1": q1, "q2": q2}, (0.0, t), t_eval=[t])
    for j, part in enumerate((A1, A2)):
        A = q1 * A1 + q2 * A2
        both = expm(t * np.block([[A, 0 * A], [part, A]])) @ np.concatenate([u0, 0 * u0])
        close(r.y[0], both[:4])
        close(r.S[0, :, j], both[4:])


def test_an_initial_state_that_depends_on_parameters():
    r = ds.ode(decay, lambda p: [p.start**2], {"k": 0.7, "start": 3.0}, (0.0, 3.0), t_eval=TIMES)
    e = np.exp(-0.7 * TIMES)
    close(r.column("y1", "start"), 6.0 * e)
    close(r.column("y1", "k"), -TIMES * 9.0 * e)


def test_integration_backwards_in_time():
    r = ds.ode(decay, [1.0], {"k": 0.7}, (2.0, 0.0), t_eval=[1.0, 0.0])
    close(r.y[:, 0], np.exp([0.7, 1.4]))
    close(r.S[:, 0, 0], np.array([1.0, 2.0]) * np.exp([0.7, 1.4]))


# --- traps


def test_a_parameter_that_is_zero():
    """y' = c - k y from 1 with c = 0: dy/dc = (1 - exp(-k t)) / k."""
    with pytest.warns(ds.SensitivityWarning, match="c is 0"):
        r = ds.ode(lambda t, y, p: p.c - p.k * y, [1.0], {"k": 2.0, "c": 0.0}, (0.0, 3.0),
                   t_eval=TIMES)  # fmt: skip
    close(r.column("y1", "c"), (1 - np.exp(-2.0 * TIMES)) / 2.0)
    close(r.column("y1", "k"), -TIMES * np.exp(-2.0 * TIMES))


def test_a_parameter_that_is_zero_with_a_scale_needs_no_warning():
    r = ds.ode(lambda t, y, p: p.c - y, [1.0], {"c": 0.0}, (0.0, 3.0), t_eval=TIMES,
               pscale={"c": 0.1})  # fmt: skip
    close(r.S[:, 0, 0], 1 - np.exp(-TIMES))


def test_a_state_that_starts_at_zero():
    """y' = c - k y from 0: y = c/k (1 - exp(-k t))."""
    c, k = 3.0, 2.0
    r = ds.ode(lambda t, y, p: p.c - p.k * y, [0.0], {"c": c, "k": k}, (0.0, 3.0), t_eval=TIMES)
    e = np.exp(-k * TIMES)
    close(r.column("y1", "c"), (1 - e) / k)
    close(r.column("y1", "k"), -c / k**2 * (1 - e) + c / k * TIMES * e)


def test_a_state_that_stays_zero_has_exactly_zero_sensitivities():
    r = ds.ode(decay, [0.0], {"k": 2.0}, (0.0, 3.0), t_eval=TIMES)
    assert (r.S == 0).all()


@pytest.mark.filterwarnings("ignore:parameter .unused. does not enter")
def test_an_unused_parameter_gives_exact_zeros():
    r = ds.ode(decay, [1.0], {"k": 2.0, "unused": 5.0}, (0.0, 3.0), t_eval=TIMES)
    assert (r.column("y1", "unused") == 0.0).all()


ASK = {"t_eval": [0.04, 0.4], "rtol": 1e-6, "atol": [1e-12, 1e-18, 1e-12]}


@pytest.fixture(scope="module")
def every_column():
    return ds.ode(robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 0.4), **ASK)


@pytest.mark.parametrize("wrt", [["k1"], ["k3"], ["k3", "k1"], ["k2", "k3"]])
def test_columns_do_not_depend_on_which_parameters_were_asked_for(wrt, every_column):
    some = ds.ode(robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 0.4), wrt=wrt, **ASK)
    assert some.parameters.names == tuple(wrt)
    assert some.S.shape == (2, 3, len(wrt))
    for name in wrt:
        for state in some.outputs:
            ours, theirs = some.column(state, name), every_column.column(state, name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_a_ratio_of_parameters_gives_exactly_opposite_scaled_sensitivities():
    """a and b enter as a/b alone, so a dy/da = -b dy/db, to rounding."""
    r = ds.ode(lambda t, y, p: -p.a / p.b * y, [1.0], {"a": 3.0, "b": 2.0}, (0.0, 2.0))
    np.testing.assert_allclose(r.scaled()[:, 0, 0], -r.scaled()[:, 0, 1], rtol=1e-12, atol=1e-15)


def test_a_conserved_total_is_conserved_in_every_sensitivity():
    r = ds.ode(robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 4.0), rtol=1e-4, atol=1e-10)
    np.testing.assert_allclose(r.y.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(r.scaled().sum(axis=1), 0.0, atol=1e-12)


def test_tighter_tolerances_give_better_sensitivities():
    def error(rtol):
        r = ds.ode(chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 3.0),
                   t_eval=TIMES, rtol=rtol, atol=rtol * 1e-3)  # fmt: skip
        return abs(r.S - chain_solution(TIMES, 1.3, 0.4)[1]).max()

    loose, middle, tight = map(error, (1e-4, 1e-6, 1e-8))
    assert middle < loose / 10
    assert tight < middle / 10


# --- Robertson


def reference():
    """Times, states (nt, 3) and sensitivities (nt, 3, 3) of the recomputed reference."""
    lines = (EXAMPLES / "robertson_reference.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    t = sorted({float(r["t"]) for r in rows})
    y, s = np.full((len(t), 3), np.nan), np.full((len(t), 3, 3), np.nan)
    for r in rows:
        k, i = t.index(float(r["t"])), int(r["output"][1]) - 1
        if r["parameter"]:
            s[k, i, int(r["parameter"][1]) - 1] = float(r["recomputed"])
        else:
            y[k, i] = float(r["recomputed"])
    assert np.isfinite(y).all() and np.isfinite(s).all()
    return np.array(t), y, s


@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_robertson_over_a_short_horizon(method):
    t, y, s = reference()
    r = ds.ode(robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 40.0), t_eval=t[:3], method=method,
               rtol=1e-6, atol=[1e-14, 1e-20, 1e-12])  # fmt: skip
    np.testing.assert_allclose(r.y, y[:3], rtol=3e-5)
    np.testing.assert_allclose(r.S, s[:3], rtol=3e-5)


# --- the result


def test_axes_are_time_output_parameter_and_names_find_them():
    r = ds.ode(chain, {"A": 1.0, "B": 0.0}, {"a": 1.3, "b": 0.4}, (0.0, 3.0), t_eval=TIMES)
    assert r.outputs == ("A", "B")
    assert (r.y.shape, r.S.shape) == ((3, 2), (3, 2, 2))
    np.testing.assert_array_equal(r.column("B", "a"), r.S[:, 1, 0])
    np.testing.assert_array_equal(r.column("B"), r.y[:, 1])
    np.testing.assert_array_equal(r.scaled()[:, 1, 1], 0.4 * r.S[:, 1, 1])
    with pytest.raises(ds.ParameterError, match="no output 'C'"):
        r.column("C")
    with pytest.raises(ds.ParameterError, match="no parameter 'c'"):
        r.column("A", "c")


def test_dense_output_gives_any_time():
    r = ds.ode(chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 3.0), dense_output=True, rtol=1e-8)
    t = np.linspace(0.1, 2.9, 12).reshape(3, 4)
    y, s = r.at(t)
    exact_y, exact_s = chain_solution(t.ravel(), 1.3, 0.4)
    close(y, exact_y.reshape(3, 4, 2))
    close(s, exact_s.reshape(3, 4, 2, 2))
    assert r.at(1.0)[1].shape == (2, 2)


def test_without_dense_output_asking_for_it_is_an_error():
    r = ds.ode(decay, [1.0], {"k": 1.0}, (0.0, 1.0))
    with pytest.raises(ds.SensitivityError, match="dense_output=True"):
        r.at(0.5)


def test_the_counts_of_the_solver():
    r = ds.ode(chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 3.0))
    assert r.stats["steps"] == len(r.t) - 1
    # Radau evaluates the states at three stages several times, their tangents once.
    assert r.stats["rhs"] > r.stats["tangent_rhs"] / 2 >= 3 * r.stats["steps"]
    assert r.stats["jacobians"] >= 1
    assert r.stats["factorisations"] >= 2
    assert r.settings["method"] == "Radau"
    r = ds.ode(chain, [1.0, 0.0], {"a": 1.3, "b": 0.4}, (0.0, 3.0), method="RK45")
    assert r.stats["tangent_rhs"] == 2 * r.stats["rhs"] > 0


def test_sensitivities_cost_few_more_steps_than_the_states_alone():
    """The full Jacobian at work: a block-diagonal one takes many times as many steps."""
    from scipy.integrate import solve_ivp

    p = type("P", (), ROBERTSON)
    atol = [1e-10, 1e-14, 1e-8]
    alone = solve_ivp(lambda t, y: robertson(t, y, p), (0.0, 4e3), [1.0, 0.0, 0.0],
                      method="BDF", rtol=1e-4, atol=atol)  # fmt: skip
    r = ds.ode(
        robertson, [1.0, 0.0, 0.0], ROBERTSON, (0.0, 4e3), method="BDF", rtol=1e-4, atol=atol
    )
    assert r.stats["steps"] <= 1.6 * (len(alone.t) - 1)


def test_a_solver_class_may_be_given():
    from scipy.integrate import BDF

    r = ds.ode(decay, [1.0], {"k": 1.0}, (0.0, 1.0), t_eval=[1.0], method=BDF)
    close(r.S[0, 0, 0], -np.exp(-1.0), rtol=1e-3)


# --- what is refused


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"t_span": (0.0,)}, ds.SensitivityError, "first and the last time"),
        ({"t_span": (1.0, 1.0)}, ds.SensitivityError, "two different"),
        ({"t_span": (0.0, np.inf)}, ds.SensitivityError, "finite"),
        ({"t_eval": [2.0, 1.0]}, ds.SensitivityError, "must rise from t0 to t1"),
        ({"t_eval": [1.0, 9.0]}, ds.SensitivityError, "outside of t_span"),
        ({"t_eval": []}, ds.SensitivityError, "list of times"),
        ({"wrt": ["kk"]}, ds.ParameterError, "did you mean 'k'"),
        ({"wrt": ["k", "k"]}, ds.ParameterError, "the parameter 'k' is asked for twice"),
        ({"wrt": []}, ds.ParameterError, "no parameter to differentiate by"),
        ({"states": ["a", "b"]}, ds.ModelError, "1 states"),
        ({"method": "Euler"}, ds.SensitivityError, "Radau"),
        ({"atol": [1e-9, 1e-9]}, ds.SensitivityError, "atol"),
        ({"atol": -1.0}, ds.SensitivityError, "atol"),
        ({"pscale": {"k": 0.0}}, ds.ParameterError, "positive"),
        ({"pscale": {"q": 1.0}}, ds.ParameterError, "no parameter 'q'"),
        ({"y0": [[1.0]]}, ds.ModelError, "list of states"),
        ({"y0": ["a"]}, ds.ModelError, "y0"),
        ({"y0": [np.nan]}, ds.ModelError, "y0 is not finite for y1"),
        ({"params": {"k": np.nan}}, ds.ParameterError, "must be finite"),
    ],
    ids=str,
)
def test_a_question_without_an_answer_is_refused(change, error, says):
    ask = {"y0": [1.0], "params": {"k": 1.0}, "t_span": (0.0, 3.0), **change}
    with pytest.raises(error, match=says):
        ds.ode(decay, ask.pop("y0"), ask.pop("params"), ask.pop("t_span"), **ask)


def test_a_lost_derivative_is_an_error_that_shows_the_line_of_the_model():
    def rhs(t, y, p):
        return np.array([-p.k * float(y[0])])

    with pytest.raises(ds.ModelError, match=r"float\(x\) would drop.*") as info:
        ds.ode(rhs, [1.0], {"k": 1.0}, (0.0, 1.0))
    assert "-p.k * float(y[0])" in str(info.value)
    assert isinstance(info.value.__cause__, LostDerivativeError)


def test_an_infinite_slope_is_an_error_that_says_where():
    """y' = -k sqrt(y) from 0: the Jacobian is infinite there."""

    def rhs(t, y, p):
        return -p.k * np.sqrt(y)

    with pytest.raises(ds.ModelError, match="derivative of rhs is not finite for y1 at t = 0"):
        ds.ode(rhs, [0.0], {"k": 1.0}, (0.0, 1.0))


def test_a_solution_that_ends_in_finite_time_says_how_far_it_came():
    """y' = k y**2 from 1 is infinite at t = 1/k."""
    with pytest.raises(ds.ModelError, match="gave up after") as info, np.errstate(all="ignore"):
        ds.ode(lambda t, y, p: p.k * y**2, [1.0], {"k": 2.0}, (0.0, 1.0), rtol=1e-3)
    assert abs(info.value.t - 0.5) < 1e-3
    assert info.value.y[0] > 100.0


def test_a_right_hand_side_that_becomes_nan_is_named_when_the_solver_gives_up():
    def rhs(t, y, p):
        return -p.k * y if t < 0.5 else np.nan * p.k * y

    with pytest.raises(ds.ModelError, match=r"rhs is not finite for y1 at t = 0\.5"):
        ds.ode(rhs, [1.0], {"k": 1.0}, (0.0, 1.0))


def test_without_scipy_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(MissingExtraError, match=r"scipy.*pip install dualad\[sens\]"):
        ds.ode(decay, [1.0], {"k": 1.0}, (0.0, 1.0))


@pytest.mark.parametrize("sparsity", [None, [[0, 0], [1, 0]]])
@pytest.mark.parametrize("method", ["Radau", "BDF"])
def test_a_power_without_a_second_derivative_at_the_start(method, sparsity):
    """y1 = c t from 0 and y2' = y1^n with n = 1.5, whose second derivative is infinite at 0."""

    def rhs(t, y, p):
        return np.stack([p.c + 0.0 * y[0], y[0] ** p.n])

    r = ds.ode(
        rhs, [0.0, 0.0], {"c": 2.0, "n": 1.5}, (0.0, 1.2), t_eval=[1.2], method=method,
        rtol=1e-8, atol=1e-10, jac_sparsity=sparsity,
    )  # fmt: skip
    y2 = 2.0**1.5 * 1.2**2.5 / 2.5
    exact = [[1.2, 0.0], [y2 * 1.5 / 2.0, y2 * (np.log(2.0 * 1.2) - 1 / 2.5)]]
    np.testing.assert_allclose(r.S[0], exact, rtol=1e-6, atol=1e-9)


def test_a_stepper_that_stands_still_is_stopped():
    """y = 1/(1/y0 - k t) has a pole at t = 1; LSODA creeps up to it by steps that are no steps."""
    with pytest.raises(ds.ModelError, match=r"changes t = .* no more: a singularity"):
        ds.ode(lambda t, y, p: p.k * y**2, [1.0], {"k": 1.0}, (0.0, 2.0), method="LSODA")


def test_a_failed_run_is_said_once():
    with pytest.warns(ds.SensitivityWarning) as said:
        r = ds.ode(
            lambda t, y, p: p.k * y, [1.0], {"k": 1.0}, (0.0, 2.0), max_steps=3,
            on_failure="partial",
        )  # fmt: skip
    assert not r.success
    assert len([w for w in said if "max_steps = 3" in str(w.message)]) == 1


def test_units_go_to_the_result():
    r = ds.ode(
        lambda t, y, p: -p.k * y, {"A": 1.0}, {"k": ds.Parameter(2.0, unit="1/s")}, (0.0, 1.0),
        integrals={"dose": lambda t, y, p: y[0]}, units={"A": "mol", "dose": "mol s"},
        time_unit="s",
    )  # fmt: skip
    assert (r.units("A"), r.integrals.units("dose"), r.time_unit) == ("mol", "mol s", "s")
    with pytest.raises(ds.SensitivityError, match="no state, output or integral 'B'"):
        ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 1.0), units={"B": "mol"})


def test_the_warning_of_a_parameter_that_is_0_is_of_the_caller_s_line():
    with pytest.warns(ds.SensitivityWarning, match="says nothing about its scale") as said:
        ds.ode(lambda t, y, p: p.c - y, [1.0], {"c": 0.0}, (0.0, 1.0))
    assert said[0].filename == __file__
