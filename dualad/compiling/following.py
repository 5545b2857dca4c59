"""What a function reads beside its arguments, found by following what its code names."""

from __future__ import annotations

import array
import builtins
import collections
import functools
import operator
import random
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..engine.levels.traced import TracedArray
from .belonging import ROOT, classes_of, has_attributes, imported, is_fixed, is_written
from .holding import MAPPINGS, MISSING, attribute, contents, count, entries
from .naming import codes_in, imports_in, in_getter, loaded_in, names_in, variables_in

__all__ = [
    "MAPPINGS",
    "MISSING",
    "PARTS",
    "Following",
    "attribute",
    "contents",
    "count",
    "entries",
]

#: How deep functions, objects and containers are followed, those of this package not counted, and
#: how long containers are compared.
DEPTH, LONG = 20, 10_000
#: Where objects of this package that are made of functions keep them.
PARTS = ("f", "func", "function", "fun", "__wrapped__", "fn", "_rule", "args", "kwargs")
#: Libraries whose functions keep no state for their callers.
LIBRARIES = (ROOT, "numpy", "scipy", "math", "builtins", "functools", "operator", "itertools")
ATOMS = (int, float, complex, str, bytes, np.generic, np.dtype, np.ufunc, type(None), TracedArray)
CONTAINERS = (
    list, tuple, set, frozenset, collections.deque, bytearray, array.array, *MAPPINGS,
)  # fmt: skip
#: Libraries whose objects hold what their users write into, and what that is.
HOLDERS = {
    "scipy": (np.ndarray,), "numpy": (np.ndarray,), ROOT: (np.ndarray,),
    "collections": (list, dict),
}  # fmt: skip
#: Where objects of other libraries keep functions, and what these are called with.
HELD = ("pyfunc", "func", "__wrapped__", "args", "keywords", "kwds")
RANDOM = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
SLOT = types.MemberDescriptorType
#: Descriptors that keep nothing themselves: the first is followed, the second is of the language.
NO_STATE = (property, types.GetSetDescriptorType)
GETTERS = (operator.attrgetter, operator.methodcaller)
#: Methods of objects of the standard library, with the object.
BOUND = (types.BuiltinMethodType, types.MethodWrapperType)
#: Methods that code calls without naming them: such as make an object,
MAKING = ("__new__", "__init__", "__post_init__")
#: such as comparisons of objects call, and tables of them,
EQUAL = frozenset(["__eq__", "__ne__", "__hash__"])
#: and others.
IMPLICIT = frozenset(
    [f"__{r}{name}__" for r in ("", "r", "i") for name in (
        "add sub mul truediv floordiv mod pow matmul divmod and or xor lshift rshift".split()
    )]
    + [f"__{name}__" for name in (
        "getattr getattribute getitem contains iter next len reversed missing call enter exit get "
        "neg pos abs invert bool int float complex index round trunc floor ceil lt le gt ge "
        "array array_ufunc array_function array_wrap length_hint instancecheck".split()
    )]
)  # fmt: skip

OF_A_CLASS = IMPLICIT.union(MAKING)


class Following:
    """Variables of closures, modules and classes, attributes and entries that the code names."""

    def __init__(
        self,
        *functions: Callable[..., Any],
        given: Iterable[Any] = (),
        names: Iterable[str] = (),
        codes: Iterable[types.CodeType] = (),
    ):
        self.cells: list[tuple[Any, Any, str]] = []
        self.items: list[tuple[Any, str, Any]] = []
        self.slots: list[tuple[Any, str, Any]] = []
        self.contents: list[tuple[Any, list, str]] = []
        #: how many attributes an object has
        self.sizes: list[tuple[dict, int, str]] = []
        #: shape and dtype of arrays, which both can be set
        self.layouts: list[tuple[np.ndarray, tuple[int, ...], np.dtype, str]] = []
        self.compared: list[tuple[np.ndarray, Any, str]] = []
        self._arrays: dict[int, tuple[np.ndarray, str]] = {}
        #: something was not followed: it lies too deep, or is of no known kind
        self.too_deep = False
        #: sources of random numbers, and iterators
        self.sources: list[Any] = []
        #: the names that the code looks up
        self.names: set[str] = set(names)
        self._objects: list[tuple[Any, int]] = []
        self.codes: list[types.CodeType] = list(codes)
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

    # --- following ----------------------------------------------------------------------------

    def _follow(self, x: Any, depth: int, name: str) -> None:
        if id(x) in self._seen or (isinstance(x, ATOMS) and not has_attributes(x)):
            return
        if depth == 0:
            self.too_deep = True
            return
        self._seen[id(x)] = x
        if isinstance(x, np.ndarray):
            if x.dtype.kind == "O":
                self._container(x, depth, name)
            elif x.flags.writeable or x.base is not None:
                self._arrays[id(x)] = (x, name)
            self._own_attributes(x, depth, name)
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
            self._own_attributes(x, depth, name)
        elif isinstance(x, BOUND) and not isinstance(x.__self__, (types.ModuleType, type)):
            self._follow(x.__self__, depth - 1, name)
        elif isinstance(x, (staticmethod, classmethod)):
            self._follow(x.__func__, depth - 1, name)
        elif isinstance(x, GETTERS):
            self.names.update(in_getter(x))
        elif isinstance(x, (types.ModuleType, type)):
            module = x.__name__ if isinstance(x, types.ModuleType) else x.__module__
            if not is_fixed(module):
                self._objects.append((x, depth))
                self.too_deep = self.too_deep or isinstance(x, type)
        else:
            self._object(x, depth, name)

    def _container(self, x: Any, depth: int, name: str) -> None:
        if count(x) > LONG:
            return
        found = list(entries(x))
        if not isinstance(x, (tuple, frozenset)):
            self.contents.append((x, found, name))
        for entry in found:
            self._follow(entry, depth - 1, name)

    def _own_attributes(self, x: Any, depth: int, name: str) -> None:
        """Those of an object whose class is the user's."""
        if not is_fixed(type(x).__module__ or ""):
            self._objects.append((x, depth))
            if type(own := getattr(x, "__dict__", None)) is dict:
                self.sizes.append((own, len(own), name))

    def _object(self, x: Any, depth: int, name: str) -> None:
        root = (type(x).__module__ or "").partition(".")[0]
        if root == ROOT:
            parts = [getattr(x, "__dict__", {}).get(part) for part in PARTS]
            self.too_deep = self.too_deep or not any(map(callable, parts))
            for part in parts:
                self._follow(part, depth, name)
            self._held(x, depth, name)
        elif not is_fixed(root):
            self._own_attributes(x, depth, name)
            self._held(x, depth, name)
            if callable(x):
                self._follow(type(x).__call__, depth - 1, name)
        else:
            module = getattr(x, "__module__", None) or root
            library = callable(x) and module.partition(".")[0].lstrip("_") in LIBRARIES
            self.too_deep = self.too_deep or not library
            self._held(x, depth, name)
            self._objects.append((x, depth))
            if isinstance(held := getattr(x, "__dict__", None), dict):
                for part in HELD:
                    self._follow(held.get(part), depth - 1, name)
        if hasattr(type(x), "__next__"):
            self.sources.append(x)

    def _held(self, x: Any, depth: int, name: str) -> None:
        """The arrays and containers that an object of a library has as attributes."""
        roots = {c.__module__.partition(".")[0] for c in type(x).__mro__}
        kinds = tuple([kind for root in roots for kind in HOLDERS.get(root, ())])
        if not kinds:
            return
        own = getattr(x, "__dict__", {})
        for at, held in own.items():
            if isinstance(held, kinds):
                self.items.append((own, at, held))
                self._follow(held, depth - 1, name)
        for at in {n for c in type(x).__mro__ for n, v in c.__dict__.items() if type(v) is SLOT}:
            held = getattr(x, at, None)
            if isinstance(held, kinds):
                self.slots.append((x, at, held))
                self._follow(held, depth - 1, name)

    def _function(self, f: types.FunctionType, depth: int) -> None:
        own = f.__globals__.get("__name__") or f.__module__ or ""
        if is_fixed(own):
            for cell in f.__closure__ or ():
                self._follow(contents(cell), depth, "")
            return
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            value = contents(cell)
            if value is not MISSING:
                self.cells.append((cell, value, name))
                self._follow(value, depth - 1, name)
        for slot in ("__defaults__", "__kwdefaults__"):
            if getattr(f, slot):
                self.slots.append((f, slot, getattr(f, slot)))
        self.slots.append((f, "__code__", f.__code__))
        self._follow((f.__defaults__, f.__kwdefaults__), depth - 1, f.__name__)
        self.codes += codes_in(f.__code__)
        names = (loaded_in if f.__name__ in MAKING else names_in)(f.__code__)
        self.names |= names
        if f.__dict__ or f.__name__ in names.union(f.__code__.co_freevars):
            self._objects.append((f, depth))
            self.sizes.append((f.__dict__, len(f.__dict__), f.__name__))
        for name in imports_in(f.__code__):
            self._follow(imported(name, f.__globals__), depth - 1, name)
        for name in variables_in(f.__code__):
            value = f.__globals__.get(name, MISSING)
            if value is MISSING and hasattr(builtins, name):
                continue
            if not isinstance(value, (types.ModuleType, type)):
                self.items.append((f.__globals__, name, value))
            self._follow(value, depth - 1, name)

    def _attributes(self, x: Any, depth: int) -> None:
        """Watch the attributes of an object, a class or a module that the code names."""
        own = getattr(x, "__dict__", None)
        if own is not None:
            for name in self.names & own.keys():
                self._watch(x, own, name, depth)
        if isinstance(x, types.ModuleType):
            self._follow(x.__dict__.get("__getattr__"), depth - 1, x.__name__)
            return
        for c in classes_of(x):
            if is_fixed(c.__module__):
                continue
            self._implicit(c, isinstance(x, type), depth)
            for name in self.names & c.__dict__.keys():
                value = c.__dict__[name]
                if isinstance(value, SLOT) or hasattr(type(value), "__set__"):
                    self._described(x, name, value, depth)
                    if isinstance(value, SLOT):
                        continue
                if type(own) is dict and name not in own and (id(x), name) not in self._done:
                    self._done.add((id(x), name))
                    if not hasattr(type(value), "__get__"):
                        self.items.append((own, name, MISSING))
                self._watch(c, c.__dict__, name, depth)

    def _implicit(self, c: type, makes: bool, depth: int) -> None:
        """Follow the methods of a class that are called without being named."""
        for name in (OF_A_CLASS if makes else IMPLICIT) & c.__dict__.keys():
            method = getattr(c.__dict__[name], "__func__", c.__dict__[name])
            if isinstance(method, types.FunctionType):
                self._follow(method, depth - 1, name)
        for name in EQUAL & c.__dict__.keys():
            method = c.__dict__[name]
            if isinstance(method, types.FunctionType) and is_written(method):
                self._follow(method, depth - 1, name)

    def _described(self, x: Any, name: str, value: Any, depth: int) -> None:
        """Watch an attribute that a descriptor keeps somewhere: what it gives."""
        if (id(x), name) in self._done or isinstance(value, NO_STATE):
            return
        self._done.add((id(x), name))
        now = attribute(x, name)
        if not isinstance(value, SLOT) and (now is MISSING or attribute(x, name) is not now):
            return  # it is computed each time
        self.slots.append((x, name, now))
        self._follow(now, depth - 1, name)

    def _watch(self, x: Any, names: Any, name: str, depth: int) -> None:
        if (id(x), name) in self._done:
            return
        self._done.add((id(x), name))
        value = names[name]
        if not isinstance(value, (types.ModuleType, type)):
            self.items.append((names, name, value))
        if isinstance(value, property):
            self._follow(value.fget, depth - 1, name)
        elif isinstance(value, functools.cached_property):
            self._follow(value.func, depth - 1, name)
        else:
            self._follow(value, depth - 1, name)
