"""Levels: one running transformation each, ranked by a serial number that is never used again.

An operation is handled by the highest level among its arguments, which sees all lower ones as
constants. Dispatch reads levels off the values alone; nothing here is global but the counter.
"""

from __future__ import annotations

import itertools
from contextvars import ContextVar, Token
from functools import lru_cache, partial
from typing import Any

from ...errors import LeakError
from .swallowed import assembled, note, regained

__all__ = ["WATCH", "Level", "is_running", "newest_rank", "noted_object", "refused"]

_serial = itertools.count(1)
#: The innermost level entered in this context. Only who makes fresh arrays asks for it.
_entered: ContextVar[Level | None] = ContextVar("dualad_entered_level", default=None)
#: What looks for a NaN in this context (see `watch`, which few programs need); None where nobody.
WATCH: ContextVar[Any] = ContextVar("dualad_watch", default=None)


def is_running() -> bool:
    """Whether a transformation is running here, so that traced values may come to be stored."""
    level = _entered.get()
    return level is not None and level.is_open


entered = _entered.get


def newest_rank() -> int:
    """A rank above that of every level so far, and below that of every later one."""
    return next(_serial)


def refused(message: str) -> str:
    """The message of a refusal, remembered where a library may make another error of it."""
    return note(message, newest_rank())


def noted_object() -> None:
    """Remember that a traced number has become an entry of an array of objects."""
    assembled(newest_rank())


def _leaked(name: str, *_: Any) -> Any:
    raise LeakError(
        f"a value that belongs to a finished {name} was used outside of it. Return it from the "
        f"function that is transformed (has_aux=True carries extra results), or take "
        f"dualad.stop_gradient(value) inside, before storing it."
    )


class _Closed:
    """The tape of a finished level."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def append(self, entry: Any) -> None:
        _leaked(self.name)

    def __len__(self) -> int:
        return _leaked(self.name)


@lru_cache(maxsize=256)
def _closed(name: str) -> tuple[Any, _Closed]:
    """Constructor and tape of a finished level: every use of either is a leak."""
    return partial(_leaked, name), _Closed(name)


class Level:
    """One running transformation.

    `new` makes the values of the level. Closing replaces it, so that a leak is found by the
    next operation on a leaked value, and an open level pays nothing for that. Generated code,
    which makes most values, calls their class, which is quicker, and asks for `closed` or uses
    the tape, which is replaced too. A level that may put operations off knows what it was
    `given`, values and tangents, and by which function they are used: see `postponed`.
    """

    __slots__ = (
        "__weakref__", "_token", "closed", "given", "lanes", "later", "name", "new", "pool",
        "pure", "rank", "tape",
    )  # fmt: skip

    def __init__(self, name: str):
        self.name = name
        self.rank = next(_serial)
        self.new = object.__new__
        self.closed = False
        self.tape: Any = []
        #: the level of its batches of tangents; see `batched_dual`
        self.lanes: Any = None
        #: the pool of memory, once there are large values
        self.pool: Any = None
        #: what it was given, if it may put operations off; then its state
        self.given: Any = None
        #: what it has put off; None before it is known whether it does that, else False
        self.later: Any = None
        #: a question with its arguments, then the answer: whether what is recorded here is swept
        #: before anything is written that was there before; None where it may not be
        self.pure: Any = None

    @property
    def is_open(self) -> bool:
        return not self.closed

    @property
    def is_pure(self) -> bool:
        """Whether an array that is kept for the sweep is seen not to be written to before that."""
        if type(self.pure) is tuple:
            ask, *about = self.pure
            self.pure = ask(*about)
        return self.pure is True

    def close(self) -> None:
        self.closed = True
        self.new, self.tape = _closed(self.name)
        self.later = self.given = self.pure = None
        if self.pool is not None:
            self.pool.close()
            self.pool = None

    def __enter__(self) -> Level:
        self._token: Token = _entered.set(self)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if self.later:
                self.later.leave(error)
        finally:
            _entered.reset(self._token)
            self.close()
        if error is not None:
            ours = regained(error, self.rank)
            if ours is not None:
                raise ours.with_traceback(error.__traceback__) from error
