"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats as st
from scipy import special

from ...engine.kinds.direction import constant
from ...engine.levels.traced import raw
from ..dropin import operand
from .objects import DropIn, FrozenDistribution

__all__ = ["dirichlet"]


def _on_simplex(x: Any, alpha: Any) -> Any:
    """x with its last entry, which may be left out, after SciPy's checks of the values."""
    if alpha.ndim != 1:
        raise ValueError(
            f"Parameter vector 'a' must be one dimensional, but a.shape = {alpha.shape}."
        )
    if x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise ValueError(
            f"Vector 'x' must have either the same number of entries as, or one entry fewer than, "
            f"parameter vector 'a', but alpha.shape = {alpha.shape} and x.shape = {x.shape}."
        )
    if x.shape[0] != alpha.shape[0]:
        x = np.concatenate([x, 1 - np.sum(x, axis=0, keepdims=True)])
    value = constant(x)
    if np.any(raw(alpha) <= 0):
        raise ValueError("All parameters must be greater than 0")
    if np.any(raw(value) < 0) or np.any(raw(value) > 1):
        raise ValueError("Each entry in 'x' must be between zero and one.")
    if np.any(np.abs(raw(np.sum(value, axis=0) - 1)) > 1e-9):
        raise ValueError("The input vector 'x' must lie within the normal simplex.")
    return x


def _dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    alpha = operand(alpha)
    x = _on_simplex(operand(x), alpha)
    column = np.reshape(alpha, (-1,) + (1,) * (x.ndim - 1))
    log_beta = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    return np.sum(special.xlogy(column - 1, x), axis=0) - log_beta


class _Dirichlet(DropIn):
    """scipy.stats.dirichlet: the entries of x count as independent, as in SciPy's formula."""

    def __call__(self, alpha: Any, seed: Any = None) -> FrozenDistribution:
        return FrozenDistribution(self, ("pdf", "logpdf"), (alpha,), {})

    def logpdf(self, x: Any, alpha: Any) -> Any:
        """The logarithm of the density."""
        return self._serve("logpdf", _dirichlet_logpdf, (x, alpha), {})

    def pdf(self, x: Any, alpha: Any) -> Any:
        """The density."""
        return self._serve("pdf", lambda *a: np.exp(_dirichlet_logpdf(*a)), (x, alpha), {})


dirichlet = _Dirichlet(st.dirichlet)
