"""Linear maps compiled once and applied often: linearized functions, pullbacks, programs."""

import pickle

import numpy as np
import pytest

import dualad

X = np.linspace(0.2, 0.9, 4)
A = np.random.default_rng(3).normal(size=(4, 4))


def f(x):
    return np.tanh(A @ x) * x[::-1]


JACOBIAN = dualad.jacfwd(f)(X)


def unit(k):
    return np.eye(4)[k]


def test_a_linearized_function():
    push = dualad.linearize(f, X)[1].compile(backend="numpy")
    for k in range(4):
        np.testing.assert_allclose(push(unit(k)), JACOBIAN[:, k], rtol=1e-13, atol=1e-14)


def test_a_pullback():
    pull = dualad.vjp(f, X)[1].compile(backend="numpy")
    for k in range(4):
        np.testing.assert_allclose(pull(unit(k))[0], JACOBIAN[k], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("transposed", [False, True])
def test_a_linear_program(transposed):
    program = dualad.linearize(f, X)[1].program
    apply = (program.transpose() if transposed else program).compile(backend="numpy")
    matrix = JACOBIAN.T if transposed else JACOBIAN
    for k in range(4):
        np.testing.assert_allclose(apply(unit(k))[0], matrix[:, k], rtol=1e-13, atol=1e-14)


def test_a_compiled_function_is_pickled_without_its_programs():
    g = dualad.compile(f, backend="numpy")
    g(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(g))(X), f(X))


def test_a_scipy_callback():
    optimize = pytest.importorskip("scipy.optimize")
    rosenbrock = lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    found = optimize.minimize(
        dualad.compile(rosenbrock, backend="numpy"),
        np.zeros(4),
        method="trust-exact",
        jac=dualad.compile(dualad.grad(rosenbrock), backend="numpy"),
        hess=dualad.compile(dualad.hessian(rosenbrock), backend="numpy"),
        options={"gtol": 1e-10},
    )
    np.testing.assert_allclose(found.x, np.ones(4), atol=1e-6)
