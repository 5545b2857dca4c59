"""The derivative of an algorithm, in every mode that its formula may run in."""

import numpy as np

import dualad
from dualad.engine.kinds.slope import slope_in


def product(x, y):
    return x * x * np.sin(y)


def test_partial_derivatives():
    x, y = np.array([0.3, 2.0]), np.array([1.2, -0.4])
    np.testing.assert_allclose(slope_in(0, product)(None, x, y), 2 * x * np.sin(y))
    np.testing.assert_allclose(slope_in(1, product)(None, x, y), x * x * np.cos(y))
    assert slope_in(0, product)(None, 1.5, 0.5) == 3.0 * np.sin(0.5)


def test_it_broadcasts():
    x, y = np.array([[0.3], [2.0]]), np.array([1.2, -0.4, 0.7])
    np.testing.assert_allclose(slope_in(0, product)(None, x, y), 2 * x * np.sin(y))


def test_nothing_depends_on_a_constant_program():
    assert slope_in(0, lambda x: np.floor(x))(None, 2.5) == 0.0


def test_it_nests_in_itself():
    mixed = slope_in(1, lambda x, y: slope_in(0, product)(None, x, y))
    assert mixed(None, 1.5, 0.5) == 3.0 * np.cos(0.5)


def test_it_runs_under_every_transformation():
    f = lambda x, y: slope_in(0, product)(None, x, y)
    x, y = np.float64(1.5), np.float64(0.5)
    assert dualad.jvp(f, (x, y), (0.0, 1.0))[1] == 3.0 * np.cos(0.5)
    np.testing.assert_allclose(
        dualad.grad(f, argnums=(0, 1))(x, y), (2 * np.sin(y), 3 * np.cos(y))
    )
    xs = np.array([0.3, 2.0])
    np.testing.assert_allclose(dualad.vmap(f, in_axes=(0, None))(xs, y), 2 * xs * np.sin(y))
    slopes = dualad.vmap(dualad.grad(f), in_axes=(0, None))(xs, y)
    np.testing.assert_allclose(slopes, 2 * np.sin(y))
