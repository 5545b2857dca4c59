"""What a function reads beside its arguments: a program holds it as it was when it was traced.

Variables of closures and modules, and attributes of `self`, are compared by identity at each call.
What is written in place into an array is read anew, where operations take the array as a whole;
random draws and prints are found out while tracing. What lies deeper (an entry that was taken out
of an array as a number, a dict that changes, a file, the time) is not.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

__all__ = ["Captured", "Impurity"]

#: How deep functions that call functions are followed.
DEPTH = 4
ROOT = __name__.partition(".")[0]
#: Where objects that are made of functions keep them.
PARTS = ("f", "func", "function", "fun", "__wrapped__", "fn", "_rule")


class Captured:
    """The variables that a function captures, each with the value it had."""

    def __init__(self, *functions: Callable[..., Any]):
        self.cells: list[tuple[Any, Any, str]] = []
        self.items: list[tuple[dict, str, Any]] = []
        self.defaults: list[Any] = []
        #: a function was not followed: it lies too deep, or is of no known kind
        self.too_deep = False
        self._seen: set[int] = set()
        for f in functions:
            self._follow(f, DEPTH)

    def changed(self) -> str | None:
        """The name of a variable that has another value now; None if there is none."""
        for cell, value, name in self.cells:
            try:
                now = cell.cell_contents
            except ValueError:
                return name
            if now is not value and not _equal(now, value):
                return name
        for names, name, value in self.items:
            now = names.get(name, _MISSING)
            if now is not value and not _equal(now, value):
                return name
        return None

    def values(self) -> Iterator[Any]:
        """What was captured."""
        yield from (v for _, v, _ in self.cells)
        yield from (v for _, _, v in self.items)
        yield from self.defaults

    def _follow(self, f: Any, depth: int) -> None:
        if id(f) in self._seen or isinstance(f, (np.ufunc, types.ModuleType)):
            return
        if depth == 0 or isinstance(f, type):
            self.too_deep = self.too_deep or not is_librarys(f)
            return
        self._seen.add(id(f))
        if isinstance(f, types.MethodType):
            self._attributes(f, depth)
            f = f.__func__
        if isinstance(f, types.FunctionType):
            if (f.__module__ or "").partition(".")[0] not in (ROOT, "numpy", "scipy"):
                self._function(f, depth)
            for cell in f.__closure__ or ():
                self._follow_cell(cell, depth)
            return
        inner = [getattr(f, "__dict__", {}).get(part) for part in PARTS]
        followed = [part for part in inner if callable(part)]
        for part in followed:
            self._follow(part, depth)
        if not followed and not is_librarys(f):
            self.too_deep = True

    def _follow_cell(self, cell: Any, depth: int) -> None:
        try:
            value = cell.cell_contents
        except ValueError:
            return
        if callable(value):
            self._follow(value, depth - 1)

    def _function(self, f: types.FunctionType, depth: int) -> None:
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if not isinstance(value, types.ModuleType):
                self.cells.append((cell, value, name))
        self.defaults += [*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
        for name in _names(f.__code__):
            value = f.__globals__.get(name, _MISSING)
            if value is _MISSING or isinstance(value, (types.ModuleType, type)):
                continue
            self.items.append((f.__globals__, name, value))
            if callable(value):
                self._follow(value, depth - 1)

    def _attributes(self, method: types.MethodType, depth: int) -> None:
        own = getattr(method.__self__, "__dict__", None)
        if isinstance(own, dict):
            for name in _names(method.__func__.__code__):
                if name in own:
                    self.items.append((own, name, own[name]))


_MISSING = object()
LIBRARIES = (ROOT, "numpy", "scipy", "math", "builtins", "functools", "operator", "itertools")


def is_librarys(f: Any) -> bool:
    """Whether a function or class comes from a library that keeps no state for its callers."""
    module = getattr(f, "__module__", None) or "builtins"
    return module.partition(".")[0].lstrip("_") in LIBRARIES


def _names(code: types.CodeType) -> set[str]:
    """The names that code looks up, also in the functions inside of it."""
    found = set(code.co_names)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            found |= _names(c)
    return found


def _equal(a: Any, b: Any) -> bool:
    """Whether two values that are not the same object are the same number or text."""
    return type(a) is type(b) and isinstance(a, (int, float, complex, str, np.generic)) and a == b


class Impurity:
    """Finds out whether a function draws random numbers or prints while it runs."""

    def __init__(self, values: Iterable[Any]):
        self._generators = [v for v in values if isinstance(v, np.random.Generator)]
        self.found: str | None = None

    def __enter__(self) -> Impurity:
        self._before = self._states()
        self._out, self._spy = sys.stdout, _Spy(sys.stdout)
        sys.stdout = self._spy
        return self

    def __exit__(self, *exc: object) -> None:
        if sys.stdout is self._spy:
            sys.stdout = self._out
        if self._states() != self._before:
            self.found = "it draws random numbers (pass them as an argument)"
        elif self._spy.used:
            self.found = "it prints"

    def _states(self) -> list[Any]:
        states: list[Any] = [str(g.bit_generator.state) for g in self._generators]
        legacy: Any = np.random.get_state(legacy=False)  # noqa: NPY002 (it is what is watched)
        states.append((legacy["state"]["pos"], legacy["state"]["key"].tobytes()))
        if "random" in sys.modules:
            states.append(sys.modules["random"].getstate())
        return states


class _Spy:
    """Standard output that remembers whether it was written to."""

    def __init__(self, out: Any):
        self._out, self.used = out, False

    def write(self, text: str) -> int:
        self.used = True
        return self._out.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)
