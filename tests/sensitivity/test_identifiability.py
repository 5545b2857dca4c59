"""Which parameters can be told apart, and in which combinations the others enter."""

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import NotIdentifiableError, ParameterError, SensitivityError

X = np.linspace(1.0, 5.0, 9)


def asked(model, **params):
    return ds.function(model, params).identifiability()


@pytest.mark.filterwarnings("ignore:unused does not enter")
def test_a_ratio_a_curvature_and_a_parameter_without_effect():
    """cons and D enter as their ratio, one shape beside it is determined."""
    found = asked(
        lambda p: p.cons / p.D * X + p.c * X**2 + 0 * p.unused, cons=2.0, D=3.0, c=0.7, unused=1.0
    )
    assert found.rank == 2 and not found.identifiable
    assert found.determined == ("c",) and found.absent == ("unused",)
    assert found.undetermined == ("cons", "D", "unused")
    (lost,) = found.null_directions
    assert lost.parameters == ("cons", "D") and lost.text == "cons and D enter as cons/D"
    assert lost.holds == "everywhere"
    np.testing.assert_allclose(lost.relative, [1.0, 1.0], rtol=1e-9)
    np.testing.assert_allclose(lost.change / lost.change[0], [1.0, 1.5], rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "params", "says"),
    [
        (lambda p: (p.a + p.b) * X, {"a": 2.0, "b": 3.0}, "a and b enter as a + b"),
        (lambda p: (p.a - 2 * p.b) * X, {"a": 2.0, "b": 3.0}, "a and b enter as a - 2*b"),
        (lambda p: p.a * p.b * X, {"a": 2.0, "b": 3.0}, "a and b enter as a*b"),
        (lambda p: p.a**2 / p.b * X, {"a": 2.0, "b": 3.0}, "a and b enter as a**2/b"),
        (lambda p: np.exp(-p.a * p.b * X), {"a": 0.5, "b": 0.5}, "a and b enter as a*b"),
        (lambda p: np.exp(-(p.a + p.b) * X), {"a": 0.5, "b": 0.5}, "a and b enter as a + b"),
        (lambda p: np.exp(-(p.a + p.b) * X), {"a": -0.5, "b": 0.9}, "a and b enter as a + b"),
        (lambda p: (p.a + p.b) * X, {"a": 0.0, "b": 3.0}, "a and b enter as a + b"),
        (
            lambda p: p.a * p.b * X / p.c,
            {"a": 2.0, "b": 3.0, "c": 0.5},
            None,
        ),
    ],
)
def test_the_combination_is_named(model, params, says):
    found = asked(model, **params)
    if says is None:
        # Two combinations of a b / c are lost; each pair among them tells one.
        assert found.rank == 1 and len(found.null_directions) == 2
        assert all(len(d.parameters) == 2 for d in found.null_directions)
        return
    assert [str(d) for d in found.null_directions] == [says]
    assert found.null_directions[0].holds == "everywhere"


def test_three_parameters_that_only_together_change_nothing():
    """a exp(-b c t) with c a / b fixed: all three move by one factor, or its inverse."""
    found = asked(lambda p: np.exp(-p.a * p.b * X) * p.c / p.b, a=0.2, b=3.0, c=0.7)
    (lost,) = found.null_directions
    assert lost.parameters == ("a", "b", "c")
    assert lost.text == (
        "nothing changes when a is multiplied and b, c are divided by the same factor"
    )


def test_a_combination_that_is_lost_only_here():
    """(a - b)^3 has no first order effect of a + b nor of a - b where a = b."""
    found = asked(lambda p: p.a**2 * X - 2 * p.a * p.b * X, a=1.0, b=2.0)
    # d/da = 2 (a - b) X = -2 X, d/db = -2 a X = -2 X: a + b holds to first order alone.
    (lost,) = found.null_directions
    assert lost.holds == "here" and str(lost).endswith("(here)")


def test_what_is_nearly_dependent_is_told_apart_where_derivatives_are_exact():
    """cos(eps) between the columns: differences would lose it, exact derivatives do not."""
    found = asked(lambda p: p.a * X + p.b * (X + 1e-9 * X**2), a=1.0, b=1.0)
    assert found.identifiable and found.singular_values[-1] < 1e-8
    assert (
        ds.function(lambda p: p.a * X + p.b * (X + 1e-9 * X**2), {"a": 1.0, "b": 1.0})
        .identifiability(tol=1e-6)
        .rank
        == 1
    )


def test_a_result_of_an_integration_is_judged_by_its_tolerance():
    r = ds.function(lambda p: p.a * X + p.b * (X + 1e-7 * X**2), {"a": 1.0, "b": 1.0})
    assert r.identifiability().rank == 2
    assert r.replace(settings={"rtol": 1e-6}).identifiability().rank == 1


def test_scales_of_outputs_and_parameters_do_not_matter():
    found = asked(
        lambda p: {"big": p.a * 1e12 * X, "small": p.b * 1e-12 * X, "tiny": p.c / p.d},
        a=1e-9, b=1e9, c=1e-20, d=1e20,
    )  # fmt: skip
    assert found.rank == 3 and found.determined == ("a", "b")
    assert str(found.null_directions[0]) == "c and d enter as c/d"


def test_fewer_outputs_than_parameters():
    found = asked(lambda p: p.a * p.b + p.c, a=2.0, b=3.0, c=1.0)
    assert found.rank == 1 and len(found.null_directions) == 2
    assert found.singular_values.shape == (3,)


def test_many_parameters_beyond_the_searched_size():
    """The sum of six parameters: each pair is dependent, so pairs tell all."""
    names = [f"p{i}" for i in range(6)]
    r = ds.function(lambda p: sum(p[n] for n in names) * X, dict.fromkeys(names, 1.5))
    found = r.identifiability()
    assert found.rank == 1 and len(found.null_directions) == 5
    # One combination of all six, beyond the size that is searched.
    weights = np.random.default_rng(0).uniform(1, 2, (5, 6))
    r = ds.function(lambda p: weights @ np.stack([p[n] for n in names]), dict.fromkeys(names, 1.5))
    found = r.identifiability()
    assert found.rank == 5 and len(found.null_directions) == 1
    assert found.null_directions[0].parameters == tuple(names)
    np.testing.assert_allclose(weights @ found.null_directions[0].change, 0.0, atol=1e-12)


def test_what_is_not_identifiable_can_be_required_to_be():
    with pytest.raises(NotIdentifiableError, match=r"1 of 2 combinations.*a and b enter as a"):
        asked(lambda p: p.a * p.b * X, a=2.0, b=3.0).require()
    asked(lambda p: p.a * X + p.b, a=2.0, b=3.0).require()
    assert "all 2 parameters are identifiable" in str(asked(lambda p: p.a * X + p.b, a=2.0, b=3.0))


def test_without_a_model_the_combination_is_not_tried():
    r = ds.function(lambda p: p.a * p.b * X, {"a": 2.0, "b": 3.0}).replace(again=None)
    assert r.identifiability().null_directions[0].holds == "not tried"


@pytest.mark.filterwarnings("ignore:a, b do not enter")
def test_a_model_in_which_nothing_has_an_effect():
    found = asked(lambda p: 0.0 * p.a * p.b + 1.0, a=1.0, b=2.0)
    assert found.rank == 0 and found.absent == ("a", "b") and not found.identifiable


def test_the_table_tells_which_combinations_are_determined():
    table = asked(lambda p: p.a * p.b * X + p.c, a=2.0, b=3.0, c=1.0).table()
    assert table["determined"] == [True, True, False] and table[""] == [1, 2, 3]
    assert "a and b enter as a*b" in table.title


def test_a_tolerance_that_is_none():
    r = ds.function(lambda p: p.a * X, {"a": 2.0})
    with pytest.raises(SensitivityError, match="tol must be positive"):
        r.identifiability(tol=0.0)


# --- the collinearity index


def test_the_index_of_two_columns_is_that_of_their_angle():
    """Columns of length 1 at an angle phi: the smallest singular value is sqrt(1 - cos phi)."""
    columns = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0]])
    r = ds.function(lambda p: p.a * columns[0] + p.b * columns[1], {"a": 5.0, "b": 0.1})
    scaled = r.replace(jacobian=columns.T / [5.0, 0.1])
    cosine = 2.0 / 3.0
    index = scaled.collinearity()["index"]
    assert index == [pytest.approx(1 / np.sqrt(1 - cosine), rel=1e-12)]


def test_a_dependent_set_has_an_infinite_index():
    r = ds.function(lambda p: p.a / p.b * X + p.c * X**2, {"a": 2.0, "b": 3.0, "c": 1.0})
    table = r.collinearity()
    infinite = {row["parameters"] for row in table if row["index"] == np.inf}
    assert infinite == {"a, b", "a, b, c"}
    assert len(table) == 4
    only = r.collinearity([["a", "c"], ["b", "c"]])
    assert only["size"] == [2, 2] and np.isfinite(only["index"]).all()
    assert only["index"][0] == pytest.approx(only["index"][1], rel=1e-12)


def test_sets_that_are_none():
    r = ds.function(lambda p: p.a * X + p.b, {"a": 2.0, "b": 3.0})
    with pytest.raises(ParameterError, match="no parameter 'q'"):
        r.collinearity([["a", "q"]])
    with pytest.raises(ParameterError, match="different parameters"):
        r.collinearity([["a", "a"]])
    names = [f"p{i}" for i in range(60)]
    wide = ds.function(lambda p: sum(p[n] * X for n in names), dict.fromkeys(names, 1.0))
    with pytest.raises(SensitivityError, match="sets of up to 4"):
        wide.collinearity()
