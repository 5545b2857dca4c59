"""x[k] and x[k] = v by integers, and x[i:j]: the fast paths of what every right-hand side does.

They take plain float64 arrays, keys of Python integers and slices, and numbers; all else goes to
the general path, the linear primitives `getitem` and `index_set`, which they agree with.

A write is in place where the array is the only holder of its memory, which its reference count
tells: n writes cost O(n). What a recorded operation keeps, what a view reads and what the caller
passed in have another holder; there the general path copies.
"""

from __future__ import annotations

import sys
from typing import Any
from weakref import ref

import numpy as np

from ..arrays.memory import has_own_memory
from ..kinds.batched import Batched, batched
from ..kinds.batched_dual import BatchedDual, make_batched_dual
from ..kinds.dual import Dual, make_dual
from ..kinds.parts import FULL, as_index, sliced
from ..kinds.recorded import Recorded, recorded
from ..levels.buffer import Buffer
from ..levels.traced import TracedArray
from ..primitives.inplace import link_part, prune
from .item_entries import append_set, pull_get, pull_slice

__all__ = ["install"]

ndarray, float64 = np.ndarray, np.float64
F64 = np.dtype(float64)


def install(read: Any, write: Any) -> None:
    """Give the kinds their fast paths; read(x, key) and write(x, key, v) do the rest."""

    def dual_get(self: Any, key: Any) -> Any:
        value = self.primal
        if type(value) is not ndarray:
            return read(self, key)
        kind, t = type(key), self.tangent
        if (kind is slice or kind is int) and type(t) is ndarray:
            level, out = self.level, value[key]
            if level.closed:
                level.new(Dual)
            d = Dual()
            d.level, d.primal, d.tangent = level, out, t[key]
            if type(out) is ndarray:  # as `link_part`, which would be a call more
                d._base = (self, None, (key,))
                views = getattr(self, "_views", None)
                if views is None:
                    self._views = [ref(d)]
                else:
                    views.append(ref(d))
                    if len(views) & 63 == 0:
                        prune(self)
            return d
        single = kind is int or is_integer(key)
        if single:
            out = value[key]
            if type(out) is float64:
                return make_dual(self.level, out, t[key])
            if type(out) is ndarray is type(t):
                return link_part(self, make_dual(self.level, out, t[key]), as_index(key))
        if (type(out) is ndarray) if single else is_sliced(key):
            t = sliced(self.tangent, key)
            if t is not None:
                d = make_dual(self.level, value[key], t)
                return link_part(self, d, as_index(key))
        return read(self, key)

    def batched_dual_get(self: Any, key: Any) -> Any:
        value = self.primal
        kind = type(key)
        if type(value) is not ndarray:
            return read(self, key)
        if kind is int or kind is slice:
            level = self.level
            if level.closed:
                level.new(BatchedDual)
            d = BatchedDual()
            d.level, d.primal, d.tangent = level, value[key], self.tangent[:, key]
            if type(d.primal) is float64:
                return d
            d._base = (self, None, (key,))  # as `link_part`, which would be a call more
            views = getattr(self, "_views", None)
            if views is None:
                self._views = [ref(d)]
            else:
                views.append(ref(d))
                if len(views) & 63 == 0:
                    prune(self)
            return d
        if not (is_sliced(key) or is_integer(key)):
            return read(self, key)
        d = make_batched_dual(self.level, value[key], self.tangent[(FULL, *key)])
        return d if type(d.primal) is float64 else link_part(self, d, as_index(key))

    def batched_get(self: Any, key: Any) -> Any:
        value = self.primal
        if type(value) is ndarray:
            if type(key) is int and value.ndim == 2:
                return batched(self.level, value[:, key], self.tangent)
            if type(key) is slice and value.ndim > 1:
                return link_part(self, sliced(self, key), as_index(key))
        return read(self, key)

    def recorded_get(self: Any, key: Any) -> Any:
        value = self.primal
        kind = type(key)
        if kind is slice and type(value) is ndarray and value.dtype is F64:
            out, level = value[key], self.level
            tape = level.tape
            r = Recorded()
            r.level, r.primal, r.tangent = level, out, len(tape)
            tape.append((pull_slice, self.tangent, key, value.shape, out.shape))
            r._base = (self, None, (key,))  # as `link_part`, which would be a call more
            views = getattr(self, "_views", None)
            if views is None:
                self._views = [ref(r)]
            else:
                views.append(ref(r))
                if len(views) & 63 == 0:
                    prune(self)
            return r
        if kind is slice and type(value) is Dual:
            x, t = value.primal, value.tangent
            if type(x) is ndarray is type(t) and x.dtype is F64:
                below = value.level
                if below.closed:
                    below.new(Dual)
                moved = Dual()
                part = x[key]
                moved.level, moved.primal, moved.tangent = below, part, t[key]
                level = self.level
                tape = level.tape
                r = Recorded()
                r.level, r.primal, r.tangent = level, moved, len(tape)
                tape.append((pull_slice, self.tangent, key, x.shape, part.shape))
                return link_part(self, r, (key,))
        single = kind is int or is_integer(key)
        if single and type(value) is ndarray:
            out = value[key]
            if type(out) is float64:
                level = self.level
                tape = level.tape
                r = Recorded()
                r.level, r.primal, r.tangent = level, out, len(tape)
                tape.append((pull_get, self.tangent, key, value.shape))
                return r
        if type(value) in (ndarray, Dual, BatchedDual) and value.dtype is F64:
            if single and value.ndim == len(as_index(key)) > 0:
                r = recorded(self.level, value[key], len(self.level.tape))
                self.level.tape.append((pull_get, self.tangent, key, value.shape))
                return r
            if single or is_sliced(key):
                out = sliced(value, key)
                if out is not None and out.shape:
                    r = recorded(self.level, out, len(self.level.tape))
                    entry = (pull_slice, self.tangent, key, value.shape, out.shape)
                    self.level.tape.append(entry)
                    return link_part(self, r, as_index(key))
        return read(self, key)

    def dual_set(self: Any, key: Any, v: Any) -> None:
        if (
            is_integer(key)
            and not self.level.closed
            and is_alone(self)
            and owned(self, "primal")
            and owned(self, "tangent")
            and type(self.primal[key]) is float64
        ):
            kind = type(v)
            if kind is float or kind is float64 or kind is int:
                self.primal[key], self.tangent[key] = v, 0.0
                return
            if kind is Dual and v.level is self.level:
                y, dy = v.primal, v.tangent
                if type(y) is float64 is type(dy):
                    self.primal[key], self.tangent[key] = y, dy
                    return
        write(self, key, v)

    def recorded_set(self: Any, key: Any, v: Any) -> None:
        if is_integer(key) and is_alone(self) and owned(self, "primal"):
            x, level, kind = self.primal, self.level, type(v)
            if type(x[key]) is float64:
                if kind is float or kind is float64 or kind is int:
                    append_set(self, level, self.tangent, None, key, x.shape)
                    x[key] = v
                    return
                if kind is Recorded and v.level is level and type(v.primal) is float64:
                    append_set(self, level, self.tangent, v.tangent, key, x.shape)
                    x[key] = v.primal
                    return
        write(self, key, v)

    def buffer_set(self: Any, key: Any, v: Any) -> None:
        if is_integer(key) and is_alone(self) and owned(self, "primal"):
            x, kind = self.primal, type(v)
            if type(x[key]) is float64:
                if kind is float or kind is float64 or kind is int:
                    x[key] = v
                    return
                if kind is Dual and type(v.primal) is float64 is type(v.tangent):
                    if not v.level.closed:
                        dx = np.zeros(x.shape)
                        x[key], dx[key] = v.primal, v.tangent
                        self.__class__, self.level, self.tangent = Dual, v.level, dx
                        return
                if kind is Recorded and type(v.primal) is float64:
                    append_set(self, v.level, None, v.tangent, key, x.shape)
                    x[key] = v.primal
                    self.__class__, self.level = Recorded, v.level
                    return
        write(self, key, v)

    TracedArray.__getitem__ = read
    TracedArray.__setitem__ = write
    for kind, get, put in (
        (Dual, dual_get, dual_set),
        (BatchedDual, batched_dual_get, write),
        (Recorded, recorded_get, recorded_set),
        (Batched, batched_get, write),
        (Buffer, read, buffer_set),
    ):
        kind.__getitem__, kind.__setitem__ = get, put


def is_integer(key: Any) -> bool:
    """Whether a key is made of Python integers."""
    return type(key) is int or (type(key) is tuple and all(type(k) is int for k in key))


def is_sliced(key: Any) -> bool:
    """Whether a key is a slice, or has one among integers and new axes."""
    if type(key) is slice:
        return True
    return type(key) is tuple and slice in (kinds := set(map(type, key))) and kinds <= SLICED


SLICED = {slice, int, type(None)}


def is_alone(x: Any) -> bool:
    """Whether x is no view, and no view of it is alive."""
    if hasattr(x, "_base"):
        return False
    views = getattr(x, "_views", None)
    if not views:
        return True
    x._views = [ref for ref in views if ref() is not None]
    return not x._views


def holders(x: Any, name: str) -> int:
    """The reference count of the array in a slot, as seen from here."""
    array = getattr(x, name)
    return sys.getrefcount(array)


def owned(x: Any, name: str) -> bool:
    """Whether the array in a slot of x is float64, writable, and held by that slot alone."""
    array = getattr(x, name)
    if type(array) is not ndarray or not has_own_memory(array) or array.dtype is not F64:
        return False
    del array
    return holders(x, name) == ALONE and getattr(x, name).flags.writeable


class _Probe:
    __slots__ = ("primal",)

    primal: np.ndarray


def _alone() -> int:
    probe = _Probe()
    probe.primal = np.zeros(1)
    return holders(probe, "primal")


ALONE = _alone()
