"""A small table of names and numbers, and how it is written: text, Markdown, LaTeX, HTML, rich."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import SensitivityError, UnknownNameError, unknown_name

__all__ = ["Table"]

FORMATS = ("text", "markdown", "latex", "html", "rich", "csv")


class Table:
    """Rows under named columns.

    >>> t = Table(["parameter", "value"], [("k1", 0.04), ("k2", 1e4)])
    >>> print(t)
    parameter    value
    k1            0.04
    k2           10000
    >>> t["value"], t[0]["parameter"], len(t)
    ([0.04, 10000.0], 'k1', 2)
    """

    def __init__(
        self,
        columns: Iterable[str],
        rows: Iterable[Sequence[Any]],
        title: str = "",
        notes: Iterable[str] = (),
    ):
        self.columns, self.rows = tuple(columns), [tuple(row) for row in rows]
        self.title, self.notes = title, list(notes)
        for row in self.rows:
            if len(row) != len(self.columns):
                raise SensitivityError(
                    f"a row of {len(row)} cells for {len(self.columns)} columns"
                )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def __getitem__(self, key: str | int) -> Any:
        """A column by its name, or a row (as a dict) by its index."""
        if isinstance(key, str):
            if key not in self.columns:
                raise UnknownNameError(unknown_name("column", key, self.columns))
            at = self.columns.index(key)
            return [row[at] for row in self.rows]
        return dict(zip(self.columns, self.rows[key], strict=True))

    def __str__(self) -> str:
        return self.render("text")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.render("html")

    def where(self, **values: Any) -> Table:
        """The rows that have these values in these columns."""
        rows = [tuple(r.values()) for r in self if all(r[k] == v for k, v in values.items())]
        return Table(self.columns, rows, self.title, self.notes)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame."""
        from ..extras import extra

        return extra("pandas").DataFrame(self.rows, columns=list(self.columns))

    def render(self, fmt: str = "text") -> str:
        """The table as text of one of the formats text, markdown, latex, html, rich, csv."""
        if fmt not in FORMATS:
            raise SensitivityError(f"fmt must be one of {', '.join(FORMATS)}, got {fmt!r}")
        return str(getattr(self, f"_{fmt}")())

    def cells(self) -> list[list[str]]:
        """The rows as text."""
        return [[_text(cell) for cell in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Which columns hold numbers: they stand to the right."""
        columns = zip(*self.rows, strict=True) if self.rows else ([] for _ in self.columns)
        return [any(_is_number(c) for c in column) for column in columns]

    def _text(self) -> str:
        head, body = list(self.columns), self.cells()
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        lines = [self.title, ""] if self.title else []
        for row in (head, *body):
            cells = [
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, self.numeric(), strict=True)
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *([""] if self.notes else []), *self.notes])

    def _markdown(self) -> str:
        rule = ["---:" if right else ":---" for right in self.numeric()]
        body = [[c.replace("|", "\\|") for c in row] for row in self.cells()]
        columns = [c.replace("|", "\\|") for c in self.columns]
        lines = ["| " + " | ".join(row) + " |" for row in (columns, rule, *body)]
        head = [f"**{self.title}**", ""] if self.title else []
        return "\n".join([*head, *lines, *(f"\n{note}" for note in self.notes)])

    def _latex(self) -> str:
        align = "".join("r" if right else "l" for right in self.numeric())
        rows = [" & ".join(map(_latex_cell, row)) + r" \\" for row in self.cells()]
        head = " & ".join(map(_latex_cell, self.columns)) + r" \\"
        lines = [rf"\begin{{tabular}}{{{align}}}", r"\hline", head, r"\hline"]
        return "\n".join([*lines, *rows, r"\hline", r"\end{tabular}"])

    def _csv(self) -> str:
        """All digits, without title and notes."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    def _html(self) -> str:
        style = ['style="text-align:right"' if right else "" for right in self.numeric()]
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>"
            + "".join(f"<td {s}>{html.escape(c)}</td>" for s, c in zip(style, row, strict=True))
            + "</tr>"
            for row in self.cells()
        )
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"
        )

    def _rich(self) -> str:
        """By rich, where it is installed; else plain text."""
        try:
            from rich.console import Console
            from rich.table import Table as RichTable
            from rich.text import Text
        except ImportError:
            return self._text()
        table = RichTable(title=self.title or None)
        for column, right in zip(self.columns, self.numeric(), strict=True):
            table.add_column(Text(column), justify="right" if right else "left")
        for row in self.cells():
            table.add_row(*map(Text, row))
        out = io.StringIO()
        console = Console(file=out, width=max(80, _width(self)), force_terminal=False)
        console.print(table)
        return "\n".join([out.getvalue().rstrip("\n"), *self.notes])


def _width(table: Table) -> int:
    """What rich needs to break no line."""
    cells = [list(table.columns), *table.cells()]
    return sum(max(map(len, column)) + 3 for column in zip(*cells, strict=True)) + 1


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    # A negative zero is a zero.
    return f"{cell + 0.0:.6g}" if isinstance(cell, float | np.floating) else str(cell)


def _latex_cell(text: str) -> str:
    for special in "\\&%$#_{}~^|<>":
        text = text.replace(special, _LATEX[special]) if special in text else text
    return text.replace("\0", "{}")


#: A backslash goes first; its braces are set last, so that they are not escaped in their turn.
_LATEX = {
    "\\": "\\textbackslash\0",
    "~": "\\textasciitilde\0",
    "^": "\\textasciicircum\0",
    "|": "\\textbar\0",
    "<": "\\textless\0",
    ">": "\\textgreater\0",
    **{c: "\\" + c for c in "&%$#_{}"},
}
