"""The variational equations: states and their sensitivities as one system, by dual numbers.

For y' = f(t, y, p) the scaled sensitivities s_j = c_j dy/dp_j obey s_j' = J s_j + c_j df/dp_j,
where J = df/dy. The right-hand side of the joint system z = (y, s_1, ..., s_k) is one forward pass
that carries k tangents. Its Jacobian is block lower triangular: J on the diagonal, and below it,
in the first column of blocks, d(J s_j + c_j df/dp_j)/dy, a second forward pass over the first. A
solver that is given the diagonal alone stalls on stiff problems, so it is given the whole.
Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, section I.14; Maly and Petzold,
Numerical methods and software for sensitivity analysis of differential-algebraic systems (1996).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.forward import jvp
from ...transforms.jacobian import jacfwd
from ..errors import ModelError
from ..parameters.parameters import ModelParameters, Parameters
from .blocks import Blocks
from .model import Model, NotFiniteError, start_of, state_vector
from .pushing import derivative, pushed
from .sparsity import Colouring

__all__ = ["VariationalSystem"]


class VariationalSystem:
    """z' for z = (y, s_1, ..., s_k), its Jacobian, and counts of what was evaluated.

    Args:
        model: the right-hand side; its n rows are the states and the integrals.
        wrt: the k parameters to differentiate with respect to; there may be none.
        scales: c_j, the unit in which parameter j is measured.
        given: the Jacobian df/dy as a function of (t, y, p), where the user has one.
        colouring: which entries of df/dy may be other than zero; None where all may.
    """

    def __init__(
        self,
        model: Model,
        wrt: Parameters,
        scales: np.ndarray,
        given: Callable[..., Any] | None = None,
        colouring: Colouring | None = None,
    ):
        self.model, self.wrt, self.scales = model, wrt, scales
        self.given, self.colouring = given, colouring
        self.n, self.k = len(model.rows), len(wrt)
        self.units = np.diag(scales)
        self.values = [np.float64(v) for v in wrt.values()]
        self.rhs_calls = self.jacobian_calls = 0
        self.not_finite: str | None = None
        self.last_blocks: Blocks | None = None

    def __call__(self, t: float, z: np.ndarray) -> np.ndarray:
        self.rhs_calls += 1
        rows = z.reshape(self.k + 1, self.n)
        value, slopes = self.slopes(t, rows[0], rows[1:])
        out = np.empty((self.k + 1, self.n))
        out[0], out[1:] = value, slopes
        if not np.isfinite(out).all():
            self.not_finite = self.describe(t, rows[0], out)
        return out.ravel()

    def f(self, t: Any, y: Any, q: list[Any]) -> Any:
        """The right-hand side, where the k parameters have the values q."""
        return self.model(t, y, dict(zip(self.wrt.names, q, strict=True)))

    def slopes(self, t: float, y: Any, s: Any) -> tuple[Any, Any]:
        """y' of shape (n,) and s' of shape (k, n), in one pass."""
        if not self.k:
            return self.model(t, y, {}), np.zeros((0, self.n))
        value, slopes = pushed(self.f, t, y, self.values, dy=s, dq=self.units)
        return value, derivative(value, slopes, self.k)

    def flow(self, t: float, y: np.ndarray) -> np.ndarray:
        """y' alone, without derivatives."""
        return np.asarray(self.model(t, y, {}), float)

    # --- the Jacobian

    def joint(self, t: float, s: np.ndarray) -> Callable[[Any], Any]:
        """The function y -> (y', s_1', ..., s_k') of shape (k + 1, n)."""

        def function(y: Any) -> Any:
            value, slopes = self.slopes(t, y, s)
            if isinstance(value, np.ndarray) and isinstance(slopes, np.ndarray):
                return np.concatenate((value[np.newaxis], slopes))
            return np.concatenate((np.reshape(value, (1, self.n)), slopes))

        return function

    def blocks(self, t: float, z: np.ndarray) -> Blocks:
        """J, and the k blocks below it.

        Where they are not finite on the way, a trial step went too far: the last ones serve until
        the stepper has shortened it. At the start there is no such remedy.
        """
        self.jacobian_calls += 1
        try:
            self.last_blocks = self.fresh_blocks(t, z)
        except NotFiniteError as error:
            if self.last_blocks is None:
                raise
            self.not_finite = self.not_finite or str(error)
        return self.last_blocks

    def fresh_blocks(self, t: float, z: np.ndarray) -> Blocks:
        """J, and the k blocks below it, at (t, z)."""
        rows = z.reshape(self.k + 1, self.n)
        joint = self.joint(t, rows[1:])
        if self.colouring is not None:
            columns = self.usable(t, rows[0], self.colouring.compressed(joint, rows[0]), 1, 2)
            if not self.pattern_holds(t, rows, columns):
                self.colouring = None
                return self.fresh_blocks(t, z)
            diagonal, *below = [self.colouring.matrix(c) for c in np.moveaxis(columns, 1, 0)]
        else:
            column = self.usable(t, rows[0], np.asarray(jacfwd(joint)(rows[0])), 0, 1)
            diagonal, below = column[0], list(column[1:])
        if self.given is not None:
            diagonal = self.given_jacobian(t, rows[0], diagonal)
        return Blocks(diagonal, below)

    def jacobian(self, t: float, z: np.ndarray) -> np.ndarray:
        """dz'/dz, the whole block lower triangular matrix."""
        return self.blocks(t, z).dense()

    def given_jacobian(self, t: float, y: np.ndarray, like: Any) -> Any:
        """The user's Jacobian, as a matrix of the kind of like."""
        p = ModelParameters(self.model.fixed)
        n = len(self.model.states)
        try:
            given = self.given(t, y[:n], p)  # type: ignore[misc]
        except Exception as error:
            raise self.model.failure(t, error, self.given, "jac") from error
        return self.embedded(t, given, like)

    def embedded(self, t: float, given: Any, like: Any) -> Any:
        n = len(self.model.states)
        matrix = given if hasattr(given, "tocsc") else np.asarray(given, float)
        if matrix.shape != (n, n):
            raise ModelError(
                f"jac returned shape {matrix.shape} at t = {t:g}; it must be {(n, n)}"
            )
        if hasattr(like, "tocsc"):
            out = like.tolil(copy=True)
            out[:n, :n] = matrix
            return out.tocsc()
        out = np.array(like)
        out[:n, :n] = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        return out

    def usable(
        self, t: float, y: np.ndarray, columns: np.ndarray, blocks: int, rows: int
    ) -> np.ndarray:
        """The entries of J and of the blocks below; `blocks` and `rows` are the axes of both.

        A power y**1.5 has no second derivative where y is 0. The entries of the lower blocks only
        speed Newton's method up, so one that does not exist is left out; those of J must exist.
        """
        ordered = np.moveaxis(columns, (blocks, rows), (0, 1))
        self.model.require_finite(t, y, ordered[0], f"the derivative of {self.model.name}")
        if not np.isfinite(columns).all():
            columns = np.where(np.isfinite(columns), columns, 0.0)
        return columns

    def pattern_holds(self, t: float, rows: np.ndarray, columns: np.ndarray) -> bool:
        """Whether the pattern has all entries of J; one that the user gave must have them."""
        assert self.colouring is not None
        probe = self.colouring.probe
        _, moved = jvp(lambda y: self.f(t, y, self.values), (rows[0],), (probe,))
        expected = self.colouring.matrix(columns[:, 0]) @ probe
        size = abs(self.colouring.matrix(columns[:, 0])) @ abs(probe) + abs(moved)
        wrong = np.flatnonzero(abs(moved - expected) > 1e-9 * size)
        if wrong.size and not self.colouring.found:
            names = ", ".join(self.model.rows[i] for i in wrong[:6])
            raise ModelError(
                f"the sparsity pattern of the Jacobian lacks an entry in the row of {names} at "
                f"t = {t:g}: give jac_sparsity with all entries that may become other than zero, "
                f"or leave it out"
            )
        return not wrong.size

    # --- the start

    def start(self, y0: Any, t0: float = 0.0, dt0: np.ndarray | None = None) -> np.ndarray:
        """z at the start: y0 is an array, or a function of the parameters.

        Args:
            y0: the states; integrals begin at 0.
            t0: the time of the start.
            dt0: the derivative of that time by the k parameters, where it depends on them.
        """
        extra = np.zeros(self.n - len(self.model.states))
        rows = np.zeros((self.k + 1, self.n))
        if not callable(y0):
            rows[0] = np.concatenate((y0, extra))
        else:
            value, moves = self.initial(y0)
            rows[0] = np.concatenate((value, extra))
            rows[1:, : value.size] = derivative(value, moves, self.k)
        if dt0 is not None and dt0.any():
            rows[1:] -= np.outer(self.scales * dt0, self.flow(t0, rows[0]))
        return rows.ravel()

    def initial(self, y0: Callable[[Any], Any]) -> tuple[np.ndarray, Any]:
        """y0(p) and its scaled derivatives, None where it does not depend on p."""

        def initial(_: Any, __: Any, q: list[Any]) -> Any:
            moving = dict(zip(self.wrt.names, q, strict=True))
            return state_vector(start_of(y0, ModelParameters({**self.model.fixed, **moving})))

        if not self.k:
            return np.asarray(initial(None, None, []), float), None
        value, moves = pushed(initial, 0.0, None, self.values, dq=self.units)
        return np.asarray(value, float), moves

    # --- what went wrong

    def describe(self, t: float, y: np.ndarray, out: np.ndarray) -> str:
        """What of z' is not finite, in words."""
        of_f = [n for n, v in zip(self.model.rows, out[0], strict=True) if not np.isfinite(v)]
        if of_f:
            return self.model.not_finite(t, y, self.model.name, of_f)
        finite = np.isfinite(out[1:]).all(axis=1)
        lost = [f"parameter {n}" for n, ok in zip(self.wrt.names, finite, strict=True) if not ok]
        return self.model.not_finite(t, y, f"the derivative of {self.model.name}", lost)
