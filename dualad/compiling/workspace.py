"""Memory that a program keeps from call to call, for large values that never leave it.

A new array of some hundred kilobytes costs as much again as what is computed into it: the system
gives its pages one by one. A call takes a set of arrays and gives it back when it ends; calls that
run at once, in threads or inside of each other, have a set each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["LEAST_BYTES", "MOST_BYTES", "Plan", "Workspace"]

#: From how many bytes a value lies in the workspace, and how many a workspace has at most.
LEAST_BYTES, MOST_BYTES = 1 << 16, 1 << 25

Kind = tuple[tuple[int, ...], np.dtype]


class Workspace:
    """Sets of arrays, each for one call."""

    def __init__(self, kinds: list[Kind]):
        self.kinds = kinds
        self._unused: list[list[np.ndarray]] = []

    def take(self) -> list[np.ndarray]:
        """A set that no other call has."""
        try:
            return self._unused.pop()
        except IndexError:
            return [np.empty(shape, dtype) for shape, dtype in self.kinds]

    def give(self, arrays: list[np.ndarray]) -> None:
        """Give a set back."""
        self._unused.append(arrays)


class Plan:
    """Which array of the workspace a value lies in, and for how long."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self.homes: dict[Any, int] = {}
        self._unused: dict[Kind, list[int]] = {}
        self._bytes = 0

    def home(self, v: Any, shape: tuple[int, ...], dtype: np.dtype) -> str | None:
        """The name of an array for a value; None where there is no room."""
        free = self._unused.get((shape, dtype))
        if free:
            self.homes[v] = free.pop()
        else:
            size = math.prod(shape) * dtype.itemsize
            if self._bytes + size > MOST_BYTES:
                return None
            self._bytes += size
            self.homes[v] = len(self.kinds)
            self.kinds.append((shape, dtype))
        return f"w{self.homes[v]}"

    def move(self, r: Any, x: Any) -> None:
        """A value takes the place of another one."""
        if x in self.homes:
            self.homes[r] = self.homes.pop(x)

    def leave(self, v: Any) -> None:
        """A value is not read any more."""
        n = self.homes.pop(v)
        self._unused.setdefault(self.kinds[n], []).append(n)

    def around(self, lines: list[str]) -> list[str]:
        """The lines of a function with the workspace taken before and given back after them."""
        if not self.kinds:
            return lines
        names = ", ".join(f"w{n}" for n in range(len(self.kinds)))
        return [
            "    work = workspace.take()",
            "    try:",
            f"        {names}{',' if len(self.kinds) == 1 else ''} = work",
            *["    " + line for line in lines],
            "    finally:",
            "        workspace.give(work)",
        ]
