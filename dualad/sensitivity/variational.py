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

from ..transforms.batching import vmap
from ..transforms.forward import jvp
from ..transforms.jacobian import jacfwd
from .model import Model, state_vector
from .parameters import ModelParameters, Parameters

__all__ = ["VariationalSystem"]


class VariationalSystem:
    """z' for z = (y, s_1, ..., s_k), its Jacobian, and counts of what was evaluated.

    Args:
        model: the right-hand side of n states.
        wrt: the k parameters to differentiate with respect to.
        scales: c_j, the unit in which parameter j is measured.
    """

    def __init__(self, model: Model, wrt: Parameters, scales: np.ndarray):
        self.model, self.wrt, self.scales = model, wrt, scales
        self.n, self.k = len(model.states), len(wrt)
        self.directions = tuple(np.diag(scales))
        self.rhs_calls = self.jacobian_calls = 0
        self.not_finite: str | None = None

    def __call__(self, t: float, z: np.ndarray) -> np.ndarray:
        self.rhs_calls += 1
        rows = z.reshape(self.k + 1, self.n)
        slopes = self.slopes(t, rows[0], rows[1:])
        out = np.concatenate((slopes[0][np.newaxis], slopes[1]))
        if not np.isfinite(out).all():
            self.not_finite = self.describe(t, rows[0], out)
        return out.ravel()

    def slopes(self, t: float, y: Any, s: Any) -> tuple[Any, Any]:
        """y' of shape (n,) and s' of shape (k, n), in one pass."""
        return self.along(lambda y, moving: self.model(t, y, moving), y, s)

    def along(self, f: Callable[..., Any], y: Any, s: Any) -> tuple[Any, Any]:
        """f(y, parameters) and its derivative along the k directions (s_j, c_j e_j)."""
        names, values = self.wrt.names, tuple(self.wrt.values())

        def push(direction: Any, units: Any) -> Any:
            g = lambda y, q: f(y, dict(zip(names, q, strict=True)))  # noqa: E731
            return jvp(g, (y, values), (direction, units))

        return vmap(push, out_axes=(None, 0))(s, self.directions)

    def jacobian(self, t: float, z: np.ndarray) -> np.ndarray:
        """dz'/dz, the whole block lower triangular matrix."""
        self.jacobian_calls += 1
        n, k = self.n, self.k
        rows = z.reshape(k + 1, n)

        def joint(y: Any) -> Any:
            f, ds = self.slopes(t, y, rows[1:])
            return np.concatenate((f[np.newaxis], ds))

        column = jacfwd(joint)(rows[0])
        self.model.require_finite(
            t, rows[0], np.moveaxis(column, 1, 0), f"the derivative of {self.model.name}"
        )
        out = np.zeros((k + 1, n, k + 1, n))
        for j in range(k + 1):
            out[j, :, j, :] = column[0]
        out[:, :, 0, :] = column
        return out.reshape(z.size, z.size)

    def start(self, y0: Any) -> np.ndarray:
        """z at the start: y0 is an array, or a function of the parameters."""
        if not callable(y0):
            return np.concatenate((y0, np.zeros(self.k * self.n)))
        fixed = self.model.parameters

        def initial(_: Any, moving: Any) -> Any:
            return state_vector(y0(ModelParameters({**fixed, **moving})))

        y, s = self.along(initial, 0.0, np.zeros(self.k))
        return np.concatenate((y[np.newaxis], s)).ravel()

    def describe(self, t: float, y: np.ndarray, out: np.ndarray) -> str:
        """What of z' is not finite, in words."""
        of_f = [n for n, v in zip(self.model.states, out[0], strict=True) if not np.isfinite(v)]
        if of_f:
            return self.model.not_finite(t, y, self.model.name, of_f)
        finite = np.isfinite(out[1:]).all(axis=1)
        lost = [f"parameter {n}" for n, ok in zip(self.wrt.names, finite, strict=True) if not ok]
        return self.model.not_finite(t, y, f"the derivative of {self.model.name}", lost)
