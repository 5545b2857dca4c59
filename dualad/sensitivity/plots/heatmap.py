"""A heat map of outputs by parameters, each cell with its number: its sign survives greyscale."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.scaling import kind_of, symbol
from ..analysis.summary import NORMS, rows_of
from .style import finish, labels, new_figure

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["heatmap"]

#: More cells than this are drawn without their numbers.
NUMBERED = 240


def heatmap(
    result: Sensitivities,
    path: str | Path | None = None,
    *,
    scaled: bool | str = "elasticity",
    by: str = "l2",
    title: str | None = None,
) -> Any:
    """Outputs by parameters; with times, the norm over them.

    Args:
        result: values and derivatives.
        path: where the picture is written; default nowhere.
        scaled: the scaling; see `Sensitivities.scaled`.
        by: the norm over time: "l1", "l2" or "max".
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    kind = kind_of(scaled)
    rows = rows_of(result, kind)
    timed = result.row_labels() is not None
    cells = NORMS[by](np.abs(rows)) if timed else rows[0]
    names = labels(result.parameters)
    n, k = cells.shape
    figure, ((panel,),) = _sized(n, k, names, result.outputs)
    largest = float(np.nanmax(np.abs(cells), initial=0.0)) or 1.0
    sequential = timed or not (np.nan_to_num(cells) < 0).any()
    limits = (0.0, largest) if sequential else (-largest, largest)
    image = panel.imshow(
        np.ma.masked_invalid(cells), "YlGnBu" if sequential else "PuOr", aspect="auto",
        vmin=limits[0], vmax=limits[1],
    )  # fmt: skip
    panel.set_facecolor("0.8")
    if _must_turn(k, names):
        panel.set_xticks(range(k), names, rotation=45, ha="right", rotation_mode="anchor")
    else:
        panel.set_xticks(range(k), names)
    panel.set_yticks(range(n), result.outputs)
    panel.tick_params(labelsize=9 if max(n, k) <= 30 else 7)
    if n * k <= NUMBERED:
        _number(panel, cells, image)
    over = f"\n{by} over time" if timed else ""
    figure.colorbar(image, ax=panel, label=f"{symbol(kind)}{over}", shrink=0.9)
    panel.set_xlabel("parameter")
    panel.set_ylabel("output")
    return finish(figure, path, title)


def _must_turn(k: int, names: list[str]) -> bool:
    """Whether the names of the columns do not fit side by side."""
    return max(map(len, names)) > (7 if k <= 8 else 2)


def _sized(n: int, k: int, names: list[str], outputs: tuple[str, ...]) -> Any:
    """A figure with room for the cells and their names."""
    letter = 0.085
    turned = 0.7 * letter * max(map(len, names)) if _must_turn(k, names) else 0.0
    width = 1.9 + 0.62 * k + letter * max(map(len, outputs))
    return new_figure(min(9.0, max(3.5, width)), min(11.0, 1.1 + max(1.0, 0.36 * n) + turned))


def _number(panel: Any, cells: np.ndarray, image: Any) -> None:
    """Write each number into its cell, dark on light and light on dark."""
    for i, j in np.ndindex(cells.shape):
        x = cells[i, j]
        text = f"{x:.2g}" if np.isfinite(x) else "–"
        r, g, b, _ = image.cmap(image.norm(x)) if np.isfinite(x) else (0.8, 0.8, 0.8, 1.0)
        light = 0.299 * r + 0.587 * g + 0.114 * b
        panel.text(
            j, i, text, ha="center", va="center", fontsize=8,
            color="black" if light > 0.5 else "white",
        )  # fmt: skip
