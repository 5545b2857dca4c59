"""Tables of a result in text: solution and sensitivities beside the figures of others."""

from __future__ import annotations

from collections.abc import Sequence

from ..parameters.unit_text import named
from ..reference import Reference
from .export import marks
from .time_sensitivities import TimeSensitivities

__all__ = ["counts", "differences", "page", "table"]

WIDTH = 100
#: Widths of the columns: time, name of the row, a number, a figure of a reference.
TIME, ROW, NUMBER, FIGURE = 10, 10, 13, 12


def page(
    result: TimeSensitivities,
    references: Sequence[Reference] = (),
    notes: Sequence[str] = (),
    name: str = "model",
    more: Sequence[str] = (),
) -> str:
    """All there is to say: what was solved, the table, the comparison, more, the counts."""
    values = ", ".join(f"{p} = {v:g}" for p, v in result.parameters.items())
    parts = [
        f"{name}: {', '.join(result.outputs)} and their derivatives by {values}",
        table(result, references),
    ]
    if references:
        parts.append(
            "The largest relative difference, over solution and sensitivities\n\n"
            + differences(result, references)
        )
    if notes:
        parts.append("\n".join(notes))
    parts.extend(more)
    return "\n\n".join([*parts, counts(result)]) + "\n"


def table(result: TimeSensitivities, references: Sequence[Reference] = ()) -> str:
    """Solution and sensitivities at each time, each beside the first reference.

    States that do not fit into the width of the page follow below.
    """
    beside = references[0] if references else None
    wide = max(NUMBER, 2 + max((len(_head(result, n)) for n in result.outputs), default=0))
    cell = NUMBER + FIGURE if beside else wide
    row = max(ROW, 1 + max(map(len, marks(result, "none")), default=0))
    fit = max(1, (WIDTH - TIME - row) // cell)
    groups = [result.outputs[i : i + fit] for i in range(0, len(result.outputs), fit)]
    return "\n\n".join(_columns(result, group, beside, (row, cell)) for group in groups)


def _columns(
    result: TimeSensitivities,
    outputs: Sequence[str],
    beside: Reference | None,
    widths: tuple[int, int],
) -> str:
    row, cell = widths
    time = named("t", result.time_unit)
    heads = [_head(result, name) for name in outputs]
    lines = [f"{time:<{TIME + row}}" + "".join(f"{head:>{cell}}" for head in heads)]
    if beside is not None:
        pair = f"{'dualad':>{NUMBER}}{beside.name[: FIGURE - 1]:>{FIGURE}}"
        lines.append(" " * (TIME + row) + pair * len(outputs))
    for k, t in enumerate(result.t):
        lines.append("")
        names = ("value", *marks(result, "none"))
        for parameter, mark in zip(("", *result.parameters), names, strict=True):
            head = f"{'' if parameter else format(t, '.4g'):<{TIME}}{mark:<{row}}"
            lines.append(head + _row(result, k, parameter, outputs, (beside, cell)))
    return "\n".join(line.rstrip() for line in lines)


def _head(result: TimeSensitivities, name: str) -> str:
    return named(name, result.output_units.get(name))


def _row(
    result: TimeSensitivities,
    k: int,
    parameter: str,
    outputs: Sequence[str],
    how: tuple[Reference | None, int],
) -> str:
    """One line of the table without its head."""
    beside, cell = how
    cells = []
    for name in outputs:
        width = NUMBER if beside is not None else cell
        cells.append(f"{result.column(name, parameter)[k]:>{width}.5e}")
        if beside is not None:
            cells.append(f"{beside.text(k, name, parameter):>{FIGURE}}")
    return "".join(cells)


def differences(result: TimeSensitivities, references: Sequence[Reference]) -> str:
    """The largest relative difference from each reference at each time, and where it is."""
    lines = [f"{'t':<{TIME}}" + "".join(f"{'from ' + r.name:<26}" for r in references)]
    for k, t in enumerate(result.t):
        worst = [r.worst(result, k) for r in references]
        if any(w is not None for w in worst):
            lines.append(f"{t:<{TIME}.4g}" + "".join(f"{_text(w):<26}" for w in worst))
    return "\n".join(line.rstrip() for line in lines)


def _text(x: object) -> str:
    return "" if x is None else str(x)


def counts(result: TimeSensitivities) -> str:
    """What the solver did, in one line."""
    s = result.stats
    if "steps" not in s or "factorisations" not in s:
        numbers = {n: float(v) for n, v in s.items() if isinstance(v, int | float)}
        return ", ".join(f"{name} {value:.4g}" for name, value in numbers.items())
    return (
        f"{result.settings['method']}: {s['steps']} steps, {s['rhs']} right-hand sides with "
        f"{s['tangent_rhs']} tangents, {s['jacobians']} Jacobians, {s['factorisations']} LU, "
        f"{s['wall']:.2f} s"
    )
