"""Values that become a slice of zeros are computed there: no array of their own, and no copy."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..engine.staging.operations import Operation, Variable
from .group import Group, read_by
from .lifetime import is_large
from .passes.constants import is_elementwise
from .program import is_basic
from .schedule import Piece

__all__ = ["placed"]


def placed(pieces: list[Piece], kept: set[Variable]) -> dict[Variable, Operation]:
    """For each value that may be computed into its place, the operation that would bring it."""
    uses = Counter(v for p in pieces for v in read_by(p))
    makers: dict[Any, Piece] = {}
    for p in pieces:
        if isinstance(p, (Operation, Group)):
            makers.update(dict.fromkeys(p.results, p))
    found: dict[Variable, Operation] = {}
    for p in pieces:
        if not isinstance(p, Operation) or p.primitive.name != "scatter_add":
            continue
        v, z = p.operands[0], p.results[0]
        if type(v) is not Variable or uses[v] != 1 or v in kept or not is_large(v):
            continue
        if v.dtype != z.dtype or not is_static(p.params["index"]):
            continue
        maker = makers.get(v)
        view = np.empty(z.shape, np.bool_)[p.params["index"]]
        if view.shape != v.shape or not (view.ndim == 1 or view.flags.c_contiguous):
            continue
        if isinstance(maker, Group) or (isinstance(maker, Operation) and is_ufunc(maker)):
            found[v] = p
    return found


def is_static(index: tuple) -> bool:
    """Whether an index is of slices and numbers that are known."""
    parts = [q for k in index for q in ((k.start, k.stop, k.step) if type(k) is slice else (k,))]
    return is_basic(index) and not any(type(q) is Variable for q in parts)


def is_ufunc(s: Operation) -> bool:
    """Whether an operation can be told where to write its result."""
    return is_elementwise(s) and s.primitive.name != "where" and s.primitive.impl is not np.power
