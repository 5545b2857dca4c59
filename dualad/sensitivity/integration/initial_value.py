"""An initial value problem with everything that was asked of it, checked, and its integration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import ModelError
from ..extras import extra
from ..parameters.parameters import Parameters
from .crossings import Crossings
from .events import Event
from .integrate import Integration, Trajectory
from .jacobians import dense
from .model import Model
from .progress import Progress
from .question import sensitivity_atol
from .sparsity import Colouring, found_pattern, given_pattern, is_sparse
from .stepper import Method
from .switches import Switches
from .times import Moments
from .variational import VariationalSystem

__all__ = ["InitialValueProblem", "Solved"]

#: From so many states on, a sparse Jacobian is looked for unasked.
LARGE = 100


@dataclass(frozen=True)
class InitialValueProblem:
    """What is integrated, and how; see `ode` for what the entries are.

    Attributes:
        model: the right-hand side with its integrals.
        y0: the states at the start, an array or a function of the parameters.
        start: their values.
        span, times: the ends, and the times of the result, if they were given.
        chosen, scales: the parameters to differentiate by, and the unit of each.
        rtol, atol: of the states and integrals, atol one a row.
        sens_rtol, sens_atol: one a parameter; as it was given.
        base: the stepper's class.
        events: with their names.
        options: what the stepper and the Jacobian take.
    """

    model: Model
    y0: Any
    start: np.ndarray
    span: Moments
    times: Moments | None
    chosen: Parameters
    scales: np.ndarray
    rtol: float
    atol: np.ndarray
    sens_rtol: np.ndarray
    sens_atol: Any
    base: type
    events: tuple[tuple[str, Event], ...] = ()
    options: Mapping[str, Any] | None = None

    def option(self, name: str, default: Any = None) -> Any:
        return (self.options or {}).get(name, default)

    def without_sensitivities(self, **changes: Any) -> InitialValueProblem:
        """The same problem, differentiated by nothing."""
        none = Moments(self.span.t, np.zeros((2, 0)), self.span.moving)
        times = self.times
        if times is not None:
            times = Moments(times.t, np.zeros((times.t.size, 0)), times.moving)
        return replace(
            self,
            **{
                "span": none, "times": times, "chosen": self.chosen.subset([]),
                "scales": np.zeros(0), "sens_rtol": np.zeros(0), "sens_atol": None, **changes,
            },
        )  # fmt: skip

    # --- the parts

    def system(self) -> VariationalSystem:
        """States and sensitivities as one system."""
        jac = self.option("jac", "ad")
        return VariationalSystem(
            self.model, self.chosen, self.scales, jac if callable(jac) else None,
            self.colouring(), self.option("compile", False),
        )  # fmt: skip

    def colouring(self) -> Colouring | None:
        """The sparsity of the Jacobian, given or found; None for a dense one."""
        sparsity, model = self.option("jac_sparsity"), self.model
        n, m = len(model.states), len(model.integrals)
        if self.option("jac", "ad") is None:
            return None
        if sparsity is None and (n < LARGE or not by_blocks(self.base)):
            return None
        if sparsity is not None and not isinstance(sparsity, str):
            return Colouring(given_pattern(sparsity, n, m))
        pattern = found_pattern(model, self.span.t[0], self.start)
        if sparsity is None and not is_sparse(pattern):
            return None
        out = Colouring(given_pattern(pattern, n, m), found=True)
        return out if sparsity is not None or out.pays else None

    def method(self, system: VariationalSystem, report: Progress | None) -> Method:
        """The stepper, with a tolerance for each entry."""
        n, k = system.n, system.k
        below = sensitivity_atol(
            self.sens_atol, self.atol, self.chosen, self.scales, self.model.rows
        )
        atol = np.concatenate([self.atol, np.reshape(below, -1)])
        only_states = self.option("error_control", "full") == "states"
        if only_states and not hasattr(self.base, "n_stages"):
            atol[n:] = atol[n:] if by_blocks(self.base) else 1e300
        rtol = np.repeat([self.rtol, *self.sens_rtol], n)
        return Method(
            self.base, system, rtol, atol, only_states=only_states, report=report,
            corrector=self.option("corrector") if k else None,
            differenced=self.option("jac", "ad") is None,
            max_step=self.option("max_step", np.inf), first_step=self.option("first_step"),
        )  # fmt: skip

    def solve(self, *, watch: bool = True, keep: bool = False, progress: bool = False) -> Solved:
        """Integrate it."""
        system = self.system()
        t0, t1 = self.span.t.tolist()
        z0 = system.start(self.y0, t0, self.span.dt[0])
        self.require_sound(system, t0, z0)
        report = Progress(t1, progress)
        method = self.method(system, report)
        ahead = 1 if t1 > t0 else -1
        crossings = Crossings(system, self.events, self.rtol, self.atol, ahead)
        run = Integration(
            system, method, (t0, t1), None if self.times is None else self.times.t, crossings,
            Switches(system, (t0, t1), self.atol) if watch else None, keep,
            self.option("max_steps", 10**6),
        )  # fmt: skip
        begun, busy = time.perf_counter(), time.process_time()
        try:
            trajectory = run.run(z0)
        except ModelError as error:
            if error.t is None:
                error.t, error.y = run.out.last[0], run.out.last[1][: len(self.model.states)]
            if self.option("on_failure", "raise") == "raise":
                raise
            run.fail(str(error))
            trajectory = run.out
        finally:
            report.close()
        wall, cpu = time.perf_counter() - begun, time.process_time() - busy
        solved = Solved(self, system, method, run, trajectory, wall, cpu)
        if not trajectory.success:
            solved.gave_up()
        return solved

    def require_sound(self, system: VariationalSystem, t0: float, z0: np.ndarray) -> None:
        """Before integrating: what is wrong at the start has no remedy in smaller steps."""
        y0 = z0[: system.n]
        self.model.require_finite(t0, y0, y0, "y0")
        self.model.try_out(t0, y0)
        slopes = z0.reshape(system.k + 1, system.n)[1:]
        for name, row in zip(self.chosen, slopes, strict=True):
            what = f"the derivative of y0 by {name}"
            self.model.require_finite(t0, y0, row, what)
        system(t0, z0)
        if system.not_finite is not None:
            raise ModelError(system.not_finite, t0, y0)
        if callable(self.option("jac")):
            self.require_jacobian(system, t0, z0)
        system.rhs_calls = system.tangent_calls = system.jacobian_calls = 0

    def require_jacobian(self, system: VariationalSystem, t0: float, z0: np.ndarray) -> None:
        """A Jacobian of the user's must be the derivative of the right-hand side."""
        given = replace(self, options={**(self.options or {}), "jac": "ad"}).system()
        y0 = z0[: system.n]
        ours, theirs = dense(given.matrix(t0, y0)), dense(system.matrix(t0, y0))
        wrong = np.abs(ours - theirs) > 1e-5 * (np.abs(ours) + np.abs(theirs)) + 1e-12
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            rows = self.model.rows
            raise ModelError(
                f"jac is not the derivative of {self.model.name} at t = {t0:g}: d{rows[i]}'/"
                f"d{rows[j]} is {theirs[i, j]:.6g} by jac and {ours[i, j]:.6g} by dual numbers. "
                f"Mend it, or leave it out"
            )


def by_blocks(base: type) -> bool:
    """Whether the class lets its linear systems be solved by blocks."""
    integrate = extra("scipy.integrate")
    return issubclass(base, (integrate.Radau, integrate.BDF))


@dataclass
class Solved:
    """An integration that was done, and what it took."""

    problem: InitialValueProblem
    system: VariationalSystem
    method: Method
    run: Integration
    trajectory: Trajectory
    wall: float
    cpu: float

    def gave_up(self) -> None:
        """What the solver said, how far it came, and what was not finite on the way."""
        t, z = self.trajectory.last
        n = len(self.problem.model.states)
        lost = self.system.not_finite
        why = f"; the last value that was no number: {lost}" if lost else ""
        if self.run.switches is not None:
            why += "".join(f"; {text}" for text in self.run.switches.warnings())
        message = (
            f"{self.method.name} gave up after {self.method.steps} steps at t = {t:g}: "
            f"{self.trajectory.message}{why}"
        )
        self.trajectory.message = message
        if self.problem.option("on_failure", "raise") == "raise":
            raise ModelError(message, t, z[:n])

    def stats(self) -> dict[str, float]:
        norm = self.method.norms[self.method.base]
        return {
            "steps": self.method.steps,
            "rejected": norm.rejected,
            "rejected_by_sensitivity": norm.rejected_by_sensitivity,
            "rhs": self.system.rhs_calls,
            "tangent_rhs": self.system.tangent_calls * self.system.k,
            "jacobians": self.system.jacobian_calls,
            "factorisations": self.method.factorisations,
            "wall": self.wall,
            "cpu": self.cpu,
        }

    def split(self, z: Any) -> tuple[np.ndarray, np.ndarray]:
        """Rows (nt, n) and unscaled sensitivities (nt, n, k) from z's, shape (nt, n (1 + k))."""
        system = self.system
        rows = np.asarray(z, float).reshape(-1, system.k + 1, system.n)
        return rows[:, 0], np.moveaxis(rows[:, 1:], 1, 2) / system.scales

    def end(self) -> tuple[float, np.ndarray, np.ndarray]:
        """The last time, its derivative by the parameters, and z there."""
        t, z = self.trajectory.last
        return t, self.end_move(), z

    def end_move(self) -> np.ndarray:
        """How the end moves with the parameters: as it was asked, or with a terminal event."""
        firings = self.run.handler.firings
        if not self.trajectory.success:
            return np.zeros(self.system.k)
        if "ended the integration" in self.trajectory.message:
            return firings[-1].dt
        return self.problem.span.dt[1]

    def unused(self, results: Sequence[np.ndarray]) -> list[str]:
        """The parameters that do not enter the model: all results have exact zeros for them."""
        names = self.problem.chosen.names
        zero = [j for j in range(len(names)) if not any(r[..., j].any() for r in results)]
        return [names[j] for j in zero if not self.enters(j)]

    def enters(self, j: int) -> bool:
        """Whether parameter j is used at the start or at the end, though to no effect."""
        from .pushing import pushed

        system, t1 = self.system, self.trajectory.last
        value = [system.values[j]]

        def f(t: Any, y: Any, q: list[Any]) -> Any:
            return system.f(t, y, [*system.values[:j], q[0], *system.values[j + 1 :]])

        points = [(self.problem.span.t[0], system_start(self)), (t1[0], t1[1][: system.n])]
        return any(pushed(f, t, y, value, dq=np.ones((1, 1)))[1] is not None for t, y in points)


def system_start(solved: Solved) -> np.ndarray:
    m = len(solved.problem.model.integrals)
    return np.concatenate([solved.problem.start, np.zeros(m)])


Function = Callable[..., Any]
