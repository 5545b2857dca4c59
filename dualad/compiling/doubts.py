"""Small arrays that a program reads itself, and of which it may hold a number as well.

Where a program has numbers that something was computed to, by NumPy, nobody knows of what: of
`data @ x + data.mean()` it has the mean as it was. So such arrays are compared entry by entry,
until they have changed and the numbers have not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Doubts"]


class Doubts:
    """What is known of the arrays that a function reads, from the programs it had."""

    def __init__(self) -> None:
        #: an array, and the numbers of a program -> the array, and what it held when this was made
        self._known: dict[tuple[int, Any], tuple[np.ndarray, bytes | None]] = {}

    def of(self, array: np.ndarray, numbers: tuple) -> bool:
        """Whether numbers of a program, which is new, may be made of an array."""
        if not numbers:
            return False
        now = array.tobytes()
        _, before = self._known.setdefault((id(array), numbers), (array, now))
        if before == now:
            return True
        self._known[id(array), numbers] = array, None
        return False
