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

import math
import sys
import threading
import weakref
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .alarms import Alarms
from .blocks import NotANumber, pool_of
from .dual import Dual, make_dual
from .joint import Leaf, Node, Pass, Rule
from .level import entered
from .memory import F64, large_copy
from .tape import may_change
from .traced import FUNCTIONS, SLOT, TracedArray

__all__ = ["Postponed", "State", "postpone", "settle", "settled_within"]

#: From this many entries on, 1 MB, operations are put off: what that costs is little beside them.
LATE = 1 << 17
#: After so many operations, or with so many arrays that they read, a result is computed.
LONGEST = 64
WIDEST = 16

TANGENT: Any = TracedArray.__dict__["tangent"]


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
            SLOT.__get__(self).is_held = sys.getrefcount(self) > SUMS[func]
            return FUNCTIONS[func](*args, **settled_within(kwargs))
        types = {Dual if t is Postponed else t for t in types}
        args, kwargs = settled_within(args), settled_within(kwargs)
        return settle(self).__array_function__(func, types, args, kwargs)


#: What is known of a result that is not computed.
KNOWN = frozenset(
    ["__class__", "bind", "dtype", "ends", "general", "kind", "level", "mean", "ndim", "primal",
     "shape", "size", "sum", "tangent", "waits"]
)  # fmt: skip


class _Probe:
    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        return sys.getrefcount(self)


#: What does not look at the entries but at their sum, with the references there are to an array
#: that it alone holds.
SUMS: dict[Any, int] = {f: f(_Probe()) for f in (np.sum, np.mean)}


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

    __slots__ = ("alarms", "computing", "copies", "given", "handles", "has_begun", "unseen")

    def __init__(self, given: Iterable[Any]) -> None:
        """given: the values and tangents that the user has, and may write to."""
        self.alarms = Alarms()
        #: held while results are computed
        self.computing = threading.RLock()
        self.unseen: list[Node] = []
        self.handles: list[weakref.ref[Postponed]] = []
        self.given = [a for a in given if type(a) is np.ndarray and may_change(a)]
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

        It is not put off: perhaps there is no second one.
        """
        if self.has_begun:
            return False
        self.has_begun = True
        return all(type(n) is Leaf and self.whose(n.x) is not None for n in operands)

    def finish(self, failure: Any = None) -> None:
        """Compute what nobody asked for: it may have something to warn of."""
        unseen, self.unseen = self.unseen, []
        if isinstance(failure, (MemoryError, KeyboardInterrupt)):
            return
        for shape in {n.shape: None for n in unseen}:
            nodes = in_order([n for n in unseen if n.shape == shape])
            with self.alarms.of_the_operations(), suppress(NotANumber):
                Pass(nodes).carry_out()

    def stop(self, level: Any) -> None:
        """Compute all that is in use, and put nothing off from now on."""
        for handle in self.handles:
            settle(handle())
        self.finish()
        level.later = False


def state_of(level: Any) -> State | None:
    """The state of a level that puts operations off; None where it does not now."""
    state: Any = level.later
    if state is None:
        given = getattr(level, "given", None)
        state = level.later = False if given is None else State(given)
        if state:
            level.given = state
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
    shape = max((SLOT.__get__(d).shape for d in active), key=len)
    operands = [operand(state, d, shape) for d in active]
    if None in operands or not all(is_constant(c, shape) for c in constants):
        return None
    if math.prod(shape) < LATE:
        return None
    if state.is_first(operands):
        return None
    pool_of(level)
    operands = [state.made_safe(n) for n in operands]
    others = [large_copy(c) if type(c) is np.ndarray and may_change(c) else c for c in constants]
    leaves = {id(c) for c in others if type(c) is np.ndarray}.union(*(n.leaves for n in operands))
    node = Node(rule, tuple(operands), tuple(others), frozenset(leaves), shape)
    r = level.new(Postponed)
    r.level = level
    SLOT.__set__(r, node)
    TANGENT.__set__(r, None)
    node.handle = weakref.ref(r)
    state.handles.append(node.handle)
    state.unseen.append(node)
    return settle(r) if len(state.unseen) > LONGEST or len(leaves) > WIDEST else r


def operand(state: State, d: Dual, shape: tuple[int, ...]) -> Any:
    """What an operation keeps of an operand: its node, or what it is; None where it cannot."""
    x = SLOT.__get__(d)
    if type(x) is Node:
        if x.shape != shape:
            return None
        return x if x.done is None else x.done
    t = TANGENT.__get__(d)
    if type(x) is np.float64 is type(t):
        return Leaf(x, t)
    if not (is_plain(x, shape) and is_plain(t, shape)):
        return None
    return Leaf(x, t)


def is_constant(c: Any, shape: tuple[int, ...]) -> bool:
    """Whether a constant operand is a number, or an array of that shape."""
    return type(c) is not np.ndarray or is_plain(c, shape)


def is_plain(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether an array can be cut as if it had one axis."""
    return type(x) is np.ndarray and x.dtype is F64 and x.shape == shape and x.flags.c_contiguous


def settle(x: Any) -> Any:
    """Any value; one that is put off is computed and is an ordinary dual from now on."""
    if type(x) is Postponed:
        with state_of_result(x).computing:
            if type(x) is Postponed:
                compute(x)
    return x


def state_of_result(d: Postponed) -> State:
    """The state of the level of a result; an error where the level is closed."""
    if not d.level.is_open:
        d.level.new(Dual)  # which raises the error of a leak
    return d.level.given


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
    with state_of_result(d).computing:
        if type(d) is not Postponed:
            return None
        node, state, nodes = wanted(d)
        joint = Pass(nodes, node if node.is_held else None)
        with state.alarms.of_the_operations():
            try:
                x, t = joint.totals(node)
            except NotANumber:
                return None
        done(state, nodes, joint.results())
    return make_dual(d.level, x, t) if np.isfinite(x) and np.isfinite(t) else None


def wanted(d: Postponed) -> tuple[Node, State, list[Node]]:
    """The node of a result, the state of its level, and what is to be computed."""
    pool_of(d.level)
    node, state = SLOT.__get__(d), state_of_result(d)
    return node, state, in_order([*(n for n in state.unseen if n.shape == node.shape), node])


def done(state: State, nodes: list[Node], kept: list[tuple[Node, Leaf]]) -> None:
    """What is kept of what was computed makes its handle an ordinary dual."""
    shape = nodes[0].shape
    state.handles = [h for h in state.handles if type(h()) is Postponed]
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
