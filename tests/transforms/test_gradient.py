"""grad and value_and_grad."""

import pickle

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError, ShapeError


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
