"""Roots of equations with parameters, and their derivatives by the parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, SensitivityError
from ..given import members
from ..notices import absent
from ..parameters.parameters import Parameters
from ..parameters.unit_text import units_by_name
from ..results.implicit_result import checked_order, output_functions, outputs_of_branch
from ..results.sensitivities import Sensitivities
from .conserved import Total, WithTotals, declared_totals
from .equations import UserFunction
from .implicit import Branch, ImplicitProblem
from .search import STEPS
from .sparse_factor import sparse_jacobian
from .unknowns import unknowns_of

__all__ = ["assembled", "posed", "root"]

DECLARE = (
    "If a total is conserved, declare it: conserved={'total': {'A': 1, 'B': 1}} keeps the sum "
    "of A and B at its value at the start; otherwise this is a multiple root or a fold"
)


def root(
    residual: Callable[..., Any],
    x0: Any,
    params: Mapping[str, Any],
    *,
    outputs: Mapping[str, Callable[..., Any]] | None = None,
    wrt: Iterable[str] | None = None,
    order: int = 1,
    method: str = "hybr",
    tol: float = 1e-12,
    conserved: Any = None,
    jac_sparsity: Any = None,
    starts: Sequence[Any] = (),
    units: Mapping[str, str | None] | None = None,
    args: Sequence[Any] = (),
) -> Sensitivities:
    """The solution x of residual(x, p) = 0 and its derivatives dx/dp.

    The root is found by SciPy and polished by Newton's method with exact derivatives; its own
    derivatives come from the implicit function theorem.

    Args:
        residual: residual(x, p, *args), of the shape of x, written in NumPy.
        x0: where the search begins: a number, an array, a mapping of names to numbers (the
            residual is given an array in their order), or a function x0(p).
        params: all parameters, by name.
        outputs: names and functions g(x, p, *args) of further outputs, differentiated with x.
        wrt: the parameters to differentiate by; default all that are not fixed.
        order: 2 gives second derivatives as well.
        method: of `scipy.optimize.root`.
        tol: how small each equation must be beside the terms that it is made of.
        conserved: totals that the residual leaves open: names with weights by unknown, with
            vectors of weights or with functions c(x, p); or a matrix of weights. Each keeps the
            value that it has at x0.
        jac_sparsity: the entries of dresidual/dx that may be other than zero, as a matrix; "auto"
            finds them by running the residual on index sets. The linear algebra is sparse then,
            and `method` is that of a trust region with sparse steps.
        starts: further starts; that one of them leads to another root is an error.
        units: of the unknowns and outputs, by name.
        args: further arguments of residual, outputs and conserved.

    Raises:
        ModelError: the search ends without a solution, the Jacobian is singular (the error names
            the directions that stay open), there are several roots, or the residual fails.

    >>> r = root(lambda x, p: x**2 - p.a, 1.0, {"a": 2.0})
    >>> bool(np.isclose(r.values, 2.0**0.5)), bool(np.isclose(r.jacobian[0], 0.5 / 2.0**0.5))
    (True, True)
    """
    begun = time.perf_counter()
    parameters, chosen = Parameters(params), Parameters(params).chosen(wrt)
    user = posed(residual, x0, parameters, chosen, args, "the residual")
    totals = [] if conserved is None else declared_totals(conserved, user)
    problem = problem_of(user, totals, chosen)
    if jac_sparsity is not None:
        if totals:
            raise SensitivityError(
                "jac_sparsity does not go with conserved totals: write each in place of one of "
                "the equations that it makes redundant, or leave jac_sparsity out"
            )
        problem.sparse = sparse_jacobian(jac_sparsity, user, chosen.vector())
    x = problem.solve(user.unknowns.start, method, tol)
    require_one_root(problem, x, starts, parameters, method, tol)
    branch = problem.branch(x, checked_order(order), DECLARE if not totals else "")
    return assembled(problem, branch, outputs, order, method, tol, units, begun)


def posed(
    f: Callable[..., Any],
    x0: Any,
    parameters: Parameters,
    chosen: Parameters,
    args: Sequence[Any],
    what: str,
) -> UserFunction:
    """The user's function with its unknowns, tried out once."""
    user = UserFunction(f, parameters, chosen.names, unknowns_of(x0, parameters), args, what)
    user.try_out(user.unknowns.start, chosen.vector())
    user.shaped_like_unknowns(user.unknowns.start, chosen.vector())
    return user


def problem_of(user: UserFunction, totals: list[Total], chosen: Parameters) -> ImplicitProblem:
    """The equations with their conserved totals."""
    rows = WithTotals(user, totals)
    return ImplicitProblem(user, rows, rows.names, chosen.vector())


def require_one_root(
    problem: ImplicitProblem,
    x: np.ndarray,
    starts: Sequence[Any],
    parameters: Parameters,
    method: str,
    tol: float,
) -> None:
    """The other starts must lead to the same solution."""
    for start in members("starts", starts, "starts like x0"):
        other = unknowns_of(start, parameters)
        if other.shape != problem.user.unknowns.shape:
            raise ModelError(f"a start has shape {other.shape}, x0 {problem.user.unknowns.shape}")
        found = problem.solve(other.start, method, tol)
        if not np.allclose(found, x, rtol=1e-6, atol=1e-9 * (np.abs(x).max() or 1.0)):
            unknowns = problem.user.unknowns
            raise ModelError(
                f"{problem.user.name} has several roots: from x0 {unknowns.describe(x)}; from "
                f"another start {unknowns.describe(found)}. Leave out the starts that lead to the "
                f"root that is not meant"
            )


def assembled(
    problem: ImplicitProblem,
    branch: Branch,
    outputs: Mapping[str, Callable[..., Any]] | None,
    order: int,
    method: str,
    tol: float,
    units: Mapping[str, str | None] | None,
    begun: float,
) -> Sensitivities:
    """The result of a solved problem."""
    user = problem.user
    chosen = user.parameters.subset(user.wrt)
    parts = outputs_of_branch(problem, branch, outputs, order)
    return Sensitivities(
        **parts,
        parameters=chosen,
        units=units_by_name(units, parts["outputs"], parts.get("layout")),
        stats={
            "residuals": problem.residuals,
            "jacobians": problem.jacobians,
            "wall": time.perf_counter() - begun,
        },
        settings={"method": method, "tol": tol},
        warnings=absent(chosen.names, parts["jacobian"], stacklevel=4),
        again=Again(problem, branch, outputs),
    )


class Again:
    """The values for other parameters, by Newton's method from the solution that is known."""

    def __init__(
        self,
        problem: ImplicitProblem,
        branch: Branch,
        outputs: Mapping[str, Callable[..., Any]] | None,
    ):
        self.problem, self.branch, self.outputs = problem, branch, outputs

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        if np.iscomplexobj(vector):
            return self.complex_values(np.asarray(vector))
        q = np.array(vector, float)
        known = self.problem
        moved = ImplicitProblem(known.user, known.rows, known.names, q, known.sparse)
        x = moved.polish(self.branch.at(q - known.q))
        still = Branch(x, np.zeros((len(x), len(q))))
        return np.asarray(outputs_of_branch(moved, still, self.outputs, 1)["values"])

    def complex_values(self, q: np.ndarray) -> np.ndarray:
        """The values at complex parameters, by Newton's method from the real solution.

        Its Jacobian is the real one, which decides how fast it comes but not where it ends.

        Raises:
            SensitivityError: it does not come to an end.
        """
        known = self.problem
        factor = known.factor(known.jacobian(self.branch.x))
        x = self.branch.x.astype(complex)
        for _ in range(STEPS):
            rest = np.asarray(known.rows(x, q), complex)
            move = factor.solve(rest.real) + 1j * factor.solve(rest.imag)
            x = x - move
            if np.abs(move.imag).max() <= 1e-11 * np.abs(x.imag).max():
                return self.complex_outputs(x, q)
        raise SensitivityError("Newton's method does not converge for complex parameters")

    def complex_outputs(self, x: np.ndarray, q: np.ndarray) -> np.ndarray:
        user = self.problem.user
        if not self.outputs:
            return x.reshape(user.unknowns.shape)
        parts = [g(x, q).reshape(-1) for g in output_functions(self.outputs, user).values()]
        return np.concatenate([x, *parts])
