"""Recordings that last: what their rules read is not reached by later writes to the arguments.

An argument that no rule reads, as that of a product with constants, need not be copied. Whether
one is read is not known before the function has run; afterwards the reference counts tell. So
large arguments go in as they are, and only those are copied that the tape turns out to hold.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..engine.levels.traced import raw
from ..engine.programs.entries import pull_custom
from ..engine.programs.kept import kept
from ..engine.programs.linear import pull_composite
from ..engine.requires_grad.graph import rebased
from ..engine.requires_grad.visible import is_functional
from ..errors import ArgumentError

__all__ = ["Deferred", "apart"]

#: Arguments of fewer bytes are copied at once.
SMALL = 1 << 15


def apart(value: Any) -> Any:
    """A value in memory of its own."""
    plain = raw(value)
    if not isinstance(plain, np.ndarray) or is_functional(value):
        return kept(value)
    return rebased(value, plain.copy(order="K"))


class Deferred:
    """A large argument, of which the function gets a view; copied if the recording holds on to it.

    Every array that is made of the view by indexing or reshaping has the argument as its base.
    """

    __slots__ = ("argument", "before", "copy", "view")

    def __init__(self, argument: np.ndarray):
        self.argument, self.view = argument, argument.view()
        self.before = (0, 0)
        self.copy: np.ndarray | None = None

    @staticmethod
    def suits(value: Any) -> bool:
        """Whether a value is an array whose views all name it as their base."""
        return (
            type(value) is np.ndarray
            and value.base is None
            and value.nbytes >= SMALL
            and value.flags.c_contiguous
        )

    def references(self) -> tuple[int, int]:
        return sys.getrefcount(self.argument), sys.getrefcount(self.view)

    def is_held(self) -> bool:
        return any(now > then for now, then in zip(self.references(), self.before, strict=True))

    def moved(self, x: Any, copy: np.ndarray) -> Any:
        """An entry of a tape, or a part of one, with the copy in place of the argument."""
        kind = type(x)
        if kind is np.ndarray:
            if x is not self.view and x is not self.argument and x.base is not self.argument:
                return x
            offset = x.ctypes.data - self.argument.ctypes.data
            return np.ndarray(x.shape, x.dtype, copy, offset, x.strides)
        if kind is tuple or kind is list:
            parts = [self.moved(v, copy) for v in x]
            same = all(new is old for new, old in zip(parts, x, strict=True))
            return x if same else kind(parts)
        if kind is dict:
            return {k: self.moved(v, copy) for k, v in x.items()}
        return x

    def settle(self, tape: list, first: int) -> Any:
        """The value that the recording reads from now on: the view where it reads none."""
        entries = tape[first:]
        hidden = any(entry[0] is pull_custom for entry in entries)
        if not (hidden or any(map(may_start_again, entries)) or self.is_held()):
            return self.view
        copy = self.argument.copy()
        tape[first:] = [self.moved(entry, copy) for entry in entries]
        if hidden:
            self.copy = copy
        return copy

    def check(self, name: str) -> None:
        """Refuse to go on where a custom rule may read the argument and it was written to."""
        if self.copy is not None and not np.array_equal(self.argument, self.copy, equal_nan=True):
            raise ArgumentError(
                f"{name} was written to after the function had been recorded, and a custom rule "
                f"may read it: record again, or give a copy of it"
            )


def may_start_again(entry: tuple) -> bool:
    """Whether a sweep may end in forward mode from the arguments on.

    That is so where singular or eigenvectors are not unique; their operations give a tuple.
    """
    return entry[0] is pull_composite and isinstance(entry[5], tuple)
