"""Batching: the function and its derivatives under vmap, against a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.batching import vmap
from ...transforms.forward import jvp
from ...transforms.reverse import vjp
from .claims import as_matrix, cotangents
from .first_order import Job, eps_of
from .judging import judged_pair
from .space import plain

__all__ = ["run_batching"]

MEMBERS = 3
#: How far the members of the batch lie from the point, in units of it; the first that is inside.
SPREADS = (0.1, 1e-3, 1e-6, 0.0)


def run_batching(job: Job, given: Any = None) -> None:
    """Values, tangents and gradients of a batch of points, against one point at a time.

    Args:
        job: the run.
        given: the claimed derivative, if that is what is checked.
    """
    points = _points(job)
    job.attempt("batched value", lambda: _value(job, points), optional=True)
    if given is not None and callable(given):
        job.attempt("batched claim", lambda: _given(job, points, given), optional=True)
    if "forward" in job.matrices:
        job.attempt("batched forward", lambda: _forward(job, points), optional=True)
    if "reverse" in job.matrices:
        job.attempt("batched reverse", lambda: _reverse(job, points), optional=True)


def _points(job: Job) -> list[np.ndarray]:
    subject, random = job.subject, job.random
    for spread in SPREADS:
        moves = spread * random.uniform(-1, 1, (MEMBERS, subject.x.size))
        points = [subject.x * (1 + m) + 0.1 * m * (subject.x == 0) for m in moves]
        try:
            with np.errstate(all="ignore"):
                if all(np.isfinite(subject(p)).all() for p in points):
                    break
        except Exception:  # not all of them are inside of the domain
            continue
    return points


def _stacked(job: Job, points: list[np.ndarray]) -> list[Any]:
    """The points as leaves with a leading axis."""
    columns = zip(*(job.subject.point(p) for p in points), strict=True)
    out = []
    for column, face in zip(columns, job.subject.faces, strict=True):
        stack = np.stack([np.asarray(plain(v)) for v in column])
        out.append(stack if face is None else face.wrap(stack))
    return out


def _compare(
    job: Job, check: str, batched: list[Any], single: Callable[[np.ndarray], list[Any]],
    points: list[np.ndarray], names: list[str],
) -> None:  # fmt: skip
    """Each member of a batched result against the result for that member alone."""
    subject, random = job.subject, job.random
    eps = max(eps_of(subject.inputs), eps_of(subject.outputs))
    found = [np.concatenate([_member(v, k) for v in batched]) for k in range(len(points))]
    wanted = [np.concatenate([_member(v) for v in single(p)]) for p in points]
    bounds = []
    for p, w in zip(points, wanted, strict=True):
        near = np.concatenate([_member(v) for v in single(subject.near(p, eps, random))])
        with np.errstate(all="ignore"):
            bound = 8 * np.abs(near - w) + 256 * eps * (np.abs(w) + np.max(np.abs(w), initial=0.0))
        bounds.append(bound)
    labels = names if len(names) == len(wanted[0]) else [f"[{k}]" for k in range(len(wanted[0]))]
    members = [f"member {k} of a batch" for k in range(len(points))]
    block = judged_pair(
        check, "one at a time", np.stack(found).T, np.stack(wanted).T, (labels, members),
        np.stack(bounds).T, "vmap gives another result than a loop",
    )  # fmt: skip
    job.add(block)


def _member(value: Any, k: int | None = None) -> np.ndarray:
    """An array, or member k of it, as a real vector."""
    flat = np.asarray(plain(value))
    flat = (flat if k is None else flat[k]).ravel()
    return np.concatenate([flat.real, flat.imag]) if flat.dtype.kind == "c" else flat.astype(float)


def _value(job: Job, points: list[np.ndarray]) -> None:
    subject = job.subject
    batched = vmap(lambda *v: tuple(subject.of_leaves(*v)))(*_stacked(job, points))

    def single(p: np.ndarray) -> list[Any]:
        return subject.of_leaves(*subject.point(p))

    _compare(job, "batched value", list(batched), single, points, job.names[0])


def _forward(job: Job, points: list[np.ndarray]) -> None:
    subject, n = job.subject, len(job.subject.moving)
    direction = subject.point(job.random.uniform(-1, 1, subject.x.size))

    def tangents(*leaves: Any) -> tuple[Any, ...]:
        return tuple(jvp(subject.of_leaves, list(leaves), list(direction))[1])

    def single(p: np.ndarray) -> list[Any]:
        return list(tangents(*subject.point(p)))

    assert n == len(direction)
    batched = vmap(tangents)(*_stacked(job, points))
    _compare(job, "batched forward", list(batched), single, points, job.names[0])


def _reverse(job: Job, points: list[np.ndarray]) -> None:
    subject = job.subject
    u = job.random.uniform(-1, 1, subject.outputs.size)
    first = subject.of_leaves(*subject.point(points[0]))
    shares = cotangents(subject, first, u)

    def gradients(*leaves: Any) -> tuple[Any, ...]:
        return tuple(vjp(subject.of_leaves, *leaves)[1](list(shares)))

    def single(p: np.ndarray) -> list[Any]:
        return list(gradients(*subject.point(p)))

    batched = vmap(gradients)(*_stacked(job, points))
    _compare(job, "batched reverse", list(batched), single, points, job.names[1])


def _given(job: Job, points: list[np.ndarray], given: Any) -> None:
    from ...engine.levels.tree import flatten

    subject = job.subject

    def leaves_of_claim(*leaves: Any) -> tuple[Any, ...]:
        full = list(subject.leaves)
        for k, v in zip(subject.moving, leaves, strict=True):
            full[k] = v
        return tuple(flatten(given(*subject.rebuild(full)))[0])

    def single(p: np.ndarray) -> list[Any]:
        return list(leaves_of_claim(*subject.point(p)))

    as_matrix(given(*subject.arguments(subject.point(points[0]))), subject)
    batched = vmap(leaves_of_claim)(*_stacked(job, points))
    _compare(job, "batched claim", list(batched), single, points, [])
