"""What of the arguments a program depends on: structure, dtypes, shapes, layout, and statics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.traced import TracedArray
from ..engine.tree import flatten

__all__ = ["Call", "by_name_and_position", "matcher", "signature"]

F64 = np.dtype(np.float64)
NUMBERS = (float, np.float64)


class Call:
    """The arguments of a call: a key, the values that vary, and how to put them together again."""

    __slots__ = ("has_traced", "key", "others", "rebuild", "values")

    def __init__(
        self, key: Any, values: list, rebuild: Callable, has_traced: bool = False,
        others: Sequence[Any] = (),
    ):  # fmt: skip
        #: None for arguments that are no values, which nothing can be remembered of
        self.key, self.values, self.rebuild = key, values, rebuild
        #: a transformation tracks one of the arguments
        self.has_traced = has_traced
        #: the objects among the arguments, which are remembered as they are
        self.others = others


def matcher(args: tuple) -> Callable[[tuple], tuple | None] | None:
    """A function that gives the values of arguments of the same kinds as these, None for others.

    It is written for the kinds, because every call asks it. There is none but for plain arguments.
    """
    lines, given = [], []
    for k, a in enumerate(args):
        t = type(a)
        if t is np.ndarray and a.dtype is F64 and a.flags.c_contiguous:
            test = f"type(a{k}) is not ndarray or a{k}.shape != {a.shape}"
            test += f" or a{k}.dtype is not F64"
            lines.append(test if a.ndim == 0 else f"{test} or not a{k}.flags.c_contiguous")
            given.append(f"a{k}")
        elif t is float or t is np.float64:
            lines.append(f"type(a{k}) is not {t.__name__}")
            given.append(f"float64(a{k})" if t is float else f"a{k}")
        else:
            return None
    names = "".join(f"a{k}, " for k in range(len(args)))
    text = f"def match(args):\n    if len(args) != {len(args)}: return None\n"
    text += f"    ({names}) = args\n" if args else ""
    text += "".join(f"    if {test}: return None\n" for test in lines)
    scope: dict[str, Any] = {"ndarray": np.ndarray, "F64": F64, "float64": np.float64}
    exec(f"{text}    return ({''.join(f'{g}, ' for g in given)})", scope)
    return scope["match"]


def _plain_arguments(values: list) -> tuple[tuple, dict]:
    return tuple(values), {}


def signature(args: tuple, kwargs: dict, static: frozenset = frozenset()) -> Call:
    """Take the arguments of a call apart."""
    if kwargs or static:
        return _general(args, kwargs, static)
    key: list[Any] = []
    values: list[Any] = []
    for a in args:
        t = type(a)
        if t is np.ndarray and a.dtype is F64 and a.flags.c_contiguous:
            key.append(a.shape)
            values.append(a)
        elif t is float:
            key.append(float)
            values.append(np.float64(a))
        elif t is np.float64:
            key.append(t)
            values.append(a)
        else:
            return _general(args, kwargs, static)
    return Call(tuple(key), values, _plain_arguments)


def _general(args: tuple, kwargs: dict, static: frozenset) -> Call:
    moving = [None if k in static else a for k, a in enumerate(args)]
    named = {k: None if k in static else kwargs[k] for k in sorted(kwargs)}
    fixed = [(k, a) for k, a in enumerate(args) if k in static]
    fixed += [(k, a) for k, a in kwargs.items() if k in static]
    leaves, tree = flatten((moving, named))
    key: list[Any] = [tree.describe(), *((k, _exact(a)) for k, a in fixed)]
    values: list[Any] = []
    places: list[int] = []
    others: list[Any] = [a for _, a in fixed]
    traced = False
    for n, x in enumerate(leaves):
        traced = traced or isinstance(x, TracedArray) or hasattr(x, "__dualad_face__")
        part, value = _leaf(x)
        key.append(part)
        if value is not None:
            places.append(n)
            values.append(value)
        else:
            others.append(x)

    def rebuild(new: list) -> tuple[tuple, dict]:
        filled = list(leaves)
        for n, v in zip(places, new, strict=True):
            filled[n] = v
        given, keywords = tree.unflatten(filled)
        for k, a in fixed:
            if isinstance(k, int):
                given[k] = a
            else:
                keywords[k] = a
        return tuple(given), keywords

    final: Any = tuple(key)
    try:
        hash(final)
    except TypeError:
        final = None
    return Call(final, values, rebuild, traced, others)


def _leaf(x: Any) -> tuple[Any, Any]:
    """The part of the key, and the value where it may vary."""
    t = type(x)
    if isinstance(x, TracedArray):
        return ("traced", x.shape, str(x.dtype)), x
    if t is np.ndarray and x.dtype.kind in "fciub" and x.dtype.isnative:
        flags = x.flags
        lies = "C" if flags.c_contiguous else "F" if flags.f_contiguous else x.strides
        return (x.shape, x.dtype.str, lies), x
    if t is float:
        return float, np.float64(x)
    if t is complex:
        return complex, np.complex128(x)
    if isinstance(x, np.generic) and x.dtype.kind in "fciub":
        return (t, x.dtype.str), x
    if isinstance(x, np.ndarray):
        return (t, [x]), None  # no key: a subclass, or objects, which run as they are
    return _exact(x), None


def _exact(x: Any) -> Any:
    """A key for an object that tells numbers of different types, and zeros by sign, apart."""
    if isinstance(x, (tuple, frozenset)):
        return (type(x), type(x)(map(_exact, x)) if type(x) in (tuple, frozenset) else x)
    if type(x) in (float, complex):
        return (type(x), repr(x))
    return (type(x), x)


def by_name_and_position(function: Callable, static: frozenset[int | str]) -> frozenset:
    """Static arguments both by position and by name, as they may be given either way."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return static
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in by_position]
    found: set[int | str] = set(static)
    for k in static:
        if isinstance(k, int) and -len(names) <= k < len(names):
            found |= {k % len(names), names[k]}
        elif k in names:
            found.add(names.index(str(k)))
    return frozenset(found)
