"""Arguments of a call of each primitive of dualad.scipy, for the sweep of the registry."""

import numpy as np

# The sweep walks the primitives that are loaded.
import dualad.scipy.linalg
import dualad.scipy.signal
import dualad.scipy.sparse.linalg
import dualad.scipy.stats  # noqa: F401

#: A well conditioned matrix with distinct positive eigenvalues, one with a wide spectrum, a band.
M = np.array([[3.0, 0.4, 0.2], [0.3, 5.0, 0.6], [0.5, 0.1, 8.0]])
TALL = np.array([[0.3, 0.9], [1.1, 0.2], [0.5, 0.7]])
BAND = np.array([[0.3, 0.4, 0.2, 0.5], [4.0, 5.0, 6.0, 5.5], [0.6, 0.2, 0.3, 0.7]])
HALF = BAND[:2]
SPREAD = M @ M.T
FUNCTION = {"more": (), "dtype": np.dtype(float)}
R = np.array([[1.0, 0.3], [0.3, 1.0]])
#: The entries of a sparse matrix of three rows, one of which is [4, 0, 1], and its pattern.
ENTRIES = np.array([4.0, 1.0, 5.0, 0.5, 3.0])
PATTERN = {
    "indices": np.array([0, 2, 1, 0, 2]),
    "indptr": np.array([0, 2, 3, 5]),
    "shape": (3, 3),
}
STABLE, NEAR_ONE = M / 20 - np.eye(3), M / 40 + np.eye(3)
Q = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]])


def scipy_samples(Sample, real):
    """By name of primitive; complex where the call makes sense for complex arguments too."""
    s = Sample
    linalg = {
        "solve_triangular": [
            s(M, real(3, 2), trans=0, lower=True, unit=False),
            s(M, real(3, 1), trans=1, lower=False, unit=False),
            s(M, real(3, 1), trans=2, lower=True, unit=True),
        ],
        "solve pos": [s(SPREAD, real(3, 2), lower=True), s(SPREAD, real(3, 1), lower=False)],
        "pinv": [s(TALL, atol=None, rtol=None), s(TALL.T, atol=1e-9, rtol=None)],
        "solve_banded": [
            s(BAND, real(4, 2), below=1, above=1),
            s(BAND[[1, 0, 2]], real(4, 1), below=2, above=0),
        ],
        "solveh_banded": [
            s(HALF, real(4, 1), lower=False),
            s(BAND[[1, 0, 2]], real(4, 2), lower=True),
        ],
        "solve_sylvester": [s(M, M[:2, :2] + 1, real(3, 2))],
        "solve_discrete_lyapunov": [
            s(0.1 * M, real(3, 3), method="direct"),
            s(0.1 * M, real(3, 3), method="bilinear"),
        ],
        "solve_toeplitz": [s(np.array([4.0, 1, 0.3]), np.array([9.0, 0.5, 0.2]), real(3, 2))],
        "expm": [s(0.2 * M, more=()), s(np.stack([0.1 * M, 0.2 * M.T]), more=())],
        "logm": [s(M, more=())],
        "fractional_matrix_power": [s(M, more=(0.3,))],
        "sqrtm": [s(M)],
        "signm": [s(M - 4 * np.eye(3))],
        "lu": [s(M), s(TALL), s(TALL.T)],
        "lu_factor": [s(M), s(TALL), s(TALL.T)],
        "pivots": [s(np.array([2, 1, 2]), rows=3)],
        "rq": [s(M), s(TALL), s(TALL.T)],
        "qr pivots": [s(M)],
        "ldl": [
            s(SPREAD, lower=True, hermitian=False),
            s(SPREAD - 8 * np.eye(3), lower=False, hermitian=True, complex=False),
        ],
        "solve_continuous_are": [
            s(STABLE, TALL, Q, R, None, None, balanced=True),
            s(STABLE, TALL, Q, R, NEAR_ONE, 0.05 * TALL, balanced=True),
        ],
        "solve_discrete_are": [
            s(0.5 * STABLE, TALL, Q, R, None, None, balanced=True),
            s(0.5 * STABLE, TALL, Q, R, NEAR_ONE, 0.05 * TALL, balanced=True),
        ],
    }
    rest = {
        "scipy.linalg matrix function derivative": [
            s(0.2 * M, real(3, 3), function="expm", **FUNCTION),
            s(M, real(3, 3), function="logm", **FUNCTION),
        ],
        "scipy.stats.multivariate_normal.cdf": [s(real(2), R, options=(), complex=False)],
        "scipy.signal.convolve": [
            s(real(5), real(3), mode="full", method="auto"),
            s(real(4, 5), real(2, 3), mode="valid", method="direct"),
        ],
    }
    sparse = {
        "scipy.sparse.product": [
            s(ENTRIES, real(3), transposed=False, **PATTERN),
            s(ENTRIES, real(3, 2), transposed=True, **PATTERN),
        ],
        "scipy.sparse.sampled_product": [
            s(real(3), real(3), **PATTERN),
            s(real(3, 2), real(3, 2), **PATTERN),
        ],
        "scipy.sparse.solve": [
            s(ENTRIES, real(3), trans="N", factors=None, **PATTERN),
            s(ENTRIES, real(3, 2), trans="T", factors=None, **PATTERN),
            s(ENTRIES, real(3), trans="H", factors=None, **PATTERN),
        ],
    }
    rest |= sparse
    return {f"scipy.linalg.{n}": x for n, x in linalg.items()} | rest
