"""Python functions of entries, lines and axes: right, or refused."""

import math

import numpy as np
import pytest
from agreement import linear, same
from every_mode import apart, derivative, positive

import dualad

X = np.array([[0.25, 0.5, 0.75], [1.5, 2.0, 0.1]])


def test_a_function_made_a_ufunc_sees_traced_numbers():
    f = np.frompyfunc(lambda a, b: a * b if a > b else np.sin(a), 2, 1)
    plain = lambda a, b: np.where(a > b, a * b, np.sin(a))
    y = X[::-1].copy()
    same(dualad.jvp(f, (X, y), (X, y)), dualad.jvp(plain, (X, y), (X, y)))
    same(dualad.grad(f)(3.0, 2.0), 2.0)
    smooth = np.frompyfunc(lambda a: np.exp(a) * a, 1, 1)
    same(dualad.vmap(smooth)(X), np.exp(X) * X)


def test_several_results():
    f = np.frompyfunc(lambda a: (a * a, 3.0 * a), 1, 2)
    _, moved = dualad.jvp(f, (X,), (np.ones_like(X),))
    same(moved, (2 * X, np.full_like(X, 3.0)))


def test_complex_numbers():
    f = np.frompyfunc(lambda a: a * a, 1, 1)
    z = np.array([1 + 1j, 2 - 1j])
    same(dualad.jvp(f, (z,), (z,)), (z * z, 2 * z * z))


def test_a_result_without_derivative():
    f = np.frompyfunc(lambda a: 3, 1, 1)
    value, tangent = dualad.jvp(f, (X,), (X,))
    assert value.dtype.kind == "i" and not tangent.any()


def test_a_vectorized_function_with_object_results():
    f = np.vectorize(lambda a, b: a * a + b, otypes=[object])
    t = np.ones_like(X)
    same(dualad.jvp(lambda x: f(x, 2.0), (X,), (t,)), (X * X + 2.0, 2 * X))


def test_what_leaves_numpy_is_refused():
    for f in (
        np.frompyfunc(math.sin, 1, 1),
        np.frompyfunc(float, 1, 1),
        np.vectorize(lambda a: a * a),
        np.vectorize(math.sin, otypes=[object]),
    ):
        with pytest.raises(TypeError, match="would drop the derivative"):
            dualad.jvp(f, (X,), (X,))


# --- lines, axes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_functions_of_lines(axis):
    derivative(lambda x: np.apply_along_axis(lambda v: np.sum(v**2), axis, x), positive(2, 3))
    derivative(lambda x: np.apply_along_axis(np.sort, axis, x), apart(2, 3))
    linear(lambda x: np.apply_along_axis(lambda v: np.outer(v, [1.0, 2.0]), axis, x), X)
    linear(lambda x: np.apply_along_axis(lambda v, k: v[:k], axis, x, 1), X)


def test_no_lines():
    with pytest.raises(ValueError, match="iteration dimensions are 0"):
        dualad.jvp(lambda x: np.apply_along_axis(np.sum, 0, x), (X[:, :0],), (X[:, :0],))


def test_functions_over_axes():
    linear(lambda x: np.apply_over_axes(np.sum, x, [0, 1]), X)
    linear(lambda x: np.apply_over_axes(np.mean, x, 0), X)
    derivative(lambda x: np.apply_over_axes(np.prod, x, (0, 1)), X)
