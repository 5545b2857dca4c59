"""Properties of a derivative beside its values: linear, batched, undefined gradients, dtypes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...transforms.batching import vmap
from .jacobians import Jacobians, dense, joined, parts, pull
from .report import GradcheckError, digits, worst
from .subject import Variable
from .values import Check, random_like

__all__ = [
    "batched_gradients",
    "batched_tangents",
    "dtypes_of_gradients",
    "dtypes_of_tangents",
    "linear_in_gradients",
    "linear_in_tangents",
    "undefined_gradients",
]

#: How many cotangents or tangents a batched check carries at once.
BATCH = 3
_NOT_ZERO = "backward does not treat undefined gradients as zero, where all outputs have one"


def linear_in_gradients(check: Check, found: Jacobians) -> None:
    """The gradient for a random cotangent is the sum of the rows that unit cotangents gave."""
    subject = check.subject
    for j, y in enumerate(subject.outputs):
        v = random_like(check, y)
        weights = np.ravel(parts(y, v))
        for i, (x, g) in enumerate(zip(subject.inputs, pull(subject, {j: v}), strict=True)):
            rows = found[j, i].reshape(weights.size, x.tensor.numel())
            expected = (weights @ rows).reshape(x.tensor.shape)
            scale = (np.abs(weights) @ np.abs(rows)).reshape(x.tensor.shape)
            _require(
                x, dense(x, g), expected, check.allowed(scale) + check.nondet_tol,
                f"backward is not linear in grad_output: for a random gradient of {y.name} it "
                f"does not give the product with the Jacobian that unit gradients gave",
            )  # fmt: skip


def linear_in_tangents(check: Check, found: Jacobians) -> None:
    """The tangent for a random direction is the sum of the columns that unit directions gave."""
    subject = check.subject
    for i, x in enumerate(subject.inputs):
        d = random_like(check, x)
        for j, (y, t) in enumerate(zip(subject.outputs, subject.push(x, d), strict=True)):
            expected = joined(y, (found[j, i].conj() @ np.ravel(d)).real)
            scale = np.abs(joined(y, np.abs(found[j, i]) @ np.abs(np.ravel(d))))
            _require(
                y, dense(y, t), expected, check.allowed(scale) + check.nondet_tol,
                f"forward mode is not linear in its tangents: for a random tangent of {x.name} it "
                f"does not give the product with the Jacobian that unit tangents gave",
            )  # fmt: skip


def undefined_gradients(check: Check) -> None:
    """Outputs without a gradient count as outputs with the gradient zero."""
    subject = check.subject
    everything = dict.fromkeys(range(len(subject.outputs)))
    for x, g in zip(subject.inputs, _undefined(lambda: pull(subject, everything)), strict=True):
        _require(x, dense(x, g), dense(x, None), check.nondet_tol, _NOT_ZERO)
    if len(subject.outputs) == 1:
        return
    for j, y in enumerate(subject.outputs):
        given = {k: random_like(check, z) for k, z in enumerate(subject.outputs) if k != j}
        expected = pull(subject, {**given, j: dense(y, None)})
        found = _undefined(lambda: pull(subject, given))
        for x, g, e in zip(subject.inputs, found, expected, strict=True):
            _require(
                x, dense(x, g), dense(x, e), check.allowed(dense(x, e)) + check.nondet_tol,
                f"backward does not treat an undefined gradient of {y.name} as zero",
            )  # fmt: skip


def _undefined(run: Callable[[], list[Any]]) -> list[Any]:
    try:
        return run()
    except Exception as e:
        raise GradcheckError(
            f"backward does not accept undefined gradients of outputs, which arrive as None after "
            f"ctx.set_materialize_grads(False): {type(e).__name__}: {e}"
        ) from e


def batched_gradients(check: Check) -> None:
    """Backward for several cotangents at once, under vmap, gives what a loop gives."""
    subject = check.subject
    for j, y in enumerate(subject.outputs):
        _batch(
            check,
            lambda v, j=j: pull(subject, {j: v}),
            random_like(check, y, BATCH),
            subject.inputs,
            f"backward of {y.name}",
        )


def batched_tangents(check: Check) -> None:
    """Forward mode for several tangents at once, under vmap, gives what a loop gives."""
    subject = check.subject
    for x in subject.inputs:
        _batch(
            check,
            lambda d, x=x: subject.push(x, d),
            random_like(check, x, BATCH),
            subject.outputs,
            f"forward mode from {x.name}",
        )


def _batch(
    check: Check,
    derivative: Callable[..., list[Any]],
    given: np.ndarray,
    results: Sequence[Variable],
    what: str,
) -> None:
    one_by_one = [derivative(v) for v in given]
    try:
        at_once = vmap(derivative)(given)
    except Exception as e:
        raise GradcheckError(
            f"the batched Jacobian product, {what} under vmap, failed: {type(e).__name__}: {e}"
        ) from e
    for x, found, rows in zip(results, at_once, zip(*one_by_one, strict=True), strict=True):
        for k, row in enumerate(rows):
            expected = dense(x, row)
            _require(
                x,
                dense(x, None if found is None else found[k]),
                expected,
                check.allowed(expected) + check.nondet_tol,
                f"the batched Jacobian product, {what} under vmap, differs from a loop at row {k}",
            )


def dtypes_of_gradients(check: Check) -> None:
    """A gradient has the dtype of its input."""
    for j, y in enumerate(check.subject.outputs):
        found = pull(check.subject, {j: random_like(check, y)})
        _same_dtypes(check.subject.inputs, found, f"the gradient of {y.name} with respect to")


def dtypes_of_tangents(check: Check) -> None:
    """A tangent has the dtype of its output."""
    for x in check.subject.inputs:
        found = check.subject.push(x, random_like(check, x))
        _same_dtypes(check.subject.outputs, found, f"for a tangent of {x.name}, the tangent of")


def _same_dtypes(variables: Sequence[Variable], found: list[Any], what: str) -> None:
    for x, g in zip(variables, found, strict=True):
        if g is not None and g.dtype != x.tensor.dtype:
            raise GradcheckError(
                f"Jacobian dtype mismatch: {what} {x.name} is {g.dtype}, it should be "
                f"{x.tensor.dtype}"
            )


def _require(
    x: Variable, found: np.ndarray, expected: np.ndarray, allowed: Any, claim: str
) -> None:
    at = worst(found, expected, allowed)
    if at is not None:
        limit = np.broadcast_to(allowed, found.shape)[at]
        raise GradcheckError(
            f"{claim}: {x.name}, entry {at}, has {digits(found[at])}, it should be "
            f"{digits(expected[at])} (difference {abs(found[at] - expected[at]):.4g}, allowed "
            f"{limit:.4g})"
        )
