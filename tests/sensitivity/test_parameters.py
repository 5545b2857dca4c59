"""Named parameters, and what a model sees of them."""

from fractions import Fraction

import numpy as np
import pytest

from dualad.sensitivity import ParameterError, Parameters
from dualad.sensitivity.parameters import ModelParameters


def test_order_names_and_values():
    p = Parameters({"b": 2, "a": Fraction(1, 2), "c": np.float32(0.25)})
    assert p.names == tuple(p) == ("b", "a", "c")
    assert dict(p) == {"b": 2.0, "a": 0.5, "c": 0.25}
    np.testing.assert_array_equal(p.vector(), [2.0, 0.5, 0.25])
    assert all(type(v) is float for v in p.values())


def test_a_subset_keeps_the_order_in_which_it_is_named():
    p = Parameters({"a": 1.0, "b": 2.0, "c": 3.0})
    assert dict(p.subset(["c", "a"])) == {"c": 3.0, "a": 1.0}
    assert p.subset("b").names == ("b",)


def test_replacing_a_value():
    p = Parameters({"a": 1.0, "b": 2.0})
    assert dict(p.replace(b=5.0)) == {"a": 1.0, "b": 5.0}
    assert p["b"] == 2.0
    with pytest.raises(ParameterError, match="no parameter 'q'"):
        p.replace(q=1.0)


@pytest.mark.parametrize(
    "value", ["1", True, np.bool_(True), 1j, np.nan, -np.inf, None, np.ones(2), [1.0]], ids=repr
)
def test_a_value_that_is_no_finite_real_number_is_refused_by_name(value):
    with pytest.raises(ParameterError, match="'rate'"):
        Parameters({"rate": value})


def test_an_array_without_axes_is_a_number():
    assert Parameters({"a": np.array(3.0)})["a"] == 3.0


@pytest.mark.parametrize("name", [1, "", None, "__class__"])
def test_a_name_must_be_a_string(name):
    with pytest.raises(ParameterError, match="name"):
        Parameters({name: 1.0})


def test_a_name_comes_once():
    with pytest.raises(ParameterError, match="two parameters of the name 'a'"):
        Parameters([("a", 1.0), ("a", 2.0)])


def test_an_unknown_name_tells_the_nearest_one():
    with pytest.raises(ParameterError, match="did you mean 'rate1'"):
        Parameters({"rate1": 1.0, "k": 2.0}).subset(["rate"])


def test_a_model_reads_by_attribute_and_by_item():
    p = ModelParameters({"k1": 2.0, "items": 3.0})
    assert p.k1 == p["k1"] == 2.0
    assert p.items == 3.0
    assert list(p) == ["k1", "items"] and len(p) == 2


def test_what_a_model_asks_for_in_vain_is_named():
    p = ModelParameters({"k1": 2.0, "k2": 3.0})
    with pytest.raises(AttributeError, match="no parameter 'k3'"):
        _ = p.k3
    with pytest.raises(KeyError, match="no parameter 'k3'"):
        p["k3"]


def test_a_model_cannot_set_a_parameter():
    with pytest.raises(AttributeError, match="not set"):
        ModelParameters({"k": 1.0}).k = 2.0
