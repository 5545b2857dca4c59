"""What `prove_all` gives back: a verdict on each rule of the library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .proof import PROVED, UNDECIDED, Proof

__all__ = ["RuleProof", "Rules"]

#: What a report says at the end where a rule was not run on numbers either.
UNSEEN = "; checked numerically: no numbers were compared"


@dataclass(frozen=True)
class RuleProof:
    """What was found about one rule of the registry.

    Attributes:
        name, family: of the primitive.
        domain: where the rule was proved, in words.
        proof: the proof; None where the rule cannot be run on symbols.
        reason: why there is none.
    """

    name: str
    family: str
    domain: str
    proof: Proof | None
    reason: str = ""

    @property
    def verdict(self) -> str:
        """proved, refuted or undecided."""
        return UNDECIDED if self.proof is None else self.proof.verdict

    @property
    def because(self) -> str:
        """How it was proved, the counterexample, or why neither was possible."""
        if self.proof is None:
            return self.reason
        worst = [e for e in self.proof.entries if e.verdict == self.verdict]
        if self.proof:
            return ", ".join(dict.fromkeys(s.rpartition(": ")[2] for e in worst for s in e.steps))
        proved = [e.input for e in self.proof.entries if e.verdict == PROVED]
        partly = f"proved in {', '.join(dict.fromkeys(proved))}; " if proved else ""
        return f"{partly}in {worst[0].input}: {worst[0].because}".removesuffix(UNSEEN)


class Rules:
    """The verdicts on all rules; true if none is refuted."""

    def __init__(self, rules: Iterable[RuleProof]):
        self.rules = {r.name: r for r in rules}

    def __iter__(self) -> Iterator[RuleProof]:
        return iter(self.rules.values())

    def __getitem__(self, name: str) -> RuleProof:
        return self.rules[name]

    def __bool__(self) -> bool:
        return self.count("refuted") == 0

    def count(self, verdict: str) -> int:
        """How many rules have this verdict."""
        return sum(r.verdict == verdict for r in self)

    def markdown(self) -> str:
        """The verdicts as a table for a page."""
        lines = ["| rule | family | verdict | domain | how, or why not | kinks |"]
        lines.append("| --- | --- | --- | --- | --- | --- |")
        for r in self:
            kinks = () if r.proof is None else r.proof.kinks
            cells = (f"`{r.name}`", r.family, r.verdict, r.domain, r.because)
            text = "; ".join(map(str, kinks)) or "none"
            lines.append("| " + " | ".join(_cell(c) for c in (*cells, text)) + " |")
        return "\n".join(lines)

    def table(self) -> str:
        """The verdicts as text."""
        width = max(len(r.name) for r in self)
        lines = [f"{r.name:<{width}}  {r.verdict:<9}  {r.domain}: {r.because}" for r in self]
        return "\n".join([*lines, self.summary()])

    def summary(self) -> str:
        """How many rules have which verdict."""
        counts = ", ".join(f"{self.count(v)} {v}" for v in ("proved", "undecided", "refuted"))
        return f"{len(self.rules)} rule{'s' * (len(self.rules) != 1)}: {counts}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
