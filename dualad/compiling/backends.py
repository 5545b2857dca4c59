"""What runs a program: machine code where that is there and pays, else NumPy."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError
from ..extras import required
from .cores import number_of_threads
from .numpy_source import NumpySource
from .program import Program

__all__ = ["BACKENDS", "checked", "runner"]

BACKENDS = ("auto", "numpy", "numba")
#: Up to how many steps machine code is written without loops.
UNROLLED = 4000


def checked(backend: str) -> str:
    """A backend by name; numba has to be there where it is asked for by name."""
    if backend not in BACKENDS:
        raise ArgumentError(f"backend is one of {', '.join(BACKENDS)}, not {backend!r}")
    if backend == "numba":
        required("llvmlite", "dualad.compile(backend='numba')", "pip install 'dualad[jit]'")
    return backend


@functools.cache
def has_llvm() -> bool:
    """Whether numba's LLVM is installed."""
    return importlib.util.find_spec("llvmlite") is not None


def is_native(backend: str) -> bool:
    """Whether programs become machine code where that pays."""
    return backend == "numba" or (backend == "auto" and has_llvm())


def prefers_loops(program: Program, backend: str) -> bool:
    """Whether what repeats is better a loop: machine code of what is short is faster without."""
    return not is_native(backend) or len(program.steps) > UNROLLED


def runner(program: Program, backend: str, threads: int | None = None) -> Callable[..., Any]:
    """The function that runs a program; threads: see `number_of_threads`."""
    if is_native(backend):
        native = importlib.import_module(".native", __package__)
        function = native.native_function(program, number_of_threads(threads))
        if function is not None:
            return function
    return NumpySource(program).function_of()
