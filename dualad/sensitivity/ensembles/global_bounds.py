"""Global sensitivity from exact derivatives, and the way over to SALib.

The mean square of a derivative over the range of its parameter bounds the total Sobol' index:
S_T <= nu (b - a)^2 / (pi^2 D) for a uniform parameter, S_T <= u^2 nu / D for a normal one, where D
is the variance of the output. Sobol' and Kucherenko, Derivative based global sensitivity measures
and their link with global sensitivity indices, Math. Comput. Simul. 79 (2009); Kucherenko and
Iooss, Derivative-based global sensitivity measures (2014), theorems 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError, SensitivityError
from ..parameters.parameters import Parameters
from ..results.tabular import Table
from .problem import Problem

if TYPE_CHECKING:
    from .result import Ensemble

__all__ = ["to_salib", "total_bounds"]


def total_bounds(ensemble: Ensemble) -> Table:
    """An upper bound of the total Sobol' index of each parameter, for each output.

    The sets must be drawn from the ranges: by `sample` with "lhs", "sobol" or "normal".
    """
    if ensemble.t is not None:
        raise SensitivityError("bounds of total indices are for outputs without times")
    nu = ensemble.dgsm().reshape(-1, len(ensemble.parameters))
    variance = ensemble.std().reshape(-1) ** 2
    factors = [_factor(ensemble.base, name) for name in ensemble.parameters]
    rows = [
        (output, name, float(nu[i, j]), _bound(factors[j] * nu[i, j], variance[i]))
        for i, output in enumerate(ensemble.outputs)
        for j, name in enumerate(ensemble.parameters)
    ]
    return Table(["output", "parameter", "mean square", "total index below"], rows)


def _bound(above: float, variance: float) -> float:
    return float(above / variance) if variance > 0 else float("nan")


def _factor(parameters: Parameters, name: str) -> float:
    """The Poincare constant of the distribution of a parameter."""
    p = parameters.parameter(name)
    if p.scale == "log":
        raise ParameterError(f"{name!r} has a logarithmic scale: the bound is for linear ones")
    if p.lower is not None and p.upper is not None:
        return float((p.upper - p.lower) ** 2 / np.pi**2)
    if p.u is None:
        raise ParameterError(f"parameter {name!r} has neither bounds nor an uncertainty")
    return float(p.u**2)


def to_salib(problem: Problem, **options: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """What SALib needs: its problem, with names and bounds, and a function of its samples.

    Args:
        problem: what `problem(function, ...)` gives; its free parameters have bounds.
        options: of `ensemble`: executor, batch, ...

    Returns:
        (problem, evaluate); evaluate(X) gives the outputs for the rows of X, (n,) or (n, m), NaN
        for those that fail.

    >>> from dualad.sensitivity import Parameter, function, problem
    >>> p = {"a": Parameter(1.0, lower=0.0, upper=2.0), "b": Parameter(3.0, fixed=True)}
    >>> names, evaluate = to_salib(problem(function, lambda p: p.a * p.b, p))
    >>> names["names"], names["bounds"], evaluate([[0.5], [2.0]])
    (['a'], [[0.0, 2.0]], array([1.5, 6. ]))
    """
    from .run import ensemble

    free = problem.parameters.chosen()
    bounds = []
    for name, p in free.details():
        if p.lower is None or p.upper is None:
            raise ParameterError(f"SALib needs bounds of {name!r}: give lower and upper")
        bounds.append([p.lower, p.upper])
    names = list(free.names)

    def evaluate(samples: Any) -> np.ndarray:
        rows = np.asarray(samples, float)
        return ensemble(problem, dict(zip(names, rows.T, strict=True)), **options).values

    return {"num_vars": len(names), "names": names, "bounds": bounds}, evaluate
