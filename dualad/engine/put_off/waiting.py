"""What a level has put off, and what keeps it as it was: see `postponed`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Sequence
from itertools import chain
from types import CodeType
from typing import Any

import numpy as np

from ..arrays.memory import F64, large_copy
from ..programs.kept import may_change
from .alarms import Alarms
from .joint import Leaf, Node, Pass, in_order

__all__ = ["LATE", "LATE_RECORD", "State", "is_constant", "is_plain"]

#: From this many entries on, 1 MB, operations are put off: what that costs is little beside them.
LATE = 1 << 17
#: From this many on, 2 MB, recorded ones are: what that costs, a few tenths of a millisecond for
#: each function, is little beside them.
LATE_RECORD = 1 << 18


#: So many operations are many.
MANY = 6
#: The code of functions that had many operations put off when they were called last.
_many: weakref.WeakSet[CodeType] = weakref.WeakSet()


class State:
    """What a level has put off and nobody has computed, and how warnings are given."""

    __slots__ = ("alarms", "code", "computing", "copies", "count", "given", "handles",
                 "has_begun", "has_many", "unseen")  # fmt: skip

    def __init__(self, values: Iterable[Any], tangents: Iterable[Any] = (), f: Any = None) -> None:
        """What the user has, and may write to: values and tangents; the function f of them."""
        self.code = getattr(getattr(f, "__wrapped__", f), "__code__", None)
        #: whether there were many operations last time, and how many there are now
        self.has_many, self.count = self.code in _many, 0
        self.alarms = Alarms()
        #: held while results are computed
        self.computing = threading.RLock()
        self.unseen: list[Node] = []
        self.handles: list[weakref.ref[Any]] = []
        arrays = [
            a for a in chain(values, tangents) if type(a) is np.ndarray and a.nbytes >= 8 * LATE
        ]
        self.given = [a for a in arrays if may_change(a)]
        #: what these, and parts of them, were when they were first used: by where the parts begin
        self.copies: dict[tuple[int, int, tuple[int, ...]], np.ndarray] = {}
        self.has_begun = False

    def whose(self, x: Any) -> np.ndarray | None:
        """The array of the user's that has the memory of x; None where the engine has it."""
        if type(x) is np.ndarray:
            for a in self.given:
                if np.may_share_memory(x, a):
                    return a
        return None

    def safe(self, x: Any) -> Any:
        """An array as it is, or a copy where the user could write to it."""
        a = self.whose(x)
        if a is None:
            return x
        start = (x.__array_interface__["data"][0] - a.__array_interface__["data"][0]) // 8
        if not is_plain(a, a.shape) or not 0 <= start <= a.size - x.size or 2 * x.size < a.size:
            return large_copy(x)
        copy = self.copies.get((id(a), 0, a.shape))
        if copy is None:
            copy = self.copies[id(a), 0, a.shape] = large_copy(a)
        key = (id(a), start, x.shape)
        if key not in self.copies:
            self.copies[key] = copy.reshape(-1)[start : start + x.size].reshape(x.shape)
        return self.copies[key]

    def made_safe(self, leaf: Any) -> Any:
        """An operand that later writes do not touch."""
        if type(leaf) is not Leaf:
            return leaf
        x, t = self.safe(leaf.x), self.safe(leaf.t)
        return leaf if x is leaf.x and t is leaf.t else Leaf(x, t)

    def is_first(self, operands: Sequence[Any]) -> bool:
        """Whether an operation is the first one, and on nothing but what would have to be copied.

        It is not put off where there were not many last time: perhaps there is no second one.
        """
        if self.has_begun or self.has_many:
            return False
        self.has_begun = True
        leaves = [n for n in operands if type(n) is Leaf]
        arrays = [n.x for n in leaves if type(n.x) is np.ndarray]
        return len(leaves) == len(operands) and all(self.whose(x) is not None for x in arrays)

    def put_down(self, node: Node, result: Any) -> None:
        """Note an operation that is put off, and its result."""
        node.handle = weakref.ref(result)
        self.handles.append(node.handle)
        self.unseen.append(node)
        self.count += 1

    def keep(self, tape: list) -> None:
        """Compute what a tape refers to."""

    def leave(self, failure: Any) -> None:
        """The function has returned, or failed."""
        self.remember()
        self.finish(failure)

    def remember(self) -> None:
        """Note whether the function has many operations."""
        if self.code is not None:
            (_many.add if self.count >= MANY else _many.discard)(self.code)

    def finish(self, failure: Any = None) -> None:
        """Compute what nobody asked for: it may have something to warn of."""
        unseen, self.unseen = self.unseen, []
        if isinstance(failure, (MemoryError, KeyboardInterrupt)):
            return
        for shape in {n.shape: None for n in unseen}:
            nodes = in_order([n for n in unseen if n.shape == shape])
            with self.alarms.of_the_operations():
                Pass(nodes).values_alone()


def is_constant(c: Any, shape: tuple[int, ...]) -> bool:
    """Whether a constant operand is a number, or an array of that shape."""
    return type(c) is not np.ndarray or is_plain(c, shape)


def is_plain(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether an array can be cut as if it had one axis."""
    return type(x) is np.ndarray and x.dtype is F64 and x.shape == shape and x.flags.c_contiguous
