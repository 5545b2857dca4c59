"""Products of matrices as machine code.

The way is that of BLIS: a panel of the right matrix, a few vectors wide, is packed into memory
that the first level cache holds; a tile of the result stays in registers while the rows of the
left matrix pass along the panel. One function for all sizes and strides is compiled once; programs
call it by its address.

Source: F. G. Van Zee, R. A. van de Geijn, BLIS: A Framework for Rapidly Instantiating BLAS
Functionality, ACM Trans. Math. Softw. 41 (2015), 14:1-14:33.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from .emitter import Callee
from .entry import INT, POINTER, integer
from .machine import address_of, machine
from .tiles import DOUBLE, INT32, Tile, Writer

__all__ = [
    "NARROW_SHAPE", "WIDE_SHAPE", "has_threads", "product_function", "shape_here", "write_product",
]  # fmt: skip

#: How many rows a panel has at most, 48 kB of the first level cache; and how many rows of the left
#: matrix pass along all panels, 800 kB of the second.
DEPTH, BLOCK = 256, 400


class Shape(NamedTuple):
    """Entries of a vector, rows of a tile, vectors beside each other in it.

    The sums of a tile, a row of the panel and an entry of the left matrix fill the registers.
    """

    lanes: int
    rows: int
    vectors: int

    @property
    def width(self) -> int:
        """Columns of a tile."""
        return self.lanes * self.vectors

    @property
    def heights(self) -> list[int]:
        """Rows of all tiles: those of a whole one, and of those at the lower edge."""
        return [self.rows >> k for k in range(self.rows.bit_length())]


#: For 32 registers of 8 numbers, and for 16 of 4.
WIDE_SHAPE, NARROW_SHAPE = Shape(8, 8, 3), Shape(4, 4, 3)
#: (a, its strides, b, its strides, c, rows, columns, terms): c is in C order.
SIGNATURE = ir.FunctionType(
    ir.VoidType(), [POINTER, INT, INT, POINTER, INT, INT, POINTER, INT, INT, INT]
)


def shape_here() -> Shape | None:
    """The tiles for this processor; None where products are the library's.

    In the sizes of networks and of models OpenBLAS takes a quarter more time on processors with
    AVX-512, and up to a tenth more with AVX2; both were measured on one machine.
    """
    features = machine().features.split(",")
    if "+avx512f" in features:
        return WIDE_SHAPE
    return NARROW_SHAPE if {"+avx2", "+fma"}.issubset(features) else None


def has_threads() -> bool:
    """Whether NumPy's library shares a large product among threads; this function does not."""
    try:
        library = ctypes.CDLL(np.linalg._umath_linalg.__file__)
        return int(library.scipy_openblas_get_num_threads64_()) > 1
    except (AttributeError, OSError, TypeError):
        return (os.cpu_count() or 1) > 1


@functools.cache
def product_function(shape: Shape | None = None) -> np.ndarray:
    """The address of the function, as an array that kernels read."""
    shape = shape or shape_here()
    assert shape is not None
    return np.array([address_of(_text(shape))], np.uintp)


def write_product(kernel: Any, sizes: Any, left: Any, right: Any, out: Any) -> None:
    """Call the function on two matrices, at the entries where a loop has come to.

    The sizes are rows, columns and terms, and the strides of both matrices; the result lies in
    C order.
    """
    builder = kernel.emitter.builder
    address = builder.load(kernel.pointer(product_function()), typ=POINTER)
    counts, *strides = sizes
    args = []
    for x, steps in zip((left, right), strides, strict=True):
        start = builder.gep(x.pointer, [x.at], source_etype=DOUBLE)
        args += [start, *map(integer, steps)]
    target = builder.gep(out.pointer, [out.at], source_etype=DOUBLE)
    builder.call(Callee(address, SIGNATURE), [*args, target, *map(integer, counts)])


def _text(shape: Shape) -> str:
    module = ir.Module("product")
    module.triple = machine().triple
    tiles = {
        (rows, vectors): Tile(module, shape.lanes, rows, vectors, shape.width).function
        for rows in shape.heights
        for vectors in range(1, shape.vectors + 1)
    }
    _Product(module, shape, tiles)
    return str(module)


class _Product(Writer):
    """The product: panel by panel, and in each tile by tile."""

    def __init__(self, module: Any, shape: Shape, tiles: dict[tuple[int, int], Any]):
        super().__init__(module, shape.lanes, "NAME", SIGNATURE)
        self.shape, self.tiles = shape, tiles
        self.a, self.am, self.ak, self.right, self.bk, self.bn = self.function.args[:6]
        self.c, self.m, self.n, self.k = self.function.args[6:]
        for x in (self.a, self.right, self.c):
            x.add_attribute("noalias")
        b = self.b
        self.panel = b.alloca(self.vector, integer(DEPTH * shape.vectors))
        self.panel.align = 64
        with self._even(self.m, BLOCK) as (row, rows), self._even(self.k, DEPTH) as (start, terms):
            left = self.at(self.a, b.mul(row, self.am), b.mul(start, self.ak))
            target = self.at(self.c, b.mul(row, self.n))
            panels = b.sdiv(
                b.add(self.n, integer(self.shape.width - 1)), integer(self.shape.width)
            )
            with self.steps(integer(0), panels, integer(1)) as number:
                column = b.mul(number, integer(self.shape.width))
                self._panel(left, self.at(target, column), rows, start, terms, column)
        b.ret_void()

    @contextlib.contextmanager
    def _even(self, n: Any, most: int) -> Iterator[tuple[Any, Any]]:
        """A loop over parts of one size, as far as may be: where each begins, its length."""
        b = self.b
        parts = b.sdiv(b.add(n, integer(most - 1)), integer(most))
        size = b.sdiv(b.sub(b.add(n, parts), integer(1)), parts)
        with self.steps(integer(0), parts, integer(1)) as part:
            start = b.mul(part, size)
            yield start, self.least(size, b.sub(n, start))

    def _panel(
        self, left: Any, target: Any, rows: Any, start: Any, terms: Any, column: Any
    ) -> None:
        b = self.b
        columns = self.least(b.sub(self.n, column), integer(self.shape.width))
        source = self.at(self.right, b.mul(start, self.bk), b.mul(column, self.bn))
        self._pack(source, terms, columns)
        first = b.icmp_signed("==", start, integer(0))
        vectors = b.sdiv(b.add(columns, integer(self.lanes - 1)), integer(self.lanes))
        cases = [
            self.function.append_basic_block(f"w{w}") for w in range(1, self.shape.vectors + 1)
        ]
        after = self.function.append_basic_block("packed")
        chosen = b.switch(vectors, cases[-1])
        for w, case in enumerate(cases, 1):
            chosen.add_case(integer(w), case)
            b.position_at_end(case)
            self._tiles(w, left, rows, terms, target, columns, first)
            b.branch(after)
        b.position_at_end(after)

    def _tiles(
        self, w: int, left: Any, end: Any, terms: Any, target: Any, columns: Any, first: Any
    ) -> None:
        b, row = self.b, integer(0)
        for rows in self.shape.heights:
            with self.steps(row, end, integer(rows)) as i:
                args = [
                    self.at(left, b.mul(i, self.am)), self.am, self.ak, self.panel, terms,
                    self.at(target, b.mul(i, self.n)), self.n, columns, first,
                ]  # fmt: skip
                b.call(self.tiles[rows, w], args)
            row = i

    def _pack(self, source: Any, terms: Any, columns: Any) -> None:
        """Copy a panel; what is beyond its columns is zero."""
        b = self.b
        side, apart = (self.function.append_basic_block(n) for n in ("side", "apart"))
        packed = self.function.append_basic_block("packed")
        masks = [self.within(columns, j) for j in range(self.shape.vectors)]
        b.cbranch(b.icmp_signed("==", self.bn, integer(1)), side, apart)
        b.position_at_end(side)
        self._rows(source, terms, masks, self._beside)
        b.branch(packed)
        b.position_at_end(apart)
        steps = b.mul(
            self.spread(self.bn, self.numbers),
            ir.Constant(self.numbers, list(range(self.lanes))),
        )
        self._rows(source, terms, masks, functools.partial(self._apart, steps))
        b.branch(packed)
        b.position_at_end(packed)

    def _rows(self, source: Any, terms: Any, masks: list[Any], load: Any) -> None:
        b = self.b
        with self.steps(integer(0), terms, integer(1)) as k:
            row = self.at(source, b.mul(k, self.bk))
            target = self.at(self.panel, b.mul(k, integer(self.shape.width)))
            for j, mask in enumerate(masks):
                b.store(
                    load(row, j, mask),
                    self.at(target, integer(self.lanes * j)),
                    align=8 * self.lanes,
                )

    def _beside(self, row: Any, j: int, mask: Any) -> Any:
        place, nothing = self.at(row, integer(self.lanes * j)), ir.Constant(self.vector, None)
        return self.masked("load", self.vector, place, ir.Constant(INT32, 8), mask, nothing)

    def _apart(self, steps: Any, row: Any, j: int, mask: Any) -> Any:
        start = self.at(row, self.b.mul(self.bn, integer(self.lanes * j)))
        places = self.b.gep(start, [steps], source_etype=DOUBLE)
        places.type = ir.VectorType(POINTER, self.lanes)  # llvmlite takes it for one pointer
        nothing = ir.Constant(self.vector, None)
        return self.masked("gather", self.vector, places, ir.Constant(INT32, 8), mask, nothing)
