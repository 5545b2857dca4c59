"""What an implicit problem is solved for: names, shape and start of the unknowns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ..errors import ModelError
from ..given import called_with
from ..named import mapping_of
from ..parameters.parameters import ModelParameters, Parameters

__all__ = ["Unknowns", "names_of_shape", "unknowns_of"]


@dataclass(frozen=True)
class Unknowns:
    """The unknowns x of an implicit problem, flat inside and in the user's shape outside.

    Attributes:
        names: one name an entry.
        shape: the shape that the user's function is given; () for a single number.
        start: where the search begins, flat.
        of_parameters: x0(p), where the start was given as a function of the parameters.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    start: np.ndarray
    of_parameters: Callable[[Any], Any] | None = None

    def shaped(self, x: Any) -> Any:
        """The flat vector x as the user's function wants it."""
        return x if self.shape == (len(self.names),) else x.reshape(self.shape)[()]

    def start_at(self, p: ModelParameters) -> Any:
        """The start, flat, traced where it depends on traced parameters."""
        if self.of_parameters is None:
            return self.start
        return _flat(self.of_parameters(p)).reshape((-1,))

    def describe(self, x: np.ndarray) -> str:
        """The values of the unknowns by name; of many only the first."""
        pairs = [f"{n} = {v:.6g}" for n, v in zip(self.names[:8], x[:8], strict=True)]
        return ", ".join(pairs) + (", ..." if len(self.names) > 8 else "")


def unknowns_of(x0: Any, parameters: Parameters) -> Unknowns:
    """The unknowns that a start stands for: a number, an array, a mapping of names, or x0(p).

    Raises:
        ModelError: the start is empty, not finite, or holds no real numbers.
    """
    value = x0
    if callable(x0):
        value = called_with("x0", x0, ModelParameters(parameters), expects="x0(p)")
    start = _flat(value)
    if start.dtype.kind not in "fiu" or not start.size:
        raise ModelError(f"x0 must hold real numbers, got {value!r}")
    start = np.array(start, float)
    named = mapping_of(value)
    names = names_of_shape(start.shape) if named is None else tuple(named)
    flat = start.reshape(-1)
    bad = [n for n, v in zip(names, flat, strict=True) if not np.isfinite(v)]
    if bad:
        raise ModelError(f"x0 is not finite for {', '.join(bad)}")
    return Unknowns(names, start.shape, flat, x0 if callable(x0) else None)


def _flat(value: Any) -> Any:
    named = mapping_of(value)
    parts = value if named is None else list(named.values())
    try:
        return as_value(parts, "x0")
    except (DualADError, ValueError) as error:
        raise ModelError(f"x0 is no array of numbers: {error}") from error


def names_of_shape(shape: tuple[int, ...]) -> tuple[str, ...]:
    """x for a number, x1, x2, ... for a vector, x[0,0], ... for a matrix."""
    if not shape:
        return ("x",)
    if len(shape) == 1:
        return tuple(f"x{i + 1}" for i in range(shape[0]))
    return tuple(f"x[{','.join(map(str, index))}]" for index in np.ndindex(shape))
