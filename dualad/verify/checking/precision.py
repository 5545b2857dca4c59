"""Other dtypes: single precision for double, double for single, and complex numbers."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from ..verdicts import CANNOT_TELL, WRONG
from .first_order import Job, Mode, eps_of
from .judging import judge
from .reference import Reference
from .space import plain

__all__ = ["run_precision"]

SINGLE = float(np.finfo(np.float32).eps)


def run_precision(job: Job, wanted: Reference) -> None:
    """The same claims in the other precision.

    Single precision is compared with the same claim in double precision at the same numbers: what
    differs is the dtype alone. Double precision is compared with the reference.
    """
    coarse = eps_of(job.subject.inputs) > 1e-10
    for mode in job.modes:
        name = f"{mode.name}, float64" if coarse else f"{mode.name}, float32"
        if coarse:
            job.attempt(name, partial(_double, job, mode, name, wanted))
        else:
            job.attempt(name, partial(_single, job, mode, name), optional=not mode.own)


def _double(job: Job, mode: Mode, name: str, wanted: Reference) -> None:
    subject = job.subject
    space = subject.inputs.with_dtype(np.float64, np.complex128)
    claimed = mode.claim(subject, subject.x, space)
    eps = float(np.finfo(np.float64).eps)

    def jitter() -> np.ndarray:
        return job.jitter(mode.claim, subject.x, space, eps)

    job.add(judge(name, claimed, wanted, job.names, eps, jitter))


def _single(job: Job, mode: Mode, name: str) -> None:
    subject = job.subject
    if mode.name not in job.matrices:
        return
    small = subject.inputs.with_dtype(np.float32, np.complex64)
    x = small.vector(small.values(subject.x, wide=False))
    if not np.isfinite(x).all() or ((x == 0) != (subject.x == 0)).any():
        job.report.skipped[job.prefix + name] = "the arguments are beyond its range"
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wide = mode.claim(subject, x, subject.inputs)
        value = subject.of_leaves(*subject.point(x, small))
        narrow = mode.claim(subject, x, small)
        moved = job.jitter(mode.claim, x, subject.inputs, SINGLE)
    if not (np.isfinite(wide).all() and np.isfinite(moved).all() and _within(wide, value)):
        job.report.skipped[job.prefix + name] = "values or derivatives are beyond its range"
        return
    lost = _lost(subject.outputs.vector(value), subject(x))
    if lost.max() > 1e-2:
        job.report.skipped[job.prefix + name] = "the values themselves have no digits left in it"
        return
    rows = np.max(np.abs(wide), axis=1, initial=0.0)[:, None]
    reference = Reference(
        wide, moved + (SINGLE + 30 * lost)[:, None] * rows, wide, wide, np.zeros(wide.shape, bool),
        np.zeros(wide.shape, bool), rows + np.zeros(wide.shape), rows + np.zeros(wide.shape),
    )  # fmt: skip

    def jitter() -> np.ndarray:
        return job.jitter(mode.claim, x, small, SINGLE)

    block = judge(name, narrow, reference, job.names, SINGLE, jitter)
    block.method = "in double precision"
    if block.count(CANNOT_TELL) and not block.count(WRONG):
        job.report.skipped[job.prefix + name] = "it is too rough for a verdict on all entries"
        return
    job.add(block)


def _within(derivative: np.ndarray, value: list[Any]) -> bool:
    """Whether numbers are of a size that single precision can hold."""
    sizes = np.abs(derivative[derivative != 0])
    finite = all(np.isfinite(np.asarray(plain(v))).all() for v in value)
    return finite and (not sizes.size or bool(sizes.max() < 1e36 and sizes.min() > 1e-34))


def _lost(single: np.ndarray, double: np.ndarray) -> np.ndarray:
    """The relative error of values in single precision, where it is more than rounding."""
    with np.errstate(all="ignore"):
        error = np.abs(single - double) / np.fmax(np.abs(single), np.abs(double))
    return np.where(error > 100 * SINGLE, error, 0.0)
