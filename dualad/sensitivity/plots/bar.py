"""Bars: the size of each parameter's influence, one group a parameter, one bar an output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.scaling import kind_of, symbol
from ..analysis.summary import NORMS, rows_of
from .style import COLOURS, HATCHES, WIDTH, finish, labels, new_figure, tidy_axes

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["bar"]

#: More outputs than this make no bars of their own: their norm does.
MANY = 6


def bar(
    result: Sensitivities,
    output: str | None = None,
    path: str | Path | None = None,
    *,
    scaled: bool | str = "elasticity",
    by: str = "l2",
    most: int = 25,
    title: str | None = None,
) -> Any:
    """Horizontal bars, the most influential parameter on top.

    Args:
        result: values and derivatives.
        output: one output alone; default all, or their norm where there are more than six.
        path: where the picture is written; default nowhere.
        scaled: the scaling; see `Sensitivities.scaled`.
        by: the norm over time, where there are times: "l1", "l2" or "max".
        most: how many parameters are shown at most.
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    kind = kind_of(scaled)
    rows = rows_of(result, kind)
    timed = result.row_labels() is not None
    sizes = NORMS[by](np.abs(rows)) if timed else rows[0]
    shown = list(result.outputs)
    if output is not None:
        sizes, shown = sizes[[result.output_index(output)]], [output]
    elif len(shown) > MANY:
        sizes, shown = NORMS[by](np.abs(sizes))[np.newaxis], [f"{by} norm of {len(shown)} outputs"]
    sizes = np.nan_to_num(sizes)
    order = np.argsort(np.abs(sizes).max(axis=0), kind="stable")[-most:]
    names = labels(result.parameters)
    each = 0.8 / len(shown)
    figure, ((panel,),) = new_figure(WIDTH, 1.3 + 0.34 * len(order) * max(1, len(shown) / 2))
    for i, name in enumerate(shown):
        at = np.arange(len(order)) + 0.4 - each * (i + 0.5)
        panel.barh(
            at, sizes[i, order], each, label=name, color=COLOURS[i % len(COLOURS)],
            hatch=HATCHES[i % len(HATCHES)], edgecolor="white", linewidth=0.5,
        )  # fmt: skip
    panel.set_yticks(np.arange(len(order)), [names[j] for j in order])
    panel.axvline(0.0, color="0.3", linewidth=0.8)
    over = f" ({by} over time)" if timed else ""
    panel.set_xlabel(f"{symbol(kind)}{over}")
    panel.set_ylim(-0.6, len(order) - 0.4)
    tidy_axes(panel, "x")
    if len(shown) > 1:
        figure.legend(loc="outside lower center", ncols=min(4, len(shown)), frameon=False)
    default = shown[0] if len(shown) == 1 else ""
    if len(order) < len(names):
        default = f"{default} ({len(order)} of {len(names)} parameters)".strip()
    return finish(figure, path, title, default)
