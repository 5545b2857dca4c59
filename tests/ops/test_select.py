"""Choosing: the derivative is that of the entries chosen, and an exact zero for the others."""

import warnings

import numpy as np
import pytest
from agreement import DTYPES, agrees, like, linear, same
from hypothesis import given, strategies as st

import dualad

X = np.array([[3.0, -1.0, 2.0, 7.0], [0.5, 4.0, -2.0, 1.5], [9.0, 8.0, -6.0, 5.0]])
V = np.array([3.0, 1.0, 4.0, 1.5, 9.0, 2.5])
COND = X > 1.0

# --- where ---------------------------------------------------------------------------------------

WHERE = [
    ("same shape", COND, X, X),
    ("number as condition", np.bool(True), X, X),
    ("row as condition", COND[0], X, X),
    ("column", COND[:, :1], X, X[0]),
    ("numbers", COND, np.float64(2.0), np.float64(3.0)),
    ("all numbers", np.bool(False), np.float64(2.0), np.float64(3.0)),
    ("condition is widest", np.broadcast_to(COND, (2, 3, 4)), X, X[0]),
    ("integers as condition", COND.astype(int), X, X),
    ("empty", np.zeros((0, 4), bool), X[:0], X[0]),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "cond", "x", "y"), WHERE, ids=[c[0] for c in WHERE])
def test_where_is_linear_in_its_branches(name, cond, x, y, dtype):
    x, y = like(np.asarray(x, dtype)), like(np.asarray(y, dtype))
    linear(lambda a, b: np.where(cond, a, b), x, y)
    linear(lambda a: np.where(cond, a, 0.0 * a), x)


def test_where_with_a_constant_branch():
    """The constant has slope 0, and a Python number does not widen float32."""
    x = like(np.zeros(4, np.float32))
    cond = np.array([True, False, True, False])
    value, tangent = dualad.jvp(lambda v: np.where(cond, v, 1.0), (x,), (x,))
    same(value, np.where(cond, x, np.float32(1)))
    same(tangent, np.where(cond, x, np.float32(0)))
    same(dualad.grad(lambda v: np.sum(np.where(cond, 1.0, v)))(x), (~cond).astype(np.float32))


def test_where_of_different_dtypes():
    x, z = like(np.zeros(3)), like(np.zeros(3, complex))
    linear(lambda a, b: np.where([True, False, True], a, b), x, z)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_branch_not_taken_contributes_zero_even_if_its_slope_is_not_finite(bad):
    """A NaN or infinite tangent, or slope, of the other branch does not reach the result."""
    cond = np.array([True, False])
    t = np.array([1.0, bad])
    same(
        dualad.jvp(lambda v: np.where(cond, v, 0.0), (np.ones(2),), (t,))[1], np.array([1.0, 0.0])
    )
    with np.errstate(all="ignore"):
        for f in (np.sqrt, np.log, lambda v: v**0.5, lambda v: 1 / v, np.arccosh):
            safe = lambda v: np.sum(np.where(v > 1.0, f(v), v))
            x = np.array([2.0, 0.0, -1.0])
            slope = dualad.grad(f)(2.0)
            same(dualad.grad(safe)(x), np.array([slope, 1.0, 1.0]))
            same(dualad.jacfwd(safe)(x), np.array([slope, 1.0, 1.0]))


def test_where_with_a_traced_condition():
    """The truth of a traced number decides, and has no derivative."""
    f = lambda v: np.sum(np.where(v, 2.0 * v, 5.0))
    same(dualad.grad(f)(np.array([3.0, 0.0, -1.0])), np.array([2.0, 0.0, 2.0]))


def test_where_with_one_argument_gives_places():
    f = lambda v: v[np.where(v > 1.0)]
    same(dualad.jvp(f, (X,), (2 * X,)), (X[X > 1], 2 * X[X > 1]))
    with pytest.raises(ValueError, match="both or neither"):
        dualad.jvp(lambda v: np.where(v > 1, v), (X,), (X,))


def test_where_in_a_nested_derivative():
    """d2/dx2 of x**3 above 0, x**2 below."""
    f = lambda v: np.sum(np.where(v > 0, v**3, v**2))
    x = np.array([2.0, -2.0])
    same(dualad.hessian(f)(x), np.diag([12.0, 2.0]))


# --- select, choose, piecewise -------------------------------------------------------------------


def test_select_takes_the_first_condition_that_holds():
    conds = [X < 0, X < 3, X < 8]
    f = lambda v, w: np.select(conds, [v, 2.0 * v, w], default=0.0)
    linear(f, like(X), like(X[0]))
    dtype = np.select([X < 0], [X.astype(np.float32)], 1.0).dtype
    x32 = X.astype(np.float32)
    assert dualad.jvp(lambda v: np.select([v < 0], [v], 1.0), (x32,), (x32,))[1].dtype == dtype
    with pytest.raises(ValueError, match="same length"):
        dualad.jvp(lambda v: np.select([v < 0], [v, v]), (X,), (X,))
    with pytest.raises(ValueError, match="empty"):
        dualad.jvp(lambda v: np.select([v < 0][:0], [v][:0], v), (X,), (X,))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choose(mode):
    which = np.array([0, 2, 1, 0]) + (0 if mode == "raise" else 2)
    linear(lambda x, y: np.choose(which, [x, y, 3.0 * x], mode=mode), like(V[:4]), like(V[:4]))
    linear(lambda x: np.choose(which, [x, 2.0 * x, x[::-1]], mode=mode), like(X))
    with pytest.raises(ValueError, match="invalid entry"):
        dualad.jvp(lambda x: np.choose(which + 3, [x, x]), (V[:4],), (V[:4],))


def test_choose_an_alternative_per_entry_of_a_batch():
    x, which = like(X), np.array([2, 0, 1])
    f = lambda v, k: np.choose(k, [v[0], v[1], v[2]])
    same(dualad.vmap(f)(x, which), x[np.arange(3), which])
    gradient = dualad.vmap(lambda v, k: dualad.grad(f)(v, k))(x, which)
    want = np.zeros_like(x)
    want[np.arange(3), which] = 1
    same(gradient, want)


def test_piecewise_calls_each_function_on_its_own_entries():
    seen = []

    def root(v):
        seen.append(v.shape)
        return np.sqrt(np.abs(v))

    f = lambda v: np.piecewise(v, [v < 0, v > 4], [lambda u: u**2, root, lambda u: 3.0 * u])
    x = np.array([-2.0, 9.0, 1.0, 16.0])
    slopes = np.array([-4.0, 1 / 6, 3.0, 1 / 8])
    agrees(f, (x,), (V[:4],), slopes * V[:4])
    assert (2,) in seen


def test_piecewise_with_constants_extra_arguments_and_numbers():
    f = lambda v: np.piecewise(v, [v < 0], [7.0, lambda u, k, power=1: k * u**power], 3.0, power=2)
    same(dualad.grad(lambda v: np.sum(f(v)))(np.array([-1.0, 2.0])), np.array([0.0, 12.0]))
    same(dualad.jvp(f, (2.0,), (1.0,)), (np.array(12.0), np.array(12.0)))
    same(dualad.jvp(f, (-2.0,), (1.0,)), (np.array(7.0), np.array(0.0)))
    with pytest.raises(ValueError, match="functions are expected"):
        dualad.jvp(lambda v: np.piecewise(v, [v < 0], []), (V,), (V,))


def test_piecewise_does_not_run_what_is_not_taken():
    def never(v):
        raise AssertionError("no entry is here")

    f = lambda v: np.piecewise(v, [v < 0], [never, lambda u: 2.0 * u])
    same(dualad.jvp(f, (V,), (V,))[1], 2 * V)
    same(dualad.grad(f)(1.0), 2.0)


# --- clip ----------------------------------------------------------------------------------------


def test_clip_slopes():
    """Inside for x, outside for the bound, at a bound for x, where bounds cross for the upper."""
    rows = [  # x, low, high, slope of x, of low, of high
        (0.5, 0.0, 1.0, 1, 0, 0),
        (-1.0, 0.0, 1.0, 0, 1, 0),
        (2.0, 0.0, 1.0, 0, 0, 1),
        (0.0, 0.0, 1.0, 1, 0, 0),
        (1.0, 0.0, 1.0, 1, 0, 0),
        (1.0, 1.0, 1.0, 1, 0, 0),
        (0.0, 1.0, 1.0, 0, 1, 0),
        (2.0, 1.0, 1.0, 0, 0, 1),
        (0.0, 2.0, 1.0, 0, 0, 1),
        (1.5, 2.0, 1.0, 0, 0, 1),
        (3.0, 2.0, 1.0, 0, 0, 1),
    ]
    x, low, high, *slopes = (np.array(c, float) for c in zip(*rows, strict=True))
    agrees(
        np.clip,
        (x, low, high),
        (V[0] * x, V[1] * low, V[2] * high),
        (slopes[0] * V[0] * x + slopes[1] * V[1] * low + slopes[2] * V[2] * high),
    )
    gradients = dualad.grad(lambda *a: np.sum(np.clip(*a)), argnums=(0, 1, 2))(x, low, high)
    same(gradients, tuple(slopes))


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_clip_by_itself_is_the_identity(x, bound):
    """clip(x, x, x) = x, and clip(x, low, x) = x above low: slope 1."""
    assert dualad.grad(lambda v: np.clip(v, v, v))(x) == 1.0
    if x > bound:
        assert dualad.grad(lambda v: np.clip(v, bound, v))(x) == 1.0


def test_clip_forms():
    """One bound, none, keywords, out, broadcasting, and dtypes."""
    x, t = like(X), like(X)
    inside = lambda low, high: np.where((low <= x) & (x <= high), t, 0.0)
    for f, want in [
        (lambda v: np.clip(v, 0.0, None), inside(0.0, np.inf)),
        (lambda v: np.clip(v, None, 0.5), inside(-np.inf, 0.5)),
        (lambda v: np.clip(v, min=-0.5, max=0.5), inside(-0.5, 0.5)),
        (lambda v: v.clip(-0.5, 0.5), inside(-0.5, 0.5)),
        (lambda v: v.clip(max=0.5), inside(-np.inf, 0.5)),
        (lambda v: np.clip(v, [[-1.0], [0.0], [0.5]], 2.0), inside(np.c_[[-1.0, 0.0, 0.5]], 2.0)),
    ]:
        agrees(f, (x,), (t,), want)
    x32 = x.astype(np.float32)
    assert dualad.jvp(lambda v: np.clip(v, 0.0, 1.0), (x32,), (x32,))[1].dtype == np.float32

    def into(v):
        buffer = np.zeros_like(v)
        assert np.clip(v, 0.0, 1.0, out=buffer) is buffer
        return buffer

    agrees(into, (x,), (t,), inside(0.0, 1.0))


def test_clip_of_integers_along_a_batch():
    n = np.array([0, 5, 9])
    same(dualad.vmap(lambda k: np.clip(k, 2, 7))(n), np.clip(n, 2, 7))
    same(dualad.vmap(lambda k: np.clip(k, None, 7))(n), np.clip(n, None, 7))
    same(dualad.vmap(lambda k: np.clip(k, 2, None))(n), np.clip(n, 2, None))


def test_nan_to_num():
    """The identity on finite entries; constant, with slope 0, on the others."""
    x = np.array([1.0, np.nan, np.inf, -np.inf, -2.0])
    finite = np.isfinite(x).astype(float)
    for kwargs in ({}, {"nan": 7.0, "posinf": 8.0, "neginf": -9.0}):
        agrees(lambda v: np.nan_to_num(v, **kwargs), (x,), (V[:5],), finite * V[:5])
    z = np.array([complex(1.0, np.nan), complex(np.inf, 2.0)])
    t = np.array([3 + 4j, 5 + 6j])
    same(dualad.jvp(np.nan_to_num, (z,), (t,)), (np.nan_to_num(z), np.array([3 + 0j, 6j])))

    def in_place(v):
        y = v * 1.0
        assert np.nan_to_num(y, copy=False) is y
        return y

    agrees(in_place, (x,), (V[:5],), finite * V[:5])


def test_no_warning_that_numpy_does_not_give():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = np.array([np.nan, 1.0, -np.inf])
        for f in (
            np.sort,
            np.nan_to_num,
            lambda v: np.clip(v, 0, 1),
            lambda v: np.where(v > 0, v, 0),
        ):
            dualad.grad(lambda v: np.sum(f(v)))(x)
            dualad.jvp(f, (x,), (x,))
