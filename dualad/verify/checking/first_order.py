"""First derivatives: each mode against the reference, and the modes against each other."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import ShapeError, StructureError
from ...transforms.forward import jvp
from ...transforms.reverse import vjp
from ..report import Report
from ..verdicts import CANNOT_TELL, RIGHT, WRONG, Block
from .claims import Claim, cotangents, forward_matrix, reverse_matrix
from .judging import judge, judged_pair
from .reference import Reference
from .rounding import roughness
from .space import Space, plain
from .subject import Subject

__all__ = ["Job", "Mode", "modes_of", "run_first_order"]


@dataclass(frozen=True)
class Mode:
    """A way to a derivative: its name, its matrix, and whether the user states it."""

    name: str
    claim: Claim
    own: bool = True


@dataclass
class Job:
    """One run of `check`: what is checked, how, and where the verdicts go."""

    subject: Subject
    modes: list[Mode]
    report: Report
    seed: int = 0
    prefix: str = ""
    matrices: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def random(self) -> np.random.Generator:
        """The same numbers for every check, whatever ran before."""
        return np.random.default_rng(self.seed)

    @property
    def names(self) -> tuple[list[str], list[str]]:
        return self.subject.outputs.labels(), self.subject.inputs.labels()

    @property
    def by_transformation(self) -> bool:
        """Whether the derivatives are those of the transformations."""
        return any(m.name == "forward" for m in self.modes)

    def add(self, block: Block) -> None:
        block.check = self.prefix + block.check
        self.report.blocks.append(block)

    def attempt(self, check: str, work: Callable[[], Any], optional: bool = False) -> Any:
        """Do some work; an error becomes a verdict, or the reason why a check was left out."""
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                return work()
        except (ShapeError, StructureError) as error:
            kind = WRONG
            said: Exception = error
        except Exception as error:  # whatever the user's code raises is the verdict
            kind = CANNOT_TELL
            said = error
        reason = f"{type(said).__name__}: {said}"
        if optional and kind is not WRONG:
            self.report.skipped[self.prefix + check] = reason
        else:
            self.add(Block.statement(check, kind, reason))
        return None

    def jitter(self, claim: Claim, x: np.ndarray, space: Space, eps: float) -> np.ndarray:
        """How far rounding of the arguments moves a claim, with some reserve."""
        here, random = claim(self.subject, x, space), self.random
        near = [claim(self.subject, self.subject.near(x, eps, random), space) for _ in range(4)]
        moved = 8 * np.max(np.abs(np.stack(near) - here), axis=0)
        if space.size > FEW:
            return moved
        # Rounding may come in steps wider than those of the arguments: look further, too.
        way = x * random.uniform(0.5, 1.0, x.shape)
        rough = roughness(
            lambda t: claim(self.subject, x + t * way, space).ravel(), here.ravel(), eps
        )
        return moved + rough.reshape(here.shape)


def modes_of(own_forward: bool = True, own_reverse: bool = True) -> list[Mode]:
    """Both modes of the transformations."""
    return [
        Mode("forward", forward_matrix, own_forward),
        Mode("reverse", reverse_matrix, own_reverse),
    ]


#: Coordinates up to which a claim is evaluated many times where there is a doubt.
FEW = 64


def eps_of(space: Space) -> float:
    """The coarsest rounding unit of the dtypes of a space."""
    return max(float(np.finfo(leaf.dtype).eps) for leaf in space.leaves)


def run_first_order(job: Job, wanted: Reference) -> None:
    """Compare every mode with the reference, entry by entry; then what both have to satisfy."""
    subject, x = job.subject, job.subject.x
    eps = max(eps_of(subject.inputs), eps_of(subject.outputs))
    for mode in job.modes:

        def work(mode: Mode = mode) -> None:
            claimed = mode.claim(subject, x, subject.inputs)
            job.matrices[mode.name] = claimed

            def jitter() -> np.ndarray:
                return job.jitter(mode.claim, x, subject.inputs, eps)

            job.add(judge(mode.name, claimed, wanted, job.names, eps, jitter))

        job.attempt(mode.name, work, optional=not mode.own)
    if job.by_transformation:
        _transformations(job, eps)


def _transformations(job: Job, eps: float) -> None:
    if "forward" in job.matrices:
        job.attempt("value", lambda: _value(job, eps))
        job.attempt("linear in tangents", lambda: _linear_forward(job, eps))
    if "reverse" in job.matrices:
        job.attempt("linear in cotangents", lambda: _linear_reverse(job, eps))
    if {"forward", "reverse"} <= set(job.matrices):
        job.attempt("reverse = forward transposed", lambda: _adjoint(job, eps))


def _random_vectors(job: Job) -> tuple[np.ndarray, np.ndarray]:
    """A direction of the inputs and one of the outputs, with entries of either sign."""
    random = job.random
    sizes = (job.subject.inputs.size, job.subject.outputs.size)
    v, u = (random.uniform(0.5, 1.0, n) * random.choice([-1.0, 1.0], n) for n in sizes)
    v[:1], u[:1] = -np.abs(v[:1]), -np.abs(u[:1])
    return _rounded(v, job.subject.inputs), _rounded(u, job.subject.outputs)


def _rounded(v: np.ndarray, space: Space) -> np.ndarray:
    return space.vector(space.values(v, wide=False))


def push(subject: Subject, x: np.ndarray, v: np.ndarray) -> tuple[list[Any], list[Any]]:
    """The outputs and their tangents for one direction."""
    return jvp(subject.of_leaves, subject.point(x), subject.point(v))


def pull(subject: Subject, x: np.ndarray, u: np.ndarray) -> tuple[list[Any], tuple[Any, ...]]:
    """The outputs and the cotangents of the inputs for one cotangent."""
    y, pullback = vjp(subject.of_leaves, *subject.point(x))
    return y, pullback(cotangents(subject, y, u))


def _value(job: Job, eps: float) -> None:
    """What comes with the tangents is the function's value; tangents are like the outputs."""
    subject, x = job.subject, job.subject.x
    primal, tangents = push(subject, x, _random_vectors(job)[0])
    plain_run = subject.of_leaves(*subject.point(x))
    found, y = subject.outputs.vector(primal), subject.outputs.vector(plain_run)
    random = job.random
    near = [subject(subject.near(x, eps, random)) for _ in range(3)]
    noise = 8 * np.max(np.abs(np.stack(near) - subject.y), axis=0)
    bound = noise + 64 * eps * np.abs(y)
    reason = "the value that forward mode gives is not the function's"
    job.add(
        judged_pair(
            "value", "function", found[:, None], y[:, None], (job.names[0], [""]),
            bound[:, None], reason,
        )
    )  # fmt: skip
    job.add(_alike("tangents", job.names[0], subject, primal, tangents))


def _alike(what: str, names: list[str], subject: Subject, values: Any, moves: Any) -> Block:
    check = f"shape and dtype of {what}"
    for value, move in zip(values, moves, strict=True):
        a, b = np.asarray(plain(value)), np.asarray(plain(move))
        if a.shape != b.shape or (a.dtype.kind in "fc" and a.dtype != b.dtype):
            return Block.statement(
                check, WRONG, f"{b.dtype} of shape {b.shape} for {a.dtype} of shape {a.shape}"
            )
    return Block.statement(check, RIGHT)


def _linear_forward(job: Job, eps: float) -> None:
    v, _ = _random_vectors(job)
    matrix = job.matrices["forward"]
    found = job.subject.outputs.vector(push(job.subject, job.subject.x, v)[1])
    bound = 256 * eps * (np.abs(matrix) @ np.abs(v))
    if (np.abs(found - matrix @ v) > bound).any():
        moved = job.jitter(forward_matrix, job.subject.x, job.subject.inputs, eps)
        bound = bound + moved @ np.abs(v)
    reason = "the tangent of a sum of directions is not the sum of their tangents"
    names = (job.names[0], [""])
    job.add(
        judged_pair(
            "linear in tangents", "sum", found[:, None], (matrix @ v)[:, None], names,
            bound[:, None], reason,
        )
    )  # fmt: skip


def _linear_reverse(job: Job, eps: float) -> None:
    _, u = _random_vectors(job)
    matrix = job.matrices["reverse"]
    _, shares = pull(job.subject, job.subject.x, u)
    found = job.subject.inputs.vector(shares)
    bound = 256 * eps * (np.abs(u) @ np.abs(matrix))
    if (np.abs(found - u @ matrix) > bound).any():
        moved = job.jitter(reverse_matrix, job.subject.x, job.subject.inputs, eps)
        bound = bound + np.abs(u) @ moved
    reason = "the gradient for a sum of cotangents is not the sum of their gradients"
    names = ([""], job.names[1])
    job.add(judged_pair("linear in cotangents", "sum", found, u @ matrix, names, bound, reason))
    given = job.subject.point(job.subject.x)
    job.add(_alike("gradients", job.names[1], job.subject, given, shares))


def _adjoint(job: Job, eps: float) -> None:
    """<u, Jv> = <J^T u, v> for directions of which every entry counts."""
    v, u = _random_vectors(job)
    subject, x = job.subject, job.subject.x
    forward = float(u @ subject.outputs.vector(push(subject, x, v)[1]))
    reverse = float(subject.inputs.vector(pull(subject, x, u)[1]) @ v)
    size = np.fmax(np.abs(job.matrices["forward"]), np.abs(job.matrices["reverse"]))
    bound = 256 * eps * float(np.abs(u) @ size @ np.abs(v))
    check = "reverse = forward transposed"
    if abs(forward - reverse) > bound:
        moved = job.jitter(forward_matrix, x, subject.inputs, eps)
        moved = moved + job.jitter(reverse_matrix, x, subject.inputs, eps)
        bound += float(np.abs(u) @ moved @ np.abs(v))
    reason = "<u, Jv> and <J^T u, v> differ: the two modes are not of one function"
    job.add(judged_pair(check, "forward", reverse, forward, ([""], [""]), bound, reason))
