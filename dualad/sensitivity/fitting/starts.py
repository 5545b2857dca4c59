"""Where a fit begins: at the values of the parameters, elsewhere, or at many places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..errors import ParameterError, SensitivityError
from ..given import numbers
from ..parameters.parameters import Parameters

__all__ = ["started"]


def started(
    parameters: Parameters, start: Any, wrt: Iterable[str] | None, seed: int
) -> tuple[Parameters, list[np.ndarray]]:
    """The parameters with their start values, and all starts of the free ones."""
    free = parameters.chosen(wrt)
    if isinstance(start, str):
        if start != "values":
            raise SensitivityError(
                f"start must be 'values', a mapping, a vector or a number of starts, got {start!r}"
            )
        return parameters, [free.vector()]
    if isinstance(start, (int, np.integer)) and not isinstance(start, bool):
        if start < 1:
            raise SensitivityError(f"the number of starts must be positive, got {start}")
        return parameters, [free.vector(), *drawn(free, int(start) - 1, seed)]
    if isinstance(start, Mapping):
        free.subset(start)
        values = dict(start)
    else:
        vector = numbers("start", start)
        if vector.shape != (len(free),):
            raise ParameterError(
                f"start has shape {vector.shape}; there are {len(free)} free parameters: "
                f"{', '.join(free)}"
            )
        values = dict(zip(free, vector.tolist(), strict=True))
    moved = parameters.replace(**values)
    return moved, [moved.chosen(wrt).vector()]


def drawn(free: Parameters, n: int, seed: int) -> list[np.ndarray]:
    """n starts: uniform within finite bounds, else within a factor (or an order) of the values."""
    lower, upper = free.bounds
    value = free.vector()
    out = hypercube(n, len(free), seed)
    logarithmic = np.array([p.scale == "log" for _, p in free.details()])
    reach = np.where(value != 0, 2.0 * np.abs(value), 1.0)
    low = np.where(np.isfinite(lower), lower, value - reach)
    high = np.where(np.isfinite(upper), upper, value + reach)
    with np.errstate(all="ignore"):
        base = np.where(np.isfinite(lower) & (lower > 0), lower, np.abs(value) / 10.0)
        top = np.where(np.isfinite(upper), upper, np.abs(value) * 10.0)
        logs = base * (top / base) ** out
    return list(np.where(logarithmic, logs, low + (high - low) * out))


def hypercube(n: int, k: int, seed: int) -> np.ndarray:
    """n points that fill the unit cube of k dimensions evenly: a Latin hypercube."""
    rng = np.random.default_rng(seed)
    places = np.array([rng.permutation(n) for _ in range(k)]).reshape(k, n).T
    return (places + rng.uniform(size=(n, k))) / max(n, 1)
