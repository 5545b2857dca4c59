"""From a solved implicit problem to the result that its user gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, SensitivityError
from ..implicit.equations import UserFunction
from ..implicit.implicit import Branch, ImplicitProblem, derivatives_along

__all__ = ["checked_order", "output_functions", "outputs_of_branch"]


def checked_order(order: int) -> int:
    """1, or 2 for second derivatives as well."""
    if order not in (1, 2):
        raise SensitivityError(f"order must be 1 or 2, got {order!r}")
    return order


def outputs_of_branch(
    problem: ImplicitProblem,
    branch: Branch,
    outputs: Mapping[str, Callable[..., Any]] | None,
    order: int,
) -> dict[str, Any]:
    """Values, derivatives and names of the unknowns and of the outputs made from them."""
    user = problem.user
    unknowns = user.unknowns
    if not outputs:
        return shaped(branch, unknowns.names, unknowns.shape, order)
    functions = output_functions(outputs, user)
    names = list(unknowns.names)
    layout: dict[str, tuple[str, ...]] = {n: (n,) for n in names}
    values = [branch.x]
    firsts, seconds = [branch.first], [branch.second]
    for name, g in functions.items():
        value, first, *second = derivatives_along(g, branch, problem.q, order)
        _require_finite(name, user, branch.x, value, first)
        flat = _flat_names(name, value.shape)
        names += flat
        layout[name] = tuple(flat)
        values.append(value.reshape(-1))
        firsts.append(first.reshape(value.size, -1))
        seconds.append(second[0].reshape(value.size, *2 * first.shape[-1:]) if second else None)
    return {
        "values": np.concatenate(values),
        "jacobian": np.concatenate(firsts),
        "hessian": np.concatenate(seconds) if order == 2 else None,  # type: ignore[arg-type]
        "outputs": names,
        "layout": layout,
    }


def shaped(
    branch: Branch, names: Sequence[str], shape: tuple[int, ...], order: int
) -> dict[str, Any]:
    """The unknowns themselves, in the shape of the start."""
    k = branch.first.shape[1]
    return {
        "values": branch.x.reshape(shape),
        "jacobian": branch.first.reshape(*shape, k),
        "hessian": None if order == 1 else np.reshape(branch.second, (*shape, k, k)),  # type: ignore
        "outputs": names,
    }


def output_functions(
    outputs: Mapping[str, Callable[..., Any]], user: UserFunction
) -> dict[str, Any]:
    """The functions g(x, q) of further outputs, by name."""
    if not isinstance(outputs, Mapping):
        raise SensitivityError(
            f"outputs must be a mapping of names to functions g(x, p), "
            f"got {type(outputs).__name__}"
        )
    for name in outputs:
        if name in user.unknowns.names:
            raise SensitivityError(f"the output {name!r} has the name of an unknown")
    return {
        name: UserFunction(
            g, user.parameters, user.wrt, user.unknowns, user.args, f"the output {name!r}"
        )
        for name, g in outputs.items()
    }


def _flat_names(name: str, shape: tuple[int, ...]) -> list[str]:
    if not shape:
        return [name]
    return [f"{name}[{','.join(map(str, at))}]" for at in np.ndindex(shape)]


def _require_finite(
    name: str, user: UserFunction, x: np.ndarray, value: np.ndarray, first: np.ndarray
) -> None:
    for what, numbers in ((f"the output {name!r}", value), (f"the derivative of {name!r}", first)):
        if not np.isfinite(numbers).all():
            raise ModelError(f"{what} is not finite {user.where(x)}", y=x)
