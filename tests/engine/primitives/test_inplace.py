"""Writing on the NumPy face: values change, derivatives follow, nothing is lost or aliased."""

import numpy as np
import pytest

import dualad
from dualad.errors import LostDerivativeError, ShapeError

x0 = np.array([0.5, -1.5, 2.0])


def both_modes(f, x, jacobian):
    """Forward and reverse Jacobians, and the linear program, are the matrix stated."""
    jacobian = np.asarray(jacobian)
    n = x.size
    columns = [dualad.jvp(f, (x,), (e.reshape(x.shape),))[1] for e in np.eye(n)]
    np.testing.assert_allclose(np.stack(columns, -1).reshape(-1, n), jacobian.reshape(-1, n))
    y, pullback = dualad.vjp(f, x)
    rows = [pullback(e.reshape(np.shape(y)))[0] for e in np.eye(np.size(y))]
    np.testing.assert_allclose(np.reshape(rows, (-1, n)), jacobian.reshape(-1, n))
    _, f_lin = dualad.linearize(f, x)
    applied = [f_lin(e.reshape(x.shape)) for e in np.eye(n)]
    np.testing.assert_allclose(np.stack(applied, -1).reshape(-1, n), jacobian.reshape(-1, n))


# --- assignment ------------------------------------------------------------------------------


def test_an_entry_is_replaced():
    def f(x):
        y = x * 2.0
        y[1] = x[0] * x[2]
        return y

    both_modes(f, x0, [[2, 0, 0], [x0[2], 0, x0[0]], [0, 0, 2]])


def test_a_constant_that_is_written_has_no_derivative():
    def f(x):
        y = x * 1.0
        y[:2] = 7.0
        return y

    both_modes(f, x0, np.diag([0.0, 0.0, 1.0]))


def test_a_write_after_a_read_does_not_change_what_was_read():
    def f(x):
        y = x * 1.0
        z = y * y
        y[:] = 0.0
        return z + y

    both_modes(f, x0, np.diag(2 * x0))


def test_a_fresh_buffer_takes_traced_values():
    def f(x):
        y = np.zeros_like(x)
        for k in range(3):
            y[k] = x[k] ** 2 + (y[k - 1] if k else 0.0)
        return y

    both_modes(f, x0, np.tril(np.ones((3, 3))) * (2 * x0))


def test_the_plain_recurrence():
    """y[i] = sum(y[:i] * w[:i]), whose products have saved what the next write changes."""
    w = np.array([0.5, 2.0, -1.0, 3.0])

    def f(x):
        y = np.zeros_like(x)
        y[0] = x[0]
        for i in range(1, 4):
            y[i] = (y[:i] * w[:i]).sum() + x[i]
        return y

    J = np.eye(4)
    for i in range(1, 4):
        J[i] += w[:i] @ J[:i]
    both_modes(f, np.array([1.0, 2.0, 3.0, 4.0]), J)


@pytest.mark.parametrize(
    "key",
    [
        1,
        -1,
        slice(None, None, 2),
        slice(None, None, -1),
        np.array([2, 0]),
        np.array([True, False, True]),
        ...,
        (None, slice(1)),
        [0, 1],
    ],
    ids=str,
)
def test_every_kind_of_key(key):
    def f(x):
        y = x * 1.0
        y[key] = y[key] * 3.0
        return y

    touched = np.ones(3)
    touched[key] = 3.0
    both_modes(f, x0, np.diag(touched))


def test_of_repeated_places_the_last_write_stays():
    def f(x):
        y = np.zeros_like(x)
        y[np.array([0, 0, 2])] = x
        return y

    both_modes(f, x0, [[0, 1, 0], [0, 0, 0], [0, 0, 1]])


def test_a_value_that_is_broadcast_into_place():
    def f(x):
        y = np.zeros_like(x, shape=(2, 3))
        y[:, 1:] = x[0]
        return y

    expected = np.zeros((2, 3, 3))
    expected[:, 1:, 0] = 1.0
    both_modes(f, x0, expected)


# --- augmented assignment --------------------------------------------------------------------


def test_augmented_operators_change_the_array_itself():
    def f(x):
        y = x * 1.0
        alias = y
        y += x
        y *= x
        y -= 1.0
        y /= 2.0
        return alias

    both_modes(f, x0, np.diag(2 * x0))


def test_an_augmented_operator_on_entries():
    def f(x):
        y = x * 1.0
        y[0] += x[1]
        y[1:] *= x[0]
        return y

    both_modes(f, x0, [[1, 1, 0], [x0[1], x0[0], 0], [x0[2], 0, x0[0]]])


def test_the_argument_of_the_caller_is_not_changed():
    def f(x):
        x[0] = 9.0
        x *= 2.0
        return x

    x = x0.copy()
    dualad.jvp(f, (x,), (np.ones(3),))
    dualad.vjp(f, x)
    np.testing.assert_array_equal(x, x0)
    both_modes(f, x, np.diag([0.0, 2.0, 2.0]))


# --- views -----------------------------------------------------------------------------------


def test_writing_through_a_view_writes_to_its_base():
    def f(x):
        y = x * 1.0
        v = y[1:]
        v *= x[0]
        w = v[::-1]
        w[0] = x[1]
        return y

    both_modes(f, x0, [[1, 0, 0], [x0[1], x0[0], 0], [0, 1, 0]])


def test_a_view_follows_its_base():
    def f(x):
        y = x * 1.0
        v, r, t = y[:2], y.reshape(3, 1), y[None].T
        y[0] = x[2]
        y *= 2.0
        return np.concatenate([v, np.ravel(r), np.ravel(t)])

    base = np.array([[0, 0, 2], [0, 2, 0], [0, 0, 2]])
    both_modes(f, x0, np.vstack([base[:2], base, base]))


def test_a_copy_does_not_follow():
    def f(x):
        y = x * 1.0
        c, fancy = y.copy(), y[[0, 1]]
        y[:] = 0.0
        return np.concatenate([c, fancy])

    both_modes(f, x0, np.vstack([np.eye(3), np.eye(3)[:2]]))


def test_views_of_views_of_a_buffer():
    def f(x):
        y = np.zeros_like(x, shape=(2, 2, 3))
        block = y[1]
        block[0] = x
        block.T[:, 1] = x * x
        return y

    expected = np.zeros((2, 2, 3, 3))
    expected[1, 0], expected[1, 1] = np.eye(3), np.diag(2 * x0)
    both_modes(f, x0, expected)


# --- out= ------------------------------------------------------------------------------------


def test_a_ufunc_with_out():
    def f(x):
        y = np.zeros_like(x)
        r = np.multiply(x, x, out=y)
        assert r is y
        np.add(y, 1.0, out=y)
        return y

    both_modes(f, x0, np.diag(2 * x0))


def test_a_ufunc_with_out_and_where():
    def f(x):
        y = x * 3.0
        np.negative(x, out=y, where=np.array([True, False, True]))
        return y

    both_modes(f, x0, np.diag([-1.0, 3.0, -1.0]))


def test_where_without_out_leaves_entries_undefined_and_is_refused():
    with pytest.raises(LostDerivativeError, match="undefined"):
        dualad.jvp(lambda x: np.sin(x, where=x > 0), (x0,), (x0,))


# --- what is refused -------------------------------------------------------------------------


def test_a_plain_array_does_not_take_a_traced_value_silently():
    for write in (
        lambda y, x: y.__setitem__(0, x[0]),
        lambda y, x: y.__setitem__(slice(None), x),
        lambda y, x: np.multiply(x, x, out=y),
        lambda y, x: np.copyto(y, x),
    ):
        for run in (lambda f: dualad.jvp(f, (x0,), (x0,)), lambda f: dualad.vjp(f, x0)):
            with pytest.raises((LostDerivativeError, TypeError, ValueError)):
                run(lambda x: (write(np.zeros(3), x), x)[1])


def test_an_augmented_assignment_to_a_plain_array_makes_no_silent_constant():
    def f(x):
        y = np.zeros(3)
        y += x
        return y

    try:
        tangent = dualad.jvp(f, (x0,), (np.ones(3),))[1]
    except (LostDerivativeError, TypeError):
        return
    np.testing.assert_array_equal(tangent, np.ones(3))


def test_a_shape_that_does_not_fit_is_an_error_as_in_numpy():
    def wrong(x):
        y = x * 1.0
        y += np.ones((2, 3))
        return y

    with pytest.raises((ShapeError, ValueError)):
        dualad.jvp(wrong, (x0,), (x0,))
    with pytest.raises(ValueError):
        dualad.jvp(lambda x: (x.__setitem__(slice(2), x), x)[1], (x0,), (x0,))


def test_writing_an_inner_value_into_an_array_of_an_outer_level():
    """The outer array becomes one of the inner level, and is refused once that is over."""

    def f(x):
        y = x * 1.0

        def g(z):
            y[0] = z * x[1]
            return y[0] * z

        slope = dualad.jvp(g, (2.0,), (1.0,))[1]  # d/dz z**2 x1 = 2 z x1
        return slope

    both_modes(f, x0, [0.0, 4.0, 0.0])


# --- levels and batches ----------------------------------------------------------------------


def test_second_derivatives_through_a_buffer():
    def f(x):
        y = np.zeros_like(x)
        for k in range(3):
            y[k] = x[k] ** 3
            y[k] *= x[0]
        return np.sum(y)

    hessian = np.diag(6 * x0 * x0[0])
    hessian[0] += 3 * x0**2
    hessian[:, 0] += 3 * x0**2
    hessian[0, 0] = 12 * x0[0] ** 2
    np.testing.assert_allclose(dualad.hessian(f)(x0), hessian)
    np.testing.assert_allclose(dualad.jacrev(dualad.jacrev(f))(x0), hessian)


def test_writes_under_vmap():
    def f(x):
        y = np.zeros_like(x)
        y[1:] = x[:-1] * x[0]
        y[0] += x[2]
        return y

    rows = np.stack([x0, 2 * x0, -x0])
    np.testing.assert_allclose(dualad.vmap(f)(rows), np.stack([f(r) for r in rows]))
