"""Entries of written pulls as steps of a run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays.memory import F64
from ..primitives.block_rules import known_rules
from ..put_off.joint import Node

__all__ = ["Step", "is_plain", "step_of"]

NUMBERS = (float, int, np.float64)


class Step(NamedTuple):
    """An entry of a run: its variable, those of its parents, its pull, what that reads."""

    variable: int
    parents: tuple[int, ...]
    pull: Any
    #: which of the reads are arrays
    kinds: tuple[bool, ...]
    reads: tuple
    #: which parents get the cotangent as it is
    hands_on: tuple[bool, ...]


def is_plain(ct: Any, shape: tuple) -> bool:
    """Whether a cotangent can be cut as if it had one axis."""
    return (
        type(ct) is np.ndarray and ct.dtype is F64 and ct.shape == shape
        and (ct.flags.c_contiguous or not any(ct.strides))
    )  # fmt: skip


def step_of(k: int, entry: tuple, ct: Any, shape: tuple) -> Step | None:
    """An entry as a step of a run over arrays of that shape; None where it is no such entry."""
    stated = getattr(entry[0], "shares", None)
    if stated is None or not (ct is None or is_plain(ct, shape)):
        return None
    count = len(stated.terms)
    reads = entry[1 + count :]
    kinds = []
    for r in reads:
        is_array = type(r) is np.ndarray or type(r) is Node
        if is_array and not (r.shape == shape and r.dtype is F64):
            return None
        if type(r) is np.ndarray and not r.flags.c_contiguous:
            return None
        if not is_array and type(r) not in NUMBERS:
            return None
        kinds.append(is_array)
    if known_rules(entry[0], tuple(kinds)) is None:
        return None
    hands_on = tuple([term == ("+", "c") for term in stated.terms])
    return Step(k, entry[1 : 1 + count], entry[0], tuple(kinds), reads, hands_on)
