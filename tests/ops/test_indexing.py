"""Reading and writing by index: linear in the entries, whatever the key."""

import numpy as np
import pytest
from agreement import DTYPES, agrees, like, linear, same
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import dualad

X = np.arange(60.0).reshape(3, 4, 5)
MASK = np.arange(60).reshape(3, 4, 5) % 7 < 3
i, j, k = np.array([2, 0, 2]), np.array([[1], [2]]), np.array([3, -1, 0])

KEYS = {
    "integer": 1,
    "negative integer": -1,
    "numpy integer": np.int64(2),
    "all integers": (1, 2, -1),
    "slice": slice(1, None),
    "negative step": slice(None, None, -2),
    "empty slice": slice(3, 3),
    "ellipsis": ...,
    "ellipsis last": (..., 2),
    "ellipsis first": (1, ...),
    "ellipsis between": (slice(1), ..., 0),
    "newaxis": None,
    "newaxis inside": (slice(None), None, 2, None),
    "array": i,
    "list": [0, 0, 2],
    "repeated": np.array([1, 1, 1, 1]),
    "two-dimensional array": j,
    "empty list": [],
    "array and slice": (slice(1), i),
    "arrays together": (i, k),
    "arrays that broadcast": (j % 3, i),
    "arrays apart": (i, slice(None), k),
    "array apart from integer": (0, slice(None), k),
    "integer after array": (i, 1),
    "arrays apart by newaxis": (i, None, k),
    "array behind slice": (slice(None, None, 2), slice(1, 3), j),
    "all arrays": (i, k, k),
    "mask": MASK,
    "mask of first axes": MASK[:, :, 0],
    "mask of one axis": (slice(None), np.array([True, False, True, True])),
    "mask and integer": (np.array([True, False, True]), 2),
    "empty mask": np.zeros((3, 4, 5), bool),
    "mask and array": (np.array([True, False, True]), np.array([3, 1])),
    "true": True,
    "false": False,
    "uint8 array": np.array([2, 1], np.uint8),
    "tuple of lists": ([0, 1], [1, 2]),
    "0-d array": np.array(2),
    "empty ellipsis between arrays": (None, 0, ..., 1, i),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KEYS)
def test_reading(name, dtype):
    key = KEYS[name]
    linear(lambda x: x[key], like(np.asarray(X, dtype)))


def _set(key):
    def f(x, v):
        y = x * 1.0
        y[key] = v
        return y

    return f


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KEYS)
def test_writing_is_linear_in_both_arrays(name, dtype):
    """Of repeated indices the last write wins, in value and in derivative."""
    key = KEYS[name]
    x = like(np.asarray(X, dtype))
    linear(_set(key), x, like(x[key]))


@pytest.mark.parametrize("name", KEYS)
def test_writing_broadcasts(name):
    """One number, a row, and leading axes of length one that the place does not have."""
    key = KEYS[name]
    x = like(X)
    linear(_set(key), x, like(np.zeros(())))
    if np.ndim(x[key]) > 1:
        linear(_set(key), x, like(np.zeros(x[key].shape[-1:])))
    if np.ndim(x[key]) and "mask" not in name:
        linear(_set(key), x, like(np.zeros((1, 1, *np.shape(x[key])))))


integers = st.integers(-2, 1)
slices = st.sampled_from([slice(None), slice(1, None), slice(None, None, -1), slice(0, 1)])
arrays = hnp.arrays(np.intp, st.sampled_from([(2,), (3,), (3, 1), (1,)]), elements=integers)


@st.composite
def keys(draw):
    """A random key of an array with four axes of length two."""
    parts = draw(st.lists(st.one_of(integers, slices, arrays), max_size=4))
    for extra in (Ellipsis, None, None):
        if draw(st.booleans()):
            parts.insert(draw(st.integers(0, len(parts))), extra)
    return tuple(parts)


@given(keys())
def test_any_key_reads_and_writes(key):
    x, t = like(np.zeros((2, 2, 2, 2))), like(np.zeros((2, 2, 2, 2)))
    try:
        want = x[key]
    except IndexError:
        with pytest.raises(IndexError):
            dualad.jvp(lambda v: v[key], (x,), (t,))
        return
    agrees(lambda v: v[key], (x,), (t,), t[key])
    v, dv = like(want), like(want)
    agrees(_set(key), (x, v), (t, dv), _set(key)(t, dv))


@given(keys(), st.integers(0, 3))
def test_any_key_with_an_index_per_entry_of_a_batch(key, axis):
    """An index array that differs along the batch: vmap is a loop."""
    places = [n for n, part in enumerate(key) if isinstance(part, (np.ndarray, int))]
    x = like(np.zeros((2, 2, 2, 2)))
    try:
        x[key]
    except IndexError:
        return
    if not places:
        return
    place = places[axis % len(places)]
    at = np.stack([np.asarray(key[place]), -1 - np.asarray(key[place])])
    with_index = lambda a: (*key[:place], a, *key[place + 1 :])
    batch = np.stack([x, like(x)])
    read = lambda x, a: x[with_index(a)]
    rows = [read(b, a) for b, a in zip(batch, at, strict=True)]
    same(dualad.vmap(read)(batch, at), np.stack(rows))
    same(
        dualad.vmap(lambda b: dualad.vmap(read, in_axes=(None, 0))(b, at))(batch),
        np.stack([np.stack([read(b, a) for a in at]) for b in batch]),
    )
    v = np.stack([like(r) for r in rows])

    def write(x, v, a):
        y = x * 1.0
        y[with_index(a)] = v
        return y

    want = np.stack([write(*row) for row in zip(batch, v, at, strict=True)])
    same(dualad.vmap(write)(batch, v, at), want)
    same(
        dualad.vmap(write, in_axes=(0, None, 0))(batch, v[0], at),
        np.stack([write(b, v[0], a) for b, a in zip(batch, at, strict=True)]),
    )
    gradient = lambda f: dualad.grad(lambda *xs: np.sum(f(*xs) ** 2))
    same(
        dualad.vmap(gradient(read))(batch, at),
        np.stack([gradient(read)(b, a) for b, a in zip(batch, at, strict=True)]),
    )
    loss = lambda x, v, a: np.sum(write(x, v, a) ** 2)
    by_v = lambda x, v, a: dualad.grad(loss, argnums=(0, 1))(x, v, a)[1]
    same(
        dualad.vmap(by_v)(batch, v, at),
        np.stack([by_v(*row) for row in zip(batch, v, at, strict=True)]),
    )


def test_last_write_wins():
    """x[[1, 1, 1]] = v keeps v[2]; the others have slope 0."""
    key = np.array([1, 1, 1])
    jacobian = dualad.jacrev(lambda v: _set(key)(np.zeros(3) * v[0], v))(np.array([1.0, 2.0, 3.0]))
    same(jacobian, np.array([[0.0, 0, 0], [0, 0, 1], [0, 0, 0]]))


def test_number_of_operations_does_not_grow_with_the_number_of_reads():
    """n reads of single entries in reverse add into one array: the gradient is exact."""
    n = 2000
    x = np.arange(1.0, n + 1)
    f = lambda v: sum(v[k] * v[n - 1 - k] for k in range(n))
    same(dualad.grad(f)(x), 2 * x[::-1])


def test_item_of_a_matrix_by_two_integers():
    x = like(np.zeros((2, 3)))
    f = lambda v: v[1, -1] * v[0, 0] + v[1, 2]
    want = np.zeros((2, 3))
    want[1, 2], want[0, 0] = x[0, 0] + 1, x[1, 2]
    same(dualad.grad(f)(x), want)
    same(dualad.jvp(f, (x,), (x,))[1], np.sum(want * x))
    same(dualad.jacfwd(dualad.grad(f))(x)[1, 2, 0, 0], 1.0)


def test_a_recurrence_written_in_place():
    """y[i] = y[i-1] * x[i] + x[0]: the tape keeps what each step read, though y is written on."""

    def f(x):
        y = np.zeros_like(x)
        y[0] = x[0]
        for n in range(1, 4):
            y[n] = y[n - 1] * x[n] + x[0]
        return y[3]

    x = np.array([2.0, 3.0, 5.0, 7.0])
    # y3 = ((x0 x1 + x0) x2 + x0) x3 + x0
    want = np.array([((3 + 1) * 5 + 1) * 7 + 1, 2 * 5 * 7, (2 * 3 + 2) * 7, (2 * 3 + 2) * 5 + 2.0])
    same(dualad.grad(f)(x), want)
    same(dualad.jacfwd(f)(x), want)
    same(dualad.vmap(dualad.grad(f))(np.stack([x, x])), np.stack([want, want]))


def test_a_buffer_that_is_reused_keeps_no_old_derivative():
    """The same buffer is filled, read and filled again: each product has its own factors."""

    def f(x):
        work = np.zeros_like(x)
        total = 0.0
        for n in range(3):
            work[:] = (n + 1) * x
            total = total + np.sum(work * x)
        return total

    x = np.array([1.0, 2.0])
    same(dualad.grad(f)(x), 12 * x)
    same(dualad.jacfwd(f)(x), 12 * x)


def test_a_constant_buffer_that_is_written_later():
    """What an operation read is remembered as it was, whatever is written afterwards."""

    def f(x):
        weight = np.zeros_like(x)
        weight += 2.0
        y = weight * x
        weight[:] = 5.0
        return np.sum(y + weight * x)

    same(dualad.grad(f)(np.ones(3)), np.full(3, 7.0))
    same(dualad.jacfwd(f)(np.ones(3)), np.full(3, 7.0))


def test_outer_values_written_between_inner_operations():
    """Inside a nested derivative an array of the outer level is written after it was read."""

    def inner(outer):
        def g(x):
            y = outer * 1.0
            first = x * y
            y[:] = 10.0
            return np.sum(first + x * y)

        return np.sum(dualad.grad(g)(np.ones(2)))

    # d/dx sum(x outer + 10 x) = outer + 10
    same(dualad.grad(inner)(np.array([3.0, 4.0])), np.ones(2))
    assert inner(np.array([3.0, 4.0])) == 27.0


def test_casting_into_the_dtype_of_the_array():
    x, v = like(np.zeros(3, np.float32)), like(np.zeros(2))
    agrees(_set(slice(2)), (x, v), (x, v), _set(slice(2))(x, v))
    with pytest.warns(np.exceptions.ComplexWarning):
        _, tangent = dualad.jvp(_set(slice(2)), (x, v + 1j), (x, v + 2j))
    same(tangent, np.r_[v, x[2]].astype(np.float32))


def test_writing_a_derivative_into_integers_is_refused():
    def f(x):
        return dualad.vmap(lambda n: _set(0)(n, x) if False else _write(n, x))(np.arange(3))

    def _write(n, x):
        counts = np.stack([n, n])
        counts[0] = x
        return counts

    with pytest.raises(TypeError, match="drop its derivative"):
        dualad.grad(lambda x: np.sum(f(x)))(1.0)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (5, IndexError),
        ((0, 0, 0, 0), IndexError),
        ([0, 7], IndexError),
        ("name", IndexError),
        (1.5, IndexError),
        (np.array([0.5]), IndexError),
        (np.array([True, False]), IndexError),
        ((slice(None), True), IndexError),
    ],
)
def test_wrong_keys_are_index_errors(key, error):
    for transform in (lambda f: dualad.jvp(f, (X,), (X,)), lambda f: dualad.vjp(f, X)):
        with pytest.raises(error):
            transform(lambda x: x[key])
        with pytest.raises((error, ValueError)):
            transform(lambda x: _set(key)(x, 1.0))


def test_an_index_that_is_traced_must_be_an_integer():
    with pytest.raises(IndexError, match="float64"):
        dualad.jvp(lambda x: np.arange(3.0) + x[x], (np.zeros(3),), (np.zeros(3),))
    with pytest.raises(TypeError, match=r"np\.where"):
        dualad.vmap(lambda x: x[x > 0])(np.ones((2, 3)))
    with pytest.raises(TypeError, match="index"):
        dualad.jvp(lambda x: [1.0, 2.0][x], (1.0,), (1.0,))


def test_assignment_that_does_not_fit():
    with pytest.raises(ValueError, match="broadcast"):
        dualad.jvp(lambda x: _set(slice(2))(x, np.ones(3)), (np.ones(4),), (np.ones(4),))
    with pytest.raises(ValueError, match="broadcast"):
        dualad.grad(lambda x: np.sum(_set(slice(2))(x, x)))(np.ones(4))


rng = np.random.default_rng(5)


@pytest.mark.parametrize(
    "shape, index",
    [
        ((30, 20), (slice(None), rng.integers(-20, 20, (5, 9)))),
        ((200, 10), (rng.integers(-200, 200, 400),)),
        ((20, 30), (rng.integers(0, 20, 700), rng.integers(0, 30, 700))),
        ((3, 20, 10), (slice(None), rng.uniform(size=(20, 10)) < 0.95)),
    ],
    ids=["columns", "rows", "entries", "mask"],
)
def test_many_entries_of_several_axes(shape, index):
    """What is taken more than once gets the sum, whatever has come before."""
    x = rng.normal(size=shape)
    w = rng.normal(size=x[index].shape)
    want = np.array(x)
    for at, share in zip(np.arange(x.size).reshape(shape)[index].ravel(), w.ravel(), strict=True):
        want.reshape(-1)[at] += share
    got = dualad.grad(lambda x: np.sum(x[index] * w) + np.sum(x * x) / 2.0)(x)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
