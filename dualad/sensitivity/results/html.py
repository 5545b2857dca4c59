"""A result as a notebook shows it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from .export import result_table
from .tabular import Table

if TYPE_CHECKING:
    from .sensitivities import Sensitivities

__all__ = ["page"]

#: So many rows are shown.
SHOWN = 20


def page(result: Sensitivities) -> str:
    """A table of values and derivatives with the warnings below, as HTML."""
    table = result_table(result)
    hidden = len(table) - SHOWN
    notes = [f"and {hidden} rows more"] if hidden > 0 else []
    title = html.unescape(repr(result).strip("<>"))
    shown = Table(table.columns, table.rows[:SHOWN], title, [*notes, *result.warnings])
    return shown.render("html")
