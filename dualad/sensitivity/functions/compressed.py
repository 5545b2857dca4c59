"""A Jacobian with a known pattern of zeros: parameters that share no output, in one direction.

Curtis, Powell, Reid, On the estimation of sparse Jacobian matrices (1974), with exact tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...transforms.batching import vmap
from ...transforms.forward import jvp
from ..errors import SensitivityError

__all__ = ["column_groups", "compressed_jacobian"]


def column_groups(pattern: np.ndarray) -> np.ndarray:
    """The number of a group for each column; columns of a group share no row.

    >>> column_groups(np.eye(3, dtype=bool)).tolist()
    [0, 0, 0]
    """
    taken: list[np.ndarray] = []
    groups = np.zeros(pattern.shape[1], int)
    for j in np.argsort(-pattern.sum(axis=0), kind="stable"):
        column = pattern[:, j]
        free = [g for g, rows in enumerate(taken) if not (rows & column).any()]
        if not free:
            taken.append(np.zeros(pattern.shape[0], bool))
        groups[j] = free[0] if free else len(taken) - 1
        taken[groups[j]] |= column
    return groups


def compressed_jacobian(
    f: Callable[[Any], Any], x: np.ndarray, sparsity: Any, names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """f(x), of shape (m,), and its Jacobian (m, k), from one direction a group of columns.

    Raises:
        SensitivityError: the pattern has another shape, or there are derivatives outside of it.
    """
    dense = sparsity.toarray() if hasattr(sparsity, "toarray") else sparsity
    pattern = np.asarray(dense) != 0
    if pattern.ndim != 2 or pattern.shape[1] != len(x):
        raise SensitivityError(
            f"sparsity has shape {pattern.shape}; it must have one column for each of "
            f"{', '.join(names)}"
        )
    groups = column_groups(pattern)
    probe = np.random.default_rng(20).uniform(0.5, 1.5, len(x))
    seeds = np.zeros((int(groups.max(initial=0)) + 2, len(x)))
    seeds[groups, np.arange(len(x))] = 1.0
    seeds[-1] = probe
    push = vmap(lambda v: jvp(f, (x,), (v,)), out_axes=(None, 0))
    values, columns = (np.asarray(a, float) for a in push(seeds))
    if pattern.shape[0] != len(values):
        raise SensitivityError(
            f"sparsity has shape {pattern.shape}; it must have one row for each of the "
            f"{len(values)} outputs"
        )
    jacobian = np.where(pattern, columns[groups].T, 0.0)
    expected = jacobian @ probe
    size = np.abs(jacobian) @ probe + np.abs(columns[-1])
    if not (np.abs(expected - columns[-1]) <= 1e-9 * size).all():
        row = int(np.abs(expected - columns[-1]).argmax())
        raise SensitivityError(
            f"output {row} depends on parameters that sparsity says it does not depend on"
        )
    return values, jacobian
