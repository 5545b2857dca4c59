"""`fixed_point`: closed forms, the spectral radius, and fixed points that repel."""

import numpy as np
import pytest

from dualad import sensitivity as ds


def close(value, exact, rtol=1e-10, atol=1e-14):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


def test_the_fixed_point_of_the_cosine():
    """x = cos(a x): dx/da = -x s/(1 + a s), s = sin(a x); the radius is a s."""
    r = ds.fixed_point(lambda x, p: np.cos(p.a * x), 1.0, {"a": 1.0}, order=2)
    x = 0.7390851332151607
    s, c = np.sin(x), np.cos(x)
    close(r.values, x, rtol=1e-15)
    slope = -x * s / (1 + s)
    close(r.jacobian, [slope])
    close(r.stats["spectral_radius"], s)
    # once more: x'' (1 + a s) = -2 x' s - c (x + a x')^2
    close(r.hessian, [[(-2 * slope * s - c * (x + slope) ** 2) / (1 + s)]])


def test_a_linear_step_is_the_neumann_series():
    """x = A x + b: x = (1 - A)^-1 b."""
    a = np.array([[0.2, 0.3], [0.1, 0.4]])
    r = ds.fixed_point(lambda x, p: p.s * (a @ x) + np.stack([p.b, 1.0]), [0.0, 0.0],
                       {"s": 1.0, "b": 2.0})  # fmt: skip
    inverse = np.linalg.inv(np.eye(2) - a)
    x = inverse @ [2.0, 1.0]
    close(r.values, x)
    close(r.jacobian, np.stack([inverse @ a @ x, inverse[:, 0]], axis=1))
    close(r.stats["spectral_radius"], np.abs(np.linalg.eigvals(a)).max())


def test_the_point_that_the_iteration_reaches_is_taken():
    """x = r x (1 - x) has 0 and 1 - 1/r; from 0.1 the iteration goes to the second."""
    r = ds.fixed_point(lambda x, p: p.r * x * (1 - x), 0.1, {"r": 2.5})
    close(r.values, 0.6)
    close(r.jacobian, [1 / 2.5**2])


def test_a_fixed_point_that_repels_is_found_with_a_warning():
    """x = r x (1 - x) at r = 3.5: the slope at 1 - 1/r is 2 - r = -1.5."""
    with pytest.warns(ds.SensitivityWarning, match=r"not attracting: the spectral radius.* 1.5"):
        r = ds.fixed_point(lambda x, p: p.r * x * (1 - x), 0.7, {"r": 3.5})
    close(r.values, 1 - 1 / 3.5)
    close(r.jacobian, [1 / 3.5**2])
    close(r.stats["spectral_radius"], 1.5)
    assert r.warnings


def test_a_step_that_leaves_a_direction_unchanged_has_a_line_of_fixed_points():
    """x -> (x1 + x2)/2 in both keeps the sum."""
    with pytest.raises(
        ds.ModelError, match=r"no single fixed point.*\(x1 \+ x2\).*eigenvalue of 1"
    ):
        ds.fixed_point(lambda x, p: p.a * np.ones(2) * np.sum(x) / 2, [1.0, 3.0], {"a": 1.0})


def test_no_fixed_point_at_all():
    """x + exp(x) comes near only at minus infinity; x^2 + x + 1 never."""
    with pytest.raises(ds.ModelError, match=r"no single fixed point.*far away"):
        ds.fixed_point(lambda x, p: x + np.exp(p.a * x), 0.0, {"a": 1.0})
    with pytest.raises(ds.ModelError, match="no solution of the step was found"):
        ds.fixed_point(lambda x, p: x**2 + x + p.a, 0.3, {"a": 1.0})


def test_a_step_of_another_shape():
    with pytest.raises(ds.ModelError, match=r"shape \(\).*x1, x2"):
        ds.fixed_point(lambda x, p: np.sum(x), [0.0, 0.0], {"a": 1.0})


def test_a_number_for_one_unknown_is_told_how_to_be_written():
    with pytest.raises(ds.ModelError, match=r"of shape \(1,\): return \[r\] for a number r"):
        ds.fixed_point(lambda x, p: np.cos(p.a * x[0]), [1.0], {"a": 0.5})
