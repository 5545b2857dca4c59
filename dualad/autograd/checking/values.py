"""Comparison of analytic with numeric derivatives: whole Jacobians, or one projection of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .differences import Differences
from .hints import hints
from .jacobians import Jacobians, Mode, inner, numeric
from .report import GradcheckError, Mismatch, digits, worst, wrong_entries
from .subject import Subject, Variable

__all__ = ["Check", "compare", "compare_fast", "random_like"]


@dataclass(frozen=True)
class Check:
    """One run of gradcheck: a subject, its numeric derivatives, and how closely to compare.

    Attributes:
        atol, rtol: an analytic value may differ by atol + rtol * |numeric|.
        nondet_tol: two analytic values that should be the same may differ by this.
        random: the source of cotangents and directions.
    """

    subject: Subject
    differences: Differences
    atol: float
    rtol: float
    nondet_tol: float
    random: np.random.Generator

    def allowed(self, reference: Any) -> np.ndarray:
        """The largest difference allowed from each reference value."""
        with np.errstate(all="ignore"):
            return np.asarray(self.atol + self.rtol * np.abs(reference))


def compare(check: Check, modes: Sequence[Mode]) -> list[Jacobians]:
    """The Jacobians by each mode, compared with central differences entry by entry."""
    reference = numeric(check.differences)
    return [_compare(check, mode, reference) for mode in modes]


def _compare(check: Check, mode: Mode, reference: Jacobians) -> Jacobians:
    found, again = mode.jacobians(check.subject), mode.jacobians(check.subject)
    for key in found:
        _repeats(check, mode, found[key], again[key])
    wrong = [
        mismatch
        for (j, i), numbers in reference.items()
        if (mismatch := _mismatch(check, mode, j, i, found[j, i], numbers)) is not None
    ]
    if wrong:
        wrong[0].others.extend(m.place for m in wrong[1:])
        raise GradcheckError(str(wrong[0]), wrong[0])
    return found


def _repeats(check: Check, mode: Mode, first: np.ndarray, second: np.ndarray) -> None:
    """Two computations of the same derivative must give the same."""
    at = worst(np.nan_to_num(first), np.nan_to_num(second), check.nondet_tol)
    if at is not None:
        raise GradcheckError(
            f"the Jacobian is not deterministic: {mode.name} gave {digits(first[at])} and then "
            f"{digits(second[at])} for the same entry; they may differ by nondet_tol = "
            f"{check.nondet_tol:g}"
        )


def _mismatch(
    check: Check, mode: Mode, j: int, i: int, found: np.ndarray, reference: np.ndarray
) -> Mismatch | None:
    """The worst entry of one Jacobian, None if all are right."""
    allowed = check.allowed(reference)
    at = worst(found, reference, allowed)
    if at is None:
        return None
    y, x = check.subject.outputs[j], check.subject.inputs[i]
    part, here, there = at[0], _entry(y, at[1]), _entry(x, at[2])
    analytic, number = found[at].item(), reference[at].item()
    return Mismatch(
        mode=mode.name,
        output=y.name,
        output_entry=here,
        part=("the real part of ", "the imaginary part of ")[part] if len(y.units) > 1 else "",
        input=x.name,
        input_entry=there,
        analytic=analytic,
        numeric=number,
        tolerance=float(allowed[at]),
        wrong=int(wrong_entries(found, reference, allowed).sum()),
        entries=found.size,
        hints=hints(check.differences, (j, here), (x, there), analytic, number, y.units[part]),
    )


def _entry(x: Variable, flat: int) -> tuple[int, ...]:
    return tuple(int(k) for k in np.unravel_index(flat, x.tensor.shape))


def compare_fast(check: Check, modes: Sequence[Mode]) -> bool:
    """Compare one random projection of each Jacobian; False if the whole one must decide."""
    subject = check.subject
    cotangents = [random_like(check, y) for y in subject.outputs]
    directions, slopes = _random_slopes(check)
    reference = np.array([[inner(v, s[j]) for s in slopes] for j, v in enumerate(cotangents)])
    allowed = check.atol * np.outer(_norms(cotangents), _norms(directions))
    allowed = allowed + check.rtol * np.abs(reference)
    for mode in modes:
        found = mode.project(subject, cotangents, directions)
        _repeats(check, mode, found, mode.project(subject, cotangents, directions))
        if worst(found, reference, allowed) is not None:
            return False
    return True


def _norms(arrays: list[Any]) -> list[float]:
    return [float(np.linalg.norm(np.ravel(a))) for a in arrays]


def _random_slopes(check: Check) -> tuple[list[Any], list[list[np.ndarray]]]:
    """A direction of each input, and the numeric derivatives of all outputs along it."""
    directions, slopes = [], []
    for x in check.subject.inputs:
        along, moved = check.differences.along(x, ..., random_like(check, x))
        directions.append(moved)
        slopes.append(along)
    return directions, slopes


def random_like(check: Check, x: Variable, *lead: int) -> np.ndarray:
    """Random values in the shape and dtype of a variable, of either sign, at least 1/2 in size.

    The first is negative, because unit cotangents and directions, to which these add, are not.
    """
    shape = (*lead, *x.tensor.shape)
    value = np.zeros(shape, np.result_type(x.tensor.dtype, np.float64))
    for unit in x.units:
        signs = check.random.choice([-1.0, 1.0], shape)
        signs.flat[:1] = -1.0
        value += unit * signs * check.random.uniform(0.5, 1.0, shape)
    return value.astype(x.tensor.dtype)
