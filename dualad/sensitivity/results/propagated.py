"""Outputs with uncertainties, and what each parameter has to do with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.degrees_of_freedom import effective
from ..analysis.variance import bias, curvature_covariance, moments_of
from ..errors import SensitivityError
from ..extras import extra
from ..given import generator, number
from ..parameters.unit_text import named
from .tabular import Table

if TYPE_CHECKING:
    from .sensitivities import Sensitivities

__all__ = ["Propagated"]


class Propagated:
    """The outputs of an analysis with the uncertainties that its parameters give them.

    Args:
        result: values and derivatives; second derivatives for order 2.
        covariance: of the parameters, (k, k).
        order: 2 adds what second derivatives contribute.
        moments: skewness and excess kurtosis, or the name of a distribution, by parameter.
        level: the coverage probability of `expanded` and `interval`, where none is given.
        dof: degrees of freedom of each parameter's uncertainty, (k,); one number where they are
            those of the covariance as a whole, as after a fit; None for infinity.
        extra_variance: a variance that is added to each output, as that of an observation.
        notes: warnings.

    Attributes:
        values: the outputs at the parameters, shape (*out).
        mean: with the correction for curvature, which is 0 at order 1.
        bias: that correction.
        u: the standard uncertainties, shape (*out).
        dof: their effective degrees of freedom, shape (*out).
    """

    def __init__(
        self,
        result: Sensitivities,
        covariance: np.ndarray,
        *,
        order: int = 1,
        moments: Any = None,
        level: float = 0.95,
        dof: Any = None,
        extra_variance: Any = 0.0,
        notes: Sequence[str] = (),
    ):
        if order == 2 and result.hessian is None:
            raise SensitivityError(
                "order 2 needs second derivatives, and this result has none: compute it with "
                "order=2"
            )
        self.result, self.order, self.level = result, order, _checked_level(level)
        self.outputs, self.parameters = result.outputs, result.parameters
        self.parameter_covariance = np.asarray(covariance, float)
        self.values, self.warnings = result.values, list(notes)
        k = len(self.parameters)
        self._jacobian = result.jacobian.reshape(-1, k)
        self._hessian: np.ndarray | None = None
        if order == 2 and result.hessian is not None:
            self._hessian = result.hessian.reshape(-1, k, k)
        self._moments = moments_of(moments, self.parameters.names, self.parameter_covariance)
        self._extra = np.broadcast_to(np.asarray(extra_variance, float), self.values.shape)
        self._given_dof = dof
        self.bias = self._shaped(np.zeros(len(self._jacobian)))
        if self._hessian is not None:
            self.bias = self._shaped(bias(self._hessian, self.parameter_covariance))
        self.mean = self.values + self.bias
        self.u = self._shaped(np.sqrt(np.maximum(self._variances(), 0.0)))
        self.dof = self._shaped(self._effective())

    def _shaped(self, flat: np.ndarray) -> np.ndarray:
        return flat.reshape(self.values.shape)

    def _variances(self) -> np.ndarray:
        """The variance of each output, flat; without the covariances of many times."""
        C, J = self.parameter_covariance, self._jacobian
        out = np.einsum("mi,ij,mj->m", J, C, J) + self._extra.reshape(-1)
        if self._hessian is not None:
            for m, (g, H) in enumerate(zip(J, self._hessian, strict=True)):
                out[m] += curvature_covariance(g[None], H[None], C, self._moments)[0, 0]
        return out

    def _effective(self) -> np.ndarray:
        given = np.asarray(np.inf if self._given_dof is None else self._given_dof, float)
        if given.ndim == 0:
            return np.full(len(self._jacobian), float(given))
        return effective(self._jacobian, self.parameter_covariance, given)

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the outputs, flat, (m, m)."""
        J, C = self._jacobian, self.parameter_covariance
        out = J @ C @ J.T + np.diag(self._extra.reshape(-1))
        if self._hessian is not None:
            out = out + curvature_covariance(J, self._hessian, C, self._moments)
        return np.asarray(out)

    @property
    def correlation(self) -> np.ndarray:
        """The correlation coefficients of the outputs, flat, (m, m); NaN for those without u."""
        u = self.u.reshape(-1)
        u = np.where(u > 0, u, np.nan)
        return self.covariance / np.outer(u, u)

    def coverage_factor(self, level: float | None = None) -> np.ndarray:
        """How many u cover the level: Student's t at the effective degrees of freedom, (*out)."""
        level = self.level if level is None else _checked_level(level)
        t = extra("scipy.stats").t
        return np.asarray(t.ppf(0.5 + level / 2, np.maximum(self.dof, 1e-9)), float)

    def expanded(self, level: float | None = None) -> np.ndarray:
        """The expanded uncertainties, coverage factor times u, shape (*out)."""
        return self.coverage_factor(level) * self.u

    def interval(self, level: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The lower and the upper end of the coverage interval, each of shape (*out)."""
        half = self.expanded(level)
        return self.mean - half, self.mean + half

    def contributions(self) -> np.ndarray:
        """u(p) dy/dp: the uncertainty that each parameter alone gives, shape (*out, k)."""
        u = np.sqrt(np.diag(self.parameter_covariance))
        return np.asarray(self.result.jacobian * u)

    def shares(self) -> np.ndarray:
        """The part of the first-order variance that each parameter accounts for, (*out, k).

        A covariance is halved between its two parameters, so that the shares add up to 1; with
        correlations, a share can be negative.
        """
        J = self._jacobian
        parts = J * (J @ self.parameter_covariance)
        total = parts.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (parts / total).reshape(self.result.jacobian.shape)

    def budget(self, output: str | None = None) -> Table:
        """The uncertainty budget: value, uncertainty, sensitivity and share of each parameter.

        Args:
            output: for one output; default all.
        """
        if self.result.row_labels() is not None:
            raise SensitivityError("a budget is for one time: take result.time(i) first")
        chosen = self.outputs if output is None else (output,)
        columns = ["output", "parameter", "value", "u", "unit", "dof", "sensitivity",
                   "contribution", "share"]  # fmt: skip
        rows = [row for name in chosen for row in self._budget_rows(name)]
        notes = [self._line(name) for name in chosen]
        return Table(columns, rows, "uncertainty budget", [*notes, *self.warnings])

    def _budget_rows(self, output: str) -> list[tuple[Any, ...]]:
        i, k = self.result.output_index(output), len(self.parameters)
        u = np.sqrt(np.diag(self.parameter_covariance))
        parts = self.contributions().reshape(-1, k)[i]
        shares = self.shares().reshape(-1, k)[i]
        dof = np.broadcast_to(np.inf if self._given_dof is None else self._given_dof, (k,))
        return [
            (output, name, p.value, float(u[j]), p.unit or "", float(dof[j]),
             float(self._jacobian[i, j]), float(parts[j]), float(shares[j]))
            for j, (name, p) in enumerate(self.parameters.details())
        ]  # fmt: skip

    def _line(self, output: str) -> str:
        """One output with all that is said of it."""
        i = self.result.output_index(output)
        at = np.unravel_index(i, self.values.shape)
        k, dof = float(self.coverage_factor()[at]), float(self.dof[at])
        label = named(output, self.result.output_units.get(output))
        return (
            f"{label}: {self.mean[at]:.8g}, u = {self.u[at]:.3g}, dof = {dof:.3g}, "
            f"U = {k * self.u[at]:.3g} (k = {k:.3g}, {100 * self.level:.4g} %)"
        )

    def table(self, fmt: str = "text") -> str:
        """The outputs with their uncertainties as text."""
        times = self.result.row_labels()
        n, k = len(self.outputs), self.coverage_factor().reshape(-1)
        flat = [a.reshape(-1) for a in (self.mean, self.bias, self.u, self.dof)]
        rows = []
        for i in range(len(flat[0])):
            time = () if times is None else (float(times[i // n]),)
            name = self.outputs[i % n]
            numbers = [float(a[i]) for a in flat]
            rows.append((*time, name, *numbers, float(k[i]), float(k[i] * flat[2][i])))
        front = [] if times is None else ["t"]
        columns = [*front, "output", "mean", "bias", "u", "dof", "k", "U"]
        title = f"order {self.order}; U covers {100 * self.level:.4g} %"
        return Table(columns, rows, title, self.warnings).render(fmt)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Propagated {', '.join(self.outputs[:6])}: order {self.order}>"

    def _repr_html_(self) -> str:
        return self.table("html")

    def sample(self, n: int, rng: Any = None) -> np.ndarray:
        """Draws of the outputs, shape (n, *out): normal, of this mean and covariance.

        Args:
            n: how many.
            rng: a NumPy generator, or a seed for one.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise SensitivityError(f"the number of draws must be an integer, got {n!r}")
        draws = generator("rng", rng).multivariate_normal(
            self.mean.reshape(-1), self.covariance, size=n, method="svd", check_valid="ignore"
        )
        return draws.reshape((n, *self.values.shape))

    def to_ufloats(self) -> list[Any]:
        """The outputs as correlated numbers of the package `uncertainties`, flat."""
        from ...extras import required

        package = required("uncertainties", "to_ufloats", "pip install uncertainties")
        out = package.correlated_values(self.mean.reshape(-1).tolist(), self.covariance)
        return list(out)

    @property
    def plot(self) -> Any:
        """Pictures: `.plot.band()` over time, `.plot.budget()`."""
        from ..plots import PropagatedPlots

        return PropagatedPlots(self)


def _checked_level(level: float) -> float:
    if not 0 < number("level", level) < 1:
        raise SensitivityError(f"level must be between 0 and 1, as 0.95, got {level!r}")
    return float(level)
