"""How long values live: where memory can be freed, and where it can be written to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.staging.operations import Guard, Operation, Variable
from .group import Group, read_by
from .loop import Loop
from .program import Program
from .schedule import Piece

__all__ = ["Lifetimes", "is_large"]

#: Arrays of so many bytes and more are freed after their last use, before the function ends.
LARGE = 1 << 16
#: Operations whose result lies in memory of its own, besides the ufuncs.
FRESH = frozenset("scatter_add index_set add_at_slice matmul gram concatenate sum_axes".split())


def aliases_of(piece: Piece | None) -> Sequence[Variable]:
    """The variables in whose memory the results of a piece may lie."""
    if isinstance(piece, Operation):
        return piece.aliases
    return piece.reads() if isinstance(piece, Loop) else ()


def is_large(v: Variable) -> bool:
    """Whether the memory of a variable counts."""
    return v.is_array and v.size * v.dtype.itemsize >= LARGE


class Lifetimes:
    """The last use of each variable among the pieces of a program."""

    def __init__(self, program: Program, pieces: list[Piece]):
        self.made: dict[Variable, Operation | Group | Loop] = {}
        self.last: dict[Variable, int] = dict.fromkeys(program.inputs, 0)
        for k, piece in enumerate(pieces):
            for v in read_by(piece):
                self.last[v] = k
            if isinstance(piece, Guard):
                continue
            for r in piece.results:
                self.made[r] = piece
                self.last.setdefault(r, k)
        self.kept = {*program.inputs, *program.results()}
        self.last.update(dict.fromkeys(self.kept, len(pieces)))
        self.views: dict[Variable, list[Variable]] = defaultdict(list)
        for v in self.made:
            for root in self.roots(v):
                self.views[root].append(v)
        #: the last use of the memory of a variable, by itself or by a view of it
        self.end = {
            v: max([self.last[w] for w in (v, *self.views[v])]) for v in self.made if is_large(v)
        }
        #: what is not read after a piece
        self.dying: dict[int, list[Variable]] = defaultdict(list)
        for v, k in self.last.items():
            if k < len(pieces):
                self.dying[k].append(v)

    def roots(self, v: Variable) -> set[Variable]:
        """The variables whose memory a variable may lie in."""
        found, todo = {v}, [v]
        while todo:
            s = self.made.get(todo.pop())
            for a in aliases_of(s):
                if a not in found:
                    found.add(a)
                    todo.append(a)
        return found

    def leaves(self, v: Variable) -> bool:
        """Whether the memory of a variable leaves the program."""
        return v in self.kept or any(w in self.kept for w in self.views[v])

    def is_free_to_write(self, x: Any, k: int) -> bool:
        """Whether piece k, the last that reads x, may write into its memory."""
        if type(x) is not Variable or x in self.kept or not x.is_array:
            return False
        maker = self.made.get(x)
        if type(maker) is Loop:
            return False
        if type(maker) is Operation:
            ufunc = isinstance(maker.primitive.impl, np.ufunc)
            if maker.aliases or not (ufunc or maker.primitive.name in FRESH):
                return False
        return all(self.last[v] <= k and v not in self.kept for v in (x, *self.views[x]))
