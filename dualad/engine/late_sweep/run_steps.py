"""Entries of written pulls as steps of a run: the rules by which their shares are computed.

The shares are those that a pull states; they are computed on blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays.memory import F64
from ..primitives.blocks import share_rule
from ..put_off.joint import Node

__all__ = ["Step", "is_plain", "known_rules", "step_of"]

NUMBERS = (float, int, np.float64)
#: (pull, which of its reads are arrays) -> its rules on blocks and how many rows they take
_rules: dict[tuple[Callable, tuple[bool, ...]], tuple[list[Callable], int] | None] = {}


class Step(NamedTuple):
    """An entry of a run: its variable, those of its parents, its rules, what they read."""

    variable: int
    parents: tuple[int, ...]
    rules: list[Callable]
    reads: tuple
    #: which parents get the cotangent as it is
    hands_on: tuple[bool, ...]


def is_plain(ct: Any, shape: tuple) -> bool:
    """Whether a cotangent can be cut as if it had one axis."""
    return (
        type(ct) is np.ndarray and ct.dtype is F64 and ct.shape == shape
        and (ct.flags.c_contiguous or not any(ct.strides))
    )  # fmt: skip


def step_of(k: int, entry: tuple, ct: Any, shape: tuple) -> tuple[Step, int] | None:
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
    found = known_rules(entry[0], tuple(kinds))
    if found is None:
        return None
    hands_on = tuple([term == ("+", "c") for term in stated.terms])
    return Step(k, entry[1 : 1 + count], found[0], reads, hands_on), found[1]


def known_rules(pull: Any, kinds: tuple[bool, ...]) -> tuple[list[Callable], int] | None:
    """The same as `rules_of` the shares of a pull, made once."""
    key = (pull, kinds)
    if key not in _rules:
        _rules[key] = rules_of(pull.shares, kinds)
    return _rules[key]


def rules_of(stated: Any, kinds: tuple[bool, ...]) -> tuple[list[Callable], int] | None:
    """The shares of an entry as functions on blocks; None where one is more than ufuncs."""
    numbers = {name for name, is_array in zip(stated.reads, kinds, strict=True) if not is_array}
    rules, rows = [], 1
    for sign, term in stated.terms:
        made = share_rule(stated.namespace, term, sign, stated.reads, numbers)
        if made is None:
            return None
        rules.append(made[0])
        rows = max(rows, made[1])
    return rules, rows
