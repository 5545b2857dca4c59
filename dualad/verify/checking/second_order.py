"""Second derivatives: those of the gradients, against differences of the gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...transforms.forward import jvp
from ...transforms.reverse import vjp
from ..verdicts import CANNOT_TELL
from .claims import cotangents
from .first_order import Job, _random_vectors, eps_of
from .judging import judge, judged_pair
from .reference import Reference, along
from .subject import Subject

__all__ = ["run_second_order"]


def run_second_order(job: Job) -> None:
    """Forward over reverse against differences of reverse, and reverse over reverse against it."""
    if not {"forward", "reverse"} <= set(job.matrices):
        return
    if any(b.count(CANNOT_TELL) for b in job.report.blocks if b.check in job.matrices):
        job.report.skipped["second order"] = "not all first derivatives could be told"
        return
    job.attempt("second order", lambda: _forward_over_reverse(job), optional=True)


def _gradient(job: Job, u: np.ndarray) -> Any:
    """The gradient of <u, f> as a function of the leaves."""
    subject = job.subject

    def gradient(*leaves: Any) -> tuple[Any, ...]:
        y, pullback = vjp(subject.of_leaves, *leaves)
        return pullback(cotangents(subject, y, u))

    return gradient


def _forward_over_reverse(job: Job) -> None:
    subject, x = job.subject, job.subject.x
    v, u = _random_vectors(job)
    gradient, eps = _gradient(job, u), max(eps_of(subject.inputs), eps_of(subject.outputs))

    def of_vector(z: np.ndarray) -> np.ndarray:
        leaves = subject.point(z, subject.inputs.with_dtype(np.float64, np.complex128))
        return subject.inputs.vector(gradient(*leaves))

    def claim(s: Subject, z: np.ndarray, space: Any) -> np.ndarray:
        tangents = jvp(gradient, subject.point(z, space), subject.point(v, space))[1]
        return subject.inputs.vector(tangents)[:, None]

    wanted = along(of_vector, x, v)
    n = x.size
    here = of_vector(x)
    scale = np.full((n, 1), np.max(np.abs(np.nan_to_num(here)), initial=0.0))
    parts = (wanted.value, wanted.bound, wanted.left, wanted.right, wanted.kink)
    columns = [np.reshape(part, (n, 1)).copy() for part in parts]
    value, bound, left, right, kink = columns
    nowhere = np.zeros((n, 1), bool)
    reference = Reference(value, bound, left, right, kink, nowhere, scale, scale)
    claimed = claim(subject, x, subject.inputs)
    names = ([f"gradient of {name}" for name in job.names[1]], [""])

    def jitter() -> np.ndarray:
        return job.jitter(claim, x, subject.inputs, eps)

    job.add(judge("second order", claimed, reference, names, eps, jitter))
    job.attempt(
        "second order, reverse over reverse",
        lambda: _reverse_over_reverse(job, gradient, claimed, v, eps, jitter),
        optional=True,
    )


def _reverse_over_reverse(
    job: Job, gradient: Any, claimed: np.ndarray, v: np.ndarray, eps: float, jitter: Any
) -> None:
    """The Hessian is symmetric: reverse mode through the gradient gives the same product."""
    subject = job.subject
    g, pullback = vjp(gradient, *subject.point(subject.x))
    shares = [
        np.asarray(s).astype(like.dtype)[()] if face is None else s
        for s, like, face in zip(subject.point(v), g, subject.faces, strict=True)
    ]
    found = subject.inputs.vector(pullback(tuple(shares)))[:, None]
    bound = 4096 * eps * (np.abs(claimed) + np.max(np.abs(claimed), initial=0.0))
    if (np.abs(found - claimed) > bound).any():
        bound = bound + jitter()
    names = ([f"gradient of {name}" for name in job.names[1]], [""])
    check = "second order, reverse over reverse"
    reason = "reverse mode through reverse mode differs from forward mode through it"
    job.add(judged_pair(check, "forward over reverse", found, claimed, names, bound, reason))
