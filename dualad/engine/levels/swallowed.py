"""Errors that another library made of ours.

SciPy's and NumPy's C code answers the refusal of a traced value to become a float with errors of
its own, some of which say nothing: SystemError, "f(a) and f(b) must have different signs". Where
such an error ends a transformation, it is ours again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextvars import ContextVar
from opcode import opmap
from types import CodeType, FrameType, TracebackType
from typing import NamedTuple

import numpy as np

from ...errors import DualADError, LostDerivativeError

__all__ = ["assembled", "note", "regained"]

LIBRARIES = ("scipy", "numpy")
PACKAGE = __name__.partition(".")[0]
#: What NumPy says, in the frame of its caller, when an entry has not become a float.
STORING = "setting an array element with a sequence"
STORED = (
    "a traced number that is stored into a plain array of floats would lose its derivative: make "
    "the buffer with dualad.numpy.zeros(shape), or with np.zeros_like(x) of a traced x; or "
    "assemble the entries, np.array([a, b]) without a dtype, np.stack"
)
#: What NumPy says of an array of objects, which np.array makes of a list of traced numbers.
OF_OBJECTS = ("dtype('O')", "not supported for the input types", "has no callable")
ASSEMBLED = (
    "np.array of a list of traced numbers is an array of objects, which this function does not "
    "take: make it with dualad.numpy.array, or np.stack"
)

#: The instruction of the statement `raise`.
RAISE = opmap["RAISE_VARARGS"]


class Refusal(NamedTuple):
    """What was said, to which function of a library, and the rank of its time."""

    message: str
    code: CodeType
    rank: int


#: The last refusal in this context: its text alone, since an error would keep what it came by.
_last: ContextVar[Refusal | None] = ContextVar("dualad_last_refusal", default=None)
#: When a traced number was last made an entry of an array of objects in this context.
_assembled: ContextVar[int] = ContextVar("dualad_last_object", default=0)


def assembled(rank: int) -> None:
    """Remember that a traced number has become an entry of an array of objects."""
    _assembled.set(rank)


def note(message: str, rank: int) -> str:
    """Remember a refusal if a library is running; returns the message."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_of_library(frame):
            _last.set(Refusal(message, frame.f_code, rank))
            break
        frame = frame.f_back
    return message


def regained(error: BaseException | None, since: int) -> LostDerivativeError | None:
    """Our error in place of one that a library has made of it; None for any other.

    since: the rank of the transformation that it ends; refusals before that are none of it.
    """
    if not isinstance(error, Exception) or isinstance(error, DualADError):
        return None
    frames = list(_frames(error.__traceback__))
    if _is_of_objects(error) and (_assembled.get() > since or any(map(_has_traced, frames))):
        return LostDerivativeError(f"{error}: {ASSEMBLED}")
    message = _behind(error, frames[-1] if frames else None)
    last = _last.get()
    if message is None and last is not None and last.rank > since:
        if not _is_raised(error) and any(f.f_code is last.code for f in frames):
            message = last.message
    if message is None:
        return None
    return LostDerivativeError(f"{message} ({type(error).__name__} came of it: {words_of(error)})")


def words_of(error: Exception) -> str:
    """What an error says: nothing where it is one of the user's that fails to say it."""
    try:
        return str(error)
    except Exception:
        return ""


def _behind(error: Exception, innermost: FrameType | None) -> str | None:
    """What a refusal said that is the cause of an error which a library has raised."""
    foreign = (
        isinstance(error, SystemError)
        or STORING in words_of(error)
        or (innermost is not None and _is_of_library(innermost))
    )
    cause, met = error.__cause__ or error.__context__, set[int]()
    while foreign and cause is not None and id(cause) not in met:
        if isinstance(cause, LostDerivativeError):
            if not isinstance(error, SystemError) and _is_caught_by_user(cause):
                return None
            return STORED if words_of(error).startswith(STORING) else str(cause)
        met.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return None


def _is_of_objects(error: Exception) -> bool:
    """Whether NumPy says in its own words that it was given an array of objects."""
    said = words_of(error)
    if type(error) is AttributeError:  # a loop over objects asks each for a method of that name
        asked = said.removeprefix("'float' object has no attribute '").removesuffix("'")
        return isinstance(getattr(np, asked, None), np.ufunc)
    return isinstance(error, TypeError) and any(words in said for words in OF_OBJECTS)


def _is_raised(error: Exception) -> bool:
    """Whether a statement outside of libraries has raised it: it is the user's then.

    C code may go on with an exception set, and what it calls fail of that anywhere.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_lasti < 0 or _is_of_library(last.tb_frame):
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == RAISE


def _is_caught_by_user(cause: BaseException) -> bool:
    """Whether a function of the user's has caught an error: what it does then is its own."""
    if cause.__traceback__ is None:
        return False
    frame = cause.__traceback__.tb_frame  # as far as the error came
    return not _is_of_library(frame, (*LIBRARIES, PACKAGE))


def _has_traced(frame: FrameType) -> bool:
    """Whether an array of objects that a function has holds a traced number."""
    from .traced import TracedArray

    held = dict(frame.f_locals).values()
    arrays = [a for a in held if type(a) is np.ndarray and a.dtype.hasobject]
    return any(isinstance(x, TracedArray) for a in arrays for x in a.flat)


def _frames(traceback: TracebackType | None) -> Iterator[FrameType]:
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _is_of_library(frame: FrameType, libraries: tuple[str, ...] = LIBRARIES) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in libraries
