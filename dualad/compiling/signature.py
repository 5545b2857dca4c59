"""What of the arguments a program depends on: structure, dtypes, shapes, layout, and statics."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.arrays.memory import F64
from ..engine.levels.traced import TracedArray
from ..engine.levels.tree import LEAF_TREE, Tree, flatten
from ..errors import ArgumentError

__all__ = [
    "Call", "by_name_and_position", "matcher", "moving", "python_numbers", "signature",
]  # fmt: skip

NUMBERS = (float, np.float64)


class Call:
    """The arguments of a call: a key, the values that vary, and how to put them together again."""

    __slots__ = ("has_traced", "key", "others", "places", "rebuild", "values")

    def __init__(
        self, key: Any, values: list, rebuild: Callable, has_traced: bool = False,
        others: Sequence[Any] = (), places: Sequence[int] | None = None,
    ):  # fmt: skip
        #: None for arguments that are no values, which nothing can be remembered of
        self.key, self.values, self.rebuild = key, values, rebuild
        #: a transformation tracks one of the arguments
        self.has_traced = has_traced
        #: the objects among the arguments, which are remembered as they are
        self.others = others
        #: which of all leaves the values are
        self.places = range(len(values)) if places is None else places


def matcher(
    args: tuple, numbers: frozenset[int] = frozenset()
) -> Callable[[tuple], tuple | None] | None:
    """A function that gives the values of arguments of the same kinds as these, None for others.

    It is written for the kinds, because every call asks it. There is none but for numbers, arrays
    of the common kinds, static values, and tuples, lists and dicts of those. The numbers are
    whole ones that vary, by position.
    """
    if numbers and any(isinstance(a, (tuple, list, dict)) for a in args):
        return None
    writer = _Matcher(numbers)
    if not writer.sequence("args", args, tuple) or not writer.different():
        return None
    lines = ["def match(args):", *writer.lines, f"    return ({''.join(writer.given)})"]
    exec("\n".join(lines), writer.scope)
    return writer.scope["match"]


class _Matcher:
    """Writes the tests of arguments, and names their values in the order of `flatten`."""

    def __init__(self, numbers: frozenset[int]) -> None:
        self.lines: list[str] = []
        self.given: list[str] = []
        self.scope: dict[str, Any] = {
            "ndarray": np.ndarray, "float64": np.float64, "F64": F64, "int64": np.int64,
        }  # fmt: skip
        self._varying = {f"a{k + 1}" for k in numbers}
        self._count = 0
        #: the arrays by shape and dtype, each with its name
        self._arrays: dict[Any, list[tuple[str, np.ndarray]]] = {}

    def _new(self, x: Any = None) -> str:
        self._count += 1
        name = f"a{self._count}"
        if x is not None:
            self.scope[name] = x
        return name

    def _unless(self, *tests: str) -> None:
        self.lines.append(f"    if not ({' and '.join(tests)}): return None")

    def sequence(self, name: str, x: Any, kind: type) -> bool:
        """Tests for a tuple or list of a name."""
        self._unless(f"type({name}) is {kind.__name__}", f"len({name}) == {len(x)}")
        parts = [self._new() for _ in x]
        if parts:
            self.lines.append(f"    {', '.join(parts)}, = {name}")
        found = [self.value(p, v) for p, v in zip(parts, x, strict=True)]
        return all(found)

    def different(self) -> bool:
        """Tests that no array is given twice; False where one is."""
        for alike in self._arrays.values():
            names = [name for name, _ in alike]
            if len({id(a) for _, a in alike}) < len(names):
                return False
            if len(names) == 2:
                self._unless(f"{names[0]} is not {names[1]}")
            elif len(names) > 2:
                each = ", ".join(f"id({name})" for name in names)
                self._unless(f"len({{{each}}}) == {len(names)}")
        return True

    def value(self, name: str, x: Any) -> bool:
        """Tests for any value; False where it is of no common kind."""
        t = type(x)
        if t is np.ndarray and x.dtype.kind in "fciub" and x.flags.c_contiguous:
            dtype = "F64" if x.dtype is F64 else self._new(x.dtype)
            same = "is" if x.dtype is F64 else "=="
            tests = [f"type({name}) is ndarray", f"{name}.shape == {x.shape}"]
            tests.append(f"{name}.dtype {same} {dtype}")
            self._unless(*tests, *([f"{name}.flags.c_contiguous"] if x.ndim else []))
            self._arrays.setdefault((x.shape, x.dtype), []).append((name, x))
            self.given.append(f"{name}, ")
        elif t is float or t is np.float64:
            self._unless(f"type({name}) is {t.__name__}")
            self.given.append(f"float64({name}), " if t is float else f"{name}, ")
        elif t is int and name in self._varying:
            self._unless(f"type({name}) is int", f"-{MOST} < {name} < {MOST}")
            self.given.append(f"int64({name}), ")
        elif t in (int, bool, str):
            self._unless(f"type({name}) is {t.__name__}", f"{name} == {x!r}")
        elif x is None:
            self._unless(f"{name} is None")
        elif t in (tuple, list):
            return self.sequence(name, x, t)
        elif t is dict and all(type(k) is str for k in x):
            keys = self._new(tuple(x))
            self._unless(f"type({name}) is dict", f"tuple({name}) == {keys}")
            parts = [self._new() for _ in x]
            if parts:
                self.lines.append(f"    {', '.join(parts)}, = {name}.values()")
            found = [self.value(p, v) for p, v in zip(parts, x.values(), strict=True)]
            return all(found)
        else:
            return False
        return True


def _plain_arguments(values: list) -> tuple[tuple, dict]:
    return tuple(values), {}


def signature(
    args: tuple,
    kwargs: dict,
    static: frozenset = frozenset(),
    numbers: frozenset[int] = frozenset(),
) -> Call:
    """Take the arguments of a call apart; numbers: leaves that vary though they are whole."""
    if kwargs or static or numbers:
        return _general(args, kwargs, static, numbers)
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
            return _general(args, kwargs, static, numbers)
    if len(values) > 1:
        key += _given_twice(values)
    return Call(tuple(key), values, _plain_arguments)


def _given_twice(values: list) -> list[Any]:
    """Which arrays are given at more than one place: a function may ask whether x is y."""
    arrays = [id(v) for v in values if type(v) is np.ndarray]
    if len(arrays) < 2 or len(set(arrays)) == len(arrays):
        return []
    return [("twice", tuple(map(arrays.index, arrays)))]


def moving(args: tuple, kwargs: dict, static: frozenset) -> tuple[list, dict]:
    """The arguments, with None for those that are named as static."""
    named = {k: None if k in static else kwargs[k] for k in sorted(kwargs)}
    return [None if k in static else a for k, a in enumerate(args)], named


def _general(args: tuple, kwargs: dict, static: frozenset, numbers: frozenset[int]) -> Call:
    fixed = [(k, a) for k, a in enumerate(args) if k in static]
    fixed += [(k, a) for k, a in kwargs.items() if k in static]
    leaves, tree = flatten(moving(args, kwargs, static), whole=True)
    others: list[Any] = [a for _, a in fixed]
    key: list[Any] = [_form(tree, others), *((k, _exact(a)) for k, a in fixed)]
    if len(kwargs) > 1:
        key.append(tuple(kwargs))  # a function sees in which order they are given
    values: list[Any] = []
    places: list[int] = []
    traced = False
    for n, x in enumerate(leaves):
        traced = traced or isinstance(x, TracedArray) or hasattr(x, "__dualad_face__")
        part, value = _leaf(x, n in numbers)
        key.append(part)
        if value is not None:
            places.append(n)
            values.append(value)
        else:
            others.append(x)

    if len(values) > 1:
        key += _given_twice(values)

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
        return tuple(given), {k: keywords[k] for k in kwargs}

    final: Any = tuple(key)
    try:
        hash(final)
    except TypeError:
        final = None
    return Call(final, values, rebuild, traced, others, places)


def _form(tree: Tree, classes: list[Any]) -> Any:
    """A key for a structure; what classes of containers there are beside Python's own."""
    if tree is LEAF_TREE or tree.node is None:
        return None if tree.node is None else "*"
    kind, example = tree.node
    own = example if kind == "sequence" else type(example)
    if own not in PLAIN and own not in classes:
        classes.append(own)
    children = tuple([_form(c, classes) for c in tree.children])
    if tree.since:
        children += tuple([(name, _content(x)) for name, x in tree.since.items()])
    return own, tuple(map(_exact, tree.keys)), children


def _content(x: Any) -> Any:
    """A key for an attribute of a dataclass that is no field."""
    return (x.shape, x.dtype.str, x.tobytes()) if isinstance(x, np.ndarray) else _exact(x)


#: The containers of Python itself, of which no code reads an attribute.
PLAIN = (tuple, list, dict)


def python_numbers(
    args: tuple, kwargs: dict, static: frozenset, places: Sequence[int]
) -> list[type | None]:
    """For each value of a call the type that it has in Python; None for those of NumPy."""
    leaves = flatten(moving(args, kwargs, static), whole=True)[0]
    return [type(leaves[n]) if type(leaves[n]) in (int, float, complex) else None for n in places]


#: Whole numbers from here on decide the program: what is computed of them might need more bits.
MOST = 2**31


def _leaf(x: Any, varies: bool = False) -> tuple[Any, Any]:
    """The part of the key, and the value where it may vary."""
    t = type(x)
    if varies and t is int and -MOST < x < MOST:
        return int, np.int64(x)
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
        elif not any(_takes(p, k) for p in parameters):
            where = "at position" if isinstance(k, int) else "of the name"
            raise ArgumentError(f"static: the function has no argument {where} {k!r}")
    return frozenset(found)


def _takes(parameter: inspect.Parameter, k: int | str) -> bool:
    """Whether an argument by position, or by a name, may be that of a parameter."""
    if isinstance(k, int):
        return parameter.kind is parameter.VAR_POSITIONAL
    return parameter.kind is parameter.VAR_KEYWORD or (
        parameter.name == k and parameter.kind is parameter.KEYWORD_ONLY
    )
