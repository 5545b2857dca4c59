"""Sets of parameters: their ranges, their moments, their strata."""

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import Parameter, ParameterError, SensitivityError
from dualad.sensitivity.functions.sampling import as_sets

P = {
    "k": Parameter(1.0, lower=0.5, upper=2.0),
    "D": Parameter(1e-9, lower=1e-12, upper=1e-6, scale="log"),
    "m": Parameter(3.0, u=0.1),
    "R": Parameter(8.314, fixed=True),
}


@pytest.mark.parametrize("method", ["lhs", "sobol"])
def test_each_stratum_is_hit_once(method):
    n = 64
    sets = ds.sample(P, n, method, seed=1)
    assert sets.names == ("k", "D", "m", "R") and len(sets) == n
    k = (sets.column("k") - 0.5) / 1.5
    log = (np.log10(sets.column("D")) + 12) / 6
    for unit in (k, log):
        assert sorted(np.floor(unit * n).astype(int)) == list(range(n))
    assert (sets.column("R") == 8.314).all()
    assert sets.column("m").mean() == pytest.approx(3.0, abs=0.01)
    assert sets.column("m").std() == pytest.approx(0.1, rel=0.1)


def test_draws_have_mean_and_covariance():
    p = ds.Parameters({"a": Parameter(1.0, u=0.1), "b": Parameter(2.0, u=0.5)})
    p.set_correlation("a", "b", -0.7)
    x = ds.sample(p, 100_000, "normal", seed=2).values
    np.testing.assert_allclose(x.mean(axis=0), [1.0, 2.0], atol=0.01)
    np.testing.assert_allclose(np.cov(x.T), p.covariance, rtol=0.02)


def test_a_logarithmic_scale_is_drawn_log_normally():
    p = {"D": Parameter(1e-9, u=5e-10, scale="log")}
    x = ds.sample(p, 50_000, "normal", seed=3).values
    assert (x > 0).all()
    assert np.log(x).mean() == pytest.approx(np.log(1e-9), abs=0.02)
    assert np.log(x).std() == pytest.approx(0.5, rel=0.02)


def test_draws_stay_within_the_bounds():
    p = {"a": Parameter(0.0, u=1.0, lower=-0.1, upper=3.0)}
    x = ds.sample(p, 1000, "normal", seed=4).values
    assert x.min() >= -0.1 and x.max() <= 3.0 and len(x) == 1000


def test_a_seed_gives_the_same_sets():
    for method in ("lhs", "sobol"):
        a, b = (ds.sample(P, 5, method, seed=7).values for _ in range(2))
        np.testing.assert_array_equal(a, b)
    assert len(ds.sample(P, 1, "sobol")) == 1


@pytest.mark.parametrize(
    ("params", "n", "method", "says"),
    [
        ({"a": 1.0}, 3, "lhs", "'a' has neither bounds nor an uncertainty"),
        ({"a": 1.0}, 3, "normal", "no uncertainty to draw from for a"),
        (P, 0, "lhs", "positive integer"),
        (P, 2.5, "lhs", "positive integer"),
        (P, True, "lhs", "positive integer"),
        (P, 3, "grid", "method must be one of"),
        ({"a": Parameter(1.0, lower=0.0, upper=2.0, scale="log")}, 3, "lhs", "lower bound"),
        ({"a": Parameter(0.0, u=1.0, lower=0.0, upper=1e-9)}, 9999, "normal", "hardly any draw"),
        ({"a": Parameter(1.0, fixed=True)}, 3, "lhs", "all are fixed"),
    ],
)
def test_what_cannot_be_sampled(params, n, method, says):
    with pytest.raises(SensitivityError, match=says):
        ds.sample(params, n, method)


def test_sets_come_in_many_forms():
    pd = pytest.importorskip("pandas")
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    for given in (
        values,
        values.tolist(),
        [{"a": 1.0, "b": 2.0}, {"b": 4.0, "a": 3.0}],
        {"a": [1.0, 3.0], "b": [2.0, 4.0]},
        pd.DataFrame(values, columns=["a", "b"]),
        ds.ParameterSets(["a", "b"], values),
    ):
        sets = as_sets(given, ("a", "b"))
        np.testing.assert_array_equal(sets.values, values)
        assert sets[1] == {"a": 3.0, "b": 4.0}
    np.testing.assert_array_equal(sets.to_dataframe()["b"], [2.0, 4.0])
    assert list(sets) == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]


def test_sets_that_are_none():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ParameterError, match="two columns of the name 'a'"):
        as_sets(pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), ())
    with pytest.raises(ParameterError, match="one column for each of a, b"):
        as_sets(np.ones((3, 3)), ("a", "b"))
    with pytest.raises(ParameterError, match="set 1 and set 0 do not name the same"):
        as_sets([{"a": 1.0}, {"b": 1.0}], ())
    with pytest.raises(ParameterError, match="real numbers"):
        as_sets(pd.DataFrame({"a": ["x", "y"]}), ())
    with pytest.raises(ParameterError, match="no parameter 'q'"):
        ds.ParameterSets(["a"], [[1.0]]).column("q")


def test_some_of_the_sets():
    sets = ds.sample({"a": ds.Parameter(1.0, lower=0.0, upper=2.0)}, 4)
    assert len(sets[:3]) == 3 and sets[:3][1] == sets[1]
