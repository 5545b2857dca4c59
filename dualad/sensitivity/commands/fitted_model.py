"""The model of a file as `fit` takes it: over the times, or for the x, of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ensembles.problem import Problem
from ..errors import SensitivityError
from ..functions.function import function
from ..functions.function_model import is_result
from ..integration.ode import ode
from ..model_file import required_arguments, second_argument
from ..parameters.parameters import ModelParameters
from ..results.time_sensitivities import TimeSensitivities
from .data import Data

__all__ = ["Question", "question"]

#: So many places make a smooth line.
FINE = 200


@dataclass(frozen=True)
class Question:
    """The arguments of `fit`, and what a picture of it needs.

    Attributes:
        problem: with the parameters.
        model, x, seen, sigma: see `fit`.
        data: the columns.
        finer: the model and its x for a smooth line, with the places; None where there is none.
    """

    problem: Problem
    model: Callable[..., Any]
    x: Any
    seen: Any
    sigma: Any
    data: Data
    finer: tuple[Callable[..., Any], Any, np.ndarray] | None


def question(
    problem: Problem, data_of: Callable[[str], Data], names: Sequence[str] | None = None
) -> Question:
    """What is to be fitted.

    Args:
        problem: of the model file.
        data_of: gives the data for a model over "t", one of "x", or one of neither, "".
        names: the columns that are x, where they are given.
    """
    if problem.analysis is ode:
        return _over_time(problem, data_of("t"))
    if problem.analysis is function:
        return _of_function(problem, data_of, names)
    raise SensitivityError(
        f"fit is for rhs(t, y, p), model(p, x) or model(p), and this model is one for "
        f"{problem.analysis.__name__}: let model(p) return what {problem.analysis.__name__} gives"
    )


def _over_time(problem: Problem, data: Data) -> Question:
    ((_, times),) = data.x.items() if len(data.x) == 1 else [("", np.empty(0))]
    if not times.size:
        raise SensitivityError("a differential equation is fitted over one column, t")
    course = Course(problem, times)
    fine = np.linspace(course.t0 if course.t0 is not None else times.min(), times.max(), FINE)
    finer = Course(problem, fine)
    return Question(problem, course, None, data.seen, data.sigma, data, (finer, None, fine))


class Course:
    """The solution at some times, in any order, also repeated ones, as a function of p."""

    def __init__(self, problem: Problem, times: np.ndarray):
        self.problem = problem
        self.times, self.at = np.unique(times, return_inverse=True)
        first = problem.arguments["t_span"][0]
        self.t0 = None if callable(first) else float(first)
        self.__name__ = getattr(problem.arguments["rhs"], "__name__", "rhs")

    def __call__(self, p: Any) -> TimeSensitivities:
        first = self.problem.arguments["t_span"][0]
        arguments = {name: v for name, v in self.problem.arguments.items() if name != "wrt"}
        arguments |= {"params": p, "t_eval": self.times, "t_span": (first, self.times[-1])}
        result = ode(**arguments)
        if len(self.at) == len(self.times) and (self.at == np.arange(len(self.at))).all():
            return result
        return result.replace(t=result.t[self.at], y=result.y[self.at], S=result.S[self.at])


def _x_name(
    model: Callable[..., Any], data_of: Callable[[str], Data], names: Sequence[str] | None
) -> str:
    """What the x of a model is called; "" for model(p).

    One with a default, model(p, x=grid), is given where the data have a column of that name.
    """
    if required_arguments(model) == 2:
        return "x"
    second = second_argument(model)
    return second if second and (names or second in data_of("").columns) else ""


def _of_function(
    problem: Problem, data_of: Callable[[str], Data], names: Sequence[str] | None
) -> Question:
    model = problem.arguments["model"]
    name = _x_name(model, data_of, names)
    with_x, data = name != "", data_of(name)
    x = _x_of(data.x) if with_x else None
    args = (x,) if with_x else ()
    returned = model(ModelParameters(dict(problem.parameters)), *args)
    named = isinstance(returned, Mapping) or is_result(returned)
    if not named and len(data.seen) > 1:
        raise SensitivityError(
            f"{data.name} has observations of {', '.join(data.seen)}; a model that returns one "
            f"array is fitted to one of them: --outputs NAME, or return a mapping of these names; "
            f"a column that the model is to be given is its second argument, model(p, x)"
        )
    seen = data.seen if named else next(iter(data.seen.values()))
    sigma = data.sigma if named or data.sigma is None else next(iter(data.sigma.values()))
    finer = None
    if with_x and len(data.x) == 1:
        places = next(iter(data.x.values()))
        fine = np.linspace(places.min(), places.max(), FINE)
        finer = (model, fine, fine)
    return Question(problem, model, x, seen, sigma, data, finer)


def _x_of(columns: Mapping[str, np.ndarray]) -> Any:
    """One column as an array, several as a dict."""
    return next(iter(columns.values())) if len(columns) == 1 else dict(columns)
