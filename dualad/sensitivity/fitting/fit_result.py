"""What `fit` returns: estimates, their uncertainties, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.identifiability import Identifiability
from ..errors import SensitivityError
from ..extras import extra
from ..given import number
from ..parameters.parameters import Parameters
from ..results.named_matrix import NamedMatrix
from ..results.propagated import Propagated
from ..results.sensitivities import Sensitivities
from ..results.tabular import Table
from .fit_uncertainty import FitUncertainty
from .least_squares import Estimate, LeastSquares

if TYPE_CHECKING:
    from ..plots import FitPlots

__all__ = ["FitResult"]


class FitResult:
    """Fitted parameters.

    Attributes:
        names: the k fitted parameters.
        values: their estimates, (k,).
        params: all parameters, with estimates, uncertainties and correlations.
        covariance: of the estimates, (k, k); a variance is infinite where the data determine
            nothing, NaN at a bound.
        standard_errors, correlation: from it.
        residuals: observations less predictions, (m,), without what was left out.
        rss: the sum of squares of the residuals, each by its standard deviation where given.
        dof: observations less determined parameters.
        residual_sd: the root of rss by dof.
        sensitivities: the predictions of the observations, and their derivatives.
        at_bound: the names of the parameters at a bound.
        stats, settings, warnings: as in `Sensitivities`.
    """

    def __init__(
        self,
        problem: LeastSquares,
        estimate: Estimate,
        spread: FitUncertainty,
        sensitivities: Sensitivities,
        *,
        stats: Mapping[str, Any],
        settings: Mapping[str, Any],
        notes: Sequence[str],
    ):
        self.problem, self.estimate, self.spread = problem, estimate, spread
        self.sensitivities = sensitivities
        self.names, self.values = sensitivities.parameters.names, estimate.theta
        self.stats, self.settings, self.warnings = dict(stats), dict(settings), list(notes)
        self.covariance, self.dof = spread.covariance, spread.dof
        self.rss = float(estimate.residual @ estimate.residual)
        self.residuals = problem.seen.y - sensitivities.values
        held = zip(self.names, estimate.at_bound, strict=True)
        self.at_bound = tuple(name for name, at in held if at)
        self.params = self._parameters()

    # --- estimates and their uncertainties

    @property
    def standard_errors(self) -> np.ndarray:
        """The standard errors, (k,): infinite for what is not determined, NaN at a bound."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> np.ndarray:
        """The correlation coefficients of the estimates, (k, k)."""
        u = self.standard_errors
        usable = np.where(np.isfinite(u) & (u > 0), u, np.nan)
        out = np.clip(self.covariance / np.outer(usable, usable), -1.0, 1.0)
        out[np.diag_indices(len(u))] = np.where(np.isnan(usable), np.nan, 1.0)
        return np.asarray(out)

    @property
    def residual_sd(self) -> float:
        """The standard deviation of the residuals, in units of sigma where that is given."""
        return float(np.sqrt(self.rss / self.dof)) if self.dof else np.inf

    @property
    def error_dof(self) -> float:
        """The degrees of freedom of the standard errors: infinite where sigma is known."""
        return np.inf if self.problem.seen.known else float(self.dof)

    @property
    def minus_two_log_likelihood(self) -> float:
        """-2 log L of normal errors, at the most likely sigma where that is unknown."""
        m = len(self.residuals)
        weights = 2.0 * self.problem.seen.log_weight
        if self.problem.seen.known:
            return float(self.rss + m * np.log(2.0 * np.pi) + weights)
        return float(m * (np.log(2.0 * np.pi * max(self.rss, 1e-300) / m) + 1.0) + weights)

    def _likelihood_parameters(self) -> int:
        seen = self.problem.seen
        own = int(seen.output_of.max()) + 1 if seen.own else 1
        return len(self.names) + (0 if seen.known else own)

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 k - 2 log L, where an unknown sigma counts as a parameter."""
        return 2.0 * self._likelihood_parameters() + self.minus_two_log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, k log m - 2 log L, where an unknown sigma counts as a parameter."""
        penalty = self._likelihood_parameters() * np.log(len(self.residuals))
        return float(penalty + self.minus_two_log_likelihood)

    @property
    def t_values(self) -> np.ndarray:
        """Estimates by standard errors."""
        with np.errstate(divide="ignore"):
            return self.values / self.standard_errors

    @property
    def p_values(self) -> np.ndarray:
        """The probability of a t as large as each, were the parameter 0; two-sided."""
        t = extra("scipy.stats").t
        return np.asarray(2.0 * t.sf(np.abs(self.t_values), max(self.error_dof, 1e-9)))

    def confidence_intervals(self, level: float = 0.95, method: str = "wald") -> NamedMatrix:
        """Intervals that cover each parameter with a probability, one row a parameter.

        Args:
            level: the probability.
            method: "wald": the estimate with Student's t times the standard error on either side,
                of the logarithm where the scale is one. "profile": where the least sum of squares
                that other parameters allow exceeds the minimum by as much as the level allows;
                it follows the curvature of the model.
        """
        from .profile import profile_intervals

        if not 0 < number("level", level) < 1:
            raise SensitivityError(f"level must be between 0 and 1, as 0.95, got {level!r}")
        if method not in ("wald", "profile"):
            raise SensitivityError(f"method must be 'wald' or 'profile', got {method!r}")
        t = float(extra("scipy.stats").t.ppf(0.5 + level / 2, max(self.error_dof, 1e-9)))
        both = self._wald(t) if method == "wald" else profile_intervals(self, t)
        return NamedMatrix(both, self.names, ["lower", "upper"])

    def _wald(self, t: float) -> np.ndarray:
        """Estimate and t standard errors on either side, in the scale of each parameter."""
        problem, u = self.problem, self.standard_errors
        phi = problem.to_phi(self.values)
        half = t * u / problem.slope(phi)
        return np.stack([problem.to_theta(phi - half), problem.to_theta(phi + half)], axis=1)

    def _parameters(self) -> Parameters:
        """All parameters at the estimate, with the uncertainties that are known."""
        old = self.problem.predictor.parameters
        fitted = dict(zip(self.names, self.values.tolist(), strict=True))
        rows = []
        for name, p in old.details():
            if name in fitted:
                lower = -np.inf if p.lower is None else p.lower
                upper = np.inf if p.upper is None else p.upper
                p = replace(p, value=fitted[name], u=None)
                if not lower <= p.value <= upper:
                    p = replace(p, lower=None, upper=None)
            rows.append((name, p))
        out = Parameters(rows, old.correlation)
        full, dof = out.covariance, out.dof
        known = [n for n, u in zip(self.names, self.standard_errors, strict=True) if u < np.inf]
        inner, outer = self._places(known, self.names), self._places(known, out.names)
        full[np.ix_(outer, outer)] = self.covariance[np.ix_(inner, inner)]
        dof[outer] = self.error_dof if self.error_dof > 0 else np.inf
        out = out.with_covariance(full, dof)
        unknown = [n for n in self.names if n not in known]
        return out.replace(**{n: replace(out.parameter(n), u=None) for n in unknown})

    @staticmethod
    def _places(names: Sequence[str], among: Sequence[str]) -> list[int]:
        return [list(among).index(name) for name in names]

    def identifiability(self, tol: float | None = None, max_size: int = 4) -> Identifiability:
        """Which parameters the observations determine; see `Sensitivities.identifiability`."""
        return self.sensitivities.identifiability(tol, max_size)

    # --- predictions

    def predict(
        self,
        model: Callable[..., Any] | None = None,
        x: Any = None,
        level: float = 0.95,
        kind: str = "confidence",
        *,
        order: int = 1,
        sigma: Any = None,
        units: Any = None,
    ) -> Propagated:
        """What a model of the fitted parameters gives, with the uncertainty that the fit leaves.

        Args:
            model: model(p), or model(p, x) with x; a function or an analysis, as for `fit`; any
                that reads the same parameters. Default the model that was fitted.
            x: what the model is given beside p.
            level: the coverage probability of the band.
            kind: "confidence", of the prediction itself; "prediction", of a new observation of it.
            order: 2 corrects for the curvature of the model, which must be a function.
            sigma: for "prediction", the standard deviation of a new observation; default that of
                the data.
            units: of the outputs, by name or one for all.

        Returns:
            Propagated: `.interval()` is the band, `.budget()` what each parameter has to do with
            it.
        """
        from .fit_prediction import predict

        return predict(self, model, x, level, kind, order, sigma, units)

    # --- in pictures and words

    @property
    def plot(self) -> FitPlots:
        """The picture of the fit: `.plot.band()` draws data, estimate and band."""
        from ..plots import FitPlots

        return FitPlots(self)

    def table(self, level: float = 0.95) -> Table:
        """One row a parameter: value, standard error, t, p and interval."""
        from .fit_report import table

        return table(self, level)

    def report(self, level: float = 0.95, fmt: str = "text") -> str:
        """All there is to say about the fit, as text.

        Args:
            level: of the confidence intervals.
            fmt: "text", "markdown", "latex" or "html", of the table.
        """
        from .fit_report import report

        return report(self, level, fmt)

    def __repr__(self) -> str:
        pairs = ", ".join(
            f"{n} = {v:.6g} ± {u:.2g}"
            for n, v, u in zip(self.names[:6], self.values, self.standard_errors, strict=False)
        )
        return f"<FitResult {pairs}>"

    def _repr_html_(self) -> str:
        return f"<pre>{self.report()}</pre>"
