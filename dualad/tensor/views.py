"""The methods of a tensor that give views: entries, shapes, the order of dimensions, parts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.arrays.storage import bump, overlap
from ..engine.levels.buffer import buffer
from ..engine.levels.traced import raw
from ..engine.requires_grad.grad_mode import is_grad_enabled
from ..engine.requires_grad.visible import is_functional
from ..errors import NotDifferentiableError, ShapeError
from ..ops.indexing import replaced
from .face import State, shape_checked, unwrap, wrap
from .keys import at_entries, index_key, is_basic
from .layout import share_strides, stays_a_view
from .view import Put, Read, UnrecordedView, View, is_recorded, node_of

__all__ = ["Views"]


def sizes(given: tuple) -> tuple[int, ...]:
    """A shape given as several integers or as one tuple or list of them."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    return tuple(int(n) for n in given)


class Views(State):
    """The methods of a tensor that give views."""

    __slots__ = ()

    def _make_view(self, read: Read, put: Put, may_copy: bool = False) -> Any:
        """A view of this tensor: read(value) gives its value, put(value, new) writes to it.

        may_copy: whether it depends on the memory if it is one.
        """
        full = self._full()
        self._is_viewed = True
        hidden = not is_grad_enabled() and is_recorded(full)
        link = (UnrecordedView if hidden else View)(self, read, put)
        out = wrap(link.value(full))
        if is_functional(full):
            is_view = not may_copy or stays_a_view(self, read)
        else:
            is_view = not out._value.size or overlap(out._value, full)
        if is_view:
            out._view = link
        return out

    def _become(self, view: Callable[[Any], Any]) -> Any:
        """Turn this tensor into a view of what it was: the same entries in another shape."""
        full = self._full()
        if getattr(self, "_is_viewed", False):
            raise ShapeError(
                "a tensor that has views cannot change its shape in place: use the operation "
                "without the underscore"
            )
        self._may_write(full)
        before = wrap(full)
        before._view, before._clock, before._born = self._view, self._clock, self._born
        share_strides(before, self)
        out = view(before)
        self._value, self._view = out._value, out._view
        if not is_functional(full):
            bump(np.asarray(raw(full)))
        self._clock += 1
        self._move_retained(node_of(full))
        return self

    def _root(self) -> Any:
        """The tensor at the end of the chain of bases."""
        return self if self._view is None else self._view.base._root()

    @property
    def _base(self) -> Any:
        """The tensor this one is a view of, None if it is none."""
        return None if self._view is None else self._root()

    def _is_view(self) -> bool:
        """Whether this tensor is a view of another one."""
        return self._view is not None

    # --- entries -----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        key = index_key(key)
        if not is_basic(key):
            return wrap(unwrap(self)[key])
        return self._make_view(at_entries(key), lambda v, new: replaced(buffer(v), key, new))

    def __iter__(self) -> Any:
        if not self._value.shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def _along(self, dim: int, key: Any) -> Any:
        return self[(slice(None),) * _axis(self, dim) + (key,)]

    def select(self, dim: int, index: int) -> Any:
        """The entries at one index of a dimension."""
        return self._along(dim, int(index))

    def narrow(self, dim: int, start: int, length: int) -> Any:
        """The entries from `start` on, `length` of them, along a dimension."""
        n = self._value.shape[_axis(self, dim)]
        start = start + n if start < 0 else start
        if not 0 <= start <= start + length <= n:
            raise ShapeError(
                f"narrow: start {start} and length {length} do not fit a dimension of {n}"
            )
        return self._along(dim, slice(start, start + length))

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        """The slices along a dimension."""
        return tuple(self._along(dim, k) for k in range(self._value.shape[_axis(self, dim)]))

    def split(self, size: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
        """Pieces along a dimension, of one size (the last may be smaller) or of several."""
        n = self._value.shape[_axis(self, dim)]
        if isinstance(size, int):
            ends = [*range(size, n, size), n] if n else [0]
        else:
            ends = list(itertools.accumulate(size))
            if ends[-1] != n:
                raise ShapeError(f"split: the sizes {list(size)} do not add up to {n}")
        return tuple(self._along(dim, slice(a, b)) for a, b in itertools.pairwise([0, *ends]))

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Any, ...]:
        """At most so many pieces of equal size (the last may be smaller) along a dimension."""
        n = self._value.shape[_axis(self, dim)]
        return self.split(max(-(-n // chunks), 1), dim)

    @shape_checked
    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        """The entries with equal index (plus offset) in two dimensions, as the last dimension."""
        pair = (dim1, dim2)
        rows = np.diagonal(np.zeros([self._value.shape[d] for d in pair]), offset).shape[0]
        i = np.arange(rows) + max(-offset, 0)
        at = (Ellipsis, i, i + offset)

        def put(v: Any, new: Any) -> Any:
            moved = np.moveaxis(v, pair, (-2, -1))
            return np.moveaxis(replaced(buffer(moved), at, new), (-2, -1), pair)

        return self._make_view(lambda v: _diagonal(v, offset, *pair), put)

    # --- shapes ------------------------------------------------------------------------------

    @shape_checked
    def reshape(self, *sizes_: Any, shape: Any = None) -> Any:
        """The same entries in another shape: a view where the memory allows it."""
        new_shape = sizes(sizes_ if shape is None else (shape,))
        return self._make_view(
            lambda v: np.reshape(v, new_shape), lambda v, new: np.reshape(new, v.shape), True
        )

    def view(self, *shape: Any) -> Any:
        """The same entries in another shape, always in the same memory."""
        if len(shape) == 1 and isinstance(shape[0], np.dtype):
            if shape[0] != self._value.dtype:
                raise NotDifferentiableError(
                    "view(dtype) reads memory as something else: use to(dtype)"
                )
            return self.view_as(self)
        out = self.reshape(*shape)
        if out._view is None:
            raise ShapeError(
                f"view: a tensor of shape {self._value.shape} with these strides has no view of "
                f"shape {out._value.shape}: use reshape(...)"
            )
        return out

    def view_as(self, other: Any) -> Any:
        """A view in the shape of another tensor."""
        return self.view(other.shape)

    def reshape_as(self, other: Any) -> Any:
        """The same entries in the shape of another tensor."""
        return self.reshape(other.shape)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        """The tensor with the dimensions from start_dim to end_dim made one."""
        shape = self._value.shape or (1,)
        a, b = start_dim % len(shape), end_dim % len(shape)
        if self._value.shape and a == b:
            return self
        return self.reshape(*shape[:a], math.prod(shape[a : b + 1]), *shape[b + 1 :])

    def ravel(self) -> Any:
        """The entries along one dimension, in the order of rows in memory."""
        return self.contiguous().reshape(-1)

    def unflatten(self, dim: int, lengths: Sequence[int]) -> Any:
        """One dimension made several."""
        d, shape = _axis(self, dim), self._value.shape
        return self.reshape(*shape[:d], *lengths, *shape[d + 1 :])

    @shape_checked
    def squeeze(self, dim: Any = None) -> Any:
        """The tensor without dimensions of length one (of those named)."""
        shape = self._value.shape
        dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
        gone = {_axis(self, d) for d in dims} if shape else set()
        return self.reshape([n for k, n in enumerate(shape) if k not in gone or n != 1])

    def unsqueeze(self, dim: int) -> Any:
        """The tensor with a new dimension of length one."""
        shape = list(self._value.shape)
        shape.insert(_axis(self, dim, extra=1), 1)
        return self.reshape(shape)

    @shape_checked
    def expand(self, *shape: Any, size: Any = None) -> Any:
        """The tensor broadcast to a larger shape, not to be written to; -1 keeps a dimension."""
        wanted, have = sizes(shape if size is None else (size,)), self._value.shape
        lead = len(wanted) - len(have)
        full = tuple(have[k - lead] if n == -1 and k >= lead else n for k, n in enumerate(wanted))
        if math.prod(full) == math.prod(have):
            np.broadcast_shapes(full, have)
            return self.reshape(full)
        return self._make_view(lambda v: np.broadcast_to(v, full), _overlapping)

    def expand_as(self, other: Any) -> Any:
        """The tensor broadcast to the shape of another one."""
        return self.expand(other.shape)

    def broadcast_to(self, *shape: Any) -> Any:
        """The tensor broadcast to a larger shape."""
        return self.expand(*shape)

    # --- the order of dimensions ---------------------------------------------------------------

    def permute(self, *order_: Any, dims: Any = None) -> Any:
        """The tensor with its dimensions in another order."""
        order = tuple(_axis(self, d) for d in sizes(order_ if dims is None else (dims,)))
        if sorted(order) != list(range(len(self._value.shape))):
            raise ShapeError(
                f"permute: {order} is no order of {len(self._value.shape)} dimensions"
            )
        back = tuple(np.argsort(order).tolist())
        return self._make_view(
            lambda v: np.transpose(v, order), lambda v, new: np.transpose(new, back)
        )

    def transpose(self, dim0: int, dim1: int) -> Any:
        """The tensor with two dimensions exchanged."""
        order = list(range(len(self._value.shape)))
        if order:
            a, b = _axis(self, dim0), _axis(self, dim1)
            order[a], order[b] = order[b], order[a]
        return self.permute(order)

    swapaxes = swapdims = transpose

    def t(self) -> Any:
        """The transpose of a matrix."""
        n = len(self._value.shape)
        if n > 2:
            raise ShapeError(f"t() expects a tensor with at most 2 dimensions, this one has {n}")
        return self.permute(*reversed(range(n)))

    @property
    def T(self) -> Any:
        """The tensor with its dimensions reversed."""
        return self.permute(*reversed(range(len(self._value.shape))))

    @property
    def mT(self) -> Any:
        """The tensor with its last two dimensions exchanged."""
        return self.transpose(-2, -1)

    def movedim(self, source: Any, destination: Any) -> Any:
        """The tensor with dimensions moved."""
        if not self._value.shape:
            source = destination = ()
        return self._make_view(
            lambda v: np.moveaxis(v, source, destination),
            lambda v, new: np.moveaxis(new, destination, source),
        )

    moveaxis = movedim

    # --- the same in place -------------------------------------------------------------------

    def t_(self) -> Any:
        """`t`, in place."""
        return self._become(lambda x: x.t())

    def transpose_(self, dim0: int, dim1: int) -> Any:
        """`transpose`, in place."""
        return self._become(lambda x: x.transpose(dim0, dim1))

    swapaxes_ = swapdims_ = transpose_

    def squeeze_(self, dim: Any = None) -> Any:
        """`squeeze`, in place."""
        return self._become(lambda x: x.squeeze(dim))

    def unsqueeze_(self, dim: int) -> Any:
        """`unsqueeze`, in place."""
        return self._become(lambda x: x.unsqueeze(dim))

    # --- complex numbers -------------------------------------------------------------------------

    @property
    def real(self) -> Any:
        """The real part, which can be written to."""
        if self._value.dtype.kind != "c":
            return self
        return self._make_view(np.real, lambda v, new: new + 1j * np.imag(v))

    @property
    def imag(self) -> Any:
        """The imaginary part, which can be written to."""
        if self._value.dtype.kind != "c":
            raise NotDifferentiableError("imag is defined for complex tensors only")
        return self._make_view(np.imag, lambda v, new: np.real(v) + 1j * new)


def _axis(x: Any, dim: int, extra: int = 0) -> int:
    """A dimension counted from the front."""
    n = len(x._value.shape) + extra
    if not -n <= dim < n:
        raise IndexError(
            f"dimension out of range: expected to be in [{-n}, {n - 1}], but got {dim}"
        )
    return dim % n


def _diagonal(v: Any, offset: int, dim1: int, dim2: int) -> Any:
    out = np.diagonal(v, offset, dim1, dim2)
    if isinstance(out, np.ndarray):
        out.flags.writeable = v.flags.writeable
    return out


def _overlapping(value: Any, new: Any) -> Any:
    raise ShapeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. An expanded tensor cannot be written in place: clone() it first"
    )
