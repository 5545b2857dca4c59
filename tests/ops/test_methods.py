"""The names of numpy.ndarray on traced arrays: the same meaning, results and errors as NumPy's."""

import copy
import pickle

import numpy as np
import pytest
from agreement import agrees, like, linear, same

import dualad

X = np.array([[3.0, 1.0, 2.5, -4.0], [0.5, -2.0, 6.0, 9.0], [7.0, 8.0, -1.0, 0.25]])
CUBE = np.arange(24.0).reshape(2, 3, 4)

LINEAR = [
    ("T", lambda x: x.T),
    ("mT", lambda x: x.mT),
    ("reshape tuple", lambda x: x.reshape((2, 6))),
    ("reshape integers", lambda x: x.reshape(2, 6)),
    ("reshape unknown", lambda x: x.reshape(-1)),
    ("reshape order", lambda x: x.reshape(6, 2, order="F")),
    ("transpose", lambda x: x.transpose()),
    ("transpose tuple", lambda x: x.transpose((1, 0))),
    ("transpose integers", lambda x: x.transpose(1, 0)),
    ("transpose none", lambda x: x.transpose(None)),
    ("swapaxes", lambda x: x.swapaxes(0, 1)),
    ("squeeze", lambda x: x[:1].squeeze()),
    ("squeeze axis", lambda x: x[None].squeeze(axis=0)),
    ("ravel", lambda x: x.ravel()),
    ("ravel order", lambda x: x.ravel("F")),
    ("flatten", lambda x: x.flatten()),
    ("flatten order", lambda x: x.flatten("F")),
    ("copy", lambda x: x.copy()),
    ("copy order", lambda x: x.copy(order="F")),
    ("view", lambda x: x.view()),
    ("flat", lambda x: x.flat[2:5]),
    ("real", lambda x: x.real),
    ("conj", lambda x: x.conj()),
    ("conjugate", lambda x: x.conjugate()),
    ("sum", lambda x: x.sum()),
    ("sum axis", lambda x: x.sum(0)),
    ("sum keywords", lambda x: x.sum(axis=1, keepdims=True)),
    ("mean", lambda x: x.mean()),
    ("mean axis", lambda x: x.mean(axis=-1)),
    ("cumsum", lambda x: x.cumsum()),
    ("cumsum axis", lambda x: x.cumsum(axis=1)),
    ("take", lambda x: x.take([0, 2], axis=1)),
    ("repeat", lambda x: x.repeat(2, axis=0)),
    ("diagonal", lambda x: x.diagonal(1)),
    ("trace", lambda x: x.trace()),
    ("dot", lambda x: x.dot(np.arange(8.0).reshape(4, 2))),
    ("compress", lambda x: x.compress([True, False, True], axis=0)),
    ("iteration", lambda x: np.stack([2.0 * r for r in x])),
    ("unpacking", lambda x: (lambda a, b, c: a + 2.0 * b - c)(*x)),
    ("astype same", lambda x: x.astype(x.dtype)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize(("name", "f"), LINEAR, ids=[c[0] for c in LINEAR])
def test_linear_methods(name, f, dtype):
    linear(f, like(np.asarray(X, dtype)))


def test_reductions():
    """Closed forms of the derivatives of prod, max, min, var, std and cumprod."""
    x, t = X, like(X)
    centred = x - x.mean()
    for f, want in [
        (lambda v: v.prod(), x.prod() * np.sum(t / x)),
        (lambda v: v.max(axis=0), np.take_along_axis(t, x.argmax(0)[None], 0)[0]),
        (lambda v: v.min(), t.ravel()[x.argmin()]),
        (lambda v: v.var(), 2 * np.mean(centred * t)),
        (lambda v: v.var(ddof=1), 2 * np.sum(centred * t) / 11),
        (lambda v: v.std(), np.mean(centred * t) / x.std()),
        (lambda v: v.cumprod(axis=1), x.cumprod(1) * np.cumsum(t / x, 1)),
        (lambda v: v.clip(0.0, 5.0), t * ((x >= 0) & (x <= 5))),
    ]:
        agrees(f, (x,), (t,), want)


def test_methods_without_derivative():
    def f(x):
        for got, want in [
            (x.argmax(), X.argmax()),
            (x.argmin(axis=1), X.argmin(axis=1)),
            (x.argsort(axis=0), X.argsort(axis=0)),
            (x.argpartition(2), X.argpartition(2)),
            (x.all(), X.all()),
            (x.any(axis=0), X.any(axis=0)),
            (x.nonzero(), X.nonzero()),
            (x.ravel().searchsorted(2.0), X.ravel().searchsorted(2.0)),
        ]:
            same(got, want)
        assert (x.shape, x.ndim, x.size, x.nbytes, x.itemsize) == ((3, 4), 2, 12, 96, 8)
        assert x.dtype == np.float64 and x.device == "cpu" and len(x) == 3
        assert 2.5 in x and 99.0 not in x
        return np.sum(x)

    same(dualad.grad(f)(X), np.ones((3, 4)))
    same(dualad.jvp(f, (X,), (X,))[1], X.sum())


def test_transpose_of_three_axes():
    for f in (
        lambda x: x.T,
        lambda x: x.mT,
        lambda x: x.transpose(2, 0, 1),
        lambda x: x.swapaxes(0, 2),
    ):
        linear(f, like(CUBE))
    with pytest.raises(ValueError, match="2-dimensional"):
        dualad.jvp(lambda x: x.mT, (X[0],), (X[0],))


# --- dtype ---------------------------------------------------------------------------------------


def test_astype_between_floats_keeps_the_derivative():
    for have, want in [
        (np.float64, np.float32),
        (np.float32, np.float64),
        (np.float64, np.complex128),
        (np.float32, np.longdouble),
        (np.complex128, np.complex64),
    ]:
        x = like(np.asarray(X, have))
        f = lambda v: v.astype(want)
        agrees(f, (x,), (x,), f(x))
        agrees(lambda v: np.astype(v, want), (x,), (x,), f(x))


def test_astype_to_real_takes_the_real_part_and_warns():
    z = like(np.zeros(3, complex))
    with pytest.warns(np.exceptions.ComplexWarning):
        value, tangent = dualad.jvp(lambda v: v.astype(float), (z,), (1j * z,))
    same((value, tangent), (z.real, (1j * z).real))


def test_astype_to_integers_is_constant():
    def f(x):
        n = x.astype(int)
        assert type(n) is np.ndarray and n.dtype == int
        assert type(x.astype(bool)) is np.ndarray
        return np.sum(n * x)

    same(dualad.grad(f)(X), X.astype(int).astype(float))
    same(dualad.vmap(lambda v: v.astype(int))(X), X.astype(int))
    same(dualad.vmap(lambda n: n.astype(float) / 2)(np.arange(3)), np.arange(3) / 2)


def test_astype_refuses():
    for dtype in (str, object, "datetime64[s]"):
        with pytest.raises(TypeError):
            dualad.jvp(lambda x: x.astype(dtype), (X,), (X,))
    with pytest.raises(TypeError, match="Cannot cast"):
        dualad.jvp(lambda x: x.astype(np.float32, casting="safe"), (X,), (X,))


def test_astype_without_copy_is_the_array_itself():
    def f(x):
        y = x * 1.0
        assert y.astype(float, copy=False) is y and y.astype(float) is not y
        return y

    dualad.jvp(f, (X,), (X,))


# --- in place ------------------------------------------------------------------------------------


def test_sort_partition_and_fill_in_place():
    def ordered(x):
        y = x * 1.0
        assert y.sort() is None
        y.sort(axis=0)
        return y

    order = np.argsort(X, 1)
    t = like(X)
    moved = np.take_along_axis(t, order, 1)
    rows = np.argsort(np.sort(X, 1), 0)
    agrees(ordered, (X,), (t,), np.take_along_axis(moved, rows, 0))

    def part(x):
        y = x.ravel() * 1.0
        y.partition(3)
        return np.sort(y[:3])

    agrees(part, (X,), (t,), t.ravel()[np.argsort(X.ravel())[:3]])

    def filled(x):
        y = x * 1.0
        y.fill(x[1, 2] ** 2)
        return y

    agrees(filled, (X,), (t,), np.full((3, 4), 2 * 6.0 * t[1, 2]))


def test_flat_is_a_view_of_any_layout():
    def f(x):
        y = x.T * 1.0
        y.flat[1:3] = 2.0 * x[0, 0]
        y.T.flat[-1] *= 3.0
        return np.stack([v + 0.0 for v in y.flat]).reshape(4, 3)

    t = like(X)
    same(dualad.jvp(f, (X,), (t,)), (f(X), f(t)))

    def assigned(x):
        y = x * 1.0
        y.flat = x[0, :3]
        return y

    same(dualad.jvp(assigned, (X,), (t,)), (assigned(X), assigned(t)))


def test_base_of_a_view():
    def f(x):
        y = x * 1.0
        assert y[1:].base is y and y.base is None and (y + 1.0).base is None
        return y

    dualad.jvp(f, (X,), (X,))


# --- copies --------------------------------------------------------------------------------------


def test_copies_keep_the_derivative_and_part_from_the_original():
    def f(x):
        y = x * 1.0
        others = [
            copy.copy(y),
            copy.deepcopy(y),
            y.copy(),
            copy.deepcopy({"state": [y]})["state"][0],
        ]
        y *= 100.0
        for other in others:
            other += 1.0
        return others[0] + others[1] + others[2] + others[3]

    agrees(f, (X,), (X,), 4 * X)


def test_pickling_is_refused():
    with pytest.raises(dualad.DualADError, match="pickled"):
        dualad.jvp(lambda x: pickle.dumps(x), (X,), (X,))


# --- what is refused -----------------------------------------------------------------------------

NO_ATTRIBUTE = [
    "data",
    "ctypes",
    "strides",
    "flags",
    "tobytes",
    "tofile",
    "dump",
    "byteswap",
]


@pytest.mark.parametrize("name", NO_ATTRIBUTE)
def test_memory_is_refused_with_a_reason(name):
    """The error is an AttributeError too, so that hasattr gives False."""

    def f(x):
        with pytest.raises(TypeError, match=f"x.{name} of a traced array"):
            getattr(x, name)
        assert not hasattr(x, name)
        return x

    dualad.jvp(f, (X,), (X,))
    dualad.grad(lambda x: np.sum(f(x)))(X)


def test_conversions_are_refused():
    for f in (float, int, complex, lambda x: [1, 2, 3][x], bytes, memoryview):
        with pytest.raises(TypeError):
            dualad.jvp(f, (1.0,), (1.0,))
        with pytest.raises(TypeError):
            dualad.grad(f)(1.0)
    for f in (np.asarray, np.array, lambda x: x.view(np.int64), lambda x: np.zeros(12)[x]):
        with pytest.raises((TypeError, IndexError)):
            dualad.jvp(f, (X,), (X,))


def test_item_is_a_traced_number():
    """It keeps the derivative, as everything that looks like a number inside does."""
    f = lambda x: x[0, 1].item() * x.item(2) + x.item(1, 0)
    want = np.zeros((3, 4))
    want[0, 1], want[0, 2], want[1, 0] = X[0, 2], X[0, 1], 1.0
    same(dualad.grad(f)(X), want)
    same(dualad.jacfwd(f)(X), want)
    with pytest.raises(ValueError, match="size 1"):
        dualad.jvp(lambda x: x.item(), (X,), (X,))


def test_numbers_are_neither_iterable_nor_indexable():
    for f in (lambda x: list(x), lambda x: x[0], len, lambda x: x[1:]):
        with pytest.raises((TypeError, IndexError)):
            dualad.jvp(f, (1.0,), (1.0,))
        with pytest.raises((TypeError, IndexError)):
            dualad.grad(f)(1.0)


# --- lists and object arrays ---------------------------------------------------------------------


def test_tolist_and_arrays_of_traced_numbers():
    """np.array of traced numbers is an object array, which is stacked wherever it is used."""
    x, t = X[0], like(X[0])
    for f in (
        lambda v: np.array(v.tolist()),
        lambda v: np.array([v[0], v[1], v[2], v[3]]) * 1.0,
        lambda v: np.array([[v[0], v[1]], [v[2], v[3]]]).ravel(),
    ):
        same(dualad.jvp(f, (x,), (t,)), (f(x).astype(float), t))
    f = lambda v: np.sin(np.array([v[0], v[1]])) + np.exp(np.array([v[2], v[2]]))
    want = np.array(
        [np.cos(x[0]) * t[0] + np.exp(x[2]) * t[2], np.cos(x[1]) * t[1] + np.exp(x[2]) * t[2]]
    )
    same(dualad.jvp(f, (x,), (t,))[1], want)
    f = lambda v: np.hypot(np.array([v[0], v[1]]), np.array([v[2], v[3]]))
    same(dualad.jvp(f, (x,), (t,))[1], (x[:2] * t[:2] + x[2:] * t[2:]) / np.hypot(x[:2], x[2:]))


def test_every_name_of_ndarray_is_answered():
    """Each public attribute of ndarray is there, or refused with a reason of our own."""
    not_ours = {"to_device"}

    def f(x):
        for name in dir(np.ndarray):
            if name.startswith("_") or name in not_ours:
                continue
            try:
                getattr(x, name)
            except dualad.DualADError as error:
                assert name in str(error)
        return x

    dualad.jvp(f, (X,), (X,))
    dualad.grad(lambda x: np.sum(f(x)))(X)
