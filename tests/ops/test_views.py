"""Views: they follow their base, and writing through them reaches it where it does in NumPy."""

import numpy as np
import pytest
from agreement import like, same

import dualad

A = np.arange(24.0).reshape(2, 3, 4)
V = np.arange(1.0, 6.0)
M = np.arange(12.0).reshape(3, 4)

VIEWS = {
    "slice": lambda y: y[1:],
    "row": lambda y: y[1],
    "column": lambda y: y[:, 2],
    "ellipsis": lambda y: y[..., 1:3],
    "newaxis": lambda y: y[:, None, 1:],
    "negative step": lambda y: y[::-1, ::2],
    "slice of slice": lambda y: y[1:][:, 1:],
    "transpose": lambda y: y.T,
    "swapaxes": lambda y: np.swapaxes(y, 0, 1),
    "moveaxis": lambda y: np.moveaxis(y, 0, 1),
    "reshape": lambda y: y.reshape(2, 6),
    "ravel": lambda y: y.ravel(),
    "np.ravel": np.ravel,
    "squeeze": lambda y: y.reshape(3, 1, 4).squeeze(1),
    "expand_dims": lambda y: np.expand_dims(y, 0),
    "flip": np.flip,
    "rot90": np.rot90,
    "split": lambda y: np.split(y, 2, axis=1)[1],
    "slice of transpose": lambda y: y.T[1:],
}
COPIES = {
    "fancy": lambda y: y[[0, 2]],
    "mask": lambda y: y[np.array([True, False, True])],
    "flatten": lambda y: y.flatten(),
    "reshape of a transpose": lambda y: y.T.reshape(-1),
    "copy": lambda y: y.copy(),
    "astype": lambda y: y.astype(y.dtype),
    "arithmetic": lambda y: +y[1:],
    "repeat": lambda y: np.repeat(y, 2),
    "concatenate": lambda y: np.concatenate([y, y]),
}


def _write_through(view):
    """Scale what `view` gives, in place; NumPy decides whether the base sees it."""

    def f(x):
        y = x * 1.0
        part = view(y)
        part *= 3.0
        part += 1.0
        return y

    return f


@pytest.mark.parametrize("name", [*VIEWS, *COPIES])
def test_writing_through_a_view_reaches_its_base(name):
    """Where NumPy gives a view the base changes, where it gives a copy it does not."""
    view = {**VIEWS, **COPIES}[name]
    f, x, t = _write_through(view), like(M), like(M)
    scale = f(np.ones_like(M)) - f(np.zeros_like(M))
    value, tangent = dualad.jvp(f, (x,), (t,))
    same(value, f(x))
    same(tangent, scale * t)
    same(dualad.grad(lambda v: np.sum(t * f(v)))(x), scale * t)
    same(dualad.vmap(f)(np.stack([x, t])), np.stack([f(x), f(t)]))


@pytest.mark.parametrize("name", [*VIEWS, *COPIES])
def test_a_view_follows_its_base(name):
    """A view made before a write shows it afterwards; a copy does not."""
    view = {**VIEWS, **COPIES}[name]

    def f(x):
        y = x * 1.0
        part = view(y)
        y *= 2.0
        y[1] = 5.0 * x[1]
        return part + 0.0

    x, t = like(M), like(M)
    same(dualad.jvp(f, (x,), (t,)), (f(x), f(t)))
    w = like(f(x))
    (share,) = dualad.vjp(f, x)[1](w)
    np.testing.assert_allclose(np.sum(share * t), np.sum(w * f(t)))


def test_two_views_of_one_base_see_each_other():
    def f(x):
        y = x * 1.0
        low, high = y[:3], y[2:]
        low[2] = 10.0 * x[0]
        high *= 2.0
        return np.concatenate([low, high])

    x = V
    want = np.array([1.0, 2.0, 20.0, 20.0, 8.0, 10.0])
    jacobian = np.zeros((6, 5))
    jacobian[[0, 1, 2, 3, 4, 5], [0, 1, 0, 0, 3, 4]] = [1, 1, 20, 20, 2, 2]
    same(f(x), want)
    same(dualad.jacfwd(f)(x), jacobian)
    same(dualad.jacrev(f)(x), jacobian)


@pytest.mark.parametrize(
    "view", [lambda y: np.broadcast_to(y, (2, 3, 4)), lambda y: np.broadcast_arrays(y, A[0])[0]]
)
def test_a_broadcast_view_is_read_only_and_follows_its_base(view):
    def read(x):
        y = x * 1.0
        wide = view(y)
        y[0, 0] = 7.0 * x[2, 3]
        return wide + 0.0

    x, t = like(M), like(M)
    same(dualad.jvp(read, (x,), (t,)), (read(x), read(t)))

    def write(x):
        view(x * 1.0)[0] = 1.0
        return x

    if view(M).shape == (2, 3, 4):
        with pytest.raises(ValueError, match="read-only"):
            dualad.jvp(write, (x,), (t,))


def test_views_die_with_their_holders():
    """A base that is sliced many times does not collect the slices."""

    def f(x):
        y = x * 1.0
        for _ in range(1000):
            y[1:]
        assert len(y._views) < 200
        return y

    same(dualad.jvp(f, (V,), (V,)), (V, V))


# --- order in memory -----------------------------------------------------------------------------


def wrote(b):
    b[...] = 7.0


@pytest.mark.parametrize(
    "write",
    [
        lambda a: wrote(a.copy().reshape(-1)[::2]),
        lambda a: wrote(a.reshape(-1)[::2]),
        lambda a: wrote(a.T.reshape(-1)[:3]),
        lambda a: wrote(np.ravel(a, order="F")[:3]),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("copy", [{}, {"order": "C"}, {"order": "F"}, {"order": "K"}])
def test_a_write_reaches_what_it_reaches_in_numpy(write, order, copy):
    """Which reshapes are views depends on the order of the entries in memory."""

    def f(x):
        a = x.copy(**copy)
        write(a)
        b = np.copy(x, **copy)
        write(b)
        return np.stack([a, b])

    x = np.asarray(np.arange(12.0).reshape(3, 4) + 0.5, order=order)
    t = np.cos(x)
    value, tangent = dualad.jvp(f, (x,), (t,))
    np.testing.assert_array_equal(value, f(x))
    np.testing.assert_array_equal(tangent, np.where(f(x) == 7.0, 0.0, t))
    value, pullback = dualad.vjp(f, x)
    np.testing.assert_array_equal(value, f(x))
    np.testing.assert_array_equal(pullback(np.ones((2, 3, 4)))[0], np.sum(f(x) != 7.0, axis=0))
    many = np.stack([x, x + 20.0])
    np.testing.assert_array_equal(dualad.vmap(f)(many), np.stack([f(m) for m in many]))


@pytest.mark.parametrize("f", [lambda x: x.T.reshape(2, 6, order="A"), lambda x: x.ravel("K")])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_that_is_found_in_memory(f, order):
    x = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    np.testing.assert_array_equal(dualad.jvp(f, (x,), (x,))[1], f(x))
    np.testing.assert_array_equal(dualad.vjp(f, x)[0], f(x))
    many = np.stack([x, 2 * x])
    np.testing.assert_array_equal(dualad.vmap(f)(many), np.stack([f(m) for m in many]))
