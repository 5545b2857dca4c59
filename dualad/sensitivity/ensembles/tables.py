"""An ensemble as tables: one row a member, and a row an output with what the members spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..parameters.unit_text import named
from ..results.tabular import Table

if TYPE_CHECKING:
    from .result import Ensemble

__all__ = ["members_table", "summary_table"]


def members_table(ensemble: Ensemble, outputs: Sequence[str] | None = None) -> Table:
    """One row a member (and time): its set, its outputs, their derivatives, its error.

    Args:
        ensemble: the members.
        outputs: which outputs, by name; default all.
    """
    names = list(ensemble.outputs if outputs is None else outputs)
    at = [ensemble.output_index(name) for name in names]
    m, k = len(ensemble.outputs), ensemble.parameters
    values = ensemble.values.reshape(len(ensemble), -1, m)
    slopes = ensemble.jacobian.reshape(len(ensemble), -1, m, len(k))
    errors = {failure.index: failure.error for failure in ensemble.failed}
    times = ensemble.t
    head = ["member", *ensemble.sets.names, *([] if times is None else ["t"]), *names]
    marks = [f"d{name}/d{p}" for name in names for p in k]
    rows: list[tuple[Any, ...]] = []
    for i, r in np.ndindex(values.shape[:2]):
        time = () if times is None else (float(times[r]),)
        own = (i, *ensemble.sets.values[i].tolist(), *time)
        found = (*values[i, r, at].tolist(), *slopes[i, r, at].reshape(-1).tolist())
        rows.append((*own, *found, errors.get(i, "")))
    return Table([*head, *marks, "error"], rows)


def summary_table(ensemble: Ensemble) -> Table:
    """Mean, spread and quantiles of each output, at each time."""
    low, middle, high = (a.reshape(-1) for a in ensemble.quantiles((0.025, 0.5, 0.975)))
    numbers = zip(
        ensemble.mean().reshape(-1), ensemble.std().reshape(-1), low, middle, high, strict=True
    )
    template, t, n = ensemble.template, ensemble.t, len(ensemble.outputs)
    units = {} if template is None else template.units
    head = [] if t is None else [named("t", None if template is None else template.time_unit)]
    rows = []
    for i, x in enumerate(numbers):
        name = ensemble.outputs[i % n]
        unit = (units.get(name, ""),) if units else ()
        time = () if t is None else (float(t[i // n]),)
        rows.append((*time, name, *unit, *map(float, x)))
    head += ["output", *(["unit"] if units else []), "mean", "sd", "2.5 %", "median", "97.5 %"]
    title = f"{int(ensemble.ok.sum())} of {len(ensemble)} members"
    notes = [f"member {f.index} failed: {f.error}" for f in ensemble.failed[:5]]
    return Table(head, rows, title, notes)
