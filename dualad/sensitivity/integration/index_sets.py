"""Index sets: numbers that remember of which entries of a vector they were made."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["Traced"]


class Traced:
    """A number and the set of indices that it depends on, as the bits of an integer.

    NumPy's object arrays carry such numbers through arithmetic, ufuncs (as methods of the same
    name), slices and matrix products. A product with a constant 0 depends on nothing.
    """

    __slots__ = ("indices", "value")

    def __init__(self, value: float, indices: int):
        self.value, self.indices = value, indices

    @staticmethod
    def run(f: Callable[[Any], Any], y: np.ndarray) -> list[np.ndarray]:
        """For each entry of f(y), the indices of the entries of y that it was made of, sorted."""
        entries = np.empty(y.size, object)
        for i, v in enumerate(y.tolist()):
            entries[i] = Traced(v, 1 << i)
        out = np.asarray(f(entries), object).ravel()
        return [positions(v.indices if isinstance(v, Traced) else 0, y.size) for v in out]

    def __getattr__(self, name: str) -> Any:
        ufunc = getattr(np, name, None)
        if not isinstance(ufunc, np.ufunc) or ufunc.nin != 1:
            raise AttributeError(name)
        return lambda: Traced(float(ufunc(self.value)), self.indices)

    def __neg__(self) -> Traced:
        return Traced(-self.value, self.indices)

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Traced:
        return Traced(abs(self.value), self.indices)

    def __bool__(self) -> bool:
        return bool(self.value)


def positions(bits: int, n: int) -> np.ndarray:
    """Which of the n lowest bits are set."""
    octets = np.frombuffer(bits.to_bytes(n // 8 + 1, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little"))


def _both(
    symbol: Callable[[Any, Any], Any], swapped: bool, absorbing: bool
) -> Callable[[Traced, Any], Any]:
    """An operator with another number, or with a constant."""

    def method(self: Traced, other: Any) -> Any:
        if not isinstance(other, Traced):
            if not isinstance(other, (int, float, np.number)):
                return NotImplemented
            if absorbing and other == 0:
                return 0.0
            other = Traced(float(other), 0)
        a, b = (other.value, self.value) if swapped else (self.value, other.value)
        with np.errstate(all="ignore"):
            value = float(symbol(np.float64(a), np.float64(b)))
        return Traced(value, self.indices | other.indices)

    return method


def _compared(symbol: Callable[[Any, Any], Any]) -> Callable[[Traced, Any], bool]:
    def method(self: Traced, other: Any) -> bool:
        return bool(symbol(self.value, other.value if isinstance(other, Traced) else other))

    return method


for _name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv"):
    _symbol = getattr(operator, _name)
    setattr(Traced, f"__{_name}__", _both(_symbol, False, _name == "mul"))
    setattr(Traced, f"__r{_name}__", _both(_symbol, True, _name in ("mul", "truediv")))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Traced, f"__{_name}__", _compared(getattr(operator, _name)))
