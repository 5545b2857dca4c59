"""From two numbers and a bound to a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..verdicts import Block
from .reference import Reference

__all__ = ["COARSE", "judge", "judged_pair", "rounding"]

RIGHT, UNKNOWN, WRONG = 0, 1, 2
#: Units of rounding within which a number can be computed.
UNITS = 64
#: A bound above this part of the value confirms nothing; nor, for an entry that is nearly zero,
#: one above that part of the other entries of its row; for one that is zero, of output over input.
COARSE, COARSE_BESIDE = 1e-4, 1e-8
#: So much coarser may they be for a claim in single precision.
COARSER = 1e3
EPS = float(np.finfo(np.float64).eps)


def rounding(claimed: Any, reference: Any, eps: float) -> np.ndarray:
    """What rounding alone may do to a claim in a dtype."""
    size = np.fmax(np.abs(claimed), np.abs(reference))
    return UNITS * eps * np.where(np.isfinite(size), size, 0.0)


def judge(
    check: str,
    claimed: np.ndarray,
    reference: Reference,
    names: tuple[list[str], list[str]],
    eps: float,
    jitter: Callable[[], np.ndarray],
) -> Block:
    """The verdicts on a claimed Jacobian.

    Args:
        check: what the report calls this.
        claimed: the matrix.
        reference: what it is compared with.
        names: of outputs and inputs.
        eps: the rounding unit of the dtype in which the claim was computed.
        jitter: how far rounding moves the claim itself: asked for, and added to the bound, only
            where the difference is larger than the bound of the reference.
    """
    value = reference.value
    with np.errstate(all="ignore"):
        bound = reference.bound + rounding(claimed, value, eps)
        verdict = _verdicts(claimed, value, bound, reference, eps)
        if (verdict == WRONG).any():
            bound = _with_rounding_of_the_claim(verdict, claimed, value, bound, jitter)
            hidden = (np.abs(claimed - value) > bound) & reference.by_complex_step
            hidden &= np.abs(claimed - value) <= bound + reference.rough
            bound = np.where(hidden, bound + reference.rough, bound)
            verdict = _verdicts(claimed, value, bound, reference, eps)
    reasons: dict[tuple[int, int], str] = {}
    _explain(verdict, claimed, reference, bound, reasons)
    _kinks(verdict, claimed, reference, reasons)
    method = np.where(reference.by_complex_step, "complex step", "differences")
    return Block(check, method, *names, claimed, value, bound, verdict, reasons)


def _verdicts(
    claimed: np.ndarray, value: np.ndarray, bound: np.ndarray, reference: Reference, eps: float
) -> np.ndarray:
    scale, flat = reference.scale, reference.flat
    known = np.isfinite(value) & np.isfinite(bound)
    inside = np.abs(claimed - value) <= bound
    size = np.fmax(np.abs(claimed), np.abs(value))
    coarser = 1.0 if eps < 1e-10 else COARSER
    sharp = (bound <= COARSE * coarser * size) | (bound <= COARSE_BESIDE * coarser * scale)
    sharp |= (claimed == 0) & (bound <= COARSE_BESIDE * coarser * flat)
    verdict = np.where(inside, np.where(sharp, RIGHT, UNKNOWN), WRONG)
    # Where the reference knows hardly more than the sign, the slope may be infinite.
    verdict = np.where(~np.isfinite(claimed) & (bound > np.abs(value) / 10), UNKNOWN, verdict)
    endless = np.isinf(value) & (claimed == value)
    return np.where(known, verdict, np.where(endless, RIGHT, UNKNOWN)).astype(np.int8)


def _explain(
    verdict: np.ndarray,
    claimed: np.ndarray,
    reference: Reference,
    bound: np.ndarray,
    reasons: dict[tuple[int, int], str],
) -> None:
    for i, j in np.argwhere(verdict == UNKNOWN).tolist():
        if np.isinf(reference.value[i, j]):
            reasons[i, j] = "the slope grows without bound as the step shrinks"
        elif not np.isfinite(reference.value[i, j]) or not np.isfinite(bound[i, j]):
            reasons[i, j] = "the function gives no reference here: it is not finite or not smooth"
        else:
            reasons[i, j] = "the bound is too wide to confirm or refute it"
    for i, j in np.argwhere((verdict == WRONG) & ~np.isfinite(claimed)).tolist():
        reasons[i, j] = "the claim is not finite"


def _kinks(
    verdict: np.ndarray,
    claimed: np.ndarray,
    reference: Reference,
    reasons: dict[tuple[int, int], str],
) -> None:
    """At a kink every slope between the two sides is a convention."""
    low = np.minimum(reference.left, reference.right) - reference.bound
    high = np.maximum(reference.left, reference.right) + reference.bound
    for i, j in np.argwhere(reference.kink).tolist():
        sides = f"{reference.left[i, j]:.6g} from the left, {reference.right[i, j]:.6g}"
        between = low[i, j] <= claimed[i, j] <= high[i, j]
        if between and reference.kinks_are_known:
            verdict[i, j] = RIGHT
        else:
            verdict[i, j] = UNKNOWN if between else WRONG
        reasons[i, j] = f"a kink: the slope is {sides} from the right"


def _with_rounding_of_the_claim(
    verdict: np.ndarray,
    claimed: np.ndarray,
    value: np.ndarray,
    bound: np.ndarray,
    jitter: Callable[[], np.ndarray],
) -> np.ndarray:
    """The bound of the difference, where rounding of the claim itself may explain it."""
    try:
        noise = jitter()
    except Exception:  # that the claim cannot be had near by says nothing of it here
        return bound
    explained = (verdict == WRONG) & (np.abs(claimed - value) <= bound + noise)
    return np.where(explained, bound + noise, bound)


def judged_pair(
    check: str,
    method: str,
    found: Any,
    wanted: Any,
    names: tuple[list[str], list[str]],
    bound: Any,
    reason: str = "",
) -> Block:
    """The verdicts on numbers that two computations should have in common."""
    found, wanted = np.atleast_2d(found), np.atleast_2d(wanted)
    bound = np.broadcast_to(bound, found.shape)
    with np.errstate(all="ignore"):
        same = (np.abs(found - wanted) <= bound) | (found == wanted)
        same |= np.isnan(found) & np.isnan(wanted)
    unknown = ~np.isfinite(wanted) & ~same
    verdict = np.where(same, RIGHT, np.where(unknown, UNKNOWN, WRONG)).astype(np.int8)
    reasons = dict.fromkeys(map(tuple, np.argwhere(verdict != RIGHT).tolist()), reason)
    return Block(check, method, *names, found, wanted, bound, verdict, reasons)
