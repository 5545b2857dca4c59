"""A picture of scaled sensitivity time courses: one panel a state, one line a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .errors import SensitivityError
from .extras import extra
from .result import TimeSensitivities

__all__ = ["check_picture", "save_time_courses"]

#: Colours that the colour-blind can tell apart: Okabe and Ito, Color Universal Design (2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
STYLES = ("-", "--", "-.", ":")
MARKERS = "osD^vPX*"
#: Up to how many times of the result are marked.
MARKED = 40


def check_picture(path: str | Path) -> Path:
    """The path, resolved, if a picture can be written there: asked before a long run, not after.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SensitivityError: there is no such folder, or the ending of the name is no picture format.
    """
    formats = extra("matplotlib.backends.backend_agg").FigureCanvasAgg.get_supported_filetypes()
    path = Path(path).resolve()
    if not path.parent.is_dir():
        raise SensitivityError(f"the picture {path} cannot be written: there is no such folder")
    if path.suffix.lstrip(".").lower() not in formats:
        raise SensitivityError(
            f"the picture {path.name} must end with one of .{', .'.join(sorted(formats))}"
        )
    return path


def save_time_courses(result: TimeSensitivities, path: str | Path, title: str = "") -> Path:
    """Write p_j dy_i/dp_j over time as a picture; over many decades the time axis is logarithmic.

    Marks are the times of the result; the lines between them need its dense output.

    Returns:
        The path, resolved.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SensitivityError: the file cannot be written.
    """
    path = check_picture(path)
    n = len(result.outputs)
    figure = extra("matplotlib.figure").Figure(figsize=(9.0, 1.4 + 2.2 * n), layout="constrained")
    panels = figure.subplots(n, 1, sharex=True, squeeze=False)[:, 0]
    for i, panel in enumerate(panels):
        _panel(panel, result, i)
    few = len(result.t) <= MARKED
    panels[-1].set_xlabel("time $t$" + (" (marks: the times of the result)" if few else ""))
    if _logarithmic(result.t):
        panels[-1].set_xscale("log")
        panels[-1].xaxis.set_major_locator(extra("matplotlib.ticker").LogLocator(numticks=20))
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6))
    figure.suptitle(title or "Scaled sensitivities", fontsize=12)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise SensitivityError(f"the picture {path} cannot be written: {error}") from error
    return path


def _panel(panel: Any, result: TimeSensitivities, i: int) -> None:
    """The courses of one state by all parameters."""
    name = result.outputs[i]
    t, courses = _courses(result)
    marks = result.scaled()
    panel.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    for j, parameter in enumerate(result.parameters):
        colour, style = COLOURS[j % len(COLOURS)], STYLES[j // len(COLOURS) % len(STYLES)]
        label = f"{parameter} = {result.parameters[parameter]:g}"
        panel.plot(t, courses[:, i, j], style, color=colour, linewidth=1.8, label=label)
        if len(result.t) <= MARKED:
            marker = MARKERS[j % len(MARKERS)]
            panel.plot(result.t, marks[:, i, j], marker, color=colour, markersize=4)
    panel.set_ylabel(f"$p\\;\\partial\\,${name}$\\,/\\,\\partial p$", fontsize=12)
    panel.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    panel.grid(True, color="0.9", linewidth=0.6)
    panel.margins(x=0.02)


def _courses(result: TimeSensitivities) -> tuple[np.ndarray, np.ndarray]:
    """Times that make smooth lines, and the scaled sensitivities there."""
    if result.dense is None:
        return result.t, result.scaled()
    first, last = result.t[0], result.t[-1]
    space = np.geomspace if _logarithmic(result.t) else np.linspace
    t = np.clip(space(first, last, 600), min(first, last), max(first, last))
    return t, result.at(t)[1] * result.parameters.vector()


def _logarithmic(t: np.ndarray) -> bool:
    return bool(t.min() > 0 and t.max() / t.min() > 100)
