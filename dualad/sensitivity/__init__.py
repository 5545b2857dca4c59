"""Forward sensitivities of models written in plain NumPy, by named parameters.

>>> import numpy as np
>>> from dualad import sensitivity as ds
>>> decay = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 2.0}, (0.0, 1.0), t_eval=[1.0])
>>> bool(abs(decay.S[0, 0, 0] + np.exp(-2.0)) < 1e-6)
True
"""

from .ensembles import Ensemble, Failure, Problem, ensemble, problem, to_salib
from .errors import (
    CheckError,
    EventError,
    ModelError,
    NotIdentifiableError,
    NotIdentifiableWarning,
    ParameterError,
    SensitivityError,
    SensitivityWarning,
)
from .fitting.fit import fit
from .fitting.fit_result import FitResult
from .functions.function import function
from .functions.propagate import gum_second_order, propagate
from .functions.sampling import ParameterSets, sample
from .functions.simulate import simulate
from .implicit.fixed_point import fixed_point
from .implicit.linear_solve import linear_solve
from .implicit.minimize import minimize
from .implicit.root import root
from .implicit.steady_state import steady_state
from .integration.events import Event, EventTimes
from .integration.ode import ode
from .integration.times import Time
from .parameters.parameter import Parameter
from .parameters.parameters import Parameters
from .results.propagated import Propagated
from .results.sensitivities import Sensitivities
from .results.steady_sensitivities import SteadySensitivities
from .results.tabular import Table
from .results.time_sensitivities import TimeSensitivities

__all__ = [
    "CheckError",
    "Ensemble",
    "Event",
    "EventError",
    "EventTimes",
    "Failure",
    "FitResult",
    "ModelError",
    "NotIdentifiableError",
    "NotIdentifiableWarning",
    "Parameter",
    "ParameterError",
    "ParameterSets",
    "Parameters",
    "Problem",
    "Propagated",
    "Sensitivities",
    "SensitivityError",
    "SensitivityWarning",
    "SteadySensitivities",
    "Table",
    "Time",
    "TimeSensitivities",
    "ensemble",
    "fit",
    "fixed_point",
    "function",
    "gum_second_order",
    "linear_solve",
    "minimize",
    "ode",
    "problem",
    "propagate",
    "root",
    "sample",
    "simulate",
    "steady_state",
    "to_salib",
]
