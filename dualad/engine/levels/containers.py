"""Containers made anew from other entries, with the attributes that they have beside these.

What the constructor of a class, or `__post_init__`, computes from the entries has to be computed
again, for it moves with them. What it did not compute, because somebody has set it since, stays as
it is.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .traced import TracedArray

__all__ = ["fields_of", "new_dataclass", "new_mapping", "new_sequence", "set_since"]

ATOMS = (bool, int, float, complex, str, bytes, np.generic)
VALUES = (*ATOMS, np.ndarray, TracedArray)
MISSING = object()


def fields_of(x: Any, whole: bool) -> list[str]:
    """The fields that a dataclass is made of; whole: also those that it has set by itself."""
    from dataclasses import fields

    return [f.name for f in fields(x) if f.init or (whole and hasattr(x, f.name))]


def new_dataclass(example: Any, parts: dict[str, Any]) -> Any:
    """The same dataclass with other values of its fields."""
    from dataclasses import fields, replace

    held = [f.name for f in fields(example) if not f.init and f.name in parts]
    others = {n: parts.pop(n) for n in held}
    new = replace(example, **parts)
    for name, value in others.items():
        object.__setattr__(new, name, value)
    return new


def new_sequence(kind: type, parts: Sequence[Any]) -> Any:
    """A list, tuple or named tuple of these entries."""
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def new_mapping(example: Any, items: Iterable[tuple[Any, Any]]) -> Any:
    """A mapping of the kind of an example with these entries."""
    kind: Any = type(example)
    if kind is dict:
        return dict(items)
    new: Any = None
    if not isinstance(example, defaultdict):
        items = dict(items)
        with suppress(Exception):
            new = kind(items)
        items = items.items()
    if type(new) is not kind:  # it cannot be made of its entries alone
        new = example.copy()
    new.clear()
    put = OrderedDict.__setitem__ if isinstance(new, OrderedDict) else dict.__setitem__
    for key, value in items:
        put(new, key, value)
    return new


def set_since(x: Any, kind: str, known: Sequence[str]) -> dict[str, Any]:
    """Numbers, texts and arrays in attributes that are not what making the container sets.

    What it leaves out, or sets to None, is computed when it is first wanted: it will be again.

    Args:
        x: a container.
        kind: "dataclass", "mapping" or "sequence".
        known: of a dataclass the fields that are among its entries.
    """
    own = getattr(x, "__dict__", ())
    names = {*own}
    if kind == "dataclass":
        from dataclasses import fields

        if len(own or fields(x)) == len(known):  # as most are
            return {}
        names.update(f.name for f in fields(x) if not f.init)
        names.difference_update(known)
    elif own is x:  # its entries are its attributes
        return {}
    held = {n: getattr(x, n, None) for n in sorted(names)}
    held = {n: v for n, v in held.items() if isinstance(v, VALUES)}
    made: dict[str, Any] = {}
    if held:
        with suppress(Exception), np.errstate(all="ignore"):
            fresh = same(x, kind)
            made = {n: getattr(fresh, n, MISSING) for n in held}
    waits = any(v is None or v is MISSING for v in made.values())
    return {
        n: v
        for n, v in held.items()
        if n in made and is_another(made[n], v) and not (waits and type(v) is bool)
    }


def same(x: Any, kind: str) -> Any:
    """The container once more."""
    if kind == "mapping":
        return new_mapping(x, x.items())
    return new_sequence(type(x), [*x]) if kind == "sequence" else new_dataclass(x, {})


def is_another(made: Any, now: Any) -> bool:
    """Whether a value is not the one that was made; of other kinds nobody can tell.

    What is derived from traced fields is traced, and nothing else is.
    """
    if not isinstance(made, VALUES):
        return False
    if isinstance(made, TracedArray) or isinstance(now, TracedArray):
        return not (isinstance(made, TracedArray) and isinstance(now, TracedArray))
    if isinstance(made, np.ndarray) and isinstance(now, np.ndarray):
        of_numbers = now.dtype.kind in "fc"
        return made.dtype != now.dtype or not np.array_equal(made, now, equal_nan=of_numbers)
    return type(made) is not type(now) or repr(made) != repr(now)
