"""The least-squares estimate: SciPy searches, Newton's method with exact derivatives polishes.

With J = Q R the Hessian of half the sum of squares is R' (1 + R^-T S R^-1) R, where S is the sum
of residuals times their second derivatives, so that the step needs no product J'J and keeps its
digits where J is ill conditioned. Bjorck, Numerical Methods for Least Squares Problems (1996),
section 9.2; the test of convergence is the relative offset of Bates and Watts, Technometrics 23
(1981).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError, SensitivityError
from ..extras import extra
from ..parameters.parameters import Parameters
from ..progress import Line
from .loss import loss_slopes
from .observations import Observations
from .predictor import Predictor

__all__ = ["Estimate", "LeastSquares"]

STEPS = 50
#: The relative offset above which an estimate is no minimum: that of exact derivatives, and of
#: those an integration gives.
OFFSET, OFFSET_ANALYSED = 1e-5, 1e-3


@dataclass(frozen=True)
class Estimate:
    """Where the search ended.

    Attributes:
        theta: the free parameters, shape (k,).
        at_bound: which of them are at a bound.
        residual: whitened, (m,); jacobian: of it by theta, (m, k).
        message: what the search said.
        offset: the relative offset from the minimum.
    """

    theta: np.ndarray
    at_bound: np.ndarray
    residual: np.ndarray
    jacobian: np.ndarray
    message: str
    offset: float


class LeastSquares:
    """Residuals as a function of the free parameters, each in its linear or logarithmic scale."""

    def __init__(
        self,
        predictor: Predictor,
        seen: Observations,
        free: Parameters,
        bounds: tuple[np.ndarray, np.ndarray],
        loss: str = "linear",
        f_scale: float = 1.0,
    ):
        self.predictor, self.seen, self.free = predictor, seen, free
        self.logarithmic = np.array([p.scale == "log" for _, p in free.details()], bool)
        self.lower, self.upper = (self.to_phi(b) for b in bounds)
        self.loss, self.f_scale = loss, f_scale
        self.failed: ModelError | None = None
        #: where the search says how far it has come
        self.line = Line(False)

    # --- coordinates

    def to_phi(self, theta: np.ndarray) -> np.ndarray:
        """The coordinates of the search: logarithms where the scale is one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(theta > 0, np.log(np.where(theta > 0, theta, 1.0)), -np.inf)
        return np.where(self.logarithmic, logs, theta)

    def to_theta(self, phi: np.ndarray) -> np.ndarray:
        """The parameters at a point of the search."""
        return np.where(self.logarithmic, np.exp(np.where(self.logarithmic, phi, 0.0)), phi)

    def slope(self, phi: np.ndarray) -> np.ndarray:
        """dtheta/dphi."""
        return np.where(self.logarithmic, self.to_theta(phi), 1.0)

    @property
    def noise(self) -> float:
        """Relative to the largest, the singular value that derivatives cannot tell from 0."""
        analysed = self.predictor.analysed
        return 1e-13 if analysed is None else 10.0 * float(analysed.settings.get("rtol", 1e-12))

    # --- evaluation

    def residual(self, phi: np.ndarray) -> np.ndarray:
        """The whitened residuals; not finite where the model fails after it once worked."""
        return self._evaluated(phi)[0]

    def jacobian(self, phi: np.ndarray) -> np.ndarray:
        """Their derivatives by phi."""
        return self._evaluated(phi)[1]

    def _evaluated(self, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            values, jacobian = self.predictor.evaluate(self.to_theta(phi))
        except ModelError as error:
            self.failed = error
            m = len(self.seen.y)
            return np.full(m, np.inf), np.full((m, len(phi)), np.nan)
        rest = self.seen.weigh(values - self.seen.y)
        if self.line.shown:
            count = self.predictor.evaluations
            self.line.say(lambda: f"{count} evaluations, sum of squares {rest @ rest:.6g}")
        return rest, self.seen.weigh(jacobian) * self.slope(phi)

    def curvature(self, phi: np.ndarray, weighted: np.ndarray, jacobian: np.ndarray) -> Any:
        """The sum of (weighted) residuals times their second derivatives by phi, or None."""
        second = self.predictor.second(self.to_theta(phi), self.seen.pull(weighted))
        if second is None or not np.isfinite(second).all():
            return None
        slope = self.slope(phi)
        return second * np.outer(slope, slope) + np.diag(
            np.where(self.logarithmic, weighted @ jacobian, 0.0)
        )

    def weights(self, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the loss makes of residuals: the factor of the gradient, and of the Hessian."""
        if self.loss == "linear":
            return np.ones_like(rest), np.ones_like(rest)
        z = (rest / self.f_scale) ** 2
        first, second = loss_slopes(self.loss, z)
        return first, first + 2.0 * second * z

    # --- search

    def search(self, theta: np.ndarray, method: str, options: dict[str, Any]) -> tuple[Any, str]:
        """The point where SciPy's search ends, and its message."""
        if method not in ("trf", "lm", "dogbox"):
            raise SensitivityError(f"method must be 'trf', 'lm' or 'dogbox', got {method!r}")
        bounded = bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())
        if method == "lm" and (bounded or self.loss != "linear"):
            what = "bounds" if bounded else f"the loss {self.loss!r}"
            raise SensitivityError(f"method 'lm' does not take {what}: use method='trf'")
        phi = self.to_phi(theta)
        first = self.residual(phi)
        if not (np.isfinite(first).all() and np.isfinite(self.jacobian(phi)).all()):
            raise self.failed or ModelError(
                f"{self.predictor.name} is not finite at the start: "
                + ", ".join(f"{n} = {v:.6g}" for n, v in zip(self.free, theta, strict=True))
            )
        return self._searched(phi, method, options)

    def _searched(self, phi: np.ndarray, method: str, options: dict[str, Any]) -> tuple[Any, str]:
        near = 1e-12 if self.predictor.analysed is None else 1e-7
        settings: dict[str, Any] = {"x_scale": "jac", "ftol": near, "xtol": near, "gtol": 1e-12}
        settings["max_nfev"] = 1000 * len(phi)
        if method != "lm":
            settings |= {
                "bounds": (self.lower, self.upper), "loss": self.loss, "f_scale": self.f_scale
            }  # fmt: skip
        with np.errstate(all="ignore"):
            found = extra("scipy.optimize").least_squares(
                self.residual, phi, jac=self.jacobian, method=method, **(settings | options)
            )
        return np.array(found.x, float), str(found.message)

    # --- polish

    def estimate(self, phi: np.ndarray, message: str) -> Estimate:
        """The minimum near a point, to rounding.

        Raises:
            ModelError: the point is not near one.
        """
        at_bound = self._at_bound(phi)
        sd = np.linalg.norm(self.residual(phi)) / np.sqrt(len(self.seen.y))
        phi = self.polish(phi, ~at_bound, 0.0 if self.predictor.analysed is None else 1e-9 * sd)
        rest, jacobian = self._evaluated(phi)
        if not (np.isfinite(rest).all() and np.isfinite(jacobian).all()):
            raise self.failed or ModelError(f"{self.predictor.name} is not finite at the estimate")
        offset = self.offset(rest, jacobian[:, ~at_bound])
        limit = OFFSET if self.predictor.analysed is None else OFFSET_ANALYSED
        if offset > limit:
            raise ModelError(
                f"the fit of {self.predictor.name} did not converge: its relative offset from a "
                f"minimum is {offset:.2g}, at "
                + ", ".join(
                    f"{n} = {v:.6g}" for n, v in zip(self.free, self.to_theta(phi), strict=True)
                )
                + f". The search said: {message} Start elsewhere (start=...), set bounds, or "
                f"allow more evaluations (max_nfev=...)"
            )
        slope = self.slope(phi)
        return Estimate(self.to_theta(phi), at_bound, rest, jacobian / slope, message, offset)

    def _at_bound(self, phi: np.ndarray) -> np.ndarray:
        """Which parameters are at a bound that the gradient pushes them against."""
        rest, jacobian = self._evaluated(phi)
        if not np.isfinite(jacobian).all():
            return np.zeros(len(phi), bool)
        gradient = jacobian.T @ (self.weights(rest)[0] * rest)
        near = 1e-6 * np.maximum(1e-3, np.abs(phi))
        low = np.isfinite(self.lower) & (phi - self.lower <= near) & (gradient >= 0)
        high = np.isfinite(self.upper) & (self.upper - phi <= near) & (gradient <= 0)
        phi[low], phi[high] = self.lower[low], self.upper[high]
        return low | high

    def polish(self, phi: np.ndarray, free: np.ndarray, enough: float = 0.0) -> np.ndarray:
        """Newton's method for the free ones, as long as its steps become smaller.

        A step that moves the residuals by no more than `enough` is the last.
        """
        best, last, cost = phi, np.inf, self.cost(phi)
        for _ in range(STEPS):
            step, size = self.step(phi, free)
            if not np.isfinite(size) or size >= 0.9 * last:
                break
            best, last = phi, size
            if size == 0.0:
                break
            moved, cost = self.backtracked(phi, step, cost)
            if moved is None:
                break
            if size <= enough:
                return np.asarray(moved)
            phi = moved
        return best

    def backtracked(self, phi: np.ndarray, step: np.ndarray, cost: float) -> tuple[Any, float]:
        """A step within the bounds that does not raise the cost; None, if there is none."""
        for _ in range(12):
            moved = np.clip(phi + step, self.lower, self.upper)
            new = self.cost(moved)
            if np.isfinite(new) and new <= cost * (1.0 + 1e-9):
                return moved, new
            step = step / 2.0
        return None, cost

    def cost(self, phi: np.ndarray) -> float:
        """Half the sum of what the residuals cost."""
        from .loss import LOSSES

        rest = self.residual(phi)
        with np.errstate(all="ignore"):
            z = (rest / self.f_scale) ** 2
            return float(0.5 * self.f_scale**2 * LOSSES[self.loss](z).sum())

    def step(self, phi: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
        """Newton's step, and its length in units in which the residuals are measured."""
        rest, jacobian = self._evaluated(phi)
        if not (np.isfinite(rest).all() and np.isfinite(jacobian).all()) or not free.any():
            return np.zeros(len(phi)), 0.0 if not free.any() else np.inf
        columns = jacobian[:, free]
        scale = np.linalg.norm(columns, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        q, r = np.linalg.qr(columns / scale)
        by_gradient, by_hessian = self.weights(rest)
        target = q.T @ (by_gradient * rest)
        sizes = np.abs(np.diag(r))
        out = np.zeros(len(phi))
        if sizes.min() <= self.noise * sizes.max():
            whole = np.linalg.lstsq(columns / scale, by_gradient * rest, rcond=10 * self.noise)[0]
            out[free] = -whole / scale
            return out, float(np.linalg.norm((columns / scale) @ whole))
        curved = self.curvature(phi, by_gradient * rest, jacobian)
        moved = self._solved(q, r, target, by_hessian, curved, free, scale)
        out[free] = -extra("scipy.linalg").solve_triangular(r, moved) / scale
        return out, float(np.linalg.norm(moved))

    @staticmethod
    def _solved(
        q: np.ndarray,
        r: np.ndarray,
        target: np.ndarray,
        by_hessian: np.ndarray,
        curved: np.ndarray | None,
        free: np.ndarray,
        scale: np.ndarray,
    ) -> np.ndarray:
        """(Q'D Q + R^-T S R^-1)^-1 of the gradient; without S where that has no minimum."""
        plain = q.T @ (np.maximum(by_hessian, 0.0)[:, np.newaxis] * q)
        whole = q.T @ (by_hessian[:, np.newaxis] * q)
        if curved is not None:
            linalg = extra("scipy.linalg")
            inner = curved[np.ix_(free, free)] / np.outer(scale, scale)
            half = linalg.solve_triangular(r, inner, trans="T")
            whole = whole + linalg.solve_triangular(r, half.T, trans="T").T
        for matrix in ((whole + whole.T) / 2, plain):
            if np.linalg.eigvalsh(matrix)[0] > 1e-8:
                return np.linalg.solve(matrix, target)
        return target

    def offset(self, rest: np.ndarray, columns: np.ndarray) -> float:
        """How far from orthogonal the residuals are to what the parameters can do.

        The length of their projection on the tangent plane, by that of the rest, each by the root
        of its dimension; 0 for an exact fit.
        """
        pulled = self.weights(rest)[0] * rest
        scale = np.linalg.norm(columns, axis=0)
        used = scale > 0
        u, s, _ = np.linalg.svd(columns[:, used] / scale[used], full_matrices=False)
        u = u[:, s > 1e-12]
        along = u.T @ pulled
        size = np.linalg.norm(self.seen.weigh(self.seen.y)) if self.seen.y.any() else 1.0
        if np.linalg.norm(along) <= 1e-9 * size and np.linalg.norm(pulled) <= 1e-7 * size:
            return 0.0
        across = np.linalg.norm(pulled - u @ along)
        dimensions = max(u.shape[1], 1), max(len(rest) - u.shape[1], 1)
        left = np.linalg.norm(along) / np.sqrt(dimensions[0])
        return float(left / max(across / np.sqrt(dimensions[1]), 1e-300))
