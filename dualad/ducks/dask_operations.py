"""What dask does as NumPy does: operations on chunked arrays, none of which computes anything.

OPERATIONS lists them, by the names of primitives. What dask does differently (its cholesky is the
upper factor), what needs the entries (a branch, a boolean mask, sorting) and what has no lazy
transpose (index arrays) is not among them, and raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError
from ..extras import required

__all__ = ["OPERATIONS"]

da = required("dask.array", "a dask array in a transformation", "pip install dualad[dask]")

#: How axes of a length were cut when they were last seen, for arrays that broadcasting makes. It
#: decides where chunks end, and no value.
CUTS: dict[int, tuple[int, ...]] = {}


def remember(x: Any) -> None:
    """Let axes of these lengths be cut in the same way."""
    while len(CUTS) > 1000:
        CUTS.pop(next(iter(CUTS)))
    CUTS.update(zip(x.shape, x.chunks, strict=True))


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """x repeated along axes, in chunks as those of axes of these lengths, or of dask's size."""
    lead = len(shape) - x.ndim
    fresh = [k for k in range(len(shape)) if k < lead or x.shape[k - lead] != shape[k]]
    cuts = [CUTS.get(n, "auto") if k in fresh else x.chunks[k - lead] for k, n in enumerate(shape)]
    chunks = da.core.normalize_chunks(tuple(cuts), shape, dtype=x.dtype)
    return da.broadcast_to(x, shape, chunks=chunks)


class Chunkwise:
    """A function of single entries on chunks; where a rule runs quietly, without warnings."""

    def __init__(self, f: Callable[..., Any], name: str, quiet: bool, options: dict[str, Any]):
        self.f, self.quiet, self.options = f, quiet, options
        self.__name__ = name

    def __call__(self, *chunks: Any) -> Any:
        if not self.quiet:
            return self.f(*chunks, **self.options)
        with np.errstate(all="ignore"):
            return self.f(*chunks, **self.options)


def quiet_product(a: Any, b: Any) -> Any:
    """a * b without warnings."""
    return da.core.elemwise(Chunkwise(np.multiply, "multiply", True, {}), a, b)


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """x in another shape; where dask cannot merge and split axes, by way of one axis."""
    try:
        return da.reshape(x, shape)
    except NotImplementedError:
        return da.reshape(da.reshape(x, (-1,)), shape)


def cast(x: Any, dtype: Any) -> Any:
    """x in another dtype; the real part where that is real."""
    dtype = np.dtype(dtype)
    return (x.real if x.dtype.kind == "c" != dtype.kind else x).astype(dtype)


def sum_axes(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes, in the dtype that NumPy gives it."""
    dtype = np.add.reduce(np.zeros(1, x.dtype)).dtype
    return x.sum(axis=axes, dtype=dtype) if axes else x


def zero_wins(a: Any, b: Any) -> Any:
    """a * b, but 0 wherever a is 0."""
    product = quiet_product(a, b)
    return da.where(a == 0, np.zeros((), product.dtype), product)


def either_zero_wins(a: Any, b: Any) -> Any:
    """a * b, but 0 wherever a or b is 0."""
    product = quiet_product(a, b)
    return da.where((a == 0) | (b == 0), np.zeros((), product.dtype), product)


def where(condition: Any, x: Any, y: Any) -> Any:
    """The entries of x or y, of the dtype that NumPy gives them."""
    dtype = np.result_type(*(getattr(v, "dtype", v) for v in (x, y)))
    return da.where(condition, x, y).astype(dtype)


def concatenate(*xs: Any, axis: int) -> Any:
    """Arrays one behind the other."""
    return da.concatenate(xs, axis=axis)


def stack(*xs: Any, axis: int) -> Any:
    """Arrays side by side along a new axis."""
    return da.stack([x if isinstance(x, da.Array) else da.asarray(x) for x in xs], axis=axis)


def _basic(index: tuple) -> tuple:
    if not all(k is None or k is Ellipsis or isinstance(k, (int, slice)) for k in index):
        raise NotDifferentiableError(
            "an index array into a dask array has no lazy transpose: use slices and np.where, or "
            "a product with a matrix that selects."
        )
    return index


def getitem(x: Any, index: tuple) -> Any:
    """A part by integers and slices."""
    return x[_basic(index)]


def scatter(values: Any, index: tuple, shape: tuple[int, ...]) -> Any:
    """Zeros of a shape with the values at an index of integers and slices."""
    index = _basic(index)
    full: list[Any] = [k for k in index if k is not None and k is not Ellipsis]
    if Ellipsis in index:
        at = index.index(Ellipsis)
        lead = sum(k is not None for k in index[:at])
        full[lead:lead] = [slice(None)] * (len(shape) - len(full))
    axis = 0
    for k in index:  # give each axis of the shape its axis among the values
        if k is Ellipsis:
            axis += len(shape) - sum(q is not None and q is not Ellipsis for q in index)
        elif k is None:
            values = values.squeeze(axis)
        else:
            values = da.expand_dims(values, axis) if isinstance(k, int) else values
            axis += 1
    for axis, (k, n) in enumerate(zip(full, shape, strict=True)):
        values = _spread_axis(values, axis, k, n)
    return values


def _spread_axis(values: Any, axis: int, k: Any, n: int) -> Any:
    """Entries along an axis at the places of an integer or slice among n, zeros between."""
    places = range(n)[k] if isinstance(k, slice) else range(k % n, k % n + 1)
    if places == range(n):
        return values
    if not len(places):
        shape = (*values.shape[:axis], n, *values.shape[axis + 1 :])
        return da.zeros(shape, values.dtype)
    if places.step < 0:
        values, places = da.flip(values, axis), places[::-1]
    if places.step > 1:
        values = _with_gaps(values, axis, places.step)
    before, behind = places[0], n - places[0] - values.shape[axis]
    parts = [_zeros_beside(values, axis, before), values, _zeros_beside(values, axis, behind)]
    return da.concatenate([p for p in parts if p.shape[axis]], axis=axis)


def _zeros_beside(values: Any, axis: int, n: int) -> Any:
    shape = (*values.shape[:axis], n, *values.shape[axis + 1 :])
    chunks = (*values.chunks[:axis], (n,), *values.chunks[axis + 1 :])
    return da.zeros(shape, values.dtype, chunks=chunks)


def _with_gaps(values: Any, axis: int, step: int) -> Any:
    """Entries along an axis with step - 1 zeros between each two."""
    gaps = [da.zeros_like(values)] * (step - 1)
    stacked = da.stack([values, *gaps], axis=axis + 1)
    shape = (*values.shape[:axis], values.shape[axis] * step, *values.shape[axis + 1 :])
    whole = stacked.reshape(shape)
    return whole[(slice(None),) * axis + (slice(0, shape[axis] - step + 1),)]


def index_set(x: Any, v: Any, index: tuple) -> Any:
    """x with the entries at integers and slices replaced; x itself stays as it is."""
    shape = tuple(x.shape)
    part = np.broadcast_to(False, shape)[_basic(index)].shape
    mask = scatter(da.ones(part, dtype=bool), index, shape)
    new = scatter(broadcast_to(da.asarray(v), part).astype(x.dtype), index, shape)
    return da.where(mask, new, x)


def cumsum(x: Any, axis: int) -> Any:
    """The running sum along an axis."""
    return da.cumsum(x, axis=axis)


def einsum(*xs: Any, subscripts: str, optimize: Any) -> Any:
    """A sum of products."""
    return da.einsum(subscripts, *xs, optimize=optimize)


def _truth(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis, keepdims=False: f(x, axis=axis, keepdims=keepdims)


#: The list: primitives by name, and how dask does each. Beside them stands every primitive of
#: single entries, which is applied chunk by chunk.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "stop_gradient": lambda x: x,
    "all": _truth(da.all),
    "any": _truth(da.any),
    "cast": cast,
    "astype": lambda x, dtype: x.astype(dtype),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "conjugate": lambda x: x.conj(),
    "reshape": reshape,
    "transpose": lambda x, axes: da.transpose(x, axes),
    "broadcast_to": broadcast_to,
    "sum_axes": sum_axes,
    "max": lambda x, axes: x.max(axis=axes),
    "min": lambda x, axes: x.min(axis=axes),
    "var": lambda x, axes, divisor: _moment(x, axes, divisor),
    "std": lambda x, axes, divisor: da.sqrt(_moment(x, axes, divisor)),
    "length": lambda x, axes: da.sqrt(sum_axes(abs(x) ** 2, axes)),
    "cumsum": cumsum,
    "where": where,
    "zero_wins": zero_wins,
    "either_zero_wins": either_zero_wins,
    "concatenate": concatenate,
    "stack": stack,
    "getitem": getitem,
    "index_set": index_set,
    "scatter_add": scatter,
    "matmul": lambda a, b: da.matmul(a, b),
    "einsum": einsum,
}


def _moment(x: Any, axes: tuple[int, ...], divisor: Any) -> Any:
    """The sum of squared distances from the mean over axes, divided by a number."""
    spread = x - x.mean(axis=axes, keepdims=True)
    return sum_axes(abs(spread) ** 2, axes) / divisor
