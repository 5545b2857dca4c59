"""The scaled sensitivity matrix that questions of identifiability are asked of.

Rows are the outputs (at all times), each output divided by its largest entry; columns are the
parameters, each divided by its length, as in Brun, Reichert and Kuensch, Practical identifiability
analysis of large environmental simulation models, Water Resour. Res. 37 (2001). Neither changes
which combinations of parameters have no effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SensitivityError
from ..given import number

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["Normalised", "normalised"]

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Normalised:
    """A matrix with columns of length 1, and what they were divided by.

    Attributes:
        matrix: shape (rows, columns), compressed to at most as many rows as columns.
        names: the parameters of the columns.
        scales: what each parameter was multiplied by: its magnitude, or 1 where it is 0.
        lengths: the lengths of the columns before.
        absent: the parameters whose columns are 0.
        noise: the relative error of the entries.
    """

    matrix: np.ndarray
    names: tuple[str, ...]
    scales: np.ndarray
    lengths: np.ndarray
    absent: tuple[str, ...]
    noise: float

    def tolerance(self, tol: float | None = None) -> float:
        """What a singular value must exceed to be told from 0."""
        if tol is not None:
            if not 0 < number("tol", tol) < 1:
                raise SensitivityError(f"tol must be positive, and below 1, got {tol}")
            return float(tol)
        return self.noise * float(np.sqrt(max(1, len(self.names))))


def normalised(result: Sensitivities) -> Normalised:
    """The normalised matrix of a result."""
    p = result.parameters.vector()
    scales = np.where(p == 0, 1.0, np.abs(p))
    rows = result.flat()[1] * scales
    if not np.isfinite(rows).all():
        raise SensitivityError("the derivatives hold NaN or infinity")
    largest = np.abs(rows).max(axis=(0, 2), initial=0.0, keepdims=True)
    matrix = (rows / np.where(largest > 0, largest, 1.0)).reshape(-1, len(p))
    lengths = np.linalg.norm(matrix, axis=0)
    here = lengths > 0
    names = result.parameters.names
    columns = matrix[:, here] / lengths[here]
    if columns.shape[0] > columns.shape[1]:
        columns = np.linalg.qr(columns, mode="r")
    return Normalised(
        columns,
        tuple(n for n, x in zip(names, here, strict=True) if x),
        scales[here],
        lengths[here],
        tuple(n for n, x in zip(names, here, strict=True) if not x),
        _noise(result),
    )


def _noise(result: Sensitivities) -> float:
    """The relative error of the derivatives: rounding, or the tolerance they were computed to."""
    given = result.settings.get("noise", result.settings.get("rtol"))
    return max(100 * EPS, float(given or 0.0))
