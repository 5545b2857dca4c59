"""vjp, grad, value_and_grad, linearize, linear_transpose."""

import pickle

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError, LinearityError, ShapeError, StructureError


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_gradient(x):
    g, a = np.zeros_like(x), x[1:] - x[:-1] ** 2
    g[:-1] = -400 * x[:-1] * a - 2 * (1 - x[:-1])
    g[1:] += 200 * a
    return g


def test_the_gradient_of_rosenbrock():
    x = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(dualad.grad(rosenbrock)(x), rosenbrock_gradient(x), rtol=1e-13)


def test_value_and_gradient_in_one_run():
    runs = []
    value, g = dualad.value_and_grad(lambda x: runs.append(1) or x**3)(2.0)
    assert (value, g, len(runs)) == (8.0, 12.0, 1)


def test_what_comes_in_comes_out():
    for x in (3.0, np.float64(3), np.float32(3), np.array(3.0)):
        g = dualad.grad(lambda v: v * v)(x)
        assert type(g) is type(x) and np.asarray(g).dtype == np.asarray(x).dtype and g == 6.0


def test_gradients_are_arrays_of_the_callers_own():
    x, c = np.ones(3), np.array([1.0, 2.0, 3.0])
    g = dualad.grad(np.sum)(x)
    g[0] = 9.0
    ct = np.ones(3)
    (h,) = dualad.vjp(lambda v: v, x)[1](ct)
    h[0] = 9.0
    np.testing.assert_array_equal(ct, np.ones(3))
    k = dualad.grad(lambda v: np.sum(v * c))(x)
    k[0] = 9.0
    np.testing.assert_array_equal(c, [1.0, 2.0, 3.0])


def test_argnums():
    f = lambda x, y, z: x * y**2 * z
    assert dualad.grad(f, 1)(2.0, 3.0, 5.0) == 60.0
    assert dualad.grad(f, (0, -1))(2.0, 3.0, 5.0) == (45.0, 18.0)
    for bad, words in (
        (3, "called with 3"),
        ((0, 0), "twice"),
        ("x", "integer"),
        (True, "integer"),
    ):
        with pytest.raises(ArgumentError, match=words):
            dualad.grad(f, bad)(2.0, 3.0, 5.0)


def test_keyword_arguments_are_constants():
    assert dualad.grad(lambda x, *, n=2: x**n)(2.0, n=3) == 12.0


def test_the_functions_that_transformations_give_can_be_pickled():
    for made in (
        dualad.grad(rosenbrock),
        dualad.value_and_grad(rosenbrock),
        dualad.jacobian(rosenbrock),
        dualad.hessian(rosenbrock),
        dualad.vmap(rosenbrock),
    ):
        again = pickle.loads(pickle.dumps(made))
        x = (
            np.array([[0.5, 1.0]])
            if made is not None and "vmap" in repr(made)
            else np.array([0.5, 1.0])
        )
        np.testing.assert_equal(again(x), made(x))


def test_grad_wants_one_real_scalar():
    for f, words in (
        (lambda x: x * np.ones(2), r"shape \(2,\)"),
        (lambda x: (x, x), r"returned \(\*, \*\)"),
        (lambda x: x * 1j, "real"),
        (lambda x: None, "None"),
    ):
        with pytest.raises(ShapeError, match=words):
            dualad.grad(f)(1.0)


def test_nothing_to_differentiate():
    with pytest.raises(ArgumentError, match="nothing to differentiate"):
        dualad.grad(lambda x: 1.0)(None)


def test_a_complex_gradient_follows_pytorch():
    """For real f it is df/dRe + i df/dIm: of |z|**2 that is 2z."""
    assert dualad.grad(lambda z: np.abs(z) ** 2)(1 + 2j) == 2 + 4j


# --- vjp ----------------------------------------------------------------------------------------


def test_the_pullback_may_be_called_many_times():
    A = np.arange(6.0).reshape(2, 3)
    y, pullback = dualad.vjp(lambda x: A @ x, np.ones(3))
    np.testing.assert_array_equal(y, A.sum(1))
    for row in (0, 1, 0):
        np.testing.assert_array_equal(pullback(np.eye(2)[row])[0], A[row])


def test_the_pullback_is_of_the_moment_it_was_made():
    x, c = np.array([2.0]), np.array([3.0])
    _, pullback = dualad.vjp(lambda x: x * x * c, x)
    x[0], c[0] = 100.0, 100.0
    np.testing.assert_array_equal(pullback(np.ones(1))[0], [12.0])


@pytest.mark.parametrize(
    "cotangent, error, words",
    [
        (np.ones(3), StructureError, "cotangent"),
        ({"a": np.ones(3)}, ShapeError, "shape"),
        ({"a": np.array([1, 2])}, ShapeError, "dtype"),
        ({"a": np.ones(2), "b": 1.0}, StructureError, "keys"),
    ],
)
def test_cotangents_must_mirror_the_output(cotangent, error, words):
    _, pullback = dualad.vjp(lambda x: {"a": x}, np.ones(2))
    with pytest.raises(error, match=words):
        pullback(cotangent)


def test_writing_to_a_constant_after_it_was_used_changes_nothing():
    def f(x):
        work = np.array([1.0, 2.0])
        y = x * work
        work[:] = 100.0
        return np.sum(y) + work @ x

    np.testing.assert_array_equal(dualad.grad(f)(np.ones(2)), [101.0, 102.0])


# --- linearize, programs, linear_transpose -------------------------------------------------------


def test_linearize_runs_f_once_and_is_linear():
    runs = []

    def f(x):
        runs.append(1)
        return np.sin(x) * x[0]

    x = np.array([0.2, 0.4])
    _, f_lin = dualad.linearize(f, x)
    J = np.diag(np.cos(x) * x[0])
    J[:, 0] += np.sin(x)
    for t in np.eye(2):
        np.testing.assert_allclose(f_lin(t), J @ t, rtol=1e-15)
    assert len(runs) == 1
    with pytest.raises(ArgumentError, match="takes 1 tangents, got 2"):
        f_lin(x, x)


def test_the_program_runs_as_numpy_source_in_both_directions():
    A = np.arange(12.0).reshape(3, 4) / 10
    x, t, ct = np.linspace(0, 1, 4), np.array([1.0, -2.0, 0.5, 3.0]), np.array([2.0, 0.0, -1.0])
    _, f_lin = dualad.linearize(lambda x: np.exp(A @ np.sin(x)), x)
    J = np.exp(A @ np.sin(x))[:, None] * A * np.cos(x)
    scope, back = {}, {}
    exec(f_lin.program.source(), scope)
    exec(f_lin.program.source(transpose=True), back)
    np.testing.assert_allclose(scope["linear"](t)[0], J @ t)
    np.testing.assert_allclose(back["linear"](ct)[0], J.T @ ct)
    assert "import numpy as np" in str(f_lin.program)


def test_linear_transpose_is_the_adjoint():
    A = np.array([[1.0, 2j], [3.0, 4.0]])
    back = dualad.linear_transpose(lambda x: A @ x, np.zeros(2, complex))
    np.testing.assert_allclose(back(np.array([1.0, 1j]))[0], A.conj().T @ [1.0, 1j])


def test_linear_transpose_names_what_is_not_linear():
    with pytest.raises(LinearityError, match="sin"):
        dualad.linear_transpose(lambda x: np.sin(x), np.ones(2))
    with pytest.raises(LinearityError, match="constant"):
        dualad.linear_transpose(lambda x: x + 1.0, np.ones(2))
