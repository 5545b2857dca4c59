"""What NumPy does in Python, on arrays that it converts first: the same on traced arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ..engine.levels.rules import FUNCTIONS
from ..engine.levels.traced import TracedArray
from ..engine.levels.values import as_operand, stack_objects
from ..engine.primitives.inplace import holds_array

__all__ = ["c_", "isscalar", "ndenumerate", "r_", "vectorize"]


def isscalar(element: Any) -> bool:
    """Whether the element is a number; a traced one is, unless it is an array without axes."""
    if isinstance(element, TracedArray):
        return not holds_array(element)
    return numpy.isscalar(element)


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Index and entry of all entries in C order."""
    if not isinstance(arr, TracedArray):
        return iter(numpy.ndenumerate(arr))
    return ((at, arr[at]) for at in numpy.ndindex(arr.shape))


class vectorize(numpy.vectorize):
    """numpy.vectorize; entries of traced arrays reach the function one by one."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function of each entry of the broadcast arguments."""
        open_args = {k: a for k, a in enumerate(args) if k not in self.excluded}
        traced = any(isinstance(a, TracedArray) for a in open_args.values())
        if not traced or self.signature is not None or set(kwargs) - self.excluded:
            return stacked(super().__call__(*args, **kwargs))
        arrays = FUNCTIONS[numpy.broadcast_arrays](*map(as_operand, open_args.values()))
        shape = numpy.shape(arrays[0])
        rows = []
        for at in numpy.ndindex(shape):
            entries = dict(zip(open_args, (a[at] for a in arrays), strict=True))
            rows.append(self.pyfunc(*(entries.get(k, a) for k, a in enumerate(args)), **kwargs))
        if rows and isinstance(rows[0], tuple):
            return tuple(_shaped(column, shape) for column in zip(*rows, strict=True))
        return _shaped(rows, shape)


def _shaped(values: Any, shape: tuple[int, ...]) -> Any:
    if not values:
        raise ValueError("cannot call `vectorize` on size 0 inputs of traced arrays")
    return FUNCTIONS[numpy.reshape](FUNCTIONS[numpy.stack](list(values)), shape)


def stacked(out: Any) -> Any:
    """A result of objects that hold traced numbers as a traced array."""
    if isinstance(out, tuple):
        return tuple(map(stacked, out))
    return stack_objects(out) if isinstance(out, numpy.ndarray) else out


class _Along:
    """What np.r_ and np.c_ are: arrays and slices in brackets, put together."""

    def __init__(self, original: Any, columns: bool):
        self._original, self._columns = original, columns

    def __getitem__(self, key: Any) -> Any:
        items = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(k, TracedArray) for k in map(as_operand, items)):
            return self._original[key]
        if any(isinstance(k, str) for k in items):
            raise NotImplementedError(
                "np.r_ and np.c_ of traced arrays take no directives: use np.concatenate"
            )
        parts = [self._part(k) for k in items]
        return FUNCTIONS[numpy.concatenate](parts, -1 if self._columns else 0)

    def _part(self, item: Any) -> Any:
        if isinstance(item, slice):
            return self._original[item]
        part = numpy.atleast_1d(as_operand(item))
        return part[:, None] if self._columns and part.ndim == 1 else part

    def __len__(self) -> int:
        return 0


r_ = _Along(numpy.r_, columns=False)
c_ = _Along(numpy.c_, columns=True)
