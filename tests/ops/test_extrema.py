"""max, min and their kin: the slope belongs to the entry that attains, ties share evenly."""

import warnings

import numpy as np
import pytest
from every_mode import apart, close, derivative, real

import dualad

MASK = np.array([True, False, True, True])
REDUCTIONS = [np.max, np.min, np.amax, np.amin, np.ptp, np.nanmax, np.nanmin]


@pytest.mark.parametrize("f", REDUCTIONS)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_extrema_of_different_entries(f, axis, keepdims):
    derivative(lambda x: f(x, axis=axis, keepdims=keepdims), apart(2, 3, 4))


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
def test_the_tangent_is_that_of_the_entry_which_attains(axis):
    x, t = real(2, 3, 4), real(2, 3, 4)
    hit = x == np.max(x, axis=axis, keepdims=True)
    want = np.sum(np.where(hit, t, 0.0), axis=axis)
    close(dualad.jvp(lambda v: np.max(v, axis=axis), (x,), (t,))[1], want)


@pytest.mark.parametrize("modes", [dualad.grad, dualad.jacfwd, dualad.jacrev])
@pytest.mark.parametrize(
    "f, x, slope",
    [
        (np.max, [2.0, 2.0, 1.0], [1 / 2, 1 / 2, 0]),
        (np.min, [2.0, 2.0, 2.0], [1 / 3, 1 / 3, 1 / 3]),
        (np.ptp, [3.0, 3.0, -1.0], [1 / 2, 1 / 2, -1]),
        (np.ptp, [1.0, 1.0], [0, 0]),
        (np.nanmax, [np.nan, 2.0, 2.0], [0, 1 / 2, 1 / 2]),
        (lambda v: np.max(v, initial=2.0), [2.0, 1.0], [1 / 2, 0]),
        (lambda v: np.max(v, initial=3.0), [2.0, 1.0], [0, 0]),
    ],
)
def test_ties_share_evenly(modes, f, x, slope):
    close(modes(f)(np.array(x)), np.array(slope, float))


def test_ties_in_some_rows_only():
    x = np.array([[1.0, 5.0, 5.0], [4.0, 2.0, 3.0]])
    slope = np.array([[0, 0.5, 0.5], [1.0, 0, 0]])
    f = lambda v: np.sum(np.max(v, axis=1))
    close(dualad.grad(f)(x), slope)
    close(dualad.jvp(lambda v: np.max(v, axis=1), (x,), (x,))[1], np.sum(slope * x, 1))
    close(dualad.vmap(dualad.grad(np.max))(x), slope)


def test_a_nan_beside_a_tie_is_not_taken_for_two_single_extrema():
    """Row 0 attains its maximum nowhere and row 1 twice: in all as many hits as rows."""
    x, t = np.array([[np.nan, 1.0], [2.0, 2.0]]), np.array([[5.0, 6.0], [1.0, 3.0]])
    close(dualad.jvp(lambda v: np.max(v, axis=1), (x,), (t,))[1], [0.0, 2.0])


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), (2, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_the_cotangent_goes_to_the_entry_which_attains_and_adds_to_what_others_leave(
    axis, keepdims
):
    """Also where it is added to a cotangent that lies in another order."""
    x, w = real(3, 4, 5), real(5, 4, 3)
    hit = x == np.max(x, axis=axis, keepdims=True)
    out, pullback = dualad.vjp(
        lambda v: (np.max(v, axis=axis, keepdims=keepdims), np.transpose(v) * w), x
    )
    c = real(*out[0].shape)
    kept = c if keepdims else np.expand_dims(c, axis)
    close(pullback((c, np.ones((5, 4, 3)))), (np.where(hit, kept, 0.0) + w.T,))


def test_an_infinite_tangent_elsewhere_does_not_matter():
    x, t = np.array([1.0, 3.0, 3.0]), np.array([np.inf, 1.0, 2.0])
    close(dualad.jvp(np.max, (x,), (t,))[1], 1.5)


def test_masks_and_initial_values():
    derivative(lambda x: np.max(x, axis=1, initial=0.5), apart(3, 4))
    derivative(lambda x: np.max(x, axis=1, initial=-5, where=MASK), apart(3, 4))
    derivative(lambda x: np.min(x, axis=1, initial=5, where=MASK), apart(3, 4))
    x = np.array([9.0, 1.0])
    close(dualad.grad(lambda v: np.max(v, initial=-1.0, where=[False, True]))(x), [0.0, 1.0])


def test_extrema_of_nothing():
    x = np.zeros((0, 2))
    with pytest.raises(ValueError, match="no identity"):
        dualad.jvp(np.max, (x,), (x,))
    y, moved = dualad.jvp(lambda v: np.max(v, axis=0, initial=3.0), (x,), (x,))
    close((y, moved), ([3.0, 3.0], [0.0, 0.0]))
    with pytest.raises(ValueError, match="initial"):
        dualad.jvp(lambda v: np.max(v, where=v > 0), (real(3),), (real(3),))


def test_the_extremum_of_a_scalar_is_the_scalar():
    derivative(np.max, real())


def test_out_and_methods_and_ufunc_reductions():
    def f(x):
        y = np.zeros_like(x[0])
        np.max(x, axis=0, out=y)
        return y + x.min(axis=0) + np.maximum.reduce(x) + np.minimum.reduce(x, axis=0)

    derivative(f, apart(3, 4))


def test_the_place_may_depend_on_an_outer_variable():
    """d/dx of max(x, 2 - x, ...)'s gradient: piecewise linear, so second derivatives are 0."""
    f = lambda x: np.max(np.stack([x, 2.0 - x, x * x]))
    close(dualad.jvp(dualad.grad(f), (3.0,), (1.0,)), (6.0, 2.0))
    close(dualad.jvp(dualad.grad(f), (-0.5,), (1.0,)), (-1.0, 0.0))


def test_no_warning_is_given():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dualad.grad(np.max)(np.array([np.inf, np.inf, -np.inf]))
        dualad.grad(np.nanmax)(np.array([np.nan, 1.0]))
