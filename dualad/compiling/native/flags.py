"""What machine code does about NumPy's warnings: it looks at the flags that the processor raises.

A kernel computes without a question. Where the processor has raised a flag by then that the error
state of the call does not ignore, the program is run again by NumPy, which gives its own warning
or error, and the values. What NumPy does not warn of (a comparison with NaN raises a flag) costs
that second run, and gives no warning.
"""

from __future__ import annotations

import contextvars
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staging.operations import Operation
from ..numpy_source import NumpySource
from ..program import Program
from .entry import POINTER, integer
from .forms import operations_of
from .machine import machine

__all__ = ["MASK", "UNDERFLOW", "Again", "Flags", "asks", "is_heeded", "state"]

#: Bits of x86's MXCSR: an invalid operation, a division by zero, overflow; and underflow.
INVALID, LOUD, UNDERFLOW = 1, 1 | 4 | 8, 16
MASK = LOUD | UNDERFLOW
INT32 = ir.IntType(32)


def asks(program: Program) -> bool:
    """Whether a program has an operation that may warn, and this processor tells of it."""
    x86 = machine().triple.startswith(("x86", "i386", "i686"))
    return x86 and any(map(_may_warn, operations_of(program.steps)))


def _may_warn(s: Operation) -> bool:
    if s.quiet or s.primitive.name in ("getitem", "reshape", "transpose", "broadcast_to"):
        return False
    return any(getattr(x, "dtype", None) in (np.float32, np.float64) for x in s.results)


def is_heeded(flags: int) -> bool:
    """Whether the error state may do something about the flags.

    Which of the three loud ones is raised is the formula's affair: log(0) by vector mathematics is
    an overflow, and a division by zero for NumPy.
    """
    state = np.geterr()
    if flags & UNDERFLOW and state["under"] != "ignore":
        return True
    loud = (state["invalid"], state["divide"], state["over"])
    return bool(flags & LOUD) and any(kind != "ignore" for kind in loud)


def state() -> tuple[Any, Any] | None:
    """NumPy's variable for its error state, and what that is where nobody has set it.

    Underflow is ignored then, and it is the one flag that is raised often.
    """
    core = importlib.import_module("numpy._core._multiarray_umath")
    variable = getattr(core, "_extobj_contextvar", None)
    if not isinstance(variable, contextvars.ContextVar):
        return None
    return variable, contextvars.Context().run(variable.get)


class Again:
    """A program by NumPy, for a call where a flag was raised."""

    def __init__(self, program: Program):
        self.program = program
        self._run: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        if self._run is None:
            self._run = NumpySource(self.program).function_of()
        return self._run(*args)


class Flags:
    """The flags as instructions."""

    def __init__(self, builder: Any, place: Any):
        self.b, self.place = builder, place

    def clear(self) -> None:
        """Take back what was raised before."""
        b = self.b
        now = self._now()
        with b.if_then(b.icmp_unsigned("!=", b.and_(now, _number(MASK)), _number(0))):
            b.store(b.and_(now, _number(~MASK)), self.place)
            b.call(self._intrinsic("ldmxcsr"), [self.place])

    def raise_invalid(self) -> None:
        """Raise the flag of an invalid operation."""
        b = self.b
        b.store(b.or_(self._now(), _number(INVALID)), self.place)
        b.call(self._intrinsic("ldmxcsr"), [self.place])

    def raised(self) -> Any:
        """What was raised since, as a number of 64 bits."""
        return self.b.zext(self.b.and_(self._now(), _number(MASK)), integer(0).type)

    def _now(self) -> Any:
        self.b.call(self._intrinsic("stmxcsr"), [self.place])
        return self.b.load(self.place, typ=INT32)

    def _intrinsic(self, name: str) -> Any:
        module = self.b.function.module
        full = f"llvm.x86.sse.{name}"
        if full not in module.globals:
            ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER]), full)
        return module.globals[full]


def _number(x: int) -> Any:
    return ir.Constant(INT32, x)
