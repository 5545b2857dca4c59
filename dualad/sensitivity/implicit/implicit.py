"""The implicit function theorem: F(x, p) = 0 makes x a function of p, to second order.

F_x dx/dp_j = -F_p_j, and once more: F_x d2x/dp_i dp_j = -d2/da db F(x + a x_i + b x_j, p + a e_i +
b e_j). There may be more equations than unknowns, as long as they agree: conserved totals stand
beside the balances that they make redundant. Krantz and Parks, The Implicit Function Theorem
(2002), section 1.3; Griewank and Walther, Evaluating Derivatives (2008), section 15.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ..errors import ModelError, SensitivityError
from ..given import number
from .equations import UserFunction
from .factor import EPS, Factor, null_combinations
from .search import STEPS, searched
from .sparse_factor import SparseFactor, SparseJacobian

__all__ = ["Branch", "ImplicitProblem", "derivatives_along"]

#: Relative to the unknowns, how near another root may be before the two are one.
NEAR = 3e-8


@dataclass(frozen=True)
class Branch:
    """The solution x(p) near p: its value, and its derivatives by the parameters that move.

    Attributes:
        x: of shape (n,).
        first: dx/dp, of shape (n, k).
        second: d2x/dp2, of shape (n, k, k), or None.
    """

    x: np.ndarray
    first: np.ndarray
    second: np.ndarray | None = None

    def at(self, move: Any) -> Any:
        """x at p + move, right to the order of the branch."""
        out = self.x + self.first @ move
        if self.second is None:
            return out
        return out + 0.5 * ((self.second @ move) @ move)


class ImplicitProblem:
    """Equations F(x, q) = 0 in n unknowns x, where q are the k parameters that move.

    Args:
        user: the function that the equations are made of, for messages.
        rows: F(x, q), flat, of n entries or more.
        names: what each row is called.
        q: the values of the parameters.
        sparse: gives F_x as a sparse matrix; None for a dense one.
    """

    def __init__(
        self,
        user: UserFunction,
        rows: Callable[[Any, Any], Any],
        names: Sequence[str],
        q: np.ndarray,
        sparse: SparseJacobian | None = None,
    ):
        self.user, self.rows, self.names, self.q = user, rows, tuple(names), q
        self.sparse = sparse
        self.n = len(user.unknowns.names)
        self.residuals = self.jacobians = 0
        self.crawled = False

    @property
    def square(self) -> bool:
        """Whether there are as many equations as unknowns."""
        return len(self.names) == self.n

    def residual(self, x: np.ndarray) -> np.ndarray:
        """F at x."""
        self.residuals += 1
        return np.array(self.rows(x, self.q), float)

    def jacobian(self, x: np.ndarray) -> Any:
        """F_x at x."""
        self.jacobians += 1
        if self.sparse is not None:
            return self.sparse(lambda x: self.rows(x, self.q), x)
        return jacfwd(lambda x: self.rows(x, self.q))(x)

    def factor(self, matrix: Any) -> Any:
        """A factorisation of F_x."""
        return Factor(matrix) if self.sparse is None else SparseFactor(matrix)

    def linearized(self, x: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
        """F, F_x and F_q at x, in one pass.

        Raises:
            ModelError: one of them is not finite.
        """
        if self.sparse is not None:
            return self.linearized_sparsely(x)
        self.jacobians += 1
        n = self.n
        both = jacfwd(lambda z: self.rows(z[:n], z[n:]))(np.concatenate([x, self.q]))
        value = self.residual(x)
        self.require_finite(x, value, self.user.name)
        self.require_finite(x, both, f"the derivative of {self.user.name}")
        return value, both[:, :n], both[:, n:]

    def linearized_sparsely(self, x: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
        value, by_x = self.residual(x), self.jacobian(x)
        by_q = np.asarray(jacfwd(lambda q: self.rows(x, q))(self.q), float)
        self.require_finite(x, value, self.user.name)
        of_x = by_x.sum(axis=1).reshape(-1, 1)
        self.require_finite(
            x, np.concatenate([np.asarray(of_x, float), by_q], axis=1),
            f"the derivative of {self.user.name}",
        )  # fmt: skip
        return value, by_x, by_q

    def require_finite(self, x: np.ndarray, values: np.ndarray, what: str) -> None:
        """values, one row an equation, must hold no NaN and no infinity."""
        finite = np.isfinite(values.reshape(len(values), -1)).all(axis=1)
        bad = [name for name, ok in zip(self.names, finite, strict=True) if not ok]
        if bad:
            raise ModelError(
                f"{what} is not finite for {', '.join(bad[:8])} {self.user.where(x)}", y=x
            )

    # --- the solution ----------------------------------------------------------------------

    def solve(self, x0: np.ndarray, method: str, tol: float) -> np.ndarray:
        """A solution to rounding: SciPy searches, Newton's method polishes.

        Raises:
            ModelError: there is none within tol; the error names the worst equation.
        """
        if not (np.isfinite(number("tol", tol)) and tol > 0):
            raise SensitivityError(f"tol must be positive, got {tol}")
        self.require_finite(x0, self.residual(x0), self.user.name)
        x, message = searched(self, x0, method)
        x = self.polish(x if np.isfinite(x).all() else x0)
        self.require_solved(x, tol, max(np.abs(x0).max(), np.abs(x).max()) or 1.0, message)
        return x

    def polish(self, x: np.ndarray) -> np.ndarray:
        """Newton's method with exact derivatives, until its steps are rounding.

        That is when neither the largest step nor the largest relative step becomes smaller: among
        unknowns of different size the small ones come last.
        """
        with np.errstate(all="ignore"):
            return self._polished(x)

    def _polished(self, x: np.ndarray) -> np.ndarray:
        best, sizes = x, [(np.inf, np.inf)]
        for _ in range(STEPS):
            value = self.residual(x)
            jac = self.jacobian(x)
            entries = jac if self.sparse is None else jac.data
            if not (np.isfinite(value).all() and np.isfinite(entries).all()):
                break
            step = np.abs(move := self.factor(jac).solve(value))
            size = step.max(), (step / np.maximum(np.abs(x), 1e-300)).max()
            shrinks = any(new < 0.95 * old for new, old in zip(size, sizes[-1], strict=True))
            if not np.isfinite(size[0]) or not shrinks:
                break
            best = x
            if not value.any():
                break
            x = x - move
            sizes.append(size)
        self.crawled = crawled([absolute for absolute, _ in sizes])
        return best

    def require_solved(self, x: np.ndarray, tol: float, scale: float, message: str) -> None:
        """Each residual must be small beside the terms that it is made of.

        Those are estimated by sum_j |F_x_j x_j| + sum_k |F_q_k q_k|. Where that says nothing (a
        solution of zeros), the step that Newton's method would still take decides.
        """
        value, by_x, by_q = self.linearized(x)
        terms = abs(by_x) @ np.abs(x) + np.abs(by_q) @ np.abs(self.q)
        bad = np.abs(value) > max(tol, 4 * EPS) * terms
        if not bad.any():
            return
        factor = self.factor(by_x)
        if not factor.singular and np.abs(factor.solve(value)).max() <= 1e-3 * tol * scale:
            return
        worst = int(np.argmax(np.where(bad, np.abs(value) / np.maximum(terms, 1e-300), 0.0)))
        raise ModelError(
            f"no solution of {self.user.name} was found: {self.names[worst]} is "
            f"{value[worst]:.3g}, beside terms of about {terms[worst]:.3g}, which is above "
            f"tol = {tol:g}, {self.user.where(x)}. The search said: {message} Start nearer "
            f"to the solution, or try another method",
            y=x,
        )

    # --- its derivatives -------------------------------------------------------------------

    def branch(self, x: np.ndarray, order: int = 1, remedy: str = "") -> Branch:
        """The derivatives of the solution by the parameters.

        Raises:
            ModelError: the Jacobian is singular; the error names the directions it leaves open.
        """
        _, by_x, by_q = self.linearized(x)
        factor = self.regular(self.factor(by_x), x, remedy)
        first = -factor.solve(by_q)
        if order == 1:
            return Branch(x, first)
        curved = derivatives_along(self.rows, Branch(x, first), self.q, 2)[2]
        return Branch(x, first, -factor.solve(curved))

    def regular(self, factor: Any, x: np.ndarray, remedy: str) -> Any:
        """The factor, if it sees every direction of the unknowns."""
        if not factor.singular and not self.crawled and not self.bends(factor, x):
            return factor
        directions = factor.null_space() if factor.singular else factor.weakest()
        free = "; ".join(null_combinations(directions, self.user.unknowns.names))
        raise ModelError(
            f"the Jacobian of {self.user.name} is singular {self.user.where(x)}: the unknowns may "
            f"move along ({free}) without a change of the equations, so that their "
            f"derivatives by the parameters do not exist. {remedy}".rstrip(),
            y=x,
        )

    def bends(self, factor: Any, x: np.ndarray) -> bool:
        """Whether the Jacobian changes its size within the rounding of a multiple root.

        There a solution is known to half of the digits only, and the Jacobian not at all.
        """
        size = np.abs(x)
        if not size.any():
            return False
        rng = np.random.default_rng(1)
        for _ in range(2):
            move = NEAR * size * rng.uniform(0.5, 1.5, self.n) * rng.choice([-1.0, 1.0], self.n)
            with np.errstate(all="ignore"):
                change = self.jacobian(x + move) - factor.matrix
                if self.sparse is not None:
                    # Too many columns for all of them: what they do to the unknowns together.
                    change = (change @ size)[:, np.newaxis]
                    relative = np.abs(factor.solve(change)[size > 0, 0] / size[size > 0]).max()
                    if np.isfinite(relative) and relative > 0.3:
                        return True
                    continue
                change = factor.solve(change)
            inside = size > 0
            relative = float(np.abs((change * size)[inside] / size[inside, np.newaxis]).max())
            if np.isfinite(relative) and relative > 0.3:
                return True
        return False


def crawled(sizes: Sequence[float]) -> bool:
    """Whether Newton's steps went down by a constant factor: so they do at a multiple root."""
    if len(sizes) < 7:
        return False
    ratios = np.array(sizes[-5:]) / np.array(sizes[-6:-1])
    return bool((ratios > 0.4).all() and np.ptp(ratios) < 0.1)


def derivatives_along(
    g: Callable[[Any, Any], Any], branch: Branch, q: np.ndarray, order: int
) -> tuple[np.ndarray, ...]:
    """g(x(q), q) with its total derivatives by q: (value, Jacobian) or (value, Jacobian, Hessian).

    The axes of the parameters come last.
    """

    def along(move: Any) -> Any:
        return g(branch.at(move), q + move)

    still = np.zeros(len(q))
    value, first = np.array(g(branch.x, q), float), jacfwd(along)(still)
    if order == 1:
        return value, first
    return value, first, jacfwd(jacfwd(along))(still)
