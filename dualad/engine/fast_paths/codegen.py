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
from ..arrays.memory import F64, LARGE
from ..arrays.spent import SPENT
from ..kinds.batched import Batched
from ..kinds.batched_dual import BatchedDual, completed, vector_moves
from ..kinds.dual import Dual
from ..kinds.duck import as_duck
from ..kinds.recorded import Recorded
from ..levels.buffer import Buffer
from ..levels.traced import OBJECT, TracedArray
from ..levels.values import FOREIGN, as_operand
from ..primitives.blocks import result_at
from ..primitives.elementwise import Elementwise
from ..primitives.primitive import lifted
from ..primitives.shape import fit
from ..programs.kept import kept
from ..put_off import putting_off
from ..put_off.late import Late
from ..put_off.postponed import Postponed
from ..put_off.waiting import LATE, LATE_RECORD
from .first_calls import FirstCalls, Pair
from .interpreted import first_calls
from .numbers import ARRAYS, doubled
from .twins import Twins

__all__ = ["fast", "generated", "mixed", "rewire"]

float64 = np.float64

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
    "LATE_RECORD": LATE_RECORD,
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
#: where functions in use are, to put others in their place: operators of the kinds, and tables
METHODS: list[Any] = []
TABLES: list[Any] = []
#: Held while functions are put into use.
wiring = threading.RLock()
#: What all of them pass through on their way into use, while somebody watches.
_wrap: Callable[[Elementwise, Pair], Pair] | None = None


def fast(primitive: Elementwise, kind: str) -> Pair:
    """The functions of a primitive and kind that are in use."""
    key = (kind, primitive)
    pair = _in_use.get(key)
    if pair is None:
        with wiring:
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
        with wiring:
            if key not in _first:
                if kind in WAITING:  # which is large
                    return generated(primitive, kind)
                _first[key] = first_calls(primitive, kind)
            pair = _first[key]
    return pair


def generated(primitive: Elementwise, kind: str) -> Pair:
    """The written functions."""
    key = (kind, primitive)
    with wiring:
        if key not in _generated:
            _generated[key] = generate(primitive, kind)
        return _generated[key]


def settle(primitive: Elementwise, kind: str) -> Pair:
    """Put the written functions in the place of those for first calls, wherever these are."""
    key = (kind, primitive)
    with wiring:
        pair = generated(primitive, kind)
        before = _in_use.get(key)
        if key in _first and before is not None:
            after = pair if _wrap is None else _wrap(primitive, pair)
            for table in TABLES:
                for ufunc in [u for u, f in [*table.items()] if f is before]:
                    table[ufunc] = after
            cls = next(cls for cls in KINDS if cls.__name__ == kind)
            for lazy in METHODS:
                if lazy.primitive is primitive:
                    setattr(cls, lazy.name, after[lazy.reflected])
            _in_use[key] = after
        _first.pop(key, None)  # last: who interrupts this leaves it to the next call
        return pair


def rewire(wrap: Callable[[Elementwise, Pair], Pair] | None) -> None:
    """Pass all generated functions through `wrap` from now on; None: use them as they are."""
    global _wrap
    with wiring:
        _wrap = wrap
        _in_use.clear()
        for table in TABLES:
            table.clear()
        for lazy in METHODS:
            for cls in KINDS:
                setattr(cls, lazy.name, lazy)


FirstCalls.connect(mixed, current, settle)
