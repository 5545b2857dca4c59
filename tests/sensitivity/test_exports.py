"""Tables, CSV, DataFrame, xarray and JSON: every number where it belongs, to the last bit."""

import copy
import csv
import io
import json
import math
import pickle

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import Parameter, SensitivityError, Table

P = {"a": Parameter(2.0, u=0.1, unit="s", label="first"), "b_2": Parameter(1e-3, lower=0.0)}


def result():
    def model(p):
        return {"y": p.a / p.b_2, "z": p.a**2 - 4.0}

    return ds.function(model, P, units={"y": "V"}, order=2)


def course():
    return ds.simulate(lambda k, x, p: p.a * x, [1.0], {"a": Parameter(1 / 3, u=0.01)}, 3)


# --- the tidy table


@pytest.mark.parametrize("r", [result(), course()], ids=["function", "simulate"])
def test_csv_has_every_number_with_all_its_digits(r, tmp_path):
    path = tmp_path / "x.csv"
    text = r.to_csv(path)
    assert path.read_text() == text
    rows = list(csv.DictReader(io.StringIO(text)))
    values, jacobian = r.flat()
    elasticity = r.scaled("elasticity").reshape(jacobian.shape)
    assert len(rows) == jacobian.size
    times = r.row_labels()
    for row in rows:
        i, j = r.output_index(row["output"]), r.parameter_index(row["parameter"])
        k = 0 if times is None else list(times).index(float(row["t"]))
        assert float(row["value"]) == values[k, i]
        assert float(row["sensitivity"]) == jacobian[k, i, j]
        np.testing.assert_equal(float(row["elasticity"]), elasticity[k, i, j])
        u = r.parameters.parameter(row["parameter"]).u
        expected = math.nan if u is None else abs(jacobian[k, i, j]) * u
        np.testing.assert_equal(float(row["u_contribution"]), expected)
        assert row["unit"] == r.output_units.get(row["output"], "")


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(SensitivityError, match="cannot be written"):
        result().to_csv(tmp_path / "none" / "x.csv")
    with pytest.raises(SensitivityError, match="cannot be written"):
        result().to_json(tmp_path / "none" / "x.json")


def test_data_frames_tidy_and_wide():
    pytest.importorskip("pandas")
    frame = result().to_dataframe()
    assert list(frame.columns) == ["output", "parameter", "value", "sensitivity", "elasticity",
                                   "u_contribution", "unit"]  # fmt: skip
    assert len(frame) == 4
    wide = course().to_dataframe(tidy=False)
    assert list(wide.columns) == ["t", "output", "value", "a"]
    np.testing.assert_array_equal(wide["a"], course().S[:, 0, 0])
    assert next(iter(course().to_dataframe().columns)) == "t"


def test_an_xarray_has_named_axes():
    pytest.importorskip("xarray")
    x = course().to_xarray()
    assert x["sensitivity"].dims == ("time", "output", "parameter")
    np.testing.assert_array_equal(x["sensitivity"].sel(output="x1", parameter="a"),
                                  course().column("x1", "a"))  # fmt: skip
    r = result()
    x = r.to_xarray()
    np.testing.assert_array_equal(x["hessian"], r.hessian)
    assert float(x["value"].sel(output="y")) == r.column("y")
    np.testing.assert_array_equal(x["parameter_value"], [2.0, 1e-3])


# --- tables as text


def test_a_table_in_each_format():
    r = result()
    lines = r.table().splitlines()
    assert lines[0].split() == ["output", "value", "unit", "d/da", "(per", "s)", "d/db_2"]
    assert lines[1].split() == ["y", "2000", "V", "1000", "-2e+06"]
    markdown = r.table(fmt="markdown").splitlines()
    assert markdown[0] == "| output | value | unit | d/da (per s) | d/db_2 |"
    assert markdown[1] == "| :--- | ---: | :--- | ---: | ---: |"
    latex = r.table(fmt="latex")
    assert r"d/db\_2" in latex and latex.startswith(r"\begin{tabular}{lrlrr}")
    assert latex.count(r"\\") == 3
    assert "1000" in r.table(fmt="rich") and "┃" in r.table(fmt="rich")
    assert "(p/y) ∂y/∂p" in r.table(scaled=True, fmt="markdown")
    with pytest.raises(SensitivityError, match="fmt must be one of"):
        r.table(fmt="word")


def test_a_notebook_shows_a_table_with_the_warnings():
    r = result()
    r.elasticity()
    page = r._repr_html_()
    assert "<td" in page and "1 value of z is 0" in page
    long = ds.simulate(lambda k, x, p: p.a * x, [1.0], {"a": 0.9}, 40)
    assert "and 21 rows more" in long._repr_html_()


def test_special_characters_are_escaped():
    t = Table(["a|b", "50 %_\\"], [("<x>", 1.5), ("a|b", 2.0)], "the <title>", ["a & b"])
    assert "&lt;x&gt;" in t.render("html") and "a &amp; b" in t.render("html")
    assert "a\\|b" in t.render("markdown")
    assert r"50 \%\_\textbackslash{}" in t.render("latex")
    assert Table(["x"], [("{~^}",)]).render("latex").splitlines()[4] == (
        r"\{\textasciitilde{}\textasciicircum{}\} \\"
    )


def test_a_table_is_read_by_row_and_by_column():
    t = Table(["name", "x"], [("a", 1.0), ("b", None), ("a", True)])
    assert t["name"] == ["a", "b", "a"] and t[1] == {"name": "b", "x": None}
    assert len(t.where(name="a")) == 2 and [r["x"] for r in t] == [1.0, None, True]
    with pytest.raises(KeyError, match="no column 'y'"):
        t["y"]
    with pytest.raises(SensitivityError, match="a row of 1 cells for 2 columns"):
        Table(["a", "b"], [(1,)])
    assert str(Table(["a", "b"], [])) == "a  b"
    pytest.importorskip("pandas")
    assert list(t.to_dataframe().columns) == ["name", "x"]


# --- JSON


def test_a_result_comes_back_from_json_to_the_last_bit(tmp_path):
    r = result()
    r.elasticity()
    path = tmp_path / "r.json"
    r.to_json(path)
    for source in (path, str(path), path.read_text()):
        back = ds.Sensitivities.from_json(source)
        assert type(back) is ds.Sensitivities
        for name in ("values", "jacobian", "hessian"):
            np.testing.assert_array_equal(getattr(back, name), getattr(r, name))
        assert dict(back.parameters.details()) == dict(r.parameters.details())
        assert back.outputs == r.outputs and back.layout == r.layout
        assert back.output_units == r.output_units and back.warnings == r.warnings
        assert back.settings == r.settings
        assert back.again is None


def test_a_time_course_comes_back_from_json():
    r = course().replace(
        dt=np.zeros((4, 1)), success=False, message="stopped", integrals=result(),
    )  # fmt: skip
    back = ds.TimeSensitivities.from_json(r.to_json())
    assert type(back) is ds.TimeSensitivities
    np.testing.assert_array_equal(back.t, r.t)
    np.testing.assert_array_equal(back.S, r.S)
    np.testing.assert_array_equal(back.integrals.jacobian, result().jacobian)
    assert not back.success and back.message == "stopped" and back.time_unit == "step"


@pytest.mark.parametrize("order", [1, 2])
def test_events_come_back_from_json_with_all_that_they_know(order):
    half = ds.Event(lambda t, y, p: y[0] - p.level, lambda t, y, p: [2.0 * y[0]], name="half")
    never = ds.Event(lambda t, y, p: y[0] + 1.0, name="never")
    r = ds.ode(
        lambda t, y, p: -p.k * y, [1.0], {"k": ds.Parameter(1.0, unit="1/h"), "level": 0.5},
        (0.0, 2.0), t_eval=[2.0], events=[half, never], order=order, time_unit="h",
    )  # fmt: skip
    back = ds.Sensitivities.from_json(r.to_json())
    for name, old in r.events.items():
        new = back.events[name]
        for field in ("times", "dt", "hessian", "y", "S", "y_after", "S_after"):
            np.testing.assert_array_equal(getattr(new, field), getattr(old, field))
        assert new.table() == old.table() and new.units is not None
        assert new.outputs == old.outputs
    assert back.events["half"].units("half[1]", "k") == "h/(1/h)"
    assert [e.t for e in back.event_log] == [e.t for e in r.event_log]


def test_an_event_that_there_is_not_is_told_the_right_name():
    event = ds.Event(lambda t, y, p: y[0] - 0.5, name="half")
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 2.0), events=event)
    for one in (r, pickle.loads(pickle.dumps(r))):
        with pytest.raises(ds.EventError, match=r"no event 'hafl': there is half; did you mean"):
            one.events["hafl"]
        with pytest.raises(KeyError):
            one.events["hafl"]
    assert r.events.get("hafl") is None


def test_a_time_that_there_is_not():
    with pytest.raises(SensitivityError, match="no time of index 9: there are 4 times"):
        course().time(9)


def test_a_steady_state_comes_back_from_json_with_its_totals():
    def rates(x, p):
        v = p.k * x[0] - x[1]
        return np.array([-v, v])

    r = ds.steady_state(rates, [1.0, 0.0], {"k": 2.0})
    back = ds.Sensitivities.from_json(r.to_json())
    assert type(back) is type(r) and back.totals == r.totals == ("x1 + x2",)
    with pytest.raises(SensitivityError, match="loaded from a file"):
        back.eigenvalues()


@pytest.mark.parametrize(
    "analysis",
    [
        lambda units: ds.function(lambda p: {"y": p.a}, {"a": 1.0}, units=units),
        lambda units: ds.root(lambda x, p: x - p.a, {"y": 1.0}, {"a": 1.0}, units=units),
        lambda units: ds.linear_solve(
            np.eye(1), lambda p: np.stack([p.a]), {"a": 1.0}, names=["y"], units=units
        ),
        lambda u: ds.simulate(lambda k, x, p: p.a * x, {"y": 1.0}, {"a": 1.0}, 2, units=u),
        lambda u: ds.ode(lambda t, y, p: -p.a * y, {"y": 1.0}, {"a": 1.0}, (0, 1), units=u),
        lambda u: ds.minimize(lambda x, p: (x[0] - p.a) ** 2, {"y": 1.0}, {"a": 1.0}, units=u),
    ],
)  # fmt: skip
def test_units_are_of_outputs_that_there_are(analysis):
    assert analysis({"y": "m"}).units("y") == "m"
    assert analysis("m").units("y") == "m"
    with pytest.raises(ds.ParameterError, match=r"'z': there is y"):
        analysis({"z": "m"})


def test_json_is_strict_also_for_what_is_not_finite():
    r = result().replace(values=[np.nan, np.inf], settings={"a": np.float64(np.inf), "f": len})
    text = r.to_json()
    json.loads(text, parse_constant=lambda name: pytest.fail(name))
    back = ds.Sensitivities.from_json(text)
    assert math.isnan(back.values[0]) and back.values[1] == np.inf


def test_correlations_come_back_from_json():
    p = ds.Parameters({"a": Parameter(1.0, u=0.1, dof=5), "b": Parameter(2.0, u=0.2)})
    r = ds.function(lambda p: p.a * p.b, p.set_correlation("a", "b", 0.25))
    back = ds.Sensitivities.from_json(r.to_json())
    np.testing.assert_array_equal(back.parameters.covariance, p.covariance)
    assert list(back.parameters.dof) == [5.0, np.inf]


def test_files_that_are_none(tmp_path):
    with pytest.raises(SensitivityError, match="no result can be read"):
        ds.Sensitivities.from_json(tmp_path / "nothing.json")
    with pytest.raises(SensitivityError, match="no result can be read"):
        ds.Sensitivities.from_json("{not json")
    with pytest.raises(SensitivityError, match="is no file of a result"):
        ds.Sensitivities.from_json('{"format": "other"}')
    record = json.loads(result().to_json())
    with pytest.raises(SensitivityError, match=r"version 99.*install a newer"):
        ds.Sensitivities.from_json(json.dumps({**record, "version": 99}))
    del record["jacobian"]
    with pytest.raises(SensitivityError, match="damaged"):
        ds.Sensitivities.from_json(json.dumps(record))


def test_a_negative_zero_is_printed_as_a_zero():
    r = ds.Sensitivities([1.0], [[-0.0]], outputs=["y"], parameters=ds.Parameters({"a": 1.0}))
    assert "-0" not in r.table()


def decay_with_units():
    p = {"k": ds.Parameter(0.5, unit="1/h"), "a": ds.Parameter(2.0, unit="mg")}
    return ds.ode(
        lambda t, y, p: -p.k * y, lambda p: {"drug": p.a}, p, (0.0, 2.0), t_eval=[1.0, 2.0],
        units={"drug": "mg"}, time_unit="h",
    )  # fmt: skip


def test_tables_say_the_units_of_time_outputs_and_parameters():
    r = decay_with_units()
    text = r.table()
    assert "t (h)" in text and "drug (mg)" in text and "d/dk (per 1/h)" in text
    markdown = r.table(fmt="markdown")
    assert "| t (h) | output | value | unit | d/dk (per 1/h) | d/da (per mg) |" in markdown
    # What is scaled by the parameter has the unit of the output.
    assert "| k | a |" in r.table(scaled="p", fmt="markdown")
    assert "1/h" in r.table(scaled="y", fmt="markdown") and "(per" in r._repr_html_()
    assert list(r.to_dataframe(tidy=False).columns) == ["t", "output", "value", "unit", "k", "a"]
    assert "t,output,parameter,value" in r.to_csv()


def test_xarray_has_the_units_as_coordinates():
    pytest.importorskip("xarray")
    data = decay_with_units().to_xarray()
    assert list(data["output_unit"].values) == ["mg"]
    assert list(data["parameter_unit"].values) == ["1/h", "mg"]
    assert data["time"].attrs["units"] == "h"


def test_a_scaled_table_says_why_there_are_nans():
    r = ds.function(lambda p: {"y": p.a - 1.0}, {"a": 1.0})
    assert "1 value of y is 0: its elasticity is NaN" in r.table(scaled=True)


def test_names_with_special_characters_in_every_format():
    name = "k|_{1}<b>&$%#"
    r = ds.function(lambda p: {"y|<i>": p[name] ** 2}, {name: 2.0})
    header, rule, row = r.table(fmt="markdown").splitlines()
    assert header.replace("\\|", "").count("|") == rule.count("|") == 4
    assert row.replace("\\|", "").count("|") == 4
    latex = r.table(fmt="latex")
    assert r"d/dk\textbar{}\_\{1\}\textless{}b\textgreater{}\&\$\%\#" in latex
    assert "<b>" not in r._repr_html_() and "&lt;b&gt;" in r._repr_html_()


def test_results_of_lambdas_are_pickled_without_their_functions():
    r = ds.ode(
        lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 1.0), t_eval=[1.0], dense_output=True,
        integrals={"area": lambda t, y, p: y[0]},
    )  # fmt: skip
    back = pickle.loads(pickle.dumps(r))
    np.testing.assert_array_equal(back.S, r.S)
    np.testing.assert_array_equal(back.integrals.jacobian, r.integrals.jacobian)
    assert r.again is not None and r.at(0.5)[0].shape == (1,)
    with pytest.raises(SensitivityError, match="again"):
        back.check()
    s = ds.steady_state(lambda x, p: p.a - x, [0.5], {"a": 1.0})
    back = pickle.loads(pickle.dumps(s))
    np.testing.assert_array_equal(back.jacobian, s.jacobian)
    assert s.eigenvalues() == [-1.0]


def plain_model(p):
    return {"y": p.a**2}


def test_results_of_functions_that_can_be_imported_keep_them():
    r = ds.function(plain_model, {"a": 2.0})
    assert pickle.loads(pickle.dumps(r)).check().ok


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_in_this_process_keep_all_functions(copied):
    r = copied(ds.function(lambda p: {"y": p.a**2}, {"a": 2.0}))
    assert r.check().ok
