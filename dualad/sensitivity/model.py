"""A right-hand side as its author wrote it, and what is said when it fails."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..engine.traced import as_value
from ..errors import DualADError
from .errors import ModelError
from .parameters import ModelParameters, Parameters

__all__ = ["Model", "state_vector"]


def state_vector(value: Any) -> Any:
    """A state as one vector: from an array, a list, or a mapping of names, traced or not."""
    parts = list(value.values()) if isinstance(value, Mapping) else value
    try:
        out = as_value(parts, "the state y0")
    except (DualADError, ValueError) as error:
        raise ModelError(f"y0 is no list of numbers: {error}") from error
    if out.dtype.kind not in "fiu":
        raise ModelError(f"y0 must be a list of real numbers, got dtype {out.dtype}")
    if len(out.shape) != 1 or not out.shape[0]:
        raise ModelError(f"y0 must be a list of states, got shape {out.shape}")
    return out


class Model:
    """The right-hand side f(t, y, p) of a system of n states, checked.

    Args:
        rhs: the function, written in NumPy; p gives the parameters by name.
        parameters: the values of all parameters.
        states: the names of the states.
    """

    def __init__(self, rhs: Callable[..., Any], parameters: Parameters, states: tuple[str, ...]):
        self.rhs, self.parameters, self.states = rhs, parameters, states
        self.name = getattr(rhs, "__name__", type(rhs).__name__)

    def __call__(self, t: float, y: Any, moving: Mapping[str, Any]) -> Any:
        """dy/dt, where the parameters named in `moving` have other, maybe traced, values."""
        p = ModelParameters({**self.parameters, **moving})
        try:
            out = self.rhs(t, y, p)
        except Exception as error:
            raise self.failure(t, error) from error
        try:
            out = as_value(out, f"what {self.name} returned")
        except (DualADError, ValueError) as error:
            raise ModelError(f"{self.name} at t = {t:g}: {error}") from error
        if out.shape != (len(self.states),):
            raise ModelError(
                f"{self.name} returned shape {out.shape} at t = {t:g}; there are "
                f"{len(self.states)} states ({', '.join(self.states)}), so it must be "
                f"{(len(self.states),)}"
            )
        return out

    def failure(self, t: float, error: Exception) -> ModelError:
        """An exception of the model's own, with the line of its code."""
        source = getattr(getattr(self.rhs, "__code__", None), "co_filename", None)
        own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == source]
        place = f" (line {own[-1].lineno} of {own[-1].filename}: {own[-1].line})" if own else ""
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        return ModelError(f"{self.name} at t = {t:g}{place}: {type(error).__name__}: {text}")

    def try_out(self, t: float, y: np.ndarray) -> None:
        """One plain call, before any integration: shape, dtype, finite values, no side effects."""
        given = y.copy()
        out = self(t, given, {})
        if out.dtype.kind not in "fiu":
            raise ModelError(f"{self.name} returned {out.dtype} at t = {t:g}, not real numbers")
        if not np.array_equal(given, y):
            raise ModelError(
                f"{self.name} writes into the state that it is given: copy it first (y = y.copy())"
            )
        self.require_finite(t, y, out, self.name)
        if not np.array_equal(out, self(t, y.copy(), {})):
            raise ModelError(
                f"{self.name} gave two results for the same t, y and p: a right-hand side must "
                f"not keep a state of its own or draw random numbers"
            )

    def require_finite(self, t: float, y: Any, values: np.ndarray, what: str) -> None:
        """values, one row a state, must hold no NaN and no infinity."""
        bad = [
            name
            for name, row in zip(self.states, np.asarray(values), strict=True)
            if not np.all(np.isfinite(row))
        ]
        if bad:
            raise ModelError(self.not_finite(t, y, what, bad), t, y)

    def not_finite(self, t: float, y: Any, what: str, bad: list[str]) -> str:
        """The sentence that says where, for which state and which parameters."""
        at = ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.states, np.asarray(y), strict=True))
        p = ", ".join(f"{n} = {v:.6g}" for n, v in self.parameters.items())
        where = f"at t = {t:g}; state: {at}; parameters: {p}"
        return f"{what} is not finite for {', '.join(bad)} {where}"
