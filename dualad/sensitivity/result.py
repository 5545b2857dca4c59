"""What `ode` returns: time courses and their derivatives, axes time, output, parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .errors import ParameterError, SensitivityError, unknown_name
from .parameters import Parameters

__all__ = ["TimeSensitivities"]


@dataclass(frozen=True)
class TimeSensitivities:
    """Time courses and their sensitivities.

    Attributes:
        t: times, shape (nt,).
        y: states, shape (nt, n).
        S: dy/dp, shape (nt, n, k): time, output, parameter.
        outputs: the names of the n states.
        parameters: the k parameters that were differentiated by, with their values.
        stats: what the solver did: steps, rhs, tangent_rhs, jacobians, factorisations, and wall,
            the seconds that it took. rhs counts passes of the right-hand side that integrate;
            each carries k tangents along, which tangent_rhs counts. A Jacobian is one more pass.
        settings: method, rtol and atol.
    """

    t: np.ndarray
    y: np.ndarray
    S: np.ndarray
    outputs: tuple[str, ...]
    parameters: Parameters
    stats: Mapping[str, float]
    settings: Mapping[str, Any]
    dense: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = field(
        default=None, repr=False
    )

    def at(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """(y, S) at any times of the span, shapes (*t, n) and (*t, n, k).

        Raises:
            SensitivityError: dense output was not kept, or a time is outside of the span.
        """
        if self.dense is None:
            raise SensitivityError("no dense output was kept: call ode(..., dense_output=True)")
        times = np.asarray(t, float)
        y, s = self.dense(times.ravel())
        return y.reshape((*times.shape, *y.shape[1:])), s.reshape((*times.shape, *s.shape[1:]))

    def scaled(self) -> np.ndarray:
        """p_j dy_i/dp_j, in the unit of the state: its change for a relative change of p_j."""
        return self.S * self.parameters.vector()

    def column(self, output: str, parameter: str = "") -> np.ndarray:
        """One state over time, or its derivative by one parameter, by name.

        Raises:
            ParameterError: there is no such output or parameter.
        """
        if output not in self.outputs:
            raise ParameterError(unknown_name("output", output, self.outputs))
        i = self.outputs.index(output)
        if not parameter:
            return self.y[:, i]
        if parameter not in self.parameters:
            raise ParameterError(unknown_name("parameter", parameter, self.parameters))
        return self.S[:, i, self.parameters.names.index(parameter)]

    def table(self) -> str:
        """Solution and sensitivities at each time, as text."""
        from .report import table

        return table(self)
