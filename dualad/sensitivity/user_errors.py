"""An exception of the user's own code: where it came from, and what it means."""

from __future__ import annotations

import traceback
from typing import Any

from ..errors import LostDerivativeError

__all__ = ["failure", "own_line", "sentence"]


def failure(name: str, f: Any, error: BaseException) -> str:
    """An exception of a function of the user's, with the line of its code."""
    return f"{name}{own_line(f, error)}: {sentence(error)}"


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
