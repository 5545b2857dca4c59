"""Whether a matrix is a covariance or a correlation, and where it is not one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError

__all__ = ["checked_correlation", "checked_covariance"]


def checked_covariance(matrix: Any, names: Sequence[str]) -> np.ndarray:
    """The matrix as floats, if it is symmetric and positive semidefinite; variances may be 0.

    Raises:
        ParameterError: it is not; the error names the pair or the eigenvalue.
    """
    out = _square(matrix, names, "the covariance")
    for name, variance in zip(names, np.diag(out), strict=True):
        if variance < 0:
            raise ParameterError(f"the variance of {name!r} is {variance:g}: it is negative")
    u = np.sqrt(np.diag(out))
    scale = np.where(u > 0, u, 1.0)
    for i, j in zip(*np.nonzero((u == 0)[:, np.newaxis] & (out != 0)), strict=True):
        raise ParameterError(
            f"the variance of {names[i]!r} is 0, so its covariance with {names[j]!r} must be, too"
        )
    _require_semidefinite(out / np.outer(scale, scale), "the covariance")
    return out


def checked_correlation(matrix: Any, names: Sequence[str]) -> np.ndarray:
    """The matrix as floats, if it has ones on its diagonal and is positive semidefinite.

    Raises:
        ParameterError: it has not; the error names the pair or the eigenvalue.
    """
    out = _square(matrix, names, "the correlation")
    for i, j in zip(*np.nonzero(np.abs(out) > 1 + 1e-12), strict=True):
        raise ParameterError(
            f"the correlation of {names[i]!r} and {names[j]!r} is {out[i, j]:g}, not in [-1, 1]"
        )
    if not np.allclose(np.diag(out), 1.0, rtol=0, atol=1e-12):
        raise ParameterError(f"the diagonal of the correlation must be 1, got {np.diag(out)}")
    _require_semidefinite(out, "the correlation")
    return out


def _square(matrix: Any, names: Sequence[str], what: str) -> np.ndarray:
    k = len(names)
    out = np.asarray(matrix)
    if out.shape != (k, k) or out.dtype.kind not in "fiu":
        raise ParameterError(
            f"{what} must be a real matrix of shape {(k, k)} for {', '.join(names)}; got shape "
            f"{out.shape} of {out.dtype}"
        )
    out = out.astype(float)
    if not np.isfinite(out).all():
        raise ParameterError(f"{what} holds NaN or infinity")
    scale = np.sqrt(np.abs(np.outer(np.diag(out), np.diag(out))))
    for i, j in zip(*np.nonzero(np.abs(out - out.T) > 1e-9 * scale), strict=True):
        raise ParameterError(
            f"{what} is not symmetric: {out[i, j]:g} for ({names[i]}, {names[j]}), {out[j, i]:g} "
            f"for ({names[j]}, {names[i]})"
        )
    return (out + out.T) / 2


def _require_semidefinite(correlation: np.ndarray, what: str) -> None:
    if not correlation.size:
        return
    smallest = float(np.linalg.eigvalsh(correlation)[0])

    if smallest < -1e-8 * len(correlation):
        raise ParameterError(
            f"{what} is not positive semidefinite: its smallest eigenvalue (in units of the "
            f"uncertainties) is {smallest:.3g}; the correlations contradict each other"
        )
