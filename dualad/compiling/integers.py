"""Whole numbers among the arguments: they decide the program, until they are found to vary.

Each value has programs of its own, as a number of turns, a size or an axis wants it. An argument
that had more values than there may be paths is from then on a value like a float; where the
function decides by it all the same, further values run without a program.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import Any

from ..engine.levels.tree import flatten
from ..engine.staging.operations import Guard, Variable
from .loop import variables_of
from .program import Program
from .signature import Call, moving

__all__ = ["Integers", "deciding"]

#: Questions whose answers are whole numbers, so that a program would serve one of them alone.
EXACT = ("int", "index", "value", "float", "complex")


class Integers:
    """Which whole numbers among the arguments of a function vary, by the number of the leaf."""

    def __init__(self, most: int):
        self.most = most
        #: leaves that are values
        self.varying: frozenset[int] = frozenset()
        #: leaves that had too many values, and decide the program
        self.deciding: set[int] = set()
        self._seen: dict[int, set[int]] = {}
        self._lock = threading.Lock()

    def count(self, args: tuple, kwargs: dict, static: frozenset) -> int | None:
        """Count the values of a new kind of call; the leaf that has had too many by now."""
        with self._lock:
            for n, x in enumerate(flatten(moving(args, kwargs, static), whole=True)[0]):
                if type(x) is not int or n in self.varying:
                    continue
                seen = self._seen.setdefault(n, set())
                if len(seen) <= self.most:
                    seen.add(x)
                if len(seen) > self.most:
                    return n
        return None

    def vary(self, leaf: int) -> None:
        """From now on a leaf is a value."""
        with self._lock:
            self.varying |= {leaf}

    def decide(self, leaves: set[int]) -> None:
        """Leaves are no values after all, and have no further programs."""
        with self._lock:
            self.varying -= leaves
            self.deciding |= leaves

    def why(self, leaf: int, function: Callable[..., Any], args: tuple, kwargs: dict) -> str:
        """What is said where a function runs without a program because of a leaf."""
        name = _argument(leaf, function, args, kwargs)
        return (
            f"the whole number {name} decides it, and had more than {self.most} values. Where it "
            f"is only computed with, pass it as a float; else compile a function for each "
            f"(functools.partial), or raise max_paths"
        )


def deciding(program: Program, call: Call, varying: frozenset[int]) -> set[int]:
    """The leaves among those that vary of which a program serves one value alone."""
    source: dict[Variable, set[int]] = {
        v: {n} for v, n in zip(program.inputs, call.places, strict=True) if n in varying
    }
    found: set[int] = set()
    for s in program.steps if source else ():
        leaves = set().union(*[source.get(v, set()) for v in variables_of(s)])
        if isinstance(s, Guard):
            if s.question in EXACT:
                found |= leaves
        elif leaves:
            source.update({r: leaves for r in s.results if r.shape == ()})
    return found


def _argument(leaf: int, function: Callable[..., Any], args: tuple, kwargs: dict) -> str:
    """The name of the argument that a leaf lies in."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    given = [(names[k] if k < len(names) else f"at place {k}", a) for k, a in enumerate(args)]
    for name, a in (*given, *((k, kwargs[k]) for k in sorted(kwargs))):
        leaf -= len(flatten(a, whole=True)[0])
        if leaf < 0:
            return repr(name) if name in names else name
    return "among its arguments"
