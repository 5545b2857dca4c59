"""One pass by blocks over many elementwise operations on duals.

A block of every operand passes all of the operations while it is in the cache; of what they give,
only what is wanted is written to memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.cutting import TOGETHER, scratch
from ..arrays.memory import F64, POOL
from ..arrays.sums import halves, sum_of_parts
from ..primitives.block_programs import Call, Program
from ..primitives.block_rules import BlockRule

__all__ = ["Leaf", "Node", "Pass", "Rule", "in_order"]

#: Blocks are at least so long: what a call costs is little beside them.
SHORTEST = 1 << 12
LONGEST = 1 << 14


class Rule(NamedTuple):
    """An operation on blocks."""

    #: (out, t, *values, *tangents, *constants): it writes into the blocks out and t
    on_blocks: BlockRule
    #: the number of the operand whose tangent is that of the result
    shared: int | None
    #: the operation on operands of any kind, at once
    eager: Callable[..., Any]
    #: the kind of the result, once it is computed
    kind: type
    #: whether there are tangents: without them t is not written to
    moves: bool = True
    #: whether to compute the result costs more than to keep it
    is_dear: bool = False


class Leaf:
    """An operand that is computed: value and tangent, both arrays or both numbers.

    Where there are no tangents, the value stands for both.
    """

    __slots__ = ("leaves", "t", "x")

    def __init__(self, x: Any, t: Any):
        self.x, self.t = x, t
        self.leaves = frozenset((id(x), id(t)) if type(x) is np.ndarray else ())


class Node:
    """An operation that is put off, with what it needs to be carried out."""

    __slots__ = ("active", "constants", "done", "handle", "is_held", "is_kept", "is_part",
                 "is_read", "leaves", "rule", "seen", "shape", "total", "variable")  # fmt: skip

    dtype = F64

    def __init__(
        self, rule: Rule, active: tuple, constants: tuple, leaves: frozenset[int], shape: tuple
    ):
        self.rule, self.shape = rule, shape
        #: the operands that move, nodes and leaves, and the others, arrays and numbers
        self.active, self.constants = active, constants
        #: the arrays that it is made of, by their ids
        self.leaves = leaves
        #: whether it was computed, though perhaps not kept
        self.seen = False
        #: whether there is more in want of it than the sum of its entries
        self.is_held = True
        #: whether it is kept where it is computed
        self.is_kept = False
        #: whether the sweep reads its value, and whether that is made of it
        self.is_read = self.is_part = False
        #: of a recorded operation its variable, and its sum where that waits too
        self.variable: int | None = None
        self.total: Any = None
        #: value and tangent, when they are kept
        self.done: Any = None
        #: a reference to the dual that stands for it
        self.handle: Any = None

    @property
    def ndim(self) -> int:
        return len(self.shape)


def in_order(nodes: list[Node]) -> list[Node]:
    """Nodes, and what they are made of, each after those that it is made of."""
    order: list[Node] = []
    met: set[int] = set()
    stack = [(n, False) for n in reversed(nodes)]
    while stack:
        node, is_ready = stack.pop()
        if is_ready:
            order.append(node)
        elif id(node) not in met and node.done is None:
            met.add(id(node))
            stack.append((node, True))
            stack += [(n, False) for n in reversed(node.active) if type(n) is Node]
    return order


COPY = BlockRule(["out", "t"], (), ["copyto(out, t)"], 0, {})


class Pass:
    """Where the blocks of all operands lie: parts of whole arrays, rows of the cache, numbers.

    All of them are slots, which are numbered. Kept is the target; and what is in use and was
    computed before, so that nothing is computed three times.
    """

    def __init__(self, nodes: Sequence[Node], target: Node | None = None):
        """The nodes are in an order in which each comes after what it is made of."""
        self.target = target
        self.slots: list[Any] = []
        self.wholes: dict[int, np.ndarray] = {}
        self.known: dict[int, int] = {}
        self.rows: set[int] = set()
        self.homes: dict[int, tuple[int, int]] = {}
        self.calls: list[Call] = []
        self.kept: list[tuple[Node, int, int]] = []
        for node in nodes:
            self.plan(node)

    def slot(self, content: Any = None) -> int:
        self.slots.append(content)
        return len(self.slots) - 1

    def whole(self, array: np.ndarray) -> int:
        """The slot of an array that is cut."""
        slot = self.known.get(id(array))
        if slot is None:
            slot = self.known[id(array)] = self.slot()
            self.wholes[slot] = array
        return slot

    def place(self, shape: tuple[int, ...], is_kept: bool) -> int:
        """A slot for a result."""
        if is_kept:
            return self.whole(POOL.lend(shape))
        row = self.slot()
        self.rows.add(row)
        return row

    def home(self, operand: Any) -> tuple[int, int]:
        """The slots of value and tangent of an operand."""
        if type(operand) is Node:
            if operand.done is None:
                return self.homes[id(operand)]
            operand = operand.done
        if type(operand.x) is not np.ndarray:
            return self.slot(operand.x), self.slot(operand.t)
        return self.whole(operand.x), self.whole(operand.t)

    def plan(self, node: Node) -> None:
        """Add the calls of a node."""
        rule, shape = node.rule, node.shape
        homes = [self.home(n) for n in node.active]
        given = [x for x, _ in homes]
        if rule.moves:
            given += [t for _, t in homes]
        for c in node.constants:
            given.append(self.whole(c) if type(c) is np.ndarray else self.slot(c))
        is_kept = node is self.target or (node.seen and node.handle() is not None)
        is_kept = is_kept or node.is_kept
        x = t = self.place(shape, is_kept)
        if rule.shared is not None:
            t = homes[rule.shared][1]
        elif rule.moves:
            t = self.place(shape, is_kept)
        self.calls.append(Call(rule.on_blocks, (x, t, *given), node.seen))
        self.homes[id(node)] = x, t
        if is_kept:
            whole = t
            if t in self.rows:
                whole = self.place(shape, True)
                self.calls.append(Call(COPY, (whole, t)))
            self.kept.append((node, x, whole))

    def in_few_rows(self, wanted: Sequence[int]) -> tuple[list[Call], list[int], list[int]]:
        """The calls, their rows, and the wanted slots.

        A row serves again after its last use.
        """
        last: dict[int, int] = {}
        for k, call in enumerate(self.calls):
            last.update(dict.fromkeys(call.given, k))
        last.update(dict.fromkeys(wanted, len(self.calls)))
        row_of: dict[int, int] = {}
        rows: list[int] = []
        idle: list[int] = []
        calls = []
        for k, call in enumerate(self.calls):
            for s in call.given[:2]:
                if s in self.rows and s not in row_of:
                    if not idle:
                        rows.append(s)
                        idle.append(s)
                    row_of[s] = idle.pop()
            calls.append(call._replace(given=tuple([row_of.get(s, s) for s in call.given])))
            idle += [row_of[s] for s in set(call.given) if s in row_of and last[s] == k]
        return calls, rows, [row_of.get(s, s) for s in wanted]

    def carry_out(self) -> list[tuple[Node, Leaf]]:
        """Compute block by block; the nodes that are kept, with value and tangent."""
        self.sums(())
        return self.results()

    def results(self) -> list[tuple[Node, Leaf]]:
        """The nodes that are kept, with value and tangent, when they are computed."""
        return [(node, Leaf(self.wholes[x], self.wholes[t])) for node, x, t in self.kept]

    def totals(self, node: Node) -> tuple[Any, Any]:
        """The sums of the entries of a node, value and tangent, to the last bit as NumPy's."""
        found = self.sums(self.homes[id(node)])
        value, tangent = [sum_of_parts(self.size, self.block, sums) for sums in found]
        return value, tangent

    def sums(self, wanted: Sequence[int]) -> list[list[Any]]:
        """Compute block by block: the sums of all blocks of some slots."""
        calls, own, wanted = self.in_few_rows(wanted)
        cut = [(i, a.reshape(-1)) for i, a in self.wholes.items()]
        changing = frozenset([*own, *self.wholes])
        program = Program(tuple(calls), changing, tuple(wanted), len(calls))
        count = len(own) + program.spares
        # The parts are between half of it and all of it: by this they fill the cache on average.
        most = TOGETHER * 4 // 3 // max(1, count)
        self.block = min(max(most, SHORTEST), LONGEST)
        self.size = cut[0][1].size
        blocks = in_blocks(self.slots, cut, own, program.spares, self.block)
        return program.carry_out(self.slots, blocks)[0]


def in_blocks(
    slots: Sequence[Any],
    wholes: Sequence[tuple[int, np.ndarray]],
    own: Sequence[int],
    count: int,
    block: int,
) -> Iterator[tuple[list[Any], list[np.ndarray]]]:
    """All slots, with the blocks of one part after the other, and rows to work in.

    wholes: slots and the arrays of one axis that are cut for them; own: slots that are rows of the
    cache; count: how many rows there are beside; block: how long parts are at most.
    """
    memory = list(scratch(len(own) + count, block))
    now, length, start = list(slots), 0, 0
    for n in halves(wholes[0][1].size, block):
        at = slice(start, start + n)
        start += n
        for i, array in wholes:
            now[i] = array[at]
        if n != length:
            length, rows = n, [r[:n] for r in memory]
            for i, row in zip(own, rows, strict=False):
                now[i] = row
            work = rows[len(own) :]
        yield now, work
