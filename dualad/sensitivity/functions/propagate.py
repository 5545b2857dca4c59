"""Propagation of uncertainty through any model, to first and second order."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.variance import bias, curvature_covariance, moments_of
from ..errors import ParameterError, SensitivityError
from ..given import number
from ..notices import quietly, warn
from ..parameters.covariance import checked_covariance
from ..parameters.parameters import Parameters
from ..results.propagated import Propagated
from ..results.sensitivities import Sensitivities
from .function import function, given_parameters, second_derivatives
from .function_model import FunctionModel

if TYPE_CHECKING:
    from ..ensembles.problem import Problem

__all__ = ["gum_second_order", "propagate"]

#: The share of the first-order variance above which curvature is worth a warning.
WORTH = 0.1
#: Up to so many second derivatives are computed just to see whether they matter.
FEW = 20_000


def propagate(
    result_or_model: Any,
    params: Any = None,
    *,
    covariance: Any = None,
    order: int = 1,
    moments: Mapping[str, Any] | None = None,
    level: float = 0.95,
    dof: bool | float = True,
) -> Propagated:
    """The uncertainties of outputs from those of the parameters.

    Args:
        result_or_model: any result with derivatives, a `problem`, or model(p), as for `function`.
        params: the parameters of a model, with their uncertainties u, correlations and dof.
        covariance: of the parameters, (k, k), in the order of the result's, or of params; default
            that of their u and correlations.
        order: 2 adds the bias and the variance that second derivatives give; for a result, it must
            have them.
        moments: for order 2, the inputs that are not normal: by name, (skewness, excess kurtosis)
            or "uniform", "triangular", "arcsine", "laplace".
        level: the coverage probability of `.expanded()`.
        dof: True combines the degrees of freedom of the parameters by Welch-Satterthwaite; a
            number is that of the covariance as a whole; False is infinity.

    Raises:
        ParameterError: no parameter has an uncertainty, or the covariance is none.
        SensitivityError: order 2 is asked of a result without second derivatives.

    Warns:
        SensitivityWarning: the first-order variance is zero, or second order changes it by more
            than a tenth.

    >>> from dualad.sensitivity import Parameter
    >>> p = {"U": Parameter(5.0, u=0.02, unit="V"), "I": Parameter(0.1, u=0.001, unit="A")}
    >>> y = propagate(lambda p: {"R": p.U / p.I}, p)
    >>> y.mean.round(3), y.u.round(4)
    (array([50.]), array([0.5385]))
    """
    if order not in (1, 2):
        raise SensitivityError(f"order must be 1 or 2, got {order!r}")
    result, matrix = _linearised(result_or_model, params, covariance, order)
    notes = _curvature_notes(result, matrix, order, moments)
    for note in notes:
        warn(note, stacklevel=2)
    combined: Any = None
    if dof is not False:
        combined = result.parameters.dof if dof is True else number("dof", dof)
    return Propagated(
        result, matrix, order=order, moments=moments, level=level, dof=combined, notes=notes
    )


def _linearised(
    given: Any, params: Any, covariance: Any, order: int
) -> tuple[Sensitivities, np.ndarray]:
    """The result and the covariance of its parameters."""
    from ..ensembles.problem import Problem

    if isinstance(given, Problem):
        given = _run(given, order)
    if isinstance(given, Sensitivities):
        parameters = given.parameters
        if params is not None:
            known = params if isinstance(params, Parameters) else Parameters(params)
            parameters = known.subset(parameters.names).moved(parameters.vector())
        matrix = _covariance(parameters, covariance)
        return given.replace(parameters=parameters.with_covariance(matrix)), matrix
    if not callable(given):
        raise SensitivityError(f"propagate takes a result or a model, got {type(given).__name__}")
    parameters, _ = given_parameters({} if params is None else params, None)
    if covariance is not None:
        parameters = parameters.with_covariance(covariance)
    uncertain = _uncertain(parameters)
    with quietly():
        result = function(given, parameters, wrt=uncertain, order=order)
    return result, _covariance(result.parameters, None)


def _run(problem: Problem, order: int) -> Sensitivities:
    """The result of a problem, with second derivatives where they are wanted."""
    if order == 2 and "order" in inspect.signature(problem.analysis).parameters:
        problem = copy.copy(problem)
        problem.arguments = {**problem.arguments, "order": 2}
    with quietly():
        return problem({})


def _covariance(parameters: Parameters, given: Any) -> np.ndarray:
    if given is not None:
        return checked_covariance(given, parameters.names)
    _uncertain(parameters)
    return parameters.covariance


def _uncertain(parameters: Parameters) -> list[str]:
    """The parameters that have an uncertainty; those alone whose u is 0 where all are."""
    known = [name for name, p in parameters.details() if p.u is not None]
    if not known:
        raise ParameterError(
            f"no parameter has an uncertainty: give Parameter(value, u=...) or covariance=... for "
            f"{', '.join(parameters.names)}"
        )
    return [name for name in known if parameters.parameter(name).u] or known


def _curvature_notes(
    result: Sensitivities, covariance: np.ndarray, order: int, moments: Any
) -> list[str]:
    """What to say where the first order is not enough."""
    if not covariance.any():
        return []
    k = len(result.parameters)
    jacobian = result.jacobian.reshape(-1, k)
    first = np.einsum("mi,ij,mj->m", jacobian, covariance, jacobian)
    hessian = _second_derivatives(result, k)
    if hessian is None:
        lost = _everywhere(result, first == 0)
        return [f"{_zero(lost)}; second derivatives are not known"] if lost else []
    skewness = moments_of(moments, result.parameters.names, covariance)
    second = np.array(
        [
            curvature_covariance(g[None], H[None], covariance, skewness)[0, 0]
            for g, H in zip(jacobian, hessian, strict=True)
        ]
    )
    bent = (second != 0) | (bias(hessian, covariance) != 0)
    lost = _labels(result, (first == 0) & bent)
    strong = _labels(result, (first > 0) & (np.abs(second) > WORTH * first))
    remedy = "" if order == 2 else ": order=2 takes it into account"
    notes = [f"{_zero(lost)}, but the curvature is not{remedy}"] if lost else []
    if strong:
        share = float(np.max(np.abs(second[first > 0]) / first[first > 0]))
        notes.append(
            f"curvature adds up to {100 * share:.3g} % to the variance of "
            f"{', '.join(strong)}{remedy or '; a sample (ensemble) would tell more'}"
        )
    return notes if order == 1 else [n for n in notes if n.startswith("curvature")]


def _labels(result: Sensitivities, flags: np.ndarray) -> list[str]:
    """The outputs that are flagged at any time."""
    at = flags.reshape(result.flat()[0].shape)
    return [name for i, name in enumerate(result.outputs) if at[:, i].any()]


def _everywhere(result: Sensitivities, flags: np.ndarray) -> list[str]:
    """The outputs that are flagged at all times: a fixed start has no variance, and rightly so."""
    at = flags.reshape(result.flat()[0].shape)
    return [name for i, name in enumerate(result.outputs) if at[:, i].all()]


def _zero(names: list[str]) -> str:
    return f"the first-order variance of {', '.join(names)} is zero"


def _second_derivatives(result: Sensitivities, k: int) -> np.ndarray | None:
    """The Hessians (m, k, k), computed where that is cheap; None where they are not to be had."""
    if result.hessian is not None:
        return result.hessian.reshape(-1, k, k)
    if not isinstance(result.again, FunctionModel) or result.values.size * k * k > FEW:
        return None
    found = second_derivatives(result.again)
    return found if np.isfinite(found).all() else None


def gum_second_order(result: Sensitivities, covariance: Any = None) -> np.ndarray:
    """The variance with the GUM's terms of higher order, shape (*out).

    JCGM 100:2008, 5.1.2, note: to g C g' are added tr(H C H C) / 2 and, from third derivatives,
    g C grad tr(H C). It is another quantity than the variance at order 2 of `propagate`, which is
    that of the second-order polynomial.

    Args:
        result: of `function`, at any order.
        covariance: of the parameters; default that of their u and correlations.

    >>> from dualad.sensitivity import Parameter, function
    >>> r = function(lambda p: p.x**3, {"x": Parameter(1.0, u=0.1)})
    >>> float(gum_second_order(r).round(6))    # 9 u^2 + (18 + 18) u^4
    0.0936
    """
    from ...transforms.hessian import hessian
    from ...transforms.jacobian import jacfwd

    run = result.again
    if not isinstance(run, FunctionModel):
        raise SensitivityError("third derivatives are known for results of `function` only")
    C = _covariance(result.parameters, covariance)
    x = run.chosen.vector()

    def laplacian(z: Any) -> Any:
        return np.einsum("mij,ij->m", np.reshape(hessian(run.flat)(z), (-1, len(x), len(x))), C)

    J = result.jacobian.reshape(-1, len(x))
    H = second_derivatives(run)
    third = np.einsum("mi,ij,mj->m", J, C, np.asarray(jacfwd(laplacian)(x), float))
    first = np.einsum("mi,ij,mj->m", J, C, J)
    curved = np.einsum("mij,mji->m", H @ C, H @ C) / 2
    return np.asarray((first + curved + third).reshape(result.values.shape))
