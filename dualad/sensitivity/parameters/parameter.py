"""One parameter: its value and what is known of it, checked."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...engine.levels.traced import TracedArray
from ..errors import ParameterError

__all__ = ["Parameter", "checked", "real_number"]

SCALES = ("linear", "log")


@dataclass(frozen=True)
class Parameter:
    """A value and what is known of it; it is checked when it joins `Parameters` under a name.

    Attributes:
        value: a finite real number, within its bounds.
        u: its standard uncertainty, in the unit of the value; None where it is not known.
        unit: its unit, as text.
        lower, upper: bounds; None where there is none.
        scale: "log" for a positive quantity that is sampled and fitted by its logarithm.
        dof: degrees of freedom of u; infinite where u is known exactly.
        fixed: whether it is left out of what is differentiated, fitted and sampled by default.
        label: how tables and pictures name it; default its name.
    """

    value: float
    u: float | None = None
    unit: str | None = None
    lower: float | None = None
    upper: float | None = None
    scale: str = "linear"
    dof: float = math.inf
    fixed: bool = False
    label: str | None = None


def checked(name: str, value: Any) -> Parameter:
    """A parameter with numbers that are floats, and go together."""
    p = value if isinstance(value, Parameter) else Parameter(value)
    what = f"parameter {name!r}"
    if isinstance(p.value, TracedArray):
        raise ParameterError(
            f"{what} is traced by a transformation (grad, jvp, vmap) around this analysis, which "
            f"takes plain numbers and gives its derivatives itself, as jacobian, jvp and vjp of "
            f"the result; a function with a rule of your own (dualad.custom_jvp) hands them on"
        )
    if np.ndim(p.value) or isinstance(p.value, Mapping):
        raise ParameterError(
            f"{what} must be one real number, got {p.value!r}: give each of its numbers a name of "
            f"its own"
        )
    number = real_number(what, p.value)
    u = None if p.u is None else real_number(f"the uncertainty of {what}", p.u)
    if u is not None and u < 0:
        raise ParameterError(f"the uncertainty of {what} is {u}: it must not be negative")
    lower, upper = (_bound(what, side, getattr(p, side)) for side in ("lower", "upper"))
    _check_bounds(what, number, lower, upper)
    if p.scale not in SCALES:
        raise ParameterError(f"the scale of {what} must be 'linear' or 'log', got {p.scale!r}")
    if p.scale == "log" and (number <= 0 or (lower is not None and lower < 0)):
        raise ParameterError(f"{what} has a logarithmic scale, so it must be positive: {number}")
    if isinstance(p.dof, bool) or not isinstance(p.dof, numbers.Real) or not p.dof > 0:
        raise ParameterError(f"the degrees of freedom of {what} must be positive, got {p.dof!r}")
    return replace(p, value=number, u=u, lower=lower, upper=upper, dof=float(p.dof))


def _bound(what: str, side: str, value: Any) -> float | None:
    if value is None or (isinstance(value, float) and math.isinf(value)):
        return None
    return real_number(f"the {side} bound of {what}", value)


def _check_bounds(what: str, number: float, lower: float | None, upper: float | None) -> None:
    if lower is not None and upper is not None and lower > upper:
        raise ParameterError(f"the bounds of {what} are crossed: {lower} > {upper}")
    if (lower is not None and number < lower) or (upper is not None and number > upper):
        raise ParameterError(f"{what} is {number}, outside of its bounds [{lower}, {upper}]")


def real_number(what: str, value: Any) -> float:
    """The value as a float, if it is a finite real number; `what` names it in errors."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ParameterError(
            f"{what} must be a real number, got {value!r} of type {type(value).__name__}"
        )
    if not math.isfinite(value):
        raise ParameterError(f"{what} is {value}: it must be finite")
    return float(value)
