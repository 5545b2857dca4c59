"""A report for the notebook: a table, and a picture of the error matrix."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import required

if TYPE_CHECKING:
    from .report import Report

__all__ = ["html", "plot"]

COLOURS = {"right": "#1a7f37", "cannot tell": "#9a6700", "wrong": "#cf222e"}
#: Rows of the table, and cells of the picture along each side.
ROWS, CELLS = 25, 48


def html(report: Report) -> str:
    """A report as HTML of its own, without scripts."""
    head = "".join(
        f"<th style='text-align:left'>{c}</th>"
        for c in ("entry", "check", "claimed", "reference", "± bound", "verdict")
    )
    body = "".join(_row(r) for r in report._sorted(ROWS))
    colour = COLOURS[report.verdict]
    title = (
        f"<p><b>{escape(report.name)}</b>: <span style='color:{colour}'><b>{report.verdict}</b>"
        f"</span> ({escape(report.counts())})</p>"
    )
    left = len(report) - ROWS
    more = f"<p>and {left} more, all less wrong</p>" if left > 0 else ""
    skipped = "".join(
        f"<li>not checked, {escape(k)}: {escape(v)}</li>" for k, v in report.skipped.items()
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div>{title}{_picture(report)}{table}{more}<ul>{skipped}</ul></div>"


def _row(r: Any) -> str:
    numbers = (f"{v:.10g}" if r.method else "" for v in (r.claimed, r.reference))
    cells = [f"<code>{escape(r.entry)}</code>", escape(r.check), *numbers]
    cells.append(f"{r.bound:.2g}" if r.method else "")
    why = f" title='{escape(r.reason, quote=True)}'" if r.reason else ""
    verdict = f"<td style='color:{COLOURS[r.verdict]}'{why}>{r.verdict}</td>"
    cells_html = "".join(f"<td style='text-align:left'>{c}</td>" for c in cells)
    return f"<tr>{cells_html}{verdict}</tr>"


def _picture(report: Report) -> str:
    """The error matrix as a small drawing, where there are enough entries for one."""
    big = [b for b in report.blocks if min(b.verdict.shape) > 1 and b.verdict.size >= 36]
    if not big:
        return ""
    block = max(big, key=lambda b: (int(b.verdict.max()), b.verdict.size))
    cells = _pooled(block.verdict)
    side = max(3, min(14, 240 // max(cells.shape)))
    names = tuple(COLOURS.values())
    squares = "".join(
        f"<rect x='{j * side}' y='{i * side}' width='{n * side - 1}' height='{side - 1}' "
        f"fill='{names[v]}'/>"
        for i, row in enumerate(cells)
        for j, n, v in _runs(row)
    )
    h, w = (n * side for n in cells.shape)
    return (
        f"<figure><svg width='{w}' height='{h}' role='img'>{squares}</svg><figcaption>"
        f"{escape(block.check)}: {block.verdict.shape[0]} outputs (down) by "
        f"{block.verdict.shape[1]} inputs (across); a cell shows the worst of its entries"
        "</figcaption></figure>"
    )


def _runs(row: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(start, length, verdict) of equal cells side by side."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    ends = np.append(starts[1:], len(row))
    yield from zip(starts.tolist(), (ends - starts).tolist(), row[starts].tolist(), strict=True)


def _pooled(verdict: np.ndarray) -> np.ndarray:
    """At most CELLS by CELLS cells, each the worst of its entries."""
    for axis in (0, 1):
        n = verdict.shape[axis]
        if n > CELLS:
            starts = np.unique(np.arange(CELLS) * n // CELLS)
            verdict = np.maximum.reduceat(verdict, starts, axis=axis)
    return verdict


def plot(report: Report, check: str | None, ax: Any) -> Any:
    """The error of each entry in units of its bound, on a logarithmic scale."""
    remedy = "install it with pip install dualad[sens]"
    pyplot = required("matplotlib.pyplot", "a picture of the error matrix", remedy)
    block = report.block(check)
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    with np.errstate(divide="ignore"):
        shown = np.clip(np.log10(np.maximum(block.excess, 1e-30)), -4, 6)
    image = ax.imshow(shown, cmap="coolwarm", vmin=-4, vmax=4, aspect="auto", interpolation="none")
    for axis, names in ((ax.xaxis, block.inputs), (ax.yaxis, block.outputs)):
        ticks = np.unique(np.linspace(0, len(names) - 1, min(len(names), 12)).astype(int))
        axis.set_ticks(ticks, [names[k] for k in ticks])
    ax.tick_params(axis="x", rotation=60)
    ax.set_xlabel("input")
    ax.set_ylabel("output")
    ax.set_title(f"{report.name}, {block.check}: {report.verdict}")
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("log10(error / bound)")
    i, j = np.unravel_index(int(np.argmax(block.excess)), block.excess.shape)
    ax.plot([j], [i], marker="s", markersize=9, fillstyle="none", color="black")
    return ax
