"""Fisher information of observing the outputs with normal errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..given import numbers

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["fisher"]


def fisher(result: Sensitivities, sigma: Any) -> np.ndarray:
    """S' V^-1 S; see `Sensitivities.fisher`."""
    jacobian = result.jacobian.reshape(-1, len(result.parameters))
    errors = numbers("sigma", sigma)
    m = len(jacobian)
    if not np.isfinite(errors).all():
        raise SensitivityError("sigma holds NaN or infinity")
    if errors.shape == (m, m) and errors.shape != result.values.shape:
        return _by_covariance(jacobian, errors)
    try:
        errors = np.broadcast_to(errors, result.values.shape).reshape(-1)
    except ValueError:
        raise SensitivityError(
            f"sigma has shape {errors.shape}: it must be a number, fit the shape of the outputs "
            f"{result.values.shape}, or be their covariance {(m, m)}"
        ) from None
    if not (errors > 0).all():
        raise SensitivityError("sigma must be positive: an output without error tells everything")
    weighted = jacobian / errors[:, np.newaxis]
    return weighted.T @ weighted


def _by_covariance(jacobian: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    if not np.allclose(covariance, covariance.T):
        raise SensitivityError("the covariance of the observations is not symmetric")
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise SensitivityError(
            "the covariance of the observations must be positive definite"
        ) from None
    weighted = np.linalg.solve(root, jacobian)
    return weighted.T @ weighted
