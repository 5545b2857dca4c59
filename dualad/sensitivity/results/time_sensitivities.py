"""What `ode` and `simulate` return: time courses and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..given import numbers
from ..parameters.parameters import Parameters
from .by_name import EventsByName
from .sensitivities import Sensitivities

__all__ = ["TimeSensitivities"]


class TimeSensitivities(Sensitivities):
    """Time courses and their sensitivities; axes are time, output, parameter.

    Attributes:
        t: times, shape (nt,).
        y: outputs, shape (nt, n); also `values`.
        S: dy/dp, shape (nt, n, k); also `jacobian`.
        outputs: the names of the n outputs.
        parameters: the k parameters that were differentiated by, with their values.
        stats: what the solver did: steps, rhs, tangent_rhs, jacobians, factorisations; and wall
            and cpu, the seconds that it took. rhs counts the right-hand sides that the method asks
            for, tangent_rhs those of sensitivities. Explicit methods have k of these with each
            right-hand side; Radau and BDF evaluate it alone while they solve for the states, and
            then have one pass with tangents a stage or step.
        settings: method, rtol and atol.
        dense: (y, S) at any times (m,) as (m, n) and (m, n, k); None where it was not kept.
        dt: dt/dp of each time, shape (nt, k), where the times depend on parameters; else None.
        events: by name of an event, what has `times` (m,) and `dt` (m, k).
        event_log: one entry an event that fired, in order.
        integrals: `Sensitivities` of the integrals over the whole span; None where none was asked.
        success, message: whether the end was reached, and what the solver said.
    """

    _functions = ("again", "dense")

    def __init__(
        self,
        t: Any,
        y: Any,
        S: Any,
        outputs: Sequence[str],
        parameters: Parameters,
        stats: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        dense: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None,
        *,
        hessian: Any = None,
        units: Mapping[str, str | None] | None = None,
        warnings: Sequence[str] = (),
        again: Callable[[np.ndarray], Any] | None = None,
        dt: Any = None,
        events: Mapping[str, Any] | None = None,
        event_log: Sequence[Any] = (),
        integrals: Sensitivities | None = None,
        time_unit: str | None = None,
        success: bool = True,
        message: str = "",
    ):
        self.t = np.asarray(t, float)
        super().__init__(
            y, S, outputs=outputs, parameters=parameters, hessian=hessian, units=units,
            stats=stats, warnings=warnings, settings=settings, again=again,
        )  # fmt: skip
        if self.t.shape != self.values.shape[:1]:
            raise SensitivityError(f"{len(self.t)} times for values of shape {self.values.shape}")
        self.dense, self.dt, self.time_unit = dense, dt, time_unit
        self.events, self.event_log = EventsByName(events or {}), list(event_log)
        self.integrals, self.success, self.message = integrals, success, message

    @property
    def y(self) -> np.ndarray:
        """The outputs, shape (nt, n)."""
        return self.values

    @property
    def S(self) -> np.ndarray:
        """The derivatives, shape (nt, n, k)."""
        return self.jacobian

    def _arguments(self) -> dict[str, Any]:
        names = ("t", "y", "S", "outputs", "parameters", "stats", "settings", "dense", "hessian",
                 "warnings", "again", "dt", "events", "event_log", "integrals", "time_unit",
                 "success", "message")  # fmt: skip
        return {"units": self.output_units} | {name: getattr(self, name) for name in names}

    def flat(self) -> tuple[np.ndarray, np.ndarray]:
        """Values (nt, n) and derivatives (nt, n, k)."""
        return self.values, self.jacobian

    def row_labels(self) -> np.ndarray | None:
        """The times of the rows."""
        return self.t

    def at(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """(y, S) at any times of the span, shapes (*t, n) and (*t, n, k).

        Raises:
            SensitivityError: dense output was not kept, or a time is outside of the span.
        """
        y, s = self._at(t)[:2]
        return y, s

    def hessian_at(self, t: Any) -> np.ndarray:
        """The second derivatives at any times of the span, shape (*t, n, k, k).

        Raises:
            SensitivityError: dense output, or order 2, was not asked for, or a time is outside of
                the span.
        """
        found = self._at(t)
        if len(found) < 3:
            raise SensitivityError("no second derivatives were kept: call ode(..., order=2)")
        return found[2]

    def _at(self, t: Any) -> tuple[np.ndarray, ...]:
        if self.dense is None:
            raise SensitivityError("no dense output was kept: call ode(..., dense_output=True)")
        times = numbers("the times t", t)
        found = self.dense(times.ravel())
        return tuple(part.reshape((*times.shape, *part.shape[1:])) for part in found)

    def sol(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """(y, S) at any times: another name of `at`."""
        return self.at(t)

    def last(self) -> Sensitivities:
        """The outputs at the last time, as a result without times."""
        return self.time(-1)

    def time(self, index: int) -> Sensitivities:
        """The outputs at one of the times, by its index, as a result without times.

        Raises:
            SensitivityError: there is no such index.
        """
        again, count = self.again, len(self.t)
        if not isinstance(index, int | np.integer) or not -count <= index < count:
            span = f", from {self.t[0]:g} to {self.t[-1]:g}" if count else ""
            raise SensitivityError(
                f"there is no time of index {index!r}: there are {count} times{span}"
            )
        return Sensitivities(
            self.values[index], self.jacobian[index], outputs=self.outputs,
            parameters=self.parameters, units=self.output_units, settings=self.settings,
            hessian=None if self.hessian is None else self.hessian[index],
            again=None if again is None else lambda v: np.asarray(again(v))[index],
        )  # fmt: skip

    def block(self, name: str) -> Sensitivities:
        """One output over time, as a result of its own with an output a time."""
        i = self.output_index(name)
        return Sensitivities(
            self.values[:, i], self.jacobian[:, i], parameters=self.parameters,
            outputs=[f"{name}({t:g})" for t in self.t], settings=self.settings,
        )  # fmt: skip

    def table(self, scaled: bool | str = False, fmt: str = "text") -> str:
        """Outputs and derivatives at each time; see `Sensitivities.table`."""
        if scaled is False and fmt == "text":
            from .report import table

            return table(self)
        return super().table(scaled, fmt)
