"""Zero meets infinity, and finding a NaN cheaply."""

import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import dualad
from dualad.engine.arrays.guard import has_nan, ignore, quiet, restore, zero_wins_raw
from dualad.engine.kinds.dual import make_dual
from dualad.engine.levels.level import Level

EXTREMES = [0.0, -0.0, 1.0, -1e308, 1e308, 1e-320, np.inf, -np.inf]
DTYPES = [np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,), (4, 1)])
def test_has_nan_finds_a_nan_and_nothing_else(dtype, shape):
    """Infinities of both signs, and squares that overflow, are no NaN."""
    with np.errstate(all="ignore"):
        a = np.resize(np.array(EXTREMES), shape).astype(dtype)
        assert not has_nan(a)
        for k in range(a.size):
            b = a.copy()
            b.flat[k] = np.nan
            assert has_nan(b)
            assert has_nan(b.T) and has_nan(np.asfortranarray(b))


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=3), elements=st.floats(allow_nan=True)))
def test_has_nan_of_any_array(a):
    with np.errstate(all="ignore"):
        assert has_nan(a) == bool(np.isnan(a).any())
        assert has_nan(a[..., ::2]) == bool(np.isnan(a[..., ::2]).any())


@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[:, ::2].T, lambda a: a[:, :1].T])
def test_has_nan_of_transposes(view):
    a = np.ones((6, 4))
    assert not has_nan(view(a))
    a[4, 0] = np.nan
    assert has_nan(view(a))


def test_has_nan_of_scalars_and_of_traced_values():
    assert has_nan(np.float64("nan")) and not has_nan(np.float64("inf"))
    assert has_nan(np.float32("nan")) and not has_nan(np.complex128(1j))
    with Level("test") as level:
        assert has_nan(make_dual(level, np.float64("nan"), np.float64(1.0)))
        assert not has_nan(make_dual(level, np.float64(1.0), np.float64("nan")))


def test_has_nan_gives_no_warning_inside_a_quiet_context():
    with np.errstate(all="raise"), quiet():
        assert not has_nan(np.full(3, 1e300)) and has_nan(np.array([np.inf, np.nan]))


@pytest.mark.parametrize("b", [np.inf, -np.inf, np.nan, 1e308, 2.0, 0.0])
def test_zero_wins_is_the_product_except_at_zero(b):
    a = np.array([0.0, -0.0, 2.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = np.where(a == 0, 0.0, a * b)
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(zero_wins_raw(a, b), expected)
        assert zero_wins_raw(np.float64(0.0), b) == 0.0


def test_ignore_and_restore_are_a_quiet_context():
    before = np.geterr()
    with np.errstate(divide="raise"):
        token = ignore()
        try:
            assert np.geterr() == dict.fromkeys(before, "ignore")
            np.float64(1.0) / np.float64(0.0)
            inner = ignore()
            restore(inner)
            assert np.geterr()["divide"] == "ignore"
        finally:
            restore(token)
        assert np.geterr()["divide"] == "raise"
    assert np.geterr() == before


def test_an_exception_in_a_singular_rule_restores_the_error_state():
    def f(x):
        with pytest.raises(ValueError):
            x / np.ones((2, 2, 7)) / np.ones(5)
        return x[0]

    before = np.geterr()
    dualad.jvp(f, (np.ones(3),), (np.ones(3),))
    dualad.grad(f)(np.ones(3))
    assert np.geterr() == before


def test_the_error_state_belongs_to_its_thread():
    seen = []
    token = ignore()
    try:
        thread = threading.Thread(target=lambda: seen.append(np.geterr()["divide"]))
        thread.start()
        thread.join()
    finally:
        restore(token)
    assert seen == ["warn"]


# --- in both modes ---------------------------------------------------------------------------

STEEP = {
    "sqrt": (np.sqrt, 0.0),
    "log": (np.log, 0.0),
    "cbrt": (np.cbrt, 0.0),
    "arcsin": (np.arcsin, 1.0),
    "arccosh": (np.arccosh, 1.0),
    "arctanh": (np.arctanh, 1.0),
    "power": (lambda x: x**0.5, 0.0),
    "negative power": (lambda x: x**-1, 0.0),
    "reciprocal": (lambda x: 1.0 / x, 0.0),
    "nested": (lambda x: np.sqrt(np.sqrt(x)), 0.0),
    "times a constant": (lambda x: 3.0 * np.sqrt(x) - 1.0, 0.0),
}


@pytest.mark.parametrize("f, at", STEEP.values(), ids=STEEP)
def test_a_zero_tangent_passes_an_infinite_slope_as_zero(f, at):
    x, t = np.array([at, 0.5 if at != 1.0 else at + 0.5]), np.array([0.0, 1.0])
    if f in (np.arcsin, np.arctanh):
        x[1] = 0.5
    with np.errstate(all="ignore"):
        tangent = dualad.jvp(f, (x,), (t,))[1]
        share = dualad.vjp(f, x)[1](t)[0]
        applied = dualad.linearize(f, x)[1](t)
        columns = dualad.jacfwd(f)(x)
        rows = dualad.jacrev(f)(x)
    for found in (tangent, share, applied):
        assert found[0] == 0.0 and np.isfinite(found[1])
    for jacobian in (columns, rows):
        assert jacobian[0, 1] == jacobian[1, 0] == 0.0 and np.isinf(jacobian[0, 0])


def test_a_zero_that_came_out_of_a_product_wins_as_well():
    """d/dx of sqrt(x0 * x1) at x1 = 0 along (1, 0): the inner tangent is exactly zero."""
    f = lambda x: np.sqrt(x[0] * x[1])
    assert dualad.jvp(f, (np.array([2.0, 0.0]),), (np.array([1.0, 0.0]),))[1] == 0.0


def test_a_tangent_that_is_infinite_or_nan_is_handed_on():
    assert dualad.jvp(np.sqrt, (0.0,), (1.0,))[1] == np.inf
    assert np.isnan(dualad.jvp(np.sqrt, (1.0,), (np.nan,))[1])
    assert dualad.jvp(np.log, (2.0,), (np.inf,))[1] == np.inf


def test_second_derivatives_at_an_infinite_slope():
    """d2/dx2 of x**1.5 at 0 is infinite, and so are those of the square root."""
    with np.errstate(all="ignore"):
        assert dualad.grad(dualad.grad(lambda x: x**1.5))(0.0) == np.inf
        assert dualad.grad(dualad.grad(np.sqrt))(0.0) == -np.inf
