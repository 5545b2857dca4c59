"""What reads an array comes before a write to it, so that the write needs no copy of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import variables_of

__all__ = ["WRITES", "reads_first"]

#: Operations that give an array with something else at an index.
WRITES = frozenset(("index_set", "add_at_slice"))


def reads_first(steps: Sequence[Any]) -> list[Any]:
    """The same steps, with reads moved before writes to the same array.

    Nothing moves past a guard, which decides whether what follows runs at all.
    """
    out: list[Any] = []
    part: list[Operation] = []
    for s in steps:
        if isinstance(s, Guard):
            out += [*_ordered(part), s]
            part = []
        else:
            part.append(s)
    return out + _ordered(part)


def _ordered(part: list[Operation]) -> list[Operation]:
    k = 0
    while k < len(part):
        s = part[k]
        if s.primitive.name in WRITES and type(s.operands[0]) is Variable:
            moved = _independent(part, k, s.operands[0])
            if moved:
                part = [
                    *part[:k],
                    *(part[m] for m in moved),
                    s,
                    *(part[m] for m in range(k + 1, len(part)) if m not in moved),
                ]
                k += len(moved)
        k += 1
    return part


def _independent(part: list[Operation], k: int, array: Variable) -> list[int]:
    """The later steps that read the array, with what they need, if none needs the write."""
    makers = {r: m for m in range(k, len(part)) for r in part[m].results}
    moved: set[int] = set()
    for m in range(k + 1, len(part)):
        if array in variables_of(part[m]):
            needed = _needed(part, m, makers)
            if k in needed:
                return []
            moved |= needed
    return sorted(moved)


def _needed(part: list[Operation], m: int, makers: dict[Variable, int]) -> set[int]:
    found, todo = {m}, [m]
    while todo:
        for v in variables_of(part[todo.pop()]):
            n = makers.get(v)
            if n is not None and n not in found:
                found.add(n)
                todo.append(n)
    return found
