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

__all__ = ["fits", "is_array", "misfit", "positional"]


@functools.lru_cache(maxsize=1024)
def _signature(forward: Any) -> inspect.Signature:
    return inspect.signature(forward)


@functools.lru_cache(maxsize=1024)
def _takes_ctx(forward: Any) -> bool:
    """Whether forward names its first parameter ctx."""
    return next(iter(_signature(forward).parameters), None) == "ctx"


def positional(cls: type[Function], args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """The arguments that take part, in order, and the keywords that only forward gets.

    A keyword takes its position if the class has setup_context, or if it is a tensor; defaults are
    filled in only for setup_context.
    """
    split = cls.is_split()
    if not kwargs and not split:
        return args, {}
    offset = () if split else (None,)
    if split and _takes_ctx(cls.forward):
        raise misfit(cls, "its forward takes ctx")
    try:
        bound = _signature(cls.forward).bind(*offset, *args, **kwargs)
    except TypeError as e:
        raise misfit(cls, e) from None
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


def fits(cls: type[Function], args: tuple | list, kwargs: dict) -> bool:
    """Whether these arguments can be given to forward, and to setup_context."""
    split = cls.is_split()
    try:
        _signature(cls.forward).bind(*(() if split else (None,)), *args, **kwargs)
    except TypeError:
        return False
    return True


def misfit(cls: type[Function], error: object) -> ArgumentError:
    """The error for arguments that forward cannot be given; with the style that was meant."""
    split, takes_ctx, hint = cls.is_split(), _takes_ctx(cls.forward), ""
    if split and takes_ctx:
        hint = (
            f". {cls.__name__} defines setup_context, so its forward gets the arguments of apply "
            "alone: leave ctx out of its parameters, or remove setup_context"
        )
    elif not split and not takes_ctx:
        hint = (
            f". {cls.__name__} has no setup_context, so its forward gets ctx before the arguments "
            "of apply: add ctx to its parameters, or define setup_context(ctx, inputs, output)"
        )
    return ArgumentError(f"{cls.__name__}.apply: {error}{hint}")


def is_array(a: Any) -> bool:
    """Whether an argument of apply takes part: tensors, arrays, traced arrays, NumPy floats."""
    kinds = (Tensor, TracedArray, np.ndarray, np.floating, np.complexfloating)
    return isinstance(a, kinds)
