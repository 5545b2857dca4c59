"""Loops over arrays: elementwise operations and reductions of one shape in one loop."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staged import Guard, Operation, Variable
from .elementwise import is_elementwise
from .emitter import BOOL, Emitter, Entry, integer, kind_of
from .fetching import AHEAD, SHORT, reads_ahead
from .layouts import Layout, contiguous, contiguous_strides, merged
from .quotients import with_shared_divisions
from .unrolled import FOLDS, axes_of, entries_of

__all__ = ["Access", "Body", "Total", "identity", "nest", "turns", "write_loop"]

#: Sums add so many entries in any order, and then what those gave with compensation.
BLOCK = 1024


def write_loop(kernel: Any, loop: Any) -> None:
    """Write the loop of a plan."""
    Body(kernel, loop).write()


class Access:
    """An array that moves along with a loop."""

    __slots__ = ("at", "dtype", "is_fetched", "layout", "pointer", "strides")

    def __init__(self, pointer: Any, layout: Layout, dtype: np.dtype, strides: tuple[int, ...]):
        self.pointer, self.layout, self.dtype = pointer, layout, dtype
        self.strides = strides
        self.at: Any = None
        #: whether it is asked for before it is read
        self.is_fetched = False

    def load(self, e: Emitter) -> Entry:
        return e.load(self.pointer, self.at, self.dtype)

    def store(self, e: Emitter, x: Entry) -> None:
        e.store(e.cast(x, self.dtype), self.pointer, self.at)


def nest(
    e: Emitter, shape: tuple[int, ...], accesses: list[Access], body: Any, around: Any = None
) -> None:
    """Loops over a shape; `around` gets the innermost one, to write before and behind it."""
    dims, steps = merged(shape, [a.strides for a in accesses])
    starts = [integer(a.layout.offset) for a in accesses]
    turns(e, dims, steps, starts, accesses, body, around)


def turns(
    e: Emitter, dims: list[Any], steps: list[list[int]], starts: list[Any],
    accesses: list[Access], body: Any, around: Any,
) -> None:  # fmt: skip
    """Loops of so many turns, from where each array starts on."""
    is_long = not isinstance(dims[0], int) or dims[0] > 4 * BLOCK
    is_fetched = any(a.is_fetched for a in accesses)
    if len(dims) == 1 and is_long and (around is not None or is_fetched):
        _blocks(e, dims[0], [s[0] for s in steps], starts, accesses, body, around)
    else:
        _turns(e, dims, steps, starts, accesses, body, around)


def _turns(
    e: Emitter, dims: list[Any], steps: list[list[int]], at: list[Any], accesses: list[Access],
    body: Any, around: Any,
) -> None:  # fmt: skip
    if not dims:
        for a, k in zip(accesses, at, strict=True):
            a.at = k
        body()
        return

    def write() -> None:
        with e.loop(dims[0]) as turn:
            moved = [_moved(e, k, turn, s[0]) for k, s in zip(at, steps, strict=True)]
            _turns(e, dims[1:], [s[1:] for s in steps], moved, accesses, body, around)

    if len(dims) == 1 and around is not None:
        around(write)
    else:
        write()


def _moved(e: Emitter, at: Any, turn: Any, step: Any) -> Any:
    b = e.builder
    if step == 0:
        return at
    move = turn if step == 1 else b.mul(turn, integer(step), flags=("nsw",))
    return move if isinstance(at, ir.Constant) and at.constant == 0 else b.add(at, move, ("nsw",))


def _blocks(
    e: Emitter, n: Any, steps: list[int], starts: list[Any], accesses: list[Access], body: Any,
    around: Any,
) -> None:  # fmt: skip
    """One long loop as loops over blocks."""
    b = e.builder
    fetched = [k for k, a in enumerate(accesses) if a.is_fetched and steps[k] == 1]
    size = SHORT if fetched else BLOCK
    whole = integer(n) if isinstance(n, int) else n
    with e.loop(b.udiv(b.add(whole, integer(size - 1)), integer(size))) as block:
        first = b.mul(block, integer(size), flags=("nuw", "nsw"))
        left = b.sub(whole, first, flags=("nuw", "nsw"))
        count = b.select(b.icmp_unsigned("<", left, integer(size)), left, integer(size))
        at = [_moved(e, k, first, s) for k, s in zip(starts, steps, strict=True)]
        for k in fetched:
            e.fetch(accesses[k].pointer, b.add(at[k], integer(AHEAD)), size, accesses[k].dtype)

        def write() -> None:
            with e.loop(count) as turn:
                for a, k, s in zip(accesses, at, steps, strict=True):
                    a.at = _moved(e, k, turn, s)
                body()

        if around is None:
            write()
        else:
            around(write)


class Body:
    """What one loop computes."""

    def __init__(self, kernel: Any, loop: Any):
        self.kernel, self.loop = kernel, loop
        self.e: Emitter = kernel.emitter
        self.reads: dict[Any, Access] = {}
        self.fixed: dict[Any, Entry] = {}
        self.entries: dict[Variable, Entry] = {}
        self.stores: dict[Variable, Access] = {}
        self.numbers: dict[int, tuple[str, np.dtype]] = {}
        self.totals: dict[int, Total] = {}
        self.partial: dict[int, Access] = {}
        self.is_long = math.prod(loop.shape) >= 32
        self.steps = with_shared_divisions(loop.steps) if self.is_long else loop.steps
        self.members = {
            r
            for s in self.steps
            if type(s) is Operation and is_elementwise(s.primitive.name)
            for r in s.results
        }

    def write(self) -> None:
        for s in self.steps:
            self._prepare(s)
        if reads_ahead(self.loop.shape, self.steps, self.accesses):
            for a in self.reads.values():
                a.is_fetched = True
        if not write_shared(self):
            self._write()
        for s in self.steps:
            self._conclude(s)

    def _write(self) -> None:
        e = self.e
        e.is_long = self.is_long
        self.begin(e)
        nest(e, self.loop.shape, self.accesses, self.body, self.around)
        e.is_long = False

    @property
    def accesses(self) -> list[Access]:
        """The arrays that move along."""
        return [*self.reads.values(), *self.stores.values(), *self.partial.values()]

    def begin(self, e: Emitter) -> None:
        """Go on with a function: that of the kernel, or that of a range."""
        self.e = e
        self.totals = {k: Total(e, *of) for k, of in self.numbers.items()}

    @property
    def around(self) -> Any:
        """What surrounds the innermost loop, if there is anything."""
        return self._around if self.totals else None

    # --- before the loop ---------------------------------------------------------------------

    def _prepare(self, s: Operation | Guard) -> None:
        for x in (s.variable,) if isinstance(s, Guard) else s.operands:
            self._read(x)
        if isinstance(s, Guard):
            self.numbers[id(s)] = ("nan", BOOL)
            return
        (result,) = s.results
        name = s.primitive.name
        if name in FOLDS:
            if result.shape == ():
                self.numbers[id(s)] = (FOLDS[name], result.dtype)
            else:
                self.partial[id(s)] = self._partial(s, result)
        elif result in self.kernel.plan.stored:
            where = contiguous(result, result.shape)
            pointer = self.kernel.pointer(result)
            self.stores[result] = Access(pointer, where, result.dtype, where.strides)

    def _read(self, x: Any) -> None:
        if x in self.members if type(x) is Variable else not isinstance(x, np.ndarray):
            return
        key = x if type(x) is Variable else id(x)
        if key in self.reads or key in self.fixed:
            return
        kernel = self.kernel
        if type(x) is Variable and kernel.plan.is_small(x) and x.size == 1:
            self.fixed[key] = kernel.operand(x).reshape(-1)[0]
            return
        layout = kernel.place(x)
        strides = layout.broadcast(self.loop.shape)
        pointer = kernel.pointer(layout.base)
        if not any(strides):
            self.fixed[key] = self.e.load(pointer, integer(layout.offset), x.dtype)
        else:
            self.reads[key] = Access(pointer, layout, x.dtype, strides)

    def _partial(self, s: Operation, result: Variable) -> Access:
        """Where the parts of a reduction over some axes are gathered."""
        small = self.kernel.plan.is_small(result)
        if small:
            self.kernel.memory[result] = self.kernel.scratch(result)
        pointer = self.kernel.pointer(result)
        where = contiguous(result, result.shape)
        fill = Access(pointer, where, result.dtype, where.strides)
        start = identity(self.e, FOLDS[s.primitive.name], result.dtype)
        nest(self.e, result.shape, [fill], lambda: fill.store(self.e, start))
        kept = iter(contiguous_strides(result.shape))
        reduced = axes_of(s)
        strides = [0 if a in reduced else next(kept) for a in range(len(self.loop.shape))]
        return Access(pointer, where, result.dtype, tuple(strides))

    # --- in the loop -------------------------------------------------------------------------

    def _around(self, write: Any) -> None:
        for total in self.totals.values():
            total.begin(self.e)
        write()
        for total in self.totals.values():
            total.end(self.e)

    def body(self) -> None:
        """One turn."""
        self.entries = {}
        for s in self.steps:
            self._step(s)

    def _operand(self, x: Any) -> Any:
        if type(x) is Variable:
            if x not in self.entries:
                found = self.fixed.get(x)
                self.entries[x] = found if found is not None else self.reads[x].load(self.e)
            return self.entries[x]
        if isinstance(x, np.ndarray):
            key: Any = id(x)
            if key not in self.entries:
                found = self.fixed.get(key)
                self.entries[key] = found if found is not None else self.reads[key].load(self.e)
            return self.entries[key]
        if isinstance(x, np.generic) and x.dtype != np.float64:
            return self.e.constant(x, x.dtype)
        return float(x) if isinstance(x, np.generic) else x

    def _step(self, s: Operation | Guard) -> None:
        e = self.e
        if isinstance(s, Guard):
            found = e.function("isnan", (self._operand(s.variable),))
            self.totals[id(s)].add(e, found)
            return
        (result,) = s.results
        name = s.primitive.name
        if name not in FOLDS:
            args = tuple([self._operand(x) for x in s.operands])
            self.entries[result] = e.function(name, args, result.dtype)
            if result in self.stores:
                self.stores[result].store(e, self.entries[result])
            return
        x = e.cast(self._operand(s.operands[0]), result.dtype)
        if id(s) in self.totals:
            self.totals[id(s)].add(e, x)
        else:
            place = self.partial[id(s)]
            place.store(e, folded(e, FOLDS[name], place.load(e), x))

    # --- behind the loop ---------------------------------------------------------------------

    def _conclude(self, s: Operation | Guard) -> None:
        b = self.e.builder
        if isinstance(s, Guard):
            found = self.totals[id(s)].result(self.e).value
            self.kernel.fails(s, b.not_(found) if s.answer else found)
            return
        (result,) = s.results
        if id(s) in self.totals:
            self.kernel.entries[result] = entries_of([self.totals[id(s)].result(self.e)], ())
        elif id(s) in self.partial and self.kernel.plan.is_small(result):
            where = contiguous(result, result.shape)
            self.kernel.entries[result] = self.kernel.loaded(where, result.dtype)


def write_shared(body: Body) -> bool:
    """Write a loop that pays for threads in ranges; whether it is one."""
    if body.e.cores is None:
        return False
    from .shared import write_in_ranges

    return write_in_ranges(body)


def identity(e: Emitter, name: str, dtype: np.dtype) -> Entry:
    """What a reduction begins with."""
    if name in ("maximum", "minimum"):
        if dtype.kind == "f":
            return e.constant(-math.inf if name == "maximum" else math.inf, dtype)
        if dtype.kind == "b":
            return e.constant(name == "minimum", dtype)
        limits = np.iinfo(dtype)
        return e.constant(int(limits.min if name == "maximum" else limits.max), dtype)
    return e.constant(1 if name == "logical_and" else 0, dtype)


def folded(e: Emitter, name: str, total: Entry, x: Entry) -> Entry:
    """A total with one entry more; sums may take the entries in any order."""
    if x.dtype.kind == "f":
        if name == "add":
            value = e.builder.fadd(total.value, x.value, flags=("reassoc",))
        else:
            value = e.intrinsic(name, total.value, x.value)
        return Entry(e, value, x.dtype)
    return e.function(name, (total, x), x.dtype)


class Total:
    """One number for all entries: blocks by themselves, and then together."""

    def __init__(self, e: Emitter, name: str, dtype: np.dtype):
        self.name, self.dtype = name, dtype
        self.start = identity(e, "add" if name == "nan" else name, dtype)
        self.kind = kind_of(dtype)
        self.part = e.variable(self.kind, self.start.value)
        self.total = e.variable(self.kind, self.start.value)
        self.is_sum = name == "add" and dtype.kind == "f"
        self.rest = e.variable(self.kind, self.start.value) if self.is_sum else None

    def begin(self, e: Emitter) -> None:
        e.builder.store(self.start.value, self.part)

    def add(self, e: Emitter, x: Entry) -> None:
        b = e.builder
        now = b.load(self.part, typ=self.kind)
        if self.name == "nan":
            b.store(b.or_(now, x.value), self.part)
        else:
            b.store(folded(e, self.name, Entry(e, now, self.dtype), x).value, self.part)

    def end(self, e: Emitter) -> None:
        self.join(e, e.builder.load(self.part, typ=self.kind))

    def join(self, e: Emitter, part: Any, rest: Any = None) -> None:
        """Take the total of some entries, and its rest, to that of those before."""
        b = e.builder
        total = b.load(self.total, typ=self.kind)
        if self.is_sum:
            b.store(self._compensated(e, total, part), self.total)
            if rest is not None:
                b.store(b.fadd(b.load(self.rest, typ=self.kind), rest), self.rest)
        elif self.name == "nan":
            b.store(b.or_(total, part), self.total)
        else:
            x, y = Entry(e, total, self.dtype), Entry(e, part, self.dtype)
            b.store(folded(e, self.name, x, y).value, self.total)

    def _compensated(self, e: Emitter, total: Any, part: Any) -> Any:
        """The sum of both; what its rounding left goes to the rest (Knuth's two-sum)."""
        b = e.builder
        both = b.fadd(total, part)
        back = b.fsub(both, total)
        lost = b.fadd(b.fsub(total, b.fsub(both, back)), b.fsub(part, back))
        b.store(b.fadd(b.load(self.rest, typ=self.kind), lost), self.rest)
        return both

    def state(self, e: Emitter) -> tuple[Any, Any]:
        """The total and its rest so far, which `join` takes; only sums have a rest."""
        rest = None if self.rest is None else e.builder.load(self.rest, typ=self.kind)
        return e.builder.load(self.total, typ=self.kind), rest

    def result(self, e: Emitter) -> Entry:
        b = e.builder
        total = b.load(self.total, typ=self.kind)
        if self.is_sum:
            whole = b.fadd(total, b.load(self.rest, typ=self.kind))
            # Infinity leaves no rest.
            total = b.select(b.fcmp_unordered("uno", whole, whole), total, whole)
        return Entry(e, total, self.dtype)
