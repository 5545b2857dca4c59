"""Warnings and errors of floating point arithmetic: NumPy's own, whoever computes."""

import platform
import warnings

import numpy as np
import pytest
from native_programs import is_whole, native, program_of

import dualad
from dualad.compiling.native import flags, native_function, ranges, shared

if platform.machine().lower() not in ("x86_64", "amd64"):
    pytest.skip("the flags of this processor are not read", allow_module_level=True)

MESSAGES = {
    "divide": "divide by zero",
    "over": "overflow",
    "invalid": "invalid value",
    "under": "underflow",
}
#: function, argument, and the flag that IEEE 754 demands
RAISING = [
    (np.log, 0.0, "divide"), (np.log, -1.0, "invalid"), (np.log2, 0.0, "divide"),
    (np.log10, -2.0, "invalid"), (np.log1p, -1.0, "divide"), (np.log1p, -3.0, "invalid"),
    (np.exp, 1e3, "over"), (np.exp2, 2e3, "over"), (np.expm1, 1e3, "over"),
    (np.sinh, 1e3, "over"), (np.cosh, -1e3, "over"), (np.sqrt, -1.0, "invalid"),
    (np.reciprocal, 0.0, "divide"), (np.square, 1e200, "over"), (np.sin, np.inf, "invalid"),
    (np.cos, -np.inf, "invalid"), (np.tan, np.inf, "invalid"), (np.arcsin, 2.0, "invalid"),
    (np.arccos, -2.0, "invalid"), (np.arccosh, 0.5, "invalid"), (np.arctanh, 1.0, "divide"),
    (np.arctanh, 2.0, "invalid"), (lambda x: x - np.inf, np.inf, "invalid"),
    (lambda x: 0.0 * x, np.inf, "invalid"), (lambda x: (x - 1.0) / (x - 1.0), 1.0, "invalid"),
    (lambda x: 1.0 / (x - 1.0), 1.0, "divide"), (lambda x: x**1.5, -1.0, "invalid"),
]  # fmt: skip
KINDS = ["number", "registers", "loop", "ranges"]
#: an ordinary argument, where 1.25 is none
ORDINARY = {np.arcsin: 0.25, np.arccos: 0.25, np.arctanh: 0.25}


def argument(kind, value, ordinary=1.25):
    """Ordinary values, and one that is not in the last place."""
    if kind == "number":
        return np.float64(value)
    x = np.full({"registers": 5, "loop": 500, "ranges": 5000}[kind], ordinary)
    x[-1] = value
    return x


def compiled(f, kind, monkeypatch):
    """The native function for a kind of argument."""
    if kind == "ranges":
        monkeypatch.setattr(shared, "LEAST", 0.0)
        monkeypatch.setattr(shared, "EACH", 1.0)
        monkeypatch.setattr(ranges, "ENTRIES", 300)
    ordinary = argument(kind, 1.25)
    with np.errstate(all="ignore"):
        program, _ = program_of(lambda x: f(x) * x, ordinary)
    run = native_function(program, 3)
    assert is_whole(run)
    return run


def warned(f, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(*args)
    assert all(w.category is RuntimeWarning for w in found)
    return " ".join(str(w.message) for w in found)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("f", "value", "flag"), RAISING, ids=range(len(RAISING)))
def test_what_ieee_754_demands_is_heard(monkeypatch, f, value, flag, kind):
    ordinary = ORDINARY.get(f, 1.25)
    run, x = compiled(f, kind, monkeypatch), argument(kind, value, ordinary)
    for _ in range(2):
        assert MESSAGES[flag] in warned(run, x)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match=MESSAGES[flag]):
            run(x)
        with np.errstate(**{flag: "ignore"}):
            assert MESSAGES[flag] not in warned(run, x)
        assert warned(run, argument(kind, ordinary, ordinary)) == ""


@pytest.fixture
def no_second_run(monkeypatch):
    def refused(self, *args):
        raise AssertionError("the program ran by NumPy")

    monkeypatch.setattr(flags.Again, "__call__", refused)


@pytest.mark.parametrize("kind", KINDS)
def test_ordinary_values_and_states_that_ignore_have_no_second_run(
    monkeypatch, no_second_run, kind
):
    run = compiled(lambda x: np.log(np.exp(x) + 1.0) / x, kind, monkeypatch)
    run(argument(kind, 3.0))
    with np.errstate(all="ignore"):
        run(argument(kind, 0.0))


def test_flags_from_before_are_not_the_programs(no_second_run):
    run, (x,) = native(lambda x: np.sin(x) * x, np.ones(5))
    with np.errstate(all="ignore"):
        np.log(np.zeros(3))
        np.float64(1.0) / np.float64(0.0)
    run(x)


def test_underflow_is_heard_where_it_is_asked_for(monkeypatch):
    run, _ = native(lambda x: np.exp(-x) * np.exp(-x), np.ones(5))
    x = np.full(5, 500.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flags.Again, "__call__", None)
        run(x)
    with np.errstate(under="raise"), pytest.raises(FloatingPointError, match="underflow"):
        run(x)
    with np.errstate(over="ignore"):
        assert warned(run, x) == ""


def test_a_comparison_with_nan_gives_no_warning():
    """The processor raises a flag, NumPy does not."""
    run, _ = native(lambda x: np.where(x < 1.0, x, np.maximum(x, 2.0)), np.ones(50))
    x = np.linspace(0.0, 3.0, 50)
    x[7] = np.nan
    with np.errstate(all="raise"):
        (got,) = run(x)
    np.testing.assert_array_equal(got, np.where(x < 1.0, x, np.maximum(x, 2.0)))


def test_the_error_is_the_functions_own_and_the_warning_points_at_numpy():
    f = dualad.compile(lambda x: np.sum(1.0 / x) * 2.0)
    x = np.ones(5)
    f(x), f(x)
    x[0] = 0.0
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        f(x)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert f(x) == np.inf
    heard = []
    with np.errstate(all="call", call=lambda kind, flag: heard.append(kind)):
        f(x)
    assert heard == ["divide by zero"]


def test_parts_between_steps_of_numpy_are_heard():
    def f(a):
        return np.log(np.linalg.det(a * 1.0) * a) * 2.0

    run, _ = native(f, np.array([[2.0, 1.0], [1.0, 2.0]]))
    assert not is_whole(run)
    assert "divide" in warned(run, 2.0 * np.eye(2))
    with np.errstate(all="ignore"):
        (got,) = run(2.0 * np.eye(2))
    np.testing.assert_allclose(got, [[2.0 * np.log(8.0), -np.inf], [-np.inf, 2.0 * np.log(8.0)]])


def test_what_rules_of_derivatives_do_quietly_stays_quiet():
    """The slope of sqrt(x * x) at 0 is settled by zeros: no warning, as in the function itself."""
    f = dualad.grad(lambda x: np.sum(np.sqrt(x * x)))
    g = dualad.compile(f)
    x = np.ones(300)
    g(x), g(x)
    x[3] = 0.0
    with np.errstate(all="raise"):
        for _ in range(3):
            np.testing.assert_array_equal(g(x), f(x))
