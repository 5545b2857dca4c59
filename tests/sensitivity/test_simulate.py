"""Discrete-time models against their closed forms."""

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import ModelError, SensitivityError


def test_a_geometric_sequence():
    """x_k = a^k x_0: dx_k/da = k a^(k-1) x_0."""
    r = ds.simulate(lambda k, x, p: p.a * x, [2.0], {"a": 0.9}, 50)
    k = np.arange(51)
    np.testing.assert_array_equal(r.t, k)
    np.testing.assert_allclose(r.y[:, 0], 2 * 0.9**k, rtol=1e-13)
    np.testing.assert_allclose(r.S[:, 0, 0], 2 * k * 0.9 ** (k - 1.0), rtol=1e-12)
    assert r.check().ok


def test_a_start_that_depends_on_parameters_and_states_with_names():
    """A linear map M: x_n = M^n x_0, differentiated by its start and by an entry."""

    def step(k, x, p):
        return {"u": p.a * x[0] + x[1], "v": 0.5 * x[1]}

    r = ds.simulate(step, lambda p: {"u": p.s, "v": 1.0}, {"a": 0.7, "s": 3.0}, 8)
    assert r.outputs == ("u", "v")
    M, n = np.array([[0.7, 1.0], [0.0, 0.5]]), 8
    power = np.linalg.matrix_power
    np.testing.assert_allclose(r.y[n], power(M, n) @ [3.0, 1.0], rtol=1e-13)
    np.testing.assert_allclose(r.S[n, :, 1], power(M, n)[:, 0], rtol=1e-13)
    dM = np.array([[1.0, 0.0], [0.0, 0.0]])
    by_a = sum(power(M, i) @ dM @ power(M, n - 1 - i) for i in range(n)) @ [3.0, 1.0]
    np.testing.assert_allclose(r.S[n, :, 0], by_a, rtol=1e-13)


def test_inputs_as_a_table_or_drawn_once():
    """x_n = x_0 + b sum u_k."""
    u = np.array([0.3, -1.0, 2.0, 5.0])
    r = ds.simulate(lambda k, x, p, u_k: x + p.b * u_k, [0.0], {"b": 2.0}, 4, inputs=u)
    np.testing.assert_allclose(r.S[:, 0, 0], [0.0, *np.cumsum(u)], rtol=1e-14)

    def noisy(seed):
        return ds.simulate(
            lambda k, x, p, w: x + p.s * w, [0.0], {"s": 0.1}, 5, seed=seed,
            inputs=lambda k, rng: rng.normal(),
        )  # fmt: skip

    w = np.random.default_rng(7).normal(size=5)
    np.testing.assert_allclose(noisy(7).S[:, 0, 0], [0.0, *np.cumsum(w)])
    np.testing.assert_array_equal(noisy(7).y, noisy(7).y)
    assert (noisy(7).y != noisy(8).y).any()


def test_outputs_every_few_steps_and_what_is_carried():
    """A delay of one step: x_{k+1} = a x_k + c_k, c_{k+1} = x_k is Fibonacci's for a = 1."""
    r = ds.simulate(
        lambda k, x, p, c: (p.a * x + c, x), [1.0], {"a": 1.0}, 10, carry=np.zeros(1), every=2,
        outputs={"square": lambda k, x, p: p.a * x[0] ** 2},
    )  # fmt: skip
    fibonacci = np.array([1.0, 2.0, 5.0, 13.0, 34.0, 89.0])
    np.testing.assert_array_equal(r.t, [0, 2, 4, 6, 8, 10])
    np.testing.assert_array_equal(r.y[:, 0], fibonacci**2)
    assert r.outputs == ("square",) and r.check().ok


def test_a_subset_of_parameters_has_the_same_columns():
    def step(k, x, p):
        return p.r * x * (1 - x / p.K)

    whole = ds.simulate(step, [0.1], {"r": 2.5, "K": 1.3}, 20)
    part = ds.simulate(step, [0.1], {"r": 2.5, "K": 1.3}, 20, wrt=["K"])
    np.testing.assert_array_equal(part.S[:, :, 0], whole.S[:, :, 1])


@pytest.mark.parametrize(
    ("step", "x0", "says"),
    [
        (lambda k, x, p: x * p.a, [1, 2], "x0 is of integers"),
        (lambda k, x, p: np.array([3, 4]), [1.0, 2.0], "at step 0 is of integers"),
        (lambda k, x, p: x[:1] * p.a, [1.0, 2.0], r"shape \(1,\), the state before \(2,\)"),
        (lambda k, x: x, [1.0], "it is given 3 arguments: k, x, p"),
        (lambda k, x, p: x * p.q, [1.0], "no parameter 'q'"),
        (lambda k, x, p: x * float(p.a), [1.0], "would drop the derivative"),
        (lambda k, x, p: x * np.inf, [1.0], "not finite"),
        (lambda k, x, p: np.sqrt(p.a - 2.0) * x, [1.0], "derivative of x1 by a is not finite"),
        (lambda k, x, p: None, [1.0], "no list of numbers"),
        (lambda k, x, p: x * p.a * np.random.default_rng().normal(), [1.0], "two results"),
        (lambda k, x, p: x * p.a, [[1.0]], "list of floats"),
        (lambda k, x, p: x * p.a, [1j], "list of floats"),
        (lambda k, x, p: x * p.a, [], "list of floats"),
    ],
)
def test_a_bad_step_is_an_error_that_says_why(step, x0, says):
    with pytest.raises(ModelError, match=says), np.errstate(all="ignore"):
        ds.simulate(step, x0, {"a": 2.0}, 2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n": 0}, "n must be a positive integer"),
        ({"n": 2.0}, "n must be a positive integer"),
        ({"n": 3, "every": 0}, "every must be"),
        ({"n": 3, "inputs": [1.0]}, "1 rows of inputs for 3 steps"),
        ({"n": 3, "states": ["u", "v"]}, "1 states"),
        ({"n": 3, "wrt": ["q"]}, "no parameter 'q'"),
        ({"n": 3, "carry": 0.0}, "must return .state, carry."),
        ({"n": 3, "outputs": {"z": lambda k, x, p: x}}, "output 'z' must be a number"),
    ],
)
def test_bad_questions(options, says):
    def step(k, x, p, *more):
        return p.a * x

    with pytest.raises(SensitivityError, match=says):
        ds.simulate(step, [1.0], {"a": 2.0}, **options)


def test_a_parameter_without_effect_has_zeros_and_a_warning():
    with pytest.warns(ds.SensitivityWarning, match="unused does not enter the model"):
        r = ds.simulate(lambda k, x, p: p.a * x, [1.0], {"a": 0.5, "unused": 1.0}, 3)
    assert (r.column("x1", "unused") == 0.0).all() and r.warnings


def test_a_simulation_is_checked_by_complex_steps():
    """The logistic map: x_k depends on r and x_0 by a polynomial."""
    r = ds.simulate(lambda k, x, p: p.r * x * (1 - x), lambda p: [p.x0], {"r": 3.2, "x0": 0.4}, 12)
    check = r.check(method="complex", rtol=1e-10)
    assert check.ok
    assert not any("below" in row["verdict"] for row in check)
    with pytest.raises(ModelError, match="must be a list of floats"):
        ds.simulate(lambda k, x, p: p.r * x, [1.0 + 0.0j], {"r": 1.0}, 2)
