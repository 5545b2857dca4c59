"""SciPy's steppers, told how to measure errors of sensitivities and how to solve by blocks."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..extras import extra
from .blocks import Factorised, Identity
from .norms import BlockNorm, Tolerance
from .progress import Progress
from .variational import VariationalSystem

__all__ = ["Method", "solver_class", "takes_jacobian"]

#: Up to this size the Newton matrix of the joint system is factorised as a whole.
WHOLE = 200


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
        self.by_blocks = issubclass(base, (integrate.Radau, integrate.BDF))
        self.staggered = self.chosen(corrector, differenced) and self.implicit
        self.differenced, self.only_states = differenced, only_states
        self.max_step, self.first_step, self.report = max_step, first_step, report
        self.steps = self.factorisations = 0
        self.norms: dict[Any, BlockNorm] = {}
        # A step to a given time begins anew: a one-step method loses nothing by that.
        self.one_step = integrate.Radau if issubclass(base, integrate.BDF) else base
        if base is integrate.LSODA:
            self.one_step = integrate.Radau
        self.classes = {cls: self.controlled(cls) for cls in {base, self.one_step}}

    @property
    def name(self) -> str:
        return self.base.__name__

    @property
    def corrector(self) -> str | None:
        """How Newton's matrix is solved; None for an explicit method."""
        if not self.implicit:
            return None
        return "staggered" if self.staggered else "simultaneous"

    def chosen(self, corrector: str | None, differenced: bool) -> bool:
        """Whether the blocks are solved in sequence."""
        if corrector not in (None, "simultaneous", "staggered"):
            raise SensitivityError(
                f"corrector must be 'simultaneous' or 'staggered', got {corrector!r}"
            )
        if corrector == "staggered" and (differenced or not self.by_blocks):
            why = "jac=None" if self.by_blocks else self.base.__name__
            raise SensitivityError(
                f"corrector='staggered' is for Radau and BDF with their Jacobian by dual numbers; "
                f"it does not go with {why}"
            )
        if corrector is None:
            large = self.system.n * (1 + self.system.k) > WHOLE
            sparse = self.system.colouring is not None
            return self.by_blocks and not differenced and (large or sparse)
        return corrector == "staggered"

    def start(
        self, t: float, z: np.ndarray, t1: float, cls: Any = None, first: float | None = None
    ) -> Any:
        """A stepper from (t, z) to t1."""
        base = self.base if cls is None else cls
        options: dict[str, Any] = {"max_step": self.max_step, "first_step": first}
        if takes_jacobian(base) and not self.differenced:
            blocks = self.staggered or base is not self.base
            options["jac"] = self.system.blocks if blocks else self.system.jacobian
        return self.classes[base](self.system, t, z, t1, **options)

    def to(self, t: float, z: np.ndarray, t1: float) -> np.ndarray:
        """z at t1, by steps of its own from (t, z)."""
        if t == t1:
            return z
        solver = self.start(t, z, t1, self.one_step, abs(t1 - t))
        while solver.status == "running":
            solver.step()
        return solver.y if solver.status == "finished" else np.full_like(z, np.nan)

    def controlled(self, base: Any) -> Any:
        """A subclass of a stepper that measures and solves by blocks, and counts its steps."""
        method, integrate = self, extra("scipy.integrate")
        newton = issubclass(base, (integrate.Radau, integrate.BDF))
        ours = newton or hasattr(base, "n_stages")
        blocks = newton and not self.differenced and (self.staggered or base is not self.base)
        norm = self.norms[base] = BlockNorm(
            self.system.n, self.system.k, self.only_states, issubclass(base, integrate.BDF)
        )

        class Controlled(base):
            def __init__(self, fun: Any, t0: float, y0: Any, t_bound: float, **options: Any):
                even = not np.ptp(method.rtol)
                rtol = method.rtol.min() if ours or even else method.rtol
                atol = np.minimum(method.atol, 1e300)
                super().__init__(fun, t0, y0, t_bound, rtol=rtol, atol=atol, **options)
                if ours:
                    self.rtol = rtol if even else method.rtol
                    self.atol = Tolerance.of(method.atol, norm)
                if blocks:
                    self.J, self.I = self._blocks, Identity()
                    self.lu, self.solve_lu = self._factorise, self._solve
                elif newton:
                    solve = self.solve_lu
                    self.solve_lu = lambda lu, b: norm.after_solve(solve(lu, b))

            def _validate_jac(self, jac: Any, sparsity: Any) -> Any:
                if not blocks:
                    return super()._validate_jac(jac, sparsity)

                def evaluate(t: float, y: np.ndarray, f: Any = None) -> Any:
                    self.njev += 1
                    return jac(t, y)

                self._blocks = evaluate(self.t, self.y)
                # SciPy makes an identity of the kind of this matrix: a sparse one is cheap.
                return evaluate, extra("scipy.sparse").csc_matrix((self.n, self.n))

            def _factorise(self, matrix: Any) -> Factorised:
                self.nlu += 1
                return Factorised(matrix)

            def _solve(self, lu: Factorised, b: np.ndarray) -> np.ndarray:
                return norm.after_solve(lu.solve(b))

            def step(self) -> Any:
                lus, calls = self.nlu, self.nfev
                message = super().step()
                method.steps += self.status != "failed"
                method.factorisations += self.nlu - lus
                stages = getattr(self, "n_stages", None)
                norm.end_of_step(max(1, (self.nfev - calls) // stages) if stages else None)
                if method.report is not None:
                    method.report(self.t, method.steps)
                return message

        Controlled.__name__ = base.__name__
        return Controlled
