"""Primitives: the three families, what each states of its derivative, and dispatch by level.

- `Elementwise` states one partial derivative per argument, a formula of (out, *inputs).
- `Linear` states its transpose in each argument; it is its own derivative.
- `Composite` states a forward rule per argument in terms of the first two families.

No reverse formula exists but the transposes of linear operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..levels.rules import FUNCTIONS, Table
from ..levels.spec import Spec, spec_of
from ..levels.traced import TracedArray
from .shape import BOUND

__all__ = ["PRIMITIVES", "Opaque", "Primitive"]

#: Every built-in primitive, by name: what the registry sweeps of the tests walk.
PRIMITIVES = Table()


class Primitive:
    """An operation with a derivative; a call goes to the highest level among its arguments."""

    family = "primitive"
    #: (argument, **params) -> whether it is the sum of all entries of its one argument
    is_total: Callable[..., bool] | None = None

    def __init__(self, impl: Callable[..., Any], name: str | None = None, builtin: bool = True):
        self.impl = impl
        self.name = name or impl.__name__
        self.__name__ = self.name
        if builtin:
            if self.name in PRIMITIVES:
                raise ValueError(f"a primitive named {self.name!r} exists already")
            PRIMITIVES[self.name] = self

    def __call__(self, *args: Any, **params: Any) -> Any:
        if len(args) == 1:
            top = args[0]
            if not isinstance(top, TracedArray):
                return self.impl(top, **params)
            return type(top).bind(self, top.level, args, params)
        top = None
        for a in args:
            if isinstance(a, TracedArray) and (top is None or a.level.rank > top.level.rank):
                top = a
        if top is None:
            return self.impl(*args, **params)
        return type(top).bind(self, top.level, args, params)

    def __repr__(self) -> str:
        return f"<{self.family} primitive {self.name}>"

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        """The tangent of out; None where it is known to be zero."""
        raise NotImplementedError

    def out_spec(self, args: tuple, params: dict) -> Spec:
        """The shape and dtype of the result on arguments of which only the Spec may be known."""
        known = (
            np.broadcast_to(np.zeros((), a.dtype), a.shape) if isinstance(a, Spec) else a
            for a in args
        )
        return spec_of(self.impl(*known, **params))

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        """Apply to arguments of which those marked carry a leading batch axis: loop and stack."""
        n = next(a.shape[0] for a, m in zip(args, mine, strict=True) if m)
        rows = [
            self(*(a[k] if m else a for a, m in zip(args, mine, strict=True)), **params)
            for k in range(max(n, 1))
        ]
        stack = FUNCTIONS[np.stack]
        if isinstance(rows[0], tuple):
            return tuple(stack(column)[:n] for column in zip(*rows, strict=True))
        return stack(rows)[:n]


class Opaque(Primitive):
    """An operation whose result carries no derivative: predicates, indices, step functions."""

    family = "constant"

    def __init__(
        self,
        impl: Callable[..., Any],
        name: str | None = None,
        elementwise: bool = False,
        batch: Callable[..., Any] | None = None,
        builtin: bool = True,
    ):
        super().__init__(impl, name, builtin)
        self.elementwise = elementwise
        self._batch = batch

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        if self.elementwise:
            return self(*align(args, mine), **params)
        if self._batch is not None:
            return self._batch(args, mine, **params)
        return super().batch(args, mine, params)

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        return None


def align(args: tuple, mine: tuple[bool, ...]) -> list[Any]:
    """Give the batched arguments of an elementwise operation one rank after the batch axis."""
    rank = max([getattr(a, "ndim", 0) - m for a, m in zip(args, mine, strict=True)])
    return [lifted(a, rank + 1) if m else a for a, m in zip(args, mine, strict=True)]


def lifted(a: Any, ndim: int) -> Any:
    """A batched value with axes of length one behind the batch axis, until it has ndim axes."""
    shape = a.shape
    if len(shape) >= ndim:
        return a
    shape = (shape[0],) + (1,) * (ndim - len(shape)) + shape[1:]
    return a.reshape(shape) if type(a) is np.ndarray else BOUND["reshape"](a, shape=shape)
