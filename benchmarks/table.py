"""The table of a run, as aligned text and as Markdown."""

from collections.abc import Sequence
from typing import Any

from .verdict import COMPILED, FusedRow, Row, fused_rows_of, number, rows_of, summary

__all__ = ["aligned", "everyone", "fused_verdicts", "markdown", "table", "verdicts"]

Cells = list[list[str]]


def verdicts(rows: Sequence[Row]) -> Cells:
    """Each row with its target, the best peer, and the verdict."""
    cells = [["workload", "job", "unit", "dualad", "target", "best peer", "", "verdict"]]
    for r in rows:
        figures = number(r.ours), number(r.target)
        peer = r.peer or "–", number(r.best)
        cells.append([r.workload, r.job, r.unit, *figures, *peer, r.verdict])
    return cells


def fused_verdicts(rows: Sequence[FusedRow]) -> Cells:
    """Each row as a compiled program: on NumPy, as machine code, and the best of all peers."""
    cells = [["workload", "job", "unit", "NumPy", "jit", "target", "best peer", "", "verdict"]]
    for r in rows:
        figures = [number(r.figures.get(name)) for name in COMPILED]
        peer = r.peer or "–", number(r.best)
        cells.append([r.workload, r.job, r.unit, *figures, number(r.target), *peer, r.verdict])
    return cells


def everyone(rows: Sequence[Row]) -> Cells:
    """Each row with the figure of every backend."""
    names = list(dict.fromkeys(name for r in rows for name in r.figures))
    cells = [["workload", "job", "unit", *names]]
    for r in rows:
        cells.append([r.workload, r.job, r.unit, *(shown(r, name) for name in names)])
    return cells


def shown(row: Row, name: str) -> str:
    return "fails" if row.figures.get(name, 0.0) is None else number(row.figures.get(name))


def is_number(text: str) -> bool:
    return text in ("–", "fails") or text.replace(".", "").replace("e+", "").isdigit()


def right(cells: Cells) -> list[bool]:
    """Which columns hold figures."""
    return [all(map(is_number, column[1:])) for column in zip(*cells, strict=True)]


def aligned(cells: Cells) -> str:
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    just = [str.rjust if r else str.ljust for r in right(cells)]
    lines = (
        "  ".join(j(c, w) for j, c, w in zip(just, row, widths, strict=True)) for row in cells
    )
    return "\n".join(line.rstrip() for line in lines)


def markdown(cells: Cells) -> str:
    rule = ["---:" if r else "---" for r in right(cells)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (cells[0], rule, *cells[1:]))


def table(run: dict[str, Any]) -> str:
    """The run as text: the verdicts, and how many rows are won."""
    rows, fused = rows_of(run), fused_rows_of(run)
    lines = [aligned(verdicts(rows)), "", summary(rows)]
    if fused:
        lines += ["", "compiled:", aligned(fused_verdicts(fused)), "", summary(fused)]
    return "\n".join(lines)
