"""Which elementwise operations are put off, and the operators of results that are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kinds.dual import Dual
from ..primitives.block_rules import joint_rule
from ..primitives.elementwise import Elementwise
from ..primitives.formulas import Formulas
from .joint import Rule
from .late import settle
from .postponed import postpone

__all__ = ["of_large", "operators", "put_off"]

CONSTANTS = (np.ndarray, float, int, np.float64)

_rules: dict[tuple[Elementwise, str, str], Rule | None] = {}


def on_duals(primitive: Elementwise) -> tuple[Callable[..., Any], Any]:
    """The functions (u op v) and (x op v) of a primitive on duals that are computed."""
    from ..fast_paths.codegen import generated

    return generated(primitive, "Dual")


def put_off(primitive: Elementwise, pattern: str, active: tuple, constants: tuple) -> Any:
    """An operation on duals of one level, put off; None where that cannot be.

    pattern: which of the operands x and y move; active: those; constants: the others.
    """
    level = active[0].level
    if level.later is False:
        return None
    if constants and type(constants[0]) not in CONSTANTS:
        return None
    primitive, constants = of_large(primitive, pattern, constants)
    numbers = "".join([a for a, d in zip(pattern, active, strict=True) if not d.shape])
    if constants and type(constants[0]) is not np.ndarray:
        numbers += "y" if pattern == "x" else "x"
    key = (primitive, pattern, numbers)
    try:
        rule = _rules[key]
    except KeyError:
        rule = _rules[key] = rule_of(primitive, pattern, numbers)
    return None if rule is None else postpone(level, rule, active, constants)


def of_large(primitive: Elementwise, pattern: str, constants: tuple) -> tuple[Elementwise, tuple]:
    """The same operation on large arrays, by another primitive where that is plainer."""
    if primitive.large is not None and pattern == "x" and type(constants[0]) in (int, float):
        value, plainer = primitive.large
        if constants[0] == value:
            return plainer, ()
    return primitive, constants


def rule_of(primitive: Elementwise, pattern: str, numbers: str) -> Rule | None:
    """The rule of an operation on blocks, where some of the operands x and y are numbers."""
    formulas = Formulas(primitive)
    if pattern not in formulas.patterns():
        return None
    total = formulas.total(pattern, {"x": "dx", "y": "dy"})
    moves = [f"d{a}" for a in pattern]
    constants = [a for a in formulas.names if a not in pattern]
    made = joint_rule(
        {**primitive.namespace, "F": primitive.impl},
        formulas.call,
        total,
        [*pattern, *moves, *constants],
        {*numbers, *(f"d{a}" for a in numbers)},
        primitive.singular,
    )
    if made is None:
        return None
    if total in moves and total[1:] in numbers:
        return None
    op, rop = on_duals(primitive)
    eager = op if pattern != "y" else rop
    return Rule(made, moves.index(total) if total in moves else None, eager, Dual)


def operators(
    primitive: Elementwise, made: Callable, kinds: Sequence[type], put_off: Callable
) -> tuple[Callable, Callable | None]:
    """The functions (u op v) and (x op v) of a primitive where u is put off.

    made: these of another primitive; kinds: of results that are computed, and of those that wait;
    put_off: what makes one of these.
    """
    from ..fast_paths.codegen import generated

    def at_once() -> tuple[Callable[..., Any], Any]:
        return generated(primitive, kinds[0].__name__)

    if len(primitive.partials) == 1:

        def unary(u: Any) -> Any:
            r = put_off(primitive, "x", (u,), ())
            return r if r is not None else at_once()[0](settle(u))

        return unary, None
    special = None
    if primitive.constant is not None:
        condition, other = primitive.constant
        special = eval(f"lambda v: {condition}", dict(primitive.namespace))

    def op(u: Any, v: Any) -> Any:
        kind = type(v)
        if special is not None and (kind is int or kind is float) and special(v):
            return made(other)[0](u, v)
        r = None
        if u is v and primitive.twice is not None:
            return made(primitive.twice)[0](u)
        if kind in kinds:
            if v.level is u.level:
                r = put_off(primitive, "xy", (u, v), ())
        else:
            r = put_off(primitive, "x", (u,), (v,))
        return r if r is not None else at_once()[0](settle(u), settle(v))

    def rop(v: Any, u: Any) -> Any:
        r = None
        if type(u) in kinds:
            if u.level is v.level:
                r = put_off(primitive, "xy", (u, v), ())
            if r is None:
                return at_once()[0](settle(u), settle(v))
        else:
            r = put_off(primitive, "y", (v,), (u,))
        return r if r is not None else at_once()[1](settle(v), u)

    return op, rop
