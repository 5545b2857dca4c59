"""Named parameters in a fixed order, and what a model sees of them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .errors import ParameterError, unknown_name

__all__ = ["ModelParameters", "Parameters"]


class Parameters(Mapping[str, float]):
    """Named finite real numbers in a fixed order.

    Args:
        values: a mapping of names to numbers, or pairs of a name and a number.

    Raises:
        ParameterError: a name is no string or comes twice; a value is not a finite real number.

    >>> p = Parameters({"k1": 0.04, "k2": 1e4})
    >>> p["k1"], p.names, p.vector()
    (0.04, ('k1', 'k2'), array([4.e-02, 1.e+04]))
    """

    def __init__(self, values: Mapping[str, float] | Iterable[tuple[str, float]]):
        pairs = list(values.items() if isinstance(values, Mapping) else values)
        self._values: dict[str, float] = {}
        for name, value in pairs:
            if not isinstance(name, str) or not name or name.startswith("__"):
                raise ParameterError(f"the name of a parameter must be a string, got {name!r}")
            if name in self._values:
                raise ParameterError(f"there are two parameters of the name {name!r}")
            self._values[name] = _number(name, value)

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            raise KeyError(unknown_name("parameter", name, self._values))
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Parameters({self._values})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(self._values)

    def vector(self) -> np.ndarray:
        """The values, in order."""
        return np.array(list(self._values.values()), float)

    def subset(self, names: Iterable[str]) -> Parameters:
        """These parameters alone, in the order in which they are named.

        Raises:
            ParameterError: a name is unknown or comes twice.
        """
        chosen = [names] if isinstance(names, str) else list(names)
        for name in chosen:
            if name not in self._values:
                raise ParameterError(unknown_name("parameter", name, self._values))
        return Parameters((name, self._values[name]) for name in chosen)

    def replace(self, **values: float) -> Parameters:
        """The same parameters with some values changed."""
        for name in values:
            if name not in self._values:
                raise ParameterError(unknown_name("parameter", name, self._values))
        return Parameters({**self._values, **values})


def _number(name: str, value: Any) -> float:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise ParameterError(
            f"parameter {name!r} must be a real number, got {value!r} of type "
            f"{type(value).__name__}"
        )
    if not math.isfinite(value):
        raise ParameterError(f"parameter {name!r} is {value}: it must be finite")
    return float(value)


class ModelParameters:
    """What a model sees: `p.k1` or `p["k1"]`, a number or a traced number."""

    def __init__(self, values: Mapping[str, Any]):
        self.__dict__.update(values)

    def __getitem__(self, name: str) -> Any:
        if name not in self.__dict__:
            raise KeyError(unknown_name("parameter", name, self.__dict__))
        return self.__dict__[name]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(unknown_name("parameter", name, self.__dict__))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a model may read its parameters, not set them ({name!r})")

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__)

    def __len__(self) -> int:
        return len(self.__dict__)

    def __repr__(self) -> str:
        return f"ModelParameters({self.__dict__})"
