"""The covariance of fitted parameters, and what the data leave undetermined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..analysis.identifiability import Identifiability, identifiability
from ..results.sensitivities import Sensitivities
from .least_squares import Estimate, LeastSquares

__all__ = ["FitUncertainty", "fit_uncertainty"]


@dataclass(frozen=True)
class FitUncertainty:
    """What is known of the k free parameters after a fit.

    Attributes:
        covariance: with infinite variances for what is not determined, NaN for what is at a bound.
        finite: the covariance of what is determined: the same with zeros there, or for directions
            that are determined together the part that is.
        null: directions that are not determined, as columns, (k, r).
        open: the names of the parameters that are not determined each for itself.
        reason: in which combinations they enter.
        dof: observations less determined parameters.
        variance: the factor of the covariance: that of the residuals, or 1 where sigma is known.
    """

    covariance: np.ndarray
    finite: np.ndarray
    null: np.ndarray
    open: tuple[str, ...]
    reason: str
    dof: int
    variance: float


def fit_uncertainty(
    problem: LeastSquares, estimate: Estimate, sensitivities: Sensitivities
) -> FitUncertainty:
    """The covariance at an estimate.

    For the squares themselves it is s^2 (J'J)^-1; for another loss H^-1 G H^-1, the estimate of
    Huber, Robust Statistics (1981), chapter 7, with G from the gradients of the observations.
    """
    names = sensitivities.parameters.names
    free = ~estimate.at_bound
    k = len(names)
    told = determined(sensitivities, free)
    rank = told.rank if told is not None else 0
    columns = estimate.jacobian[:, free]
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    q, r = np.linalg.qr(columns / lengths)
    u, sizes, v = np.linalg.svd(r)
    u, kept = q @ u[:, :rank], v[:rank].T / lengths[:, np.newaxis]
    m = len(estimate.residual)
    dof = m - rank
    variance = 1.0 if problem.seen.known else _variance(estimate.residual, dof)
    inner = _inner(problem, estimate, u, sizes[:rank], variance, dof)
    finite = np.zeros((k, k))
    if np.isfinite(variance):
        finite[np.ix_(free, free)] = kept @ inner @ kept.T
    null = np.zeros((k, len(lengths) - rank))
    null[free] = v[rank:].T / lengths[:, np.newaxis]
    open_ = () if told is None else told.undetermined
    reason = "" if told is None else "; ".join(told.reasons())
    covariance = _with_infinities(finite, names, open_, estimate.at_bound, variance)
    return FitUncertainty(covariance, finite, null, open_, reason, dof, variance)


def determined(sensitivities: Sensitivities, free: np.ndarray) -> Identifiability | None:
    """What the predictions tell of the parameters that are not at a bound."""
    if not free.any():
        return None
    names = sensitivities.parameters.names
    inside = [n for n, f in zip(names, free, strict=True) if f]
    whole = sensitivities.parameters.vector()

    def again(vector: np.ndarray) -> np.ndarray:
        moved = whole.copy()
        moved[free] = vector
        return sensitivities.again(moved)  # type: ignore[misc]

    part = sensitivities.replace(
        jacobian=sensitivities.jacobian[:, free],
        parameters=sensitivities.parameters.subset(inside),
        again=again,
    )
    return identifiability(part)


def _variance(residual: np.ndarray, dof: int) -> float:
    return float(residual @ residual / dof) if dof else np.inf


def _inner(
    problem: LeastSquares,
    estimate: Estimate,
    u: np.ndarray,
    sizes: np.ndarray,
    variance: float,
    dof: int,
) -> np.ndarray:
    """The covariance in the directions that are determined, where J is U S V'."""
    if problem.loss == "linear":
        with np.errstate(invalid="ignore"):
            return np.diag(variance / sizes**2)
    by_gradient, by_hessian = problem.weights(estimate.residual)
    pulled = by_gradient * estimate.residual
    hessian = np.linalg.inv(u.T @ (by_hessian[:, np.newaxis] * u))
    gradients = u.T @ (pulled[:, np.newaxis] ** 2 * u)
    m = len(pulled)
    middle = hessian @ gradients @ hessian * (m / dof if dof else np.inf)
    return middle / np.outer(sizes, sizes)


def _with_infinities(
    finite: np.ndarray,
    names: tuple[str, ...],
    open_: tuple[str, ...],
    at_bound: np.ndarray,
    variance: float,
) -> np.ndarray:
    out = finite.copy()
    if np.isinf(variance):
        out = np.full_like(out, np.nan)
        np.fill_diagonal(out, np.inf)
    for name in open_:
        i = names.index(name)
        out[i, :] = out[:, i] = np.nan
        out[i, i] = np.inf
    for i in np.flatnonzero(at_bound).tolist():
        out[i, :] = out[:, i] = np.nan
    return out
