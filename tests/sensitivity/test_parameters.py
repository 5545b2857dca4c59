"""Named parameters, and what a model sees of them."""

from fractions import Fraction

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import Parameter, ParameterError, Parameters
from dualad.sensitivity.parameters.parameters import ModelParameters


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


# --- what is known of a parameter


def two(**known):
    return Parameters({"a": Parameter(2.0, **known), "b": Parameter(3.0, u=0.5)})


def test_uncertainties_and_correlations_make_the_covariance():
    p = two(u=0.1).set_correlation("a", "b", -0.4)
    np.testing.assert_allclose(p.covariance, [[0.01, -0.02], [-0.02, 0.25]], rtol=1e-15)
    np.testing.assert_array_equal(p.correlation, [[1.0, -0.4], [-0.4, 1.0]])
    same = Parameters({"a": Parameter(2.0, u=0.1), "b": Parameter(3.0, u=0.5)},
                      correlation=[[1.0, -0.4], [-0.4, 1.0]])  # fmt: skip
    np.testing.assert_array_equal(same.covariance, p.covariance)


def test_a_covariance_gives_uncertainties_and_correlations_back():
    p = two().with_covariance([[0.04, 0.03], [0.03, 0.09]], dof=7)
    np.testing.assert_allclose(p.u, [0.2, 0.3])
    assert p.correlation[0, 1] == pytest.approx(0.5)
    np.testing.assert_allclose(p.covariance, [[0.04, 0.03], [0.03, 0.09]])
    assert list(p.dof) == [7.0, 7.0]


def test_a_variance_of_zero_is_allowed():
    p = two().with_covariance([[0.0, 0.0], [0.0, 0.09]])
    np.testing.assert_array_equal(p.covariance, [[0.0, 0.0], [0.0, 0.09]])


def test_what_is_known_stays_through_subset_replace_and_copy():
    p = two(u=0.1, unit="m", lower=0.0, upper=9.0, scale="log", dof=5, label="the first")
    p.set_correlation("a", "b", 0.3)
    for q in (p.replace(a=4.0), p.subset(["b", "a"]), Parameters(p), p.moved([4.0, 3.0])):
        assert q.parameter("a").unit == "m" and q.parameter("a").dof == 5.0
        assert q.label("a") == "the first" and q.label("b") == "b"
        assert q.correlation[0, 1] == 0.3
    assert p.replace(a=4.0)["a"] == 4.0 and p["a"] == 2.0
    lower, upper = p.bounds
    assert list(lower) == [0.0, -np.inf] and list(upper) == [9.0, np.inf]


def test_fixed_parameters_are_left_out_unless_they_are_named():
    p = Parameters({"a": Parameter(1.0, fixed=True), "b": 2.0})
    assert p.chosen().names == ("b",)
    assert p.chosen(["a"]).names == ("a",)
    with pytest.raises(ParameterError, match="no parameter to differentiate by"):
        p.chosen([])
    with pytest.raises(ParameterError, match="all are fixed"):
        p.subset("a").chosen()


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ({"u": -0.1}, r"uncertainty of parameter 'a' is -0\.1"),
        ({"u": np.nan}, "uncertainty of parameter 'a' is nan"),
        ({"u": "0.1"}, "uncertainty of parameter 'a' must be a real number"),
        ({"lower": 3.0}, r"'a' is 2\.0, outside of its bounds \[3\.0, None\]"),
        ({"upper": 1.0}, "outside of its bounds"),
        ({"lower": 3.0, "upper": 1.0}, r"bounds of parameter 'a' are crossed: 3\.0 > 1\.0"),
        ({"scale": "cubic"}, "'linear' or 'log'"),
        ({"scale": "log", "lower": -1.0}, "logarithmic scale"),
        ({"dof": 0}, "degrees of freedom of parameter 'a' must be positive"),
        ({"dof": np.nan}, "degrees of freedom"),
    ],
)
def test_what_does_not_go_together_is_refused_by_name(known, says):
    with pytest.raises(ParameterError, match=says):
        two(**known)


def test_a_value_outside_of_its_bounds_is_refused_when_it_is_changed():
    with pytest.raises(ParameterError, match="outside of its bounds"):
        two(upper=4.0).replace(a=5.0)


@pytest.mark.parametrize("r", [1.1, -2, np.nan, "x", True])
def test_a_correlation_outside_of_its_range(r):
    with pytest.raises(ParameterError, match="correlation of 'a' and 'b'"):
        two().set_correlation("a", "b", r)


def test_a_correlation_with_itself_or_with_nobody():
    with pytest.raises(ParameterError, match="with itself"):
        two().set_correlation("a", "a", 0.5)
    with pytest.raises(ParameterError, match="no parameter 'c'"):
        two().set_correlation("a", "c", 0.5)


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], r"not symmetric: 0\.5 for \(a, b\), 0\.4 for \(b, a\)"),
        ([[-1.0, 0.0], [0.0, 1.0]], "variance of 'a' is -1"),
        ([[1.0, 2.0], [2.0, 1.0]], "smallest eigenvalue .* is -1"),
        ([[0.0, 0.1], [0.1, 1.0]], "variance of 'a' is 0, so its covariance with 'b'"),
        ([[1.0, np.nan], [np.nan, 1.0]], "NaN"),
        (np.eye(3), r"shape \(2, 2\) for a, b"),
        ([[1.0, 1j], [-1j, 1.0]], "complex128"),
        ("ab", "shape"),
    ],
)
def test_a_matrix_that_is_no_covariance(matrix, says):
    with pytest.raises(ParameterError, match=says):
        two().with_covariance(matrix)


def test_correlations_that_contradict_each_other():
    p = Parameters({n: Parameter(1.0, u=1.0) for n in "abc"})
    p.set_correlation("a", "b", 0.9).set_correlation("b", "c", 0.9)
    with pytest.raises(ParameterError, match=r"eigenvalue .* is -0\.27.*contradict"):
        _ = p.covariance  # 1 - 0.9 sqrt(2) = -0.27
    p.set_correlation("a", "c", 0.8)
    assert np.linalg.eigvalsh(p.covariance).min() > 0


@pytest.mark.parametrize("matrix", [[[1, 0.5], [0.5, 2]], [[1, 1.5], [1.5, 1]], np.eye(1)])
def test_a_matrix_that_is_no_correlation(matrix):
    with pytest.raises(ParameterError, match="correlation"):
        Parameters({"a": 1.0, "b": 2.0}, correlation=matrix)


@pytest.mark.parametrize("given", [[1.0, 2.0], ["ab"], [("a", 1.0, 2.0)], 5])
def test_what_is_no_mapping_and_no_pairs(given):
    with pytest.raises((ParameterError, TypeError)):
        Parameters(given)


def test_a_model_sees_a_mapping():
    """a b^2, by every way of reading a mapping; a parameter named as a method is a parameter."""

    def product(a, b):
        return a * b**2

    p = {"a": 2.0, "b": 3.0}
    for model in (
        lambda p: product(**p),
        lambda p: product(*p.values()),
        lambda p: product(**dict(p.items())),
        lambda p: p.get("a") * p.get("b") ** 2 * p.get("c", 1.0),
        lambda p: product(*(p[name] for name in p.keys())),
    ):
        np.testing.assert_allclose(ds.function(model, p).jacobian, [9.0, 12.0])
    shadowed = ds.function(lambda p: p.items * p.values, {"items": 2.0, "values": 3.0})
    np.testing.assert_allclose(shadowed.jacobian, [3.0, 2.0])


@pytest.mark.parametrize("given", [None, 1.0, "ab"])
def test_what_is_no_mapping_of_parameters(given):
    with pytest.raises(ds.ParameterError, match="parameters are a mapping of names to values"):
        ds.Parameters(given)
