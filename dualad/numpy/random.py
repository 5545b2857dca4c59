"""numpy.random, under the name of the drop-in namespace: what it draws are plain arrays."""

from typing import Any

import numpy.random as _original
from numpy.random import *  # noqa: F403
from numpy.random import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_original, name)
