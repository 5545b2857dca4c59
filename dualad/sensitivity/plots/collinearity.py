"""Collinearity indices of all sets of parameters, by the size of the set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .style import COLOURS, WIDTH, finish, new_figure, tidy_axes

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["collinearity"]

#: Above this, a set is hard to estimate: Brun, Reichert and Kuensch (2001) find 5 to 20.
LIMIT = 20.0


def collinearity(
    result: Sensitivities,
    path: str | Path | None = None,
    *,
    max_size: int = 4,
    title: str | None = None,
) -> Any:
    """A point a set; sets that are not identifiable lie on the uppermost line.

    Args:
        result: values and derivatives.
        path: where the picture is written; default nowhere.
        max_size: the size up to which sets are made.
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    table = result.collinearity(max_size=max_size)
    size = np.array(table["size"], float)
    index = np.array(table["index"], float)
    finite = np.isfinite(index)
    top = 3.0 * max(LIMIT, float(index[finite].max(initial=LIMIT)))
    figure, ((panel,),) = new_figure(WIDTH, 3.6)
    spread = np.random.default_rng(0).uniform(-0.12, 0.12, len(size))
    panel.plot((size + spread)[finite], index[finite], "o", color=COLOURS[0], ms=4, label="set")
    if not finite.all():
        panel.plot(
            (size + spread)[~finite], np.full((~finite).sum(), top), "^", color=COLOURS[6], ms=6,
            label="not identifiable (infinite)",
        )  # fmt: skip
    panel.axhline(
        LIMIT, color="0.3", linestyle="--", linewidth=1, label=f"{LIMIT:g}: hard to tell apart"
    )
    panel.set_yscale("log")
    panel.set_xticks(sorted(set(table["size"])))
    panel.set_xlabel("parameters in the set")
    panel.set_ylabel("collinearity index")
    tidy_axes(panel)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return finish(figure, path, title)
