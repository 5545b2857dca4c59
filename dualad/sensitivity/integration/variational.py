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

from ..parameters.parameters import ModelParameters, Parameters
from .callbacks import kind_of
from .jacobians import Jacobians
from .linear import Linear
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
        compiled: whether passes with tangents are programs; "auto": after many of them.
    """

    def __init__(
        self,
        model: Model,
        wrt: Parameters,
        scales: np.ndarray,
        given: Callable[..., Any] | None = None,
        colouring: Colouring | None = None,
        compiled: bool | str = False,
    ):
        self.model, self.wrt, self.scales = model, wrt, scales
        self.callbacks = kind_of(compiled)(model, wrt, scales)
        self.jacobians = Jacobians(self.callbacks, given, colouring)
        self.n, self.k = self.callbacks.n, self.callbacks.k
        self.units, self.values = self.callbacks.units, self.callbacks.values
        self.f = self.callbacks.f
        self.rhs_calls = self.tangent_calls = self.jacobian_calls = 0
        self.not_finite: str | None = None
        self.last: dict[str, Any] = {}

    def __call__(self, t: float, z: np.ndarray) -> np.ndarray:
        """z' at (t, z), of the shape of z."""
        self.rhs_calls += 1
        self.tangent_calls += 1
        rows = z.reshape(self.k + 1, self.n)
        out = np.empty((self.k + 1, self.n))
        out[0], out[1:] = self.callbacks.along(t, rows[0], rows[1:])
        if not np.isfinite(out).all():
            self.not_finite = self.describe(t, rows[0], out)
        return out.ravel()

    def states(self, t: float, y: np.ndarray) -> np.ndarray:
        """y' alone, on behalf of a stepper."""
        self.rhs_calls += 1
        out = self.callbacks.value(t, y)
        if not np.isfinite(out).all():
            self.not_finite = self.describe(t, y, out[np.newaxis])
        return out

    def flow(self, t: float, y: np.ndarray) -> np.ndarray:
        """y' alone, without derivatives."""
        return self.callbacks.value(t, y)

    def linear(self, t: float, y: np.ndarray) -> Linear:
        """y' at (t, y), and the map from sensitivities to their slopes there."""
        self.tangent_calls += 1
        out = self.jacobians.linear(t, y)
        if not out.finite():
            self.not_finite = self.describe(t, y, np.vstack((out.value, out.forcing)))
        return out

    @property
    def sparse(self) -> bool:
        """Whether Jacobians are sparse matrices."""
        return self.jacobians.colouring is not None

    # --- the Jacobian

    def matrix(self, t: float, y: np.ndarray, linear: Linear | None = None) -> Any:
        """J for Newton's method; `linear` is what is known at (t, y)."""
        return self.lasting("matrix", lambda: self.jacobians.matrix(t, y, linear))

    def jacobian(self, t: float, z: np.ndarray) -> np.ndarray:
        """dz'/dz, the whole block lower triangular matrix."""
        rows = z.reshape(self.k + 1, self.n)
        joint = self.joint(t, rows[1:])
        return self.lasting("joint", lambda: whole(*self.jacobians.blocks(t, rows[0], joint)))

    def joint(self, t: float, s: np.ndarray) -> Callable[[Any], Any]:
        """The function y -> (y', s_1', ..., s_k') of shape (k + 1, n)."""

        def function(y: Any) -> Any:
            value, slopes = self.callbacks.along(t, y, s)
            return np.concatenate((np.reshape(value, (1, self.n)), slopes))

        return function

    def lasting(self, kind: str, evaluate: Callable[[], Any]) -> Any:
        """A Jacobian, or the last one of its kind where it is not finite.

        A trial step went too far then: the last one serves until the stepper has shortened it. At
        the start there is no such remedy.
        """
        self.jacobian_calls += 1
        try:
            self.last[kind] = evaluate()
        except NotFiniteError as error:
            if kind not in self.last:
                raise
            self.not_finite = self.not_finite or str(error)
        return self.last[kind]

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
        # Where none is named, it is an entry of J, which is in the equations of all of them.
        lost = [n for n, ok in zip(self.wrt.names, finite, strict=True) if not ok]
        lost = [f"parameter {n}" for n in lost or self.wrt.names]
        return self.model.not_finite(t, y, f"the derivative of {self.model.name}", lost)


def whole(diagonal: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The joint matrix with J in each block of the diagonal, and other blocks below the first."""
    k, n = below.shape[:2]
    out = np.zeros((k + 1, n, k + 1, n))
    for j in range(k + 1):
        out[j, :, j, :] = diagonal
    out[1:, :, 0, :] = below
    return out.reshape((k + 1) * n, (k + 1) * n)
