"""What `check` gives back: one verdict for each entry of each derivative, the worst first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .verdicts import CANNOT_TELL, RIGHT, VERDICTS, WRONG, Block, Row

__all__ = ["Report"]

#: Rows that a table shows, and that JSON holds, if nothing else is said.
SHOWN, STORED = 20, 2000


@dataclass
class Report:
    """The result of `check`: true only if every entry is right.

    Attributes:
        name: what was checked.
        blocks: the matrices of verdicts, one for each check.
        skipped: check -> why it could not be made.
    """

    name: str
    blocks: list[Block] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """wrong if one entry is, else "cannot tell" if one is, else right."""
        counts = [self.count(v) for v in VERDICTS]
        if counts[2]:
            return WRONG
        return CANNOT_TELL if counts[1] or not counts[0] else RIGHT

    def __bool__(self) -> bool:
        return self.verdict == RIGHT

    def __len__(self) -> int:
        return sum(b.verdict.size for b in self.blocks)

    def count(self, verdict: str) -> int:
        """How many entries have this verdict."""
        return sum(b.count(verdict) for b in self.blocks)

    @property
    def rows(self) -> list[Row]:
        """The verdicts on all entries, the worst first."""
        return list(self._sorted(None))

    def _sorted(self, most: int | None, least_bad: int = 0) -> Iterator[Row]:
        places, keys = [], []
        for k, b in enumerate(self.blocks):
            at = np.argwhere(b.verdict >= least_bad)
            i, j = at.T
            first, second = (v[i, j] for v in b.badness())
            places.append(np.column_stack([np.full(len(at), k), at]))
            keys.append(np.stack([-second, -first, -b.verdict[i, j].astype(float)]))
        if places:
            order = np.lexsort(np.hstack(keys))[:most]
            for k, i, j in np.vstack(places)[order].tolist():
                yield self.blocks[k].row((i, j))

    @property
    def failures(self) -> list[Row]:
        """The entries that are wrong, or about which nothing can be told; the worst first."""
        return list(self._sorted(None, 1))

    @property
    def worst(self) -> Row | None:
        """The worst entry: wrong before unknown before right, then by the size of the error."""
        return next(self._sorted(1), None)

    def counts(self) -> str:
        """How many entries are right, wrong and unknown."""
        parts = (f"{self.count(v)} {v}" for v in (RIGHT, WRONG, CANNOT_TELL) if self.count(v))
        return ", ".join(parts) or "nothing was checked"

    def checks(self) -> list[dict[str, Any]]:
        """One line for each check: its entries by verdict, and its largest error."""
        lines: dict[str, dict[str, Any]] = {}
        for b in self.blocks:
            new = {"check": b.check, "entries": 0, **dict.fromkeys(VERDICTS, 0), "excess": 0.0}
            line = lines.setdefault(b.check, new)
            line["entries"] += b.verdict.size
            for v in VERDICTS:
                line[v] += b.count(v)
            if b.verdict.size:
                line["excess"] = max(line["excess"], float(b.excess.max()))
        return list(lines.values())

    def table(self, rows: int = SHOWN) -> str:
        """The verdicts as text: one line for each check, then the worst entries."""
        lines = [f"{self.name}: {self.verdict} ({self.counts()})"]
        wide = max((len(c["check"]) for c in self.checks()), default=0)
        for c in self.checks():
            bad = ", ".join(f"{c[v]} {v}" for v in (WRONG, CANNOT_TELL) if c[v]) or "all right"
            many = "entry" if c["entries"] == 1 else "entries"
            lines.append(f"  {c['check']:<{wide}}  {c['entries']:>5} {many:<7}  {bad}")
        failures = list(self._sorted(rows, 1))
        if not failures and (worst := self.worst) is not None and worst.method:
            lines.append(f"  the least sure entry is {worst}")
        lines += [f"  {r}" for r in failures]
        if (left := self.count(WRONG) + self.count(CANNOT_TELL) - len(failures)) > 0:
            lines.append(f"  and {left} more")
        lines += [f"  not checked, {check}: {why}" for check, why in self.skipped.items()]
        return "\n".join(lines)

    __str__ = table

    def __repr__(self) -> str:
        worst = "" if self else f"; {self.worst}"
        return f"<Report {self.name}: {self.verdict} ({self.counts()}){worst}>"

    def markdown(self, rows: int = SHOWN) -> str:
        """The worst entries as a Markdown table."""
        head = "| entry | check | claimed | reference | bound | verdict |"
        lines = [head, "| --- " * 6 + "|"]
        for r in self._sorted(rows):
            numbers = " | ".join(_digits(v, r) for v in (r.claimed, r.reference, r.bound))
            entry = r.entry.replace("|", "\\|")
            lines.append(f"| `{entry}` | {r.check} | {numbers} | {r.verdict} |")
        return "\n".join(lines)

    def to_dict(self, rows: int = STORED) -> dict[str, Any]:
        """All of it as plain dicts and lists; at most so many rows, the worst."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "counts": {v: self.count(v) for v in VERDICTS},
            "checks": [{k: _number(v) for k, v in c.items()} for c in self.checks()],
            "rows": [_plain(r) for r in self._sorted(rows)],
            "skipped": self.skipped,
        }

    def to_json(self, rows: int = STORED) -> str:
        """`to_dict` as JSON; numbers that are not finite are text."""
        return json.dumps(self.to_dict(rows))

    def _repr_html_(self) -> str:
        from .report_html import html

        return html(self)

    def plot(self, check: str | None = None, ax: Any = None) -> Any:
        """A picture of the error matrix: the error of each entry in units of its bound.

        Args:
            check: which check; by default the one with the worst entry.
            ax: the axes to draw on; by default a new figure.

        Returns:
            The axes.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        from .report_html import plot

        return plot(self, check, ax)

    def block(self, check: str | None = None) -> Block:
        """The matrix of a check; by default the one with the worst entry."""
        from ..errors import ArgumentError

        of = [b for b in self.blocks if check is None or b.check == check]
        if not of:
            names = ", ".join(dict.fromkeys(b.check for b in self.blocks))
            raise ArgumentError(f"there is no check {check!r} in this report, which has: {names}")
        of = [b for b in of if b.verdict.size > 1] or of
        return max(
            of, key=lambda b: (int(b.verdict.max(initial=0)), float(b.excess.max(initial=0.0)))
        )


def joined(name: str, reports: Sequence[Report], labels: Sequence[str]) -> Report:
    """Several reports as one, each of whose rows says where it was."""
    out = Report(name)
    for report, label in zip(reports, labels, strict=True):
        for b in report.blocks:
            b.label = label
            out.blocks.append(b)
        out.skipped |= report.skipped
    return out


def _digits(value: float, row: Row) -> str:
    return f"{value:.10g}" if row.method else ""


def _number(value: Any) -> Any:
    return value if not isinstance(value, float) or np.isfinite(value) else str(value)


def _plain(row: Row) -> dict[str, Any]:
    fields = {k: _number(v) for k, v in vars(row).items()}
    return {"entry": row.entry, **fields, "error": _number(row.error)}
