"""Analyses for many sets of parameters: `ensemble`, its result, and what it is made of."""

from .global_bounds import to_salib
from .problem import Problem, problem
from .result import Ensemble, Failure
from .run import ensemble

__all__ = ["Ensemble", "Failure", "Problem", "ensemble", "problem", "to_salib"]
