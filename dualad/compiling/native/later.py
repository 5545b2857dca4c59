"""When loops compute what they compute: as late as it is read, so that little is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.staging.operations import Guard, Variable
from ..loop import Loop as Repetition, variables_of
from .forms import REDUCTIONS, name_of

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["levels_where_read"]


def levels_where_read(steps: list[Any], plan: Plan) -> dict[Variable, int]:
    """Levels for what loops compute before it is read: where it is, it need not be stored.

    A value moves to the loop that reads it, unless that would leave behind more values that have
    to be stored in its place.
    """
    readers: dict[Variable, list[Any]] = {}
    for s in steps:
        for v in dict.fromkeys(variables_of(s)):
            readers.setdefault(v, []).append(s)
    later: dict[Variable, int] = {}

    def level(s: Any) -> int:
        results = () if isinstance(s, Guard) else s.results
        known = [later[r] for r in results if r in later]
        return known[0] if known else plan.level_of.get(id(s), len(plan.levels))

    def latest(v: Variable, shape: tuple[int, ...], s: Any) -> int:
        """The level at which a reader has to find a value."""
        if id(s) not in plan.level_of:  # a view
            return min(
                [latest(r, (), t) for r in s.results for t in readers.get(r, ())], default=0
            )
        if any(r in plan.member for r in (() if isinstance(s, Guard) else s.results)):
            joins = plan.member[s.results[0]][1] == shape
        else:
            joins = _is_loop_over(s, shape)
        in_registers = any(t is s for t in plan.registers.get(plan.level_of[id(s)], ()))
        return level(s) - (0 if joins or in_registers else 1)

    for s in reversed(steps):
        if isinstance(s, (Guard, Repetition)) or s.results[0] not in plan.member:
            continue
        (v,) = s.results
        shape = plan.member[v][1]
        found = [latest(v, shape, t) for t in readers.get(v, ())]
        new = min(found, default=0)
        if new <= plan.level[v] or new > max(plan.levels):
            continue
        left = [
            x
            for x in s.operands
            if type(x) is Variable and x in plan.member and plan.member[x][1] == shape
            and any(t is not s and level(t) < new for t in readers[x])
        ]  # fmt: skip
        if len(left) <= 1:
            later[v] = new
    return later


def _is_loop_over(s: Any, shape: tuple[int, ...]) -> bool:
    """Whether a guard or a reduction has its loop over a shape."""
    if isinstance(s, Guard):
        return s.variable.shape == shape
    if isinstance(s, Repetition):
        return False
    return name_of(s) in REDUCTIONS and s.operands[0].shape == shape
