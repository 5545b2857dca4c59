"""Norms of scaled sensitivities, and the parameters ranked by them.

The norms are those of Soetaert and Petzoldt, Inverse modelling, sensitivity and Monte Carlo
analysis in R using package FME, J. Stat. Softw. 33 (2010): means, so that results with more times
are comparable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..given import one_of
from ..results.tabular import Table
from .scaling import kind_of, notes_on, scaled, symbol

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["NORMS", "ranking", "rows_of", "summary"]


def _ignoring_nan(reduce: Any) -> Any:
    """A reduction over the first axis that leaves out what is not finite, NaN if all is."""

    def reduced(a: np.ndarray) -> np.ndarray:
        if not len(a):
            return np.full(a.shape[1:], np.nan)
        kept = np.ma.masked_invalid(a)
        return np.asarray(np.ma.filled(reduce(kept), np.nan), float)

    return reduced


NORMS = {
    "l1": _ignoring_nan(lambda a: np.ma.mean(np.ma.abs(a), axis=0)),
    "l2": _ignoring_nan(lambda a: np.ma.sqrt(np.ma.mean(a**2, axis=0))),
    "mean": _ignoring_nan(lambda a: np.ma.mean(a, axis=0)),
    "min": _ignoring_nan(lambda a: np.ma.min(a, axis=0)),
    "max": _ignoring_nan(lambda a: np.ma.max(a, axis=0)),
}


def rows_of(result: Sensitivities, kind: bool | str) -> np.ndarray:
    """Scaled sensitivities as (rows, outputs, k), a row a time."""
    return scaled(result, kind).reshape(result.flat()[1].shape)


def summary(result: Sensitivities, norm: str | None, kind: bool | str) -> Any:
    """See `Sensitivities.summary`."""
    kind = kind_of(kind)
    timed = result.row_labels() is not None
    rows = rows_of(result, kind)
    rows = rows if timed else rows[0]
    if norm is not None:
        return NORMS[one_of("norm", norm, NORMS)](rows)
    found = [f(rows) for f in NORMS.values()]
    title = f"{symbol(kind)}, over {'time' if timed else 'the outputs'}"
    names, notes = result.parameters.names, notes_on(result, kind)
    if not timed:
        body = [(p, *(float(a[j]) for a in found)) for j, p in enumerate(names)]
        return Table(["parameter", *NORMS], body, title, notes)
    body = [
        (output, p, *(float(a[i, j]) for a in found))
        for i, output in enumerate(result.outputs)
        for j, p in enumerate(names)
    ]
    return Table(["output", "parameter", *NORMS], body, title, notes)


def ranking(result: Sensitivities, output: str | None, by: str, kind: bool | str) -> Table:
    """See `Sensitivities.ranking`."""
    if by not in ("l1", "l2", "max"):
        raise SensitivityError(f"by must be 'l1', 'l2' or 'max', got {by!r}")
    kind = kind_of(kind)
    rows = rows_of(result, kind)
    if output is not None:
        at = result.output_index(output)
        rows = rows[:, at : at + 1]
    size = NORMS[by](np.abs(rows).reshape(-1, rows.shape[-1]))
    order = np.argsort(-np.nan_to_num(size, nan=-1.0), kind="stable")
    body = [(i + 1, result.parameters.names[j], float(size[j])) for i, j in enumerate(order)]
    title = f"|{symbol(kind)}| of {output or 'all outputs'}"
    return Table(["rank", "parameter", by], body, title, notes_on(result, kind))
