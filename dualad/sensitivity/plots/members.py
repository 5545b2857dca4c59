"""An ensemble over time: the median, and the range that holds most of the members."""

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
    from ..ensembles.result import Ensemble

__all__ = ["members"]

#: Up to so many times each is marked, so that the lines between them are taken for what they are.
FEW = 25


def members(
    ensemble: Ensemble,
    outputs: Iterable[str] | str | None = None,
    path: str | Path | None = None,
    *,
    level: float = 0.95,
    lines: int = 10,
    title: str | None = None,
) -> Any:
    """One panel an output: the median, the central range of a level, and some members.

    Args:
        ensemble: members with the same times.
        outputs: which outputs, by name; default all.
        path: where the picture is written; default nowhere.
        level: the part of the members that lies within the range.
        lines: how many members are drawn as lines of their own.
        title: default says how many members there are.

    Returns:
        The matplotlib figure.
    """
    t = ensemble.t
    if t is None:
        raise SensitivityError("members are drawn over time, and these have no times")
    names = [outputs] if isinstance(outputs, str) else list(outputs or ensemble.outputs)
    low, middle, high = ensemble.quantiles((0.5 - level / 2, 0.5, 0.5 + level / 2))
    units = ensemble.template.units if ensemble.template else {}
    figure, panels = new_figure(WIDTH, 1.2 + 2.0 * len(names), len(names), 1, sharex=True)
    for c, (name, panel) in enumerate(zip(names, panels[:, 0], strict=True)):
        i = ensemble.output_index(name)
        panel.fill_between(
            t, low[:, i], high[:, i], color=COLOURS[3], alpha=0.45, linewidth=0,
            label=f"{100 * level:.4g} % of the members" if not c else None,
        )  # fmt: skip
        for m in np.flatnonzero(ensemble.ok)[:lines]:
            panel.plot(t, ensemble.values[m, :, i], color="0.45", lw=0.5)
        panel.plot(
            t, middle[:, i], color=COLOURS[0], lw=2.0, label="median" if not c else None,
            marker="o" if len(t) <= FEW else None, ms=4,
        )  # fmt: skip
        panel.set_ylabel(named(name, units.get(name)))
        tidy_axes(panel)
    panels[-1, 0].set_xlabel(
        named("time", ensemble.template.time_unit if ensemble.template else None)
    )
    if logarithmic(t):
        panels[-1, 0].set_xscale("log")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    return finish(figure, path, title, f"{int(ensemble.ok.sum())} members")
