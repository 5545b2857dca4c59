"""Pairs: the sensitivities by each two parameters against each other, and their correlation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.scaling import kind_of, symbol
from ..analysis.summary import rows_of
from ..errors import SensitivityError
from .style import COLOURS, MARKERS, finish, labels, new_figure, tidy_axes

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["pairs"]

#: More parameters than this are not legible.
MANY = 12


def pairs(
    result: Sensitivities,
    path: str | Path | None = None,
    *,
    scaled: bool | str = "p",
    title: str | None = None,
) -> Any:
    """A matrix of panels: points below the diagonal, correlations above it.

    Points on a line mean that the two parameters cannot be told apart.

    Args:
        result: values and derivatives; a point is an output at a time.
        path: where the picture is written; default nowhere.
        scaled: the scaling; see `Sensitivities.scaled`.
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    kind = kind_of(scaled)
    rows = rows_of(result, kind)
    k = rows.shape[-1]
    if not 2 <= k <= MANY:
        raise SensitivityError(f"pairs are drawn of 2 up to {MANY} parameters, there are {k}")
    names = labels(result.parameters)
    size = min(9.0, 1.2 + 1.3 * k)
    figure, panels = new_figure(size, size, k, k)
    for a in range(k):
        for b in range(k):
            panel = panels[a, b]
            if a > b:
                _points(panel, rows[..., b], rows[..., a], result.outputs)
            else:
                _word(panel, names[a] if a == b else _correlation(rows, a, b), a == b)
    for i in range(1, k):
        panels[i, 0].set_ylabel(f"by {names[i]}", fontsize=9)
        panels[-1, i - 1].set_xlabel(f"by {names[i - 1]}", fontsize=9)
    handles, texts = panels[1, 0].get_legend_handles_labels()
    if 1 < len(texts) <= 8:
        figure.legend(handles, texts, loc="outside lower center", ncols=4, frameon=False)
    return finish(figure, path, title, f"{symbol(kind)} by each two parameters")


def _points(panel: Any, x: np.ndarray, y: np.ndarray, outputs: tuple[str, ...]) -> None:
    if len(outputs) <= 8 and len(x) > 1:
        for i, name in enumerate(outputs):
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[i % len(MARKERS)]
            panel.plot(x[:, i], y[:, i], marker, color=colour, ms=3, label=name)
    else:
        panel.plot(x.ravel(), y.ravel(), "o", color=COLOURS[0], ms=3)
    panel.tick_params(labelsize=7)
    panel.ticklabel_format(style="sci", scilimits=(-2, 3), useMathText=True)
    for axis in (panel.xaxis, panel.yaxis):
        axis.get_offset_text().set_fontsize(7)
        axis.set_major_locator(_few_ticks())
    tidy_axes(panel)


def _few_ticks() -> Any:
    from ..extras import extra

    return extra("matplotlib.ticker").MaxNLocator(3)


def _word(panel: Any, text: str, is_name: bool) -> None:
    panel.axis("off")
    panel.text(
        0.5, 0.5, text, ha="center", va="center", transform=panel.transAxes,
        fontsize=12 if is_name else 10, weight="bold" if is_name else "normal",
    )  # fmt: skip


def _correlation(rows: np.ndarray, a: int, b: int) -> str:
    x, y = rows[..., a].ravel(), rows[..., b].ravel()
    spread = float(np.std(x) * np.std(y))
    if not spread > 0:
        return "–"
    return f"{np.mean((x - x.mean()) * (y - y.mean())) / spread:.3f}"
