"""What reductions gather: where they begin, how an entry joins, and totals of many entries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .emitter import Emitter
from .entry import Entry, kind_of

__all__ = ["Total", "folded", "identity"]


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
