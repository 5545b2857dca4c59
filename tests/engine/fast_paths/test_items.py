"""Reads and writes of single entries: in place only where nobody else holds the memory."""

import numpy as np
import pytest
from agreement import like, same

import dualad
from dualad.engine.fast_paths.items import owned
from dualad.engine.kinds.dual import Dual
from dualad.engine.kinds.recorded import Recorded
from dualad.engine.levels.buffer import Buffer
from dualad.engine.levels.traced import TracedArray

X = np.array([2.0, 3.0, 5.0])


def both(f, x, jacobian):
    """One function in both modes, nested and mapped: the same matrix each time."""
    same(dualad.jacfwd(f)(x), jacobian)
    same(dualad.jacrev(f)(x), jacobian)
    w = like(f(x))
    gradient = dualad.grad(lambda v: np.sum(w * f(v)))
    same(gradient(x), np.tensordot(w, jacobian, np.ndim(w)))
    same(dualad.vmap(gradient)(np.stack([x, x])), np.stack([gradient(x)] * 2))
    t = like(x)
    same(dualad.linearize(f, x)[1](t), jacobian @ t)
    program = dualad.linearize(f, x)[1].program
    same(program.function()(t)[0], jacobian @ t)
    same(program.transpose().function()(w)[0], gradient(x))


def test_a_right_hand_side():
    """The everyday form: zeros_like, one entry after the other, constants among them."""

    def f(y):
        out = np.zeros_like(y)
        out[0] = -2.0 * y[0] + y[1] * y[2]
        out[1] = 3
        out[2] = y[0] ** 2 - out[0]
        return out

    a, b, c = X
    both(f, X, np.array([[-2.0, c, b], [0, 0, 0], [2 * a + 2, -c, -b]]))


def test_a_matrix_filled_by_two_integers():
    def f(y):
        out = np.zeros_like(y, shape=(2, 3))
        for i in range(2):
            for j in range(3):
                out[i, j] = y[i] * y[j]
        out[1, -1] = out[0, 1] + 1.0
        return out @ np.array([1.0, 10.0, 100.0])

    a, b, c = X
    both(
        f,
        X,
        np.array(
            [[2 * a + 10 * b + 100 * c, 10 * a, 100 * a], [b + 100 * b, a + 20 * b + 100 * a, 0]]
        ),
    )


def test_overwriting_an_entry_takes_its_derivative_away():
    def f(y):
        out = y * 1.0
        out[0] = out[0]
        out[1] = out[0] * out[1]
        out[1] = out[1] * out[1]
        out[2] = 7.0
        return out

    a, b, _ = X
    both(f, X, np.array([[1.0, 0, 0], [2 * a * b**2, 2 * a**2 * b, 0], [0, 0, 0]]))


def test_a_long_recurrence():
    """y[k] = c y[k-1] + y[0]: n writes, each of which reads the one before."""
    n = 3000

    def f(c):
        y = np.zeros_like(c, shape=(n,))
        y[0] = c
        for k in range(1, n):
            y[k] = 0.5 * y[k - 1] + c
        return y[n - 1]

    same(dualad.grad(f)(1.5), 2.0)
    same(dualad.jvp(f, (1.5,), (1.0,))[1], 2.0)


@pytest.mark.parametrize("kind", [Dual, Recorded])
def test_writes_to_memory_of_ones_own_are_in_place(kind):
    def f(x):
        y = np.zeros_like(x)
        memory = y.primal
        del memory
        where = y.primal.ctypes.data
        for k in range(3):
            y[k] = x[k] * x[k]
            assert type(y) is kind and y.primal.ctypes.data == where
        y[0] = 1.0
        assert y.primal.ctypes.data == where
        return y

    run = (lambda g: dualad.jvp(g, (X,), (X,))) if kind is Dual else (lambda g: dualad.vjp(g, X))
    run(f)


def test_a_buffer_without_derivative_stays_one():
    def f(x):
        y = np.zeros_like(x)
        y[0], y[1] = 1.0, 2
        assert type(y) is (Buffer if isinstance(x, TracedArray) else np.ndarray)
        same(np.asarray(y), np.array([1.0, 2.0, 0.0]))
        return x * y

    both(f, X, np.diag([1.0, 2.0, 0.0]))


def test_the_callers_arrays_are_never_written_to():
    x, t, c = X.copy(), np.ones(3), np.full(3, 4.0)

    def f(v):
        v[0] = 100.0 * v[1]
        w = v + c
        w[1] = 5.0
        return np.sum(v * w)

    dualad.jvp(f, (x,), (t,))
    dualad.grad(f)(x)
    dualad.vmap(f)(np.stack([x, x]))
    for array, before in ((x, X), (t, np.ones(3)), (c, np.full(3, 4.0))):
        np.testing.assert_array_equal(array, before)


HOLDERS = {
    "another name of the tangent": lambda y: y + 1.0,
    "a product that reads it": lambda y: y * y,
    "a view": lambda y: y[:2] * 1.0,
    "a copy": lambda y: y.copy(),
    "its conjugate": np.conj,
    "a joined array": lambda y: np.concatenate([y, y]),
    "its own values": lambda y: np.stack([y[0], y[1], y[2]]),
    "a broadcast": lambda y: np.broadcast_to(y, (2, 3)) * 1.0,
    "a nonlinear function": np.exp,
    "a reduction": np.sum,
    "a sorted one": np.sort,
    "where": lambda y: np.where(y > 0, y, 0.0),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_what_was_made_before_a_write_is_not_changed_by_it(name):
    """z = g(y), then y is written on: z and its derivative are those of the old y."""
    g = HOLDERS[name]

    def f(x):
        y = np.zeros_like(x)
        for k in range(3):
            y[k] = 0.5 * x[k]
        z = g(y)
        y[0] = 50.0 * x[2]
        y[1] = -3.0
        return np.sum(z) + 0.0 * np.sum(y)

    before = lambda x: np.sum(g(0.5 * x))
    same(dualad.grad(f)(X), dualad.grad(before)(X))
    same(dualad.jacfwd(f)(X), dualad.jacfwd(before)(X))
    same(dualad.hessian(f)(X), dualad.hessian(before)(X))


def test_values_of_an_inner_level_in_an_array_of_an_outer_one():
    """The array becomes one of the inner level."""

    def f(x):
        def g(v):
            out = np.zeros_like(v, shape=(2,))
            out[0] = x * v
            out[1] = out[0] * v
            return out[1]

        return dualad.grad(g)(x * x)

    # g = x v**2, dg/dv = 2 x v = 2 x**3 at v = x**2
    same(dualad.grad(f)(1.5), 6 * 1.5**2)
    same(dualad.jacfwd(f)(1.5), 6 * 1.5**2)


def test_an_array_of_an_outer_level_takes_plain_numbers_inside():
    def f(x):
        y = x * 1.0

        def g(v):
            y[0] = 4.0
            return v * y[0] * y[1]

        return dualad.jvp(g, (1.0,), (1.0,))[1]

    same(dualad.grad(f)(X), np.array([0.0, 4.0, 0.0]))


def test_a_value_of_a_finished_level_cannot_be_kept_in_an_array():
    def f(x):
        kept = np.zeros_like(x)

        def g(v):
            kept[0] = v * v
            return v

        dualad.grad(g)(1.0)
        return kept[0] * x[0]

    for transform in (lambda: dualad.grad(f)(X), lambda: dualad.jvp(f, (X,), (X,))):
        with pytest.raises(RuntimeError, match="finished grad"):
            transform()


def test_writes_to_a_leaked_array_are_refused():
    for transform in (lambda f: dualad.jvp(f, (X,), (X,)), lambda f: dualad.grad(f)(X)):
        leaked = []
        transform(lambda x: leaked.append(x * 1.0) or np.sum(x))
        with pytest.raises(RuntimeError, match="finished"):
            leaked[0][0] = 1.0
        with pytest.raises(RuntimeError, match="finished"):
            leaked[0][0]


@pytest.mark.parametrize("key", [3, -4, (0, 0)])
def test_out_of_range(key):
    for transform in (lambda f: dualad.jvp(f, (X,), (X,)), lambda f: dualad.grad(f)(X)):
        for write in (lambda y: y.__setitem__(key, 1.0), lambda y: y.__setitem__(key, y[0])):
            for make in (lambda x: x * 1.0, np.zeros_like):
                with pytest.raises(IndexError):
                    transform(lambda x: write(make(x)) or np.sum(x))
        with pytest.raises(IndexError):
            transform(lambda x: x[key])


def test_other_dtypes_take_the_general_path():
    def f(y):
        out = np.zeros_like(y)
        out[0] = y[1] * y[0]
        out[1] = 2.0
        return out

    for dtype in (np.float32, np.complex128):
        x = X.astype(dtype)
        value, tangent = dualad.jvp(f, (x,), (x,))
        assert value.dtype == tangent.dtype == dtype
        same(tangent, np.array([2 * 6.0, 0.0, 0.0], dtype))
        (share,) = dualad.vjp(f, x)[1](np.ones(3, dtype))
        same(share, np.array([3.0, 2.0, 0.0], dtype))


def test_cotangents_shared_by_two_writes_stay_apart():
    """One cotangent reaches two arrays that are both written on: neither spoils the other."""

    def f(x):
        a, b = x * 1.0, x * 2.0
        a[0] = x[1]
        b[1] = x[2]
        return a + b

    both(f, X, np.array([[2.0, 1, 0], [0, 1, 1], [0, 0, 3]]))


def test_ownership_is_told_by_the_holders():
    def f(x):
        y = x * 1.0
        assert owned(y, "primal")
        other = y.primal
        assert not owned(y, "primal")
        del other
        part = y[1:]
        assert not owned(part, "primal")
        return y

    dualad.jvp(f, (X,), (X,))


def test_cotangents_of_an_entry_that_come_as_arrays_without_axes_add_up():
    x = np.array([2.0, 3.0])
    f = lambda x: np.sum(np.reshape(x[0], (1,)) * x[1]) + np.sum(np.reshape(x[0], (1,)) * 5.0)
    np.testing.assert_array_equal(dualad.grad(f)(x), [3.0 + 5.0, 2.0])


def test_slices_of_recorded_duals_and_their_cotangents():
    x, v = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, -1.0, 0.5, 2.0])
    f = lambda x: np.sum(x[1:] * x[:-1] * x[::-1][1:])  # x0 x1 x2 + x1 x2 x1 + x2 x3 x0
    a, b, c, d = x
    hessian = np.array(
        [[0, c, b + d, c], [c, 2 * c, a + 2 * b, 0], [b + d, a + 2 * b, 0, a], [c, 0, a, 0]]
    )
    np.testing.assert_allclose(dualad.hvp(f, (x,), (v,)), hessian @ v, rtol=1e-14)
    np.testing.assert_allclose(dualad.hessian(f)(x), hessian, rtol=1e-14)
