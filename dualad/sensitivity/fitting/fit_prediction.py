"""What a fit says of a model: its values, with the uncertainty that the fit leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SensitivityError
from ..functions.function import function
from ..functions.function_model import is_result
from ..notices import quietly, warn
from ..parameters.unit_text import units_by_name
from ..results.propagated import Propagated
from ..results.sensitivities import Sensitivities
from .observations import without_index
from .predictor import InnerAnalysis

if TYPE_CHECKING:
    from .fit_result import FitResult

__all__ = ["predict"]


def predict(
    fit: FitResult,
    model: Callable[..., Any] | None,
    x: Any,
    level: float,
    kind: str,
    order: int,
    sigma: Any,
    units: Any,
) -> Propagated:
    """See `FitResult.predict`."""
    if kind not in ("confidence", "prediction"):
        raise SensitivityError(f"kind must be 'confidence' or 'prediction', got {kind!r}")
    result = linearised(fit, model, x, order, units)
    more = np.zeros(result.values.shape)
    if kind == "prediction":
        more = more + observation_variance(fit, sigma, result)
    more = np.where(left_open(fit, result), np.inf, more)
    at = [fit.names.index(name) for name in result.parameters]
    covariance = fit.spread.finite[np.ix_(at, at)]
    known = result.parameters.with_covariance(covariance)
    return Propagated(
        result.replace(parameters=known), covariance, order=order, level=level,
        dof=max(fit.error_dof, 1e-9), extra_variance=more, notes=fit.warnings,
    )  # fmt: skip


def linearised(fit: FitResult, model: Any, x: Any, order: int, units: Any) -> Sensitivities:
    """The values of a model and their derivatives by the fitted parameters."""
    predictor = fit.problem.predictor
    if x is None and model is None and predictor.args:
        x = predictor.args[0]
    args = () if x is None else (without_index(x),)
    parameters = predictor.parameters.replace(
        **{n: replace(p, lower=None, upper=None) for n, p in predictor.parameters.details()}
    ).replace(**dict(zip(fit.names, fit.values.tolist(), strict=True)))
    function_of = predictor.model if model is None else model
    free = parameters.subset(fit.names)
    inner = InnerAnalysis(function_of, parameters, free, args)
    with quietly():
        if not is_result(inner.call(free.vector())):
            result = function(
                function_of, parameters, wrt=fit.names, args=args, order=order, units=units
            )
        else:
            result = inner.result_at(free.vector())
            if order == 2 and result.hessian is None:
                raise SensitivityError(
                    "order 2 needs second derivatives, and the analysis in the model gives none: "
                    "let it be one of order=2 there"
                )
            if units is not None:
                result.output_units = units_by_name(units, result.outputs, result.layout)
    for text in result.warnings:
        # Another model than the fitted one need not use all parameters of the fit.
        if "enter the model" not in text:
            warn(text, stacklevel=4)
    return result


def observation_variance(fit: FitResult, sigma: Any, result: Sensitivities) -> Any:
    """The variance of a new observation; 0 of an output that is not observed by its name."""
    seen = fit.problem.seen
    if sigma is not None:
        return np.asarray(sigma, float) ** 2
    if seen.own:
        known = {
            name: seen.sigma[seen.output_of == i][0] ** 2 * fit.spread.variance
            for i, name in enumerate(seen.names or ())
        }
        flat = np.array([known.get(n.partition("[")[0], 0.0) for n in result.outputs])
        return np.broadcast_to(flat, result.flat()[0].shape).reshape(result.values.shape)
    if np.ptp(seen.sigma) > 1e-12 * seen.sigma.max():
        raise SensitivityError(
            "the observations have different standard deviations: say that of a new one, "
            "predict(..., kind='prediction', sigma=...)"
        )
    factor = 1.0 if seen.known else fit.spread.variance
    return seen.sigma[0] ** 2 * factor


def left_open(fit: FitResult, result: Sensitivities) -> np.ndarray:
    """Which outputs move along a direction that the data leave open."""
    if np.isinf(fit.spread.variance):
        return np.asarray(result.jacobian.any(axis=-1))
    if not fit.spread.null.size:
        return np.zeros(result.values.shape, bool)
    null = fit.spread.null[[fit.names.index(name) for name in result.parameters]]
    along = np.abs(result.jacobian @ null)
    size = np.abs(result.jacobian) @ np.abs(null)
    noise = max(1e-6, 10.0 * fit.problem.noise)
    return np.asarray((along > noise * size).any(axis=-1))
