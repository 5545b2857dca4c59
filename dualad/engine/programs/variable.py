"""Linear variables: tangents without a value, on which derivative rules are run.

A linear variable has a shape and a dtype but no value. Linear operations on it record
themselves; anything else is an error that names the operation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...errors import LinearityError
from ..levels.buffer import frozen
from ..levels.level import Level
from ..levels.spec import Spec
from ..levels.traced import TracedArray, raw
from ..primitives.elementwise import Elementwise
from ..primitives.linear import Linear
from ..primitives.shape import either_zero_wins, fit, unfit, zero_wins
from .entries import add_cotangent, conjugate, multiply, pull_linear, specs
from .kept import kept

__all__ = ["LinearVariable", "variable"]


class Passing(list):
    """The tape of a program that is used before anybody can write into the arrays it reads."""

    __slots__ = ()


def kept_on(tape: list, constant: Any) -> Any:
    """A known operand as a program keeps it: what is used at once need not be copied."""
    if type(tape) is Passing and type(constant) is np.ndarray:
        return constant
    return kept(constant)


class LinearVariable(TracedArray):
    """A tangent without a value: `primal` is its Spec, `tangent` its number on the tape."""

    __slots__ = ()
    kind = "linear"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        numbers: list[Any] = []
        values: list[Any] = []
        for a in args:
            mine = type(a) is LinearVariable and a.level is level
            numbers.append(a.tangent if mine else None)
            values.append(a.primal if mine else frozen(a))
        parents, known = tuple(numbers), tuple(values)
        if isinstance(primitive, Elementwise):
            entry = scale_entry(level, primitive, known, parents, params)
        elif isinstance(primitive, Linear):
            entry = linear_entry(level, primitive, known, parents, params)
        else:
            raise not_linear(level, f"{primitive.name} was applied to it")
        k = len(level.tape)
        level.tape.append(entry)
        return variable(level, entry[5], k)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.primal.shape

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.primal.dtype)

    def _lost(self, what: str) -> Any:
        raise not_linear(
            self.level, f"{what} asks for a value, which a linear variable does not have"
        )

    def __bool__(self) -> bool:
        return self._lost("bool(x)")

    def __repr__(self) -> str:
        return f"LinearVariable({self.primal!r})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)


def not_linear(level: Level, why: str) -> LinearityError:
    """The error for a rule, or a function given to linear_transpose, that is not linear."""
    if level.name == "linear_transpose":
        return LinearityError(f"the function given to linear_transpose is not linear: {why}.")
    return LinearityError(
        f"a derivative rule ({level.name}) is not linear in its tangent: {why}. A jvp rule must "
        "be a linear function of the tangents, a backward rule of the cotangents; values that the "
        "rule only reads, or decides by, are saved by ctx.save_for_forward or closed over."
    )


def variable(level: Level, spec: Spec, k: int) -> LinearVariable:
    """The linear variable of number k."""
    v = level.new(LinearVariable)
    v.level, v.primal, v.tangent = level, spec, k
    return v


def scale_entry(level: Level, primitive: Any, args: tuple, parents: tuple, params: dict) -> tuple:
    """An elementwise operation on linear variables: each is scaled by a known coefficient."""
    active = [k for k, i in enumerate(parents) if i is not None]
    if primitive.joint:
        _require_zero(level, primitive, args, parents)
    elif len(active) > 1:
        raise not_linear(level, f"{primitive.name} combines two tangents")
    elif active[0] not in primitive.linear:
        raise not_linear(level, f"{primitive.name} was applied to it")
    out = primitive.out_spec(args, params)
    coefficients = tuple(
        [
            None if i is None else kept_on(level.tape, primitive.coefficient(k, out, args))
            for k, i in enumerate(parents)
        ]
    )
    return (pull_scale, parents, primitive, coefficients, params, out, specs(args, parents))


def linear_entry(level: Level, primitive: Any, args: tuple, parents: tuple, params: dict) -> tuple:
    linear = primitive.movable(len(args))
    if primitive.joint:
        _require_zero(level, primitive, args, parents, linear)
    elif len(parents) - parents.count(None) > 1:
        raise not_linear(level, f"{primitive.name} combines two tangents")
    if False in [ok or i is None for i, ok in zip(parents, linear, strict=True)]:
        raise not_linear(level, f"{primitive.name} takes it where only a known value is allowed")
    out = primitive.out_spec(args, params)
    tape, reads, like = level.tape, [], []
    for a, i in zip(args, parents, strict=True):  # a variable has come as its Spec
        reads.append(kept_on(tape, a) if i is None else a)
        like.append(None if i is None else a)
    return (pull_linear, parents, primitive, tuple(reads), params, out, tuple(like))


def _require_zero(
    level: Level, primitive: Any, args: tuple, parents: tuple, linear: Any = None
) -> None:
    """A constant beside a tangent is accepted only where it is exactly zero."""
    for k, (a, i) in enumerate(zip(args, parents, strict=True)):
        if i is None and (linear is None or linear[k]) and not isinstance(a, Spec):
            value = raw(a)
            if isinstance(value, Spec) or np.any(np.asarray(value) != 0):
                raise not_linear(level, f"{primitive.name} adds a constant that is not zero to it")


def pull_scale(
    ct: Any, entry: tuple, g: Any, own: set, product: Callable[..., Any] = multiply
) -> None:
    _, parents, _, coefficients, _, _, like = entry
    for k, i in enumerate(parents):
        if i is not None:
            d = coefficients[k]
            share = ct if d is None else product(ct, conjugate(d))
            add_cotangent(g, i, unfit(share, like[k]))


def push_scale(entry: tuple, v: Any, product: Callable[..., Any] = multiply) -> Any:
    _, parents, _, coefficients, _, out, _ = entry
    total = None
    for i, d in zip(parents, coefficients, strict=True):
        if i is not None:
            term = v[i] if d is None else product(v[i], d)
            total = term if total is None else total + term
    return fit(total, out)


pull_scale.push = push_scale  # type: ignore[attr-defined]
pull_scale.guarded = partial(pull_scale, product=either_zero_wins)  # type: ignore[attr-defined]
pull_scale.guarded_push = partial(push_scale, product=zero_wins)  # type: ignore[attr-defined]
