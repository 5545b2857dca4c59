"""Programs as machine code, by LLVM: the second way to run them, where the extra jit is installed.

`native_function` gives what `NumpySource(program).function_of()` gives, faster, or None.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentError
from ...extras import required
from ..program import Program

__all__ = ["c_function", "is_available", "native_function"]

#: Set in tests: an error while a program is compiled is raised, and nothing falls back to NumPy.
STRICT = "DUALAD_NATIVE_STRICT"
#: From how many steps on compiling would take seconds: such a program stays NumPy's.
MOST = 6000


def is_available() -> bool:
    """Whether programs can become machine code here."""
    try:
        from .machine import is_recent
        from .python import is_as_expected

        return is_recent() and is_as_expected()
    except ImportError:
        return False


def native_function(program: Program, threads: int = 1) -> Callable[..., Any] | None:
    """The function of a program as machine code: (inputs) -> tuple of leaves, or a Failed.

    Threads share its long loops, the caller's and up to `threads - 1` others.
    None where nothing of the program has a native form that pays, or the extra is missing. What
    has none is called as NumPy, between the parts that have.
    """
    if len(program.steps) > MOST or not is_available():
        return None
    from .entry import TooLong
    from .splitting import split

    try:
        return split(program, threads)
    except TooLong:
        return None
    except Exception:
        if os.environ.get(STRICT):
            raise
        return None


def c_function(program: Program, signature: str | None = None) -> Any:
    """A program as a function of C; see `cfunc.CFunction`.

    Raises:
        ArgumentError: an operation has no native form, an argument or a result is not float64,
            or the signature is none of those that the program can have.
        MissingExtraError: the extra jit is not installed.
    """
    required("llvmlite.ir", "a function of C", "pip install 'dualad[jit]'")
    if not is_available():
        raise ArgumentError("this Python or this llvmlite has no native code: see `is_available`")
    from .cfunc import CFunction

    return CFunction(program, signature)
