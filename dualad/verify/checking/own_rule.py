"""What a user's rule returns when it is called as it stands: its value, its tangent's shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...autograd.custom_vjp import custom_vjp
from ...errors import StructureError
from ...transforms.custom import custom_jvp
from ..verdicts import RIGHT, WRONG, Block
from .first_order import Job
from .judging import judged_pair
from .space import plain
from .subject import Subject

__all__ = ["run_own_rule"]

EPS = float(np.finfo(np.float64).eps)


def run_own_rule(job: Job, rule: Any) -> None:
    """Call the rule of a custom_jvp or custom_vjp function on raw arrays."""
    if isinstance(rule, custom_jvp) and rule._rule is not None:
        job.attempt("value of the rule", lambda: _jvp(job, rule._rule), optional=True)
    elif isinstance(rule, custom_vjp) and rule._rule is not None:
        job.attempt("value of the rule", lambda: _vjp(job, rule), optional=True)


def _jvp(job: Job, rule: Any) -> None:
    subject = job.subject
    args = subject.arguments(subject.point(subject.x))
    leaves = [None if np.asarray(plain(v)).dtype.kind not in "fc" else v for v in subject.leaves]
    for k, v in zip(subject.moving, subject.point(np.ones(subject.x.size)), strict=True):
        leaves[k] = v
    for k, v in enumerate(leaves):
        if k not in subject.moving and v is not None:
            leaves[k] = 0 * v
    result = rule(tuple(args), tuple(subject.rebuild(leaves)))
    if not (isinstance(result, tuple) and len(result) == 2):
        reason = "a jvp rule returns the output and its tangent"
        job.add(Block.statement("value of the rule", WRONG, reason))
        return
    _value(job, result[0])
    wanted = [leaf.shape for leaf in subject.outputs.leaves]
    given = _shapes(subject, result[1])
    check = "shape of the rule's tangent"
    if given is not None and given != wanted:
        reason = f"the tangent has shape {given[0] if len(given) == 1 else given}, the output "
        reason += f"{wanted[0] if len(wanted) == 1 else wanted}"
        job.add(Block.statement(check, WRONG, reason))
    else:
        job.add(Block.statement(check, RIGHT))


def _shapes(subject: Subject, moved: Any) -> list[tuple[int, ...]] | None:
    """The shapes of tangents of outputs; None where some outputs have none."""
    try:
        return [np.shape(plain(v)) for v in subject.out_leaves(moved)]
    except StructureError:
        return None


def _vjp(job: Job, rule: Any) -> None:
    subject = job.subject
    result = rule._rule[0](*subject.arguments(subject.point(subject.x)))
    if isinstance(result, tuple) and len(result) == 2:
        _value(job, result[0])


def _value(job: Job, value: Any) -> None:
    """The output that the rule gives is that of the function."""
    subject = job.subject
    found = subject.out_vector(value)
    y = subject.out_vector(subject.f(*subject.arguments(subject.point(subject.x))))
    eps = max(float(np.finfo(leaf.dtype).eps) for leaf in subject.outputs.leaves)
    random = job.random
    near = [subject(subject.near(subject.x, eps, random)) for _ in range(3)]
    noise = 8 * np.max(np.abs(np.stack(near) - subject.y), axis=0)
    bound = (noise + 1024 * max(eps, EPS) * np.abs(y))[:, None]
    reason = "the output that the rule returns is not the function's"
    names = (job.names[0], [""])
    block = judged_pair(
        "value of the rule", "function", found[:, None], y[:, None], names, bound, reason
    )
    job.add(block)
