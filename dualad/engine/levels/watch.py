"""Watching for the first NaN: what every operation passes through while `debug_nans` is active.

A watch is on in a context, not in the process. While it looks at one operation it is off for all
that happens within, so that the operation of the user is what is named: a rule that makes a NaN
on its way, and heals it (see `guard`), is none of his business.
"""

from __future__ import annotations

import linecache
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ...errors import NaNError
from .level import WATCH
from .traced import TracedArray

__all__ = ["Place", "Watch", "holds_nan", "watched"]

PACKAGE = __name__.partition(".")[0]
#: Packages whose frames lie between an operation and the line of the user that asked for it.
BETWEEN = (PACKAGE, "numpy", "scipy", "functools", "contextlib")


class Place(NamedTuple):
    """An operation, and the line of the user's code that it is on."""

    operation: str
    filename: str = ""
    lineno: int = 0

    def __str__(self) -> str:
        if not self.filename:
            return f"{self.operation}, on a line that ran before debug_nans was active,"
        text = linecache.getline(self.filename, self.lineno).strip()
        return f"{self.operation} at {self.filename}:{self.lineno}" + (f" (`{text}`)" * bool(text))

    def error(self, part: str, why: str = "") -> NaNError:
        """The error that blames this place for a NaN."""
        if part == "cotangent":
            text = f"the derivative of {self} made the first NaN of the backward pass"
        else:
            text = f"{self} made the first NaN, in its {part}"
        return NaNError(f"{text}{why}", self.operation, part, self.filename, self.lineno)


def here(operation: str) -> Place:
    """The operation on the innermost line that is not of this library or of NumPy."""
    frame = users_frame()
    if frame is None:
        return Place(operation)
    return Place(operation, frame.f_code.co_filename, frame.f_lineno)


def users_frame() -> FrameType | None:
    """The innermost frame that is not of this library or of NumPy."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_between(frame):
        frame = frame.f_back
    return frame


def _is_between(frame: FrameType) -> bool:
    """Whether a frame is not the user's; code that the library generates has no module."""
    module = frame.f_globals.get("__name__")
    if module is None:
        return True
    typed_in = frame.f_code.co_filename.startswith("<")
    return module.partition(".")[0] in BETWEEN and not typed_in


class Watch:
    """The places of what was recorded while it was on."""

    def __init__(self) -> None:
        #: tape -> (the tape itself, place of each entry by number)
        self.tapes: dict[int, tuple[list, dict[int, Place]]] = {}
        #: the same for nodes of the requires_grad graph
        self.nodes: weakref.WeakKeyDictionary[Any, Place] = weakref.WeakKeyDictionary()

    def note(self, lengths: list[tuple[list, int]], out: Any, place: Place) -> None:
        """Remember the place of all that an operation has recorded."""
        for tape, n in lengths:
            places = self.tapes.setdefault(id(tape), (tape, {}))[1]
            places.update(dict.fromkeys(range(n, len(tape)), place))
        nodes = [v.tangent for v in _values(out) if v.kind == "graph"]
        while nodes:
            node = nodes.pop()
            if node.entry is not None and node not in self.nodes:
                self.nodes[node] = place
                nodes += node.parents

    def entry(self, tape: list, k: int) -> Place:
        """The place of entry k of a tape."""
        known = self.tapes.get(id(tape))
        unknown = Place(getattr(tape[k][0], "__name__", "an operation"))
        return unknown if known is None else known[1].get(k, unknown)

    def node(self, node: Any) -> Place:
        """The place of a node of the graph."""
        return self.nodes.get(node) or Place(node.name())

    def swept(self, call: Callable[[], Any], blame: Callable[[], Any]) -> Any:
        """The result of a sweep; if it holds a NaN, that is blamed by sweeping step by step."""
        token = WATCH.set(None)
        try:
            out = call()
            if holds_nan(out):
                blame()
            return out
        finally:
            WATCH.reset(token)


def watched(
    name: str, call: Callable[..., Any], args: tuple, params: dict, entrywise: bool = False
) -> Any:
    """call(*args, **params), which must not make a NaN where its operands have none."""
    watch = WATCH.get()
    if watch is None:
        return call(*args, **params)
    operands = (args, params)
    lengths = [(tape, len(tape)) for tape in _tapes(operands)]
    token = WATCH.set(None)
    try:
        with np.errstate(invalid="ignore"):  # the error says more than the warning
            out = call(*args, **params)
    finally:
        WATCH.reset(token)
    if out is NotImplemented:
        return out
    place = here(name)
    watch.note(lengths, out, place)
    if holds_nan(out):
        _judge(place, out, args, operands, entrywise)
    return out


def _judge(place: Place, out: Any, args: tuple, operands: Any, entrywise: bool) -> None:
    """Blame the operation unless the NaN was in its operands."""
    if not holds_nan(operands):
        raise place.error(_part(out), _details(out, args, entrywise))
    if not entrywise:
        return
    try:
        inherited = np.logical_or.reduce(np.broadcast_arrays(*map(_mask, args)))
        fresh = np.any(_mask(out) & ~inherited)
    except ValueError:  # batch axes that do not line up
        return
    if fresh:
        raise place.error(_part(out), " beside those of its operands")


def _part(out: Any) -> str:
    values = out if isinstance(out, (tuple, list)) else (out,)
    return "value" if any(holds_nan(_plain(v)) for v in values) else "tangent"


def _plain(x: Any) -> Any:
    while isinstance(x, TracedArray):
        x = x.primal
    return x


def _details(out: Any, args: tuple, entrywise: bool) -> str:
    """The operands of the first entry that is NaN, where the operation goes entry by entry."""
    if not entrywise:
        return ""
    mask = _mask(out)
    shape = np.shape(_plain(out))
    at = np.argwhere(mask)[0][mask.ndim - len(shape) :]
    try:
        given = [np.broadcast_to(_plain(a), shape)[tuple(at)] for a in args]
    except ValueError:
        return ""
    where = f" at index {tuple(map(int, at))}" if shape else ""
    return f"{where}, of {' and '.join(f'{v:.17g}' for v in given)}"


# --- looking for NaN at every level --------------------------------------------------------------


def holds_nan(x: Any) -> bool:
    """Whether a NaN is in a value at any level, in a tangent of it, or in a container of them."""
    if isinstance(x, TracedArray):
        if x.kind == "linear":
            return False
        return holds_nan(x.primal) or (x.kind == "dual" and holds_nan(x.tangent))
    if isinstance(x, (tuple, list)):
        return any(map(holds_nan, x))
    if isinstance(x, dict):
        return any(map(holds_nan, x.values()))
    if isinstance(x, (float, complex, np.generic, np.ndarray)):
        return np.asarray(x).dtype.kind in "fc" and bool(np.isnan(x).any())
    return False


def _mask(x: Any) -> Any:
    """Where a value or its tangents are NaN."""
    if isinstance(x, TracedArray):
        if x.kind == "linear":
            return np.False_
        mask = _mask(x.primal)
        return mask | _mask(x.tangent) if x.kind == "dual" else mask
    return np.isnan(x) if np.asarray(x).dtype.kind in "fc" else np.zeros(np.shape(x), bool)


def _values(x: Any) -> Iterator[TracedArray]:
    """The traced values in x at all levels."""
    if isinstance(x, TracedArray):
        yield x
        yield from _values(x.primal)
        if x.kind == "dual":
            yield from _values(x.tangent)
    elif isinstance(x, (tuple, list)):
        for v in x:
            yield from _values(v)
    elif isinstance(x, dict):
        yield from _values(list(x.values()))


def _tapes(x: Any) -> list[list]:
    """The tapes that an operation on x may record on."""
    tapes = {id(v.level.tape): v.level.tape for v in _values(x)}
    return [tape for tape in tapes.values() if type(tape) is list]
