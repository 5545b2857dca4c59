"""Linear algebra on a matrix of 200 rows: LAPACK does the work."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .workload import rng, workload

SIZE = 200


def matrix() -> tuple:
    return (rng(20).normal(0.0, SIZE**-0.5, (SIZE, SIZE)),)


def covariance(xp: Any, constant: Callable) -> Callable:
    one = constant(np.eye(SIZE))
    return lambda a: xp.matmul(a, xp.swapaxes(a, 0, 1)) + one


def data(constant: Callable) -> Any:
    return constant(rng(21).normal(size=(SIZE, 1)))


@workload(
    "cholesky_200",
    "log likelihood of a Gaussian, by the Cholesky factor of its covariance",
    matrix,
    targets={"grad": 3.2, "jvp": 3.0},
    dominates="The function itself is a fifth: its solution with the factor is by substitution, "
    "where NumPy factorises again. The rule of cholesky goes by blocks, in the time of two "
    "products of matrices, a quarter; the product that the covariance adds is a seventh. To "
    "factorise the upper triangle, which needs no transposes, takes as long, and is not what "
    "NumPy gives to the last bit. A fifth is Python between them, which finds its own code no "
    "longer in the caches.",
    operations=9,
    peak=("grad",),
)
def likelihood(xp: Any, constant: Callable) -> Callable:
    y, sigma = data(constant), covariance(xp, constant)

    def f(a: Any) -> Any:
        factor = xp.linalg.cholesky(sigma(a))
        z = xp.linalg.solve(factor, y)
        return 0.5 * xp.sum(z * z) + xp.sum(xp.log(xp.diagonal(factor)))

    return f


@workload(
    "logdet_solve_200",
    "the same by slogdet and solve",
    matrix,
    targets={"grad": 2.1, "jvp": 2.2},
    dominates="The inverse that the derivative of slogdet needs, a fifth of a gradient where the "
    "matrix is symmetric and positive definite, after one factorisation, a sixth, which the "
    "values and all derivatives share; two products of matrices are a quarter. The rest is Python "
    "and passes over matrices, a dozen: each call of LAPACK leaves neither of them in the caches. "
    "PyTorch's library factorises, and solves with triangles, in less time than NumPy's.",
    operations=8,
    varies=True,
)
def by_determinant(xp: Any, constant: Callable) -> Callable:
    y, sigma = data(constant), covariance(xp, constant)

    def f(a: Any) -> Any:
        s = sigma(a)
        return 0.5 * xp.sum(y * xp.linalg.solve(s, y)) + 0.5 * xp.linalg.slogdet(s)[1]

    return f


@workload(
    "eigh_200",
    "eigenvalues and one eigenvector of a symmetric matrix",
    matrix,
    targets={"grad": 1.4, "jvp": 1.4},
    dominates="Four fifths are the decomposition itself, by the calls of NumPy's without their "
    "copies; PyTorch's library takes four fifths of NumPy's time for it. Half of it is the part "
    "that divides and conquers, in code of which most is not BLAS; to apply the reflections in "
    "larger blocks saves nothing. The rest is half of a product of matrices in reverse, where "
    "columns of zeros cost nothing, and three products forwards (half of the second one, which is "
    "symmetric, takes as long), passes over matrices that no longer are in the caches, and a "
    "tenth of Python, each function of which takes microseconds after three milliseconds of "
    "LAPACK.",
    operations=8,
)
def eigenvalues(xp: Any, constant: Callable) -> Callable:
    weights = constant(np.linspace(1.0, 2.0, SIZE))
    apart = constant(np.diag(np.arange(SIZE, dtype=float)))

    def f(a: Any) -> Any:
        w, v = xp.linalg.eigh(a + xp.swapaxes(a, 0, 1) + apart)
        return xp.sum(weights * w) + xp.sum(weights * v[:, -1] ** 2)

    return f
