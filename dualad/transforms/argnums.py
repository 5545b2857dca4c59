"""What differentiates a function, by some of its arguments: which these are, and their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError

__all__ = ["Differentiator", "fixing", "names_of", "selected"]

#: All of n arguments, by number, where there are few.
EVERY = {n: tuple(range(n)) for n in range(8)}


class Differentiator:
    """A picklable function object: grad(f) and its kin are picklable where f is."""

    def __init__(self, f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False):
        if not callable(f):
            raise ArgumentError(f"the first argument must be a function, got {type(f).__name__}")
        self.f, self.argnums, self.has_aux = f, argnums, has_aux

    @property
    def __name__(self) -> str:
        """Made when it is asked for: hvp makes one of these at each call."""
        name = f"{type(self).__qualname__.lower()} of {getattr(self.f, '__name__', self.f)}"
        return self.__dict__.get("_name", name)

    @__name__.setter
    def __name__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def selected(argnums: Any, n: int) -> tuple[int, ...]:
    """argnums as a tuple of positions among n arguments."""
    if type(argnums) is int and 0 <= argnums < n:
        return (argnums,)
    if type(argnums) is tuple and argnums == EVERY.get(n) and {*map(type, argnums)} == {int}:
        return argnums
    nums = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    for k in nums:
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
            raise ArgumentError(
                f"argnums must be an integer or a tuple of integers, got {argnums!r}"
            )
        if not -n <= k < n:
            raise ArgumentError(
                f"argnums={argnums!r}, but the function was called with {n} arguments"
            )
    out = tuple(int(k) % n for k in nums)
    if len(set(out)) != len(out):
        raise ArgumentError(f"argnums={argnums!r} names an argument twice")
    return out


def fixing(
    f: Callable[..., Any], args: tuple, nums: tuple[int, ...], kwargs: dict
) -> Callable[..., Any]:
    """f as a function of the arguments numbered nums alone."""
    if not kwargs and nums == EVERY.get(len(args)):
        return f

    def call(*moving: Any) -> Any:
        full = list(args)
        for k, x in zip(nums, moving, strict=True):
            full[k] = x
        return f(*full, **kwargs)

    call.__wrapped__ = f  # type: ignore[attr-defined]
    return call


def names_of(nums: Sequence[int]) -> list[str]:
    """What errors call the arguments of these numbers."""
    return [f"argument {k}" for k in nums]
