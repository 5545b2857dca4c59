"""Pictures: what is drawn is what was computed, axes have names and units, files are written."""

import numpy as np
import pytest

from dualad import sensitivity as ds
from dualad.sensitivity import Parameter, SensitivityError

matplotlib = pytest.importorskip("matplotlib")

P = {
    "Vmax": Parameter(2.0, u=0.1, unit="mol/s", label="$V_{max}$"),
    "Km": Parameter(0.5, u=0.05, unit="mol"),
    "S": Parameter(3.0, u=0.1, unit="mol"),
}


def result(**options):
    def model(p):
        return {"rate": p.Vmax * p.S / (p.Km + p.S), "ratio": p.Vmax / p.Km}

    return ds.function(model, P, units={"rate": "mol/s", "ratio": "1/s"}, **options)


def course():
    r = ds.simulate(lambda k, x, p: [p.a * x[0], x[1] + p.b], [1.0, 0.0],
                    {"a": Parameter(0.8, u=0.02), "b": Parameter(0.1, u=0.01)}, 12,
                    states=["u", "v"], units={"u": "m", "v": "K"})  # fmt: skip
    return r.replace(time_unit="h")


def bars(panel):
    """The lengths of the bars of a panel, by group."""
    return [[bar.get_width() for bar in group] for group in panel.containers]


def test_bars_are_the_elasticities_the_largest_on_top():
    r = result()
    (panel,) = r.plot.bar("rate").axes
    order = np.argsort(np.abs(r.elasticity()[0]), kind="stable")
    np.testing.assert_array_equal(bars(panel), [r.elasticity()[0, order]])
    names = [t.get_text() for t in panel.get_yticklabels()]
    assert names[-1] == "$V_{max}$" and set(names) == {"$V_{max}$", "Km", "S"}
    assert panel.get_xlabel() == "(p/y) ∂y/∂p"
    (panel,) = r.plot.bar().axes
    assert len(bars(panel)) == 2


def test_many_outputs_are_summed_up_to_one_bar_a_parameter():
    r = ds.function(lambda p: p.a * np.arange(1.0, 9.0) + p.b, {"a": 1.0, "b": 2.0})
    (panel,) = r.plot.bar(scaled="none").axes
    expected = r.summary("l2", scaled="none")
    np.testing.assert_allclose(sorted(bars(panel)[0]), sorted(expected))
    assert "over time" in course().plot.bar("u").axes[0].get_xlabel()


def test_a_heat_map_has_a_cell_an_output_and_parameter_with_its_number():
    r = result()
    panel, scale = r.plot.heatmap().axes
    np.testing.assert_array_equal(panel.images[0].get_array(), r.elasticity())
    assert [t.get_text() for t in panel.texts] == [f"{x:.2g}" for x in r.elasticity().ravel()]
    assert scale.get_ylabel() == "(p/y) ∂y/∂p"
    panel, _ = course().plot.heatmap(scaled="none").axes
    np.testing.assert_allclose(panel.images[0].get_array(), course().summary("l2", scaled="none"))


def test_a_heat_map_shows_what_is_not_defined():
    r = ds.function(lambda p: {"y": p.a - 1.0, "z": p.a}, {"a": 1.0})
    panel, _ = r.plot.heatmap().axes
    assert [t.get_text() for t in panel.texts] == ["–", "1"]


def test_a_tornado_goes_from_minus_to_plus_one_uncertainty():
    r = result()
    (panel,) = r.plot.tornado("rate").axes
    u = np.sort(np.abs(r.jacobian[0] * r.parameters.u))
    np.testing.assert_allclose(np.abs(bars(panel)), [u, u])
    assert panel.get_xlabel() == "rate (mol/s), to first order"
    (panel,) = r.plot.tornado("rate", change=0.5).axes
    share = np.sort(np.abs(r.scaled("p")[0] * 0.5))
    np.testing.assert_allclose(np.abs(bars(panel)[0]), share)
    with pytest.raises(SensitivityError, match="change must be positive"):
        r.plot.tornado(change=-1.0)
    assert "at t = 12" in course().plot.tornado("u").get_suptitle()
    assert r.plot.tornado("rate").get_suptitle() == "rate = 1.71429 mol/s"  # 2 * 3 / 3.5


def test_pairs_have_points_below_and_correlations_above_the_diagonal():
    r = course()
    figure = r.plot.pairs()
    upper_left, upper_right, lower_left, lower_right = figure.axes[:4]
    lines = lower_left.get_lines()
    np.testing.assert_array_equal(lines[0].get_xdata(), r.scaled("p")[:, 0, 0])
    np.testing.assert_array_equal(lines[1].get_ydata(), r.scaled("p")[:, 1, 1])
    assert upper_left.texts[0].get_text() == "a" and lower_right.texts[0].get_text() == "b"
    x, y = (r.scaled("p")[..., j].ravel() for j in range(2))
    assert upper_right.texts[0].get_text() == f"{np.corrcoef(x, y)[0, 1]:.3f}"
    assert lower_left.get_xlabel() == "by a" and lower_left.get_ylabel() == "by b"
    with pytest.raises(SensitivityError, match="2 up to 12 parameters, there are 1"):
        ds.function(lambda p: p.a, {"a": 1.0}).plot.pairs()


def test_collinearity_marks_what_is_infinite():
    x = np.linspace(0, 1, 5)
    r = ds.function(lambda p: p.a / p.b * x + p.c * x**2, {"a": 1.0, "b": 2.0, "c": 1.0})
    (panel,) = r.plot.collinearity().axes
    finite, infinite = panel.get_lines()[:2]
    assert len(finite.get_xdata()) == 2 and len(infinite.get_xdata()) == 2
    assert panel.get_yscale() == "log"


def test_time_courses_are_the_scaled_sensitivities_with_units():
    r = course()
    figure = r.plot.time()
    upper, lower = figure.axes
    curves = [line for line in upper.get_lines() if line.get_label() in ("a", "b")]
    np.testing.assert_array_equal(curves[0].get_ydata(), r.scaled("p")[:, 0, 0])
    assert upper.get_ylabel() == "p ∂u/∂p (m)" and lower.get_ylabel() == "p ∂v/∂p (K)"
    assert lower.get_xlabel() == "time (h)"
    (panel,) = r.plot.time("v", ["b"], scaled="elasticity").axes
    assert panel.get_ylabel() == "(p/v) ∂v/∂p"
    with pytest.raises(SensitivityError, match="no output 'w'"):
        r.plot.time("w")
    with pytest.raises(SensitivityError, match="drawn over time"):
        result().plot.time()


def test_a_band_is_the_coverage_interval():
    r = course()
    y = ds.propagate(r)
    figure = y.plot.band("u", level=0.5, data={"u": (r.t, r.y[:, 0])})
    (panel,) = figure.axes
    low, high = y.interval(0.5)
    lines = [line.get_ydata() for line in panel.get_lines()]
    np.testing.assert_array_equal(lines[:3], [low[:, 0], high[:, 0], y.mean[:, 0]])
    texts = [t.get_text() for t in figure.legends[0].get_texts()]
    assert texts == ["50 % interval", "estimate", "data"]
    assert len(r.plot.band().axes) == 2
    with pytest.raises(SensitivityError, match="over time"):
        ds.propagate(result()).plot.band()
    with pytest.raises(SensitivityError, match="drawn over time"):
        result().plot.band()


def test_a_budget_shows_the_shares():
    y = ds.propagate(result())
    (panel,) = y.plot.budget().axes
    np.testing.assert_allclose(np.transpose(bars(panel)), 100 * y.shares())
    assert panel.get_yticklabels()[0].get_text() == "rate (mol/s)"
    with pytest.raises(SensitivityError, match="one time"):
        ds.propagate(course()).plot.budget()


def test_equally_spaced_times_have_a_linear_axis_however_long():
    r = course()
    for t in (np.linspace(0.1, 30.0, 13), np.linspace(1e-3, 1e3, 13), 0.01 * 2.0 ** np.arange(13)):
        spaced = r.replace(t=t)
        scale = "log" if t[1] == 2 * t[0] else "linear"
        assert spaced.plot.time().axes[-1].get_xscale() == scale
        assert ds.propagate(spaced).plot.band().axes[-1].get_xscale() == scale


def test_many_decades_of_time_have_a_logarithmic_axis():
    r = course()
    long = r.replace(t=np.geomspace(1e-3, 1e3, 13))
    assert long.plot.time().axes[-1].get_xscale() == "log"
    assert r.plot.time().axes[-1].get_xscale() == "linear"


def test_pictures_are_written_wide_enough_to_read(tmp_path):
    r = course()
    r.plot.time(path=tmp_path / "time.png")
    result().plot.heatmap(tmp_path / "heat.png", title="a title")
    from matplotlib.image import imread

    assert imread(tmp_path / "time.png").shape[1] >= 1200
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(SensitivityError, match="no such folder"):
        r.plot.bar(path=tmp_path / "none" / "x.png")
    with pytest.raises(SensitivityError, match="must end with one of"):
        r.plot.bar(path=tmp_path / "x.doc")


def test_neighbouring_colours_differ_in_grey():
    from matplotlib.colors import to_rgb

    from dualad.sensitivity.plots.style import COLOURS

    grey = [np.dot([0.299, 0.587, 0.114], to_rgb(c)) for c in COLOURS]
    assert (np.abs(np.diff(grey)) > 0.1).all()


@pytest.mark.parametrize("name", [r"$\foo$", "a$b", "$k_1$", r"$\frac{a}$ in $"])
@pytest.mark.filterwarnings("ignore:.*missing from")
def test_names_that_are_no_formulas_are_drawn_as_they_are_written(name, tmp_path):
    """matplotlib raised an error of its own for those that it could not read."""
    p = {name: ds.Parameter(2.0, u=0.1, unit=r"$\bar$"), "q": ds.Parameter(1.0, u=0.1)}
    r = ds.function(lambda p: {name: p[name] * p.q, "z": p.q}, p)
    for draw in (r.plot.bar, r.plot.heatmap, r.plot.tornado, ds.propagate(r).plot.budget):
        draw(path=tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 1000


# --- fits

TIMES = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def decay(p, t):
    return {"a": p.A * np.exp(-p.k * t), "b": p.A * t}


def curves(panel):
    """What is drawn as lines of more than one entry: by label."""
    return {line.get_label(): line.get_xydata() for line in panel.lines}


def test_a_fit_is_drawn_with_its_data_and_its_band():
    truth = decay(type("P", (), {"A": 2.0, "k": 0.3}), TIMES)
    data = {"a": truth["a"] + 0.01 * np.array([1, -1, 1, -1, 1]), "b": truth["b"]}
    fit = ds.fit(decay, {"A": 1.0, "k": 0.5}, data, x=TIMES, sigma={"a": 0.02, "b": 0.5})
    first, second = fit.plot.band().axes
    (drawn,) = [line for line in first.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(drawn.get_xydata(), np.stack([TIMES, data["a"]], axis=1))
    curve = curves(first)["estimate"]
    assert len(curve) == 200 and curve[[0, -1], 0].tolist() == [1.0, 16.0]
    A, k = fit.values
    np.testing.assert_allclose(curve[:, 1], A * np.exp(-k * curve[:, 0]), rtol=1e-9)
    high = fit.predict(x=np.array([1.0, 16.0])).interval()[1]
    edges = first.collections[0].get_paths()[0].vertices
    assert np.isclose(edges[:, 1].max(), high[0], rtol=1e-6)
    assert [p.get_ylabel() for p in (first, second)] == ["a", "b"]
    assert len(fit.plot.band("b", x=[1.0, 2.0]).axes) == 1
    with pytest.raises(SensitivityError, match="'c' was not observed; there is a, b"):
        fit.plot.band("c")


def test_a_fit_of_an_analysis_is_drawn_over_its_times_and_without_what_is_missing():
    ask = {"states": ["c"], "time_unit": "h", "units": {"c": "mg/L"}, "method": "DOP853"}

    def course(p, t):
        return ds.ode(lambda t, y, p: [-p.k * y[0]], [2.0], p, (0.0, 20.0), t_eval=t, **ask)

    seen = 2.0 * np.exp(-0.3 * TIMES) + 0.01 * np.array([1, -1, 0, -1, 1])
    seen[2] = np.nan
    for fit in (
        ds.fit(course, {"k": 0.5}, {"c": seen}, x=TIMES, missing="drop"),
        ds.fit(lambda p: course(p, TIMES), {"k": 0.5}, {"c": seen}, missing="drop"),
    ):
        (panel,) = fit.plot.band(kind="prediction").axes
        assert panel.get_xlabel() == "time (h)" and panel.get_ylabel() == "c (mg/L)"
        (drawn,) = [line for line in panel.lines if line.get_marker() == "o"]
        assert drawn.get_xdata().tolist() == [1.0, 2.0, 8.0, 16.0]
        curve = curves(panel)["estimate"]
        exact = 2.0 * np.exp(-fit.values[0] * curve[:, 0])
        np.testing.assert_allclose(curve[:, 1], exact, rtol=1e-4)


def test_a_fit_of_one_array_and_one_that_is_no_curve():
    line = ds.fit(lambda p, x: p.a * x, {"a": 1.0}, 2.0 * TIMES + 0.1, x=TIMES)
    (panel,) = line.plot.band().axes
    assert panel.get_xlabel() == "x"
    two = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    plane = ds.fit(lambda p, x: x @ np.stack([p.a, p.b]), {"a": 1.0, "b": 1.0}, two[:, 0], x=two)
    with pytest.raises(SensitivityError, match="one-dimensional x"):
        plane.plot.band()
