"""Row by row: what it costs here, the target, the best peer, and who is ahead."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .backends import ALL
from .fused_targets import FUSED
from .memory import BYTES, BYTES_TARGET
from .result import EVALUATIONS
from .startup import STARTUP_TARGETS
from .workloads import WORKLOADS

__all__ = ["FusedRow", "Row", "fused_rows_of", "number", "rows_of", "summary"]

OURS = "dualad"
#: What dualad.compile gives, without and with machine code.
COMPILED = ("compile", "compile jit")
#: The peers that write the function down first.
COMPILERS = {cls.name for cls in ALL if cls.is_compiled} - {*COMPILED}
#: Figures within this factor are the same.
LEVEL = 1.03
#: CasADi and num-dual do not run the user's Python on arrays: they are shown, and decide nothing.
NO_RIVALS = {cls.name for cls in ALL if not cls.rival}


@dataclass
class Row:
    """A job, with the figure of every backend that did it."""

    workload: str
    job: str
    unit: str
    figures: dict[str, float | None] = field(default_factory=dict)

    @property
    def ours(self) -> float | None:
        return self.figures.get(OURS)

    @property
    def target(self) -> float | None:
        if self.unit == BYTES:
            return BYTES_TARGET
        if self.workload == "start":
            return STARTUP_TARGETS[self.job]
        known = WORKLOADS.get(self.workload)
        return known.targets.get(self.job) if known else None

    @property
    def peer(self) -> str | None:
        """The best peer that may be compared with; None where there is none."""
        done = {
            name: figure
            for name, figure in self.figures.items()
            if figure is not None and self.is_peer(name)
        }
        return min(done, key=done.__getitem__) if done else None

    @staticmethod
    def is_peer(name: str) -> bool:
        """Whether a backend may be compared with."""
        return name != OURS and name not in NO_RIVALS

    @property
    def best(self) -> float | None:
        return self.figures[self.peer] if self.peer else None

    @property
    def ahead(self) -> bool | None:
        """Whether no peer is faster, or hardly; None where nobody can be compared."""
        return None if self.ours is None or self.best is None else self.ours <= self.best * LEVEL

    @property
    def met(self) -> bool | None:
        return None if self.ours is None or self.target is None else self.ours <= self.target

    @property
    def lost(self) -> bool:
        return self.ahead is False or self.met is False

    @property
    def verdict(self) -> str:
        """In words, with the factors."""
        return ", ".join(filter(None, [self.against_peer(), self.against_target()]))

    def against_peer(self) -> str:
        if self.ours is None or self.best is None:
            return "alone" if self.ours is not None else ""
        if self.best / LEVEL < self.ours <= self.best * LEVEL:
            return "level"
        if self.ahead:
            return f"ahead {factor(self.best, self.ours)}"
        return f"BEHIND {factor(self.ours, self.best)}"

    def against_target(self) -> str:
        if self.ours is None or self.target is None:
            return ""
        return "met" if self.met else f"missed {factor(self.ours, self.target)}"


class FusedRow(Row):
    """A job as a compiled program, beside all peers, those that compile among them."""

    @property
    def ours(self) -> float | None:
        done = [f for f in map(self.figures.get, COMPILED) if f is not None]
        return min(done) if done else None

    @property
    def target(self) -> float | None:
        return FUSED.get((self.workload, self.job))

    @staticmethod
    def is_peer(name: str) -> bool:
        return name in COMPILERS or (name != OURS and name not in NO_RIVALS)


def factor(above: float, below: float) -> str:
    return f"{number(above / below)}x" if below else "–"


def number(x: float | None) -> str:
    """Three digits; a dash where there is nothing."""
    return "–" if x is None else f"{x:.0f}" if x >= 99.5 else f"{x:#.3g}".rstrip(".")


def rows_of(run: dict[str, Any]) -> list[Row]:
    """The results of a run by row, in the order in which they were measured."""
    rows: dict[tuple[str, str], Row] = {}
    for r in run["results"]:
        key = r["workload"], r["job"]
        row = rows.setdefault(key, Row(*key, r.get("unit", EVALUATIONS)))
        row.figures[r["backend"]] = r.get("figure")
    return list(rows.values())


def fused_rows_of(run: dict[str, Any]) -> list[FusedRow]:
    """The rows that a compiled program did."""
    rows = [FusedRow(r.workload, r.job, r.unit, r.figures) for r in rows_of(run)]
    return [r for r in rows if r.ours is not None]


def summary(rows: Sequence[Row]) -> str:
    """How many rows are ahead, and how many meet their target."""
    against = [r for r in rows if r.ahead is not None]
    asked = [r for r in rows if r.met is not None]
    return (
        f"ahead of the best peer in {sum(bool(r.ahead) for r in against)} of {len(against)} rows, "
        f"target met in {sum(bool(r.met) for r in asked)} of {len(asked)}"
    )
