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
from .events import Event, EventTimes
from .fit import fit
from .fit_result import FitResult
from .fixed_point import fixed_point
from .function import function
from .linear_solve import linear_solve
from .minimize import minimize
from .ode import ode
from .parameters import Parameter, Parameters
from .propagate import gum_second_order, propagate
from .propagated import Propagated
from .result import Sensitivities, TimeSensitivities
from .root import root
from .sampling import ParameterSets, sample
from .simulate import simulate
from .steady_sensitivities import SteadySensitivities
from .steady_state import steady_state
from .tabular import Table
from .times import Time

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
