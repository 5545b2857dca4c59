"""debug_nans: which operation, on which line, made the first NaN.

While it is inactive nothing of it is anywhere near an operation. The first one that becomes
active, in whatever thread, passes every operation through `watched`, and the last one takes that
back; in contexts without a watch the operations only find that there is none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .autograd.call import Call
from .engine.fast_paths.codegen import rewire
from .engine.fast_paths.contractions import use
from .engine.levels.level import WATCH
from .engine.levels.missing import name_of
from .engine.levels.traced import TracedArray
from .engine.levels.watch import Watch, watched
from .engine.primitives.elementwise import Elementwise
from .tensor import operand

__all__ = ["debug_nans"]

#: Results that hold whatever was in memory.
UNDEFINED = ("numpy.empty_like",)

_lock = threading.Lock()
_active = 0
#: (class, name, what it is when nobody watches)
_originals: list[tuple[type, str, Any]] = []


@contextmanager
def debug_nans() -> Iterator[None]:
    """Within this context the operation that makes the first NaN is an error.

    The error is a `NaNError`, a FloatingPointError. It names the operation and the line of your
    code; for a NaN in a cotangent the line of the forward operation whose derivative made it. A
    NaN that an operation was given, as in data with gaps, is not blamed on it. A branch that
    np.where does not take counts like any other: what it computes is computed.

    Only the context (thread, task) that it is in is watched. Operations are slow while it is
    active, and not touched otherwise.

    Raises:
        NaNError: in place of the first NaN in a value, tangent or cotangent.

    >>> import numpy as np, dualad
    >>> try:
    ...     with dualad.debug_nans():
    ...         dualad.grad(lambda x: np.log(x - 2.0) ** 2)(1.0)
    ... except FloatingPointError as error:
    ...     print(error.operation, error.part)
    log value
    """
    token = WATCH.set(Watch())
    _enter()
    try:
        yield
    finally:
        _leave()
        WATCH.reset(token)


def _enter() -> None:
    global _active
    with _lock:
        _active += 1
        if _active == 1:
            for cls in {TracedArray, *_kinds(TracedArray)}:
                if "bind" in vars(cls):
                    _replace(cls, "bind", classmethod(_bind(vars(cls)["bind"].__func__)))
            _replace(TracedArray, "__array_function__", _function(TracedArray.__array_function__))
            _replace(Call, "result", _custom(Call.result))
            rewire(_generated)
            use(False)


def _leave() -> None:
    global _active
    with _lock:
        _active -= 1
        if _active == 0:
            for cls, name, original in _originals:
                setattr(cls, name, original)
            _originals.clear()
            rewire(None)
            use(True)


def _kinds(cls: type) -> Iterator[type]:
    subclasses: list[type] = cls.__subclasses__()
    for kind in subclasses:
        yield kind
        yield from _kinds(kind)


def _replace(cls: type, name: str, new: Any) -> None:
    _originals.append((cls, name, vars(cls)[name]))
    setattr(cls, name, new)


# --- the ways to an operation, each through `watched` --------------------------------------------


def _bind(bind: Callable[..., Any]) -> Callable[..., Any]:
    """The general path, at which a primitive meets the highest of its arguments."""

    def through(cls: type, primitive: Any, level: Any, args: tuple, params: dict) -> Any:
        def call(*args: Any, **params: Any) -> Any:
            return bind(cls, primitive, level, args, params)

        return watched(primitive.name, call, args, params, isinstance(primitive, Elementwise))

    return through


def _generated(primitive: Elementwise, pair: tuple) -> tuple:
    """The generated functions (u op v) and (v rop u)."""
    op, rop = pair

    def through(*args: Any) -> Any:
        return watched(primitive.name, op, args, {}, True)

    def reflected(v: Any, u: Any) -> Any:
        return watched(primitive.name, lambda u, v: rop(v, u), (u, v), {}, True)

    return through, rop and reflected


def _function(general: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy as a whole; one that calls functions of the user leaves it to them."""

    def __array_function__(self: Any, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        if any(map(callable, (*args, *kwargs.values()))) or name_of(func) in UNDEFINED:
            return general(self, func, types, args, kwargs)

        def call(*args: Any, **kwargs: Any) -> Any:
            return general(self, func, types, args, kwargs)

        return watched(name_of(func), call, args, kwargs)

    return __array_function__


def _custom(result: Callable[..., Any]) -> Callable[..., Any]:
    """A custom function with a rule of its own."""

    def through(self: Call) -> Any:
        out: list[Any] = []

        def call(*values: Any) -> Any:
            out.append(result(self))
            return tuple(map(operand, out[0])) if isinstance(out[0], tuple) else operand(out[0])

        watched(self.cls.__name__, call, tuple(self.values), {})
        return out[0]

    return through
