"""The partial derivative of an elementwise algorithm, found by running it on dual numbers.

Where a function is computed by a series or a recurrence written in NumPy, that program is its own
formula: its derivative in an argument is the program's, to any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..levels.level import Level
from ..levels.values import as_value
from .dual import Dual, make_dual

__all__ = ["slope_in"]


def slope_in(k: int, algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """A partial derivative (out, *args) of an elementwise NumPy program in its argument k."""

    def partial(out: Any, *args: Any) -> Any:
        with Level("derivative of a formula") as level:
            x = as_value(args[k])
            moved = make_dual(level, x, np.ones(x.shape)[()])
            result = algorithm(*args[:k], moved, *args[k + 1 :])
            return result.tangent if type(result) is Dual and result.level is level else 0.0

    return partial
