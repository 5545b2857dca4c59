"""What the function itself would have in place of a staged scalar: a number of Python, mostly.

A staged scalar is NumPy's. Where the function computes with a number of Python (an argument,
x.item(), and what operators make of these alone), NumPy gives a result the dtype of the other
operand, and the caller gets a number of Python. So it is remembered which scalars stand for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..primitives.elementwise import Elementwise
from ..primitives.primitive import PRIMITIVES

__all__ = ["COMPARISONS", "NotNumbers", "Shown", "cast", "python_type"]

#: The types of Python's numbers by the kind of a dtype, and a number of each.
TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
#: Up to which number a whole one may be multiplied.
FACTOR = 2**16
#: Comparisons that Python has for complex numbers as well.
EQUALITIES = ("equal", "not_equal")
COMPARISONS = frozenset("less less_equal equal not_equal greater greater_equal".split())
OPERATORS = frozenset(
    "add subtract multiply divide negative positive power polynomial_power complex_power "
    "remainder floor_divide absolute bitwise_and bitwise_or bitwise_xor invert".split()
)


def python_type(dtype: np.dtype) -> type | None:
    """The type of the Python number that an entry of a dtype becomes; None for a longdouble."""
    return None if dtype.kind in "fc" and dtype.char in "gG" else TYPES[dtype.kind]


class NotNumbers(Exception):
    """Python computes with its numbers otherwise than NumPy does."""


class Shown:
    """Staged scalars by identity, with the types that stand in their place in the function."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, type]] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def mark(self, x: Any, kind: type | None) -> Any:
        """Remember what a scalar stands for; None: for itself."""
        if kind is None:
            self._known.pop(id(x), None)
        else:
            self._known[id(x)] = (x, kind)
        return x

    def kinds(self) -> dict[int, type]:
        """What the scalars stand for, by identity."""
        return {n: kind for n, (_, kind) in self._known.items()}

    def kind(self, x: Any) -> type | None:
        """What a value stands for; None: for itself."""
        known = self._known.get(id(x))
        return None if known is None else known[1]

    def number(self, x: Any) -> type | None:
        """The type of the Python number that a value is or stands for; None if it is NumPy's."""
        kind = self.kind(x)
        if kind is None:
            return type(x) if type(x) in (bool, int, float, complex) else None
        return kind if kind is not np.ndarray else None

    def wanted(self, primitive: Any, args: Sequence[Any]) -> np.dtype | None:
        """The dtype as which an operation takes the numbers of Python among its operands.

        None where that is the dtype which they have here.
        """
        kinds = [self.number(a) for a in args]
        others = [a.dtype for a, k in zip(args, kinds, strict=True) if k is None and _has_dtype(a)]
        mine = [k for a, k in zip(args, kinds, strict=True) if k is not None and self.kind(a)]
        if not mine or not others:
            return None
        if not _takes_numbers(primitive):
            return None
        weak = np.result_type(*others, *[k(0) for k in mine])
        strong = np.result_type(*others, *[np.dtype(k) for k in mine])
        if weak == strong:
            return None
        if weak.kind in "iub":
            raise NotNumbers("it computes with a whole number of Python in an array of few bits")
        return weak

    def of_result(self, primitive: Any, args: Sequence[Any]) -> type | None:
        """What the result of an operation on numbers of Python alone stands for."""
        name = primitive.name
        if name not in OPERATORS and name not in COMPARISONS:
            return None
        kinds = [self.number(a) for a in args]
        if kinds[0] is complex and len(args) == 2 and _is_float(args[1], kinds[1]):
            kinds[1] = float  # np.float64 is a float, to which Python's complex numbers are added
        if None in kinds or not any(map(self.kind, args)):
            return None
        if name in COMPARISONS:
            if complex in kinds and name not in EQUALITIES:
                raise NotNumbers("it puts complex numbers of Python in order")
            return bool
        known = [k for k in (complex, float, int, bool) if k in kinds]
        if known[0] is complex and name == "absolute":
            return float
        if known[0] is int and name == "divide":
            return float
        if known[0] is int and not self._is_in_range(name, args):
            raise NotNumbers("it computes with whole numbers of Python, which have no bounds")
        if known[0] is bool and name not in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            raise NotNumbers("it computes with truth values of Python, which are numbers there")
        return known[0]

    def _is_in_range(self, name: str, args: Sequence[Any]) -> bool:
        """Whether 64 bits hold what is computed of whole numbers of half as many."""
        if name in ("power", "polynomial_power"):
            return False
        if name in ("multiply", "floor_divide", "remainder"):
            literal = [type(a) is int and abs(a) < FACTOR for a in args]
            return any(literal) if name == "multiply" else bool(literal[-1] and args[-1])
        return True


def _is_float(a: Any, kind: type | None) -> bool:
    """Whether a value that stands for none of Python's numbers is a scalar of their kind."""
    if kind is not None or not _has_dtype(a) or a.dtype != np.float64 or a.shape != ():
        return False
    return not getattr(getattr(a, "tangent", a), "is_array", isinstance(a, np.ndarray))


def _has_dtype(a: Any) -> bool:
    return hasattr(a, "dtype")


def _takes_numbers(primitive: Any) -> bool:
    """Whether an operation gives numbers of Python the dtype of its other operands."""
    if primitive.name == "float_power":
        return False  # which computes in double precision
    known = isinstance(primitive, Elementwise) or isinstance(primitive.impl, np.ufunc)
    return known or primitive.name == "where"


def cast(x: Any, dtype: np.dtype) -> Any:
    """A staged scalar in another dtype."""
    return PRIMITIVES["cast"](x, dtype=dtype)
