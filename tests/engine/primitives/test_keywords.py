"""Keywords of ufunc calls: each means what it means to NumPy, and keeps the derivative."""

import numpy as np
import pytest
from agreement import agrees, like, linear, same
from every_mode import derivative

import dualad

X = np.array([[0.5, 1.5, 2.5], [3.0, 0.25, 1.25]])


def refused(error, match, f, *xs):
    with pytest.raises(error, match=match):
        dualad.jvp(f, xs, xs)


# --- out= ----------------------------------------------------------------------------------------


def test_out_is_written_and_returned():
    def f(x):
        y = np.empty_like(x)
        assert np.multiply(x, x, out=y) is y
        assert np.add(y, x, y) is y
        return y

    agrees(f, (X,), (X,), (2 * X + 1) * X)


def test_out_of_several_results():
    def f(x):
        whole, part = np.zeros_like(x), np.zeros_like(x)
        given = np.modf(x, out=(part, whole))
        assert given[0] is part and given[1] is whole
        quotient, rest = np.divmod(x, 0.7, out=(None, part))
        assert rest is part
        return part + 0 * quotient

    derivative(f, X)


def test_out_of_a_method():
    def f(x):
        y = np.zeros_like(x[0])
        assert np.add.reduce(x, out=y) is y
        assert np.multiply.accumulate(x, axis=0, out=x) is x
        return y, x

    derivative(lambda x: f(x.copy()), X)


def test_a_plain_array_takes_no_traced_value():
    plain = np.zeros((2, 3))
    refused(TypeError, "plain ndarray", lambda x: np.add(x, 1, out=plain), X)
    refused(TypeError, "plain ndarray", lambda x: np.log(x, out=plain, where=X > 1), X)
    refused(TypeError, "plain ndarray", lambda x: np.modf(x, out=(plain, plain)), X)
    refused(TypeError, "plain ndarray", lambda x: np.add.reduce(x, out=plain[0]), X)
    assert not plain.any()


# --- where= --------------------------------------------------------------------------------------


def test_where_leaves_the_rest_as_it_was():
    mask, x = np.array([True, False, True]), np.array([1.0, -1.0, 4.0])

    def f(v):
        y = v * 10.0
        assert np.log(v, out=y, where=mask) is y
        return y

    t = like(x)
    same(dualad.jvp(f, (x,), (t,)), (f(x), np.array([1.0, 10.0, 0.25]) * t))
    derivative(f, x)


def test_where_gives_no_warning_of_entries_it_leaves_out():
    x = np.array([1.0, -1.0])
    f = lambda v: np.log(v, out=np.zeros_like(v), where=x > 0)
    same(dualad.grad(lambda v: np.sum(f(v)))(x), np.array([1.0, 0.0]))


def test_where_broadcasts_and_may_be_batched():
    derivative(lambda x: np.exp(x, out=x * 2, where=np.array([[True], [False]])), X)
    f = lambda m, x: np.exp(x, out=x * 2, where=m)
    same(dualad.vmap(f)(X > 1, X), np.where(X > 1, np.exp(X), 2 * X))


def test_where_of_several_results():
    def f(x):
        parts = np.zeros_like(x), np.zeros_like(x)
        fraction, whole = np.modf(x, out=parts, where=X > 1)
        assert fraction is parts[0]
        return fraction + whole

    same(dualad.jvp(f, (X,), (X,))[1], np.where(X > 1, X, 0.0))


def test_where_without_out_is_undefined():
    refused(TypeError, "leaves entries undefined", lambda x: np.exp(x, where=X > 1), X)


# --- dtype=, signature=, casting= ----------------------------------------------------------------


def test_dtype_is_that_of_the_loop():
    single = X.astype(np.float32)
    value, tangent = dualad.jvp(lambda x: np.exp(x, dtype=float), (single,), (single,))
    same((value, tangent), (np.exp(single, dtype=float), np.exp(single, dtype=float) * single))
    for options in ({"dtype": np.complex128}, {"signature": "DD->D"}, {"sig": (None, None, "D")}):
        linear(lambda x: np.add(x, 1j * x, **options), X.astype(complex))
    value, _ = dualad.jvp(lambda x: np.add(x, 1, dtype=np.float32), (single,), (single,))
    assert value.dtype == np.float32


def test_the_dtype_of_a_result_that_has_another_one_than_its_argument():
    value, tangent = dualad.jvp(lambda z: np.absolute(z, dtype=float), (3 + 4j,), (1.0 + 0j,))
    assert (value, tangent) == (5.0, 0.6)
    seen = []
    dualad.jvp(lambda x: (seen.append(np.greater(x, 1, dtype=bool)), x)[1], (X,), (X,))
    same(seen[0], X > 1)


def test_a_cast_that_loses_is_refused_as_numpy_refuses_it():
    refused(TypeError, "casting rule", lambda x: np.add(x, 1, dtype=int), X)
    half = lambda x: np.add(x, 1, out=np.zeros_like(x, dtype=np.float32), casting="no")
    refused(TypeError, "cannot cast", half, X)
    f = lambda x: np.add(x, 1, out=np.zeros_like(x, dtype=np.float32), casting="unsafe")
    assert dualad.jvp(f, (X,), (X,))[1].dtype == np.float32


def test_what_changes_nothing_is_accepted():
    f = lambda x: np.add(x, x, order="F", subok=False, casting="same_kind")
    linear(f, X)


# --- axis=, axes=, keepdims= of generalised ufuncs -----------------------------------------------

if hasattr(np, "vecdot"):  # NumPy 2.0

    def test_products_of_vectors_along_an_axis():
        for options in ({"axis": 0}, {"axis": 0, "keepdims": True}, {"axes": [1, 1, ()]}):
            derivative(lambda a, b: np.vecdot(a, b, **options), X, like(X), second=False)


def test_products_of_matrices_along_axes():
    a, b = like(np.ones((2, 3, 4))), like(np.ones((2, 4, 5)))
    wanted = np.moveaxis(a @ b, 0, -1)
    same(np.matmul(a, b, axes=[(1, 2), (1, 2), (0, 1)]), wanted)
    f = lambda u, v: np.matmul(u, v, axes=[(1, 2), (1, 2), (0, 1)])
    derivative(f, a, b, second=False)
    g = lambda u: np.matmul(u, u, axes=[(0, 2), (2, 0), (0, 1)])
    derivative(g, like(np.ones((3, 2, 4))), second=False)
