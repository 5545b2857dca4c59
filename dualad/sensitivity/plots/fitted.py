"""A fit: the observations, the estimate, and the band that the fit leaves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..parameters.unit_text import named
from .style import COLOURS, WIDTH, finish, new_figure, tidy_axes
from .time import logarithmic

if TYPE_CHECKING:
    from ..fitting.fit_result import FitResult
    from ..results.propagated import Propagated

__all__ = ["columns_of", "fitted"]

#: How many places the curve is drawn through, where the model can be asked for any.
FINE = 200


def fitted(
    fit: FitResult,
    outputs: Iterable[str] | str | None = None,
    path: str | Path | None = None,
    *,
    x: Any = None,
    level: float = 0.95,
    kind: str = "confidence",
    title: str | None = None,
) -> Any:
    """One panel an observed output: data, with their standard deviations where known, and curve.

    Args:
        fit: a fit of a model of times, or of one-dimensional x.
        outputs: which of the observed outputs, by name; default all.
        path: where the picture is written; default nowhere.
        x: where the curve is drawn; default 200 places between those of the data, for a model
            that is given x, else those of the data.
        level: the coverage probability of the band.
        kind: "confidence", a band for the curve; "prediction", for a new observation.
        title: default says which parameters were fitted.

    Returns:
        The matplotlib figure.

    Raises:
        SensitivityError: the observations are not a row over times or x.
    """
    places, seen = observed(fit)
    if x is None and fit.problem.predictor.args:
        spaced = np.geomspace if logarithmic(np.sort(places)) else np.linspace
        x = spaced(places.min(), places.max(), FINE)
    x = None if x is None else np.asarray(x, float)
    band = fit.predict(x=x, level=level, kind=kind)
    times = band.result.row_labels()
    along = places if x is None else x
    names = (
        list(seen) if outputs is None else [outputs] if isinstance(outputs, str) else [*outputs]
    )
    figure, panels = new_figure(WIDTH, 1.2 + 2.2 * len(names), len(names), 1, sharex=True)
    words = [f"{100 * level:.4g} % interval", "estimate", "data"]
    order = np.argsort(along)
    for name, panel in zip(names, panels[:, 0], strict=True):
        if name not in seen:
            raise SensitivityError(f"{name!r} was not observed; there is {', '.join(seen)}")
        at = columns_of(band, name, len(along), len(seen))[order]
        low, high = (edge.reshape(-1)[at] for edge in band.interval())
        panel.fill_between(
            along[order], low, high, color=COLOURS[3], alpha=0.45, lw=0, label=words[0]
        )
        panel.plot(along[order], band.mean.reshape(-1)[at], color=COLOURS[0], lw=1.8,
                   label=words[1])  # fmt: skip
        where, y, sigma = seen[name]
        panel.errorbar(
            where, y, sigma, fmt="o", color="black", mfc="white", ms=4, lw=0.8, label=words[2]
        )
        panel.set_ylabel(named(name, band.result.output_units.get(name)))
        tidy_axes(panel)
        words = [f"_{word}" for word in words]
    if logarithmic(along):
        panels[-1, 0].set_xscale("log")
    unit = getattr(band.result, "time_unit", None)
    panels[-1, 0].set_xlabel("x" if times is None else named("time", unit))
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return finish(figure, path, title, f"fitted: {', '.join(fit.names)}")


def observed(fit: FitResult) -> tuple[np.ndarray, dict[str, tuple]]:
    """The places of the data, and (places, observations, standard deviations) of each output."""
    predictor, seen = fit.problem.predictor, fit.problem.seen
    if predictor.args:
        given = predictor.args[0]
    else:
        given = fit.predict().result.row_labels()
    places = np.asarray(np.nan if given is None else given)
    if places.ndim != 1 or places.dtype.kind not in "fiu":
        raise SensitivityError(
            "a fit is drawn over times, or over one-dimensional x: give fit(..., x=...), or draw "
            "fit.predict(...).plot.band(data={...}) of what has times"
        )
    names = seen.names
    if names is None:
        outputs = fit.predict().outputs
        names = outputs if len(outputs) == 1 else ("y",)
    if len(seen.kept) != len(names) * len(places):
        raise SensitivityError(
            f"a fit is drawn where each output has one observation for each of the {len(places)} "
            f"places; {', '.join(names)} have {len(seen.kept)} in all"
        )
    out: dict[str, tuple] = {}
    for k, (name, kept) in enumerate(zip(names, seen.kept.reshape(len(names), -1), strict=True)):
        mine = seen.output_of == k if len(names) > 1 else slice(None)
        out[name] = places[kept], seen.y[mine], seen.sigma[mine] if seen.known else None
    return places.astype(float), out


def columns_of(band: Propagated, name: str, rows: int, observed: int) -> np.ndarray:
    """Where the values of one output stand in a flat prediction."""
    result: Any = band.result
    if result.row_labels() is not None:
        return result.output_index(name) + len(result.outputs) * np.arange(rows)
    if name in (result.layout or {}):
        return result.output_index(result.layout[name][0]) + np.arange(rows)
    assert observed == 1
    return np.arange(rows)
