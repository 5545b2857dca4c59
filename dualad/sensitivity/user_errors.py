"""An exception of the user's own code: where it came from, and what it means."""

from __future__ import annotations

import traceback
from typing import Any

from ..errors import LostDerivativeError

__all__ = ["failure", "own_line", "sentence"]


def failure(name: str, f: Any, error: BaseException, called: str = "") -> str:
    """An exception of a function of the user's, with the line of its code.

    called: the arguments that it is given, which is said where it seems to expect others.
    """
    place = own_line(f, error)
    return f"{name}{place}: {sentence(error)}{_expected(place, error, called)}"


#: What Python and NumPy say where an array or a number is taken for something else.
MISTAKEN = (
    "'numpy.ndarray' object has no",
    "only integers, slices",
    "object is not subscriptable",
)


def _expected(place: str, error: BaseException, called: str) -> str:
    other_arguments = isinstance(error, TypeError) and not place
    if called and (other_arguments or any(text in str(error) for text in MISTAKEN)):
        return f"; it is called with {called}"
    return ""


def own_line(model: Any, error: BaseException) -> str:
    """Where in the user's own file an error came from, in brackets; "" where that is not known."""
    source = getattr(getattr(model, "__code__", None), "co_filename", None)
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == source]
    return f" (line {own[-1].lineno} of {own[-1].filename}: {own[-1].line})" if own else ""


def sentence(error: BaseException) -> str:
    """The kind of an error and what it says; that of a lost derivative, where that is behind it.

    NumPy makes an error of its own of one that it meets when it stores into an array.
    """
    told = _lost(error) or error
    text = told.args[0] if isinstance(told, KeyError) and told.args else told
    remedy = ""
    if "dtype('O')" in str(text):
        remedy = (
            " (an object array of traced numbers has come into a function that NumPy computes "
            "itself: build the array with np.stack, or by dualad.numpy.array)"
        )
    return f"{type(told).__name__}: {text}{remedy}"


def _lost(error: BaseException | None) -> LostDerivativeError | None:
    while error is not None:
        if isinstance(error, LostDerivativeError):
            return error
        error = error.__cause__ or error.__context__
    return None
