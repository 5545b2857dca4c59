"""Tiles of a product of matrices: rows by vectors whose sums stay in registers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from llvmlite import ir

from .emitter import WIDE
from .entry import INT, POINTER, TRUTH, integer

__all__ = ["DOUBLE", "INT32", "Tile", "Writer"]

DOUBLE, INT32 = ir.DoubleType(), ir.IntType(32)


class Writer:
    """A function that is written, with loops over variables."""

    def __init__(self, module: Any, lanes: int, name: str, kind: Any):
        self.function = ir.Function(module, kind, name)
        self.function.attributes.add("nounwind")
        set.add(self.function.attributes, WIDE)
        self.module, self.lanes = module, lanes
        self.vector, self.numbers = ir.VectorType(DOUBLE, lanes), ir.VectorType(INT, lanes)
        self.b = ir.IRBuilder(self.function.append_basic_block("start"))

    def at(self, pointer: Any, *entries: Any) -> Any:
        """A place some entries further on."""
        for n in entries:
            pointer = self.b.gep(pointer, [n], source_etype=DOUBLE)
        return pointer

    def intrinsic(self, name: str, kind: Any, *args: Any) -> Any:
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(self.module, ir.FunctionType(kind, [a.type for a in args]), name)
        return self.b.call(found, list(args))

    def least(self, x: Any, y: Any) -> Any:
        return self.b.select(self.b.icmp_signed("<", x, y), x, y)

    def spread(self, x: Any, kind: Any) -> Any:
        """A vector with the same number everywhere."""
        one = self.b.insert_element(ir.Constant(kind, ir.Undefined), x, ir.Constant(INT32, 0))
        order = ir.Constant(ir.VectorType(INT32, self.lanes), [0] * self.lanes)
        return self.b.shuffle_vector(one, ir.Constant(kind, ir.Undefined), order)

    def within(self, columns: Any, vector: int) -> Any:
        """Which entries of a vector stand in one of the first columns."""
        first = self.lanes * vector
        places = ir.Constant(self.numbers, list(range(first, first + self.lanes)))
        return self.b.icmp_signed("<", places, self.spread(columns, self.numbers))

    def masked(self, name: str, kind: Any, *args: Any) -> Any:
        """A load, a store or a gather of those entries of a vector that a mask names."""
        places = f"v{self.lanes}p0" if name == "gather" else "p0"
        return self.intrinsic(f"llvm.masked.{name}.v{self.lanes}f64.{places}", kind, *args)

    @contextlib.contextmanager
    def steps(self, start: Any, end: Any, step: Any) -> Iterator[Any]:
        """A loop from start while a whole step is left before the end."""
        b, before = self.b, self.b.block
        head, body = (self.function.append_basic_block(n) for n in ("head", "body"))
        after = self.function.append_basic_block("after")
        b.branch(head)
        b.position_at_end(head)
        place = b.phi(INT)
        place.add_incoming(start, before)
        following = b.add(place, step)
        b.cbranch(b.icmp_signed("<=", following, end), body, after)
        b.position_at_end(body)
        yield place
        place.add_incoming(following, b.block)
        b.branch(head)
        b.position_at_end(after)


class Tile(Writer):
    """Rows by vectors of the result.

    The function (a, its two strides, panel, terms, c, its stride, columns, are they the first
    terms) -> nothing.
    """

    def __init__(self, module: Any, lanes: int, rows: int, vectors: int, width: int):
        kind = ir.FunctionType(
            ir.VoidType(), [POINTER, INT, INT, POINTER, INT, POINTER, INT, INT, TRUTH]
        )
        super().__init__(module, lanes, f"tile{rows}x{vectors}", kind)
        self.function.linkage = "internal"
        self.function.attributes.add("noinline")
        self.rows, self.vectors, self.width = rows, vectors, width
        a, am, ak, panel, terms, c, stride, columns, first = self.function.args
        for x in (a, panel, c):
            x.add_attribute("noalias")
        sums = self._sums(a, am, ak, panel, terms)
        self._store(sums, c, stride, columns, first)

    def _sums(self, a: Any, am: Any, ak: Any, panel: Any, terms: Any) -> list[Any]:
        b = self.b
        left = [self.at(a, b.mul(am, integer(i))) for i in range(self.rows)]
        before, loop = b.block, self.function.append_basic_block("loop")
        b.branch(loop)
        b.position_at_end(loop)
        k = b.phi(INT)
        sums = [b.phi(self.vector) for _ in range(self.rows * self.vectors)]
        row = self.at(panel, b.mul(k, integer(self.width)))
        right = []
        for j in range(self.vectors):
            place = self.at(row, integer(self.lanes * j))
            right.append(b.load(place, typ=self.vector, align=8 * self.lanes))
        moved = b.mul(k, ak)
        new = []
        for i in range(self.rows):
            x = self.spread(b.load(self.at(left[i], moved), typ=DOUBLE), self.vector)
            for j in range(self.vectors):
                summed = (x, right[j], sums[i * self.vectors + j])
                new.append(self.intrinsic(f"llvm.fma.v{self.lanes}f64", self.vector, *summed))
        following = b.add(k, integer(1))
        for old, now, start in zip(
            [k, *sums], [following, *new], [0, *[None] * len(sums)], strict=True
        ):
            old.add_incoming(ir.Constant(old.type, start), before)
            old.add_incoming(now, loop)
        after = self.function.append_basic_block("after")
        b.cbranch(b.icmp_signed("<", following, terms), loop, after)
        b.position_at_end(after)
        return new

    def _store(self, sums: list[Any], c: Any, stride: Any, columns: Any, first: Any) -> None:
        b = self.b
        mask = self.within(columns, self.vectors - 1)
        anew, more = (self.function.append_basic_block(n) for n in ("anew", "more"))
        b.cbranch(first, anew, more)
        for block, adds in ((anew, False), (more, True)):
            b.position_at_end(block)
            for i in range(self.rows):
                row = self.at(c, b.mul(stride, integer(i)))
                for j in range(self.vectors):
                    x, place = sums[i * self.vectors + j], self.at(row, integer(self.lanes * j))
                    inside = None if j < self.vectors - 1 else mask
                    if adds:
                        x = b.fadd(self._load(place, inside), x)
                    self._put(x, place, inside)
            b.ret_void()

    def _load(self, place: Any, mask: Any) -> Any:
        if mask is None:
            return self.b.load(place, typ=self.vector, align=8)
        nothing = ir.Constant(self.vector, None)
        return self.masked("load", self.vector, place, ir.Constant(INT32, 8), mask, nothing)

    def _put(self, x: Any, place: Any, mask: Any) -> None:
        if mask is None:
            self.b.store(x, place, align=8)
        else:
            self.masked("store", ir.VoidType(), x, place, ir.Constant(INT32, 8), mask)
