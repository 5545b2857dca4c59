"""The values of an integration at complex parameters, for a check by complex steps.

For parameters p + i h d the solution is y + i h w to rounding, where w is its derivative along d.
A solver that measures |y + i h w| does not see w, so real and imaginary parts are integrated as
two real vectors, each with the tolerance of the states:

    y' = Re f(t, y + i h w, p + i h d),    w' = Im f(t, y + i h w, p + i h d) / h.

The right-hand side is called with plain complex arrays: no dual number takes part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..extras import extra
from ..named import mapping_of
from ..parameters.parameters import ModelParameters
from .algebraic import Algebraic
from .initial_value import InitialValueProblem
from .model import sealed

__all__ = ["ComplexRun"]


class ComplexRun:
    """The outputs of a problem at complex parameters.

    Args:
        problem: what is integrated.
        derived: the functions of the derived outputs; order: where the outputs stand in states
            and derived outputs.
        t: the times of the result at the real parameters.
        t_span, t_eval: the times as they were given.

    Raises:
        SensitivityError: there are events, or algebraic equations.
    """

    def __init__(
        self,
        problem: InitialValueProblem,
        derived: Mapping[str, Callable[..., Any]],
        order: list[int],
        t: np.ndarray,
        t_span: Any,
        t_eval: Any,
    ):
        if problem.events:
            raise SensitivityError(
                "an event happens where a real number changes its sign, which a complex one does "
                "not do"
            )
        if isinstance(problem.model.rhs, Algebraic):
            raise SensitivityError(
                "a singular mass matrix needs derivatives of the algebraic equations, which "
                "complex steps would go through once more"
            )
        self.problem, self.derived, self.order = problem, derived, order
        self.t, self.t_span, self.t_eval = t, t_span, t_eval

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """Complex outputs (nt, m), whose imaginary part is h times their derivative."""
        p, ends, states = self.integrated(vector, self.t)
        times = self.times(p, ends)
        return np.array([self.row(t, y, p) for t, y in zip(times, states, strict=True)])

    def end(self, vector: np.ndarray) -> np.ndarray:
        """All rows at the end, integrals included."""
        p, ends, (last,) = self.integrated(vector, self.problem.span.t[1:])
        return last + 1j * ends[1].imag * self.slopes(ends[1].real, last, p)

    def integrated(
        self, vector: np.ndarray, t: np.ndarray
    ) -> tuple[ModelParameters, list[complex], np.ndarray]:
        """The parameters, the complex ends, and the complex states (m, n) at real times."""
        problem = self.problem
        n = len(problem.model.rows)
        moving = dict(zip(problem.chosen.names, vector.tolist(), strict=True))
        p = ModelParameters({**problem.model.fixed, **moving})
        move = int(np.argmax(np.abs(vector.imag)))
        size = np.abs(vector.imag[move]) / (abs(vector.real[move]) or 1.0)

        def joined(z: np.ndarray) -> np.ndarray:
            return z[:n] + 1j * size * z[n:]

        def parts(values: np.ndarray) -> np.ndarray:
            return np.concatenate([values.real, values.imag / size])

        ends = [complex(entry(p)) if callable(entry) else complex(entry) for entry in self.t_span]
        start = self.start(p)
        # The state at the first real time, where the start is a little beside it.
        start = start - 1j * ends[0].imag * self.slopes(ends[0].real, start, p)
        ahead = np.sign(ends[1].real - ends[0].real)
        each, at = np.unique(ahead * t, return_inverse=True)  # SciPy takes no time twice.
        found = extra("scipy.integrate").solve_ivp(
            lambda t, z: parts(self.slopes(t, joined(z), p)), (ends[0].real, ends[1].real),
            parts(start), method=problem.base, t_eval=ahead * each,
            rtol=max(problem.rtol * 1e-2, 1e-11), atol=np.tile(problem.atol * 1e-2, 2),
            max_step=problem.option("max_step", np.inf),
        )  # fmt: skip
        if not found.success:
            raise SensitivityError(f"the integration of complex states gave up: {found.message}")
        return p, ends, np.array([joined(z) for z in found.y.T])[at]

    # --- the model with complex numbers

    def slopes(self, t: Any, y: np.ndarray, p: Any) -> np.ndarray:
        """y' of all rows."""
        model = self.problem.model
        states = sealed(y[: len(model.states)])
        rates = [numbers(g(t, states, p)).reshape(()) for g in model.integrals.values()]
        return np.concatenate([numbers(model.rhs(t, states, p)), np.array(rates, complex)])

    def start(self, p: Any) -> np.ndarray:
        problem = self.problem
        given = problem.y0(p) if callable(problem.y0) else problem.y0
        named = mapping_of(given)
        first = numbers(given if named is None else list(named.values()))
        return np.concatenate([first, np.zeros(len(problem.model.integrals))])

    def times(self, p: Any, ends: list[complex]) -> np.ndarray:
        """The times of the result, whose imaginary parts say how they move."""
        out = self.t.astype(complex)
        if callable(self.t_eval):
            return numbers(self.t_eval(p))[: len(out)]
        if self.t_eval is not None:
            entries = list(self.t_eval)[: len(out)]
            return np.array([complex(e(p)) if callable(e) else complex(e) for e in entries])
        out[0], out[-1] = ends
        return out

    def row(self, t: complex, y: np.ndarray, p: Any) -> np.ndarray:
        """The outputs at one time."""
        n = len(self.problem.model.states)
        if t.imag:
            y = y + 1j * t.imag * self.slopes(t.real, y, p)
        t = t if t.imag else t.real
        values = [numbers(g(t, sealed(y[:n]), p)).reshape(()) for g in self.derived.values()]
        return np.concatenate([y[:n], np.array(values, complex)])[self.order]


def numbers(given: Any) -> np.ndarray:
    """What a function returned, as complex numbers."""
    return np.asarray(given, complex)
