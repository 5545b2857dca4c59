"""What one task does: the members of a batch, one by one or in one pass; it never raises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..notices import quietly
from ..results.sensitivities import Sensitivities
from .problem import Problem
from .vectorised import can_vectorise, vectorised

__all__ = ["Batch", "Template", "run_batch"]


@dataclass(frozen=True)
class Template:
    """What all members share: names, shape, times."""

    outputs: tuple[str, ...]
    parameters: tuple[str, ...]
    shape: tuple[int, ...]
    units: dict[str, str]
    times: Any = None
    time_unit: str | None = None

    @staticmethod
    def of(result: Sensitivities) -> Template:
        """The template of one result."""
        return Template(
            result.outputs,
            result.parameters.names,
            result.values.shape,
            result.output_units,
            result.row_labels(),
            getattr(result, "time_unit", None),
        )


@dataclass
class Batch:
    """What became of some members.

    Attributes:
        indices: which members.
        values, jacobian: by member, those that succeeded.
        errors: by member, the text of its exception.
        template: what the successful ones share.
        passes: how many members ran in one vectorised pass.
    """

    indices: list[int]
    values: dict[int, np.ndarray] = field(default_factory=dict)
    jacobian: dict[int, np.ndarray] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    template: Template | None = None
    passes: int = 0


def run_batch(
    problem: Problem,
    names: tuple[str, ...],
    rows: np.ndarray,
    indices: list[int],
    seeds: list[Any] | None,
    in_one_pass: bool,
) -> Batch:
    """Run the members of a batch.

    Args:
        problem: what is run.
        names: the parameters of the columns.
        rows: (members, parameters).
        indices: the number of each member.
        seeds: of each member, if there are any.
        in_one_pass: whether the members are tried all at once.
    """
    batch = Batch(list(indices))
    with quietly():
        if in_one_pass and len(indices) > 1 and seeds is None and can_vectorise(problem):
            _in_one_pass(batch, problem, names, rows)
        for i, row in zip(indices, rows, strict=True):
            if i not in batch.values:
                seed = None if seeds is None else seeds[list(indices).index(i)]
                _alone(batch, problem, names, row, i, seed)
    return batch


def _alone(
    batch: Batch, problem: Problem, names: tuple[str, ...], row: np.ndarray, i: int, seed: Any
) -> None:
    try:
        result = problem(dict(zip(names, row.tolist(), strict=True)), seed)
        if not isinstance(result, Sensitivities):
            raise TypeError(f"the analysis returned {type(result).__name__}, not a result")
        _add(batch, i, Template.of(result), result.values, result.jacobian)
    except Exception as error:
        batch.errors[i] = f"{type(error).__name__}: {error}"


def _add(batch: Batch, i: int, template: Template, values: Any, jacobian: Any) -> None:
    batch.template = batch.template or template
    batch.values[i], batch.jacobian[i] = values, jacobian


def _in_one_pass(batch: Batch, problem: Problem, names: tuple[str, ...], rows: np.ndarray) -> None:
    """All members at once, if the first comes out as it does alone; else none of them."""
    _alone(batch, problem, names, rows[0], batch.indices[0], None)
    template = batch.template
    if template is None:
        return
    try:
        values, jacobian = vectorised(problem, names, rows, template)
    except Exception:
        return
    first = batch.indices[0]
    same = np.allclose(values[0], batch.values[first], rtol=1e-9, atol=0) and np.allclose(
        jacobian[0], batch.jacobian[first], rtol=1e-7, atol=1e-12 * np.abs(jacobian[0]).max()
    )
    if not same:
        return
    flat = np.concatenate([a.reshape(len(rows), -1) for a in (values, jacobian)], axis=1)
    good = np.isfinite(flat).all(axis=1)
    for r, i in enumerate(batch.indices):
        # A member that is not finite runs alone, to find out what its own error is.
        if good[r] and r > 0:
            _add(batch, i, template, values[r], jacobian[r])
    batch.passes = int(good.sum())
