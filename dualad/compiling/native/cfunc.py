"""Programs as functions of C: for SciPy's LowLevelCallable and for integrators that take pointers.

A function of C cannot trace another path. Where a guard of the program fails (a branch would be
taken otherwise) all of its results are NaN.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staging.operations import Variable
from ...errors import ArgumentError
from ...extras import required
from ..loop import Loop
from ..program import Program
from .entry import F64, INT, POINTER, integer
from .forms import is_native
from .kernel import Kernel
from .machine import address_of, machine

__all__ = ["CFunction"]

DOUBLE, INT32 = ir.DoubleType(), ir.IntType(32)
DOUBLES = ctypes.POINTER(ctypes.c_double)
#: Bytes of temporaries that a function may put on the stack.
STACK = 1 << 18


class Signature:
    """A way to pass a program's numbers: types for LLVM, types for ctypes, and what it is for."""

    def __init__(self, kind: Any, c: Any, fits: Callable[[Program], bool]):
        self.kind, self.c, self.fits = kind, c, fits


def _numbers(p: Program) -> bool:
    return _one_number(p) and all(v.shape == () for v in p.inputs)


def _one_number(p: Program) -> bool:
    return len(p.outputs) == 1 and p.outputs[0].value.shape == ()


def _one_argument(p: Program) -> bool:
    return _numbers(p) and len(p.inputs) == 1


def _of_row(p: Program) -> bool:
    return _numbers(p) or (_one_number(p) and len(p.inputs) == 1)


def _derivative(p: Program) -> bool:
    shapes = [v.shape for v in p.inputs]
    return len(shapes) == 2 and shapes[0] == () and len(p.outputs) == 1 and _is_state(p)


def _is_state(p: Program) -> bool:
    shape = p.inputs[1].shape
    return len(shape) == 1 and p.outputs[0].value.shape == shape


def _any(p: Program) -> bool:
    return True


#: In the order in which one is chosen.
SIGNATURES = {
    "double (double)": Signature(
        ir.FunctionType(DOUBLE, [DOUBLE]),
        ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double),
        _one_argument,
    ),
    "double (int, double *)": Signature(
        ir.FunctionType(DOUBLE, [INT32, POINTER]),
        ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, DOUBLES),
        _of_row,
    ),
    "void (double, double *, double *)": Signature(
        ir.FunctionType(ir.VoidType(), [DOUBLE, POINTER, POINTER]),
        ctypes.CFUNCTYPE(None, ctypes.c_double, DOUBLES, DOUBLES),
        _derivative,
    ),
    "void (double *, double *)": Signature(
        ir.FunctionType(ir.VoidType(), [POINTER, POINTER]),
        ctypes.CFUNCTYPE(None, DOUBLES, DOUBLES),
        _any,
    ),
}


class CFunction:
    """A program as a function of C.

    Attributes:
        address: where its code lies; it stays there for as long as the process runs.
        signature: its C signature.
        ctypes: the function for ctypes.
    """

    def __init__(self, program: Program, signature: str | None = None):
        _check(program)
        fitting = [s for s, kind in SIGNATURES.items() if kind.fits(program)]
        if signature is not None and signature not in fitting:
            raise ArgumentError(
                f"the program has no function of C with signature {signature!r}; it may have "
                + ", ".join(fitting)
            )
        self.signature = signature or fitting[0]
        code = _Code(program, SIGNATURES[self.signature])
        self._kept = code.kernel.constants, code.kernel.kept
        self.address = address_of(str(code.module), keep=not code.kernel.constants)
        self.ctypes: Any = SIGNATURES[self.signature].c(self.address)

    def __repr__(self) -> str:
        return f"<function of C: {self.signature}>"

    def as_scipy(self) -> Any:
        """The function for SciPy's integrators.

        Raises:
            MissingExtraError: SciPy is not installed.
        """
        scipy = required("scipy", "a LowLevelCallable", "pip install scipy")
        return scipy.LowLevelCallable(self.ctypes)


def _check(program: Program) -> None:
    outputs = [o.value for o in program.outputs]
    if not all(type(o) is Variable for o in outputs) or program.writes:
        raise ArgumentError("a function of C gives results that it computes from its arguments")
    for v in (*program.inputs, *outputs):
        if v.dtype != F64:
            raise ArgumentError(f"a function of C takes and gives float64, not {v.dtype}")
    for s in program.steps:
        if not is_native(s):
            named: Any = s
            what = getattr(s, "question", None) or getattr(named, "primitive", named)
            what = getattr(what, "name", what) if not isinstance(s, Loop) else "a loop"
            raise ArgumentError(f"{what} has no native form, so there is no function of C")


class _Code:
    """A module of a kernel and the function of C around it."""

    def __init__(self, program: Program, signature: Signature):
        self.program = program
        self.module = ir.Module("program")
        self.module.triple = machine().triple
        self.kernel = Kernel(program, self.module)
        self.function = ir.Function(self.module, signature.kind, "NAME")
        self.b = ir.IRBuilder(self.function.append_basic_block("start"))
        self._write()

    def _write(self) -> None:
        b = self.b
        outputs = [o.value for o in self.program.outputs]
        returns = self.function.function_type.return_type == DOUBLE
        target = b.alloca(DOUBLE) if returns else self.function.args[-1]
        rooms = [self._moved(target, n) for n in _starts(outputs)]
        addresses = [ir.Constant(INT, c.ctypes.data) for c in self.kernel.constants]
        constants = [b.inttoptr(a, POINTER) for a in addresses]
        temporaries = [self._room(v) for v in self.kernel.temporaries]
        code = b.call(
            self.kernel.function, [*self._inputs(returns), *constants, *rooms, *temporaries]
        )
        if self.kernel.guards:
            with b.if_then(b.icmp_signed(">=", code, integer(0)), likely=False):
                for k in range(sum(v.size for v in outputs)):
                    b.store(ir.Constant(DOUBLE, math.nan), self._moved(target, k))
        b.ret(b.load(target, typ=DOUBLE)) if returns else b.ret_void()

    def _inputs(self, returns: bool) -> list[Any]:
        """The kernel's inputs from the arguments of C."""
        args = [a for a in self.function.args if a.type != INT32]
        inputs = self.program.inputs
        if args[0].type == DOUBLE:
            given = args if returns else args[:2]
            return [self._number(a, v) for a, v in zip(given, inputs, strict=True)]
        places = [self._moved(args[0], n) for n in _starts(inputs)]
        return [
            p if v.is_array else self.b.load(p, typ=DOUBLE)
            for p, v in zip(places, inputs, strict=True)
        ]

    def _number(self, a: Any, v: Variable) -> Any:
        if a.type == POINTER or not v.is_array:
            return a
        place = self.b.alloca(DOUBLE)
        self.b.store(a, place)
        return place

    def _room(self, v: Variable) -> Any:
        size = -(-v.size * v.dtype.itemsize // 8)
        if 8 * size > STACK:
            raise ArgumentError(f"a temporary of {v.size} entries is too large for the stack")
        return self.b.alloca(INT, integer(size))

    def _moved(self, pointer: Any, k: int) -> Any:
        return self.b.gep(pointer, [integer(k)], source_etype=DOUBLE) if k else pointer


def _starts(variables: Any) -> list[int]:
    ends = np.cumsum([v.size for v in variables])
    return [0, *map(int, ends[:-1])]
