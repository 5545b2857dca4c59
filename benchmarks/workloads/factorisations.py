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
    dominates="The rule multiplies by the inverse of the factor, made by halves down to small "
    "blocks, a fifth of the time; seven products of matrices are a quarter in reverse; "
    "and the solution with the factor is by LU, as NumPy has no solver for triangles.",
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
    dominates="Three factorisations of one matrix: slogdet, solve, and the inverse that the "
    "derivative of slogdet needs, a third of a gradient. NumPy gives none of its "
    "factors away, so that they cannot be shared; a second solution for the cotangent "
    "factorises once more.",
    operations=8,
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
    dominates="Half of the time is the decomposition itself, which f has as well. The rest are "
    "three products of matrices, the reciprocals of all differences of eigenvalues, "
    "and the look for eigenvalues that are equal.",
    operations=8,
)
def eigenvalues(xp: Any, constant: Callable) -> Callable:
    weights = constant(np.linspace(1.0, 2.0, SIZE))
    apart = constant(np.diag(np.arange(SIZE, dtype=float)))

    def f(a: Any) -> Any:
        w, v = xp.linalg.eigh(a + xp.swapaxes(a, 0, 1) + apart)
        return xp.sum(weights * w) + xp.sum(weights * v[:, -1] ** 2)

    return f
