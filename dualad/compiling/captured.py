"""What a function reads beside its arguments: a program holds it as it was when it was traced.

Variables of closures, modules and classes, attributes of the objects among them and the entries of
their lists and dicts are followed, as far as the code names them, and compared at each call. An
array that the program reads itself is read anew; any other is compared entry by entry.
"""

from __future__ import annotations

import collections
import dis
import functools
import math
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from operator import is_
from typing import Any

import numpy as np

from ..engine.traced import TracedArray

__all__ = ["Captured"]

#: How deep functions, objects and containers are followed, and how long containers are compared.
DEPTH, LONG = 12, 10_000
#: Arrays of up to so many bytes are compared as bytes.
SMALL = 1 << 14
ROOT = __name__.partition(".")[0]
#: Packages whose functions and objects depend on nothing that changes.
FIXED = frozenset({ROOT, "numpy", "scipy", "numba", *sys.stdlib_module_names} - {"__main__"})
#: Where objects of this package that are made of functions keep them.
PARTS = ("f", "func", "function", "fun", "__wrapped__", "fn", "_rule", "args", "kwargs")
#: Libraries whose functions keep no state for their callers.
LIBRARIES = (ROOT, "numpy", "scipy", "math", "builtins", "functools", "operator", "itertools")
ATOMS = (int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, type(None), TracedArray)
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
RANDOM = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
SLOT = types.MemberDescriptorType


class Captured:
    """What a function captures, or objects that it is given, each with the value it had."""

    def __init__(
        self,
        *functions: Callable[..., Any],
        given: Iterable[Any] = (),
        names: Iterable[str] = (),
    ):
        self._cells: list[tuple[Any, Any, str]] = []
        self._items: list[tuple[Any, str, Any]] = []
        self._slots: list[tuple[Any, str, Any]] = []
        self._contents: list[tuple[Any, list, str]] = []
        #: how many attributes an object has
        self._sizes: list[tuple[dict, int, str]] = []
        self._compared: list[tuple[np.ndarray, Any, str]] = []
        self._arrays: dict[int, tuple[np.ndarray, str]] = {}
        #: something was not followed: it lies too deep, or is of no known kind
        self.too_deep = False
        #: sources of random numbers, and iterators
        self.sources: list[Any] = []
        #: the names that the code looks up
        self.names: set[str] = set(names)
        self._objects: list[tuple[Any, int]] = []
        self._codes: list[types.CodeType] = []
        self._seen: dict[int, Any] = {}
        self._done: set[tuple[int, str]] = set()
        for f in functions:
            self._follow(f, DEPTH, "")
        for x in given:
            self._follow(x, DEPTH, type(x).__name__)
        known = -1
        while known != len(self._done) + len(self._objects) + len(self.names):
            known = len(self._done) + len(self._objects) + len(self.names)
            for x, depth in list(self._objects):
                self._attributes(x, depth)
        self._seen.clear()
        self._objects.clear()

    def __bool__(self) -> bool:
        return bool(
            self._cells or self._items or self._slots or self._contents or self._sizes
            or self._compared
        )  # fmt: skip

    # --- comparing ----------------------------------------------------------------------------

    def changed(self) -> str | None:
        """The name of something that has another value now; None if there is none."""
        for cell, value, name in self._cells:
            try:
                now = cell.cell_contents
            except ValueError:
                return name
            if now is not value and not _equal(now, value):
                return name
        for names, name, value in self._items:
            now = names.get(name, _MISSING)
            if now is not value and not _equal(now, value):
                return name
        for x, name, value in self._slots:
            now = getattr(x, name, _MISSING)
            if now is not value and not _equal(now, value):
                return name
        for container, entries, name in self._contents:
            if len(container) * (2 if isinstance(container, dict) else 1) != len(entries):
                return name
            if not all(map(is_, _entries(container), entries)) and not all(
                map(_alike, _entries(container), entries)
            ):
                return name
        for own, n, name in self._sizes:
            if len(own) != n:
                return name
        for array, copy, name in self._compared:
            if type(copy) is bytes:
                if array.tobytes() != copy:
                    return name
            elif not _same_entries(array, copy):
                return name
        return None

    def stays(self) -> bool:
        """Whether all that was captured is of kinds that do not change inside.

        These are numbers, text, tuples of them, arrays (whose entries are read anew) and functions
        that capture nothing else; no list, dict or other object.
        """
        slots = any(name != "__defaults__" for _, name, _ in self._slots)
        inside = self._contents or self._sizes or self.sources or slots
        return not (inside or self.too_deep)

    def settled(self) -> str | None:
        """After a trace: the name of something that the function changes and reads itself.

        What it only counts, or appends to, is taken as it is now: no result depends on it.
        """
        if self.changed() is None:
            return None
        self._cells = [
            (cell, _contents(cell) if self._counts(name) else value, name)
            for cell, value, name in self._cells
        ]
        self._items = [
            (names, name, names.get(name, _MISSING) if self._counts(name) else value)
            for names, name, value in self._items
        ]
        self._contents = [
            (x, now, name)
            if len(now := list(_entries(x))) > len(old) and _begins(x, now, old)
            else (x, now if len(now) == len(old) and self._counts(name) else old, name)
            for x, old, name in self._contents
        ]
        return self.changed()

    def _counts(self, name: str) -> bool:
        """Whether the code reads a variable, or an attribute, once: to change it."""
        reads = 0
        for code in self._codes:
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

    def compare_arrays(self, read: Iterable[np.ndarray]) -> None:
        """Compare the entries of the arrays of which a program reads nothing itself.

        Where it reads others as well, that it has from nobody knows where, those are compared
        that they may be made of: small ones, and such as are no larger.
        """
        known = {id(_root(a)) for a in read if a.size > 1}
        own = {id(_root(a)) for a, _ in self._arrays.values()}
        others = [a.nbytes for a in read if a.size > 1 and id(_root(a)) not in own]
        most = max(SMALL, *others) if others else -1
        for array, name in self._arrays.values():
            read_itself = id(_root(array)) in known and array.nbytes > most
            if not read_itself and array.dtype.kind != "O":
                copy = array.tobytes() if array.nbytes <= SMALL else array.copy()
                self._compared.append((array, copy, name))
        self._arrays.clear()

    # --- following ----------------------------------------------------------------------------

    def _follow(self, x: Any, depth: int, name: str) -> None:
        if id(x) in self._seen or isinstance(x, ATOMS):
            return
        if depth == 0:
            self.too_deep = True
            return
        self._seen[id(x)] = x
        if isinstance(x, np.ndarray):
            if x.flags.writeable or x.base is not None:
                self._arrays[id(x)] = (x, name)
        elif isinstance(x, RANDOM):
            self.sources.append(x)
        elif isinstance(x, types.MethodType):
            self._follow(x.__self__, depth - 1, name)
            self._follow(x.__func__, depth, name)
        elif isinstance(x, types.FunctionType):
            self._function(x, depth)
        elif isinstance(x, functools.partial):
            for part in (x.func, *x.args, *x.keywords.values()):
                self._follow(part, depth - 1, name)
        elif isinstance(x, CONTAINERS):
            self._container(x, depth, name)
        elif isinstance(x, (types.ModuleType, type)):
            module = x.__name__ if isinstance(x, types.ModuleType) else x.__module__
            if not is_fixed(module):
                self._objects.append((x, depth))
                self.too_deep = self.too_deep or isinstance(x, type)
        else:
            self._object(x, depth, name)

    def _container(self, x: Any, depth: int, name: str) -> None:
        if len(x) > LONG:
            return
        entries = list(_entries(x))
        if not isinstance(x, (tuple, frozenset)):
            self._contents.append((x, entries, name))
        for entry in entries:
            self._follow(entry, depth - 1, name)

    def _object(self, x: Any, depth: int, name: str) -> None:
        root = (type(x).__module__ or "").partition(".")[0]
        if root == ROOT:
            parts = [getattr(x, "__dict__", {}).get(part) for part in PARTS]
            self.too_deep = self.too_deep or not any(map(callable, parts))
            for part in parts:
                self._follow(part, depth - 1, name)
        elif not is_fixed(root) or isinstance(x, types.SimpleNamespace):
            self._objects.append((x, depth))
            if type(own := getattr(x, "__dict__", None)) is dict:
                self._sizes.append((own, len(own), name))
            if callable(x):
                self._follow(type(x).__call__, depth - 1, name)
        else:
            module = getattr(x, "__module__", None) or root
            library = callable(x) and module.partition(".")[0].lstrip("_") in LIBRARIES
            self.too_deep = self.too_deep or not library
        if hasattr(type(x), "__next__"):
            self.sources.append(x)

    def _function(self, f: types.FunctionType, depth: int) -> None:
        own = f.__globals__.get("__name__") or f.__module__ or ""
        if is_fixed(own):
            for cell in f.__closure__ or ():
                self._follow(_contents(cell), depth - 1, "")
            return
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            value = _contents(cell)
            if value is not _MISSING:
                self._cells.append((cell, value, name))
                self._follow(value, depth - 1, name)
        if f.__defaults__:
            self._slots.append((f, "__defaults__", f.__defaults__))
        self._follow((f.__defaults__, f.__kwdefaults__), depth - 1, f.__name__)
        self._codes += _codes(f.__code__)
        names = _names(f.__code__)
        self.names |= names
        for name in names:
            value = f.__globals__.get(name, _MISSING)
            if value is _MISSING:
                continue
            if not isinstance(value, (types.ModuleType, type)):
                self._items.append((f.__globals__, name, value))
            self._follow(value, depth - 1, name)

    def _attributes(self, x: Any, depth: int) -> None:
        """Watch the attributes of an object, a class or a module that the code names."""
        own = getattr(x, "__dict__", None)
        if own is not None:
            for name in self.names & own.keys():
                self._watch(x, own, name, depth)
        if isinstance(x, types.ModuleType):
            return
        for c in type.mro(x)[1:] if isinstance(x, type) else type(x).__mro__:
            if is_fixed(c.__module__):
                continue
            for name in self.names & c.__dict__.keys():
                value = c.__dict__[name]
                if isinstance(value, SLOT):
                    if (id(x), name) not in self._done:
                        self._done.add((id(x), name))
                        now = getattr(x, name, _MISSING)
                        self._slots.append((x, name, now))
                        self._follow(now, depth - 1, name)
                    continue
                if type(own) is dict and name not in own and (id(x), name) not in self._done:
                    self._done.add((id(x), name))
                    if not hasattr(type(value), "__get__"):
                        self._items.append((own, name, _MISSING))
                self._watch(c, c.__dict__, name, depth)

    def _watch(self, x: Any, names: Any, name: str, depth: int) -> None:
        if (id(x), name) in self._done:
            return
        self._done.add((id(x), name))
        value = names[name]
        if isinstance(value, property):
            self._follow(value.fget, depth - 1, name)
        elif isinstance(value, functools.cached_property):
            self._follow(value.func, depth - 1, name)
        elif isinstance(value, (staticmethod, classmethod)):
            self._follow(value.__func__, depth - 1, name)
        else:
            if not isinstance(value, (types.FunctionType, types.ModuleType, type)):
                self._items.append((names, name, value))
            self._follow(value, depth - 1, name)


_MISSING = object()


def is_fixed(module: str) -> bool:
    """Whether a module belongs to a library, whose variables are not followed."""
    return _is_fixed(module.partition(".")[0])


@functools.cache
def _is_fixed(root: str) -> bool:
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return root in FIXED or "site-packages" in file or "dist-packages" in file


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _entries(container: Any) -> Iterator[Any]:
    if isinstance(container, dict):
        yield from container
        yield from container.values()
    else:
        yield from container


def _begins(x: Any, now: list, old: list) -> bool:
    """Whether a list or a dict has its old entries, and new ones behind them."""
    if not isinstance(x, dict):
        return all(map(is_, now, old))
    n, k = len(now) // 2, len(old) // 2
    return all(map(is_, now[:k], old[:k])) and all(map(is_, now[n : n + k], old[k:]))


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """Code, and the functions inside of it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *[d for c in inner for d in _codes(c)]]


def _names(code: types.CodeType) -> set[str]:
    """The names that code looks up, also in the functions inside of it."""
    # a name that is no identifier was put there by a tool, as pytest does
    return {name for c in _codes(code) for name in c.co_names if name.isidentifier()}


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


def _same_entries(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays agree to the last bit."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.flags.c_contiguous and b.flags.c_contiguous and not a.itemsize % 8:
        return bool((a.reshape(-1).view(np.uint64) == b.reshape(-1).view(np.uint64)).all())
    return a.tobytes() == b.tobytes()
