"""Outputs that are functions of the states, differentiated along the solution."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ..errors import ModelError
from ..parameters.parameters import ModelParameters
from .model import sealed
from .pushing import derivative, pushed
from .variational import VariationalSystem

__all__ = ["Outputs"]


class Outputs:
    """The states, then the derived outputs g(t, y, p), as one row of a result.

    Args:
        system: the states and sensitivities they are made of.
        derived: the functions, by name.
        selected: the names to keep, in order; None for all.
    """

    def __init__(
        self,
        system: VariationalSystem,
        derived: Mapping[str, Callable[..., Any]],
        selected: tuple[str, ...] | None,
    ):
        self.system, self.model, self.derived = system, system.model, dict(derived)
        self.n = len(self.model.states)
        every = (*self.model.states, *self.derived)
        self.names = every if selected is None else selected
        self.order = [every.index(name) for name in self.names]

    def at(self, t: float, y: np.ndarray, s: np.ndarray, dt: np.ndarray) -> tuple[Any, Any]:
        """Values (m,) and derivatives (m, k), where y has total derivatives s (n, k), t has dt."""
        if not self.derived:
            return y[self.order], s[self.order]
        k = s.shape[1]
        values, slopes = [*y], [*s]
        for name in self.derived:
            g = self.function(name)
            if k:
                value, moves = pushed(g, t, y, self.system.values, dt=dt, dy=s.T, dq=np.eye(k))
            else:
                value, moves = g(t, sealed(y), []), None
            values.append(float(value))
            slopes.append(derivative(value, moves, k))
        self.require_finite(t, y, values)
        return np.array(values)[self.order], np.array(slopes).reshape(len(values), k)[self.order]

    def function(self, name: str) -> Callable[[Any, Any, list[Any]], Any]:
        """A derived output as a function of (t, y, q)."""
        g, model, names = self.derived[name], self.model, self.system.wrt.names

        def function(t: Any, y: Any, q: Any) -> Any:
            moving = {n: q[j] for j, n in enumerate(names)}
            return model.scalar(name, g, t, y, ModelParameters({**model.fixed, **moving}))

        return function

    def require_finite(self, t: float, y: np.ndarray, values: list[float]) -> None:
        bad = [
            n for n, v in zip(self.derived, values[self.n :], strict=True) if not np.isfinite(v)
        ]
        if bad:
            raise ModelError(self.model.not_finite(t, y, "the output", bad), t, y)

    def second(
        self,
        t: float,
        y: np.ndarray,
        s: np.ndarray,
        h: np.ndarray,
        dt: np.ndarray,
        ddt: np.ndarray,
    ) -> np.ndarray:
        """Second derivatives (m, k, k), where y has first s (n, k) and second h (n, k, k).

        Those of t are dt (k,) and ddt (k, k).
        """
        k = s.shape[1]
        q = np.array(self.system.values)
        rows, moves = [*h], bool(dt.any() or ddt.any())
        for name in self.derived:
            g = self.function(name)

            def along(e: Any, g: Any = g) -> Any:
                moved = y + s @ e + 0.5 * ((h @ e) @ e)
                time = t + dt @ e + 0.5 * ((ddt @ e) @ e) if moves else t
                return g(time, moved, q + e)

            rows.append(np.asarray(jacfwd(jacfwd(along))(np.zeros(k))))
        return np.array(rows).reshape(len(rows), k, k)[self.order]
