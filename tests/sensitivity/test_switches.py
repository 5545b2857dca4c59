"""Kinks and jumps under the solution are said, with their time; smooth models are left alone."""

import warnings

import numpy as np
import pytest

from dualad import sensitivity as ds


def notes(rhs, y0=(1.0,), params=None, span=(0.0, 3.0), **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ds.SensitivityWarning)
        r = ds.ode(rhs, list(y0), params or {"a": 1.0}, span, **options)
    return r.warnings


def test_a_jump_names_time_line_and_both_slopes_and_how_to_declare_it():
    def rhs(t, y, p):
        rate = 1.0 if t < 1.25 * p.a else 3.0
        return -p.a * rate * y

    with pytest.warns(ds.SensitivityWarning, match="jumps under the solution at t = 1.25 ") as w:
        ds.ode(rhs, [1.0], {"a": 1.0}, (0.0, 3.0))
    text = str(w[0].message)
    e = np.exp(-1.25)
    line = rhs.__code__.co_firstlineno + 1
    assert f"(less, line {line} of {__file__})" in text
    assert f"[{-e:.6f}] before and [{-3 * e:.6f}] after" in text
    assert "events=[Event(g)]" in text


@pytest.mark.parametrize(
    "rhs",
    [
        lambda t, y, p: p.a * np.where(y > 2.0, 3.0, 1.0),
        lambda t, y, p: p.a * (1.0 + np.floor(y / 2.0)),
        lambda t, y, p: p.a * (1.0 + np.heaviside(y - 2.0, 0.0)),
        lambda t, y, p: p.a * (2.0 + np.sign(y - 2.0)),
        lambda t, y, p: [p.a * (1.0 if y[0] < 2.0 else 4.0)],
        lambda t, y, p: p.a * (1.0 + y // 2.0),
        lambda t, y, p: p.a * (3.0 + 0.5 * np.round(y + 0.5)),
    ],
    ids=["where", "floor", "heaviside", "sign", "if", "floordiv", "round"],
)
def test_every_kind_of_jump_where_the_state_passes_two(rhs):
    (text,) = notes(rhs, rtol=1e-4, atol=1e-6, span=(0.0, 1.5))
    assert "jumps" in text
    # Before the state passes 2, the slope is a constant.
    slope = float(np.asarray(rhs(0.0, np.array([1.0]), type("P", (), {"a": 1.0}))).ravel()[0])
    at = float(text.split("t = ")[1].split()[0].rstrip(","))
    assert abs(at - 1.0 / slope) < 1e-3


@pytest.mark.parametrize(
    "rhs",
    [
        lambda t, y, p: p.a * (1.0 + abs(y - 2.0)),
        lambda t, y, p: p.a * (1.0 + np.maximum(y - 2.0, 0.0)),
        lambda t, y, p: [p.a * (1.0 + max(y[0] - 2.0, 0.0))],
        lambda t, y, p: p.a * np.clip(y, 0.0, 2.0),
        lambda t, y, p: p.a * (1.0 + np.max(np.concatenate([y - 2.0, 0 * y]), keepdims=True)),
        lambda t, y, p: p.a * np.interp(y, [0.0, 2.0, 9.0], [1.0, 2.0, 2.5]),
    ],
    ids=["abs", "maximum", "max", "clip", "np.max", "interp"],
)
def test_every_kind_of_kink_where_the_state_passes_two(rhs):
    (text,) = notes(rhs, rtol=1e-6, span=(0.0, 1.5))
    assert "has a kink under the solution at t = " in text


def test_sensitivities_across_a_kink_are_right():
    """y' = a (1 + max(t - b, 0)): y(2) = a (2 + (2 - b)^2 / 2)."""
    with pytest.warns(ds.SensitivityWarning, match="kink"):
        r = ds.ode(lambda t, y, p: p.a * (1.0 + np.maximum(t - p.b, 0.0)) + 0 * y, [0.0],
                   {"a": 2.0, "b": 1.0}, (0.0, 2.0), t_eval=[2.0])  # fmt: skip
    np.testing.assert_allclose(r.S[0, 0], [2.5, -2.0], rtol=1e-5)


def test_what_happens_at_a_time_that_nothing_moves_is_right_and_no_news():
    """An infusion of rate R that ends at t = 2: y = R (1 - exp(-2 k)) / k exp(-k (t - 2))."""

    def rhs(t, y, p):
        return [(p.R if t < 2.0 else 0.0) - p.k * y[0]]

    R, k, t = 3.0, 0.4, 5.0
    ask = {"t_eval": [t], "rtol": 1e-8}
    assert notes(rhs, [0.0], {"R": R, "k": k}, (0.0, t), **ask) == []
    r = ds.ode(rhs, [0.0], {"R": R, "k": k}, (0.0, t), order=2, **ask)
    assert r.warnings == []
    y = R * (np.exp(2 * k) - 1) / k * np.exp(-k * t)
    slope = y * (2 * np.exp(2 * k) / (np.exp(2 * k) - 1) - 1 / k - t)
    np.testing.assert_allclose(r.S[0, 0], [y / R, slope], rtol=1e-6)
    np.testing.assert_allclose(r.hessian[0, 0, 0], [0.0, slope / R], rtol=1e-5, atol=1e-7)


def test_a_time_that_is_a_fixed_parameter_is_no_news_but_one_that_moves_is():
    rhs = lambda t, y, p: [(p.R if t < p.T + p.lag else 0.0) - y[0]]
    p = {"R": 3.0, "T": 2.0, "lag": 0.0}
    assert notes(rhs, [0.0], p, wrt=["R"]) == []
    for moving in ("T", "lag"):
        with np.errstate(all="ignore"):
            said = notes(rhs, [0.0], p, wrt=["R", moving])
        assert any("jumps under the solution at t = 2 " in text for text in said)


def test_a_table_over_time_costs_one_look():
    """y' = a u(t) with u linear between 200 points: y = a times the integral of u."""
    grid = np.linspace(0.0, 10.0, 201)
    u = 1.0 + 0.5 * np.cos(7.0 * grid)
    calls = []

    def rhs(t, y, p):
        calls.append(type(y))
        return p.a * np.interp(t, grid, u) + 0.0 * y

    ask = {"t_eval": [10.0], "rtol": 1e-6, "max_step": 0.05, "compile": False}
    assert notes(rhs, [0.0], {"a": 2.0}, (0.0, 10.0), **ask) == []
    assert sum(c.__name__ == "Noting" for c in calls) < 600  # one a step, and one location
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r = ds.ode(rhs, [0.0], {"a": 2.0}, (0.0, 10.0), **ask)
    np.testing.assert_allclose(r.S[0, 0, 0], np.trapezoid(u, grid), rtol=1e-4)


def test_the_same_decision_by_time_and_by_state_is_told_apart():
    """The second branch is the state's, at y = 2, though the first is that of time, at t = 0.5."""
    rhs = lambda t, y, p: [p.a * (1.0 if t < 0.5 else 2.0) * (1.0 if y[0] < 2.0 else 3.0)]
    (text,) = notes(rhs, span=(0.0, 1.5), rtol=1e-6)
    assert "jumps under the solution at t = 0.75 " in text


@pytest.mark.parametrize(
    "rhs",
    [
        lambda t, y, p: -p.a * y,
        lambda t, y, p: -p.a * abs(y),
        lambda t, y, p: -p.a * np.maximum(y, 0.0),
        lambda t, y, p: [-p.a * y[0] if y[0] > 0 else 0.0],
    ],
)
def test_a_model_whose_solution_meets_no_switch_is_left_alone(rhs):
    assert notes(rhs) == []


def test_many_switches_are_counted():
    (text,) = notes(
        lambda t, y, p: p.a * abs(np.sin(p.a * t)) + 0 * y, span=(0.5, 20.0), rtol=1e-4
    )
    assert "t = 3.1415" in text and "and 2 more times" in text


def test_a_switch_that_is_declared_as_an_event_is_no_news():
    rhs = lambda t, y, p: np.where(t < p.a, -y, y)
    event = ds.Event(lambda t, y, p: t - p.a)
    assert notes(rhs, events=event) == []
    # Undeclared, plain derivatives are 0: the parameter is in a comparison alone.
    jump, unused = notes(rhs)
    assert "jumps" in jump and "'a' enters at most by the jumps" in unused


def test_a_model_that_cannot_be_watched_is_not_disturbed():
    def rhs(t, y, p):
        assert not isinstance(y, np.ndarray) or type(y) is np.ndarray
        return -p.a * abs(y)

    assert notes(rhs) == []


LEVELS = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "rate",
    [
        lambda y: 1.0 + round(y[0] - 1.5),
        lambda y: 1.0 + divmod(y[0], 2.0)[0],
        lambda y: 1.0 + np.modf(y[0] - 1.0)[1],
        lambda y: 2.0 + np.copysign(1.0, y[0] - 2.0),
        lambda y: LEVELS[int(np.searchsorted([2.0], y[0]))],
        lambda y: LEVELS[int(np.argmax(np.stack([2.0 + 0.0 * y[0], y[0]])))],
        lambda y: 1.0 if y[0].item() < 2.0 else 3.0,
        lambda y: 1.0 if y.tolist()[0] < 2.0 else 3.0,
    ],
    ids=["round", "divmod", "modf", "copysign", "searchsorted", "argmax", "item", "tolist"],
)
def test_jumps_by_other_words(rate):
    """y = 1 + t up to 2, where the rate jumps, whatever decides it."""
    said = notes(lambda t, y, p: [p.a * rate(y)], span=(0.0, 1.4), method="RK45", max_step=0.1)
    (text,) = said
    t = float(text.split("jumps under the solution at t = ")[1].split(" ")[0])
    assert abs(t - 1.0) < 1e-4


@pytest.mark.parametrize(
    "rate",
    [
        lambda y: y.clip(2.0, 9.0)[0],
        lambda y: np.stack([y[0], 2.0 + 0.0 * y[0]]).max(),
        lambda y: np.maximum.reduce(np.stack([y[0], 2.0 + 0.0 * y[0]])),
        lambda y: np.maximum.accumulate(np.stack([2.0 + 0.0 * y[0], y[0]]))[1],
        lambda y: np.nanmax(np.stack([y[0], 2.0 + 0.0 * y[0]])),
        lambda y: np.max(np.stack([y[:1], 2.0 + 0.0 * y[:1]]), axis=(0, 1)),
    ],
    ids=["clip", "max", "reduce", "accumulate", "nanmax", "axes"],
)
def test_kinks_by_other_words(rate):
    """y = 1 + 2 t up to 2, where the maximum of y and 2 has its kink."""
    said = notes(lambda t, y, p: [p.a * rate(y)], span=(0.0, 1.0), method="RK45", max_step=0.1)
    assert any("kink under the solution at t = 0.5 " in text for text in said)


def test_a_table_over_the_span_begins_and_ends_without_a_kink():
    """np.interp changes its piece at the first and at the last time, where nothing is beyond."""
    assert notes(lambda t, y, p: [p.a * np.interp(t, [0.0, 3.0], [1.0, 2.0])]) == []
    (text,) = notes(lambda t, y, p: [np.interp(p.a * t, [0.0, 1.5, 3.0], [1.0, 2.0, 2.0])])
    assert "kink under the solution at t = 1.5 " in text


@pytest.mark.parametrize(
    "rhs",
    [
        lambda t, y, p: np.maximum(0.0, t - p.a) + 0 * y,
        lambda t, y, p: abs(t - p.a) + 0 * y,
        lambda t, y, p: np.where(t < p.a, 0.0, t - p.a) + 0 * y,
    ],
    ids=["maximum", "abs", "where"],
)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("method", ["RK45", "DOP853", "BDF", "Radau"])
def test_a_kink_where_the_slope_is_zero_is_no_jump(rhs, rtol, method):
    said = notes(rhs, [0.0], span=(0.0, 2.0), rtol=rtol, method=method)
    assert all("has a kink" in text for text in said)


@pytest.mark.parametrize(
    "rhs",
    [
        lambda t, y, p: p.a * np.where(y > 0.5, y, 1.0 * y),
        lambda t, y, p: -p.a * (y if y[0] > 0.5 else 1.0 * y),
        lambda t, y, p: p.a * abs(np.sin(3.0 * t)) ** 2 + 0 * y,
        lambda t, y, p: p.a * np.maximum(t - 1.0, 0.0) ** 3 + 0 * y,
    ],
    ids=["where", "if", "abs squared", "a cubic beginning"],
)
def test_a_decision_that_changes_no_derivative_is_no_kink(rhs):
    assert notes(rhs) == []


@pytest.mark.parametrize("guard", [np.abs, lambda y: np.maximum(y, 0.0)])
def test_a_solution_that_has_died_away_meets_no_kink_by_its_error_alone(guard):
    """exp(-30) is 1e-13: below the tolerance y goes through zero."""
    assert notes(lambda t, y, p: -p.a * guard(y), span=(0.0, 30.0)) == []


def test_second_derivatives_across_a_kink_are_said_to_lack_its_time():
    """y' = max(t - a, 0): y(2) = (2 - a)^2 / 2, of second derivative 1; declared, it is there."""
    rhs = lambda t, y, p: [np.maximum(t - p.a, 0.0)]
    asked = {"t_eval": [2.0], "order": 2}
    (text,) = notes(rhs, [0.0], {"a": 0.7}, (0.0, 2.0), **asked)
    assert "has a kink" in text and "the second lack what the time of the kink contributes" in text
    event = ds.Event(lambda t, y, p: t - p.a)
    r = ds.ode(rhs, [0.0], {"a": 0.7}, (0.0, 2.0), events=event, rtol=1e-9, **asked)
    assert r.warnings == []
    np.testing.assert_allclose(r.S, -1.3, rtol=1e-7)
    np.testing.assert_allclose(r.hessian, 1.0, rtol=1e-7)


def test_backwards_in_time_a_kink_and_a_jump_are_told_apart():
    kink = notes(lambda t, y, p: p.a * np.maximum(0.0, t - p.a) + 0 * y, span=(2.0, 0.0))
    jump = notes(lambda t, y, p: p.a * np.where(t > p.a, 2.0, 1.0) + 0 * y, span=(2.0, 0.0))
    assert ["has a kink" in text for text in kink] == [True]
    assert ["jumps" in text for text in jump] == [True]
