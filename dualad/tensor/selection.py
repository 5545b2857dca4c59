"""Operations of a tensor that choose, order or place entries."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..engine.levels.buffer import buffer
from ..engine.levels.traced import raw
from ..errors import ShapeError
from ..ops.indexing import accumulated, replaced
from .face import State, deep, operand, shape_checked, unwrap, wrap
from .promotion import promoted

__all__ = ["Selection", "ValuesAndIndices"]


class ValuesAndIndices(NamedTuple):
    """What sort, topk, and max and min along a dimension give."""

    values: Any
    indices: Any


class Selection(State):
    """The methods of a tensor that choose, order or place entries."""

    __slots__ = ()

    # --- the largest, the order ----------------------------------------------------------------

    def max(self, dim: Any = None, keepdim: bool = False) -> Any:
        """The largest entry; along a dimension (values, indices); of two tensors `maximum`."""
        if isinstance(dim, State):
            return self.maximum(dim)
        return self._extreme(np.argmax, np.max, dim, keepdim)

    def min(self, dim: Any = None, keepdim: bool = False) -> Any:
        """The smallest entry; along a dimension (values, indices); of two tensors `minimum`."""
        if isinstance(dim, State):
            return self.minimum(dim)
        return self._extreme(np.argmin, np.min, dim, keepdim)

    @shape_checked
    def _extreme(self, where: Any, what: Any, dim: int | None, keepdim: bool) -> Any:
        v = unwrap(self)
        if dim is None:
            return wrap(what(v))
        at = where(v, axis=dim, keepdims=True)
        values = np.take_along_axis(v, at, dim)
        if not keepdim:
            values, at = np.squeeze(values, dim), np.squeeze(at, dim)
        return ValuesAndIndices(wrap(values), wrap(at))

    def argsort(self, dim: int = -1, descending: bool = False, *, stable: bool = True) -> Any:
        """The indices that sort the tensor along a dimension; equal entries keep their order."""
        v = unwrap(self)
        return wrap(np.argsort(-v if descending else v, axis=dim, stable=True))

    def sort(
        self, dim: int = -1, descending: bool = False, *, stable: bool = True
    ) -> ValuesAndIndices:
        """A pair (sorted values, indices) along a dimension; equal entries keep their order."""
        at = self.argsort(dim, descending)
        return ValuesAndIndices(self.take_along_dim(at, dim), at)

    def topk(self, k: int, dim: int = -1, largest: bool = True) -> ValuesAndIndices:
        """The k largest (or smallest) entries along a dimension, in order, and their indices."""
        at = self.argsort(dim, largest).narrow(dim, 0, k)
        return ValuesAndIndices(self.take_along_dim(at, dim), at)

    # --- choosing ------------------------------------------------------------------------------

    @shape_checked
    def where(self, condition: Any, other: Any) -> Any:
        """The entries where a condition holds, those of another tensor elsewhere."""
        return wrap(np.where(operand(condition), *promoted(unwrap(self), operand(other))))

    @shape_checked
    def take_along_dim(self, indices: Any, dim: int) -> Any:
        """The entries at the indices along a dimension; see numpy.take_along_axis."""
        return wrap(np.take_along_axis(unwrap(self), operand(indices), dim))

    @shape_checked
    def gather(self, dim: int, index: Any) -> Any:
        """The entries at the indices along a dimension; the result has the shape of index."""
        at = operand(index)
        part = tuple(slice(n) for n in at.shape)
        axis = dim % len(part)
        part = (*part[:axis], slice(None), *part[axis + 1 :])
        return wrap(np.take_along_axis(unwrap(self)[part], at, dim))

    @shape_checked
    def index_select(self, dim: int, index: Any) -> Any:
        """The slices at the indices of a dimension."""
        return wrap(unwrap(self)[_at(self, dim, index)])

    @shape_checked
    def masked_select(self, mask: Any) -> Any:
        """The entries where a mask is true, along one dimension."""
        v, m = unwrap(self), operand(mask)
        return wrap(np.broadcast_to(v, np.broadcast_shapes(v.shape, m.shape))[m])

    # --- placing -------------------------------------------------------------------------------

    @shape_checked
    def masked_fill(self, mask: Any, value: Any) -> Any:
        """A copy with one value where a mask is true."""
        v, new = unwrap(self), operand(value)
        new = new if hasattr(new, "shape") else np.asarray(new, v.dtype)
        return wrap(np.where(operand(mask), new.astype(v.dtype), v))

    @shape_checked
    def masked_scatter(self, mask: Any, source: Any) -> Any:
        """A copy with the entries of source, in order, where a mask is true."""
        v = unwrap(self)
        m = np.broadcast_to(operand(mask), v.shape)
        return wrap(replaced(buffer(v), m, np.ravel(operand(source))[: np.count_nonzero(m)]))

    @shape_checked
    def index_add(self, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
        """A copy with the slices of source (times alpha) added at the indices of a dimension."""
        v, s = unwrap(self), operand(source)
        _check_added(v, dim, operand(index), s)
        return wrap(
            v + accumulated(v.shape, _at(self, dim, index), s if alpha == 1 else s * alpha)
        )

    @shape_checked
    def index_copy(self, dim: int, index: Any, source: Any) -> Any:
        """A copy with the slices of source at the indices of a dimension."""
        return wrap(replaced(buffer(unwrap(self)), _at(self, dim, index), operand(source)))

    def index_fill(self, dim: int, index: Any, value: Any) -> Any:
        """A copy with one value at the indices of a dimension."""
        return self.index_copy(dim, index, value)

    @shape_checked
    def index_put(self, indices: Any, values: Any, accumulate: bool = False) -> Any:
        """A copy with values at (or added at) the indices, one index tensor a dimension."""
        v, key, new = unwrap(self), tuple(deep(operand, list(indices))), operand(values)
        if accumulate:
            return wrap(v + accumulated(v.shape, key, new))
        return wrap(replaced(buffer(v), key, new))

    @shape_checked
    def scatter(self, dim: int, index: Any, src: Any) -> Any:
        """A copy with the entries of src at the indices along a dimension."""
        key, values = _places(self, dim, index, src)
        return wrap(replaced(buffer(unwrap(self)), key, values))

    @shape_checked
    def scatter_add(self, dim: int, index: Any, src: Any) -> Any:
        """A copy with the entries of src added at the indices along a dimension."""
        key, values = _places(self, dim, index, src)
        v = unwrap(self)
        return wrap(v + accumulated(v.shape, key, values))

    # --- moving --------------------------------------------------------------------------------

    def flip(self, *dims: Any) -> Any:
        """A copy with the entries along dimensions in reverse order."""
        return _called(np.flip, self, dims[0] if len(dims) == 1 else dims)

    def roll(self, shifts: Any, dims: Any = None) -> Any:
        """A copy with the entries moved along dimensions, those at the end to the front."""
        return _called(np.roll, self, shifts, dims)

    def repeat(self, *sizes: Any) -> Any:
        """Copies of the tensor side by side, so many along each dimension."""
        counts = sizes[0] if len(sizes) == 1 else sizes
        if np.size(counts) < len(self._value.shape):
            raise ShapeError(
                "Number of dimensions of repeat dims can not be smaller than number of dimensions "
                f"of tensor: got {counts} for {len(self._value.shape)} dimensions"
            )
        return _called(np.tile, self, counts)

    def tile(self, *sizes: Any) -> Any:
        """The same as `repeat`, with one along leading dimensions that are not named."""
        return _called(np.tile, self, sizes[0] if len(sizes) == 1 else sizes)

    def repeat_interleave(self, repeats: Any, dim: Any = None) -> Any:
        """Each entry (or slice) so many times."""
        return _called(np.repeat, self, operand(repeats), dim)

    def tril(self, diagonal: int = 0) -> Any:
        """A copy with zeros above a diagonal."""
        return _called(np.tril, self, diagonal)

    def triu(self, diagonal: int = 0) -> Any:
        """A copy with zeros below a diagonal."""
        return _called(np.triu, self, diagonal)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return _called(np.trace, self)

    def diag(self, diagonal: int = 0) -> Any:
        """A copy of a diagonal, or the matrix with this diagonal."""
        return _called(np.copy, _called(np.diag, self, diagonal))

    def nonzero(self) -> Any:
        """The indices of the entries that are not zero, one row for each."""
        return wrap(np.stack(np.nonzero(np.asarray(raw(unwrap(self)))), axis=1))


class _OutOfRange(ShapeError, IndexError):
    """An index that a dimension does not have."""


def _check_added(v: Any, dim: int, index: Any, source: Any) -> None:
    """Refuse what index_add cannot take, as PyTorch does."""
    if np.dtype(index.dtype).kind not in "iu":
        raise ShapeError(f"index_add expects an index of integers, but got {index.dtype}")
    if np.dtype(source.dtype) != np.dtype(v.dtype):
        raise ShapeError(
            f"index_add: self ({v.dtype}) and source ({source.dtype}) must have the same dtype"
        )
    n = v.shape[dim] if v.shape else 1
    wrong = index[(index < -n) | (index >= n)]
    if wrong.size:
        raise _OutOfRange(f"index {wrong[0]} is out of range for dimension {dim} with size {n}")
    if len(source.shape) == len(v.shape) and v.shape and source.shape[dim] != index.size:
        raise ShapeError(
            f"index_add: the number of indices ({index.size}) must be the size of source along "
            f"dim {dim} ({source.shape[dim]})"
        )


def _called(function: Any, *args: Any) -> Any:
    """What a NumPy function gives for tensors."""
    return function(*args)


def _at(x: State, dim: int, index: Any) -> tuple:
    """The key that selects indices of a dimension."""
    at = operand(index)
    return (slice(None),) * (dim % max(len(x._value.shape), 1)) + (np.atleast_1d(at),)


def _places(x: State, dim: int, index: Any, src: Any) -> tuple[tuple, Any]:
    """The key of entries along a dimension, and what goes there in the shape of the index."""
    at, values = operand(index), operand(src)
    key = list(np.ogrid[tuple(slice(n) for n in at.shape)])
    key[dim % at.ndim] = at
    if hasattr(values, "shape") and values.shape:
        values = values[tuple(slice(n) for n in at.shape)]
    else:
        values = np.broadcast_to(np.asarray(values, x._value.dtype), at.shape)
    return tuple(key), values
