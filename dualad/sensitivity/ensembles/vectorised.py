"""Many members in one forward pass: the engine batches the model over sets and tangents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...transforms.batching import vmap
from ...transforms.forward import jvp
from ..functions.function import function
from ..functions.function_model import FunctionModel
from .problem import Problem

if TYPE_CHECKING:
    from .worker import Template

__all__ = ["can_vectorise", "vectorised"]

#: So many numbers, members times tangents times outputs, are carried at once.
AT_ONCE = 2_000_000


def can_vectorise(problem: Problem) -> bool:
    """Whether the problem is a plain function, to first order."""
    arguments = problem.arguments
    plain = arguments.get("order", 1) == 1 and "sparsity" not in arguments
    return problem.analysis is function and plain and "names" not in arguments


def vectorised(
    problem: Problem, names: tuple[str, ...], rows: np.ndarray, template: Template
) -> tuple[np.ndarray, np.ndarray]:
    """Values (members, *out) and Jacobians (members, *out, k) of all rows.

    Raises:
        Exception: whatever a model raises that cannot run on many values at once.
    """
    parameters = problem.parameters
    moving = [*names, *(n for n in template.parameters if n not in names)]
    chosen = parameters.subset(moving)
    run = FunctionModel(
        problem.arguments["model"], parameters, chosen, problem.arguments.get("args", ())
    )
    run.start(problem.arguments.get("outputs"))
    x = np.tile(chosen.vector(), (len(rows), 1))
    x[:, : len(names)] = rows
    seeds = np.zeros((len(template.parameters), len(moving)))
    for j, name in enumerate(template.parameters):
        seeds[j, moving.index(name)] = 1.0

    def member(z: Any) -> tuple[Any, Any]:
        push = vmap(lambda v: jvp(run.flat, (z,), (v,)), out_axes=(None, 0))
        return push(seeds)

    width = len(template.outputs) * (1 + len(seeds))
    step = max(1, AT_ONCE // max(1, width))
    parts = [vmap(member)(x[i : i + step]) for i in range(0, len(x), step)]
    values = np.concatenate([np.asarray(v, float) for v, _ in parts])
    columns = np.concatenate([np.asarray(c, float) for _, c in parts])
    jacobian = np.moveaxis(columns, 1, -1)
    n, k = len(rows), len(seeds)
    return values.reshape(n, *template.shape), jacobian.reshape(n, *template.shape, k)
