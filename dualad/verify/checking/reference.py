"""The Jacobian from function values alone: complex step where analytic, else differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .complex_step import complex_step, is_analytic
from .differences import Slope, slope
from .samples import Samples, sample, steps
from .subject import Subject

__all__ = ["Reference", "along", "reference"]

#: Entries that are extrapolated at once.
CHUNK = 4096
#: Arguments in whose rounding units no step can be told.
TINY = 1e-270
EPS = float(np.finfo(np.float64).eps)
#: More disagreement than in this part of the entries says that the code is not analytic.
MISSED = 1e-3


@dataclass
class Reference:
    """A Jacobian with a bound for each entry; rows are outputs, columns inputs.

    Attributes:
        left, right, kink: the slopes from both sides, and where they differ.
        by_complex_step: where the value is from.
        scale: what is large for an entry: the largest of its row, and the slope from afar.
        flat: output over input, or its change from afar: what a slope of zero is compared with.
        rough: what rounding of the output may hide, as far as differences allow it.
        kinks_are_known: whether the user said that there are kinks.
    """

    value: np.ndarray
    bound: np.ndarray
    left: np.ndarray
    right: np.ndarray
    kink: np.ndarray
    by_complex_step: np.ndarray
    scale: np.ndarray
    flat: np.ndarray
    rough: Any = 0.0
    kinks_are_known: bool = False


def reference(subject: Subject, x: np.ndarray, seed: int = 0) -> Reference:
    """The Jacobian of a subject at a vector.

    Args:
        subject: what is called, on raw arrays in double precision.
        x: where.
        seed: of the neighbours that show how far rounding moves the complex step.
    """
    with np.errstate(all="ignore"):
        y = subject(x)
        found = _differences(subject, x, y)
    shape = (y.size, x.size)
    value, bound, left, right = (
        np.reshape(v, shape[::-1]).T.copy()
        for v in (found.value, found.bound, found.left, found.right)
    )
    kink = np.reshape(found.kink, shape[::-1]).T.copy()
    # No step is small beside such an argument: what was seen is another part of the function.
    bound[:, (x != 0) & (np.abs(x) < TINY)] = np.inf
    by_step, rough = np.zeros(shape, bool), np.zeros(shape)
    with np.errstate(all="ignore"):
        flat = np.nan_to_num(np.abs(y)[:, None] / np.fmax(np.abs(x), 1.0)[None, :], posinf=0.0)
    exact = _by_complex_step(subject, x, seed)
    if exact is not None:
        with np.errstate(all="ignore"):
            jac, spread = exact
            # Where differences were of two minds, what agrees with the near slope decides.
            decided = np.isinf(bound) & (np.abs(jac - value) <= 1e-4 * np.abs(jac))
            bound = np.where(decided, 1e-4 * np.abs(jac), bound)
            apart = np.abs(jac - value)
            agree = apart <= bound + spread + 64 * EPS * np.abs(jac)
        rough = np.where(np.isfinite(bound), np.fmin(bound, 8 * EPS * flat), 0.0)
        doubt = ~agree & np.isfinite(bound) & np.isfinite(apart) & ~kink
        if np.isfinite(jac).all() and doubt.sum() <= MISSED * doubt.size:
            # What is nothing beside other slopes, or would not be seen in the output, no claim
            # need have to its own last digit.
            large = _scale(value, bound, found.size)
            nothing = np.abs(jac) <= 64 * EPS * np.fmax(flat, large)
            spread = np.fmax(spread, np.fmin(bound, 8 * EPS * large))
            by_step = agree & ~kink & ~nothing & np.isfinite(bound) & (spread < bound)
            value, bound = np.where(by_step, jac, value), np.where(by_step, spread, bound)
        # Either the code only seems to be analytic, or differences have missed something.
        bound = np.where(doubt, bound + apart + spread, bound)
    scale = _scale(value, bound, found.size)
    bend = np.reshape(found.bend, shape[::-1]).T
    flat = np.fmax(np.fmax(flat, bend), scale)
    out = Reference(value, bound, left, right, kink, by_step, scale, flat)
    out.rough = rough
    return out


def _scale(value: np.ndarray, bound: np.ndarray, afar: np.ndarray) -> np.ndarray:
    """What is large for each entry: the largest of its row, or its slope from afar."""
    sure = np.where(np.isfinite(value) & np.isfinite(bound), np.abs(value), 0.0)
    rows = np.max(sure, axis=1, initial=0.0)[:, None]
    return np.fmax(rows, np.reshape(afar, value.shape[::-1]).T)


def _differences(subject: Subject, x: np.ndarray, y: np.ndarray) -> Slope:
    """The slopes of all outputs along all coordinates, coordinate by coordinate."""
    todo: dict[int, list[tuple[int, Samples]]] = {}
    done: list[Slope | None] = [None] * x.size
    large = _large(subject, x)
    for k in range(x.size):

        def moved(t: float, k: int = k) -> np.ndarray:
            z = x.copy()
            z[k] += t
            return subject(z)

        unit = float(np.spacing(abs(x[k]) or large[k]))
        scale = min(max(large[k], 1.0), 2.0**20)
        h = steps(float(x[k]), scale, unit) if np.isfinite(x[k]) else steps(1.0)
        group = todo.setdefault(len(h), [])
        group.append((k, sample(moved, h, y)))
        if len(group) * y.size >= CHUNK:
            _settle(group, done)
    for group in todo.values():
        _settle(group, done)
    slopes = [s for s in done if s is not None]
    return Slope(
        *(
            np.concatenate([getattr(s, name) for s in slopes])
            for name in Slope.__dataclass_fields__
        )
    )


def _large(subject: Subject, x: np.ndarray) -> np.ndarray:
    """What is large beside each coordinate: the largest number of its array, 1 if all are 0."""
    out = np.ones(x.size)
    for part in subject.inputs.slices:
        finite = np.abs(x[part][np.isfinite(x[part])])
        out[part] = float(np.max(finite, initial=0.0)) or 1.0
    return out


def _settle(group: list[tuple[int, Samples]], done: list[Slope | None]) -> None:
    if not group:
        return
    m = group[0][1].mid.size
    both = slope(Samples.joined([s for _, s in group]))
    for n, (k, _) in enumerate(group):
        part = slice(n * m, (n + 1) * m)
        done[k] = Slope(*(v[part] for v in vars(both).values()))
    group.clear()


def _by_complex_step(
    subject: Subject, x: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray] | None:
    leaves = [*subject.inputs.leaves, *subject.outputs.leaves]
    if any(leaf.is_complex for leaf in leaves) or any(f is not None for f in subject.faces):
        return None
    if not is_analytic(subject.of_leaves, subject.inputs.values(x)):
        return None
    moves = 4 if x.size <= 64 else 2
    return complex_step(subject.complex_vector, x, subject.inputs, moves, seed)


def along(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, v: np.ndarray) -> Slope:
    """The derivatives of a vector function at x along v."""
    with np.errstate(all="ignore"):
        size = float(np.max(np.abs(v), initial=0.0)) or 1.0
        unit = float(np.nanmax(np.spacing(np.abs(x)), initial=0.0)) / size
        unit = unit if np.any(x) else 1e-16
        return slope(sample(lambda t: f(x + t * v), steps(0.0, 1.0, unit), f(x)))
