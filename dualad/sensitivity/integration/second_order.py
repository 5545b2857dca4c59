"""Second derivatives: the sensitivities of the variational equations themselves.

z = (y, s_1, ..., s_k) solves a system of its own, whose right-hand side is written in NumPy and
dual numbers. So it is a model like any other, and its sensitivities by the same parameters are the
second derivatives of y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ..errors import EventError, SensitivityError
from ..parameters.parameters import ModelParameters, Parameters
from ..results.time_sensitivities import TimeSensitivities
from .assemble import absent
from .curved import Curved
from .initial_value import InitialValueProblem
from .lifted_events import lifted_event
from .model import Model, start_of, state_vector
from .observe import Outputs
from .pushing import derivative, pushed
from .question import sensitivity_atol

__all__ = ["Asked", "FirstOrder", "second_order"]


class FirstOrder:
    """The first-order system of a model as a model: `rhs`, `y0` and `states`.

    Args:
        model: the right-hand side, with its integrals.
        wrt: the k parameters.
        scales: the unit in which each is measured.
        y0: the states at the start, an array or a function of the parameters.
        t0: the first time, a number or a function of the parameters.
    """

    def __init__(self, model: Model, wrt: Parameters, scales: np.ndarray, y0: Any, t0: Any = 0.0):
        self.model, self.wrt, self.scales, self.y0, self.t0 = model, wrt, scales, y0, t0
        self.n, self.k = len(model.rows), len(wrt)
        self.units = np.diag(scales)
        self.__name__ = model.name
        self.__code__ = getattr(model.rhs, "__code__", None)
        self.states = (
            *model.rows,
            *(f"d{row}/d{name}" for name in wrt for row in model.rows),
        )

    def __call__(self, t: Any, z: Any, p: Any) -> Any:
        """z' at (t, z, p); p may be traced."""
        y, s, q = self.parts(z, p)
        value, slopes = pushed(self.f, t, y, q, dy=s, dq=self.units)
        return self.joined(value, derivative(value, slopes, self.k))

    def f(self, t: Any, y: Any, q: list[Any]) -> Any:
        """The right-hand side of the states, where the k parameters have the values q."""
        return self.model(t, y, dict(zip(self.wrt.names, q, strict=True)))

    def parts(self, z: Any, p: Any) -> tuple[Any, Any, list[Any]]:
        """y of shape (n,), s of shape (k, n), and the values of the k parameters."""
        y, s = z[: self.n], z[self.n :].reshape((self.k, self.n))
        return y, s, [p[name] for name in self.wrt]

    def joined(self, y: Any, s: Any) -> Any:
        """z from its parts."""
        return np.concatenate((y, np.reshape(s, (-1,))))

    def start(self, p: Any) -> Any:
        """z at the start, as a function of the parameters."""
        m = self.n - len(self.model.states)

        def seen(q: list[Any]) -> ModelParameters:
            return ModelParameters(
                {**self.model.fixed, **dict(zip(self.wrt.names, q, strict=True))}
            )

        def initial(t: Any, y: Any, q: list[Any]) -> Any:
            given = start_of(self.y0, seen(q)) if callable(self.y0) else self.y0
            return np.concatenate((state_vector(given), np.zeros(m)))

        def begin(t: Any, y: Any, q: list[Any]) -> Any:
            return as_value(self.t0(seen(q)), "the first time") if callable(self.t0) else self.t0

        q = [p[name] for name in self.wrt]
        value, moves = pushed(initial, 0.0, None, q, dq=self.units)
        moves = derivative(value, moves, self.k)
        if callable(self.t0):
            t0, dt0 = pushed(begin, 0.0, None, q, dq=self.units)
            dt0 = derivative(t0, dt0, self.k)
            moves = moves - dt0[:, np.newaxis] * self.f(t0, value, q)
        return self.joined(value, moves)


def second_order(
    problem: InitialValueProblem, derived: Any, selected: Any, asked: Asked
) -> TimeSensitivities:
    """First and second derivatives: the sensitivities of the first-order system."""
    if problem.option("jac_sparsity") is not None or callable(problem.option("jac")):
        raise SensitivityError("order=2 makes its own Jacobian: leave jac and jac_sparsity out")
    first, lifted = first_order_problem(problem, asked)
    notes = switches(problem)
    solved = lifted.solve(watch=False, keep=asked.keep, progress=asked.progress)
    outputs = Outputs(problem.system(), derived, selected)
    result = Curved(problem, first, solved, outputs).result(asked)
    last = solved.split([solved.trajectory.last[1]])[1]
    traces = [result.jacobian, last, *(e.dt for e in result.events.values())]
    notes += absent(solved.unused(traces), notes)
    if not solved.trajectory.success:
        notes.append(solved.trajectory.message)
    result.warnings.extend(notes)
    return result


@dataclass(frozen=True)
class Asked:
    """What else was asked for: the ends and times as they were given, the interpolant, a line."""

    t_span: Any
    t_eval: Any
    keep: bool = False
    progress: bool = False


def first_order_problem(
    problem: InitialValueProblem, asked: Asked
) -> tuple[FirstOrder, InitialValueProblem]:
    """The first-order system as a problem of its own."""
    begin = asked.t_span[0]
    t0 = begin if callable(begin) else float(problem.span.t[0])
    first = FirstOrder(problem.model, problem.chosen, problem.scales, problem.y0, t0)
    above = sensitivity_atol(
        problem.sens_atol, problem.atol, problem.chosen, problem.scales, problem.model.rows
    )
    model = Model(first, problem.model.parameters, first.states, written=problem.model.written)
    lifted = replace(
        problem, model=model, y0=first.start,
        start=first.start(problem.model.parameters),
        atol=np.concatenate([problem.atol, np.reshape(above, -1)]), sens_atol=None,
        events=tuple((name, lifted_event(name, event, first)) for name, event in problem.events),
    )  # fmt: skip
    return first, lifted


def switches(problem: InitialValueProblem) -> list[str]:
    """What there is to say of jumps and kinks, from an integration of the states alone.

    Raises:
        EventError: the right-hand side jumps at an event.
    """
    options = {**(problem.options or {}), "on_failure": "partial"}
    run = problem.without_sensitivities(options=options).solve().run
    for name, t in run.handler.jumps:
        raise EventError(
            f"the right-hand side jumps at event {name!r}, t = {t:.9g}: second derivatives are "
            f"carried through updates of the states alone. Take order=1, or end one integration "
            f"there and begin another"
        )
    return [] if run.switches is None else run.switches.warnings(order=2)
