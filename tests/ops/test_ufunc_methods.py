"""reduce, accumulate, reduceat, outer and at are the ufunc applied one after another."""

import functools
import warnings

import numpy as np
import pytest
from agreement import agrees, leaves, like, same
from every_mode import derivative, positive

import dualad

BINARY = [
    np.add, np.subtract, np.multiply, np.divide, np.hypot, np.logaddexp, np.logaddexp2,
    np.maximum, np.minimum, np.fmax, np.fmin, np.float_power, np.copysign,
]  # fmt: skip
X = np.array([[1.25, 0.75, 1.5, 2.0], [0.5, 1.75, 1.1, 0.6], [2.25, 1.3, 0.9, 1.7]])


def fold(u, rows):
    """u of the rows, from the left: what reduce means, in terms of the plain call."""
    rows = list(rows)
    return functools.reduce(u, rows)


@pytest.mark.parametrize("u", BINARY)
def test_reduce_is_a_fold(u):
    t = like(X)
    want = dualad.jvp(lambda x: fold(u, x), (X,), (t,))
    same(dualad.jvp(u.reduce, (X,), (t,)), want)
    derivative(lambda x: u.reduce(x, axis=1), X, second=False)
    derivative(lambda x: u.reduce(x, axis=-1, keepdims=True), X, second=False)


@pytest.mark.parametrize("u", BINARY)
def test_accumulate_is_the_reduce_of_beginnings(u):
    t = like(X)
    parts = [dualad.jvp(lambda x: u.reduce(x[: k + 1]), (X,), (t,)) for k in range(3)]
    want = tuple(np.stack(column) for column in zip(*parts, strict=True))
    same(dualad.jvp(u.accumulate, (X,), (t,)), want)
    derivative(lambda x: u.accumulate(x, axis=1), X, second=False)


@pytest.mark.parametrize("u", BINARY)
def test_reduceat_is_the_reduce_of_slices(u):
    """A start that is not below the next one takes one entry."""
    starts = [0, 2, 1, 1]
    f = lambda x: u.reduceat(x, starts, axis=1)
    pieces = lambda x: np.stack(
        [u.reduce(x[:, 0:2], axis=1), x[:, 2], x[:, 1], u.reduce(x[:, 1:4], axis=1)], 1
    )
    t = like(X)
    same(dualad.jvp(f, (X,), (t,)), dualad.jvp(pieces, (X,), (t,)))
    derivative(f, X, second=False)
    with pytest.raises(IndexError, match="out of bounds"):
        dualad.jvp(lambda x: u.reduceat(x, [4], axis=1), (X,), (t,))


@pytest.mark.parametrize("u", BINARY)
def test_outer_is_the_call_on_broadcast_axes(u):
    a, b = positive(3), positive(2, 2)
    f = lambda x, y: u(x[:, None, None], y)
    tangents = like(a), like(b)
    same(dualad.jvp(u.outer, (a, b), tangents), dualad.jvp(f, (a, b), tangents))
    derivative(u.outer, a, b, second=False)


def test_products_of_entries_in_closed_form():
    t = like(X)
    wanted = np.prod(X, 0) * np.sum(t / X, 0)
    same(dualad.jvp(np.multiply.reduce, (X,), (t,))[1], wanted)
    softmax = np.exp(X) / np.sum(np.exp(X), 0)
    same(dualad.jvp(np.logaddexp.reduce, (X,), (t,))[1], np.sum(softmax * t, 0))
    same(
        dualad.jvp(np.hypot.reduce, (X,), (t,))[1],
        np.sum(X * t, 0) / np.sqrt(np.sum(X * X, 0)),
    )


# --- axis, initial, where ------------------------------------------------------------------------


def test_several_axes_only_where_the_order_does_not_matter():
    derivative(lambda x: np.hypot.reduce(x, axis=(0, 1)), X)
    derivative(lambda x: np.hypot.reduce(x, axis=None, keepdims=True), X)
    with pytest.raises(ValueError, match="not reorderable"):
        dualad.jvp(lambda x: np.subtract.reduce(x, axis=None), (X,), (X,))


@pytest.mark.parametrize("u", [np.add, np.subtract, np.hypot, np.multiply, np.logaddexp2])
def test_initial_and_where(u):
    mask = np.array([[True], [False], [True]])
    derivative(lambda x, i: u.reduce(x, initial=i), X, np.array(0.7), second=False, batched=False)
    derivative(lambda x: u.reduce(x, initial=1.5, where=mask), X, second=False)
    rows = dualad.jvp(lambda x: u.reduce(x[::2], initial=1.5), (X,), (X,))
    same(dualad.jvp(lambda x: u.reduce(x, initial=1.5, where=mask), (X,), (X,)), rows)


def test_a_mask_needs_something_to_begin_with():
    f = lambda x: np.subtract.reduce(x, where=X > 1)
    with pytest.raises(ValueError, match="does not have an identity"):
        dualad.jvp(f, (X,), (X,))


def test_nothing_to_reduce():
    none = X[:0]
    same(dualad.jvp(np.hypot.reduce, (none,), (none,)), (np.zeros(4), np.zeros(4)))
    with pytest.raises(ValueError, match="no identity"):
        dualad.jvp(np.subtract.reduce, (none,), (none,))
    same(dualad.jvp(np.subtract.accumulate, (none,), (none,)), (none, none))


def test_a_number_reduces_to_itself():
    same(dualad.jvp(np.subtract.reduce, (3.0,), (2.0,)), (np.float64(3.0), np.float64(2.0)))


def test_dtype():
    single = X.astype(np.float32)
    value, tangent = dualad.jvp(lambda x: np.hypot.reduce(x, dtype=float), (single,), (single,))
    assert value.dtype == tangent.dtype == np.float64


def test_out():
    def f(x):
        y = np.zeros_like(x[0])
        assert np.subtract.reduce(x, out=y) is y
        return y

    derivative(f, X)


# --- what has no derivative ----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
@pytest.mark.parametrize(
    "u", [np.logical_and, np.logical_or, np.logical_xor, np.floor_divide], ids=lambda u: u.__name__
)
def test_results_without_derivative_are_numpys(u, method):
    x = np.array([[1.0, 0.0, 2.0], [7.0, 3.0, 0.0]])
    f = lambda v: getattr(u, method)(v, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, inside = f(x), []
        _, tangent = dualad.jvp(lambda v: (inside.append(f(v)), f(v))[1], (x,), (x,))
        same(np.asarray(inside[0]), want)
        same(dualad.vmap(f)(x[None]), want[None])
    assert not np.any(tangent)


def test_all_and_any_as_reductions():
    x = np.array([[1.0, 0.0], [2.0, 3.0]])

    def f(v):
        assert np.logical_and.reduce(v > 0).tolist() == [True, False]
        assert np.logical_or.reduce(v > 2, axis=1).tolist() == [False, True]
        return v

    dualad.jvp(f, (x,), (x,))


# --- at ------------------------------------------------------------------------------------------


def updated(u, where, *operand):
    """A copy of x that u.at has changed."""

    def f(x, *more):
        y = x.copy()
        u.at(y, where, *operand, *more)
        return y

    return f


@pytest.mark.parametrize("u", [np.add, np.subtract, np.multiply, np.divide, np.hypot])
def test_at_takes_repeated_indices_one_after_the_other(u):
    where, b = [0, 2, 0, 0], np.array([2.0, 3.0, 4.0, 5.0])
    x, t, tb = positive(3), like(positive(3)), like(b)

    def one_by_one(v, w):
        y = v.copy()
        for k, i in enumerate(where):
            y[i] = u(y[i], w[k])
        return y

    want = dualad.jvp(one_by_one, (x, b), (t, tb))
    same(dualad.jvp(updated(u, where), (x, b), (t, tb)), want)
    derivative(updated(u, where), x, b, second=False, batched=False)
    derivative(updated(u, where, 3.0), x, second=False)


def test_at_of_one_argument():
    f = updated(np.negative, [0, 0, 1])
    agrees(f, (X,), (X,), np.array([[1.0], [-1.0], [1.0]]) * X)
    derivative(updated(np.sqrt, ([0, 0, 2], [1, 1, 3])), X)


def test_at_with_slices_masks_and_several_axes():
    for where in ((slice(None), [0, 0]), X > 1, (np.array([[0], [2]]), [1, 3]), Ellipsis):
        derivative(updated(np.multiply, where, 3.0), X, second=False)
        derivative(updated(np.logaddexp, where, 0.5), X, second=False)


def test_at_keeps_dtype_and_refuses_plain_arrays():
    single = X.astype(np.float32)
    out, tangent = dualad.jvp(updated(np.hypot, [0], np.float64(2.0)), (single,), (single,))
    assert out.dtype == tangent.dtype == np.float32
    with pytest.raises(TypeError, match="plain ndarray"):
        dualad.jvp(lambda x: np.multiply.at(np.ones(3), [0], x), (1.0,), (1.0,))


# --- a ufunc of one's own ------------------------------------------------------------------------


def test_a_ufunc_with_a_rule_has_all_methods():
    scaled = np.frompyfunc(lambda a, b: a * b + 0.0, 2, 1)
    dualad.defelementwise(scaled, lambda out, a, b: b, lambda out, a, b: a)
    t = like(X)
    same(dualad.jvp(scaled.reduce, (X,), (t,)), dualad.jvp(np.multiply.reduce, (X,), (t,)))
    same(dualad.grad(lambda x: np.sum(scaled.outer(x, x)))(X[0]), 2 * np.sum(X[0]) * np.ones(4))


def test_a_ufunc_without_a_rule_has_no_method():
    f = np.frompyfunc(lambda a, b: a, 2, 1)
    for call in (f.reduce, f.accumulate, lambda x: f.outer(x, x)):
        with pytest.raises(NotImplementedError, match="no derivative rule"):
            dualad.jvp(call, (X,), (X,))


def test_results_have_one_part():
    assert len(leaves(dualad.jvp(np.subtract.reduce, (X,), (X,)))) == 2
