"""What the mode of the context lets be seen of a value: which levels count, which are constants.

`visible` takes away what is hidden; for writing in place, `rejoined` puts it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kinds.batched import Batched, batched
from ..kinds.batched_dual import general
from ..kinds.dual import Dual, make_dual
from ..kinds.recorded import Recorded, recorded
from ..levels.level import Level
from ..levels.traced import TracedArray
from .grad_mode import DEFAULT, GradMode, current_mode
from .graph import GraphValue, graph_value

__all__ = ["DUAL_LEVEL", "is_functional", "levels_of", "rejoined", "unrecorded", "visible"]

#: The name of the levels of `dual_level`, which are no functional transformation.
DUAL_LEVEL = "dual_level"

NO_GRAD = GradMode(recording=False, floor=float("inf"))


def visible(value: Any) -> Any:
    """A value as the mode lets it be seen."""
    if not isinstance(value, TracedArray):
        return value
    mode = current_mode()
    return value if mode is DEFAULT else _seen(value, mode)


def unrecorded(value: Any) -> Any:
    """A value as no_grad sees it: without recorded history at any level."""
    return _seen(value, NO_GRAD)


def _seen(value: Any, mode: GradMode) -> Any:
    if not isinstance(value, TracedArray):
        return value
    primal = value.primal
    if _is_hidden(value, mode):
        return _seen(primal, mode)
    if type(value) is Dual:
        p, t = _seen(primal, mode), _seen(value.tangent, mode)
        return value if p is primal and t is value.tangent else make_dual(value.level, p, t)
    if type(value) in (Recorded, Batched):
        p = _seen(primal, mode)
        return value if p is primal else _around(value, p)
    return value


def _is_hidden(value: Any, mode: GradMode) -> bool:
    level: Level = value.level
    if type(value) is Dual:
        return level.name == DUAL_LEVEL and level.rank >= mode.ceiling
    if type(value) in (GraphValue, Recorded):
        return level.rank < mode.floor
    return False


def _around(value: Any, primal: Any) -> Any:
    """A value of the same kind, level and tangent round another primal."""
    kind = {Recorded: recorded, Batched: batched}[type(value)]
    return kind(value.level, primal, value.tangent)


def rejoined(full: Any, new: Any) -> Any:
    """A new visible value with what is hidden of the full value that it replaces."""
    return _rejoined(full, new, current_mode())


def _rejoined(full: Any, new: Any, mode: GradMode) -> Any:
    if not isinstance(full, TracedArray):
        return new
    full, new = general(full), general(new)
    if isinstance(new, TracedArray) and new.level.rank > full.level.rank:
        primal = _rejoined(full, new.primal, mode)
        if type(new) is Dual:
            return make_dual(new.level, primal, new.tangent)
        return _around(new, primal)
    if _is_hidden(full, mode):
        if type(full) is GraphValue:
            return graph_value(new, full.tangent)
        primal = _rejoined(full.primal, new, mode)
        if type(full) is Dual:
            return make_dual(full.level, primal, full.tangent)
        return _around(full, primal)
    if type(full) is Dual and type(new) is Dual:
        primal = _rejoined(full.primal, new.primal, mode)
        return make_dual(full.level, primal, _rejoined(full.tangent, new.tangent, mode))
    if type(full) is type(new) and type(full) in (Recorded, Batched):
        return _around(new, _rejoined(full.primal, new.primal, mode))
    return new


def levels_of(value: Any) -> Iterator[Level]:
    """The levels that a value belongs to, the highest first."""
    while isinstance(value, TracedArray):
        yield value.level
        if value.ends:
            return
        value = value.primal


def is_functional(value: Any) -> bool:
    """Whether a value belongs to a functional transformation, beside dual levels and the graph."""
    while type(value) is Dual and value.level.name == DUAL_LEVEL:
        value = value.primal
    return isinstance(value, TracedArray) and type(value) is not GraphValue
