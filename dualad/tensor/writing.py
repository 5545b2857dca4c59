"""Writing in place: x[key] = v, copy_, add_, for plain, dual, graph and traced values.

A tensor keeps its identity while its value, its tangents and its history change. Outside of
functional transformations new values go into its memory, which views, detached aliases and arrays
share; what a transformation tracks is never changed in place, the tensor only holds a new value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.arrays.storage import bump, copy_into, partly_overlap, version
from ..engine.levels.buffer import Buffer, buffer
from ..engine.levels.traced import TracedArray, raw
from ..engine.requires_grad.grad_mode import is_grad_enabled
from ..engine.requires_grad.graph import rebased
from ..engine.requires_grad.visible import is_functional, levels_of, rejoined
from ..errors import LevelError, ShapeError
from ..ops.getitem import index_set
from ..ops.indexing import replaced
from ..ops.structure import cast
from .draws import generator
from .face import State, operand, shape_checked, unwrap, wrap
from .keys import index_key, is_basic
from .layout import keep_strides
from .view import View, node_of

__all__ = ["Writing", "as_it_was", "in_place"]

#: What reads its one number before it writes.
FILLING = frozenset({"masked_fill_", "index_fill_"})


class Writing(State):
    """The methods that change a tensor in place."""

    __slots__ = ()

    def _write(self, value: Any, written: bool = False) -> Any:
        """Give the tensor new values in place: memory, tangents and history, its base's too.

        With written=True the memory holds the values already.
        """
        self._leave_hooks()
        old = unwrap(self)
        value = _fitting(old, value.primal if isinstance(value, Buffer) else value)
        self._may_write(value)
        if self._is_plain(old) and not isinstance(value, TracedArray):
            if not written:
                copy_into(old, value)
            return self
        if not set(levels_of(old)) <= set(levels_of(value)):
            # Overwritten with a constant, it keeps its levels and has a zero derivative.
            value = _overwritten(old, value)
        if self._view is None:
            self._assign(value, written)
        else:
            self._view.write(self, value, written)
        return self

    def _assign(self, value: Any, written: bool) -> None:
        """Write a value to a tensor that is no view."""
        full = self._full()
        if is_functional(full) or is_functional(value):
            self._refuse_captured(value)
            keep_strides(self)
            self._value = rejoined(full, value)
        else:
            memory = raw(full)
            if not memory.flags.writeable:
                memory, written = np.array(raw(value)), True
            if not written:
                copy_into(memory, raw(value))
            self._value = rejoined(full, rebased(value, memory))
        self._clock += 1
        self._move_retained(node_of(full))

    def _leave_hooks(self) -> bool:
        """Before a write through a view that has hooks: read it again, without them.

        As in PyTorch a write through a view is an operation on its base, which does not pass by
        the old value of the view. True: it was read again, so its own views are to be, too.
        """
        view = self._view
        if type(view) is not View or not is_grad_enabled():
            return False
        node, again = node_of(self._value), view.base._leave_hooks()
        if node is None or not (again or node.hooks is not None) or is_functional(self._value):
            return False
        self._value = view.value(view.base._full())
        self._move_retained(node)
        return True

    def _is_plain(self, value: Any) -> bool:
        """Whether to write to a tensor with this visible value is to write to its memory."""
        return (
            isinstance(value, np.ndarray)
            and value.flags.writeable
            and not is_functional(self._root()._full())
        )

    def _may_write(self, value: Any) -> None:
        """Refuse what would lose a history."""
        tensor = self
        while tensor._view is not None:
            tensor._view.check(value)
            tensor = tensor._view.base
        node = node_of(tensor._full())
        if node is not None and node.leaf is not None and is_grad_enabled():
            what = "a leaf Variable" if tensor is self else "a view of a leaf Variable"
            raise LevelError(
                f"{what} that requires grad is being used in an in-place operation: do it under "
                f"no_grad(), or on a clone()"
            )

    def _refuse_captured(self, value: Any) -> None:
        level = next((v for v in levels_of(value) if v.rank > self._born), None)
        if level is not None and level.name != "dual_level":
            raise LevelError(
                f"a value inside of a {level.name} is written in place into a tensor that was "
                "made outside of it, where it has no meaning: return it from the transformed "
                "function, or make the tensor inside"
            )

    @property
    def _version(self) -> int:
        """How often the memory of this tensor has been written in place."""
        return version(self._value)

    @shape_checked
    def __setitem__(self, key: Any, new: Any) -> None:
        self._leave_hooks()
        value = unwrap(self)
        key, new = index_key(key), operand(new)
        if isinstance(raw(new), np.ndarray) and not is_functional(value):
            if is_basic(key):
                _refuse_overlap(raw(value)[key], (new,))
            elif new.shape:
                _refuse_overlap(value, (new,))
        if self._is_plain(value) and not isinstance(new, TracedArray):
            self._may_write(new)
            value[key] = new
            bump(value)
        else:
            self._write(replaced(buffer(value), key, new))

    @shape_checked
    def copy_(self, src: Any) -> Any:
        """Write the values (and derivative) of src into this tensor."""
        self._leave_hooks()
        v, old = operand(src), unwrap(self)
        _refuse_overlap(old, (v,))
        v = np.broadcast_to(v if hasattr(v, "shape") else np.asarray(v), old.shape)
        # What had a derivative before is overwritten: its share is zero.
        return self._write(_overwritten(old, v) if isinstance(old, TracedArray) else v)

    def zero_(self) -> Any:
        """Set all entries to zero."""
        return self.fill_(0)

    def fill_(self, value: Any) -> Any:
        """Set all entries to one value."""
        v = operand(value)
        if getattr(v, "shape", ()) != ():
            raise ShapeError(f"fill_ takes a number or a 0-d tensor, not one of shape {v.shape}")
        return self.copy_(v if hasattr(v, "shape") else np.asarray(v, self._value.dtype))

    def uniform_(self, low: float = 0.0, high: float = 1.0) -> Any:
        """Set all entries to random numbers between two bounds."""
        return self._drawn(generator().uniform(low, high, self._value.shape))

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Any:
        """Set all entries to normally distributed random numbers."""
        return self._drawn(generator().normal(mean, std, self._value.shape))

    def _drawn(self, values: Any) -> Any:
        return self.copy_(np.asarray(values).astype(self._value.dtype))

    def fill_diagonal_(self, value: Any) -> Any:
        """Set the diagonal of a matrix to one value."""
        self.diagonal().fill_(value)
        return self


def _overwritten(old: Any, new: Any) -> Any:
    """A new value as what is left of an old one when all its entries are replaced."""
    return index_set(old, _fitting(old, new), index=(slice(None),) * len(old.shape))


def _fitting(old: Any, value: Any) -> Any:
    """A value as it is stored in place of another: of the same shape, cast to its dtype."""
    if value.shape != old.shape:
        raise ShapeError(
            f"an in-place operation on a tensor of shape {old.shape} has a result of shape "
            f"{value.shape}"
        )
    have, want = np.dtype(value.dtype), np.dtype(old.dtype)
    if have == want or (not isinstance(value, TracedArray) and want.kind != "c" != have.kind):
        return value
    if have.kind == "c" and want.kind != "c":
        raise ShapeError(f"result type {have} can't be cast to {want} in place")
    return cast(value, dtype=want) if want.kind in "fc" else value.astype(want)


def in_place(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The method that writes what another one gives into its tensor."""

    @shape_checked
    def written(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._leave_hooks()
        if name not in FILLING:
            _refuse_overlap(unwrap(self), (*args, *kwargs.values()))
        out = method(as_it_was(self, args), *args, **kwargs)
        if out is NotImplemented:
            return out
        value = unwrap(out)
        have, want = np.dtype(value.dtype), np.dtype(self._value.dtype)
        if _rank(have) > _rank(want):
            raise ShapeError(f"result type {have} can't be cast to {want} in place")
        return self._write(value)

    written.__name__ = name
    written.__doc__ = f"{name.strip('_')}, in place."
    return written


def _refuse_overlap(target: Any, others: tuple) -> None:
    """Refuse to write to memory of which an operand is another part, as PyTorch does."""
    memory = raw(target)
    if not isinstance(memory, np.ndarray) or is_functional(target):
        return
    for other in others:
        source = raw(operand(other))
        if isinstance(source, np.ndarray) and partly_overlap(memory, source):
            raise ShapeError(
                "unsupported operation: some elements of an input tensor and of the written-to "
                "tensor refer to a single memory location: clone() the input first"
            )


def _rank(dtype: np.dtype) -> int:
    """The category of a dtype: booleans, integers, floats, complex numbers."""
    return {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}[dtype.kind]


def as_it_was(x: Any, others: tuple = ()) -> Any:
    """x with its values copied, where a rule may read what is overwritten before that."""
    value = unwrap(x)
    if is_functional(value) or not any(node_of(operand(v)) is not None for v in (x, *others)):
        return x
    return wrap(rebased(value, np.array(raw(value))))
