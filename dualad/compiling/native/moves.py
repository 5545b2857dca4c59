"""Operations with a loop of their own: joined arrays, entries written at an index, products."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staging.operations import Operation, Variable
from .entry import INT, Entry, Refused, integer
from .forms import is_tiled
from .layouts import Layout, contiguous, contiguous_strides, view_of
from .nesting import Access, nest
from .products import write_product
from .shared import each
from .totals import folded

__all__ = ["copy", "write_move"]

BYTE = ir.IntType(8)


def copy(kernel: Any, source: Layout, target: Any, where: Layout, dtype: np.dtype) -> None:
    """Copy an array in memory; it is broadcast to the shape of the target."""
    old = np.dtype(source.base.dtype)
    read = Access(kernel.pointer(source.base), source, old, source.broadcast(where.shape))
    write = Access(target, where, dtype, where.strides)
    e = kernel.emitter
    each(e, where.shape, [read, write], [], lambda e, _: write.store(e, read.load(e)))


def fill(kernel: Any, x: Entry, target: Any, where: Layout, dtype: np.dtype) -> None:
    """Write one entry everywhere."""
    write = Access(target, where, dtype, where.strides)
    each(kernel.emitter, where.shape, [write], [x], lambda e, known: write.store(e, known[0]))


def put(kernel: Any, x: Any, target: Any, where: Layout, dtype: np.dtype) -> None:
    """Write an operand, an array or a number, to a place."""
    e = kernel.emitter
    if isinstance(x, np.ndarray) or (type(x) is Variable and x.size > 1):
        copy(kernel, kernel.place(x), target, where, dtype)
        return
    entry = kernel.operand(x)
    if isinstance(entry, np.ndarray):
        entry = entry.reshape(-1)[0]
    fill(kernel, e.cast(entry, dtype), target, where, dtype)


def write_move(kernel: Any, s: Operation) -> None:
    """Write an operation with a loop of its own."""
    (result,) = s.results
    name = s.primitive.name
    is_small = kernel.plan.is_small(result)
    if is_small and result not in kernel.memory:
        kernel.memory[result] = kernel.scratch(result)
    target = kernel.pointer(kernel.plan.layout_of(result).base)
    {
        "concatenate": _joined, "stack": _joined, "scatter_add": _scattered,
        "getitem": _taken, "index_set": _written, "add_at_slice": _added, "matmul": _product,
        "gram": _product,
    }.get(name, _copied)(kernel, s, result, target)  # fmt: skip
    if is_small:
        where = contiguous(result, result.shape)
        kernel.entries[result] = kernel.loaded(where, result.dtype)


def _copied(kernel: Any, s: Operation, result: Variable, target: Any) -> None:
    """A view that is none: its entries by a table."""
    x = s.operands[0]
    numbers = np.arange(x.size).reshape(x.shape)
    source = kernel.place(x)
    chosen = np.asarray(s.primitive.impl(numbers, **s.params))
    index = np.unravel_index(chosen.reshape(-1), x.shape)
    at = sum((i * k for i, k in zip(index, source.strides, strict=True)), np.full(chosen.size, 0))
    table = kernel.emitter.table(INT, at + source.offset)
    e, where = kernel.emitter, contiguous(result, (result.size,))
    read = kernel.pointer(source.base)
    with e.loop(result.size) as turn:
        place = e.load(table, turn, np.dtype(np.int64)).value
        e.store(e.cast(e.load(read, place, x.dtype), result.dtype), target, turn)
    assert where.offset == 0


def _joined(kernel: Any, s: Operation, result: Variable, target: Any) -> None:
    axis = s.params["axis"] % len(result.shape)
    whole = contiguous(result, result.shape)
    start = 0
    for x in s.operands:
        shape = getattr(x, "shape", ())
        length = shape[axis] if s.primitive.name == "concatenate" else 1
        part = [slice(None)] * axis + [slice(start, start + length)]
        if s.primitive.name == "stack":
            part[axis] = start
        put(kernel, x, target, _view(whole, tuple(part)), result.dtype)
        start += length


def _view(whole: Layout, index: tuple) -> Layout:
    if not any(type(k) is type(Ellipsis) for k in index):
        index = (*index, ...)
    found = view_of(whole, lambda a: a[index])
    if found is None:
        raise Refused("an index by arrays")
    return found


def _at_index(
    kernel: Any, pointer: Any, whole: Layout, index: tuple, dtype: np.dtype
) -> tuple[Any, Layout]:
    """An array at an index: its memory, moved by what is only known when the code runs."""
    b = kernel.emitter.builder
    given = len([k for k in index if k is not None and k is not Ellipsis])
    axis = 0
    for k in index:
        if k is Ellipsis:
            axis += len(whole.shape) - given
        elif k is not None:
            if type(k) is Variable:
                place = kernel.operand(k).reshape(-1)[0].value
                back = b.add(place, integer(whole.shape[axis]))
                place = b.select(b.icmp_signed("<", place, integer(0)), back, place)
                step = integer(whole.strides[axis] * dtype.itemsize)
                pointer = b.gep(pointer, [b.mul(place, step)], source_etype=BYTE)
            axis += 1
    fixed = tuple([0 if type(k) is Variable else k for k in index])
    return pointer, _view(whole, fixed)


def _taken(kernel: Any, s: Operation, result: Variable, target: Any) -> None:
    """Entries at an index that changes from turn to turn, or at an index of arrays."""
    x, index = s.operands[0], s.params["index"]
    if _by_arrays(index):
        _copied(kernel, s, result, target)
        return
    source = kernel.place(x)
    pointer, where = _at_index(kernel, kernel.pointer(source.base), source, index, x.dtype)
    read = Access(pointer, where, x.dtype, where.broadcast(result.shape))
    whole = contiguous(result, result.shape)
    write = Access(target, whole, result.dtype, whole.strides)
    e = kernel.emitter
    nest(e, result.shape, [read, write], lambda: write.store(e, read.load(e)))


def _by_arrays(index: Any) -> bool:
    return any(isinstance(k, (np.ndarray, list)) for k in index)


def _positions(shape: tuple[int, ...], index: Any) -> np.ndarray:
    return np.arange(int(np.prod(shape))).reshape(shape)[index]


def _scattered(kernel: Any, s: Operation, result: Variable, target: Any) -> None:
    whole = contiguous(result, result.shape)
    index, (x,) = s.params["index"], s.operands
    e = kernel.emitter
    fill(kernel, e.constant(0, result.dtype), target, whole, result.dtype)
    if not _by_arrays(index):
        pointer, where = _at_index(kernel, target, whole, tuple(index), result.dtype)
        put(kernel, x, pointer, where, result.dtype)
        return
    places = _positions(result.shape, tuple(index))
    _by_table(kernel, x, places, target, result.dtype, adds=True)


def _by_table(
    kernel: Any, x: Any, places: np.ndarray, target: Any, dtype: np.dtype, adds: bool
) -> None:
    """Write or add entries, one after the other, at places in a table."""
    e = kernel.emitter
    table = e.table(INT, places.reshape(-1))
    shape = places.shape
    number = Access(table, contiguous(None, shape), np.dtype(np.int64), contiguous_strides(shape))
    reads = [number]
    if isinstance(x, np.ndarray) or (type(x) is Variable and x.size > 1):
        source = kernel.place(x)
        reads.append(Access(kernel.pointer(source.base), source, x.dtype, source.broadcast(shape)))
    else:
        given = kernel.operand(x)
        fixed = e.cast(given.reshape(-1)[0] if isinstance(given, np.ndarray) else given, dtype)

    def body() -> None:
        at = number.load(e).value
        entry = e.cast(reads[1].load(e), dtype) if len(reads) > 1 else fixed
        if adds:
            entry = e.function("add", (e.load(target, at, dtype), entry), dtype)
        e.store(entry, target, at)

    nest(e, shape, reads, body)


def _written(kernel: Any, s: Operation, result: Variable, target: Any) -> None:
    whole = contiguous(result, result.shape)
    x, v = s.operands
    index = s.params["index"]
    index = tuple(index) if isinstance(index, (tuple, list)) else (index,)
    _started(kernel, x, target, whole, result)
    if _by_arrays(index):
        _by_table(kernel, v, _positions(result.shape, index), target, result.dtype, adds=False)
    else:
        pointer, where = _at_index(kernel, target, whole, index, result.dtype)
        put(kernel, v, pointer, where, result.dtype)


def _started(kernel: Any, x: Any, target: Any, whole: Layout, result: Variable) -> None:
    """Begin with the entries of x, where the result does not lie in the memory of x."""
    if kernel.plan.layout_of(result).base is result:
        put(kernel, x, target, whole, result.dtype)


def _added(kernel: Any, s: Operation, result: Variable, target: Any) -> None:
    x, v = s.operands
    e = kernel.emitter
    whole = contiguous(result, result.shape)
    _started(kernel, x, target, whole, result)
    pointer, where = _at_index(kernel, target, whole, tuple(s.params["index"]), result.dtype)
    place = Access(pointer, where, result.dtype, where.strides)
    if type(v) is Variable and v.size == 1:
        entry = e.cast(kernel.operand(v).reshape(-1)[0], result.dtype)
        each(e, where.shape, [place], [entry], lambda e, x: place.store(e, place.load(e) + x[0]))
        return
    source = kernel.place(v)
    pointer = kernel.pointer(source.base)
    read = Access(pointer, source, v.dtype, source.broadcast(where.shape))

    def body(e: Any, _: Any) -> None:
        place.store(e, place.load(e) + e.cast(read.load(e), result.dtype))

    each(e, where.shape, [place, read], [], body)


def _product(kernel: Any, s: Operation, result: Variable, target: Any) -> None:
    """A product of matrices, vectors or stacks of them: the sum over k of a[i, k] b[k, j]."""
    e = kernel.emitter
    a, b = kernel.place(s.operands[0]), kernel.place(s.operands[-1])
    whole = contiguous(result, result.shape)
    if s.primitive.name == "gram":
        b = Layout(b.base, b.offset, b.shape[::-1], b.strides[::-1])
    if len(a.shape) == 1:
        a, whole = _with_axis(a, 0), _with_axis(whole, len(whole.shape) - len(b.shape) + 1)
    if len(b.shape) == 1:
        b, whole = _with_axis(b, 1), _with_axis(whole, len(whole.shape))
    (*stack, m, n), k = whole.shape, a.shape[-1]
    *over_a, am, ak = a.broadcast((*stack, m, k))
    *over_b, bk, bn = b.broadcast((*stack, k, n))
    *over_c, cm, cn = whole.strides
    left = Access(kernel.pointer(a.base), a, result.dtype, (*over_a, am, ak, 0))
    right = Access(kernel.pointer(b.base), b, result.dtype, (*over_b, 0, bk, bn))
    out = Access(target, whole, result.dtype, (*over_c, cm, 0, cn))
    if is_tiled(s):
        sizes = ((m, n, k), (am, ak), (bk, bn))
        for x, strides in ((left, over_a), (right, over_b), (out, over_c)):
            x.strides = tuple(strides)
        accesses = [left, right, out]
        nest(e, tuple(stack), accesses, lambda: write_product(kernel, sizes, *accesses))
        return
    fill(kernel, e.constant(0, result.dtype), target, whole, result.dtype)

    def body() -> None:
        term = e.function("multiply", (left.load(e), right.load(e)), result.dtype)
        out.store(e, folded(e, "add", out.load(e), term))

    nest(e, (*stack, m, k, n), [left, right, out], body)


def _with_axis(x: Layout, axis: int) -> Layout:
    """The same entries with an axis of length 1."""
    shape, strides = list(x.shape), list(x.strides)
    shape.insert(axis, 1)
    strides.insert(axis, 0)
    return x._replace(shape=tuple(shape), strides=tuple(strides))
