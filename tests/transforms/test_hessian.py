"""hessian, hvp."""

import numpy as np

import dualad


def test_the_hessian_of_a_quadratic_form():
    A = np.array([[1.0, 2.0], [-3.0, 4.0]])
    f = lambda x: x @ A @ x
    np.testing.assert_allclose(dualad.hessian(f)(np.ones(2)), A + A.T)
    np.testing.assert_allclose(dualad.hessian(f, chunk_size=1)(np.ones(2)), A + A.T)


def test_the_hessian_of_a_container_has_its_blocks():
    H = dualad.hessian(lambda p: np.sum(p["x"]) * p["k"] ** 2)({"x": np.ones(2), "k": 3.0})
    np.testing.assert_allclose(H["x"]["x"], np.zeros((2, 2)))
    np.testing.assert_allclose(H["x"]["k"], [6.0, 6.0])
    assert H["k"]["k"] == 4.0


def test_hvp_is_the_hessian_times_a_vector():
    x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, -1.0])
    np.testing.assert_allclose(dualad.hvp(lambda x: np.sum(x**3), (x,), (v,)), 6 * x * v)
    a, b = dualad.hvp(lambda x, y: x**2 * y, (2.0, 3.0), (1.0, 0.0))
    assert (a, b) == (6.0, 4.0)
