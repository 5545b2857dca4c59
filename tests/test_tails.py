"""Slopes keep their relative precision out to the ends of their domains: docs/accuracy.md."""

from pathlib import Path

import numpy as np
import pytest
from markdown import tables
from tails import CASES, HEAD, measured, page, special_cases

import dualad
from dualad.engine.primitives.primitive import PRIMITIVES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "accuracy.md"
#: Rules with constant slopes or with kinks: nothing is lost in them.
SIMPLE = {
    "absolute", "add", "bessel_i", "clip", "copysign", "deg2rad", "degrees", "fabs", "fmax",
    "fmin", "fmod", "fraction", "heaviside", "i0", "ldexp", "mantissa", "maximum", "minimum",
    "negative", "nextafter", "polynomial_power", "positive", "rad2deg", "radians", "remainder",
    "subtract", "tanh_slope",
}  # fmt: skip
#: Where the function itself is less precise, or the slope a difference that is not avoided yet.
BOUND = {"sinc": 1e3, "dawsn": 80, "boxcox": 1e3, "i0e": 60, "erfcx": 20, "i0": 10, "i1": 10}


def of(cases):
    return [
        pytest.param(c, k, id=f"{c.name}-{'xy'[k]}") for c in cases for k in range(len(c.points))
    ]


@pytest.mark.parametrize("c, k", of(CASES))
def test_slopes_of_numpy_keep_relative_precision(c, k):
    assert measured(c, k, every=11).slope < BOUND.get(c.name, 6)


@pytest.mark.parametrize("c, k", of(special_cases()))
def test_slopes_of_scipy_special_keep_relative_precision(c, k):
    assert measured(c, k, every=23).slope < BOUND.get(c.name, 6)


def test_the_page_has_every_smooth_rule_and_keeps_the_bounds():
    assert PAGE.read_text(encoding="utf-8").startswith(HEAD)
    rows = {(r["function"].strip("`"), r["slope in"]): r for r in tables(PAGE)[0]}
    wanted = {
        (f"special.{c.name}" if c.special else c.name, "xy"[k])
        for c in [*CASES, *special_cases()]
        for k in range(len(c.points))
    }
    assert set(rows) == wanted, "run: python docs/generate_accuracy.py"
    for (name, _), r in rows.items():
        assert float(r["largest error"]) < BOUND.get(name.rpartition(".")[2], 6)
    named = {c.name for c in CASES}
    rules = {n for n, p in PRIMITIVES.items() if p.family == "elementwise"}
    assert {n for n in rules if not n.startswith("complex_")} - named - SIMPLE == set()


@pytest.mark.slow
def test_the_page_is_up_to_date():
    assert page() == PAGE.read_text(encoding="utf-8"), "run: python docs/generate_accuracy.py"


X = 10.0 ** np.linspace(-300, 300, 61)
NAMES = ("tanh", "arctan", "arcsinh", "expm1", "logaddexp", "hypot", "sinc", "divide")


@pytest.mark.parametrize("name", NAMES)
def test_far_out_a_slope_warns_of_nothing_that_the_function_does_not(name):
    f = getattr(np, name)
    g = f if not isinstance(f, np.ufunc) or f.nin == 1 else lambda x: f(x, 2.0)
    x = np.concatenate([-X[::-1], X])
    x = x[x < 700] if name == "expm1" else x
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        dualad.jvp(g, (x,), (np.ones_like(x),))
        dualad.grad(lambda v: np.sum(g(v)))(x[np.abs(x) < 1e200])


def test_the_slope_of_tanh_is_smooth_at_zero_and_vanishes_far_out():
    """The first three derivatives at 0 are 1, 0, -2; far out all are 0, not NaN."""
    first = dualad.grad(np.tanh)
    second, third = dualad.grad(first), dualad.grad(dualad.grad(first))
    assert (first(0.0), second(0.0), third(0.0)) == (1.0, 0.0, -2.0)
    np.testing.assert_allclose(first(300.0), 4 * np.exp(-600.0), rtol=1e-15)
    np.testing.assert_allclose(second(-300.0), 8 * np.exp(-600.0), rtol=1e-14)
    assert first(1e9) == second(1e9) == third(-1e9) == 0.0
    np.testing.assert_allclose(dualad.jvp(np.tanh, (1j,), (1.0 + 0j,))[1], 1 - np.tanh(1j) ** 2)
