"""Second derivatives: the sensitivities of the variational equations themselves.

z = (y, s_1, ..., s_k) solves a system of its own, whose right-hand side is written in NumPy and
dual numbers. So it is a model like any other, and its sensitivities by the same parameters are the
second derivatives of y.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..parameters.parameters import ModelParameters, Parameters
from ..results.result import Sensitivities, TimeSensitivities
from .assemble import absent, settings
from .initial_value import InitialValueProblem, Solved
from .model import Model, start_of, state_vector
from .observe import Outputs
from .pushing import derivative, pushed
from .question import sensitivity_atol

__all__ = ["FirstOrder", "second_order"]


class FirstOrder:
    """The first-order system of a model as a model: `rhs`, `y0` and `states`.

    Args:
        model: the right-hand side, with its integrals.
        wrt: the k parameters.
        scales: the unit in which each is measured.
        y0: the states at the start, an array or a function of the parameters.
    """

    def __init__(self, model: Model, wrt: Parameters, scales: np.ndarray, y0: Any):
        self.model, self.wrt, self.scales, self.y0 = model, wrt, scales, y0
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
        q = [p[name] for name in self.wrt]
        y, s = z[: self.n], z[self.n :].reshape((self.k, self.n))

        def f(t: Any, y: Any, q: list[Any]) -> Any:
            return self.model(t, y, dict(zip(self.wrt.names, q, strict=True)))

        value, slopes = pushed(f, t, y, q, dy=s, dq=self.units)
        return np.concatenate((value, np.reshape(derivative(value, slopes, self.k), (-1,))))

    def start(self, p: Any) -> Any:
        """z at the start, as a function of the parameters."""
        m = self.n - len(self.model.states)
        if not callable(self.y0):
            rest = np.zeros(m + self.k * self.n)
            return np.concatenate((np.asarray(self.y0, float), rest))

        def initial(t: Any, y: Any, q: list[Any]) -> Any:
            moving = dict(zip(self.wrt.names, q, strict=True))
            p = ModelParameters({**self.model.fixed, **moving})
            value = state_vector(start_of(self.y0, p))
            return np.concatenate((value, np.zeros(m)))

        q = [p[name] for name in self.wrt]
        value, moves = pushed(initial, 0.0, None, q, dq=self.units)
        return np.concatenate((value, np.reshape(derivative(value, moves, self.k), (-1,))))


def second_order(
    problem: InitialValueProblem, derived: Any, selected: Any, progress: bool
) -> TimeSensitivities:
    """First and second derivatives: the sensitivities of the first-order system."""
    if problem.events:
        raise SensitivityError("order=2 does not go with events: leave them out, or take order=1")
    moving = problem.span.moving.any() or (
        problem.times is not None and problem.times.moving.any()
    )
    if moving:
        raise SensitivityError("order=2 is for times that do not depend on parameters")
    if problem.option("jac_sparsity") is not None or callable(problem.option("jac")):
        raise SensitivityError("order=2 makes its own Jacobian: leave jac and jac_sparsity out")
    first = FirstOrder(problem.model, problem.chosen, problem.scales, problem.y0)
    n, k = first.n, first.k
    extended = Model(first, problem.model.parameters, first.states)
    above = sensitivity_atol(
        problem.sens_atol, problem.atol, problem.chosen, problem.scales, problem.model.rows
    )
    lifted = replace(
        problem, model=extended, y0=first.start, start=first.start(problem.model.parameters),
        atol=np.concatenate([problem.atol, np.reshape(above, -1)]), sens_atol=None,
    )  # fmt: skip
    solved = lifted.solve(watch=False, keep=False, progress=progress)
    z, dz = solved.split(solved.trajectory.z)
    notes = switches(problem)
    last = solved.split([solved.trajectory.last[1]])[1]
    notes += absent(solved.unused([dz, last]), notes)
    if not solved.trajectory.success:
        notes.append(solved.trajectory.message)
    s = np.moveaxis(z[:, n:].reshape(-1, k, n), 1, 2) / problem.scales
    h = np.moveaxis(dz[:, n:].reshape(-1, k, n, k), 1, 2) / problem.scales[:, np.newaxis]
    h = 0.5 * (h + np.swapaxes(h, 2, 3))
    result = assembled(problem, solved, z[:, :n], s, h, derived, selected)
    result.warnings.extend(notes)
    return result


def switches(problem: InitialValueProblem) -> list[str]:
    """What there is to say of jumps and kinks, from an integration of the states alone."""
    options = {**(problem.options or {}), "on_failure": "partial"}
    run = problem.without_sensitivities(options=options).solve().run
    return [] if run.switches is None else run.switches.warnings()


def assembled(
    problem: InitialValueProblem,
    solved: Solved,
    y: np.ndarray,
    s: np.ndarray,
    h: np.ndarray,
    derived: Any,
    selected: Any,
) -> TimeSensitivities:
    """The result of order 2, from rows (nt, n), slopes (nt, n, k) and curvatures (nt, n, k, k)."""
    system, n = problem.system(), len(problem.model.states)
    outputs = Outputs(system, derived, selected)
    still = np.zeros(system.k)
    t = np.array(solved.trajectory.t)
    rows = list(zip(t, y[:, :n], s[:, :n], h[:, :n], strict=True))
    values = [outputs.at(t, y, s, still) for t, y, s, _ in rows]
    curvature = [outputs.second(*row) for row in rows]
    integrals = None
    if problem.model.integrals:
        if t[-1] != problem.span.t[1]:
            raise SensitivityError("integrals of order 2 need the last time in t_eval")
        integrals = Sensitivities(
            y[-1, n:], s[-1, n:], hessian=h[-1, n:], outputs=tuple(problem.model.integrals),
            parameters=problem.chosen,
        )  # fmt: skip
    return TimeSensitivities(
        t, np.array([v for v, _ in values]), np.array([d for _, d in values]), outputs.names,
        problem.chosen, solved.stats(), settings(problem, solved), None,
        hessian=np.array(curvature), integrals=integrals,
        success=solved.trajectory.success, message=solved.trajectory.message,
    )  # fmt: skip
