"""The variance of outputs from that of the inputs: first order, second order, the GUM's form.

For y = f + g d + d' H d / 2 with normal d of covariance C, the mean is f + tr(H C) / 2 and the
covariance of two outputs g_a C g_b' + tr(H_a C H_b C) / 2 (JCGM 100:2008, 5.1.2, note, has one
more term, from third derivatives; Wang and Iyer, On higher-order corrections for propagating
uncertainties, Metrologia 42 (2005)). For an input that is independent of the others, skewness and
excess kurtosis add their terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError, SensitivityError, unknown_name
from ..given import mapped

__all__ = ["DISTRIBUTIONS", "bias", "curvature_covariance", "moments_of"]

#: Skewness and excess kurtosis of the distributions that metrology assigns.
DISTRIBUTIONS = {
    "normal": (0.0, 0.0),
    "uniform": (0.0, -1.2),
    "triangular": (0.0, -0.6),
    "arcsine": (0.0, -1.5),
    "laplace": (0.0, 3.0),
}


def bias(hessian: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """tr(H C) / 2 of each output, for Hessians (m, k, k)."""
    return 0.5 * np.einsum("mij,ij->m", hessian, covariance)


def curvature_covariance(
    jacobian: np.ndarray, hessian: np.ndarray, covariance: np.ndarray, moments: np.ndarray
) -> np.ndarray:
    """What second derivatives add to the covariance of the outputs, (m, m).

    Args:
        jacobian: (m, k).
        hessian: (m, k, k).
        covariance: (k, k), of the inputs.
        moments: (k, 2), skewness and excess kurtosis of each input.
    """
    spread = hessian @ covariance
    out = 0.5 * np.einsum("aij,bji->ab", spread, spread)
    u = np.sqrt(np.diag(covariance))
    own = np.einsum("mii->mi", hessian)
    skewed = 0.5 * (jacobian * u**3 * moments[:, 0]) @ own.T
    return np.asarray(out + skewed + skewed.T + 0.25 * (own * u**4 * moments[:, 1]) @ own.T)


def moments_of(
    moments: Mapping[str, Any] | None, names: Sequence[str], covariance: np.ndarray
) -> np.ndarray:
    """Skewness and excess kurtosis of each input, (k, 2); normal where nothing is said.

    Raises:
        ParameterError: a name or a distribution is unknown, or a correlated input is not normal.
    """
    out = np.zeros((len(names), 2))
    for name, given in mapped("moments", moments, "parameters to moments").items():
        if name not in names:
            raise ParameterError(unknown_name("parameter", name, names))
        j = list(names).index(name)
        out[j] = _pair(name, given)
        others = np.arange(len(names)) != j
        if out[j].any() and covariance[j, others].any():
            raise SensitivityError(
                f"{name!r} is correlated with others, so that its third and fourth moments alone "
                f"do not say enough: leave it out of moments, or propagate a sample"
            )
    return out


def _pair(name: str, given: Any) -> tuple[float, float]:
    if isinstance(given, str):
        if given not in DISTRIBUTIONS:
            raise ParameterError(unknown_name("distribution", given, DISTRIBUTIONS))
        return DISTRIBUTIONS[given]
    try:
        skewness, excess = map(float, given)
    except (TypeError, ValueError):
        raise ParameterError(
            f"the moments of {name!r} must be a pair of skewness and excess kurtosis, or one of "
            f"{', '.join(DISTRIBUTIONS)}; got {given!r}"
        ) from None
    if not excess >= skewness**2 - 2:
        raise ParameterError(
            f"the moments of {name!r}: no distribution has skewness {skewness} and excess "
            f"kurtosis {excess}"
        )
    return skewness, excess
