"""Jacobians of a subject: by backward row after row, by forward mode or differences by columns.

The Jacobian of one output with respect to one input has shape (parts, entries of the output,
entries of the input). A real output has one part; a complex one has two, its real and imaginary
part. With respect to a complex input an entry is the gradient d/dRe + 1j * d/dIm of the part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...engine.requires_grad.backprop import sweep_graph
from ...engine.requires_grad.grad_mode import no_grad
from .differences import Differences
from .subject import Subject, Variable

__all__ = [
    "BACKWARD",
    "FORWARD",
    "Jacobians",
    "Mode",
    "dense",
    "inner",
    "joined",
    "numeric",
    "parts",
    "pull",
]

#: Jacobians by (position in the checked outputs, position in the checked inputs).
Jacobians = dict[tuple[int, int], np.ndarray]


def pull(subject: Subject, cotangents: dict[int, Any]) -> list[Any]:
    """The gradients of the inputs for cotangents of some outputs; None for zero.

    A cotangent that is None reaches the history of its output as an undefined gradient.
    """
    nodes = [(subject.outputs[j].tensor._node(), v) for j, v in cotangents.items()]
    seeds = [(n, v) for n, v in nodes if n is not None]
    wanted = [x.node for x in subject.inputs]
    with no_grad():
        found = sweep_graph(seeds, retain_graph=True, wanted=wanted)
    return [found.get(n) for n in wanted]


# --- whole Jacobians -----------------------------------------------------------------------------


def reverse(subject: Subject) -> Jacobians:
    """The Jacobians by backward: a sweep for each row."""
    out = _zeros(subject)
    for j, y in enumerate(subject.outputs):
        for b, where in enumerate(np.ndindex(y.tensor.shape)):
            for p, unit in enumerate(y.units):
                for i, g in enumerate(pull(subject, {j: unit_array(y, where, unit)})):
                    if g is not None:
                        out[j, i][p, b] = np.ravel(g)
    return out


def forward(subject: Subject) -> Jacobians:
    """The Jacobians by forward mode: a call of func for each column."""
    return _by_columns(subject, lambda x, where, u: subject.push(x, unit_array(x, where, u)))


def numeric(differences: Differences) -> Jacobians:
    """The Jacobians by central differences: two calls of func for each column."""
    return _by_columns(differences.subject, differences.entry)


def _by_columns(subject: Subject, slopes: Callable[..., list[Any]]) -> Jacobians:
    out = _zeros(subject)
    for i, x in enumerate(subject.inputs):
        for a, where in enumerate(np.ndindex(x.tensor.shape)):
            for unit in x.units:
                for j, slope in enumerate(slopes(x, where, unit)):
                    if slope is not None:
                        out[j, i][:, :, a] += unit * parts(subject.outputs[j], slope)
    return out


def _zeros(subject: Subject) -> Jacobians:
    return {
        (j, i): np.zeros(
            (len(y.units), y.tensor.numel(), x.tensor.numel()),
            np.result_type(x.tensor.dtype, np.float64),
        )
        for j, y in enumerate(subject.outputs)
        for i, x in enumerate(subject.inputs)
    }


# --- one projection of each ----------------------------------------------------------------------


def project_reverse(subject: Subject, cotangents: list[Any], directions: list[Any]) -> np.ndarray:
    """Re<cotangent, Jacobian direction> for each output and input, by backward."""
    rows = [pull(subject, {j: v}) for j, v in enumerate(cotangents)]
    return np.array([[inner(g, d) for g, d in zip(r, directions, strict=True)] for r in rows])


def project_forward(subject: Subject, cotangents: list[Any], directions: list[Any]) -> np.ndarray:
    """Re<cotangent, Jacobian direction> for each output and input, by forward mode."""
    columns = [subject.push(x, d) for x, d in zip(subject.inputs, directions, strict=True)]
    return np.array([[inner(v, c[j]) for c in columns] for j, v in enumerate(cotangents)])


class Mode(NamedTuple):
    """A way to compute derivatives: whole Jacobians, or one projection of each."""

    name: str
    jacobians: Callable[[Subject], Jacobians]
    project: Callable[[Subject, list[Any], list[Any]], np.ndarray]


BACKWARD = Mode("backward (reverse mode)", reverse, project_reverse)
FORWARD = Mode("forward mode", forward, project_forward)


# --- arrays --------------------------------------------------------------------------------------


def inner(a: Any, b: Any) -> float:
    """Re<a, b>; None is zero."""
    return 0.0 if a is None or b is None else float(np.vdot(a, b).real)


def parts(y: Variable, value: Any) -> np.ndarray:
    """The real parts of an output's value, each flat; a complex output has two."""
    flat = np.ravel(value)
    return np.stack([flat.real, flat.imag]) if len(y.units) > 1 else flat.real[None]


def joined(y: Variable, real: np.ndarray) -> np.ndarray:
    """The value of an output from its parts: the inverse of `parts`."""
    flat = real[0] + 1j * real[1] if len(y.units) > 1 else real[0]
    return flat.reshape(y.tensor.shape)


def dense(x: Variable, value: Any) -> np.ndarray:
    """A derivative as an array, zeros for None."""
    return np.zeros(x.tensor.shape, x.tensor.dtype) if value is None else np.asarray(value)


def unit_array(x: Variable, where: tuple[int, ...], unit: complex) -> np.ndarray:
    """Zeros in the shape and dtype of x, with `unit` at one entry."""
    out = np.zeros(x.tensor.shape, x.tensor.dtype)
    out[where] = unit
    return out
