"""Values and their derivatives, held by names: what there is, and where each stands."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError, SensitivityError, unknown_name
from ..given import is_among
from ..parameters.parameters import Parameters

__all__ = ["NamedDerivatives"]


class NamedDerivatives:
    """Outputs and their derivatives by parameters, with names and units; see `Sensitivities`."""

    def __init__(
        self,
        values: Any,
        jacobian: Any,
        *,
        outputs: Sequence[str],
        parameters: Parameters,
        hessian: Any = None,
        layout: Mapping[str, Sequence[str]] | None = None,
        units: Mapping[str, str | None] | None = None,
        stats: Mapping[str, Any] | None = None,
        warnings: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
        again: Callable[[np.ndarray], Any] | None = None,
    ):
        self.values = np.asarray(values, float)
        self.jacobian = np.asarray(jacobian, float)
        self.hessian = None if hessian is None else np.asarray(hessian, float)
        self.outputs, self.parameters = tuple(outputs), parameters
        self.layout = {k: tuple(v) for k, v in (layout or {}).items()}
        self.output_units = {k: v for k, v in (units or {}).items() if v}
        self.stats, self.settings = dict(stats or {}), dict(settings or {})
        self.warnings, self.again = list(warnings), again
        self._check_shapes()

    def _check_shapes(self) -> None:
        shape, k = self.values.shape, len(self.parameters)
        if self.jacobian.shape != (*shape, k):
            raise SensitivityError(
                f"the Jacobian has shape {self.jacobian.shape}, not {(*shape, k)}"
            )
        if self.hessian is not None and self.hessian.shape != (*shape, k, k):
            raise SensitivityError(
                f"the Hessian has shape {self.hessian.shape}, not {(*shape, k, k)}"
            )
        if len(self.outputs) != self.flat()[0].shape[1]:
            raise SensitivityError(
                f"there are {len(self.outputs)} names of outputs for values of shape {shape}"
            )

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {_some(self.outputs)} by {_some(self.parameters.names)}>"
        )

    def _arguments(self) -> dict[str, Any]:
        """What the constructor was given."""
        return {
            "values": self.values,
            "jacobian": self.jacobian,
            "outputs": self.outputs,
            "parameters": self.parameters,
            "hessian": self.hessian,
            "layout": self.layout,
            "units": self.output_units,
            "stats": self.stats,
            "warnings": self.warnings,
            "settings": self.settings,
            "again": self.again,
        }

    #: what holds functions of the user's
    _functions: tuple[str, ...] = ("again",)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: functions that cannot be (a lambda, say) stay behind."""
        state = dict(vars(self))
        for name in self._functions:
            try:
                pickle.dumps(state[name])
            except Exception:
                state[name] = None
        return state

    def __copy__(self) -> Any:
        out = object.__new__(type(self))
        vars(out).update(vars(self))
        return out

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        out = object.__new__(type(self))
        memo[id(self)] = out
        vars(out).update(copy.deepcopy(vars(self), memo))
        return out

    def replace(self, **changes: Any) -> Any:
        """The same result with some arguments of its constructor changed."""
        return type(self)(**{**self._arguments(), **changes})

    # --- what is where

    def flat(self) -> tuple[np.ndarray, np.ndarray]:
        """Values (rows, outputs) and derivatives (rows, outputs, k); a row is a time, if any."""
        return self.values.reshape(1, -1), self.jacobian.reshape(1, -1, len(self.parameters))

    def output_index(self, output: str) -> int:
        """Where an output stands in the flat order.

        Raises:
            ParameterError: there is no such output.
        """
        if not is_among(output, self.outputs):
            raise ParameterError(unknown_name("output", output, self.outputs))
        return self.outputs.index(output)

    def parameter_index(self, parameter: str) -> int:
        """Where a parameter stands on the last axis.

        Raises:
            ParameterError: there is no such parameter.
        """
        if not is_among(parameter, self.parameters):
            raise ParameterError(unknown_name("parameter", parameter, self.parameters))
        return self.parameters.names.index(parameter)

    def column(self, output: str, parameter: str = "") -> np.ndarray:
        """One output, or its derivative by one parameter, by name; over time, if there is any."""
        values, jacobian = self.flat()
        i = self.output_index(output)
        out = jacobian[:, i, self.parameter_index(parameter)] if parameter else values[:, i]
        return out if self.row_labels() is not None else out[0]

    def row_labels(self) -> np.ndarray | None:
        """The times of the rows, or None where there is one row without a time."""
        return None

    def units(self, output: str, parameter: str | None = None) -> str:
        """The unit of an output, or of its derivative by a parameter; "" where it has none."""
        self.output_index(output)
        unit = self.output_units.get(output, "")
        if parameter is None:
            return unit
        self.parameter_index(parameter)
        from ..parameters.unit_text import quotient

        return quotient(unit, self.parameters.parameter(parameter).unit or "")


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f", ... ({len(names)})" if len(names) > 6 else "")
