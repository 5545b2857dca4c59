"""conventions: which slope holds where a derivative is not unique, here and elsewhere.

The values stand beside the rules, in the files of `dualad.ops`; this page only shows them.
"""

from __future__ import annotations

from typing import NamedTuple

from .ops.later import load_all
from .ops.registry import KINKS
from .peers import MEASURED, PEERS

__all__ = ["Convention", "Conventions", "conventions"]


class Kink(NamedTuple):
    """Which slope holds where the derivative of a function is not unique or not finite.

    function, point and slope are NumPy expressions: the function of x, or of x and y, and for each
    of them the number or list that is its point and its slope.
    """

    function: str
    point: str
    slope: str
    because: str
    section: str


class Convention(NamedTuple):
    """The slopes of a function at one point, and why; those of the other libraries were measured.

    function, point and slope are NumPy expressions in x, or in x and y. The slopes of others are
    texts, empty where a library lacks the function.
    """

    function: str
    point: str
    slope: str
    pytorch: str
    jax: str
    autograd: str
    because: str
    section: str


class Conventions(tuple[Convention, ...]):
    """All conventions; printed it is a table."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [HEAD, *(_cells(c) for c in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, tuple("-" * w for w in widths))
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def markdown(self) -> str:
        """The table as a page of the documentation has it."""
        quoted = [(*(f"`{c}`" for c in row[:3]), *row[3:]) for row in map(_cells, self)]
        lines = [HEAD, ("---",) * len(HEAD), *quoted]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)


HEAD = ("function", "point", "dualad", *PEERS, "because")


def _cells(c: Convention) -> tuple[str, ...]:
    peers = (slope or "–" for slope in (c.pytorch, c.jax, c.autograd))
    return (c.function, c.point, c.slope, *peers, c.because)


def conventions(search: str = "") -> Conventions:
    """The slopes that hold at kinks, ties and poles, beside those of PyTorch, JAX and autograd.

    Args:
        search: only what has this in its function, as "maximum" or "sqrt".

    >>> import dualad
    >>> print(dualad.conventions("np.abs(x)")[0].slope)
    0.0
    >>> len(dualad.conventions()) > 90
    True
    """
    return Conventions(
        Convention(k.function, k.point, k.slope, *_peers(k), k.because, k.section)
        for k in _in_order()
        if search in k.function
    )


#: The files of `dualad.ops` in the order of the table, which is not that of loading them.
ORDER = (
    "elementwise", "select", "sorting", "constants", "complexes", "determinants", "reduce",
    "extrema", "grid", "histograms", "interpolate", "norms", "quantiles", "scan", "sets",
    "statistics",
)  # fmt: skip


def _in_order() -> list[Kink]:
    load_all()
    place = {file: k for k, file in enumerate(ORDER)}
    rows = sorted(KINKS, key=lambda row: place.get(KINKS[row], len(place)))
    return [Kink(*row) for row in rows]


def _peers(kink: Kink) -> tuple[str, str, str]:
    return MEASURED.get((kink.function, kink.point), ("", "", ""))


# --- the page of the documentation ---------------------------------------------------------------

MARK = "<!-- table of {section}: made by docs/generate_conventions.py -->\n"


def filled_in(page: str) -> str:
    """The page with its tables made anew from the rules."""
    for section in ("kinks", "zero"):
        head, _, rest = page.partition(MARK.format(section=section))
        rows = Conventions(c for c in conventions() if c.section == section)
        page = head + MARK.format(section=section) + "\n" + rows.markdown() + _after_table(rest)
    return page


def _after_table(text: str) -> str:
    lines = text.splitlines(keepends=True)
    start = next(k for k, line in enumerate(lines) if line.strip() and not line.startswith("|"))
    return "\n" + "".join(lines[start:])
