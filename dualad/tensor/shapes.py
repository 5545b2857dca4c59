"""The methods of a tensor that give its entries in another shape, or order of dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, ShapeError
from .face import shape_checked
from .views import Views, axis_of, sizes

__all__ = ["Shapes"]


class Shapes(Views):
    """The methods of a tensor that change its shape."""

    __slots__ = ()

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
        d, shape = axis_of(self, dim), self._value.shape
        return self.reshape(*shape[:d], *lengths, *shape[d + 1 :])

    @shape_checked
    def squeeze(self, dim: Any = None) -> Any:
        """The tensor without dimensions of length one (of those named)."""
        shape = self._value.shape
        dims = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
        gone = {axis_of(self, d) for d in dims} if shape else set()
        return self.reshape([n for k, n in enumerate(shape) if k not in gone or n != 1])

    def unsqueeze(self, dim: int) -> Any:
        """The tensor with a new dimension of length one."""
        shape = list(self._value.shape)
        shape.insert(axis_of(self, dim, extra=1), 1)
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
        order = tuple(axis_of(self, d) for d in sizes(order_ if dims is None else (dims,)))
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
            a, b = axis_of(self, dim0), axis_of(self, dim1)
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


def _overlapping(value: Any, new: Any) -> Any:
    raise ShapeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. An expanded tensor cannot be written in place: clone() it first"
    )
