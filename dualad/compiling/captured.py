"""What a function reads beside its arguments: a program holds it as it was when it was traced.

Variables of closures, modules and classes, attributes of the objects among them and the entries of
their lists and dicts are followed, as far as the code names them, and compared at each call. An
array that the program reads itself is read anew; any other is compared entry by entry.
"""

from __future__ import annotations

import collections
import contextlib
import dis
import math
from array import array as numbers
from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from ..engine.arrays.bits import same_bits
from .doubts import Doubts
from .following import Following
from .holding import MAPPINGS, MISSING, attribute, contents, count, entries
from .program import Program
from .unchanged import unchanged

__all__ = ["Captured"]

#: Arrays of up to so many bytes are compared as bytes.
SMALL = 1 << 14


class Captured(Following):
    """What a function captures, or objects that it is given, each with the value it had."""

    #: how it is asked quickly whether nothing has changed, from the first question on
    _unchanged: Callable[[], bool] | None = None

    def __bool__(self) -> bool:
        return bool(
            self.cells or self.items or self.slots or self.contents or self.sizes
            or self.layouts or self.compared
        )  # fmt: skip

    # --- comparing ----------------------------------------------------------------------------

    def changed(self) -> str | None:
        """The name of something that has another value now; None if there is none."""
        if self._unchanged is None:
            self._unchanged = unchanged(self)
        return None if self._unchanged() else self._changed()

    def _changed(self) -> str | None:
        for cell, value, name in self.cells:
            try:
                now = cell.cell_contents
            except ValueError:
                return name
            if now is not value and not _equal(now, value):
                return name
        for names, name, value in self.items:
            now = names.get(name, MISSING)
            if now is not value and not _equal(now, value):
                return name
        for x, name, value in self.slots:
            now = attribute(x, name)
            if now is not value and not _equal(now, value):
                return name
        for container, before, name in self.contents:
            if count(container) != len(before):
                return name
            if not all(map(is_, entries(container), before)) and not all(
                map(_alike, entries(container), before)
            ):
                return name
        for own, n, name in self.sizes:
            if len(own) != n:
                return name
        for array, shape, dtype, name in self.layouts:
            if array.shape != shape or array.dtype is not dtype:
                return name
        for array, copy, name in self.compared:
            if type(copy) is bytes:
                if array.tobytes() != copy:
                    return name
            elif not same_bits(array, copy):
                return name
        return None

    def settled(self) -> str | None:
        """After a trace: the name of something that the function changes and reads itself.

        What it only counts, or appends to, is taken as it is now: no result depends on it.
        """
        if self._changed() is None:
            return None
        self.cells = [
            (cell, contents(cell) if self._counts(name) else value, name)
            for cell, value, name in self.cells
        ]
        self.items = [
            (names, name, names.get(name, MISSING) if self._counts(name) else value)
            for names, name, value in self.items
        ]
        self.contents = [
            (x, now if self._is_settled(x, now := list(entries(x)), old, name) else old, name)
            for x, old, name in self.contents
        ]
        return self._changed()

    def restore(self) -> None:
        """Put everything back as it was, where a trace came to nothing and the function runs."""
        for cell, value, _ in self.cells:
            if contents(cell) is not value:
                cell.cell_contents = value
        for names, name, value in self.items:
            if isinstance(names, dict) and names.get(name, MISSING) is not value:
                if value is MISSING:
                    del names[name]
                else:
                    names[name] = value
        for x, name, value in self.slots:
            if value is not MISSING and attribute(x, name) is not value:
                with contextlib.suppress(AttributeError):  # of an object that is frozen
                    setattr(x, name, value)
        for x, old, _ in self.contents:
            if count(x) != len(old) or not all(map(is_, entries(x), old)):
                _refill(x, old)

    def _is_settled(self, x: Any, now: list, old: list, name: str) -> bool:
        """Whether the entries of a container are other ones without telling on a result.

        A dict may have new entries, as one in which results are looked up; a list that is read
        beside that has others at the next call.
        """
        if len(now) < len(old) or (len(now) > len(old) and not _begins(x, now, old)):
            return False
        return (len(now) > len(old) and isinstance(x, dict)) or self._counts(name)

    def _counts(self, name: str) -> bool:
        """Whether the code reads a variable, or an attribute, once: to change it."""
        reads = 0
        for code in self.codes:
            for step in dis.get_instructions(code):
                reads += step.argval == name and step.opname.startswith("LOAD")
        return reads <= 1

    def marks(self) -> list[Any]:
        """What tells whether the function writes into an array that it captures."""
        return [_mark(a) for a, _ in self._arrays.values()]

    def written(self, marks: list[Any]) -> str | None:
        """The name of an array that was written into since."""
        for (array, name), mark in zip(self._arrays.values(), marks, strict=True):
            if _mark(array) != mark:
                return name
        return None

    def compare_arrays(self, program: Program, doubts: Doubts, former: Captured | None) -> None:
        """Compare the entries of the arrays of which a program reads nothing itself.

        Where it reads others as well, that it has from nobody knows where, those are compared
        that they may be made of: small ones, and such as are no larger. Where it has numbers of
        this kind, small ones are. What is compared for programs of before is so from now on.
        """
        read, numbers = program.arrays(), program.scalars()
        known = {id(_root(a)) for a in read if a.size > 1}
        own = {id(_root(a)) for a, _ in self._arrays.values()}
        others = [a.nbytes for a in read if a.size > 1 and id(_root(a)) not in own]
        most = max(SMALL, *others) if others else -1
        for array, name in self._arrays.values():
            self.layouts.append((array, array.shape, array.dtype, name))
            read_itself = id(_root(array)) in known and array.nbytes > most
            if read_itself and array.nbytes <= SMALL:
                read_itself = not doubts.of(array, numbers)
            if not read_itself and array.dtype.kind != "O":
                copy = array.tobytes() if array.nbytes <= SMALL else array.copy()
                self.compared.append((array, copy, name))
        self._arrays.clear()
        if former is not None:
            now = {id(array) for array, _, _ in self.compared}
            self.compared += [c for c in former.compared if id(c[0]) not in now]


def _refill(x: Any, old: list) -> None:
    """Give a container the entries that it had."""
    if isinstance(x, numbers):
        x[:] = numbers(x.typecode, old)
    elif isinstance(x, (list, bytearray)):
        x[:] = type(x)(old)
    elif isinstance(x, dict):
        x.clear()
        x.update(zip(old[: len(old) // 2], old[len(old) // 2 :], strict=True))
    elif isinstance(x, np.ndarray):
        for k, entry in zip(np.ndindex(x.shape), old, strict=True):
            x[k] = entry
    elif isinstance(x, set):
        x.clear()
        x.update(old)
    elif isinstance(x, collections.deque):
        x.clear()
        x.extend(old)


def _begins(x: Any, now: list, old: list) -> bool:
    """Whether a list or a dict has its old entries, and new ones behind them."""
    if not isinstance(x, MAPPINGS):
        return all(map(is_, now, old))
    n, k = len(now) // 2, len(old) // 2
    return all(map(is_, now[:k], old[:k])) and all(map(is_, now[n : n + k], old[k:]))


def _equal(a: Any, b: Any) -> bool:
    """Whether two values that are not the same object are the same number or text."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return isinstance(a, (int, complex, str, bytes, np.generic)) and bool(a == b)


def _alike(a: Any, b: Any) -> bool:
    return a is b or _equal(a, b)


def _root(a: np.ndarray) -> Any:
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def _mark(a: np.ndarray) -> Any:
    if a.dtype.kind == "O":
        return None
    if a.nbytes <= SMALL:
        return a.tobytes()
    if a.dtype.itemsize % 8 or not a.flags.c_contiguous:
        return hash(a.tobytes())
    return int(np.sum(a.reshape(-1).view(np.uint64), dtype=np.uint64))
