"""What `prove` gives back: one verdict for each output and input, and how it was reached."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PROVED", "REFUTED", "UNDECIDED", "Entry", "Kink", "Numeric", "Proof"]

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"


@dataclass(frozen=True)
class Counterexample:
    """A point where the claim is wrong.

    Attributes:
        point: symbol -> exact rational number.
        claimed, exact: both values to 50 digits.
        difference: claimed - exact as an expression.
    """

    point: dict[str, str]
    claimed: str
    exact: str
    difference: str

    def __str__(self) -> str:
        at = ", ".join(f"{k} = {v}" for k, v in self.point.items()) or "every point"
        return f"at {at}: claimed {self.claimed}, exact {self.exact}"


@dataclass(frozen=True)
class Numeric:
    """What a numerical check saw: it proves nothing.

    Attributes:
        points: at how many points both values were compared.
        region: where these points lie.
        digits: the precision of the comparison.
        worst: the largest difference, relative to the values where these exceed 1.
    """

    points: int
    region: str
    digits: int
    worst: str

    def __str__(self) -> str:
        return (
            f"{self.points} points, {self.region}, {self.digits} digits, "
            f"worst difference {self.worst}"
        )


@dataclass(frozen=True)
class Entry:
    """The verdict on one output and one input.

    Attributes:
        output, input: which entry of the derivative this is; input "" for a value.
        verdict: "proved", "refuted" or "undecided".
        claimed, exact: the two expressions.
        steps: what showed their difference to be zero, piece by piece.
        counterexample: where they differ, if refuted.
        numeric: the numerical check.
        reason: why it is undecided.
    """

    output: str
    input: str
    verdict: str
    claimed: Any
    exact: Any
    steps: tuple[str, ...] = ()
    counterexample: Counterexample | None = None
    numeric: Numeric | None = None
    reason: str = ""

    @property
    def name(self) -> str:
        """The derivative that this is about, such as d out[0] / d x."""
        return f"d {self.output} / d {self.input}" if self.input else self.output

    @property
    def because(self) -> str:
        """The reason for the verdict in one line."""
        if self.verdict == PROVED:
            return "; ".join(self.steps)
        if self.verdict == REFUTED:
            return str(self.counterexample)
        seen = "no numbers were compared" if self.numeric is None else self.numeric
        return f"{self.reason}; checked numerically: {seen}"


@dataclass(frozen=True)
class Kink:
    """A place that separates two pieces of the function, where no derivative was compared.

    Attributes:
        where: the equation of the place.
        operation: what makes the kink.
        convention: the slope that this library gives there.
        claim: what the claim gives there, compared with the convention; empty if that was not
            looked at.
    """

    where: str
    operation: str
    convention: str
    claim: str = ""

    def __str__(self) -> str:
        told = f"{self.where} ({self.operation}): {self.convention}"
        return f"{told}; {self.claim}" if self.claim else told


@dataclass(frozen=True)
class Proof:
    """The result of `prove`: true only if every entry is proved.

    Attributes:
        name: what was claimed about.
        entries: one verdict for each output and input.
        kinks: the places between the pieces.
        assumptions: what was assumed of the symbols.
        readings: floats that were read as the exact number they stand for.
    """

    name: str
    entries: tuple[Entry, ...]
    kinks: tuple[Kink, ...] = ()
    assumptions: tuple[str, ...] = ()
    readings: dict[float, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """refuted if one entry is, else undecided if one is, else proved."""
        found = {e.verdict for e in self.entries}
        return next((v for v in (REFUTED, UNDECIDED) if v in found), PROVED)

    def __bool__(self) -> bool:
        return self.verdict == PROVED

    @property
    def counterexample(self) -> Counterexample | None:
        """The first counterexample."""
        return next((e.counterexample for e in self.entries if e.counterexample), None)

    def count(self, verdict: str) -> int:
        """How many entries have this verdict."""
        return sum(e.verdict == verdict for e in self.entries)

    def table(self) -> str:
        """The verdicts as text."""
        width = max(len(e.name) for e in self.entries)
        lines = [f"{self.name}: {self.verdict} ({self._counts()})"]
        if self.assumptions:
            lines.append(f"  assuming {', '.join(self.assumptions)}")
        for e in self.entries:
            lines.append(f"  {e.name:<{width}}  {e.verdict:<9}  {e.because}")
            if e.counterexample is not None:
                lines.append(f"  {'':<{width}}  difference {e.counterexample.difference}")
        lines += [f"  kink {k}" for k in self.kinks]
        lines += [f"  {v!r} was read as {e}" for v, e in self.readings.items()]
        return "\n".join(lines)

    def markdown(self) -> str:
        """The verdicts as a Markdown table."""
        lines = ["| entry | verdict | how, or why not |", "| --- | --- | --- |"]
        for e in self.entries:
            because = e.because.replace("|", "\\|")
            lines.append(f"| {e.name} | {e.verdict} | {because} |")
        return "\n".join(lines)

    def _counts(self) -> str:
        verdicts = (PROVED, REFUTED, UNDECIDED)
        return ", ".join(f"{self.count(v)} {v}" for v in verdicts if self.count(v))

    def __str__(self) -> str:
        return self.table()

    def to_json(self) -> str:
        """All of it as JSON; expressions are text."""
        entries = [
            {
                "output": e.output, "input": e.input, "verdict": e.verdict,
                "claimed": str(e.claimed), "exact": str(e.exact), "steps": list(e.steps),
                "counterexample": None if e.counterexample is None else vars(e.counterexample),
                "numeric": None if e.numeric is None else vars(e.numeric), "reason": e.reason,
            }
            for e in self.entries
        ]  # fmt: skip
        return json.dumps(
            {
                "name": self.name,
                "verdict": self.verdict,
                "assumptions": list(self.assumptions),
                "entries": entries,
                "kinks": [vars(k) for k in self.kinks],
                "readings": {repr(v): str(e) for v, e in self.readings.items()},
            }
        )
