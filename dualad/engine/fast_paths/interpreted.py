"""The first calls of an elementwise operation: its formulas carried out one by one.

To write a function and to have Python compile it costs as much as hundreds of calls, and most
operations of most programs are called less often. So a primitive begins on each kind of traced
array with the functions that are made here, for which at most its formulas are compiled. They
compute by the same formulas as the written ones (see `writer`), so that results are the same to
the last bit; when those take over is in `first_calls`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.guard import has_nan
from ..kinds.batched import Batched
from ..kinds.batched_dual import BatchedDual, completed, vector_moves
from ..kinds.dual import Dual
from ..kinds.recorded import Recorded
from ..primitives.elementwise import Elementwise
from ..primitives.primitive import lifted
from ..primitives.shape import fit
from ..programs.kept import kept
from .first_calls import FirstCalls, Pair
from .twins import Twins

__all__ = ["first_calls"]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)


def first_calls(primitive: Elementwise, kind: str) -> Pair:
    """The functions (u op v) and (x op v) of a primitive for the first calls on one kind."""
    calls = KINDS[kind](primitive)
    if calls.arity == 1:
        return lambda u: calls.of_one(u), None
    return lambda u, v: calls.of_two(u, v), lambda v, u: calls.reflected(v, u)


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
        pull, of_out, of_x, of_y = self.known.get(active) or self.rule(active)
        r = level.new(Recorded)
        r.level, r.primal = level, out
        tape = level.tape
        r.tangent = len(tape)
        tape.append(
            (pull, i, j, out if of_out else None, x if of_x else None, y if of_y else None)
        )
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

    def rule(self, active: str) -> tuple[Pull, bool, bool, bool]:
        """The pull of an entry, and whether it reads the result and the arguments."""
        reads = self.reads(active)
        found = Pull(self, active), "out" in reads, "x" in reads, "y" in reads
        self.known[active] = found
        return found


class Pull(Twins):
    """The pull of the entries of first calls; none of them is of large arrays.

    An entry is (pull, variable of x, variable of y, out, x, y), with None for what it has not.
    """

    __slots__ = ("__name__", "terms")

    def __init__(self, calls: FirstCalls, active: str):
        self.primitive, self.places = calls.p, PLACES
        self.__name__ = f"pull_{active}"
        #: by the argument: where its variable is, whether its share is added, the share
        self.terms = [(1 if a == "x" else 2, *calls.term(a)) for a in active]

    def __call__(self, c: Any, e: tuple, g: Any, own: set) -> None:
        _, _, _, out, x, y = e
        for k, is_added, term in self.terms:
            i = e[k]
            s = g[i]
            share = term(c, out, x, y)
            if is_added:
                g[i] = share if s is None else s + share
            else:
                g[i] = -share if s is None else s - share


#: Where an entry has the result, the parents and the arguments.
PLACES: list[int | None] = [3, 1, 2, 4, 5]

KINDS: dict[str, type[FirstCalls]] = {
    of.kind.__name__: of for of in (OfDuals, OfManyTangents, OfRecorded, OfBatches)
}
