"""What `ode` is asked wrongly, or a model does wrong: an error that names it, and the remedy."""

import math

import numpy as np
import pytest

from dualad import sensitivity as ds

from .models import chain, decay


def refused(error, says, rhs=decay, y0=(1.0,), params=None, span=(0.0, 3.0), **options):
    y0 = y0 if callable(y0) or isinstance(y0, dict) else list(y0)
    with pytest.raises(error, match=says) as info:
        ds.ode(rhs, y0, params or {"k": 2.0}, span, **options)
    return info.value


# --- names and parameters


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"wrt": ["kk"]}, ds.ParameterError, "no parameter 'kk'.*did you mean 'k'"),
        ({"wrt": ["k", "k"]}, ds.ParameterError, "the parameter 'k' is asked for twice"),
        ({"wrt": []}, ds.ParameterError, "no parameter to differentiate by"),
        ({"outputs": ["y2"]}, ds.SensitivityError, "no output 'y2': there is y1"),
        ({"outputs": ["y1", "y1"]}, ds.SensitivityError, "'y1' is asked for twice"),
        ({"outputs": []}, ds.SensitivityError, "outputs is empty"),
        (
            {"outputs": chain},
            ds.SensitivityError,
            "got a function: {'name': chain} gives it a name",
        ),
        ({"outputs": {"y1": chain}}, ds.SensitivityError, "the name 'y1' of outputs is taken"),
        ({"outputs": {"g": 1.0}}, ds.SensitivityError, r"outputs\['g'\] must be a function"),
        ({"integrals": {"y1": chain}}, ds.SensitivityError, "'y1' of integrals is taken"),
        ({"integrals": [chain]}, ds.SensitivityError, "integrals must be a mapping"),
        ({"params": {"k": float("nan")}}, ds.ParameterError, "'k'.*finite"),
        ({"params": {"k": float("inf")}}, ds.ParameterError, "'k'.*finite"),
        ({"params": {"k": 1j}}, ds.ParameterError, "'k' must be a real number"),
        ({"params": {"k": "1"}}, ds.ParameterError, "'k' must be a real number"),
        ({"params": {"k": True}}, ds.ParameterError, "'k' must be a real number"),
        ({"params": {"k": np.array([1, 2])}}, ds.ParameterError, "'k' must be one real number"),
        ({"params": {"k": ds.Parameter(1.0, upper=0.5)}}, ds.ParameterError, "outside of its"),
        ({"params": {"k": ds.Parameter(1, lower=3, upper=0)}}, ds.ParameterError, "crossed"),
        ({"params": {"k": ds.Parameter(1.0, fixed=True)}}, ds.ParameterError, "all are fixed"),
    ],
)
def test_names_and_parameters(options, error, says):
    refused(error, says, **options)


# --- tolerances and choices


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rtol": 1e-15}, "rtol is 1e-15.*at least 2.2e-14"),
        ({"rtol": 0.0}, "rtol is 0"),
        ({"rtol": "tight"}, "rtol must be a number"),
        ({"atol": 0.0, "y0": [0.0]}, "atol is 0 for y1, which begins at 0"),
        ({"atol": 0.0}, "atol is 0 for y1, but its sensitivities may be 0: give sens_atol"),
        ({"atol": {"y2": 1.0}}, "no state or integral 'y2'"),
        ({"atol": {}}, "atol names no tolerance for y1"),
        ({"sens_rtol": 1e-16}, "sens_rtol of k is 1e-16"),
        ({"sens_atol": 0.0}, "sens_atol of k must be positive"),
        ({"sens_atol": {"q": 1.0}}, "no parameter 'q'"),
        ({"error_control": "none"}, "error_control must be 'full' or 'states'"),
        ({"on_failure": "ignore"}, "on_failure must be 'raise' or 'partial'"),
        ({"order": 3}, "order must be 1 or 2"),
        ({"corrector": "sequential"}, "corrector must be"),
        ({"corrector": "sequential", "method": "RK45"}, "corrector must be"),
        ({"corrector": "staggered", "method": "RK45"}, "not go with RK45"),
        ({"corrector": "staggered", "method": "LSODA"}, "for Radau and BDF.*not go with LSODA"),
        ({"corrector": "staggered", "jac": None}, "not go with jac=None"),
        ({"jac": "fd"}, "jac must be 'ad'"),
        ({"jac_sparsity": "found"}, "jac_sparsity must be a matrix or 'auto'"),
        ({"jac_sparsity": np.eye(2)}, r"jac_sparsity has shape \(2, 2\); there are 1 states"),
        ({"jac_sparsity": np.eye(1), "jac": None}, "jac_sparsity goes with jac='ad'"),
        ({"max_step": 0.0}, "max_step must be positive"),
        ({"mass": [[np.nan]]}, "mass is not finite"),
        ({"mass": "a"}, "mass is no matrix of numbers"),
        ({"mass": lambda p: None}, "mass: the mass matrix is of type"),
        ({"mass": lambda p: p.q}, "mass.*there is no parameter 'q'"),
        ({"first_step": -1.0}, "first_step must be positive"),
        ({"first_step": 3.5}, "first_step is 3.5, longer than t_span, 3"),
        ({"max_step": "short"}, "max_step must be positive, got 'short'"),
        ({"max_steps": 0}, "max_steps must be positive"),
        (
            {"t_eval": [2.0, 1.0]},
            r"rise from t0 to t1, but 2 is followed by 1: np.sort\(t_eval\)$",
        ),
        ({"t_eval": [1.0, 2.0], "span": (3.0, 0.0)}, r"must fall.*np.sort\(t_eval\)\[::-1\]"),
        ({"t_eval": 2.0}, r"t_eval must be a list of times, .*: \[2\]"),
        ({"mass": [1.0, 2.0]}, r"mass has shape \(2,\); there are 1 states"),
    ],
)
def test_tolerances_and_choices(options, says):
    refused(ds.SensitivityError, says, **options)


def test_atol_zero_goes_with_a_sens_atol():
    r = ds.ode(decay, [1.0], {"k": 2.0}, (0.0, 1.0), t_eval=[1.0], atol=0.0, sens_atol=1e-9)
    np.testing.assert_allclose(r.S[0, 0, 0], -np.exp(-2.0), rtol=1e-5)


# --- a right-hand side that is wrong at the start


@pytest.mark.parametrize(
    ("rhs", "says"),
    [
        (lambda t, y, p: None, "returned None: is a return statement missing"),
        (lambda t, y, p: np.array([1, 0]), r"returned integers \(int64\) at t = 0"),
        (lambda t, y, p: np.array([p.k * y[0]], dtype=object) * "a", "at t = 0"),
        (lambda t, y, p: y[:1], r"returned shape \(1,\) at t = 0; there are 2 states \(y1, y2\)"),
        (lambda t, y, p: 1j * y, "returned complex128 at t = 0"),
        (lambda t, y, p: y / 0.0, "not finite for y1, y2 at t = 0; state: y1 = 1, y2 = 2"),
        (lambda t, y, p: p.q * y, "no parameter 'q'"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_right_hand_side_that_is_wrong_at_the_start(rhs, says):
    refused(ds.ModelError, says, rhs=rhs, y0=(1.0, 2.0))


def test_an_array_of_integers_that_cuts_off_what_is_stored():
    def rhs(t, y, p):
        out = np.zeros(2, int)
        out[0] = 0.7
        return out

    refused(ds.ModelError, "cuts off what is stored.*zeros_like", rhs=rhs, y0=(1.0, 2.0))


# --- a right-hand side that drops derivatives


def by_float(t, y, p):
    return [-p.k * float(y[0])]


def by_math(t, y, p):
    return [-math.sin(p.k * y[0])]


def by_asarray(t, y, p):
    return -p.k * np.asarray(y, dtype=float)


def by_store(t, y, p):
    out = np.empty(1)
    out[0] = -p.k * y[0]
    return out


def by_item(t, y, p):
    return [-np.float64(p.k) * y[0]]


def by_int(t, y, p):
    return [-p.k * int(y[0]) + y[0]]


@pytest.mark.parametrize(
    ("rhs", "line"),
    [
        (by_float, "return [-p.k * float(y[0])]"),
        (by_math, "return [-math.sin(p.k * y[0])]"),
        (by_asarray, "return -p.k * np.asarray(y, dtype=float)"),
        (by_store, "out[0] = -p.k * y[0]"),
        (by_item, "return [-np.float64(p.k) * y[0]]"),
        (by_int, "return [-p.k * int(y[0]) + y[0]]"),
    ],
)
def test_a_dropped_derivative_is_an_error_with_the_line_of_the_model(rhs, line):
    error = refused(ds.ModelError, "would drop the derivative", rhs=rhs)
    assert line in str(error)
    assert f"of {__file__}" in str(error)
    assert rhs.__name__ in str(error)


def test_a_start_that_goes_wrong():
    refused(ds.ModelError, r"y0 \(line \d+ .*float.*would drop", y0=lambda p: [float(p.k)])
    refused(ds.ModelError, r"y0 \(line .*no parameter 'q'", y0=lambda p: [p.q])
    refused(ds.ModelError, r"y0 is not finite for y1", y0=lambda p: [p.k * np.inf])
    refused(ds.ModelError, r"the derivative of y0 by a is not finite for y1 at t = 0",
            y0=lambda p: [np.sqrt(p.a)], params={"k": 1.0, "a": 0.0},
            pscale={"a": 1.0})  # fmt: skip


def test_a_dropped_derivative_in_an_output_or_an_integrand():
    for where in ("outputs", "integrals"):
        says = r"g at t = 0 \(line \d+.*float\(y\[0\]\)"
        refused(ds.ModelError, says, **{where: {"g": lambda t, y, p: float(y[0])}})


def test_a_parameter_that_does_not_enter_is_said():
    with pytest.warns(ds.SensitivityWarning, match="parameter 'q' does not enter the model") as w:
        ds.ode(decay, [1.0], {"k": 1.0, "q": 2.0}, (0.0, 1.0))
    assert len(w) == 1


def test_a_parameter_that_enters_to_no_effect_is_not():
    r = ds.ode(decay, [0.0], {"k": 1.0}, (0.0, 1.0))
    assert (r.S == 0).all() and r.warnings == []


@pytest.mark.parametrize(
    "options",
    [
        {"y0": lambda p: [p.q]},
        {"outputs": {"g": lambda t, y, p: p.q * y[0]}},
        {"integrals": {"g": lambda t, y, p: p.q * y[0]}},
        {"t_eval": [ds.Time("q")]},
        {"events": ds.Event(lambda t, y, p: y[0] - p.q)},
    ],
)
def test_a_parameter_may_enter_by_another_way(options):
    y0 = options.pop("y0", [1.0])
    r = ds.ode(decay, y0, {"k": 1.0, "q": 0.5}, (0.0, 1.0), **options)
    assert r.warnings == []


# --- what goes wrong on the way


def test_a_right_hand_side_that_raises_on_the_way_has_the_last_good_point():
    def rhs(t, y, p):
        if t > 0.5:
            raise RuntimeError("out of fuel")
        return -p.k * y

    error = refused(ds.ModelError, r"rhs at t = 0\..*raise RuntimeError.*out of fuel", rhs=rhs)
    assert 0.0 < error.t <= 0.5
    np.testing.assert_allclose(error.y, np.exp(-2.0 * error.t), rtol=1e-4)


def test_and_what_there_was_can_be_had():
    def rhs(t, y, p):
        if t > 0.5:
            raise RuntimeError("out of fuel")
        return -p.k * y

    with pytest.warns(ds.SensitivityWarning, match="out of fuel"):
        r = ds.ode(rhs, [1.0], {"k": 2.0}, (0.0, 1.0), on_failure="partial")
    assert not r.success and 0.0 < r.t[-1] <= 0.5


@pytest.mark.parametrize("method", ["RK45", "Radau", "BDF"])
def test_a_right_hand_side_that_becomes_nan(method):
    def rhs(t, y, p):
        return -p.k * y if t < 0.5 else np.nan * p.k * y

    error = refused(
        ds.ModelError, r"gave up after .* steps at t = 0\.[45].*rhs is not finite for y1 at t = "
        r"0\.5.*parameters: k = 2", rhs=rhs, method=method,
    )  # fmt: skip
    assert error.t <= 0.5


def test_an_output_that_is_not_finite():
    with np.errstate(all="ignore"):
        refused(
            ds.ModelError, r"the output is not finite for g at t = 0; state: y1 = 1",
            outputs={"g": lambda t, y, p: np.log(t) * p.k}, t_eval=[0.0, 1.0],
        )  # fmt: skip


def test_an_output_of_another_shape():
    says = r"g returned shape \(2,\) at t = 0; it must be one number"
    refused(ds.ModelError, says, rhs=chain, params={"a": 1.0, "b": 2.0}, y0=(1.0, 0.0),
            outputs={"g": lambda t, y, p: y})  # fmt: skip


def test_names_of_states_are_strings():
    with pytest.raises(ds.ModelError, match="name of a state must be a string, got 1"):
        ds.ode(lambda t, y, p: [-p.k * y[0]], {1: 1.0}, {"k": 1.0}, (0.0, 1.0))


@pytest.mark.parametrize(
    "rhs",
    [
        lambda t, y: -y,
        lambda t, y, p: -p.k * y["A"],
        lambda t, y, p: -p.k * y.A,
        lambda y, t, p: [-p.k * y[0]],
    ],
    ids=["two arguments", "by name", "by attribute", "in another order"],
)
def test_a_right_hand_side_that_expects_other_arguments_is_told_which_it_gets(rhs):
    refused(
        ds.ModelError, r"called with \(t, y, p\), y an array, in the order of the states", rhs,
        {"A": 1.0},
    )  # fmt: skip


def test_an_index_beyond_the_states_is_no_matter_of_the_arguments():
    error = refused(ds.ModelError, "IndexError: index 3", lambda t, y, p: [p.k * y[3]])
    assert "called with" not in str(error)
