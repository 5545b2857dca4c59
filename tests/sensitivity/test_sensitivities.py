"""A result: where its numbers are, how they are scaled, what they are summed up to."""

import math

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import Parameter, ParameterError, SensitivityError

P = {"a": Parameter(2.0, u=0.1, unit="s"), "b": Parameter(-4.0, unit="m"), "c": 0.0}


def plane():
    """Values 12, 0 and a Jacobian that is written down."""
    return ds.Sensitivities(
        [12.0, 0.0], [[6.0, -3.0, 1.0], [1.0, 2.0, 0.0]], outputs=("y", "z"),
        parameters=ds.Parameters(P), units={"y": "V"},
    )  # fmt: skip


def course():
    """y = t a, z = t^2 b at t = 1, 2, so that dy/da = t and dz/db = t^2."""
    t = np.array([1.0, 2.0])
    p = ds.Parameters({"a": 3.0, "b": 0.5})
    y = np.stack([3.0 * t, 0.5 * t**2], axis=1)
    s = np.zeros((2, 2, 2))
    s[:, 0, 0], s[:, 1, 1] = t, t**2
    return ds.TimeSensitivities(t, y, s, ("y", "z"), p, again=lambda v: y)


# --- scaling


def test_each_kind_of_scaling_is_its_formula():
    r = plane()
    J, p, y = r.jacobian, np.array([2.0, -4.0, 0.0]), np.array([[12.0], [np.nan]])
    np.testing.assert_array_equal(r.scaled("none"), J)
    np.testing.assert_array_equal(r.scaled(), J * p)
    np.testing.assert_array_equal(r.semi("p"), J * p)
    np.testing.assert_array_equal(r.semi("y"), J / y)
    np.testing.assert_array_equal(r.scaled("elasticity"), J * p / y)
    np.testing.assert_array_equal(r.scaled("u"), J * [0.1, 0.0, 0.0])


def test_an_elasticity_of_a_zero_output_is_nan_and_noted_once():
    r = plane()
    e = r.elasticity()
    np.testing.assert_allclose(e[0], [1.0, 1.0, 0.0])
    assert np.isnan(e[1]).all()
    r.elasticity()
    first, second = r.warnings
    assert first == "1 value of z is 0: its elasticity is NaN" and second.startswith("c is 0, ")


def test_an_elasticity_of_a_zero_output_can_be_an_error_or_have_a_floor():
    with pytest.raises(SensitivityError, match="elasticity of z is not defined"):
        plane().elasticity("raise")
    np.testing.assert_allclose(plane().elasticity(0.5)[1], [4.0, -16.0, 0.0])
    np.testing.assert_allclose(plane().elasticity(0.5)[0], [1.0, 1.0, 0.0])


@pytest.mark.parametrize("zero", [0.0, -1.0, "no", math.nan])
def test_a_floor_that_is_none(zero):
    with pytest.raises(SensitivityError, match="zero must be"):
        plane().elasticity(zero)


def test_a_power_law_has_its_exponents_as_elasticities():
    r = ds.function(lambda p: p.a**3 / p.b**0.5, {"a": 1.7, "b": 0.2})
    np.testing.assert_allclose(r.elasticity(), [3.0, -0.5], rtol=1e-14)


@pytest.mark.parametrize("kind", ["q", None, 3])
def test_an_unknown_kind(kind):
    with pytest.raises(SensitivityError, match="scaling must be one of none, p, y"):
        plane().scaled(kind)
    with pytest.raises(SensitivityError, match="'p' or 'y'"):
        plane().semi(kind)


# --- units and names


def test_the_unit_of_a_derivative_is_a_quotient():
    r = plane()
    assert r.units("y") == "V" and r.units("z") == ""
    assert r.units("y", "a") == "V/s" and r.units("z", "b") == "1/m" and r.units("y", "c") == "V"


def test_columns_are_found_by_name():
    assert plane().column("y") == 12.0 and plane().column("z", "b") == 2.0
    np.testing.assert_array_equal(course().column("z", "b"), [1.0, 4.0])
    with pytest.raises(ParameterError, match="no output 'q': there is y, z"):
        plane().column("q")
    with pytest.raises(ParameterError, match="no parameter 'q'"):
        plane().column("y", "q")


def test_one_time_is_a_result_of_its_own():
    r = course().last()
    np.testing.assert_array_equal(r.values, [6.0, 2.0])
    np.testing.assert_array_equal(r.jacobian, [[2.0, 0.0], [0.0, 4.0]])
    np.testing.assert_array_equal(course().time(0).values, [3.0, 0.5])
    np.testing.assert_array_equal(course().block("z").jacobian, [[0.0, 1.0], [0.0, 4.0]])
    np.testing.assert_array_equal(r.again(None), [6.0, 2.0])


@pytest.mark.parametrize(
    ("values", "jacobian", "outputs", "hessian"),
    [
        ([1.0, 2.0], np.zeros((2, 3)), ("y", "z"), None),
        ([1.0, 2.0], np.zeros((2, 1)), ("y",), None),
        ([1.0, 2.0], np.zeros((2, 1)), ("y", "z"), np.zeros((2, 2, 2))),
    ],
)
def test_shapes_that_do_not_fit_are_refused(values, jacobian, outputs, hessian):
    with pytest.raises(SensitivityError, match="shape"):
        ds.Sensitivities(values, jacobian, outputs=outputs,
                         parameters=ds.Parameters({"a": 1.0}), hessian=hessian)  # fmt: skip


def test_a_result_says_what_it_is_of():
    assert repr(plane()) == "<Sensitivities of y, z by a, b, c>"
    many = ds.function(lambda p: p.a * np.ones(20), {"a": 1.0})
    assert repr(many).endswith("... (20) by a>")


# --- the Jacobian as a map


def test_a_direction_and_a_cotangent_are_the_jacobian_from_right_and_left():
    r = plane()
    v, w = np.array([1.0, -2.0, 0.5]), np.array([3.0, 5.0])
    np.testing.assert_array_equal(r.jvp(v), r.jacobian @ v)
    np.testing.assert_array_equal(r.vjp(w), w @ r.jacobian)
    np.testing.assert_array_equal(r.jvp({"b": 2.0}), r.jacobian[:, 1] * 2.0)
    np.testing.assert_array_equal(r.vjp({"z": 1.0}), r.jacobian[1])
    assert w @ r.jvp(v) == pytest.approx(r.vjp(w) @ v)


def test_directions_and_cotangents_over_time():
    r = course()
    w = np.arange(4.0).reshape(2, 2)
    np.testing.assert_allclose(r.vjp(w), np.einsum("ti,tik->k", w, r.S))
    assert r.jvp([1.0, 1.0]).shape == (2, 2)


def test_a_direction_or_a_cotangent_of_the_wrong_length():
    with pytest.raises(SensitivityError, match=r"v has shape \(2,\).*3 parameters: a, b, c"):
        plane().jvp([1.0, 2.0])
    with pytest.raises(SensitivityError, match=r"w has shape \(3,\).*\(2,\)"):
        plane().vjp([1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="no parameter 'q'"):
        plane().jvp({"q": 1.0})
    with pytest.raises(ParameterError, match="no output 'q'"):
        plane().vjp({"q": 1.0})
    with pytest.raises(SensitivityError, match="without times"):
        course().vjp({"y": 1.0})


# --- norms and ranks


def test_norms_over_time_are_means():
    r = course()
    np.testing.assert_allclose(r.summary("l1", scaled="none"), [[1.5, 0.0], [0.0, 2.5]])
    root = [math.sqrt(2.5), math.sqrt(8.5)]
    np.testing.assert_allclose(r.summary("l2", scaled="none"), np.diag(root))
    np.testing.assert_allclose(r.summary("max", scaled="none"), [[2.0, 0.0], [0.0, 4.0]])
    np.testing.assert_allclose(r.summary("min", scaled="none"), [[1.0, 0.0], [0.0, 1.0]])
    table = r.summary(scaled="none")
    assert table.columns == ("output", "parameter", "l1", "l2", "mean", "min", "max")
    assert table.where(output="z", parameter="b")[0]["mean"] == 2.5


def test_norms_without_times_are_over_the_outputs():
    np.testing.assert_allclose(plane().summary("mean", scaled="none"), [3.5, -0.5, 0.5])
    assert plane().summary()["parameter"] == ["a", "b", "c"]


def test_undefined_elasticities_are_left_out_of_norms():
    np.testing.assert_allclose(plane().summary("l1"), [1.0, 1.0, 0.0])


def test_the_ranking_is_by_size_and_by_what_is_asked():
    r = plane()
    assert r.ranking(scaled=False)["parameter"] == ["a", "b", "c"]
    assert r.ranking("z", scaled=False)["parameter"] == ["b", "a", "c"]
    assert r.ranking("y", scaled="p")["parameter"] == ["a", "b", "c"]
    table = r.ranking(by="max", scaled=False)
    assert table["max"] == [6.0, 3.0, 1.0] and table["rank"] == [1, 2, 3]
    with pytest.raises(SensitivityError, match="'l1', 'l2' or 'max'"):
        r.ranking(by="mean")
    with pytest.raises(SensitivityError, match="norm must be one of"):
        r.summary("l3")


# --- Fisher information


def test_fisher_information_is_the_inverse_covariance_of_a_linear_fit():
    x = np.linspace(0.0, 1.0, 7)
    r = ds.function(lambda p: p.a + p.b * x, {"a": 1.0, "b": 2.0})
    A = np.stack([np.ones(7), x], axis=1)
    np.testing.assert_allclose(r.fisher(0.5), A.T @ A / 0.25, rtol=1e-14)
    sigma = np.linspace(0.5, 1.0, 7)
    np.testing.assert_allclose(r.fisher(sigma), (A.T / sigma**2) @ A, rtol=1e-14)
    C = np.diag(sigma**2) + 0.1
    np.testing.assert_allclose(r.fisher(C), A.T @ np.linalg.solve(C, A), rtol=1e-12)


def test_fisher_information_over_time_takes_one_sigma_an_output():
    r = course()
    expected = [[1 / 4 + 4 / 4, 0.0], [0.0, (1 + 16) / 9]]
    np.testing.assert_allclose(r.fisher([2.0, 3.0]), expected)


@pytest.mark.parametrize(
    ("sigma", "says"),
    [
        (0.0, "positive"),
        (-1.0, "positive"),
        (np.nan, "NaN"),
        (np.ones(5), r"shape \(5,\)"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "positive definite"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "not symmetric"),
    ],
)
def test_errors_of_observation_that_are_none(sigma, says):
    with pytest.raises(SensitivityError, match=says):
        plane().fisher(sigma)


def test_scaling_by_uncertainties_needs_one():
    r = ds.function(lambda p: p.a * p.b, {"a": 1.0, "b": ds.Parameter(2.0)})
    with pytest.raises(ds.SensitivityError, match=r"no parameter has an uncertainty.*a, b"):
        r.scaled("u")
    known = ds.function(lambda p: p.a * p.b, {"a": 1.0, "b": ds.Parameter(2.0, u=0.5)})
    assert np.array_equal(known.scaled("u"), [0.0, 0.5])


def test_a_parameter_of_value_0_is_said_to_have_no_elasticity_whatever_its_effect():
    """y = a + 5 z at z = 0: the elasticity by z is 0, and z is what matters most."""
    r = ds.function(lambda p: {"y": p.a + 5.0 * p.z}, {"a": 1.0, "z": 0.0})
    said = "z is 0, and so is p ∂y/∂p, whatever the effect: semi('y') shows it"
    assert r.elasticity().tolist() == [[1.0, 0.0]]
    assert said in r.warnings
    assert said in str(r.ranking()) and said in str(r.summary()) and said in r.table(scaled=True)
    assert said not in str(r.ranking(scaled="y")) and r.semi("y").tolist() == [[1.0, 5.0]]
    with pytest.warns(ds.SensitivityWarning, match="z does not enter the model"):
        unused = ds.function(lambda p: {"y": p.a**2}, {"a": 1.0, "z": 0.0})
    assert "z is 0" not in str(unused.ranking())
