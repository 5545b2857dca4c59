"""What all pictures share: size, colours that survive greyscale, axes, where they are written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..extras import extra
from .files import write_picture
from .math_text import make_drawable

__all__ = ["COLOURS", "HATCHES", "MARKERS", "STYLES", "WIDTH", "finish", "new_figure", "tidy_axes"]

#: The width of a page, in inches.
WIDTH = 6.5
#: Okabe and Ito, Color Universal Design (2008), ordered so that neighbours differ in lightness.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#009E73", "#CC79A7", "#D55E00", "#F0E442")
STYLES = ("-", "--", "-.", ":")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "---")
MARKERS = "osD^vPX*"


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> Any:
    """A figure that needs no screen, and its panels as an array (rows, columns)."""
    figure = extra("matplotlib.figure").Figure(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, panels


def tidy_axes(panel: Any, grid: str = "both") -> None:
    """A frame of two lines, and a grid behind the data."""
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    if grid:
        panel.grid(True, axis=grid, color="0.88", linewidth=0.6)
    panel.set_axisbelow(True)


def finish(figure: Any, path: str | Path | None, title: str | None, default: str = "") -> Any:
    """Set the title, write the picture if there is a path, and return the figure."""
    text = default if title is None else title
    if text:
        figure.suptitle(text, fontsize=11)
    figure.align_ylabels()
    make_drawable(figure)
    if path is not None:
        write_picture(figure, path)
    return figure


def labels(parameters: Any, names: Sequence[str] | None = None) -> list[str]:
    """How pictures name the parameters."""
    return [parameters.label(name) for name in (names or parameters.names)]
