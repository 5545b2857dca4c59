"""What is asked of an integration, checked before it begins: times, states, scales, tolerances."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .errors import ModelError, ParameterError, SensitivityError, SensitivityWarning
from .model import state_vector
from .parameters import ModelParameters, Parameters

__all__ = ["absolute_tolerance", "initial_state", "output_times", "scales", "span"]


def span(t_span: Sequence[float]) -> tuple[float, float]:
    """The first and the last time."""
    if np.shape(t_span) != (2,):
        raise SensitivityError(f"t_span must be the first and the last time, got {t_span!r}")
    t0, t1 = map(float, t_span)
    if not np.isfinite([t0, t1]).all() or t0 == t1:
        raise SensitivityError(f"t_span must be two different finite times, got {t_span!r}")
    return t0, t1


def output_times(t_eval: Any, t0: float, t1: float) -> np.ndarray:
    """The times of the result, sorted from t0 to t1 and between them."""
    times = np.asarray(t_eval, float)
    if times.ndim != 1 or not times.size:
        raise SensitivityError(f"t_eval must be a list of times, got shape {times.shape}")
    if not (np.diff(times) * (t1 - t0) > 0).all():
        raise SensitivityError("the times of t_eval must be strictly sorted, from t0 to t1")
    if not (min(t0, t1) <= times.min() and times.max() <= max(t0, t1)):
        raise SensitivityError(
            f"t_eval runs from {times[0]:g} to {times[-1]:g}, outside of t_span = ({t0:g}, {t1:g})"
        )
    return times


def initial_state(
    y0: Any, parameters: Parameters, states: Sequence[str] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The state at the start as a vector, and the names of the states."""
    value = y0(ModelParameters(parameters)) if callable(y0) else y0
    start = np.array(state_vector(value), float)
    named = tuple(value) if isinstance(value, Mapping) else None
    names = named or tuple(f"y{i + 1}" for i in range(start.size))
    names = names if states is None else tuple(states)
    if len(names) != start.size or len(set(names)) != len(names):
        raise ModelError(
            f"there are {start.size} states, so there must be as many different names: {names!r}"
        )
    return start, names


def scales(chosen: Parameters, pscale: Mapping[str, float] | None) -> np.ndarray:
    """The scale of each parameter: what was given, else its magnitude."""
    given = dict(pscale or {})
    chosen.subset(given)
    zero = [name for name, value in chosen.items() if value == 0 and name not in given]
    if zero:
        warnings.warn(
            f"{', '.join(zero)} is 0, which says nothing about its scale: the sensitivity is "
            f"controlled as for a scale of 1; pscale={{{zero[0]!r}: ...}} gives another",
            SensitivityWarning,
            stacklevel=3,
        )
    out = np.array([given.get(name, abs(value) or 1.0) for name, value in chosen.items()], float)
    if not (np.isfinite(out) & (out > 0)).all():
        raise ParameterError(f"the scale of a parameter must be positive and finite: {pscale}")
    return out


def absolute_tolerance(atol: Any, n: int) -> np.ndarray:
    """One absolute tolerance a state."""
    out = np.asarray(atol, float)
    if out.shape not in ((), (n,)) or not (np.isfinite(out) & (out >= 0)).all():
        raise SensitivityError(
            f"atol must be one number, or one for each of the {n} states, not negative: {atol!r}"
        )
    return np.broadcast_to(out, (n,))
