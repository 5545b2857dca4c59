"""Verdicts on the entries of derivatives: one by one, and as the matrix that a check compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["CANNOT_TELL", "RIGHT", "VERDICTS", "WRONG", "Block", "Row"]

RIGHT, CANNOT_TELL, WRONG = "right", "cannot tell", "wrong"
VERDICTS = (RIGHT, CANNOT_TELL, WRONG)


@dataclass(frozen=True)
class Row:
    """The verdict on one entry.

    Attributes:
        check: which of the checks this is, such as "forward" or "batched reverse".
        output, input: the names of the entry; "" where the check is about no single one.
        claimed, reference: the two values.
        bound: how far the two may differ if the claim is right: the error that the reference may
            have, and the rounding of the claim.
        verdict: "right", "wrong" or "cannot tell".
        method: where the reference is from.
        reason: why the verdict is not "right".
    """

    check: str
    output: str
    input: str
    claimed: float
    reference: float
    bound: float
    verdict: str
    method: str
    reason: str = ""

    @property
    def entry(self) -> str:
        """The entry by name, such as params["k1"] -> outputs["y"][3]."""
        return " -> ".join(n for n in (self.input, self.output) if n) or "all"

    @property
    def error(self) -> float:
        """|claimed - reference|."""
        return abs(self.claimed - self.reference)

    @property
    def excess(self) -> float:
        """The error in units of its bound."""
        return _excess(self.claimed, self.reference, self.bound)

    def __str__(self) -> str:
        said = f"{self.verdict}: {self.entry}, {self.check}"
        if self.method:
            said += (
                f": claimed {self.claimed:.10g}, {self.method} {self.reference:.10g} "
                f"± {self.bound:.2g}"
            )
        return f"{said} ({self.reason})" if self.reason else said


def _excess(claimed: Any, reference: Any, bound: Any) -> Any:
    with np.errstate(all="ignore"):
        out = np.abs(np.subtract(claimed, reference)) / np.maximum(bound, 1e-300)
    return np.where(np.isfinite(out), out, np.inf)[()]


@dataclass
class Block:
    """The verdicts on all entries that one check compares: outputs by inputs.

    Attributes:
        check, method: as in `Row`; method may differ from entry to entry.
        outputs, inputs: the names of rows and columns.
        claimed, reference, bound: matrices.
        verdict: a matrix of 0 (right), 1 (cannot tell) and 2 (wrong).
        reasons: (row, column) -> reason, or one for all.
        label: where this was, if the report is about several points.
    """

    check: str
    method: Any
    outputs: list[str]
    inputs: list[str]
    claimed: np.ndarray
    reference: np.ndarray
    bound: np.ndarray
    verdict: np.ndarray
    reasons: Any = ""
    label: str = ""

    @classmethod
    def statement(cls, check: str, verdict: str, reason: str = "", entry: str = "") -> Block:
        """A verdict that is about no number."""
        zero, kind = np.zeros((1, 1)), np.full((1, 1), VERDICTS.index(verdict))
        return cls(check, "", [entry], [""], zero, zero, zero, kind, reason)

    @property
    def excess(self) -> np.ndarray:
        return np.asarray(_excess(self.claimed, self.reference, self.bound))

    def badness(self) -> tuple[np.ndarray, np.ndarray]:
        """What entries of one verdict are sorted by.

        Wrong ones by their relative error to two digits, then by their error; the others by their
        error in units of its bound.
        """
        size = np.fmax(np.abs(self.claimed), np.abs(self.reference))
        with np.errstate(all="ignore"):
            error = np.nan_to_num(np.abs(self.claimed - self.reference), nan=np.inf)
            relative = np.nan_to_num(np.round(error / size, 2), nan=np.inf)
        wrong = self.verdict == VERDICTS.index(WRONG)
        return np.where(wrong, relative, self.excess), np.where(wrong, error, 0.0)

    def row(self, at: tuple[int, int]) -> Row:
        """The verdict on one entry."""
        reason = self.reasons if isinstance(self.reasons, str) else self.reasons.get(at, "")
        method = self.method if isinstance(self.method, str) else str(self.method[at])
        return Row(
            f"{self.check} {self.label}".strip(), self.outputs[at[0]], self.inputs[at[1]],
            float(self.claimed[at]), float(self.reference[at]), float(self.bound[at]),
            VERDICTS[self.verdict[at]], method, reason,
        )  # fmt: skip

    def count(self, verdict: str) -> int:
        return int(np.count_nonzero(self.verdict == VERDICTS.index(verdict)))
