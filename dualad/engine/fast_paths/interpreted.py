"""The first calls of an elementwise operation: its formulas carried out one by one.

To write a function and to have Python compile it costs as much as hundreds of calls, and most
operations of most programs are called less often. So a primitive begins on each kind of traced
array with the functions that are made here, for which at most its formulas are compiled. They
take the same decisions as the written ones (see `writer`) and compute by the same formulas, so
that results are the same to the last bit; after `FEW` calls, or at a large array, which the
written ones take by blocks, these take over.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.guard import has_nan, ignore, restore
from ..arrays.memory import LARGE
from ..kinds.batched import Batched
from ..kinds.batched_dual import BatchedDual, completed, vector_moves
from ..kinds.dual import Dual
from ..kinds.recorded import Recorded
from ..levels.traced import OBJECT
from ..primitives.elementwise import Elementwise
from ..primitives.formulas import Formulas
from ..primitives.primitive import lifted
from ..primitives.shape import fit
from ..programs.kept import kept
from .twins import Twins

__all__ = ["FEW", "Made", "Pair", "first_calls"]

#: After how many calls of an operation on one kind a function of its own is written. A call costs
#: 0.4 to 1 microsecond more than one of that function, which takes 200 to 1500 to make; twice as
#: many would be about as good, but what runs often is to run at full speed soon.
FEW = 100
#: After how many more such calls of any operation the next one is written: what begins together
#: in one program is not written together, which would hold up one call by tens of milliseconds.
SPREAD = 16

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)

Pair = tuple[Callable[..., Any], Callable[..., Any] | None]
#: What gives the functions of a primitive and kind.
Made = Callable[[Elementwise, str], Pair]

OPERANDS = ("out", "x", "y")
UNARY: dict[str, Callable[..., Any]] = {"-": operator.neg, "+": operator.pos}
BINARY: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "**": operator.pow, "%": operator.mod,
}  # fmt: skip


def first_calls(primitive: Elementwise, kind: str) -> Pair:
    """The functions (u op v) and (x op v) of a primitive for the first calls on one kind."""
    calls = KINDS[kind](primitive)
    if calls.arity == 1:
        return lambda u: calls.of_one(u), None
    return lambda u, v: calls.of_two(u, v), lambda v, u: calls.reflected(v, u)


def is_large(x: Any) -> bool:
    return type(x) is ndarray and x.size >= LARGE


class FirstCalls(Formulas):
    """The calls of one primitive on one kind of traced array."""

    kind: type
    #: the general path of an operator
    mixed: Callable[..., Any]
    #: the functions in use of another primitive
    current: Made
    #: puts the written functions into use, and gives them
    settle: Made
    #: how many calls too many pass before the next function is written
    waiting = 0

    @classmethod
    def connect(cls, mixed: Callable[..., Any], current: Made, settle: Made) -> None:
        """Make known what the first calls go on to."""
        cls.mixed, cls.current, cls.settle = map(staticmethod, (mixed, current, settle))

    def __init__(self, primitive: Elementwise):
        super().__init__(primitive)
        self.left = FEW
        self.is_settled = False
        self.known: dict[str, Any] = {}
        self.compute = self.operation()
        self.may = self.patterns()
        if primitive.complex is not None:
            self.may = [p for p in self.may if p == "x"]
        if primitive.constant is not None:
            self.is_constant = self.function("v", primitive.constant[0])

    def operation(self) -> Callable[..., Any]:
        """The operation as a function of its arguments."""
        if self.p.call is not None:
            return self.function(", ".join(self.names), self.p.call)
        if self.p.operator is not None:
            return (UNARY if self.arity == 1 else BINARY)[self.p.operator]
        return self.p.impl

    def tangent(self, active: str) -> Callable[..., Any]:
        """The formula of the tangent as a function of (out, x, y, dx, dy)."""
        if len(active) == 2:
            formula = self.sum_of_two()
        else:
            is_added, term = self.term(active)
            share = term if is_added else lambda *args: -term(*args)
            if active == "x":
                formula = lambda out, x, y, dx, dy: share(dx, out, x, y)  # noqa: E731
            else:
                formula = lambda out, x, y, dx, dy: share(dy, out, x, y)  # noqa: E731
        self.known[active] = formula
        return formula

    def moved(self, active: str, out: Any, x: Any, y: Any, dx: Any, dy: Any) -> Any:
        """The tangent, without warnings where a slope may be infinite."""
        formula = self.known.get(active) or self.tangent(active)
        if not self.p.singular:
            return formula(out, x, y, dx, dy)
        token = ignore()
        try:
            return formula(out, x, y, dx, dy)
        finally:
            restore(token)

    def is_over(self) -> bool:
        """Whether this call is one too many, and the written functions take over."""
        self.left -= 1
        return self.left < 0 and (self.is_settled or self.is_next())

    @staticmethod
    def is_next() -> bool:
        """Whether it is time to write a function."""
        FirstCalls.waiting -= 1
        if FirstCalls.waiting > 0:
            return False
        FirstCalls.waiting = SPREAD
        return True

    def written(self) -> Pair:
        self.is_settled = True
        return self.settle(self.p, self.kind.__name__)

    # --- which operands there are -----------------------------------------------------------

    def of_one(self, u: Any) -> Any:
        p, x = self.p, u.primal
        if self.is_over() or is_large(x):
            return self.written()[0](u)
        if p.complex is not None and u.dtype.kind == "c":
            return p.complex(u)
        return self.result("x", u, None, x, None)

    def of_two(self, u: Any, v: Any) -> Any:
        if self.is_over():
            return self.written()[0](u, v)
        p, T = self.p, type(v)
        if p.constant is not None and (T is int or T is float) and self.is_constant(v):
            return self.current(p.constant[1], self.kind.__name__)[0](u, v)
        if T is self.kind and v.level is u.level:
            if "xy" in self.may:
                if p.twice is not None and u is v:
                    return self.current(p.twice, self.kind.__name__)[0](u)
                x, y = u.primal, v.primal
                if is_large(x) or is_large(y):
                    return self.written()[0](u, v)
                return self.result("xy", u, v, x, y)
        elif "x" in self.may and self.is_plain("x", T, v):
            if p.complex is None or (u.dtype.kind != "c" and T is not ndarray):
                x = u.primal
                if is_large(x) or is_large(v):
                    return self.written()[0](u, v)
                return self.result("x", u, None, x, self.constant("x", T, v))
        return self.mixed(p, u, v)

    def reflected(self, v: Any, u: Any) -> Any:
        y, T = v.primal, type(u)
        if self.is_over() or is_large(y) or is_large(u):
            return self.written()[1](v, u)  # type: ignore[misc]
        if "y" in self.may and self.is_plain("y", T, u):
            return self.result("y", None, v, self.constant("y", T, u), y)
        return self.mixed(self.p, u, v)

    def is_plain(self, active: str, T: type, c: Any) -> bool:
        """Whether the other operand, c of type T, is a constant of the common kinds."""
        if T is float or T is int or T is float64:
            return True
        if T is not ndarray:
            return False
        key = f"computed {active}"
        if key not in self.known:
            self.known[key] = self.computes_with_constant(active)
        return c.dtype.kind == "f" if self.known[key] else c.dtype is not OBJECT

    def constant(self, active: str, T: type, c: Any) -> Any:
        """A constant operand as the result refers to it."""
        return c

    def result(self, active: str, u: Any, v: Any, x: Any, y: Any) -> Any:
        """The result from the traced operands u and v, None for a constant, and the primals."""
        raise NotImplementedError


class OfDuals(FirstCalls):
    """The first calls on duals."""

    kind = Dual

    def result(self, active: str, u: Any, v: Any, x: Any, y: Any) -> Any:
        dx = None if u is None else u.tangent
        dy = None if v is None else v.tangent
        out = self.compute(x) if self.arity == 1 else self.compute(x, y)
        t = self.moved(active, out, x, y, dx, dy)
        if self.p.singular and ((t != t) if type(t) is float64 else has_nan(t)):
            n = self.arity
            t = self.p.jvp((dx, dy)[:n], out, (x, y)[:n], {})
        if type(t) is not float64 or type(out) is not float64:
            if t.dtype is not out.dtype or t.shape != out.shape:
                t = fit(t, out)
        level = (v if u is None else u).level
        r = level.new(Dual)
        r.level, r.primal, r.tangent = level, out, t
        return r


class OfManyTangents(FirstCalls):
    """The first calls on duals with many tangents."""

    kind = BatchedDual

    def result(self, active: str, u: Any, v: Any, x: Any, y: Any) -> Any:
        dx = None if u is None else u.tangent
        dy = None if v is None else v.tangent
        out = self.compute(x) if self.arity == 1 else self.compute(x, y)
        level = (v if u is None else u).level
        if type(out) is float64:
            t = self.moved(active, out, x, y, dx, dy)
            plain = True
        else:
            n = out.ndim + 1
            if dx is None or dy is None or self.p.operator != "*":
                t = self.moved(active, out, x, y, of_rank(dx, n), of_rank(dy, n))
            elif dx.ndim + dy.ndim == 3:
                t = vector_moves(dx, y, dy, x) if dx.ndim == 1 else vector_moves(dy, x, dx, y)
            else:  # in memory they lie as the first, as after the first calls
                t = of_rank(dx, n) * y
                t += of_rank(dy, n) * x
            plain = t.dtype is F64 is out.dtype and t.shape[1:] == out.shape
        if not plain or (self.p.singular and has_nan(t)):
            n = self.arity
            return completed(self.p, level, (dx, dy)[:n], out, (x, y)[:n])
        r = level.new(BatchedDual)
        r.level, r.primal, r.tangent = level, out, t
        return r


def of_rank(tangents: Any, n: int) -> Any:
    """Tangents with as many axes as those of the result."""
    if tangents is None or tangents.ndim == n:
        return tangents
    return tangents[:, None] if n == 2 else lifted(tangents, n)


class OfBatches(FirstCalls):
    """The first calls on batches of values."""

    kind = Batched

    def result(self, active: str, u: Any, v: Any, x: Any, y: Any) -> Any:
        if active == "xy":
            if x.ndim != y.ndim:
                n = max(x.ndim, y.ndim)
                x, y = lifted(x, n), lifted(y, n)
        elif active == "x" and type(y) is ndarray and y.ndim >= x.ndim:
            x = lifted(x, y.ndim + 1)
        elif active == "y" and type(x) is ndarray and x.ndim >= y.ndim:
            y = lifted(y, x.ndim + 1)
        owner = v if u is None else u
        level = owner.level
        out = self.compute(x) if self.arity == 1 else self.compute(x, y)
        r = level.new(Batched)
        r.level, r.primal, r.tangent = level, out, owner.tangent
        return r


class OfRecorded(FirstCalls):
    """The first calls that are recorded."""

    kind = Recorded

    def constant(self, active: str, T: type, c: Any) -> Any:
        """One that the rule reads is kept from later writes."""
        is_read = T is ndarray and ("y" if active == "x" else "x") in self.reads(active)
        return kept(c) if is_read else c

    def result(self, active: str, u: Any, v: Any, x: Any, y: Any) -> Any:
        out = self.compute(x) if self.arity == 1 else self.compute(x, y)
        level = (v if u is None else u).level
        i = None if u is None else u.tangent
        j = None if v is None else v.tangent
        if not self.is_alike(active, x, y, out):
            n = self.arity
            return Recorded.record(self.p, level, (x, y)[:n], (i, j)[:n], out, {})
        pull, take = self.known.get(active) or self.rule(active)
        r = level.new(Recorded)
        r.level, r.primal = level, out
        tape = level.tape
        r.tangent = len(tape)
        tape.append(take((pull, i, j, out, x, y)))
        return r

    def is_alike(self, active: str, x: Any, y: Any, out: Any) -> bool:
        """Whether the result and the operands that move are all float64 of one shape."""
        moving = (x, y) if active == "xy" else (x,) if active == "x" else (y,)
        if type(out) is not float64:
            if out.dtype is not F64:
                return False
            for a in moving:
                if a.shape != out.shape or a.dtype is not F64:
                    return False
            return True
        kinds = set(map(type, moving))
        if kinds == {float64}:
            return True
        # Arrays without axes, of which NumPy gives numbers.
        if kinds != {ndarray} or not self.has_plain_loop:
            return False
        if len(active) == 1 and type(y if active == "x" else x) is ndarray:
            return False
        return all(a.dtype is F64 for a in moving)

    def rule(self, active: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The pull of an entry, and what takes the entry from all that it may consist of."""
        parents = [1 + "xy".index(a) for a in active]
        reads = [3 + OPERANDS.index(n) for n in self.reads(active)]
        take = operator.itemgetter(0, *parents, *reads)
        self.known[active] = found = Pull(self, active), take
        return found


class Pull(Twins):
    """The pull of the entries of first calls; none of them is of large arrays."""

    __slots__ = ("__name__", "at", "terms")

    def __init__(self, calls: FirstCalls, active: str):
        super().__init__(calls.p, calls.places(active))
        self.__name__ = f"pull_{active}"
        #: by the argument: where its cotangent goes, whether its share is added, the share
        self.terms = [(k + 1, *calls.term(a)) for k, a in enumerate(active)]
        out, _, _, x, y = self.places
        #: where an entry has what the shares read, or what they do not read
        self.at = (out or 0, x or 0, y or 0)

    def __call__(self, c: Any, e: tuple, g: Any, own: set) -> None:
        at_out, at_x, at_y = self.at
        out, x, y = e[at_out], e[at_x], e[at_y]
        for k, is_added, term in self.terms:
            i = e[k]
            s = g[i]
            share = term(c, out, x, y)
            if is_added:
                g[i] = share if s is None else s + share
            else:
                g[i] = -share if s is None else s - share


KINDS: dict[str, type[FirstCalls]] = {
    of.kind.__name__: of for of in (OfDuals, OfManyTangents, OfRecorded, OfBatches)
}
