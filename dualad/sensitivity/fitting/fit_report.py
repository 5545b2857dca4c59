"""A fit in words: what was done, the parameters as a table, and their correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..results.tabular import Table

if TYPE_CHECKING:
    from .fit_result import FitResult

__all__ = ["report", "table"]


def table(fit: FitResult, level: float = 0.95) -> Table:
    """See `FitResult.table`."""
    both = fit.confidence_intervals(level).values
    columns = ["parameter", "value", "standard error", "unit", "t", "p",
               f"{100 * level:.4g} % from", "to"]  # fmt: skip
    numbers = zip(
        fit.values, fit.standard_errors, fit.t_values, fit.p_values, *both.T, strict=True
    )
    rows = []
    for name, row in zip(fit.names, numbers, strict=True):
        value, u, t, p, low, high = map(float, row)
        rows.append((name, value, u, fit.params.parameter(name).unit or "", t, p, low, high))
    return Table(columns, rows, "", [])


def report(fit: FitResult, level: float = 0.95, fmt: str = "text") -> str:
    """See `FitResult.report`."""
    seen, predictor = fit.problem.seen, fit.problem.predictor
    weighted = "" if not seen.known else ", weighted by given standard deviations"
    lines = [
        f"{predictor.name}: {len(fit.names)} parameters fitted to {len(seen.y)} observations"
        f"{weighted}",
        f"sum of squares {fit.rss:.6g}, {fit.dof} degrees of freedom, residual standard "
        f"deviation {fit.residual_sd:.6g}",
        f"AIC {fit.aic:.6g}, BIC {fit.bic:.6g}; {fit.settings['method']}, loss "
        f"{fit.settings['loss']}, {fit.stats['evaluations']} evaluations, "
        f"{fit.stats['wall']:.2f} s",
    ]
    fixed = [n for n in predictor.parameters if n not in fit.names]
    if fixed:
        values = predictor.parameters
        lines.append("held: " + ", ".join(f"{n} = {values[n]:g}" for n in fixed))
    parts = ["\n".join(lines), table(fit, level).render(fmt), correlated(fit)]
    return "\n\n".join(p for p in [*parts, "\n".join(fit.warnings)] if p) + "\n"


def correlated(fit: FitResult) -> str:
    """The correlations worth a look, the strongest first."""
    r = fit.correlation
    i, j = np.triu_indices(len(fit.names), 1)
    strong = [
        (float(r[a, b]), fit.names[a], fit.names[b])
        for a, b in zip(i, j, strict=True)
        if abs(r[a, b]) > 0.1
    ]
    strong.sort(key=lambda row: -abs(row[0]))
    return "\n".join(f"correlation of {a} and {b}: {v:.4f}" for v, a, b in strong[:12])
