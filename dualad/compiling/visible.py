"""Whether functions can be seen to depend on their arguments and on what is noticed to change.

A program holds what a function read when it was traced. Where nobody asked for one, it may only be
made of functions all of whose code lies open: plain functions that read numbers, text, tuples of
them and arrays, and that call others like them or those of libraries without a state. In doubt the
answer is no, and the function runs as it is.
"""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .belonging import ROOT
from .captured import Captured
from .following import PARTS

__all__ = ["Visible"]

#: Modules without a state of their own; of numpy, random is looked for by its name.
LIBRARIES = (ROOT, "numpy", "scipy", "math", "cmath", "operator", "itertools", "functools")
#: What reads a state that is not named there, or looks at the kind of its arguments: traces have
#: another.
HIDDEN = {
    "__class__", "__dict__", "__globals__", "__import__", "delattr", "eval", "exec", "getattr",
    "globals", "hasattr", "id", "input", "isinstance", "iter", "locals", "next", "open", "random",
    "setattr", "type", "vars",
}  # fmt: skip
#: Code that goes on after an error, as traces raise some that numbers do not; patterns of kinds.
KINDS = {"CHECK_EXC_MATCH", "MATCH_CLASS"}
#: Arrays are compared with what they were; so many bytes at most, to cost less than they save.
BYTES = 2**16


class Visible:
    """What functions read, where it can be seen; `why` says where it cannot."""

    def __init__(self, *functions: Callable[..., Any]):
        self.why: str | None = None
        self.arrays: dict[int, tuple[np.ndarray, Any]] = {}
        self._seen: set[int] = set()
        for f in functions:
            self._function(f)
        self._captured = Captured(*functions)
        if self.why is None and self._captured.too_deep:
            self.why = "functions call functions too deep"
        if sum(a.nbytes for a, _ in self.arrays.values()) > BYTES:
            self.why = "it reads large arrays"

    def unchanged(self) -> bool:
        """Whether all variables and arrays hold what they held."""
        if self._captured.changed() is not None:
            return False
        return all(_content(a) == before for a, before in self.arrays.values())

    def _function(self, f: Any) -> None:
        if self.why is not None or id(f) in self._seen:
            return
        self._seen.add(id(f))
        if isinstance(f, types.FunctionType):
            self._plain(f)
        elif _of_a_library(f):
            return
        elif type(f).__module__.partition(".")[0] == ROOT:
            parts = [getattr(f, "__dict__", {}).get(part) for part in PARTS]
            followed = [part for part in parts if callable(part)]
            for part in followed:
                self._function(part)
            if not followed:
                self._hidden(f)
        else:
            self._hidden(f)

    def _plain(self, f: types.FunctionType) -> None:
        home = str(f.__globals__.get("__name__", "")).partition(".")[0]
        if home != (f.__module__ or "").partition(".")[0] or set(f.__dict__) - {"__wrapped__"}:
            return self._hidden(f)
        if home in LIBRARIES:
            for value in _cells(f):
                if callable(value):
                    self._function(value)
            return None
        for code in _codes(f.__code__):
            if HIDDEN.intersection(code.co_names) or not _shows_all(code):
                return self._hidden(f)
        for value in _cells(f):
            self._value(value)
        for value in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self._value(value, nested=True)
        for name in {n for code in _codes(f.__code__) for n in code.co_names}:
            if name in f.__globals__:
                self._value(f.__globals__[name])
            elif hasattr(builtins, name):
                self._value(getattr(builtins, name))
        return None

    def _value(self, x: Any, nested: bool = False) -> None:
        if x is None or x is Ellipsis or isinstance(x, (bool, range)) or type(x) in SCALARS:
            return
        if isinstance(x, np.generic) and not isinstance(x, np.void):
            return
        if type(x) in (tuple, frozenset):
            for part in x:
                self._value(part, nested=True)
        elif type(x) is np.ndarray and not x.dtype.hasobject:
            self.arrays[id(x)] = (x, _content(x))
        elif isinstance(x, types.ModuleType):
            if x.__name__.partition(".")[0] not in LIBRARIES:
                self._hidden(x)
        elif callable(x) and not (nested and not _of_a_library(x)):
            # Inside of a tuple or as a default nobody sees which variables it captures.
            self._function(x)
        else:
            self._hidden(x)

    def _hidden(self, x: Any) -> None:
        if self.why is None:
            self.why = f"what {getattr(x, '__name__', None) or type(x).__name__} holds may change"


SCALARS = {int, float, complex, str, bytes}


def _cells(f: types.FunctionType) -> Iterator[Any]:
    for cell in f.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code, and that of the functions inside of it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _codes(part)


def _shows_all(code: types.CodeType) -> bool:
    """Whether the code imports nothing but libraries, and does not catch errors."""
    for i in dis.get_instructions(code):
        if i.opname in KINDS:
            return False
        if i.opname == "IMPORT_NAME" and str(i.argval).partition(".")[0] not in LIBRARIES:
            return False
    return True


def _of_a_library(f: Any) -> bool:
    """Whether this is a ufunc, a function or a class of a library, and no method of an object."""
    if isinstance(f, np.ufunc):
        return True
    kinds = (types.BuiltinFunctionType, type)
    if not isinstance(f, kinds) and type(f).__name__ != "_ArrayFunctionDispatcher":
        return False
    owner = getattr(f, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return False
    home = (getattr(f, "__module__", None) or "").partition(".")[0].lstrip("_")
    return home in LIBRARIES or home == "builtins"


def _content(a: np.ndarray) -> Any:
    return (a.shape, a.tobytes()) if a.nbytes <= BYTES else None
