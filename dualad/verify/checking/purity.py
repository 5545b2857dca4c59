"""Purity: the same call gives the same, and nothing that was given is written to."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...autograd.function import Function
from ...engine.levels.tree import flatten
from ...transforms.forward import jvp
from ...transforms.reverse import vjp
from ..verdicts import CANNOT_TELL, RIGHT, WRONG, Block
from .claims import cotangents
from .first_order import Job
from .space import plain

__all__ = ["run_purity"]


def run_purity(job: Job) -> None:
    """Call the function and each mode again at the same point, and look at what was given."""
    job.attempt("same call twice", lambda: _function(job))
    for b in job.report.blocks:
        # Rules are given arrays that cannot be written to where others hold them, too.
        if b.count(CANNOT_TELL) and "read-only" in str(b.reasons):
            _say(job, "given arrays unchanged", False, "the rule writes to what it is given")
            break
    for mode in job.modes:
        if mode.name in job.matrices:
            job.attempt(f"{mode.name} twice", partial(_twice, job, mode), optional=True)
    if "forward" in job.matrices:
        job.attempt("tangents unchanged", lambda: _tangents(job), optional=True)
    if "reverse" in job.matrices:
        job.attempt("cotangents unchanged", lambda: _cotangents(job), optional=True)


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=True)


def _say(job: Job, check: str, good: bool, reason: str) -> None:
    job.add(Block.statement(check, RIGHT if good else WRONG, "" if good else reason))


def _function(job: Job) -> None:
    subject = job.subject
    args = subject.arguments(subject.point(subject.x))
    leaves = [np.array(plain(v)) for v in _leaves(args)]
    out = subject.f(*args)
    first = subject.out_vector(out)
    changed = [
        v for v, before in zip(_leaves(args), leaves, strict=True)
        if not _same(before, plain(v)) and not _is_in_place(subject.f, v, out)
    ]  # fmt: skip
    _say(job, "inputs unchanged", not changed, "the function writes to its arguments")
    second = subject.out_vector(subject.f(*subject.arguments(subject.point(subject.x))))
    reason = "two calls with the same arguments give different values"
    _say(job, "same call twice", _same(first, second), reason)


def _is_in_place(f: Any, changed: Any, out: Any) -> bool:
    """Whether a Function returns what it changed: then it says so with mark_dirty."""
    owner = getattr(f, "__self__", None)
    if not (isinstance(owner, type) and issubclass(owner, Function)):
        return False
    memory = np.asarray(plain(changed))
    return any(np.shares_memory(memory, np.asarray(plain(y))) for y in flatten(out)[0])


def _leaves(args: Any) -> list[Any]:
    return [v for v in flatten(args)[0] if np.asarray(plain(v)).dtype.kind in "biufc"]


def _twice(job: Job, mode: Any) -> None:
    subject = job.subject
    first = job.matrices[mode.name]
    second = mode.claim(subject, subject.x, subject.inputs)
    reason = "two computations of the same derivative give different values"
    _say(job, f"{mode.name} twice", _same(first, second), reason)


def _tangents(job: Job) -> None:
    subject = job.subject
    given = [np.array(plain(v)) for v in subject.point(subject.x)]
    moves = [np.ones_like(v) for v in given]
    kept = [v.copy() for v in (*given, *moves)]
    if any(f is not None for f in subject.faces):
        return
    jvp(subject.of_leaves, given, moves)
    good = all(map(_same, kept, (*given, *moves)))
    _say(job, "tangents unchanged", good, "forward mode writes to its arguments or tangents")


def _cotangents(job: Job) -> None:
    subject = job.subject
    if any(f is not None for f in subject.faces):
        return
    given = [np.array(v) for v in subject.point(subject.x)]
    y, pullback = vjp(subject.of_leaves, *given)
    shares = cotangents(subject, y, np.ones(subject.outputs.size))
    shares = [np.array(s) for s in shares]
    kept = [v.copy() for v in (*given, *shares)]
    pullback(shares)
    good = all(map(_same, kept, (*given, *shares)))
    _say(job, "cotangents unchanged", good, "reverse mode writes to its arguments or cotangents")
