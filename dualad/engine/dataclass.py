"""Dataclasses made anew from other fields, with what they hold beside these.

What `__post_init__` computes from the fields has to be computed again, for it moves with them.
What it did not compute, because somebody has set it since, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .bits import same_bits
from .traced import TracedArray

__all__ = ["fields_of", "remade", "set_since"]

ATOMS = (bool, int, float, complex, str, bytes, np.generic)
VALUES = (*ATOMS, np.ndarray, TracedArray)
MISSING = object()


def fields_of(x: Any, whole: bool) -> list[str]:
    """The fields that a dataclass is made of; whole: also those that it has set by itself."""
    from dataclasses import fields

    return [f.name for f in fields(x) if f.init or (whole and hasattr(x, f.name))]


def remade(example: Any, parts: dict[str, Any], since: dict[str, Any]) -> Any:
    """The same dataclass with other values of its fields, and what was set since."""
    from dataclasses import fields, replace

    held = [f.name for f in fields(example) if not f.init and f.name in parts]
    others = {n: parts.pop(n) for n in held}
    new = replace(example, **parts)
    for name, value in (others | since).items():
        object.__setattr__(new, name, value)
    return new


def set_since(x: Any, known: Sequence[str]) -> dict[str, Any]:
    """Numbers, texts and arrays beside the known fields that are not what `__post_init__` sets.

    What it leaves out, or sets to None, is computed when it is first wanted: it will be again.
    """
    from dataclasses import fields, replace

    own = getattr(x, "__dict__", ())
    if len(own or fields(x)) == len(known):  # as most are
        return {}
    names = {*own, *(f.name for f in fields(x) if not f.init)}
    held = {n: getattr(x, n, None) for n in sorted(names.difference(known))}
    held = {n: v for n, v in held.items() if isinstance(v, VALUES)}
    if not held:
        return {}
    with suppress(Exception), np.errstate(all="ignore"):
        fresh = replace(x)
        made = {n: getattr(fresh, n, MISSING) for n in held}
        waits = any(v is None or v is MISSING for v in made.values())
        return {
            n: v
            for n, v in held.items()
            if is_another(made[n], v) and not (waits and type(v) is bool)
        }
    return {}


def is_another(made: Any, now: Any) -> bool:
    """Whether a value is not the one that was made; of other kinds nobody can tell.

    What is derived from traced fields is traced, and nothing else is.
    """
    if not isinstance(made, VALUES):
        return False
    if isinstance(made, TracedArray) or isinstance(now, TracedArray):
        return not (isinstance(made, TracedArray) and isinstance(now, TracedArray))
    if isinstance(made, np.ndarray) and isinstance(now, np.ndarray):
        return not same_bits(made, now)
    return type(made) is not type(now) or repr(made) != repr(now)
