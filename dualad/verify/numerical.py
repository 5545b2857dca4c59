"""`check`: are the derivatives of this function right here? In every way that applies."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autograd.function import Function
from ..errors import ArgumentError
from .checking.batching import run_batching
from .checking.claims import given_matrix
from .checking.declared_kinks import kink_points
from .checking.first_order import Job, Mode, modes_of, run_first_order
from .checking.judging import judge
from .checking.own_rule import run_own_rule
from .checking.precision import run_precision
from .checking.purity import run_purity
from .checking.reference import reference
from .checking.second_order import run_second_order
from .checking.subject import Subject, callable_of, is_rule, parameter_names
from .problem import name_of
from .report import Report

__all__ = ["check"]


def check(
    subject: Any,
    *args: Any,
    derivative: Any = None,
    gradient: Any = None,
    jacobian: Any = None,
    hessian: Any = None,
    wrt: str | Sequence[str] | None = None,
    kinks: Any = None,
    second_order: bool = True,
    batching: bool = True,
    precision: bool = True,
    complex: bool | None = None,
    names: Sequence[str] | None = None,
    output: str | None = None,
    name: str | None = None,
    seed: int = 0,
) -> Report:
    """Check derivatives at a point, numerically, in every way that applies.

    The reference for every entry of the Jacobian is the complex step where the code is analytic,
    else extrapolated central differences, and comes with a bound of its error: the rounding of
    the function as measured at the point, and the truncation as seen from several steps. Three
    verdicts: *right*, the claim is within a bound that is small; *wrong*, it is outside, and not
    by its own rounding; *cannot tell*, all else. What is checked:

    - forward and reverse mode (of a rule, its jvp and its backward; what the user did not state
      follows from the other) or the claimed derivative, entry by entry;
    - that reverse mode is the transpose of forward mode, both are linear, and shapes and dtypes
      of tangents and gradients are those of outputs and inputs;
    - second derivatives: both modes through reverse mode;
    - batching: vmap of all of these against a loop;
    - single precision (double for single arguments);
    - purity: the same call gives the same, and nothing that is given is written to;
    - declared kinks: right on both sides, and between the two slopes at the kink.

    Args:
        subject: a function of arrays, floats, Tensors or nested containers of them; a custom_jvp
            or custom_vjp function; a Function class; a pair (f, derivative) or triple (f,
            derivative, hessian), whose derivative is a function of the same arguments, or an
            array. Of a plain function the derivatives of this library are checked.
        args: the arguments; integers and text among them are not differentiated.
        derivative, hessian: what is claimed of f, for a subject that is no pair. Axes are those of
            the output, then of the input; several arguments have one derivative each, in a tuple.
        gradient, jacobian: the derivative by another name.
        wrt: names of the arguments by which is differentiated; default all that can be.
        kinks: {name: values} where f has kinks, or a list of whole points (tuples).
        second_order, batching, precision: whether these are checked.
        complex: whether to check at complex arguments as well. Default: only if they are complex,
            because a rule for real numbers is right without the conjugates of a complex one.
        names: what the arguments are called; default as in the signature.
        output: what the output is called; default "out", or "outputs" for a container.
        name: what the report calls the subject.
        seed: of directions, batches and neighbours.

    Returns:
        A `Report`, true only if everything is right.

    Raises:
        ArgumentError: there is nothing to check.

    >>> import numpy as np
    >>> from dualad.verify import check
    >>> bool(check(lambda x, k: np.sin(k * x), np.array([0.5, 2.0]), 3.0))
    True

    A mean of squares without its 1/n:

    >>> v = np.array([1.0, 2.0, 4.0])
    >>> report = check((lambda v: np.mean(v**2), lambda v: 2 * v), v)
    >>> report.verdict, report.worst.entry, report.worst.claimed
    ('wrong', 'v[2] -> out', 8.0)
    """
    claims = [c for c in (derivative, gradient, jacobian) if c is not None]
    if len(claims) > 1:
        raise ArgumentError("check takes one claimed derivative at a time")
    subject, derivative, hessian = _taken_apart(subject, claims[0] if claims else None, hessian)
    names = list(names) if names is not None else parameter_names(subject, len(args))
    if len(names) != len(args):
        raise ArgumentError(f"{len(names)} names for {len(args)} arguments")
    chosen = _chosen(wrt, names)
    report = Report(name or name_of(subject))
    f = callable_of(subject)
    modes = _modes(subject, derivative)

    def job_at(point: Sequence[Any], prefix: str = "") -> Job:
        subject_there = Subject(f, point, names, chosen, output)
        return Job(subject_there, modes, report, seed, prefix)

    with warnings.catch_warnings():
        # The user did not ask for these points, and need not hear what is undefined there.
        warnings.simplefilter("ignore")
        job = job_at(args)
        wanted = reference(job.subject, job.subject.x, seed)
        run_first_order(job, wanted)
        run_own_rule(job, subject)
        run_purity(job)
        if hessian is not None:
            _hessian(job, derivative, hessian, names, chosen)
        if second_order and derivative is None:
            run_second_order(job)
        if batching:
            run_batching(job, derivative)
        if precision:
            run_precision(job, wanted)
        if kinks is not None:
            _declared(kinks, names, args, job_at, seed)
        _complex(complex, args, job, job_at, seed)
    return report


def _taken_apart(subject: Any, derivative: Any, hessian: Any) -> tuple[Any, Any, Any]:
    """(subject, derivative, hessian) from a subject that may be a pair or a triple."""
    if not isinstance(subject, (tuple, list)):
        return subject, derivative, hessian
    if derivative is not None or not 2 <= len(subject) <= 3:
        raise ArgumentError(
            "what is checked is a function, a pair (f, derivative), or a triple (f, derivative, "
            "hessian)"
        )
    parts = [*subject, hessian]
    return parts[0], parts[1], parts[2]


def _chosen(wrt: str | Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    if wrt is None:
        return None
    chosen = [wrt] if isinstance(wrt, str) else list(wrt)
    if unknown := [n for n in chosen if n not in names]:
        raise ArgumentError(
            f"wrt: there is no argument {unknown[0]!r} among {', '.join(map(str, names))}"
        )
    return chosen


def _modes(subject: Any, derivative: Any) -> list[Mode]:
    if derivative is not None:
        return [Mode("claimed", given_matrix(derivative))]
    if isinstance(subject, type) and issubclass(subject, Function):
        jvp, back = subject.rules()
        if jvp is None and back is None:
            raise ArgumentError(f"{name_of(subject)} has neither jvp nor backward to check")
        return modes_of(jvp is not None, back is not None)
    if is_rule(subject):
        forward = hasattr(subject, "defjvp")
        return modes_of(forward, not forward)
    return modes_of()


def _hessian(
    job: Job, derivative: Any, hessian: Any, names: list[str], chosen: list[str] | None
) -> None:
    """The claimed second derivative as the derivative of the first."""
    from ..transforms.gradient import grad

    subject = job.subject
    args = subject.arguments(subject.given)
    moving = [k for k, n in enumerate(names) if chosen is None or n in chosen]
    first = derivative
    if not callable(first):
        first = grad(subject.f, moving[0] if len(moving) == 1 else tuple(moving))

    def work() -> None:
        again = Subject(first, args, names, chosen, "derivative")
        claim = given_matrix(hessian)
        claimed = claim(again, again.x, again.inputs)
        labels = (again.outputs.labels(), again.inputs.labels())

        def jitter() -> np.ndarray:
            near = Job(again, [], job.report, job.seed)
            return near.jitter(claim, again.x, again.inputs, float(np.finfo(float).eps))

        wanted = reference(again, again.x, job.seed)
        job.add(judge("hessian", claimed, wanted, labels, float(np.finfo(float).eps), jitter))

    job.attempt("hessian", work)


def _declared(
    kinks: Any, names: Sequence[str], args: Sequence[Any], job_at: Any, seed: int
) -> None:
    for label, point, at_it in kink_points(kinks, names, args):
        job = job_at(point, f"{label}: ")

        def work(job: Job = job, at_it: bool = at_it) -> None:
            wanted = reference(job.subject, job.subject.x, seed)
            wanted.kinks_are_known = at_it
            run_first_order(job, wanted)

        job.attempt("kink", work)


def _complex(wished: bool | None, args: Sequence[Any], job: Job, job_at: Any, seed: int) -> None:
    """The same at complex arguments near by, where that is wished."""
    inputs = job.subject.inputs.leaves
    if any(leaf.is_complex for leaf in inputs):
        return
    if not wished:
        said = "the arguments are real; complex=True looks there, too"
        job.report.skipped["complex"] = said
        return
    random, subject = job.random, job.subject
    values = [
        np.asarray(v) + 1j * random.uniform(0.2, 0.8, np.shape(v)) * np.fmax(np.abs(v), 0.1)
        for v in subject.inputs.values(subject.x)
    ]
    point = subject.arguments([v[()] for v in values])

    def work() -> None:
        other = job_at(point, "complex ")
        run_first_order(other, reference(other.subject, other.subject.x, seed))

    job.attempt("complex", work, optional=True)
