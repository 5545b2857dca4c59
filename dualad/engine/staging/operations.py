"""What a program is written in: variables, operations on them, and questions about them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Guard", "Operation", "Untraceable", "Variable"]


class Variable:
    """A value of a program: its shape and dtype, and by which name it is printed."""

    __slots__ = ("axes", "contiguous", "dtype", "is_array", "number", "shape")

    def __init__(self, value: Any, number: float):
        known = value if hasattr(value, "dtype") else np.asarray(value)
        self.shape: tuple[int, ...] = known.shape
        self.dtype: np.dtype = known.dtype
        #: an ndarray, and no NumPy scalar
        self.is_array = isinstance(value, np.ndarray)
        #: whether its entries lie in memory in C order without gaps
        self.contiguous: bool = not self.is_array or value.flags.c_contiguous
        #: for other orders without gaps, the axes from the one with the largest steps on
        self.axes = None if self.contiguous else _axes(value)
        self.number = number

    def another(self) -> Variable:
        """A new variable of the same kind."""
        new = object.__new__(Variable)
        new.shape, new.dtype, new.number = self.shape, self.dtype, self.number
        new.is_array, new.contiguous, new.axes = self.is_array, self.contiguous, self.axes
        return new

    @property
    def size(self) -> int:
        n = 1
        for d in self.shape:
            n *= d
        return n

    def __repr__(self) -> str:
        return f"v{self.number}: {self.dtype.name}[{','.join(map(str, self.shape))}]"


def _axes(a: np.ndarray) -> tuple[int, ...] | None:
    order = tuple(sorted(range(a.ndim), key=lambda k: -a.strides[k]))
    return order if a.transpose(order).flags.c_contiguous else None


class Operation(NamedTuple):
    """A primitive applied to variables and constants, which may lie inside of its parameters."""

    primitive: Any
    operands: tuple
    params: dict[str, Any]
    results: tuple[Variable, ...]
    #: whether the primitive gives one result, and not a tuple
    is_single: bool
    #: whether it runs without NumPy's warnings, as derivative rules do
    quiet: bool
    #: for each result the operands whose memory it shares
    aliases: tuple[Variable, ...]


class Guard(NamedTuple):
    """What Python was told about a variable: the question, the answer, and who asked."""

    variable: Variable
    question: str
    answer: Any
    where: str


class Untraceable(Exception):
    """What keeps a function from being written down as a program."""

    def __init__(self, why: str, always: bool = False):
        super().__init__(why)
        #: whether it does so whenever the function is called
        self.always = always
