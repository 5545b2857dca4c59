"""The arguments of `apply`: which take part, in which order, and which only forward gets."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.levels.traced import TracedArray
from ..errors import ArgumentError
from ..tensor import Tensor

if TYPE_CHECKING:
    from .function import Function

__all__ = ["is_array", "positional"]


@functools.lru_cache(maxsize=1024)
def _signature(forward: Any) -> inspect.Signature:
    return inspect.signature(forward)


def positional(cls: type[Function], args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments that take part, in order, and the keywords that only forward gets.

    A keyword takes its position if the class has setup_context, or if it is a tensor; defaults are
    filled in only for setup_context.
    """
    split = cls.is_split()
    if not kwargs and not split:
        return args, {}
    offset = () if split else (None,)
    try:
        bound = _signature(cls.forward).bind(*offset, *args, **kwargs)
    except TypeError as e:
        raise ArgumentError(f"{cls.__name__}.apply: {e}") from None
    bound.apply_defaults()
    alone = {name: v for name, v in bound.kwargs.items() if name in kwargs}
    if any(map(is_array, alone.values())):
        raise ArgumentError(
            f"{cls.__name__}.apply: a tensor was given for a keyword-only parameter of forward "
            f"({sorted(alone)}), where it would lose its derivative: make that a positional "
            "parameter"
        )
    values = list(bound.args[len(offset) :])
    names = list(_signature(cls.forward).parameters)[len(offset) :]
    while not split and len(values) > len(args) and not is_array(values[-1]):
        last = values.pop()
        alone[names[len(values)]] = last
    return tuple(values), alone


def is_array(a: Any) -> bool:
    """Whether an argument of apply takes part: tensors, arrays, traced arrays, NumPy floats."""
    kinds = (Tensor, TracedArray, np.ndarray, np.floating, np.complexfloating)
    return isinstance(a, kinds)
