"""An analysis with all of its arguments but the values of the parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import SensitivityError
from ..functions.function import function, given_parameters
from ..parameters.parameters import Parameters
from ..results.sensitivities import Sensitivities

__all__ = ["Problem", "as_problem", "problem"]


class Problem:
    """An analysis that can be run for other values of its parameters; see `problem`."""

    def __init__(self, analysis: Callable[..., Any], args: tuple, options: Mapping[str, Any]):
        self.analysis = analysis
        signature = inspect.signature(analysis)
        if "params" not in signature.parameters:
            raise SensitivityError(f"{analysis.__name__} has no argument params to be varied")
        try:
            self.arguments = dict(signature.bind(*args, **options).arguments)
        except TypeError as error:
            raise SensitivityError(f"{analysis.__name__}: {error}") from None
        self.arguments.update(self.arguments.pop("options", {}))
        given = self.arguments.pop("params")
        self.parameters = given_parameters(given, self.arguments.get("names"))[0]
        self.takes_seed = "seed" in signature.parameters

    def __call__(self, values: Mapping[str, float], seed: Any = None) -> Sensitivities:
        """The result for these values of some of the parameters."""
        arguments = {**self.arguments, "params": self.parameters.replace(**values)}
        if seed is not None:
            arguments |= self._seeded(seed)
        return self.analysis(**arguments)

    def _seeded(self, seed: np.random.SeedSequence) -> dict[str, Any]:
        """The arguments that bring a member's own random numbers in."""
        if self.takes_seed:
            return {"seed": int(seed.generate_state(1)[0])}
        model = self.arguments.get("model")
        if model is not None and _takes(model, "rng"):
            return {"model": Seeded(model, seed)}
        return {}


class Seeded:
    """A model with a generator of its own, which starts anew with each call."""

    def __init__(self, model: Callable[..., Any], seed: np.random.SeedSequence):
        self.model, self.seed = model, seed
        self.__name__ = getattr(model, "__name__", type(model).__name__)

    def __call__(self, *args: Any) -> Any:
        return self.model(*args, rng=np.random.default_rng(self.seed))


def _takes(model: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(model).parameters
    except (TypeError, ValueError):
        return False


def problem(analysis: Callable[..., Any], *args: Any, **options: Any) -> Problem:
    """An analysis that `ensemble` can run for many sets of parameters.

    Args:
        analysis: `function`, `ode`, `simulate`, `root`, or any that has an argument params.
        args, options: its arguments; params gives the values of those that a set leaves out.

    >>> from dualad.sensitivity import function
    >>> area = problem(function, lambda p: p.a * p.b, {"a": 2.0, "b": 3.0})
    >>> float(area({"b": 5.0}).values)
    10.0
    """
    return Problem(analysis, args, options)


def as_problem(given: Any, params: Any, names: tuple[str, ...], options: Mapping[str, Any]) -> Any:
    """A problem from a problem, or from a model that is a function of its parameters.

    Args:
        given: the problem or the model.
        params: the parameters of a model that the sets leave out.
        names: the parameters of the sets.
        options: what else `function` is given for a model.
    """
    if isinstance(given, Problem):
        if params is not None or options:
            raise SensitivityError("the problem has its parameters and options already")
        return given
    if not callable(given):
        raise SensitivityError(
            f"an ensemble is of a problem or of a model, got {type(given).__name__}"
        )
    base = Parameters(dict.fromkeys(names, 1.0) if params is None else params)
    return Problem(function, (given, base), options)
