"""Functions that are seen to write into no array, so that what they read need not be copied.

A sweep reads arrays that the function has multiplied with, and comes after the function has
returned. So a large one is copied, since the function might write into it in the meantime: Python
does not tell of writes. Of many functions their source tells that they do not: they hand arrays,
numbers and results of theirs to operators and to functions of NumPy that only read, to methods
that only read, and to functions that are seen to do no more. All else counts as writing: to
assign to an entry or an attribute, `+=`, `out=`, a call of anything that is not known, an object
of another class.

A source is believed where its compilation gives the very code that the function has. What it
names, as `np` and `np.exp`, is looked up at every call, and has to be what it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from .reading import Reading, is_harmless
from .source import Unclear

__all__ = ["writes_nothing"]


def writes_nothing(f: Any, args: Sequence[Any], options: dict[str, Any]) -> bool:
    """Whether a call of f with these arguments is seen to write into no array that exists."""
    if type(f) is not FunctionType or np.geterrcall() is not None:  # which may write
        return False
    facts = facts_of(f.__code__, f)
    if facts is None or not facts.hold(f):
        return False
    for x in args:
        if (type(x) is not np.ndarray or x.dtype.hasobject) and not is_harmless(x):
            return False
    return not options or is_harmless(options)


_facts: dict[CodeType, Facts | None] = {}


def facts_of(code: CodeType, f: FunctionType) -> Facts | None:
    """What is read off the source of a function, once for its code; None where that is unclear."""
    if code not in _facts:
        if len(_facts) > 1000:  # of code that is made again and again
            _facts.clear()
        facts = Facts()
        try:
            facts.read(f)
        except Unclear:
            _facts[code] = None
        else:
            _facts[code] = facts
    return _facts[code]


class Facts:
    """What has to be as it was when the source of a function was read: then it writes nothing."""

    def __init__(self) -> None:
        #: attributes of modules: the module, the name, what it stood for
        self.attributes: list[tuple[Any, str, Any]] = []
        #: the function, as None, and those that it calls: their code, the names that stood for
        #: known objects, and those that stood for values; a free one as the number of its cell
        self.functions: list[tuple[Any, CodeType, list[tuple[Any, Any]], list[Any]]] = []

    def read(self, f: FunctionType) -> None:
        reading = Reading(f, {}, {})
        calls = [(None, f.__code__, reading), *reading.calls.values()]
        attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        for g, code, r in calls:
            attributes |= r.attributes
            place = {n: k for k, n in enumerate(code.co_freevars)}
            known = [(place.get(n, n), found) for n, found in r.known.items()]
            self.functions.append((g, code, known, [place.get(n, n) for n in r.values]))
        self.attributes += attributes.values()

    def hold(self, f: FunctionType) -> bool:
        for module, name, found in self.attributes:
            if getattr(module, name, None) is not found:
                return False
        for g, code, known, values in self.functions:
            g = f if g is None else g
            if g.__code__ is not code and g is not f:
                return False
            cells: Any = g.__closure__
            scope = g.__globals__
            try:
                for at, found in known:
                    x = cells[at].cell_contents if type(at) is int else scope.get(at, scope)
                    if (of_python(g, at) if x is scope else x) is not found:
                        return False
                for at in values:
                    x = cells[at].cell_contents if type(at) is int else scope.get(at, scope)
                    if (type(x) is not np.ndarray or x.dtype.hasobject) and not is_harmless(x):
                        return False
            except ValueError:  # a cell without content
                return False
            if not (is_harmless(g.__defaults__) and is_harmless(g.__kwdefaults__)):
                return False
        return True


def of_python(f: FunctionType, name: str) -> Any:
    """What a name stands for that is no global one."""
    return getattr(f, "__builtins__", {}).get(name)
