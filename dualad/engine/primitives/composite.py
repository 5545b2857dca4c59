"""Composite primitives: a forward rule per argument, in terms of the other families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.memory import LARGE, large_result
from .chain import CHAINED
from .primitive import Primitive
from .shape import fit

__all__ = ["Composite"]


class Composite(Primitive):
    """A forward rule per argument, (tangent, out, *args, **params) -> tangent of out.

    None for an argument without derivative. With whole=True the one rule takes all tangents
    as a tuple, None standing for zero. What a rule does not read the values of is not kept for it:
    with reads="out" it gets the Specs of the arguments, with reads="args" that of the result.
    """

    family = "composite"

    def __init__(
        self,
        impl: Callable[..., Any],
        *rules: Callable[..., Any] | None,
        whole: bool = False,
        reads: str = "both",
        name: str | None = None,
        batch: Callable[..., Any] | None = None,
        builtin: bool = True,
    ):
        super().__init__(impl, name, builtin)
        self.rules = rules
        self.is_chained = any(type(rule) in CHAINED for rule in rules)
        self.whole = whole
        self.reads = reads
        self._batch = batch

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        return fit_all(self.rule(tangents, out, args, params), out)

    def rule(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        if self.whole:
            assert self.rules[0] is not None
            return self.rules[0](tangents, out, *args, **params)
        total = None
        for t, rule in zip(tangents, self.rules, strict=True):
            if t is not None and rule is not None:
                total = add_all(total, rule(t, out, *args, **params))
        return total

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        if self._batch is None:
            return super().batch(args, mine, params)
        return self._batch(args, mine, **params)


def add_all(a: Any, b: Any) -> Any:
    """a + b for tangents that may be symbolic zeros or tuples of tangents."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple):
        return tuple(add_all(p, q) for p, q in zip(a, b, strict=True))
    if type(a) is np.ndarray and a.size >= LARGE:
        return large_result(np.add, a, b)
    return a + b


def fit_all(t: Any, out: Any) -> Any:
    if t is None:
        return None
    if isinstance(out, tuple):
        return tuple(None if p is None else fit(p, o) for p, o in zip(t, out, strict=True))
    return fit(t, out)
