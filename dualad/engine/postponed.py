"""Large elementwise results that are put off, so that many operations are one pass by blocks.

The result of an elementwise operation on large duals is `Postponed`: it knows the operation and
its operands. When anybody looks at it, it is computed together with what it is made of, by the
rules and in the order of the operations, so that nothing differs but the traffic: what is
intermediate lives in the cache alone. It is an ordinary dual from then on.

A postponed operation must not see what is written after it ran. Traced arrays are never changed
in place while anybody holds their memory; what the user may hold is copied when it is first used.
NumPy's warnings come where the value is computed, in the error state of the operation.
"""

from __future__ import annotations

import sys
import threading
import weakref
from contextlib import suppress
from typing import Any

import numpy as np

from .alarms import Alarms
from .blocks import NotANumber, pool_of
from .dual import Dual, make_dual
from .joint import Leaf, Node, Pass, Rule
from .level import entered
from .memory import F64, has_own_memory, large_copy
from .tape import may_change
from .traced import FUNCTIONS, SLOT, TracedArray

__all__ = ["Postponed", "State", "postpone", "settle", "settled_within"]

#: After so many operations, or with so many arrays that they read, a result is computed.
LONGEST = 64
WIDEST = 16

TANGENT: Any = TracedArray.__dict__["tangent"]
#: The count of references to an array that only its dual holds, as `own` sees it.
ALONE = 3
#: Held while results are computed.
_computing = threading.RLock()


class Postponed(Dual):
    """A dual that is not computed yet. The slot of its value has the node of it.

    Every attribute but these, and every operator but those that can be put off, computes it.
    """

    __slots__ = ()
    waits = True

    @classmethod
    def bind(cls, primitive: Any, level: Any, args: tuple, params: dict) -> Any:
        if primitive.is_total is not None and primitive.is_total(args[0], **params):
            found = total(args[0])
            if found is not None:
                return found
        return Dual.bind(primitive, level, tuple(map(settle, args)), params)

    def general(self) -> Dual:
        return settle(self)

    @property
    def primal(self) -> Any:
        return SLOT.__get__(settle(self))

    @property
    def tangent(self) -> Any:
        return TANGENT.__get__(settle(self))

    @property
    def shape(self) -> tuple[int, ...]:
        return SLOT.__get__(self).shape

    @property
    def ndim(self) -> int:
        return len(SLOT.__get__(self).shape)

    @property
    def dtype(self) -> np.dtype:
        return F64

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self if name in KNOWN else settle(self), name)

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        if func in SUMS and args and args[0] is self:
            return FUNCTIONS[func](*args, **settled_within(kwargs))
        types = {Dual if t is Postponed else t for t in types}
        args, kwargs = settled_within(args), settled_within(kwargs)
        return settle(self).__array_function__(func, types, args, kwargs)


#: What is known of a result that is not computed.
KNOWN = frozenset(
    ["__class__", "bind", "dtype", "ends", "general", "kind", "level", "mean", "ndim", "primal",
     "shape", "size", "sum", "tangent", "waits"]
)  # fmt: skip
#: What does not look at the entries, but at their sum.
SUMS = (np.sum, np.mean)


def _computed_first(name: str) -> Any:
    """A special method of results that are put off: that of what they become."""

    def method(self: Any, *args: Any) -> Any:
        f = getattr(settle(self), name, None)
        return NotImplemented if f is None else f(*map(settle, args))

    method.__name__ = name
    return method


IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
            "lshift", "rshift")  # fmt: skip
for _name in (
    "array bool ceil complex contains copy deepcopy delitem divmod eq float floor floordiv format "
    "ge getitem gt index int invert iter le len lt matmul ne rdivmod repr rfloordiv rmatmul round "
    "setitem str trunc and or xor rand ror rxor lshift rshift rlshift rrshift "
    + " ".join(f"i{operation}" for operation in IN_PLACE)
).split():
    setattr(Postponed, f"__{_name}__", _computed_first(f"__{_name}__"))
Postponed.__hash__ = Dual.__hash__  # type: ignore[method-assign]


class State:
    """What a level has put off and nobody has computed, and how warnings are given."""

    __slots__ = ("alarms", "safe", "unseen")

    def __init__(self) -> None:
        self.alarms = Alarms()
        self.unseen: list[Node] = []
        #: the arrays that nobody but the engine can write to
        self.safe: dict[int, weakref.ref[np.ndarray]] = {}

    def finish(self, failure: Any = None) -> None:
        """Compute what nobody asked for: it may have something to warn of."""
        unseen, self.unseen = self.unseen, []
        if isinstance(failure, (MemoryError, KeyboardInterrupt)):
            return
        for shape in {n.shape: None for n in unseen}:
            nodes = in_order([n for n in unseen if n.shape == shape])
            with self.alarms.of_the_operations(), suppress(NotANumber):
                Pass(nodes).carry_out()


def state_of(level: Any) -> State | None:
    """The state of a level that puts operations off; None where it does not now."""
    state: Any = level.later
    if state is None:
        state = level.later = State() if level.name == "jvp" else False
    if state is False or entered() is not level:
        return None
    if not state.alarms.are_the_same():
        if state.unseen:
            return None
        state.alarms = Alarms()
    return state if state.alarms.may_be_late else None


def postpone(level: Any, rule: Rule, active: tuple, constants: tuple) -> Any:
    """The result of an operation on duals, put off; None where that cannot be.

    active: the operands that move, duals of the level; constants: the others.
    """
    state = state_of(level)
    if state is None:
        return None
    shape = SLOT.__get__(active[0]).shape
    operands: list[Any] = []
    leaves: set[int] = set()
    for d in active:
        found = operand(state, d, shape)
        if found is None:
            return None
        operands.append(found)
        leaves |= found.leaves
    others = []
    for c in constants:
        if type(c) is np.ndarray:
            if not is_plain(c, shape):
                return None
            if may_change(c):
                pool_of(level)
                c = large_copy(c)
            leaves.add(id(c))
        others.append(c)
    node = Node(rule, tuple(operands), tuple(others), frozenset(leaves), shape)
    r = level.new(Postponed)
    r.level = level
    SLOT.__set__(r, node)
    TANGENT.__set__(r, None)
    node.handle = weakref.ref(r)
    state.unseen.append(node)
    return settle(r) if len(state.unseen) > LONGEST or len(leaves) > WIDEST else r


def operand(state: State, d: Dual, shape: tuple[int, ...]) -> Any:
    """What an operation keeps of an operand: its node, or its arrays; None where it cannot."""
    x = SLOT.__get__(d)
    if type(x) is Node:
        if x.shape != shape:
            return None
        return x if x.done is None else x.done
    t = TANGENT.__get__(d)
    if not (is_plain(x, shape) and is_plain(t, shape)):
        return None
    del x, t
    return Leaf(own(state, d, SLOT), own(state, d, TANGENT))


def is_plain(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether an array can be cut as if it had one axis."""
    return type(x) is np.ndarray and x.dtype is F64 and x.shape == shape and x.flags.c_contiguous


def own(state: State, d: Dual, slot: Any) -> np.ndarray:
    """The array in a slot of a dual; where somebody else could write to it, a copy from now on."""
    x = slot.__get__(d)
    known = state.safe.get(id(x))
    if known is not None and known() is x:
        return x
    if may_change(x) and not (has_own_memory(x) and sys.getrefcount(x) <= ALONE):
        pool_of(d.level)
        x = large_copy(x)
        slot.__set__(d, x)
    state.safe[id(x)] = weakref.ref(x)
    return x


def settle(x: Any) -> Any:
    """Any value; one that is put off is computed and is an ordinary dual from now on."""
    if type(x) is Postponed:
        with _computing:
            if type(x) is Postponed:
                compute(x)
    return x


def settled_within(x: Any) -> Any:
    """Any value; in containers too, what is put off is computed."""
    kind = type(x)
    if kind is Postponed:
        return settle(x)
    if kind is list or kind is tuple:
        return kind(map(settled_within, x))
    return {k: settled_within(v) for k, v in x.items()} if kind is dict else x


def compute(d: Postponed) -> None:
    """Compute a result, and on the way all of its shape that was put off before."""
    node, state, nodes = wanted(d)
    with state.alarms.of_the_operations():
        try:
            kept = Pass(nodes, node).carry_out()
        except NotANumber:
            kept = at_once(d.level, nodes)
    done(state, nodes, kept)


def total(d: Postponed) -> Any:
    """The sum of all entries, which need not be kept for it; None where it is not finite."""
    with _computing:
        if type(d) is not Postponed:
            return None
        node, state, nodes = wanted(d)
        joint = Pass(nodes)
        with state.alarms.of_the_operations():
            try:
                x, t = joint.totals(node)
            except NotANumber:
                return None
        done(state, nodes, joint.results())
    return make_dual(d.level, x, t) if np.isfinite(x) and np.isfinite(t) else None


def wanted(d: Postponed) -> tuple[Node, State, list[Node]]:
    """The node of a result, the state of its level, and what is to be computed."""
    level = d.level
    if not level.is_open:
        level.new(Dual)  # which raises the error of a leak
    pool_of(level)
    node, state = SLOT.__get__(d), level.later
    return node, state, in_order([*(n for n in state.unseen if n.shape == node.shape), node])


def done(state: State, nodes: list[Node], kept: list[tuple[Node, Leaf]]) -> None:
    """What is kept of what was computed makes its handle an ordinary dual."""
    shape = nodes[0].shape
    state.unseen = [n for n in state.unseen if n.shape != shape]
    for n in nodes:
        n.seen = True
    for n, leaf in kept:
        n.done, n.active, n.constants = leaf, (), ()
        handle = n.handle()
        if handle is not None:
            SLOT.__set__(handle, leaf.x)
            TANGENT.__set__(handle, leaf.t)
            handle.__class__ = Dual


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


def at_once(level: Any, nodes: list[Node]) -> list[tuple[Node, Leaf]]:
    """Compute nodes one after the other, as if they had not been put off; keep all in use."""
    found: dict[int, Any] = {}

    def value(operand: Any) -> Any:
        if type(operand) is Node:
            if operand.done is None:
                return found[id(operand)]
            operand = operand.done
        return make_dual(level, operand.x, operand.t)

    later, level.later = level.later, False
    try:
        for n in nodes:
            found[id(n)] = n.rule.eager(*map(value, n.active), *n.constants)
    finally:
        level.later = later
    used = [(n, found[id(n)]) for n in nodes if n.handle() is not None]
    return [(n, Leaf(r.primal, r.tangent)) for n, r in used]
