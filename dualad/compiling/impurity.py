"""Whether a function draws random numbers, prints or moves an iterator while it is traced."""

from __future__ import annotations

import itertools
import random
import sys
import threading
import types
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from .belonging import is_fixed

__all__ = ["Impurity"]


class Impurity:
    """Finds out whether a function draws random numbers or prints while it runs.

    `sources` are the generators and iterators that it may use, and objects of other kinds.
    """

    def __init__(self, sources: Iterable[Any]):
        self._sources = list(sources)
        self.found: str | None = None
        #: it gave a warning of its own, as it would each time that it comes to that place
        self.warned = False

    def __enter__(self) -> Impurity:
        self._before = self._states()
        for watched in (PRINTED, SEEDED, WARNED):
            watched.watch()
        self._counts = PRINTED.count(), SEEDED.count(), WARNED.count()
        return self

    def __exit__(self, *exc: object) -> None:
        printed, seeded, warned = self._counts
        self.warned = WARNED.count() != warned
        if SEEDED.count() != seeded or self._states() != self._before:
            self.found = (
                "it draws random numbers, or takes the next value of an iterator (pass them as "
                "an argument)"
            )
        elif PRINTED.count() != printed:
            self.found = "it prints"
        for watched in (PRINTED, SEEDED, WARNED):
            watched.leave()

    def _states(self) -> list[Any]:
        states = [_state(x) for x in self._sources]
        states.append(_legacy(np.random.get_state(legacy=False)))  # noqa: NPY002 (it is watched)
        if "random" in sys.modules:
            states.append(random.getstate())
        return states


def _state(x: Any) -> Any:
    if isinstance(x, np.random.RandomState):
        return _legacy(x.get_state(legacy=False))
    if isinstance(x, random.Random):
        return x.getstate()
    if isinstance(x, np.random.Generator):
        x = x.bit_generator
    if isinstance(x, np.random.BitGenerator):
        return str(x.state)
    return _position(x) if hasattr(type(x), "__next__") else None


def _position(iterator: Any) -> Any:
    """Where an iterator stands; something new where that cannot be seen."""
    if isinstance(iterator, types.GeneratorType):
        frame = iterator.gi_frame
        if frame is None:
            return None
        values = frame.f_locals.values()
        return frame.f_lasti, [v if isinstance(v, (int, float, str)) else id(v) for v in values]
    if isinstance(iterator, itertools.count):
        return repr(iterator)
    left = getattr(iterator, "__length_hint__", object)()
    return left if isinstance(left, int) else object()


def _legacy(state: Any) -> Any:
    inner = state["state"]
    key = inner.get("key")
    at = (inner["pos"], key.tobytes()) if key is not None else str(inner)
    return (at, state.get("has_gauss"), state.get("gauss"))


class _Watched:
    """A global of a module, with a stand-in that counts for each thread how often it was used.

    It stands in as long as one trace runs, in whichever thread.
    """

    def __init__(self, module: Any, name: str, stand_in: type[_StandIn]):
        self._module, self._name, self._kind = module, name, stand_in
        self._lock = threading.Lock()
        self._traces = 0
        self._now: _StandIn | None = None
        self._uses: Counter[int] = Counter()

    def count(self) -> int:
        """How often this thread has used it."""
        return self._uses[threading.get_ident()]

    def watch(self) -> None:
        """Begin to count."""
        with self._lock:
            self._traces += 1
            old = getattr(self._module, self._name, None)
            if old is not None and (self._traces == 1 or self._now is None):
                self._now = self._kind(old, self._uses)
                setattr(self._module, self._name, self._now)

    def leave(self) -> None:
        """Put the thing itself back where nobody else counts."""
        with self._lock:
            self._traces -= 1
            now = self._now
            if self._traces or now is None:
                return
            self._now = None
            if getattr(self._module, self._name, None) is now and now is not None:
                setattr(self._module, self._name, now.original)


class _StandIn:
    def __init__(self, original: Any, uses: Counter[int]):
        self.original, self._uses = original, uses

    def __getattr__(self, name: str) -> Any:
        return getattr(self.original, name)


class _Output(_StandIn):
    """Standard output."""

    def write(self, text: str) -> int:
        self._uses[threading.get_ident()] += 1
        return self.original.write(text)


class _Seeds(_StandIn):
    """The source of seeds that NumPy asks where none is given."""

    def __call__(self, bits: int) -> int:
        self._uses[threading.get_ident()] += 1
        return self.original(bits)


class _Warnings(_StandIn):
    """What gives a warning; those of libraries are not counted."""

    def __call__(
        self, message: Any, category: Any = None, stacklevel: int = 1, *args: Any, **kwargs: Any
    ) -> None:
        if not is_fixed(sys._getframe(1).f_globals.get("__name__") or ""):
            self._uses[threading.get_ident()] += 1
        self.original(message, category, stacklevel + 1, *args, **kwargs)


PRINTED = _Watched(sys, "stdout", _Output)
SEEDED = _Watched(np.random.bit_generator, "randbits", _Seeds)
WARNED = _Watched(warnings, "warn", _Warnings)
