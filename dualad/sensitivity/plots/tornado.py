"""A tornado: what each parameter does to one output within its uncertainty."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..parameters.unit_text import named
from .style import COLOURS, WIDTH, finish, labels, new_figure, tidy_axes

if TYPE_CHECKING:
    from ..results.sensitivities import Sensitivities

__all__ = ["tornado"]


def tornado(
    result: Sensitivities,
    output: str | None = None,
    path: str | Path | None = None,
    *,
    change: float | None = None,
    time: int = -1,
    most: int = 15,
    title: str | None = None,
) -> Any:
    """Bars to both sides of the output's value, the widest on top, to first order.

    Args:
        result: values and derivatives.
        output: which output; default the only one, else the first.
        path: where the picture is written; default nowhere.
        change: the relative change of each parameter, as 0.1; default its standard uncertainty,
            where any is given, else 0.1.
        time: the index of the time, where there are times.
        most: how many parameters are shown at most.
        title: default says what is shown.

    Returns:
        The matplotlib figure.
    """
    name = output or result.outputs[0]
    i = result.output_index(name)
    values, jacobian = result.flat()
    u, p = result.parameters.u, result.parameters.vector()
    by_u = change is None and bool(u.any())
    relative = 0.1 if change is None else change
    if not relative > 0:
        raise SensitivityError(f"change must be positive, got {change}")
    steps = u if by_u else relative * np.abs(p)
    low, high = -jacobian[time, i] * steps, jacobian[time, i] * steps
    order = np.argsort(np.abs(high), kind="stable")[-most:]
    at, value = np.arange(len(order)), float(values[time, i])
    figure, ((panel,),) = new_figure(WIDTH, 1.5 + 0.32 * len(order))
    how = "u" if by_u else f"{100 * relative:g} %"
    for side, label, colour, hatch in (
        (low, f"parameter − {how}", COLOURS[3], "///"),
        (high, f"parameter + {how}", COLOURS[0], ""),
    ):
        panel.barh(
            at, side[order], 0.7, left=value, label=label, color=colour, hatch=hatch,
            edgecolor="white", linewidth=0.5,
        )  # fmt: skip
    names = labels(result.parameters)
    panel.set_yticks(at, [names[j] for j in order])
    panel.axvline(value, color="0.2", linewidth=1.0)
    panel.set_xlabel(f"{named(name, result.output_units.get(name))}, to first order")
    panel.ticklabel_format(axis="x", useOffset=False, useMathText=True)
    panel.margins(x=0.05)
    tidy_axes(panel, "x")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    times = result.row_labels()
    where = "" if times is None else f" at t = {times[time]:g}"
    unit = f" {result.output_units.get(name) or ''}".rstrip()
    return finish(figure, path, title, f"{name} = {value:.6g}{unit}{where}")
