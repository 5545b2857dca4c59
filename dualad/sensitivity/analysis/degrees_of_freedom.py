"""Effective degrees of freedom of a combined uncertainty.

Welch-Satterthwaite: nu = u^4 / sum_i (u_i^4 / nu_i) over independent inputs (JCGM 100:2008, G.4).
Inputs that are correlated with each other count as one, with their joint variance, as in Willink,
A generalization of the Welch-Satterthwaite formula for use with correlated uncertainty components,
Metrologia 44 (2007): right where they come from the same observations, and so have the same nu.
"""

from __future__ import annotations

import numpy as np

__all__ = ["effective", "groups"]


def groups(covariance: np.ndarray) -> list[list[int]]:
    """The inputs that hang together by correlation.

    >>> groups(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    [[0, 1], [2]]
    """
    left, found = set(range(len(covariance))), []
    while left:
        group, edge = set(), {min(left)}
        while edge:
            group |= edge
            edge = {int(j) for i in edge for j in np.flatnonzero(covariance[i])} & left - group
        left -= group
        found.append(sorted(group))
    return found


def effective(jacobian: np.ndarray, covariance: np.ndarray, dof: np.ndarray) -> np.ndarray:
    """The effective degrees of freedom of each output, (m,); infinite where all inputs' are.

    Args:
        jacobian: (m, k).
        covariance: (k, k), of the inputs.
        dof: (k,), of the inputs; where correlated ones differ, the least of them counts.
    """
    total = np.einsum("mi,ij,mj->m", jacobian, covariance, jacobian)
    below = np.zeros(len(jacobian))
    for group in groups(covariance):
        at = np.ix_(group, group)
        share = np.einsum("mi,ij,mj->m", jacobian[:, group], covariance[at], jacobian[:, group])
        below += share**2 / dof[group].min()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, total**2 / below, np.inf)
