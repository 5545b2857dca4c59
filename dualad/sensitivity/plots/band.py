"""Outputs over time with the band of their uncertainty, and budgets as bars."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..parameters.unit_text import named
from .style import COLOURS, HATCHES, WIDTH, finish, labels, new_figure, tidy_axes
from .time import logarithmic

if TYPE_CHECKING:
    from ..results.propagated import Propagated

__all__ = ["band", "budget"]


def band(
    propagated: Propagated,
    outputs: Iterable[str] | str | None = None,
    path: str | Path | None = None,
    *,
    level: float | None = None,
    data: Any = None,
    title: str | None = None,
) -> Any:
    """Each output over time with its coverage interval.

    Args:
        propagated: outputs with uncertainties, over time or over the entries of an array.
        outputs: which outputs, by name; default all.
        path: where the picture is written; default nowhere.
        level: the coverage probability; default that of the propagation.
        data: observations to draw beside: by the name of an output, a pair (t, y).
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    result: Any = propagated.result
    times = result.row_labels()
    if times is None:
        raise SensitivityError("a band is drawn over time, and this result has no times")
    names = [outputs] if isinstance(outputs, str) else list(outputs or result.outputs)
    low, high = propagated.interval(level)
    percent = 100 * (propagated.level if level is None else level)
    figure, panels = new_figure(WIDTH, 1.2 + 2.0 * len(names), len(names), 1, sharex=True)
    order = np.argsort(times)
    for c, (name, panel) in enumerate(zip(names, panels[:, 0], strict=True)):
        i = result.output_index(name)
        panel.fill_between(
            times[order], low[order, i], high[order, i], color=COLOURS[3], alpha=0.45,
            label=f"{percent:.4g} % interval" if not c else None, linewidth=0,
        )  # fmt: skip
        for edge in (low, high):
            panel.plot(times[order], edge[order, i], color=COLOURS[0], lw=0.7, ls="--")
        panel.plot(times[order], propagated.mean[order, i], color=COLOURS[0], lw=1.8,
                   label="estimate" if not c else None)  # fmt: skip
        if data is not None and name in data:
            panel.plot(*data[name], "o", color="black", ms=4, mfc="white",
                       label="data" if not c else None)  # fmt: skip
        panel.set_ylabel(named(name, result.output_units.get(name)))
        tidy_axes(panel)
    panels[-1, 0].set_xlabel(named("time", getattr(result, "time_unit", None)))
    if logarithmic(times):
        panels[-1, 0].set_xscale("log")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return finish(figure, path, title)


def budget(
    propagated: Propagated,
    path: str | Path | None = None,
    *,
    title: str | None = None,
) -> Any:
    """The share of each parameter in the variance of each output, as bars.

    Args:
        propagated: outputs with uncertainties, without times.
        path: where the picture is written; default nowhere.
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    if propagated.result.row_labels() is not None:
        raise SensitivityError("a budget is for one time: take result.time(i) first")
    k = len(propagated.parameters)
    shares = 100 * np.nan_to_num(propagated.shares().reshape(-1, k))
    n = len(shares)
    if n == 1:
        return _budget_of_one(propagated, shares[0], path, title)
    figure, ((panel,),) = new_figure(WIDTH, 1.5 + 0.3 * n * k / 2)
    each = 0.8 / k
    names = labels(propagated.parameters)
    for j in range(k):
        at = np.arange(n)[::-1] + 0.4 - each * (j + 0.5)
        panel.barh(
            at, shares[:, j], each, label=names[j], color=COLOURS[j % len(COLOURS)],
            hatch=HATCHES[j % len(HATCHES)], edgecolor="white", linewidth=0.5,
        )  # fmt: skip
    units = propagated.result.output_units
    panel.set_yticks(np.arange(n)[::-1], [named(o, units.get(o)) for o in propagated.outputs])
    panel.axvline(0.0, color="0.3", linewidth=0.8)
    panel.set_xlabel("share of the variance (%)")
    tidy_axes(panel, "x")
    columns = max(1, min(5, 70 // (8 + max(map(len, names)))))
    figure.legend(loc="outside lower center", ncols=columns, frameon=False)
    return finish(figure, path, title)


def _budget_of_one(
    propagated: Propagated, shares: np.ndarray, path: str | Path | None, title: str | None
) -> Any:
    """The shares of one output, the largest on top; the parameters are named on the axis."""
    order = np.argsort(np.abs(shares), kind="stable")
    names = labels(propagated.parameters)
    figure, ((panel,),) = new_figure(WIDTH, 1.2 + 0.32 * len(shares))
    bars = panel.barh([names[j] for j in order], shares[order], 0.7, color=COLOURS[0])
    panel.bar_label(bars, [f"{shares[j]:.1f}" for j in order], padding=3, fontsize=9)
    panel.axvline(0.0, color="0.3", linewidth=0.8)
    panel.margins(x=0.1)
    (name,) = propagated.outputs
    panel.set_xlabel(f"share of the variance of {name} (%)")
    tidy_axes(panel, "x")
    return finish(figure, path, title)
