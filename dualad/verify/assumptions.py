"""The ways in which assumptions are told, as plain statements: "x > 0", "n integer"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import ArgumentError

__all__ = ["PROPERTIES", "statements"]

#: Words that may stand behind a name.
PROPERTIES = (
    *("real", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer"),
    *("even", "odd", "complex"),
)

#: What sets are called, and the word for their members.
SETS = {"R": "real", "reals": "real", "Z": "integer", "integers": "integer", "C": "complex",
        "complexes": "complex"}  # fmt: skip

#: What Python's types say.
TYPES = {int: "integer", float: "real", complex: "complex"}


def statements(assume: Any) -> tuple[str, ...]:
    """Assumptions of any form as statements about one fact each.

    Args:
        assume: a text with one or more statements; a SymPy relation; a dict from names to what
            holds of them (a word, a comparison such as "> 0", a pair of bounds, a SymPy set); or
            an iterable of texts and relations.

    >>> statements("x>0, n positive integer and 0 < p < 1")
    ('x>0', 'n positive', 'n integer', '0 < p < 1')
    >>> statements({"x": (0, 1), "n": "integer", "y": "> 2"})
    ('0 < x < 1', 'n integer', 'y > 2')
    >>> statements(["a, b > 0", "t in (0, pi)"])
    ('a > 0', 'b > 0', '0 < t < pi')
    """
    return tuple(dict.fromkeys(_told(assume)))


def _told(assume: Any) -> Iterator[str]:
    if isinstance(assume, str):
        yield from _in_text(assume)
    elif isinstance(assume, Mapping):
        for name, what in assume.items():
            yield from _of_name(str(name), what)
    elif hasattr(assume, "free_symbols"):
        yield from _of_sympy(assume)
    elif isinstance(assume, Iterable):
        for a in assume:
            yield from _told(a)
    elif assume is not None:
        raise ArgumentError(
            f"assume takes texts such as 'x > 0', SymPy relations or a dict of names, "
            f"not a {type(assume).__name__}"
        )


# --- text ----------------------------------------------------------------------------------------


def _in_text(text: str) -> Iterator[str]:
    waiting: list[str] = []
    for part in _parts(text):
        if re.fullmatch(r"\w+", part):  # the first of "x, y > 0"
            waiting.append(part)
            continue
        for name in waiting:
            yield from _one(re.sub(r"^\w+", name, part, count=1))
        waiting = []
        yield from _one(part)
    yield from waiting


def _parts(text: str) -> list[str]:
    """A text at its commas, semicolons and ands, save those between brackets."""
    out, depth = [""], 0
    for piece in re.split(r"([()\[\],;&]|\band\b)", text):
        depth += piece in ("(", "[")
        depth -= piece in (")", "]")
        if piece in (",", ";", "&", "and") and depth == 0:
            out.append("")
        else:
            out[-1] += piece
    return [p.strip() for p in out if p.strip()]


def _one(text: str) -> Iterator[str]:
    inside = re.fullmatch(r"(\w+)\s*(?:\bin\b|∈)\s*(.+)", text)
    if inside:
        yield from _member(inside[1], inside[2].strip(), text)
        return
    words = re.fullmatch(r"(\w+)\s*(?::|\bis\b|\s)\s*(?:an?\s+)?((?:\w+\s*)+)", text)
    if words and all(w in PROPERTIES for w in words[2].split()):
        for word in words[2].split():
            yield f"{words[1]} {word}"
        return
    yield text


def _member(name: str, where: str, text: str) -> Iterator[str]:
    if where in SETS:
        yield f"{name} {SETS[where]}"
        return
    pair = re.fullmatch(r"[\[(](.+),(.+)[\])]", where)
    if not pair:
        raise ArgumentError(
            f"the assumption {text!r} names no set: write x in (0, 1), or one of {', '.join(SETS)}"
        )
    yield from _between(name, pair[1].strip(), pair[2].strip())


def _between(name: str, low: Any, high: Any) -> Iterator[str]:
    bounds = [None if str(b).strip("+- ") in ("oo", "inf", "None") else b for b in (low, high)]
    left = "" if bounds[0] is None else f"{bounds[0]} < "
    right = "" if bounds[1] is None else f" < {bounds[1]}"
    yield f"{left}{name}{right}" if left or right else f"{name} real"


# --- dicts and SymPy -----------------------------------------------------------------------------


def _of_name(name: str, what: Any) -> Iterator[str]:
    if isinstance(what, str):
        for part in _parts(what):
            told = re.search(rf"\b{re.escape(name)}\b", part)
            yield from _one(part if told else f"{name} {part}")
    elif isinstance(what, Mapping):
        yield from (f"{name} {word}" for word, holds in what.items() if holds)
    elif isinstance(what, (tuple, list)) and len(what) == 2 and not isinstance(what[0], str):
        yield from _between(name, *what)
    elif isinstance(what, (tuple, list, set, frozenset)):
        for w in what:
            yield from _of_name(name, w)
    elif hasattr(what, "contains"):
        yield from _of_set(name, what)
    elif isinstance(what, type) and what in TYPES:
        yield f"{name} {TYPES[what]}"
    else:
        raise ArgumentError(f"the assumption {what!r} about {name} is not understood")


def _of_set(name: str, what: Any) -> Iterator[str]:
    import sympy

    words = {
        sympy.S.Integers: ("integer",), sympy.S.Reals: ("real",), sympy.S.Complexes: ("complex",),
        sympy.S.Naturals: ("integer", "positive"), sympy.S.Naturals0: ("integer", "nonnegative"),
    }  # fmt: skip
    if what in words:
        yield from (f"{name} {word}" for word in words[what])
    elif isinstance(what, sympy.Interval):
        yield from _between(name, what.start, what.end)
    else:
        raise ArgumentError(f"the set {what} for {name} is neither an interval nor a set of SymPy")


def _of_sympy(fact: Any) -> Iterator[str]:
    import sympy

    if isinstance(fact, sympy.And):
        for part in fact.args:
            yield from _of_sympy(part)
    elif isinstance(fact, sympy.Ne):
        yield f"{fact.lhs} != {fact.rhs}"
    elif isinstance(fact, sympy.core.relational.Relational):
        yield str(fact)
    elif hasattr(fact, "function") and hasattr(fact, "arguments"):  # Q.positive(x)
        yield f"{fact.arguments[0]} {fact.function.name}"
    else:
        raise ArgumentError(f"the assumption {fact} is no relation")
