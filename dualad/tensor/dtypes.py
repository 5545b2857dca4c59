"""Copies of a tensor, in its own or another dtype, and new tensors like it."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray, raw
from ..engine.requires_grad.visible import is_functional
from .face import State, unwrap, wrap
from .layout import layout

__all__ = ["Dtypes"]


class Dtypes(State):
    """The methods of a tensor that give it in another dtype, or another tensor like it."""

    __slots__ = ()

    def clone(self) -> Any:
        """A copy with the same derivative, which lies in memory in the same order."""
        return self._copied("K")

    def _copied(self, order: Any) -> Any:
        v = unwrap(self)
        return wrap(np.copy(v, order) if isinstance(v, TracedArray) else v.copy(order))

    def contiguous(self) -> Any:
        """The tensor itself, or a copy in the order of rows if it has another one."""
        return self if self.is_contiguous() else self._copied("C")

    def is_contiguous(self) -> builtins.bool:
        """Whether the memory has the order of rows."""
        value = unwrap(self)
        memory = layout(self) if is_functional(value) else np.asarray(raw(value))
        return builtins.bool(memory.flags.c_contiguous)

    def to(self, *args: Any, dtype: Any = None, copy: builtins.bool = False) -> Any:
        """The tensor in another dtype, given as such or as that of another tensor."""
        for a in args:
            if isinstance(a, State):
                dtype = a._value.dtype
            elif not isinstance(a, str):  # the name of a device: there is only one
                dtype = a
        if dtype is None or np.dtype(dtype) == self._value.dtype:
            return self.clone() if copy else self
        return wrap(unwrap(self).astype(np.dtype(dtype)))

    def type(self, dtype: Any = None) -> Any:
        """The tensor in another dtype; without one, the name of what it is."""
        return f"dualad.Tensor of {self._value.dtype}" if dtype is None else self.to(dtype)

    def type_as(self, other: Any) -> Any:
        """The tensor in the dtype of another one."""
        return self.to(other)

    def cpu(self) -> Any:
        """The tensor itself: there is no other device."""
        return self

    def double(self) -> Any:
        """The tensor in float64."""
        return self.to(np.float64)

    def float(self) -> Any:
        """The tensor in float32."""
        return self.to(np.float32)

    def half(self) -> Any:
        """The tensor in float16."""
        return self.to(np.float16)

    def long(self) -> Any:
        """The tensor in int64."""
        return self.to(np.int64)

    def int(self) -> Any:
        """The tensor in int32."""
        return self.to(np.int32)

    def bool(self) -> Any:
        """Whether each entry is not zero."""
        return self.to(np.bool_)

    # --- new tensors ---------------------------------------------------------------------------

    def new_full(self, size: Any, value: Any, *, dtype: Any = None) -> Any:
        """A tensor of one value, in the dtype of this one."""
        return wrap(np.full(size, value, dtype or self._value.dtype))

    def new_zeros(self, *size: Any, dtype: Any = None) -> Any:
        """A tensor of zeros, in the dtype of this one."""
        return self.new_full(_shape(size), 0, dtype=dtype)

    def new_ones(self, *size: Any, dtype: Any = None) -> Any:
        """A tensor of ones, in the dtype of this one."""
        return self.new_full(_shape(size), 1, dtype=dtype)

    def new_empty(self, *size: Any, dtype: Any = None) -> Any:
        """A tensor to be filled, in the dtype of this one; zeros until then."""
        return self.new_zeros(*size, dtype=dtype)

    def new_tensor(self, data: Any, *, dtype: Any = None) -> Any:
        """A tensor with a copy of data, in the dtype of this one."""
        return wrap(np.array(data, dtype or self._value.dtype))


def _shape(size: tuple) -> Any:
    return size[0] if len(size) == 1 else size
