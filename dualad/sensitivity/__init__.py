"""Forward sensitivities of models written in plain NumPy: `ode` and what it returns.

>>> import numpy as np
>>> from dualad import sensitivity as ds
>>> decay = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 2.0}, (0.0, 1.0), t_eval=[1.0])
>>> bool(abs(decay.S[0, 0, 0] + np.exp(-2.0)) < 1e-6)
True
"""

from .errors import ModelError, ParameterError, SensitivityError, SensitivityWarning
from .ode import ode
from .parameters import Parameters
from .result import TimeSensitivities

__all__ = [
    "ModelError",
    "ParameterError",
    "Parameters",
    "SensitivityError",
    "SensitivityWarning",
    "TimeSensitivities",
    "ode",
]
