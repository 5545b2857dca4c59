"""Least-squares fits of models with named parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import (
    ModelError,
    NotIdentifiableError,
    NotIdentifiableWarning,
    SensitivityError,
)
from ..given import number, one_of
from ..notices import warn
from ..parameters.parameters import Parameters
from ..parameters.unit_text import units_by_name
from ..progress import Line
from ..results.sensitivities import Sensitivities
from .fit_result import FitResult
from .fit_uncertainty import FitUncertainty, fit_uncertainty
from .least_squares import Estimate, LeastSquares
from .loss import LOSSES
from .observations import Observations, observations, without_index
from .predictor import Predictor
from .starts import started

__all__ = ["fit"]

#: How often the standard deviations of the outputs are estimated anew.
ROUNDS = 200


def fit(
    model: Callable[..., Any],
    params: Mapping[str, Any],
    data: Any,
    *,
    x: Any = None,
    sigma: Any = None,
    covariance: Any = None,
    absolute: bool = True,
    bounds: Any = "from parameters",
    loss: str = "linear",
    method: str = "trf",
    start: Any = "values",
    wrt: Iterable[str] | None = None,
    missing: str = "error",
    seed: int = 0,
    f_scale: float = 1.0,
    units: Mapping[str, str] | str | None = None,
    progress: bool = False,
    **least_squares: Any,
) -> FitResult:
    """The parameters that fit a model to data by least squares, with their uncertainties.

    SciPy searches with exact Jacobians; Newton's method with exact second derivatives goes on to
    the minimum itself, so that the result does not depend on where a search gave up.

    Args:
        model: model(p), or model(p, x) where x is given; written in NumPy. It returns predictions
            in the shape of the data, or for data with names a mapping that has those names. It
            may also return the result of `ode`, `root`, `steady_state` or `linear_solve`, with p
            handed on as their parameters: their derivatives are then taken. Where it fails after
            it once worked, a trial counts as bad; `max_steps` of `ode` limits what that may cost.
        params: all parameters, by name; the values are the start. `Parameter(..., fixed=True)`
            stays as it is; `scale="log"` is searched by its logarithm.
        data: the observations: an array, a Series, a DataFrame or a mapping of names to arrays.
        x: what the model is given beside p, such as the places of the observations.
        sigma: the standard deviations: one number, or one for each observation, or by name. None:
            equal, and estimated from the residuals. "estimate": so for each output of its own.
        covariance: that of the observations, in place of sigma.
        absolute: False takes sigma or covariance up to a common factor, which is estimated.
        bounds: "from parameters"; None; or a mapping of names to (lower, upper).
        loss: "linear", or for outliers "soft_l1", "huber", "cauchy" or "arctan", with f_scale.
        method: of `scipy.optimize.least_squares`: "trf", "dogbox" or (without bounds) "lm".
        start: "values"; a mapping or vector of other values; or a number of starts, drawn within
            the bounds or around the values, of which the best is taken.
        wrt: the names of the parameters to fit; default all that are not fixed.
        missing: "drop" leaves out observations that are NaN; "error" refuses them.
        seed: of the drawn starts.
        f_scale: the residual, in units of sigma, beyond which the loss takes it for an outlier.
        units: of the outputs, by name or one for all.
        progress: show on a terminal how far a long fit has come.
        least_squares: further options of `scipy.optimize.least_squares`.

    Raises:
        SensitivityError: the data hold NaN, sigma is not positive, there are fewer observations
            than parameters, an option is unknown.
        ModelError: the model fails, or the search ends away from a minimum.
        ParameterError: a name is unknown, a value is outside of its bounds.

    Warns:
        NotIdentifiableWarning: the data do not determine all parameters; it names which
            combination they leave open, and the standard errors of those are infinite.
        SensitivityWarning: a parameter ends at a bound; there are no degrees of freedom.

    >>> t = np.array([0.0, 1.0, 2.0, 3.0])
    >>> f = fit(lambda p, t: p.a + p.b * t, {"a": 0.0, "b": 1.0}, [1.0, 3.0, 4.0, 8.0], x=t)
    >>> f.values.round(6), (f.standard_errors**2).round(6)
    (array([0.7, 2.2]), array([0.63, 0.18]))
    """
    begun = time.perf_counter()
    one_of("loss", loss, LOSSES)
    if not (np.isfinite(number("f_scale", f_scale)) and f_scale > 0):
        raise SensitivityError(f"f_scale must be positive, got {f_scale}")
    parameters = Parameters(params)
    seen = observations(data, sigma, covariance, absolute, missing)
    parameters, starts = started(parameters, start, wrt, seed)
    free = parameters.chosen(wrt)
    require_enough(seen, free)
    args = () if x is None else (without_index(x),)
    predictor = Predictor(model, parameters, free, args, seen)
    problem = LeastSquares(
        predictor, seen, free, bounds_of(free, bounds), loss, float(f_scale)
    )  # fmt: skip
    with Line(progress) as problem.line:
        if seen.own:
            problem, estimate = reweighed(problem, starts, method, least_squares)
            seen = problem.seen
        else:
            estimate = best_of(problem, starts, method, least_squares)
    sensitivities = predicted(predictor, estimate, free, units)
    spread = fit_uncertainty(problem, estimate, sensitivities)
    notes = warned(estimate, spread, free, seen)
    return FitResult(
        problem, estimate, spread, sensitivities,
        stats={"evaluations": predictor.evaluations, "wall": time.perf_counter() - begun},
        settings={"method": method, "loss": loss, "f_scale": f_scale, "x": x},
        notes=notes,
    )  # fmt: skip


def require_enough(seen: Observations, free: Parameters) -> None:
    """As many observations as parameters, at least."""
    if len(seen.y) < len(free):
        raise NotIdentifiableError(
            f"{len(seen.y)} observations cannot determine {len(free)} parameters "
            f"({', '.join(free)}): fix some of them (Parameter(..., fixed=True)) or observe more"
        )


def bounds_of(free: Parameters, bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of the free parameters."""
    none = np.full(len(free), -np.inf), np.full(len(free), np.inf)
    if bounds is None:
        return none
    if isinstance(bounds, str):
        if bounds != "from parameters":
            raise SensitivityError(
                f"bounds must be 'from parameters', None for none, or a mapping of names to "
                f"(lower, upper), got {bounds!r}"
            )
        return free.bounds
    if not isinstance(bounds, Mapping):
        raise SensitivityError(
            f"bounds must be 'from parameters', None for none, or a mapping of names to "
            f"(lower, upper), got {bounds!r}"
        )
    free.subset(bounds)
    pairs = {name: (p.lower, p.upper) for name, p in free.details()} | dict(bounds)
    checked = Parameters(
        (name, replace(p, lower=pairs[name][0], upper=pairs[name][1]))
        for name, p in free.details()
    )
    return checked.bounds


def best_of(
    problem: LeastSquares, starts: Sequence[np.ndarray], method: str, options: dict[str, Any]
) -> Estimate:
    """The estimate from the start that leads lowest; those that lead nowhere are passed over."""
    found: list[tuple[float, np.ndarray, str]] = []
    failure: Exception | None = None
    for theta in starts:
        try:
            phi, message = problem.search(theta, method, options)
            found.append((problem.cost(phi), phi, message))
        except SensitivityError as error:
            if len(starts) == 1 or not isinstance(error, ModelError):
                raise
            failure = error
        except (TypeError, ValueError) as error:
            raise SensitivityError(f"least_squares refused: {error}") from error
    if not found:
        raise ModelError(f"none of {len(starts)} starts led anywhere; the last: {failure}")
    _, phi, message = min(found, key=lambda f: f[0])
    return problem.estimate(phi, message)


def reweighed(
    problem: LeastSquares, starts: Sequence[np.ndarray], method: str, options: dict[str, Any]
) -> tuple[LeastSquares, Estimate]:
    """The estimate where each output has a standard deviation that is estimated with the rest.

    That of an output is the root of its mean square, less a share of the degrees of freedom, at
    the estimate that these deviations lead to. Seber and Wild, Nonlinear Regression (1989),
    section 11.3.
    """
    seen, predictor = problem.seen, problem.predictor
    sizes = np.bincount(seen.output_of)
    sigma = np.array([_spread(seen.y[seen.output_of == i]) for i in range(len(sizes))])
    left = sizes * (1.0 - len(problem.free) / len(seen.y))
    if not (left > 0).all():
        raise SensitivityError("too few observations to estimate a sigma for each output")
    estimate = None
    for _ in range(ROUNDS):
        predictor.seen = seen = seen.weighed_by(sigma[seen.output_of])
        problem.seen = seen
        estimate = best_of(problem, starts, method, options)
        starts = [estimate.theta]
        rest = np.bincount(seen.output_of, (estimate.residual * seen.sigma) ** 2)
        old, sigma = sigma, np.maximum(np.sqrt(rest / left), 1e-12 * sigma)
        if np.abs(sigma / old - 1.0).max() < 1e-9:
            return problem, estimate
    names = ", ".join(seen.names or ())
    raise ModelError(
        f"the standard deviations of {names} do not settle: give them, or a common one with "
        f"sigma=None"
    )


def _spread(y: np.ndarray) -> float:
    """A first guess of the standard deviation of observations: their own."""
    return float(y.std()) or float(np.abs(y).max()) or 1.0


def predicted(
    predictor: Predictor, estimate: Estimate, free: Parameters, units: Any
) -> Sensitivities:
    """The predictions at the estimate as a result of their own, by the free parameters."""
    values, jacobian = predictor.evaluate(estimate.theta)
    seen, (names, groups) = predictor.seen, predictor.entry_names()
    own = {} if predictor.analysed is None else predictor.analysed.output_units
    given = units_by_name({n: u for n, u in own.items() if n in groups}, names, groups)
    given |= units_by_name(units, names, groups)
    names = tuple(n for n, kept in zip(names, seen.kept, strict=True) if kept)
    settings = {} if predictor.analysed is None else dict(predictor.analysed.settings)
    return Sensitivities(
        values, jacobian, outputs=names, settings=settings,
        parameters=free_at(free, estimate.theta),
        units={n: u for n, u in given.items() if n in names},
        again=predictor.values_at,
    )  # fmt: skip


def free_at(free: Parameters, theta: np.ndarray) -> Parameters:
    """The free parameters at the estimate, which other bounds than theirs may have led to."""
    return Parameters(
        (name, replace(p, value=float(v), lower=None, upper=None))
        for (name, p), v in zip(free.details(), theta, strict=True)
    )


def warned(
    estimate: Estimate, spread: FitUncertainty, free: Parameters, seen: Observations
) -> list[str]:
    """What to know before the uncertainties are believed."""
    notes = []
    if spread.open:
        text = (
            f"the data do not determine {', '.join(spread.open)}: {spread.reason}. Their standard "
            f"errors are infinite; those of the others hold"
        )
        warn(text, NotIdentifiableWarning, stacklevel=3)
        notes.append(text)
    held = [name for name, at in zip(free, estimate.at_bound, strict=True) if at]
    if held:
        text = (
            f"{', '.join(held)} ended at a bound: it has no standard error, and those of the "
            f"others hold for it as it is"
        )
        warn(text, stacklevel=3)
        notes.append(text)
    if not spread.dof and not seen.known:
        text = (
            "as many parameters as observations: no degree of freedom is left to estimate the "
            "standard deviation from, so that standard errors are infinite. Give sigma"
        )
        warn(text, stacklevel=3)
        notes.append(text)
    return notes
