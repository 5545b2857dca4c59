"""An ensemble without times: how the values of each output are spread."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..parameters.unit_text import named
from .style import COLOURS, WIDTH, finish, new_figure, tidy_axes

if TYPE_CHECKING:
    from ..ensembles.result import Ensemble

__all__ = ["histograms"]


def histograms(
    ensemble: Ensemble,
    outputs: Iterable[str] | str | None = None,
    path: str | Path | None = None,
    *,
    title: str | None = None,
) -> Any:
    """One panel an output, with the median.

    Args:
        ensemble: members without times.
        outputs: which outputs, by name; default all.
        path: where the picture is written; default nowhere.
        title: default says how many members there are.

    Returns:
        The matplotlib figure.
    """
    names = [outputs] if isinstance(outputs, str) else list(outputs or ensemble.outputs)
    values = ensemble.values.reshape(len(ensemble), -1)[ensemble.ok]
    units = ensemble.template.units if ensemble.template else {}
    figure, panels = new_figure(WIDTH, 0.9 + 1.8 * len(names), len(names), 1)
    for c, (name, panel) in enumerate(zip(names, panels[:, 0], strict=True)):
        x = values[:, ensemble.output_index(name)]
        panel.hist(x, "sqrt", color=COLOURS[3], edgecolor="white", linewidth=0.5)
        label = "median" if not c else None
        panel.axvline(float(np.median(x)), color=COLOURS[0], lw=2.0, label=label)
        panel.set(xlabel=named(name, units.get(name)), ylabel="members")
        tidy_axes(panel, "y")
    figure.legend(loc="outside lower center", frameon=False)
    return finish(figure, path, title, f"{len(values)} members")
