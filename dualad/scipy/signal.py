"""scipy.signal, whose convolutions differentiate; all else is SciPy's.

>>> import numpy as np, dualad
>>> from dualad.scipy.signal import convolve
>>> dualad.grad(lambda v: np.sum(convolve(np.array([1.0, 2.0]), v)))(np.ones(2))
array([3., 3.])
"""

from __future__ import annotations

from typing import Any

import scipy.signal as _original

from ..ops.dropin import attribute as _attribute
from ..ops.signals import convolve, correlate, fftconvolve

__all__ = ["convolve", "correlate", "fftconvolve"]


def __getattr__(name: str) -> Any:
    return _attribute(_original, name, __all__)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_original)})
