"""Numbers as arrays without axes: NumPy multiplies an array by one in two thirds of the time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.memory import F64
from ..kinds.dual import Dual

__all__ = ["ARRAYS", "doubled"]

#: How many numbers are held.
LIMIT = 256
#: Up to here every integer is a float64.
EXACT = 1 << 53


class _Arrays(dict):
    """number -> a float64 array without axes, not to be written to; made when it is asked for.

    Python's floats and integers have the same meaning beside an array of float64. An integer that
    no float64 is stays what it is.
    """

    def __missing__(self, number: float) -> np.ndarray | float:
        if type(number) is int and not -EXACT <= number <= EXACT:
            return number
        array = np.array(number, np.float64)
        array.flags.writeable = False
        if number and number == number:  # -0.0 would be found as 0.0, and NaN never
            if len(self) >= LIMIT:
                self.clear()
            self[number] = array
        return array


ARRAYS = _Arrays()
TWO = ARRAYS[2]


def doubled(x: Any) -> Any:
    """x + x; of an array, which that reads twice, as a multiple, which reads it once."""
    if type(x) is np.ndarray:
        return TWO * x if x.dtype is F64 else x + x
    arrays = type(x) is Dual and type(x.primal) is np.ndarray
    return x * 2.0 if arrays else x + x
