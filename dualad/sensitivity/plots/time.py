"""Time courses of sensitivities: one panel an output, one line a parameter."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.scaling import kind_of, symbol
from ..analysis.summary import rows_of
from ..extras import extra
from ..parameters.unit_text import named, quotient
from .style import COLOURS, MARKERS, STYLES, WIDTH, finish, new_figure, tidy_axes

if TYPE_CHECKING:
    from ..results.time_sensitivities import TimeSensitivities

__all__ = ["logarithmic", "smooth", "time"]

#: Up to how many times are marked.
MARKED = 40


def time(
    result: TimeSensitivities,
    outputs: Iterable[str] | str | None = None,
    parameters: Iterable[str] | str | None = None,
    path: str | Path | None = None,
    *,
    scaled: bool | str = "p",
    values: bool = False,
    title: str | None = None,
) -> Any:
    """Scaled sensitivities over time; over many decades the axis of time is logarithmic.

    Args:
        result: time courses and derivatives; with dense output, the lines are smooth.
        outputs: which outputs, by name; default all.
        parameters: which parameters, by name; default all.
        path: where the picture is written; default nowhere.
        scaled: the scaling; see `Sensitivities.scaled`.
        values: write the values of the parameters beside their names.
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    kind = kind_of(scaled)
    shown = _chosen(outputs, result.outputs)
    columns = [result.output_index(name) for name in shown]
    chosen = _chosen(parameters, result.parameters.names)
    dense = smooth(result)
    figure, panels = new_figure(WIDTH, 1.1 + 1.9 * len(shown), len(shown), 1, sharex=True)
    for i, panel in zip(columns, panels[:, 0], strict=True):
        for c, name in enumerate(chosen):
            j = result.parameter_index(name)
            label = result.parameters.label(name)
            label += f" = {result.parameters[name]:.4g}" if values else ""
            _line(panel, result, dense, kind, (i, j, c), label)
        panel.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
        panel.set_ylabel(_label(result, result.outputs[i], chosen, kind))
        panel.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
        tidy_axes(panel)
    panels[-1, 0].set_xlabel(named("time", result.time_unit))
    if logarithmic(result.t):
        panels[-1, 0].set_xscale("log")
        panels[-1, 0].xaxis.set_major_locator(extra("matplotlib.ticker").LogLocator(numticks=20))
    handles, texts = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, texts, loc="outside lower center", ncols=min(5, len(texts)), frameon=False
    )
    return finish(figure, path, title, f"sensitivities {symbol(kind)} by each parameter p")


def _line(
    panel: Any,
    result: TimeSensitivities,
    dense: Any,
    kind: str,
    at: tuple[int, int, int],
    label: str,
) -> None:
    """The course of output i by parameter j, in colour c."""
    i, j, c = at
    colour, style = COLOURS[c % len(COLOURS)], STYLES[c % len(STYLES)]
    panel.plot(dense.t, rows_of(dense, kind)[:, i, j], style, color=colour, lw=1.7, label=label)
    if len(result.t) <= MARKED:
        marker = MARKERS[c % len(MARKERS)]
        panel.plot(result.t, rows_of(result, kind)[:, i, j], marker, color=colour, ms=4)


def smooth(result: TimeSensitivities) -> TimeSensitivities:
    """The result at times that make smooth lines, if its dense output was kept."""
    if result.dense is None or len(result.t) < 2:
        return result
    first, last = result.t[0], result.t[-1]
    space = np.geomspace if logarithmic(result.t) else np.linspace
    t = np.clip(space(first, last, 400), min(first, last), max(first, last))
    y, s = result.at(t)
    if y.shape[1:] != result.y.shape[1:]:
        return result
    return result.replace(t=t, y=y, S=s, hessian=None, dt=None)


def _label(result: TimeSensitivities, output: str, chosen: list[str], kind: str) -> str:
    """What is drawn, of this output, with its unit."""
    unit = result.output_units.get(output, "")
    if kind == "none":
        units = {quotient(unit, result.parameters.units[p] or "") for p in chosen}
        unit = units.pop() if len(units) == 1 else ""
    elif kind in ("y", "elasticity"):
        unit = ""
    return named(symbol(kind).replace("y", output), unit)


def _chosen(names: Iterable[str] | str | None, known: tuple[str, ...]) -> list[str]:
    if names is None:
        return list(known)
    return [names] if isinstance(names, str) else list(names)


def logarithmic(t: np.ndarray) -> bool:
    """Whether times span more than two decades, and are not crowded at the end of a log axis.

    Equally spaced times are: half of them lie within its last third of a decade.
    """
    if not (t.min() > 0 and t.max() / t.min() > 100):
        return False
    middle = np.log(np.median(t) / t.min()) / np.log(t.max() / t.min())
    return bool(len(t) < 3 or middle < 0.75)
