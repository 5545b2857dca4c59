"""Operators and ufuncs of the kinds: how they come to the functions that are in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..levels.protocols import plain_rule
from ..levels.rules import UFUNCS
from ..levels.traced import TracedArray
from ..primitives.elementwise import Elementwise
from ..primitives.keywords import call_with_keywords
from ..put_off.late import Late, settle as computed, settled_within
from .codegen import KINDS, METHODS, TABLES, WAITING, fast, mixed, wiring
from .first_calls import Pair

__all__ = ["WRITTEN", "add_kind", "define", "install", "operator_method"]

#: (kind, ufunc) -> (op, rop) of what is not elementwise: see `contractions`
WRITTEN: dict[tuple[str, Any], Pair] = {}


class _Lazy:
    """An operator of the kinds, which replaces itself where it is first used."""

    __slots__ = ("name", "primitive", "reflected")

    def __init__(self, name: str, primitive: Elementwise, reflected: bool):
        self.name, self.primitive, self.reflected = name, primitive, reflected

    def __get__(self, instance: Any, kind: type) -> Any:
        with wiring:
            f = fast(self.primitive, kind.__name__)[self.reflected]
            setattr(kind, self.name, f)
        return self if instance is None else f.__get__(instance, kind)  # type: ignore[union-attr]


#: Kinds that inherit from one with generated code, and have none.
_others: list[type[TracedArray]] = []


def operator_method(primitive: Elementwise, reflected: bool = False) -> Callable[..., Any]:
    """An operator method for the kinds without generated code."""
    if len(primitive.partials) == 1:
        return lambda u: primitive(u)
    if reflected:
        return lambda v, u: mixed(primitive, u, v)
    return lambda u, v: mixed(primitive, u, v)


def install(primitive: Elementwise, name: str, reflected: str | None = None) -> None:
    """Make `name` (and its reflection) the operator of a primitive on all traced arrays."""
    setattr(TracedArray, name, operator_method(primitive))
    if reflected is not None:
        setattr(TracedArray, reflected, operator_method(primitive, True))
    for method, swap in ((name, False), (reflected, True)):
        if method is not None:
            lazy = _Lazy(method, primitive, swap)
            METHODS.append(lazy)
            for cls in KINDS:
                setattr(cls, method, lazy)
            for cls in _others:
                setattr(cls, method, operator_method(primitive, swap))


class _Table(dict):
    """ufunc -> the generated functions of one kind; None where there are none."""

    def __init__(self, kind: str):
        self.kind = kind

    def __missing__(self, ufunc: Any) -> Any:
        rule = plain_rule(ufunc)
        plain = isinstance(rule, Elementwise) and len(rule.partials) <= 2
        if plain and rule.partials[0].constant == 0.0 == rule.partials[-1].constant:  # type: ignore[union-attr]
            plain = False  # a step function has no formula of which code could be made
        with wiring:
            if plain:
                out = fast(rule, self.kind)  # type: ignore[arg-type]
            else:
                out = WRITTEN.get((self.kind, ufunc))  # type: ignore[assignment]
            self[ufunc] = out
        return out


def define(ufunc: np.ufunc, primitive: Elementwise) -> None:
    """Let a primitive handle a ufunc from now on, also where another one did before."""
    UFUNCS[ufunc] = primitive
    for table in TABLES:
        table.pop(ufunc, None)


#: Stands for the second operand of a ufunc that has one.
NOTHING = object()


def protocol(cls: type, general: Callable[..., Any]) -> Callable[..., Any]:
    """The `__array_ufunc__` of a kind with generated code; in general it is another one."""
    table = _Table(cls.__name__)
    TABLES.append(table)

    def __array_ufunc__(
        self: Any, ufunc: Any, method: str, x: Any, y: Any = NOTHING, *more: Any, **kwargs: Any
    ) -> Any:
        if not kwargs and method == "__call__":
            f = table[ufunc]
            if f is not None:
                if y is NOTHING:
                    return f[0](x)
                if type(x) is cls:
                    return f[0](x, y)
                if type(y) is cls:
                    return f[1](y, x)
        inputs = (x,) if y is NOTHING else (x, y, *more)
        return general(self, ufunc, method, *inputs, **kwargs)

    return __array_ufunc__


def computed_first(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A call of a ufunc that cannot be put off."""
    inputs, kwargs = settled_within(inputs), settled_within(kwargs)
    return computed(self).__array_ufunc__(ufunc, method, *inputs, **kwargs)


def add_kind(
    cls: type[TracedArray], base: type[TracedArray], put_off: Any, other: type[TracedArray]
) -> None:
    """Give operators to a kind whose results wait, and to another one that only inherits.

    base: what results become when they are computed; put_off: what makes one that waits.
    """
    with wiring:
        KINDS.append(cls)
        WAITING[cls.__name__] = (base, cls), put_off
        _others.append(other)
        for lazy in METHODS:
            setattr(cls, lazy.name, lazy)
            setattr(other, lazy.name, operator_method(lazy.primitive, lazy.reflected))
        cls.__array_ufunc__ = protocol(cls, computed_first)


TracedArray.with_keywords = staticmethod(call_with_keywords)
for _kind in KINDS:
    _kind.__array_ufunc__ = protocol(
        _kind, TracedArray.__array_ufunc__ if not issubclass(_kind, Late) else computed_first
    )
