"""Values of a trace that the function has put somewhere: in an attribute, a list, a closure.

A program computes results and writes into arrays; it sets no attribute and appends to no list. So
a function that keeps a value which depends on its arguments runs as it is, and what it has kept
while it was traced becomes the plain value that it would have kept.
"""

from __future__ import annotations

import collections
import gc
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..engine.levels.level import Level
from ..engine.levels.traced import TracedArray
from ..engine.staging.staged import Staged, concrete

__all__ = ["given_back"]

#: How deep tuples are taken apart, which hold what is kept.
DEPTH = 5


def given_back(
    level: weakref.ref[Level], kinds: Mapping[int, type], written: Mapping[int, Any]
) -> str | None:
    """Make plain what is left of a finished level; a name under which something was kept.

    Args:
        level: that has been left, and that nothing but its values refers to.
        kinds: the types of Python's numbers that scalars stand for, by identity.
        written: the arguments that were written into, by the identity of their values.
    """
    for generation in range(3):
        if level() is None:
            return None
        gc.collect(generation)  # functions that call themselves are freed by nothing else
    found: str | None = None
    left = [s for s in gc.get_referrers(level()) if type(s) is Staged]
    while left:
        s = left.pop()  # so that no list of this function holds it
        value = written[id(s)] if id(s) in written else _plain(s, kinds.get(id(s)))
        found = _replaced(s, value, DEPTH) or found
    return found


def _plain(s: Staged, kind: type | None) -> Any:
    value = concrete(s)
    if kind is not None:
        return np.array(value) if kind is np.ndarray else kind(value)
    return value


def _replaced(old: Any, new: Any, depth: int) -> str | None:
    """Put a value in the place of another one wherever that is held; a name of such a place."""
    found: str | None = None
    holders = gc.get_referrers(old)
    while holders:
        holder = holders.pop()
        if isinstance(holder, (types.FrameType, TracedArray)) or depth == 0:
            continue  # a value that another transformation has kept is of no use to anybody
        if isinstance(holder, tuple):
            found = _replaced(holder, _tuple(holder, old, new), depth - 1) or found
            continue
        put = next((put for kind, put in PLACES if isinstance(holder, kind)), _attribute)
        found = put(holder, old, new) or found
    return found


def _tuple(holder: tuple, old: Any, new: Any) -> Any:
    parts = [new if x is old else x for x in holder]
    return type(holder)(*parts) if hasattr(holder, "_fields") else type(holder)(parts)


def _entry(holder: Any, old: Any, new: Any) -> str:
    for k, x in enumerate(holder):
        if x is old:
            holder[k] = new
    return f"a {type(holder).__name__}"


def _value(holder: dict, old: Any, new: Any) -> str | None:
    name = None
    for key, x in list(holder.items()):
        if x is old:
            holder[key], name = new, repr(key)
    return name


def _cell(holder: Any, old: Any, new: Any) -> str:
    holder.cell_contents = new
    return "a variable"


def _attribute(holder: Any, old: Any, new: Any) -> str:
    own = getattr(holder, "__dict__", None)
    name = _value(own, old, new) if type(own) is dict else None
    for c in type(holder).__mro__:
        for slot, member in c.__dict__.items():
            held = (
                type(member) is types.MemberDescriptorType and getattr(holder, slot, None) is old
            )
            if held:
                member.__set__(holder, new)
                name = repr(slot)
    if name is None and hasattr(holder, "cache_clear"):
        holder.cache_clear()
    return name or f"a {type(holder).__name__}"


PLACES: tuple[tuple[Any, Callable[[Any, Any, Any], str | None]], ...] = (
    ((list, collections.deque), _entry), (dict, _value), (types.CellType, _cell),
)  # fmt: skip
