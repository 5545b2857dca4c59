"""SciPy's steppers, told how to measure errors of sensitivities and how to solve for them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..extras import extra
from .first_step import first_step
from .norms import BlockNorm, Tolerance
from .progress import Progress
from .staggered_bdf import StaggeredBDF
from .staggered_radau import StaggeredRadau
from .variational import VariationalSystem

__all__ = ["Method", "solver_class", "takes_jacobian"]

#: Radau's method is of order 5, its error estimate of order 3: what it estimates as the tolerance
#: is a hundredth of it. So an estimate counts half for a sensitivity, which is mostly harder than
#: the states: it saves a tenth of the steps.
RADAU = 0.5


def solver_class(method: str | type, integrate: Any) -> type:
    """The OdeSolver class that a name stands for.

    Raises:
        SensitivityError: it is neither a known name nor such a class.
    """
    known = {
        name: cls
        for name, cls in vars(integrate).items()
        if inspect.isclass(cls) and issubclass(cls, integrate.OdeSolver) and name != "OdeSolver"
    }
    if isinstance(method, str) and method in known:
        return known[method]
    if inspect.isclass(method) and issubclass(method, integrate.OdeSolver):
        return method
    raise SensitivityError(
        f"method must be one of {', '.join(sorted(known))} or an OdeSolver class, got {method!r}"
    )


def takes_jacobian(solver: type) -> bool:
    """Whether the method is implicit: then it asks for the Jacobian of the system."""
    return "jac" in inspect.signature(solver.__init__).parameters  # type: ignore[misc]


class Method:
    """An integration method with its tolerances; `start` makes a stepper of it.

    Args:
        base: SciPy's class.
        system: what it integrates.
        rtol, atol: one tolerance an entry of z.
        corrector: "simultaneous", "staggered", or None: whichever is cheaper.
        differenced: whether SciPy is to difference the Jacobian instead of asking for it.
        only_states: whether the sensitivities are left out of the error test.
        max_step: the longest step.
        first_step: the first step, or None.
        report: is told of each step.
    """

    def __init__(
        self,
        base: Any,
        system: VariationalSystem,
        rtol: np.ndarray,
        atol: np.ndarray,
        *,
        corrector: str | None = None,
        differenced: bool = False,
        only_states: bool = False,
        max_step: float = np.inf,
        first_step: float | None = None,
        report: Progress | None = None,
    ):
        integrate = extra("scipy.integrate")
        self.base, self.system, self.rtol, self.atol = base, system, rtol, atol
        self.implicit = takes_jacobian(base)
        self.differenced, self.only_states = differenced, only_states
        self.steps_of = {integrate.Radau: StaggeredRadau, integrate.BDF: StaggeredBDF}
        self.staggered = self.chosen(corrector)
        self.max_step, self.first_step, self.report = max_step, first_step, report
        self.steps = self.factorisations = 0
        self.norms: dict[Any, BlockNorm] = {}
        # A step to a given time begins anew: a one-step method loses nothing by that.
        self.one_step = base
        if issubclass(base, integrate.BDF) or base is integrate.LSODA:
            self.one_step = integrate.Radau
        self.classes = {cls: self.stepper(cls) for cls in {base, self.one_step}}

    @property
    def name(self) -> str:
        return self.base.__name__

    @property
    def corrector(self) -> str | None:
        """How Newton's matrix is solved; None for an explicit method."""
        if not self.implicit:
            return None
        return "staggered" if self.staggered else "simultaneous"

    def chosen(self, corrector: str | None) -> bool:
        """Whether the states are solved for first, and then the sensitivities."""
        if corrector not in (None, "simultaneous", "staggered"):
            raise SensitivityError(
                f"corrector must be 'simultaneous' or 'staggered', got {corrector!r}"
            )
        able = self.base in self.steps_of and not self.differenced
        if corrector == "staggered" and not able:
            why = "jac=None" if self.base in self.steps_of else self.base.__name__
            raise SensitivityError(
                f"corrector='staggered' is for Radau and BDF with their Jacobian by dual numbers; "
                f"it does not go with {why}"
            )
        return able and corrector != "simultaneous"

    def start(
        self, t: float, z: np.ndarray, t1: float, cls: Any = None, first: float | None = None
    ) -> Any:
        """A stepper from (t, z) to t1."""
        base = self.base if cls is None else cls
        options: dict[str, Any] = {"max_step": self.max_step, "first_step": first}
        if takes_jacobian(base) and not self.differenced:
            options["jac"] = self.system.jacobian
        return self.classes[base](self.system, t, z, t1, **options)

    def to(self, t: float, z: np.ndarray, t1: float) -> np.ndarray:
        """z at t1, by steps of its own from (t, z)."""
        if t == t1:
            return z
        solver = self.start(t, z, t1, self.one_step, abs(t1 - t))
        while solver.status == "running":
            solver.step()
        return solver.y if solver.status == "finished" else np.full_like(z, np.nan)

    def stepper(self, base: Any) -> Any:
        """A subclass of SciPy's class, with our error test and, where it has one, our step."""
        integrate = extra("scipy.integrate")
        norm = self.norms[base] = BlockNorm(
            self.system.n, self.system.k, self.only_states,
            multistep=issubclass(base, integrate.BDF),
            weight=RADAU if issubclass(base, integrate.Radau) else 1.0,
        )  # fmt: skip
        own = base in self.steps_of and not self.differenced
        if own and (self.staggered or base is not self.base):
            return self.solving_in_turn(base, norm)
        return self.controlled(base, norm)

    def first(self, norm: BlockNorm, order: int, t: float, z: np.ndarray, t1: float) -> float:
        """The length of the first step, where none was asked for."""
        scale = np.minimum(self.atol, 1e300) + self.rtol * np.abs(z)
        return first_step(self.system, t, z, t1, order, norm.of_rows, scale, self.max_step)

    def solving_in_turn(self, base: Any, norm: BlockNorm) -> Any:
        """A stepper that solves for the states and then for each sensitivity."""
        method = self

        class Stepper(self.steps_of[base], base):  # type: ignore[name-defined]
            system, block_norm = method.system, norm

            def __init__(
                self, fun: Any, t0: float, y0: Any, t_bound: float, first_step: Any, **options: Any
            ):
                if first_step is None:
                    first_step = method.first(norm, self.error_order, t0, y0, t_bound)
                super().__init__(
                    fun, t0, y0, t_bound, rtol=method.rtol.min(), first_step=first_step, **options
                )
                self.atol, self.rtol = method.atol, method.rtol[:: method.system.n]
                self.begin()

            def step(self) -> Any:
                return method.counted(self, super().step)

        Stepper.__name__ = base.__name__
        return Stepper

    def controlled(self, base: Any, norm: BlockNorm) -> Any:
        """SciPy's stepper, with errors measured by blocks where it lets itself be told."""
        method, integrate = self, extra("scipy.integrate")
        explicit = hasattr(base, "n_stages") and hasattr(base, "error_estimator_order")
        newton = issubclass(base, (integrate.Radau, integrate.BDF))

        class Controlled(base):
            def __init__(
                self, fun: Any, t0: float, y0: Any, t_bound: float, first_step: Any, **options: Any
            ):
                even = not np.ptp(method.rtol)
                rtol = method.rtol.min() if explicit or newton or even else method.rtol
                if first_step is None and explicit:
                    order = self.error_estimator_order
                    first_step = method.first(norm, order, t0, y0, t_bound)
                super().__init__(
                    fun, t0, y0, t_bound, rtol=rtol, atol=np.minimum(method.atol, 1e300),
                    first_step=first_step, **options,
                )  # fmt: skip
                if explicit or newton:
                    self.rtol = rtol if even else method.rtol
                    self.atol = Tolerance.of(method.atol, norm)
                if newton:
                    solve = vars(self)["solve_lu"]
                    self.solve_lu = lambda lu, b: norm.after_solve(solve(lu, b))

            def step(self) -> Any:
                return method.counted(self, super().step, norm)

        if hasattr(base, "E3") and hasattr(base, "E5"):
            Controlled._estimate_error_norm = two_estimates(norm)
        Controlled.__name__ = base.__name__
        return Controlled

    def counted(self, solver: Any, step: Any, norm: BlockNorm | None = None) -> Any:
        """Take a step, and note what it took."""
        lus, calls = solver.nlu, solver.nfev
        message = step()
        self.steps += solver.status != "failed"
        self.factorisations += int(solver.nlu - lus)  # LSODA counts in NumPy's integers
        if norm is not None:
            stages = getattr(solver, "n_stages", None)
            norm.end_of_step(max(1, (solver.nfev - calls) // stages) if stages else None)
        if self.report is not None:
            self.report(solver.t, self.steps)
        return message


def two_estimates(norm: BlockNorm) -> Any:
    """The error estimate of DOP853, which divides one of order 5 by one of order 3.

    For each sensitivity by itself: with the largest of either, the one of order 3 of some
    parameter would make the error of another look small.
    """

    def estimate(self: Any, K: np.ndarray, h: float, scale: np.ndarray) -> float:
        shape = (norm.k + 1, norm.n)
        fifth = norm.together(((K.T @ self.E5) / scale).reshape(shape))
        third = norm.together(((K.T @ self.E3) / scale).reshape(shape))
        both = np.where(fifth > 0, fifth + 0.01 * third, 1.0)
        squares = (h * fifth) ** 2 / both
        norm.measure(squares)
        return float(np.sqrt(squares.max()))

    return estimate
