"""Names go by name: of states, slopes, parameters and outputs, in whatever order and container."""

import dataclasses
from collections import namedtuple

import numpy as np
import pytest

import dualad
from dualad import sensitivity as ds

K = {"k": 0.5}


@dataclasses.dataclass
class Rates:
    k: float = 0.5
    m: float = 2.0


RatesTuple = namedtuple("RatesTuple", "k m")


# --- states


def test_a_step_may_name_the_states_in_another_order():
    """A loses a half each step and B gains it: 8 -> 1 in three steps, 8 -> 15."""
    step = lambda k, x, p: {"B": x[1] + p.k * x[0], "A": (1 - p.k) * x[0]}
    r = ds.simulate(step, {"A": 8.0, "B": 8.0}, K, 3)
    assert r.outputs == ("A", "B")
    np.testing.assert_allclose(r.y[-1], [1.0, 15.0])
    np.testing.assert_allclose(r.S[-1, :, 0], [-3 * 8 * 0.25, 3 * 8 * 0.25])


def test_rates_may_name_the_states_in_another_order():
    """A' = 1 - k A, B' = k A - 2 B: A = 1 / k, B = 1 / 2, with eigenvalues -k and -2."""
    rates = lambda x, p: {"B": p.k * x[0] - 2 * x[1], "A": 1.0 - p.k * x[0]}
    r = ds.steady_state(rates, {"A": 8.0, "B": 8.0}, K)
    np.testing.assert_allclose(r.values, [2.0, 0.5])
    np.testing.assert_allclose(r.jacobian[:, 0], [-4.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(np.sort(r.eigenvalues()), [-2.0, -0.5])


def test_a_map_may_name_the_unknowns_in_another_order():
    """A = 1 - k A: A = 2/3."""
    r = ds.fixed_point(
        lambda x, p: {"B": 0.5 * x[0], "A": 1 - p.k * x[0]}, {"A": 8.0, "B": 8.0}, K
    )
    np.testing.assert_allclose(r.values, [2 / 3, 1 / 3])


@pytest.mark.parametrize("options", [{}, {"compile": True}, {"mass": np.diag([2.0, 1.0])}])
def test_slopes_may_name_the_states_in_another_order(options):
    """A' = -k A (or 2 A' = -k A)."""
    rhs = lambda t, y, p: {"B": 0.0 * y[1], "A": -p.k * y[0]}
    r = ds.ode(rhs, {"A": 8.0, "B": 3.0}, K, (0.0, 1.0), t_eval=[1.0], rtol=1e-9, **options)
    rate = 0.5 if "mass" not in options else 0.25
    np.testing.assert_allclose(r.y[0], [8 * np.exp(-rate), 3.0], rtol=1e-7)
    np.testing.assert_allclose(r.elasticity()[0, :, 0], [-rate, 0.0], rtol=1e-7)
    assert r.check().ok


def test_equations_with_names_of_their_own_come_as_they_stand():
    r = ds.root(lambda x, p: {"first": x[0] - p.k, "second": x[1] - x[0]}, {"a": 0.0, "b": 0.0}, K)
    np.testing.assert_allclose(r.values, [0.5, 0.5])


@pytest.mark.parametrize(
    "left", [{"A": 1.0}, {"A": 1.0, "b": 2.0}, {"A": 1.0, "B": 2.0, "C": 3.0}]
)
def test_a_state_that_is_left_out_or_unknown(left):
    with pytest.raises(ds.ModelError, match=r"one entry for each of A, B: .*(missing|unknown)"):
        ds.simulate(lambda k, x, p: left, {"A": 1.0, "B": 1.0}, K, 2)
    with pytest.raises(ds.ModelError, match=r"one entry for each of A, B: .*(missing|unknown)"):
        ds.ode(lambda t, y, p: left, {"A": 1.0, "B": 1.0}, K, (0.0, 1.0))


def test_states_in_another_order_than_those_of_the_start():
    with pytest.raises(ds.ModelError, match="the states are B, A, but y0 has them as A, B"):
        ds.ode(lambda t, y, p: -p.k * y, {"A": 8.0, "B": 3.0}, K, (0.0, 1.0), states=["B", "A"])


# --- parameters and outputs


@pytest.mark.parametrize("given", [Rates(), RatesTuple(0.5, 2.0)], ids=["dataclass", "tuple"])
def test_parameters_with_fields(given):
    assert ds.Parameters(given).names == ("k", "m")
    r = ds.function(lambda p: p.k * p.m**2, given)
    np.testing.assert_allclose(r.jacobian, [4.0, 2.0])


def test_parameters_of_pandas():
    pd = pytest.importorskip("pandas")
    assert dict(ds.Parameters(pd.Series({"k": 0.5, "m": 2.0}))) == {"k": 0.5, "m": 2.0}


@pytest.mark.parametrize("of", [Rates, RatesTuple], ids=["dataclass", "tuple"])
def test_outputs_with_fields(of):
    r = ds.function(lambda p: of(p.k**2, 3 * p.k), K)
    assert r.outputs == ("k", "m")
    np.testing.assert_allclose(r.jacobian, [[1.0], [3.0]])


@pytest.mark.parametrize(
    "value", [{"a": 1.0}, [1.0, 2.0], np.ones(2)], ids=["dict", "list", "array"]
)
def test_a_parameter_that_is_several(value):
    with pytest.raises(ds.ParameterError, match=r"'k' must be one real number.*name of its own"):
        ds.Parameters({"k": value})


def test_what_is_no_parameters_says_what_would_be():
    with pytest.raises(ds.ParameterError, match="a mapping of names to values, a dataclass"):
        ds.Parameters([2.0])


def test_a_transformation_around_an_analysis_is_told_where_its_derivatives_are():
    with pytest.raises(ds.ParameterError, match=r"'k' is traced .*jacobian, jvp and vjp"):
        dualad.grad(lambda k: ds.function(lambda p: p.k**2, {"k": k}).values)(2.0)
