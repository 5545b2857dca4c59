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


# --- take and its kin ----------------------------------------------------------------------------

AT = np.array([[2, 0], [2, -1]])
TAKE = [
    ("take", lambda x: np.take(x, [0, 5, 5, -1])),
    ("take_number", lambda x: np.take(x, 4)),
    ("take_axis", lambda x: np.take(x, AT, axis=1)),
    ("take_last_axis", lambda x: np.take(x, 1, axis=-1)),
    ("take_wrap", lambda x: np.take(x, [4, -9, 13], axis=1, mode="wrap")),
    ("take_clip", lambda x: np.take(x, [4, -9, 1], axis=1, mode="clip")),
    ("take_along_axis", lambda x: np.take_along_axis(x, np.array([[1], [1], [0]]), 1)),
    ("take_along_rows", lambda x: np.take_along_axis(x, np.array([[1, 0, 2, 2]] * 2), 0)),
    ("take_along_flat", lambda x: np.take_along_axis(x, np.array([3, 3]), None)),
    ("compress", lambda x: np.compress([True, False, True], x, axis=0)),
    ("compress_short", lambda x: np.compress([False, True], x, axis=1)),
    ("compress_flat", lambda x: np.compress([True, False, True], x)),
    ("extract", lambda x: np.extract(COND, x)),
    ("delete", lambda x: np.delete(x, 1, axis=0)),
    ("delete_many", lambda x: np.delete(x, [0, -1], axis=1)),
    ("delete_slice", lambda x: np.delete(x, slice(1, 3), axis=1)),
    ("delete_mask", lambda x: np.delete(x, np.array([True, False, True]), axis=0)),
    ("delete_flat", lambda x: np.delete(x, [3, 4])),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "f"), TAKE, ids=[c[0] for c in TAKE])
def test_taking_is_linear(name, f, dtype):
    linear(f, like(np.asarray(X, dtype)))


INSERT = [
    ("number", 1, None, 7.0),
    ("numbers", [1, 1, 3], None, V[:3]),
    ("row", 1, 0, X[0]),
    ("rows", [0, 2], 0, X[:2]),
    ("many rows in one place", 1, 0, X[:2].T[:2].T @ np.ones((2, 4))),
    ("column", 2, 1, V[:3]),
    ("columns broadcast", [0, 4], 1, V[:1]),
    ("slice", slice(0, 3), 1, np.ones((3, 3))),
    ("one in a list", [1], 1, V[:3, None]),
    ("negative", -1, 0, X[0]),
]


@pytest.mark.parametrize(("name", "obj", "axis", "values"), INSERT, ids=[c[0] for c in INSERT])
def test_insert_is_linear_in_both(name, obj, axis, values):
    linear(lambda x, v: np.insert(x, obj, v, axis), like(X), like(np.asarray(values, float)))
    linear(lambda x: np.insert(x, obj, 0.0, axis), like(X))


def test_take_with_an_index_per_entry_of_a_batch():
    """A table that is the same for all, looked up by each; and each its own table."""
    at = np.array([[0, 3], [2, -1], [1, 1]])
    same(dualad.vmap(lambda k: np.take_along_axis(V, k, 0))(at), V[at])
    same(dualad.vmap(np.take)(X, at), np.take_along_axis(X, at, 1))
    wrapped = lambda x, k: np.take(x, k, mode="wrap")
    same(dualad.vmap(wrapped)(X, at + 8), np.take_along_axis(X, at, 1))
    clipped = lambda x, k: np.take(x, k, mode="clip")
    same(dualad.vmap(clipped)(X, at * 9), np.take_along_axis(X, np.clip(at * 9, 0, 3), 1))
    along = lambda x, k: np.take_along_axis(x, k, 0)
    same(dualad.vmap(along)(X, at), np.take_along_axis(X, at, 1))
    largest = lambda x: x[np.argmax(x)] ** 2
    same(dualad.vmap(dualad.grad(largest))(X), np.where(X == X.max(1, keepdims=True), 2 * X, 0))


def test_take_out_of_range():
    with pytest.raises(IndexError):
        dualad.jvp(lambda x: np.take(x, 99), (X,), (X,))
    with pytest.raises(np.exceptions.AxisError):
        dualad.jvp(lambda x: np.take(x, 0, axis=2), (X,), (X,))


def test_trim_zeros_and_unique():
    x = np.array([0.0, 0.0, 3.0, 0.0, 1.0, 3.0, 0.0])
    t = np.arange(1.0, 8.0)
    same(dualad.jvp(np.trim_zeros, (x,), (t,)), (x[2:6], t[2:6]))
    same(dualad.jvp(lambda v: np.trim_zeros(v, "f"), (x,), (t,)), (x[2:], t[2:]))
    same(dualad.jvp(lambda v: np.trim_zeros(v, "b"), (x,), (t,)), (x[:6], t[:6]))
    assert dualad.jvp(np.trim_zeros, (np.zeros(3),), (t[:3],))[0].size == 0
    same(dualad.jvp(np.unique, (x,), (t,)), (np.array([0.0, 1, 3]), np.array([1.0, 5, 3])))
    same(dualad.jvp(np.unique_values, (x,), (t,))[1], np.array([1.0, 5, 3]))
    _, places = dualad.jvp(lambda v: np.unique(v, return_index=True), (x,), (t,))[0]
    same(places, np.array([0, 4, 2]))
    same(
        dualad.jvp(lambda v: np.union1d(v, [2.0, 1.0]), (x,), (t,)),
        (np.array([0.0, 1, 2, 3]), np.array([1.0, 5, 0, 3])),
    )


# --- order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_sort_moves_the_tangent_with_the_entries(axis, dtype):
    x, t = like(np.asarray(X, dtype)), like(np.asarray(X, dtype))
    flat = axis is None
    order = np.argsort(x.ravel() if flat else x, 0 if flat else axis)
    want = np.take_along_axis(t.ravel() if flat else t, order, 0 if flat else axis)
    agrees(lambda v: np.sort(v, axis), (x,), (t,), want)
    agrees(lambda v: np.sort(v, axis, stable=True), (x,), (t,), want)


def test_sort_of_ties_keeps_their_order():
    x, t = np.array([2.0, 1.0, 2.0, 1.0, 2.0]), np.arange(5.0)
    agrees(np.sort, (x,), (t,), np.array([1.0, 3.0, 0.0, 2.0, 4.0]))


def test_sort_puts_nan_last_and_orders_complex_numbers():
    x, t = np.array([2.0, np.nan, -1.0]), np.array([1.0, 2.0, 3.0])
    agrees(np.sort, (x,), (t,), np.array([3.0, 1.0, 2.0]))
    z = np.array([2 + 1j, 1 + 5j, 2 - 1j])
    agrees(np.sort, (z,), (1j * z,), 1j * np.sort(z))
    agrees(np.sort_complex, (V,), (t[0] * V,), np.sort(V) + 0j)


def test_partition_is_a_permutation():
    x, t = like(V), like(V)
    value, tangent = dualad.jvp(lambda v: np.partition(v, 2), (x,), (t,))
    same(value, np.partition(x, 2))
    same(tangent, t[np.argpartition(x, 2)])
    same(np.sort(dualad.grad(lambda v: np.sum(np.partition(v, 2)[:3]))(x)), np.repeat([0.0, 1], 3))


def test_second_derivatives_through_an_order():
    """sum of k x_(k)**2: the Hessian is diagonal with twice the ranks."""
    f = lambda v: np.sum(np.arange(6.0) * np.sort(v) ** 2)
    same(dualad.hessian(f)(V), np.diag(2.0 * np.argsort(np.argsort(V))))


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
