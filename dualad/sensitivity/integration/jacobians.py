"""Jacobians of a right-hand side: for Newton's method, and of the variational equations.

All come from dual numbers, dense by a tangent an entry of y, or sparse by a tangent a group of
columns that share no row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.jacobian import jacfwd
from ..errors import ModelError
from ..extras import extra
from ..parameters.parameters import ModelParameters
from .callbacks import Callbacks
from .linear import Dense, Linear, Products, Sparse
from .model import NotFiniteError
from .sparsity import Colouring

__all__ = ["Jacobians"]

#: Up to so many tangents in one pass cost little more than one; then products are cheaper.
TANGENTS = 100


class Jacobians:
    """df/dy at any point, alone or with what the parameters contribute.

    Args:
        callbacks: evaluates the right-hand side and its derivatives.
        given: the Jacobian as a function of (t, y, p), where the user has one.
        colouring: which entries of df/dy may be other than zero; None where all may.
    """

    def __init__(
        self,
        callbacks: Callbacks,
        given: Callable[..., Any] | None = None,
        colouring: Colouring | None = None,
    ):
        self.callbacks, self.model = callbacks, callbacks.model
        self.given, self.colouring = given, colouring
        self.n, self.k = callbacks.n, callbacks.k

    def linear(self, t: float, y: np.ndarray) -> Linear:
        """f at (t, y), and the map from s to s' there."""
        if self.colouring is None and self.n > TANGENTS:
            return Products(
                self.callbacks.value(t, y), lambda s: np.asarray(self.callbacks.along(t, y, s)[1])
            )
        return self.known(t, y)

    def known(self, t: float, y: np.ndarray) -> Dense | Sparse:
        """The same with a matrix."""
        while self.colouring is not None:
            colouring = self.colouring
            value, moves, forcing = self.callbacks.columns(t, y, colouring.seeds_and_probe)
            entries = colouring.entries(moves)
            lacking = colouring.lacks(entries, moves[-1])
            if not lacking.size:
                return Sparse(value, colouring, entries, forcing)
            if not colouring.found:
                raise self.lacks(t, lacking)
            self.colouring = None
        return Dense(*self.callbacks.columns(t, y))

    def matrix(self, t: float, y: np.ndarray, linear: Linear | None = None) -> Any:
        """J for Newton's method; `linear` is what is known at (t, y).

        Raises:
            NotFiniteError: it is not finite.
        """
        if self.given is not None:
            return self.given_matrix(t, y)
        known = None if linear is None else linear.matrix()
        if known is None:
            known = self.known(t, y).matrix()
        values = known.data if hasattr(known, "tocsc") else known
        if not np.isfinite(values).all():
            self.require_finite(t, y, dense(known))
        return known

    # --- the joint system

    def blocks(
        self, t: float, y: np.ndarray, joint: Callable[[Any], Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """J, and the k blocks d(J s_j + c_j df/dp_j)/dy below it, of shape (k, n, n).

        A power y**1.5 has no second derivative where y is 0. The entries of the lower blocks only
        speed Newton's method up, so one that does not exist is left out; those of J must exist.
        """
        column = np.asarray(jacfwd(joint)(y))
        self.require_finite(t, y, column[0])
        diagonal = column[0]
        if self.given is not None:
            diagonal = dense(self.given_matrix(t, y))
        return diagonal, np.where(np.isfinite(column[1:]), column[1:], 0.0)

    def require_finite(self, t: float, y: np.ndarray, rows: np.ndarray) -> None:
        if not np.isfinite(rows).all():
            self.model.require_finite(t, y, rows, f"the derivative of {self.model.name}")

    # --- what the user gave

    def given_matrix(self, t: float, y: np.ndarray) -> Any:
        """The user's Jacobian; rows of integrals, if there are any, by dual numbers."""
        p, n = ModelParameters(self.model.fixed), len(self.model.states)
        try:
            given = self.given(t, y[:n], p)  # type: ignore[misc]
        except Exception as error:
            raise self.model.failure(t, error, self.given, "jac") from error
        matrix = given.tocsc() if hasattr(given, "tocsc") else np.asarray(given, float)
        if matrix.shape != (n, n):
            raise ModelError(
                f"jac returned shape {matrix.shape} at t = {t:g}; it must be {(n, n)}"
            )
        values = matrix.data if hasattr(matrix, "tocsc") else matrix
        if not np.isfinite(values).all():
            raise NotFiniteError(f"jac is not finite at t = {t:g}", t, y)
        if n == self.n:
            return dense(matrix) if self.colouring is None else sparse(matrix)
        whole = dense(self.known(t, y).matrix())
        whole[:n, :n] = dense(matrix)
        return whole if self.colouring is None else sparse(whole)

    def lacks(self, t: float, rows: np.ndarray) -> ModelError:
        """A pattern that the user gave must have all entries."""
        names = ", ".join(self.model.rows[i] for i in rows[:6])
        return ModelError(
            f"the sparsity pattern of the Jacobian lacks an entry in the row of {names} at "
            f"t = {t:g}: give jac_sparsity with all entries that may become other than zero, "
            f"or leave it out"
        )


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.array(matrix)


def sparse(matrix: Any) -> Any:
    return extra("scipy.sparse").csc_matrix(matrix)
