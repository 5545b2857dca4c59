"""NumPy's functions that write into an argument, on traced arrays."""

import numpy as np
import pytest
from agreement import like, linear, same

import dualad

X = np.arange(12.0).reshape(3, 4)
V = np.arange(5.0)
MASK = X % 3 == 1


def writes(write):
    """A function that gives what `write` leaves behind in a copy of its first argument."""

    def f(x, *rest):
        y = x * 1.0
        assert write(y, *rest) is None
        return y

    return f


WRITES = [
    ("put", lambda y, v: np.put(y, [0, 5, -1], v[:3]), V),
    ("put_cycled", lambda y, v: np.put(y, [0, 5, 7], v[:2]), V),
    ("put_longer", lambda y, v: np.put(y, [0, 5], v), V),
    ("put_matrix", lambda y, v: np.put(y, [[0, 5], [1, 1]], v), V),
    ("put_wrap", lambda y, v: np.put(y, [12, -13], v, mode="wrap"), V),
    ("put_clip", lambda y, v: np.put(y, [99, -13], v, mode="clip"), V),
    ("put_method", lambda y, v: y.put([3, 4], v), V),
    ("place", lambda y, v: np.place(y, MASK, v[:4]), V),
    ("place_cycled", lambda y, v: np.place(y, MASK, v[:2]), V),
    ("putmask", lambda y, v: np.putmask(y, MASK, v), X),
    ("putmask_cycled", lambda y, v: np.putmask(y, MASK, v), V),
    (
        "put_along_axis",
        lambda y, v: np.put_along_axis(y, np.array([[1], [3], [1]]), v, 1),
        V[:3, None],
    ),
    ("put_along_rows", lambda y, v: np.put_along_axis(y, np.array([[1, 0, 2, 2]]), v, 0), V[:4]),
    ("copyto", np.copyto, X),
    ("copyto_row", np.copyto, V[:4]),
    ("copyto_number", np.copyto, V[0]),
    ("copyto_where", lambda y, v: np.copyto(y, v, where=MASK), X),
    ("fill_diagonal", np.fill_diagonal, V[:3]),
    ("fill_diagonal_number", np.fill_diagonal, V[1]),
    ("fill_diagonal_wrap", lambda y, v: np.fill_diagonal(y.T, v, wrap=True), V[1]),
    ("fill", lambda y, v: y.fill(v), V[1]),
    ("add.at", lambda y, v: np.add.at(y, [0, 2, 0], v), X),
    ("add.at_number", lambda y, v: np.add.at(y, (slice(None), [1, 1]), v), V[1]),
    ("add.at_pairs", lambda y, v: np.add.at(y, ([0, 0, 2], [1, 1, 3]), v[:3]), V),
    ("add.at_mask", lambda y, v: np.add.at(y, MASK, v[:4]), V),
    ("subtract.at", lambda y, v: np.subtract.at(y, [1, 1], v[:4]), V),
]


@pytest.mark.parametrize(("name", "write", "v"), WRITES, ids=[c[0] for c in WRITES])
def test_writing_is_linear_in_both(name, write, v):
    linear(writes(write), like(X), like(v))


@pytest.mark.parametrize(("name", "write", "v"), WRITES, ids=[c[0] for c in WRITES])
def test_writing_constants_takes_the_derivative_away(name, write, v):
    """Constants written have slope 0: what stays is the derivative of what was not overwritten."""
    constant = lambda y: write(y, v)
    x, t = like(X), like(X)
    want = writes(constant)(t) - writes(constant)(np.zeros_like(X))
    same(dualad.jvp(writes(constant), (x,), (t,)), (writes(constant)(x), want))


def test_an_index_per_entry_of_a_batch():
    at = np.array([[0, 2, 0], [1, 1, 1]])
    v = like(np.zeros((2, 3)))
    counts = lambda k, w: writes(lambda y: np.add.at(y, k, w))(np.zeros_like(w, shape=(4,)))
    want = np.zeros((2, 4))
    np.add.at(want, (np.arange(2)[:, None], at), v)
    same(dualad.vmap(counts)(at, v), want)
    weight = like(np.zeros(4))
    gradient = lambda k, w: dualad.grad(lambda u: np.sum(weight * counts(k, u)))(w)
    same(dualad.vmap(gradient)(at, v), weight[at])
    put = lambda k, w: writes(lambda y: np.put_along_axis(y, k, w, 0))(
        np.zeros_like(w, shape=(4,))
    )
    for row, k, w in zip(dualad.vmap(put)(at, v), at, v, strict=True):
        expected = np.zeros(4)
        expected[k] = w
        same(row, expected)


def test_traced_values_cannot_go_into_plain_arrays():
    """A plain array has no place for a derivative: loud, never a zero."""
    for write in (
        lambda b, v: np.copyto(b, v), lambda b, v: np.put_along_axis(b, np.array([0]), v[:1], 0),
        lambda b, v: np.add.at(b, [0], v[:1]), lambda b, v: np.add(v, v, out=b),
        lambda b, v: b.__setitem__(0, v[0]), lambda b, v: b.__setitem__(slice(None), v),
        lambda b, v: b.__iadd__(v),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            dualad.grad(lambda v: np.sum(v) + np.sum(write(np.zeros(5), v) or 0.0))(V)


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (lambda y: np.put(y, [12], 1.0), IndexError),
        (lambda y: np.copyto(y, np.ones(3)), ValueError),
        (lambda y: np.copyto(y, np.ones((3, 4)) * 1j), TypeError),
        (lambda y: y.__setitem__((0, 4), 1.0), IndexError),
    ],
)
def test_refused(write, error):
    with pytest.raises(error):
        dualad.jvp(writes(write), (X,), (X,))


# --- sizes that change ---------------------------------------------------------------------------


def test_resize_in_place_cuts_off_or_appends_zeros():
    def f(x):
        y = x.copy()
        y.resize((2, 4), refcheck=False)
        z = x * 1.0
        z.resize(3)
        return y, z

    x = np.arange(1.0, 7.0).reshape(2, 3)
    flat = np.append(x, [0.0, 0.0])
    got = dualad.jvp(f, (x,), (x,))[1]
    assert [g.tolist() for g in got] == [flat.reshape(2, 4).tolist(), flat[:3].tolist()]


def test_an_array_with_views_keeps_its_size():
    def f(x):
        y = x.copy()
        row = y[0]
        with pytest.raises(ValueError, match="cannot resize"):
            y.resize(2)
        with pytest.raises(ValueError, match="cannot resize"):
            row.resize(2)
        return y

    x = np.ones((2, 3))
    dualad.jvp(f, (x,), (x,))


def test_copying_into_an_object_array_keeps_the_numbers_traced():
    def f(x):
        y = np.empty(3, dtype=object)
        np.copyto(y, x)
        return y

    x = np.array([1.0, 2.0, 3.0])
    assert dualad.jvp(f, (x,), (x,))[1].tolist() == [1.0, 2.0, 3.0]
