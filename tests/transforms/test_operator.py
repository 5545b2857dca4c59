"""A linearized function as a LinearOperator of SciPy: products with J and with its adjoint."""

import numpy as np
import pytest
from scipy.sparse.linalg import lsqr, svds

import dualad
from dualad.errors import NotDifferentiableError

A = np.array([[2.0, -1.0, 0.5], [0.0, 3.0, 1.0]])


def operator(f, *primals):
    return dualad.linearize(f, *primals)[1].as_linear_operator()


def test_it_is_the_jacobian_and_its_adjoint_the_transpose():
    x = np.array([0.3, -1.0, 2.0])
    J = np.cos(A @ x)[:, None] * A
    op = operator(lambda x: np.sin(A @ x), x)
    assert op.shape == (2, 3) and op.dtype == np.float64
    np.testing.assert_allclose(op @ np.eye(3), J, rtol=1e-14)
    np.testing.assert_allclose(op.H @ np.eye(2), J.T, rtol=1e-14)
    np.testing.assert_allclose(op.matvec(np.ones((3, 1))), J.sum(axis=1, keepdims=True))


def test_arguments_and_results_of_any_structure_are_one_vector():
    def f(p, s):
        return {"a": p["m"] @ np.ones(3) * s, "b": p["v"] * 2.0}

    op = operator(f, {"m": A, "v": 4.0}, np.float64(3.0))
    assert op.shape == (3, 8)  # m (2, 3), v, s; a (2,), b
    dense = np.zeros((3, 8))
    dense[0, :3] = dense[1, 3:6] = 3.0
    dense[:2, 7], dense[2, 6] = A.sum(axis=1), 2.0
    np.testing.assert_allclose(op @ np.eye(8), dense)
    np.testing.assert_allclose(op.T @ np.eye(3), dense.T)


def test_solvers_take_it():
    rng = np.random.default_rng(0)
    B, x = rng.normal(size=(8, 5)), rng.normal(size=5)
    op = operator(lambda x: np.tanh(B @ x), x)
    J = (1 - np.tanh(B @ x) ** 2)[:, None] * B
    np.testing.assert_allclose(np.sort(svds(op, k=2)[1]), np.linalg.svd(J)[1][1::-1])
    step = lsqr(op, np.ones(8), atol=1e-14, btol=1e-14)[0]
    np.testing.assert_allclose(step, np.linalg.lstsq(J, np.ones(8))[0], rtol=1e-6)


def test_a_holomorphic_function_has_the_conjugate_transpose():
    z = np.array([1.0 + 2.0j, -0.5j])
    op = operator(lambda z: np.stack([z[0] * z[1], z[1] ** 2]), z)
    J = np.array([[z[1], z[0]], [0.0, 2 * z[1]]])
    np.testing.assert_allclose(op @ np.eye(2), J)
    np.testing.assert_allclose(op.H @ np.eye(2), J.conj().T)


def test_what_the_results_do_not_depend_on_is_zero():
    op = operator(lambda x, y: (np.ones(2), 2.0 * y), np.ones(3), 1.0)
    np.testing.assert_array_equal(op @ np.eye(4), [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2.0]])
    np.testing.assert_array_equal((op.H @ np.eye(3)).T, op @ np.eye(4))


def test_float32_stays_float32():
    op = operator(lambda x: x * np.float32(2.0), np.ones(3, np.float32))
    assert op.dtype == np.float32 and op.matvec(np.ones(3)).dtype == np.float32


def test_a_map_between_real_and_complex_numbers_is_refused():
    with pytest.raises(NotDifferentiableError, match="take real and imaginary parts apart"):
        operator(np.abs, np.array([1.0 + 1.0j]))
