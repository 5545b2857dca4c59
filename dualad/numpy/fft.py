"""numpy.fft, under the name of the drop-in namespace."""

from typing import Any

import numpy.fft as _original
from numpy.fft import *  # noqa: F403
from numpy.fft import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_original, name)
