"""The methods of a tensor that give views of it: its entries and parts."""

from __future__ import annotations

import itertools
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

__all__ = ["Views", "axis_of", "sizes"]


def sizes(given: tuple) -> tuple[int, ...]:
    """A shape given as several integers or as one tuple or list of them."""
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = tuple(given[0])
    return tuple(int(n) for n in given)


class Views(State):
    """The methods of a tensor that give parts of it, in its memory."""

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
        return self[(slice(None),) * axis_of(self, dim) + (key,)]

    def select(self, dim: int, index: int) -> Any:
        """The entries at one index of a dimension."""
        return self._along(dim, int(index))

    def narrow(self, dim: int, start: int, length: int) -> Any:
        """The entries from `start` on, `length` of them, along a dimension."""
        n = self._value.shape[axis_of(self, dim)]
        start = start + n if start < 0 else start
        if not 0 <= start <= start + length <= n:
            raise ShapeError(
                f"narrow: start {start} and length {length} do not fit a dimension of {n}"
            )
        return self._along(dim, slice(start, start + length))

    def unbind(self, dim: int = 0) -> tuple[Any, ...]:
        """The slices along a dimension."""
        return tuple(self._along(dim, k) for k in range(self._value.shape[axis_of(self, dim)]))

    def split(self, size: int | Sequence[int], dim: int = 0) -> tuple[Any, ...]:
        """Pieces along a dimension, of one size (the last may be smaller) or of several."""
        n = self._value.shape[axis_of(self, dim)]
        if isinstance(size, int):
            ends = [*range(size, n, size), n] if n else [0]
        else:
            ends = list(itertools.accumulate(size))
            if ends[-1] != n:
                raise ShapeError(f"split: the sizes {list(size)} do not add up to {n}")
        return tuple(self._along(dim, slice(a, b)) for a, b in itertools.pairwise([0, *ends]))

    def chunk(self, chunks: int, dim: int = 0) -> tuple[Any, ...]:
        """At most so many pieces of equal size (the last may be smaller) along a dimension."""
        n = self._value.shape[axis_of(self, dim)]
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


def axis_of(x: Any, dim: int, extra: int = 0) -> int:
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
