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
from typing import Any

import numpy as np

from ..arrays.memory import large_copy
from ..kinds.dual import Dual, make_dual
from ..levels.level import entered
from ..levels.rules import FUNCTIONS
from ..levels.traced import SLOT, TracedArray
from ..primitives.block_rules import NotANumber
from ..primitives.blocks import pool_of
from ..programs.kept import may_change
from .alarms import Alarms
from .joint import Leaf, Node, Pass, Rule, in_order
from .late import Late, settle, settled_within, state_of_result
from .waiting import LATE, State, is_constant, is_plain

__all__ = ["Postponed", "done", "postpone", "state_of", "stop"]

#: After so many operations, or with so many arrays that they read, a result is computed.
LONGEST = 64
WIDEST = 16

TANGENT: Any = TracedArray.__dict__["tangent"]


class Postponed(Late, Dual):
    """A dual that is not computed yet."""

    __slots__ = ()

    @classmethod
    def bind(cls, primitive: Any, level: Any, args: tuple, params: dict) -> Any:
        if primitive.is_total is not None and primitive.is_total(args[0], **params):
            found = total(args[0])
            if found is not None:
                return found
        return Dual.bind(primitive, level, tuple(map(settle, args)), params)

    def compute(self) -> None:
        compute(self)

    @property
    def tangent(self) -> Any:
        return TANGENT.__get__(settle(self))

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        if func in SUMS and args and args[0] is self:
            references = sys.getrefcount(self)
            node = SLOT.__get__(self)
            if type(node) is Node:  # no other thread has computed it
                node.is_held = references > SUMS[func]
            return FUNCTIONS[func](*args, **settled_within(kwargs))
        types = {Dual if t is Postponed else t for t in types}
        args, kwargs = settled_within(args), settled_within(kwargs)
        return settle(self).__array_function__(func, types, args, kwargs)


class _Probe:
    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        return sys.getrefcount(self)


_alone: Any = _Probe
#: What does not look at the entries but at their sum, with the references there are to an array
#: that it alone holds.
SUMS: dict[Any, Any] = {f: f(_alone()) for f in (np.sum, np.mean)}


def state_of(level: Any, kind: type[State] = State) -> Any:
    """The state of a level that puts operations off; None where it does not now."""
    state: Any = level.later
    if state is None:
        state = level.later = False if level.given is None else kind(*level.given)
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
    state.put_down(node, r)
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


def stop(level: Any) -> None:
    """Compute all of a level that is put off and in use, and put nothing off from now on."""
    state = level.later
    if state:
        state.keep(level.tape)
        for handle in state.handles:
            settle(handle())
        state.finish()
        level.later = False


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
    state.handles = [h for h in state.handles if isinstance(h(), Late)]
    for n in nodes:
        n.seen = True
    state.unseen = [n for n in state.unseen if not n.seen]
    for n, leaf in kept:
        n.done, n.active, n.constants = leaf, (), ()
        handle = n.handle()
        if handle is not None:
            SLOT.__set__(handle, leaf.x)
            if type(handle) is Postponed:
                TANGENT.__set__(handle, leaf.t)
            handle.__class__ = n.rule.kind


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
