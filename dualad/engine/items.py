"""x[k] of an array by integers: the fast path of what every right-hand side does.

It takes plain float64 arrays and a key of Python integers that gives one number; all else goes to
the general path, the linear primitive `getitem`, which it agrees with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dual import Dual
from .recorded import Recorded, pull_linear
from .shape import BOUND
from .traced import Spec

__all__ = ["install"]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)
NUMBER = Spec((), F64)


def install(general: Any) -> None:
    """Give the kinds with a fast path their `__getitem__`; general(x, key) does the rest."""

    def dual_item(self: Any, key: Any) -> Any:
        value = self.primal
        if type(value) is ndarray and _is_integer(key):
            out = value[key]
            if type(out) is float64:
                level = self.level
                d = level.new(Dual)
                d.level, d.primal, d.tangent = level, out, self.tangent[key]
                return d
        return general(self, key)

    def recorded_item(self: Any, key: Any) -> Any:
        value = self.primal
        if type(value) is ndarray and _is_integer(key):
            out = value[key]
            if type(out) is float64:
                level = self.level
                r = level.new(Recorded)
                tape = level.tape
                r.level, r.primal, r.tangent = level, out, len(tape)
                tape.append((pull_item, self.tangent, key, value.shape))
                return r
        return general(self, key)

    Dual.__getitem__ = dual_item  # type: ignore[attr-defined]
    Recorded.__getitem__ = recorded_item  # type: ignore[attr-defined]


def _is_integer(key: Any) -> bool:
    return type(key) is int or (type(key) is tuple and all([type(k) is int for k in key]))


def pull_item(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """Add the cotangent of one entry to that of the array."""
    _, i, key, shape = entry
    into = g[i]
    if i in own and type(ct) is float64 and type(into) is ndarray:
        into[key] += ct
        return
    array = Spec(shape, F64)
    params = {"index": key if type(key) is tuple else (key,)}
    pull_linear(
        ct, (pull_linear, (i,), BOUND["getitem"], (array,), params, NUMBER, (array,)), g, own
    )


pull_item.push = lambda entry, v: v[entry[1]][entry[2]]  # type: ignore[attr-defined]
