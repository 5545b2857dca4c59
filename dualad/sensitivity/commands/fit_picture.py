"""The picture of a fit: data, estimate, and the band that the fit leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..fitting.fit_result import FitResult
from ..model_file import ModelFile
from ..parameters.unit_text import named
from ..plots.files import write_picture
from ..plots.fitted import columns_of
from ..plots.style import COLOURS, WIDTH, finish, new_figure, tidy_axes
from .fitted_model import Question

__all__ = ["draw"]


def draw(found: FitResult, path: Path, asked: Question, model: ModelFile, level: float) -> None:
    """One panel an observed output, over t or x."""
    assert asked.finer is not None
    course, x, fine = asked.finer
    band = found.predict(course, x, level=level)
    names = list(asked.data.seen)
    ((axis, places),) = asked.data.x.items()
    said = [f"{100 * level:.4g} % interval of the curve", "estimate", "data"]
    figure, panels = new_figure(WIDTH, 1.2 + 2.2 * len(names), len(names), 1, sharex=True)
    for c, (name, panel) in enumerate(zip(names, panels[:, 0], strict=True)):
        columns = columns_of(band, name, len(fine), len(names))
        label = said if not c else [None] * 3
        low, high = (edge.reshape(-1)[columns] for edge in band.interval())
        panel.fill_between(fine, low, high, color=COLOURS[3], alpha=0.5, lw=0, label=label[0])
        panel.plot(fine, band.mean.reshape(-1)[columns], color=COLOURS[0], lw=1.8, label=label[1])
        _draw_data(panel, places, asked, name, label[2])
        units = model.given.get("units")
        panel.set_ylabel(named(name, units if isinstance(units, str) else (units or {}).get(name)))
        tidy_axes(panel)
    time = axis in ("t", "time") and course is not asked.model
    unit = model.given.get("time_unit") if time else None
    panels[-1, 0].set_xlabel(named("time" if time else axis, unit))
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    write_picture(finish(figure, None, f"{model.name}: fitted to {len(places)} rows"), path)


def _draw_data(panel: Any, places: np.ndarray, asked: Question, name: str, label: Any) -> None:
    seen, sigma = asked.data.seen[name], asked.data.sigma
    spread = None if sigma is None else sigma[name]
    panel.errorbar(
        places, seen, spread, fmt="o", color="black", mfc="white", ms=4, lw=0.8, label=label
    )
