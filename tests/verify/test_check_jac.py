"""`check_jac`: the forms in which SciPy's solvers take Jacobians."""

import numpy as np
import pytest
import scipy.sparse
from scipy import optimize
from scipy.sparse.linalg import aslinearoperator

from dualad.errors import ArgumentError
from dualad.verify import check_jac

X = np.array([-1.2, 1.0, 0.4])


def test_minimize_with_gradient_and_hessian():
    assert check_jac(optimize.rosen, optimize.rosen_der, X)
    report = check_jac(optimize.rosen, optimize.rosen_der, X, hess=optimize.rosen_hess)
    assert report and "hessian" in {r.check for r in report.rows}
    wrong = lambda x: optimize.rosen_hess(x) + np.eye(3) * 1e-3
    report = check_jac(optimize.rosen, optimize.rosen_der, X, hess=wrong)
    assert {r.check for r in report.failures} == {"hessian"}


def test_minimize_with_the_gradient_beside_the_value():
    both = lambda x: (optimize.rosen(x), optimize.rosen_der(x))
    assert check_jac(both, True, X)
    bad = lambda x: (optimize.rosen(x), optimize.rosen_der(x) * [1, 1, 1.0001])
    report = check_jac(bad, True, X)
    assert [r.entry for r in report.failures] == ["x[2] -> fun"]


T, DATA = np.linspace(0, 2, 8), np.linspace(1, 2, 8)


def residuals(p, t, data):
    return p[0] * np.exp(-p[1] * t) - data


def residuals_jac(p, t, data):
    e = np.exp(-p[1] * t)
    return np.stack([e, -p[0] * t * e], axis=1)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, aslinearoperator, list])
def test_least_squares_in_all_forms_of_a_matrix(form):
    p = np.array([1.3, 0.7])
    assert check_jac(residuals, lambda *a: form(residuals_jac(*a)), p, args=(T, DATA))

    def wrong(*a):
        jac = residuals_jac(*a)
        jac[3, 1] *= 1 + 1e-5
        return form(jac)

    report = check_jac(residuals, wrong, p, args=(T, DATA))
    assert [r.entry for r in report.failures] == ["x[1] -> fun[3]"]


def robertson(t, y):
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [-a + b, a - b - c, c]


def robertson_jac(t, y):
    return [[-0.04, 1e4 * y[2], 1e4 * y[1]],
            [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]],
            [0, 6e7 * y[1], 0]]  # fmt: skip


STATE = np.array([0.98, 3e-5, 0.02])


def test_solve_ivp_with_time_and_state():
    assert check_jac(robertson, robertson_jac, 0.4, STATE)
    assert check_jac(robertson, robertson_jac, (0.4, STATE))
    wrong = lambda t, y: np.array(robertson_jac(t, y)) * [[1, 1, 1], [1, 1 + 1e-5, 1], [1, 1, 1]]
    report = check_jac(robertson, wrong, 0.4, STATE)
    assert [r.entry for r in report.failures] == ["y[1] -> fun[1]"]


def test_a_constant_jacobian():
    A = np.array([[-2.0, 1.0], [1.0, -3.0]])
    assert check_jac(lambda t, y: A @ y, A, 0.0, np.array([1.0, 2.0]))
    assert check_jac(lambda t, y: A @ y, scipy.sparse.csc_matrix(A), 0.0, np.array([1.0, 2.0]))
    assert check_jac(lambda t, y: A @ y, A.T + [[0, 1e-4], [0, 0]], 0.0, np.ones(2)).verdict == (
        "wrong"
    )


def test_a_state_of_two_numbers_is_no_time_and_state():
    rosen = lambda x: optimize.rosen(x)
    assert check_jac(rosen, optimize.rosen_der, [-1.2, 1.0])
    assert check_jac(rosen, optimize.rosen_der, (-1, 1))


def test_extra_arguments_that_are_no_tuple():
    assert check_jac(lambda x, k: k * x**2, lambda x, k: np.diag(2 * k * x), X, args=3.0)


def test_a_point_that_is_none():
    with pytest.raises(ArgumentError, match="no array of numbers"):
        check_jac(optimize.rosen, optimize.rosen_der, "here")
