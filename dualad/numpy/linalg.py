"""numpy.linalg, under the name of the drop-in namespace."""

from typing import Any

import numpy.linalg as _original
from numpy.linalg import *  # noqa: F403
from numpy.linalg import __all__ as __all__


def __getattr__(name: str) -> Any:
    return getattr(_original, name)
