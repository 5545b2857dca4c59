"""The fast paths: functions of each elementwise primitive for one kind of traced array.

They handle what nearly every call is: operands of one level or constants, equal shapes, float64.
All else goes to the general path (`bind`), which they agree with by construction: both are made
from the same partials. They are made on first use: for the first calls such as carry out the
formulas (`interpreted`), then written and compiled ones, which take the place of those.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.guard import IGNORE, has_nan, restore, set_state
from ..arrays.memory import LARGE
from ..arrays.spent import SPENT
from ..kinds.batched import Batched
from ..kinds.batched_dual import BatchedDual, completed, vector_moves
from ..kinds.dual import Dual
from ..kinds.duck import as_duck
from ..kinds.recorded import Recorded
from ..levels.buffer import Buffer
from ..levels.protocols import plain_rule
from ..levels.rules import UFUNCS
from ..levels.traced import OBJECT, TracedArray
from ..levels.values import FOREIGN, as_operand
from ..primitives.blocks import result_at
from ..primitives.elementwise import Elementwise
from ..primitives.keywords import call_with_keywords
from ..primitives.primitive import lifted
from ..primitives.shape import fit
from ..programs.kept import kept
from ..put_off import putting_off
from ..put_off.late import Late, settle as computed, settled_within
from ..put_off.postponed import Postponed
from ..put_off.waiting import LATE
from .first_calls import FirstCalls, Pair
from .interpreted import first_calls
from .numbers import ARRAYS, doubled
from .twins import Twins

__all__ = ["WRITTEN", "add_kind", "define", "install", "operator_method", "rewire"]

float64 = np.float64
F64 = np.dtype(np.float64)


#: What an operator takes beside a traced array.
OPERANDS = (np.ndarray, np.generic, int, float, complex, list, tuple, range)


def mixed(primitive: Any, x: Any, y: Any) -> Any:
    """The general path of an operator; a buffer beside a value of a level is a constant."""
    if isinstance(primitive, Elementwise):
        if isinstance(y, Late):
            name = type(y).__name__
            if name in WAITING and type(x) is WAITING[name][0][0]:
                return fast(primitive, name)[1](y, x)  # type: ignore[misc]
        if type(y) is Buffer and type(x) in KINDS:
            return fast(primitive, type(x).__name__)[0](x, y.primal)
        if type(x) is Buffer and type(y) in KINDS:
            return fast(primitive, type(y).__name__)[1](y, x.primal)  # type: ignore[misc]
    other = y if isinstance(x, TracedArray) else x
    if not isinstance(other, TracedArray):
        if hasattr(other, "__dualad_face__"):
            return NotImplemented
        if not isinstance(other, OPERANDS) and as_duck(other) is None:
            for ask in FOREIGN:
                ask(other, True)
            return NotImplemented
    return primitive(as_operand(x), as_operand(y))


def record_later(*args: Any) -> Any:
    """The same as that of `late_records`, which few programs need."""
    from ..late_sweep.late_records import record_later

    return record_later(*args)


#: names the generated code refers to beside those of its formulas
SCOPE: dict[str, Any] = {
    "ARRAYS": ARRAYS,
    "DUALS": (Dual, BatchedDual),
    "LARGE": LARGE,
    "LATE": LATE,
    "Batched": Batched,
    "BatchedDual": BatchedDual,
    "completed": completed,
    "doubled": doubled,
    "Dual": Dual,
    "F64": F64,
    "OBJECT": OBJECT,
    "SPENT": SPENT,
    "Recorded": Recorded,
    "fit": fit,
    "float64": float64,
    "has_nan": has_nan,
    "IGNORE": IGNORE,
    "set_state": set_state,
    "vector_moves": vector_moves,
    "kept": kept,
    "result_at": result_at,
    "lifted": lifted,
    "mixed": mixed,
    "ndarray": np.ndarray,
    "put_off": putting_off.put_off,
    "record_later": record_later,
    "restore": restore,
}


def generate(primitive: Elementwise, kind: str) -> Pair:
    """The written functions (u op v) and (x op v) of a primitive for one kind of traced array."""
    if kind in WAITING:
        kinds, put_off = WAITING[kind]
        return putting_off.operators(primitive, lambda p: fast(p, kind), kinds, put_off)
    from .writer import Writer

    writer = Writer(primitive, SCOPE, generated)
    scope = writer.scope
    writer.execute(writer.source(kind), f"{kind} {primitive.name}")
    if kind == "Recorded":
        for p in writer.patterns():
            pull, twins = scope[f"pull_{p}"], Twins(primitive, writer.places(p))
            pull.shares = writer.shares(p)
            pull.guarded, pull.push = twins.guarded, twins.push
            pull.guarded_push = twins.guarded_push
    return scope["op"], scope.get("rop")


#: the kinds with generated code
KINDS: list[type[TracedArray]] = [Dual, BatchedDual, Recorded, Batched, Postponed]
#: those whose results are not computed yet, with what these become, and what makes them
WAITING: dict[str, tuple[tuple[type, type], Callable[..., Any]]] = {
    "Postponed": ((Dual, Postponed), putting_off.put_off),
}

#: (kind, primitive) -> (op, rop): as they were written, for first calls, and as they are in use
_generated: dict[tuple[str, Elementwise], Pair] = {}
_first: dict[tuple[str, Elementwise], Pair] = {}
_in_use: dict[tuple[str, Elementwise], Pair] = {}
#: (kind, ufunc) -> (op, rop) of what is not elementwise: see `contractions`
WRITTEN: dict[tuple[str, Any], Pair] = {}
#: Held while functions are put into use.
_wiring = threading.RLock()
#: What all of them pass through on their way into use, while somebody watches.
_wrap: Callable[[Elementwise, Pair], Pair] | None = None


def fast(primitive: Elementwise, kind: str) -> Pair:
    """The functions of a primitive and kind that are in use."""
    key = (kind, primitive)
    pair = _in_use.get(key)
    if pair is None:
        with _wiring:
            pair = current(primitive, kind)
            if _wrap is not None:
                pair = _wrap(primitive, pair)
            _in_use[key] = pair
    return pair


def current(primitive: Elementwise, kind: str) -> Pair:
    """The same as they are under what watches: those for first calls, later the written ones."""
    key = (kind, primitive)
    pair = _generated.get(key) or _first.get(key)
    if pair is None:
        with _wiring:
            if key not in _first:
                if kind in WAITING:  # which is large
                    return generated(primitive, kind)
                _first[key] = first_calls(primitive, kind)
            pair = _first[key]
    return pair


def generated(primitive: Elementwise, kind: str) -> Pair:
    """The written functions."""
    key = (kind, primitive)
    with _wiring:
        if key not in _generated:
            _generated[key] = generate(primitive, kind)
        return _generated[key]


def settle(primitive: Elementwise, kind: str) -> Pair:
    """Put the written functions in the place of those for first calls, wherever these are."""
    key = (kind, primitive)
    with _wiring:
        pair = generated(primitive, kind)
        before = _in_use.get(key)
        if key in _first and before is not None:
            after = pair if _wrap is None else _wrap(primitive, pair)
            for table in _tables:
                for ufunc in [u for u, f in [*table.items()] if f is before]:
                    table[ufunc] = after
            cls = next(cls for cls in KINDS if cls.__name__ == kind)
            for lazy in _operators:
                if lazy.primitive is primitive:
                    setattr(cls, lazy.name, after[lazy.reflected])
            _in_use[key] = after
        _first.pop(key, None)  # last: who interrupts this leaves it to the next call
        return pair


def rewire(wrap: Callable[[Elementwise, Pair], Pair] | None) -> None:
    """Pass all generated functions through `wrap` from now on; None: use them as they are."""
    global _wrap
    with _wiring:
        _wrap = wrap
        _in_use.clear()
        for table in _tables:
            table.clear()
        for lazy in _operators:
            for cls in KINDS:
                setattr(cls, lazy.name, lazy)


class _Lazy:
    """An operator of the kinds, which replaces itself where it is first used."""

    __slots__ = ("name", "primitive", "reflected")

    def __init__(self, name: str, primitive: Elementwise, reflected: bool):
        self.name, self.primitive, self.reflected = name, primitive, reflected

    def __get__(self, instance: Any, kind: type) -> Any:
        with _wiring:
            f = fast(self.primitive, kind.__name__)[self.reflected]
            setattr(kind, self.name, f)
        return self if instance is None else f.__get__(instance, kind)  # type: ignore[union-attr]


#: Kinds that inherit from one with generated code, and have none.
_others: list[type[TracedArray]] = []
#: The operators of the kinds, to take them back to where they started.
_operators: list[_Lazy] = []


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
            _operators.append(lazy)
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
        with _wiring:
            if plain:
                out = fast(rule, self.kind)  # type: ignore[arg-type]
            else:
                out = WRITTEN.get((self.kind, ufunc))  # type: ignore[assignment]
            self[ufunc] = out
        return out


_tables: list[_Table] = []


def define(ufunc: np.ufunc, primitive: Elementwise) -> None:
    """Let a primitive handle a ufunc from now on, also where another one did before."""
    UFUNCS[ufunc] = primitive
    for table in _tables:
        table.pop(ufunc, None)


#: Stands for the second operand of a ufunc that has one.
NOTHING = object()


def protocol(cls: type, general: Callable[..., Any]) -> Callable[..., Any]:
    """The `__array_ufunc__` of a kind with generated code; in general it is another one."""
    table = _Table(cls.__name__)
    _tables.append(table)

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


FirstCalls.connect(mixed, current, settle)
TracedArray.with_keywords = staticmethod(call_with_keywords)
for _kind in KINDS:
    _kind.__array_ufunc__ = protocol(
        _kind, TracedArray.__array_ufunc__ if not issubclass(_kind, Late) else computed_first
    )


def add_kind(
    cls: type[TracedArray], base: type[TracedArray], put_off: Any, other: type[TracedArray]
) -> None:
    """Give operators to a kind whose results wait, and to another one that only inherits.

    base: what results become when they are computed; put_off: what makes one that waits.
    """
    with _wiring:
        KINDS.append(cls)
        WAITING[cls.__name__] = (base, cls), put_off
        _others.append(other)
        for lazy in _operators:
            setattr(cls, lazy.name, lazy)
            setattr(other, lazy.name, operator_method(lazy.primitive, lazy.reflected))
        cls.__array_ufunc__ = protocol(cls, computed_first)
