"""Large recorded operations that are put off: their values may be wanted in the sweep alone.

A recorded elementwise operation on large arrays writes its entry on the tape at once, and is
computed as late as in `postponed`: when somebody looks at it, in one pass by blocks with what it
is made of. Where nobody does, the sweep computes a block of each value that its rules read,
from the operands on, and pulls the block while it is in the cache: see `fused`. Then neither
values nor cotangents go through memory, but operands and gradients alone. The entries of the tape
hold nodes in the place of arrays until then.

The sum of such a result waits too, and so do numbers that are linear in sums; the sweep that
computes the entries adds them up.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..fast_paths.operators import add_kind
from ..kinds.recorded import Recorded
from ..levels.rules import FUNCTIONS
from ..levels.traced import SLOT
from ..primitives.block_rules import joint_rule, known_rules
from ..primitives.blocks import pool_of
from ..primitives.elementwise import Elementwise
from ..primitives.formulas import Formulas
from ..programs.kept import may_change
from ..put_off.joint import Leaf, Node, Rule
from ..put_off.late import Late, settle, settled_within, state_of_result
from ..put_off.postponed import LONGEST, state_of
from ..put_off.putting_off import of_large
from ..put_off.waiting import LATE_RECORD as LATE, is_constant, is_plain
from .late_sums import LateTotal, can_wait, pull_of, total_of
from .record_state import RecordState

__all__ = ["LATE", "LateRecord", "record_later"]

#: With so many arrays that it is made of a result is computed: they are not to take more memory
#: than values of operations would.
WIDEST = 8

CONSTANTS = (np.ndarray, float, int, np.float64)
#: What costs no more than to write the result to memory, and to read it again.
CHEAP = frozenset(
    [np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.absolute,
     np.square, np.maximum, np.minimum, np.sqrt, np.copysign, np.reciprocal]
)  # fmt: skip


class LateRecord(Late, Recorded):
    """A recorded value that is not computed yet."""

    __slots__ = ()

    @classmethod
    def bind(cls, primitive: Any, level: Any, args: tuple, params: dict) -> Any:
        d = args[0]
        if primitive.is_total is not None and type(d) is cls:
            node = SLOT.__get__(d)
            if type(node) is Node and can_wait(level) and primitive.is_total(d, **params):
                return total_of(d, node, primitive, params)
        return Recorded.bind(primitive, level, tuple(map(settle, args)), params)

    def compute(self) -> None:
        node, state = SLOT.__get__(self), state_of_result(self)
        pool_of(self.level)
        state.compute(node, node)

    def __array_function__(self, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        if (func is np.sum or func is np.mean) and args and args[0] is self:
            return FUNCTIONS[func](*args, **settled_within(kwargs))
        types = {Recorded if t is LateRecord else t for t in types}
        args, kwargs = settled_within(args), settled_within(kwargs)
        return settle(self).__array_function__(func, types, args, kwargs)


class RecordRule(NamedTuple):
    """How an operation is computed by blocks, and what its entry on the tape is made of."""

    rule: Rule
    pull: Any
    #: the names of what the pull reads: out, x and y
    reads: tuple[str, ...]


_rules: dict[tuple[Elementwise, str, bool], RecordRule | None] = {}


def rule_of(primitive: Elementwise, pattern: str, with_array: bool) -> RecordRule | None:
    """The rule of an operation of which the operands in the pattern are recorded arrays.

    with_array: the other operand is an array too. None where value or shares are more than ufuncs.
    """
    formulas = Formulas(primitive)
    if pattern not in formulas.patterns():
        return None
    if primitive.complex is not None and (pattern != "x" or with_array):
        return None
    constants = [a for a in formulas.names if a not in pattern]
    numbers = set() if with_array else set(constants)
    namespace = {**primitive.namespace, "F": primitive.impl}
    names = [*pattern, *constants]
    made = joint_rule(namespace, formulas.call, None, names, numbers, False)
    if made is None:
        return None
    pull = pull_of(primitive, pattern)
    reads = pull.shares.reads
    if known_rules(pull, tuple([n not in numbers for n in reads])) is None:
        return None
    is_dear = primitive.operator not in (*"+-*/",) and primitive.impl not in CHEAP
    return RecordRule(Rule(made, None, primitive, Recorded, False, is_dear), pull, reads)


def record_later(
    primitive: Elementwise, pattern: str, active: tuple, constants: tuple, are_kept: bool = False
) -> Any:
    """A recorded operation of one level, put off; None where that cannot be.

    pattern: which of the operands x and y are recorded; active: those; constants: the others;
    are_kept: these are copies already, where they may have been written to.
    """
    level = active[0].level
    if level.later is False:
        return None
    state = state_of(level, RecordState)
    if state is None:
        return None
    primitive, constants = of_large(primitive, pattern, constants)
    with_array = False
    if constants:
        kind = type(constants[0])
        if kind not in CONSTANTS:
            return None
        with_array = kind is np.ndarray
    key = (primitive, pattern, with_array)
    try:
        found = _rules[key]
    except KeyError:
        found = _rules[key] = rule_of(primitive, pattern, with_array)
    if found is None:
        return None
    first = SLOT.__get__(active[0])
    if type(first) is not np.ndarray and type(first) is not Node:
        return None
    shape = first.shape
    if math.prod(shape) < LATE:
        return None
    operands = [operand(d, shape) for d in active]
    if None in operands or not all(is_constant(c, shape) for c in constants):
        return None
    may_be_written = with_array and not are_kept and may_change(constants[0])
    if state.is_early(operands, may_be_written):
        return None
    pool_of(level)
    operands = [state.made_safe(n) for n in operands]
    return put_down(state, level, found, pattern, active, operands, constants, shape)


def put_down(
    state: RecordState,
    level: Any,
    found: RecordRule,
    pattern: str,
    active: tuple,
    operands: list[Any],
    constants: tuple,
    shape: tuple[int, ...],
) -> Any:
    """Write the entry of an operation on the tape; its result, which waits."""
    leaves = {id(c) for c in constants if type(c) is np.ndarray}.union(
        *(n.leaves for n in operands)
    )
    node = Node(found.rule, tuple(operands), constants, frozenset(leaves), shape)
    given: dict[str, Any] = dict(zip(pattern, operands, strict=True))
    if constants:
        given["x" if pattern == "y" else "y"] = constants[0]
    given["out"] = node
    reads = []
    for name in found.reads:
        value = given[name]
        if type(value) is Leaf:
            value = value.x
        elif type(value) is Node:
            keep_what_is_dear(value)
        reads.append(value)
    r = level.new(LateRecord)
    tape = level.tape
    node.variable = len(tape)
    r.level, r.tangent, r._views = level, node.variable, None
    SLOT.__set__(r, node)
    tape.append((found.pull, *[d.tangent for d in active], *reads))
    state.put_down(node, r)
    return settle(r) if len(state.unseen) > LONGEST or len(leaves) > WIDEST else r


def keep_what_is_dear(node: Node) -> None:
    """Let a pass before the sweep keep what it would cost much to compute a value again."""
    node.is_read = True
    stack = [node]
    while stack:
        n = stack.pop()
        if not n.is_part and n.done is None:
            n.is_part = True
            n.is_kept = n.rule.is_dear
            if not n.is_kept:
                stack += [a for a in n.active if type(a) is Node]


def operand(d: Any, shape: tuple[int, ...]) -> Any:
    """What an operation keeps of an operand: its node, or what it is; None where it cannot."""
    x = SLOT.__get__(d)
    if type(x) is Node:
        if x.shape != shape:
            return None
        return x if x.done is None else x.done
    return Leaf(x, x) if is_plain(x, shape) else None


add_kind(LateRecord, Recorded, record_later, LateTotal)
