"""What a residual costs: its square, or less where it may be an outlier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.forward import jvp
from ..errors import SensitivityError

__all__ = ["LOSSES", "loss_slopes"]

#: rho(z) of the squared residual z, in units of the scale; as `scipy.optimize.least_squares`.
LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
    "huber": lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(np.where(z > 0, z, 1.0)) - 1.0),
    "cauchy": lambda z: np.log1p(z),
    "arctan": lambda z: np.arctan(z),
}


def loss_slopes(loss: str, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the second derivative of rho at each z.

    >>> loss_slopes("cauchy", np.array([1.0]))
    (array([0.5]), array([-0.25]))
    """
    if loss not in LOSSES:
        raise SensitivityError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    one = np.ones_like(z)

    def slope(z: Any) -> Any:
        return jvp(LOSSES[loss], (z,), (one,))[1]

    return jvp(slope, (z,), (one,))
