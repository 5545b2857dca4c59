"""Writing LLVM instructions: typed entries, constants, casts, functions, loops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir

from ..mathematics import arithmetic
from ..mathematics.registry import FUNCTIONS
from .machine import has_fused, is_known

__all__ = [
    "BOOL",
    "F64",
    "I64",
    "INT",
    "Callee",
    "Emitter",
    "Entry",
    "Refused",
    "TooLong",
    "integer",
    "is_number",
    "kind_of",
]

F64, I64, BOOL = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.bool_)
INT, POINTER = ir.IntType(64), ir.PointerType()
TRUTH = ir.IntType(1)
#: LLVM takes half of the width of AVX-512 unless it is asked for all of it. llvmlite knows only
#: attributes without a value, and prints this one as it stands.
WIDE = '"prefer-vector-width"="512"'


class Refused(Exception):
    """What has no native form; the operation stays NumPy's."""


class TooLong(Refused):
    """What takes too long to compile."""


def is_number(dtype: np.dtype) -> bool:
    """Whether entries of a dtype have a native form."""
    if dtype.kind == "f":
        return dtype.itemsize in (4, 8)
    return dtype.kind in "iub" and dtype.isnative


def kind_of(dtype: np.dtype) -> Any:
    """The type of an entry in a register."""
    if not is_number(dtype):
        raise Refused(f"dtype {dtype}")
    if dtype.kind == "f":
        return ir.DoubleType() if dtype.itemsize == 8 else ir.FloatType()
    return TRUTH if dtype.kind == "b" else ir.IntType(8 * dtype.itemsize)


class Entry:
    """One number in a register; NumPy's ufuncs and operators take it."""

    __slots__ = ("dtype", "emitter", "value")

    def __init__(self, emitter: Emitter, value: Any, dtype: np.dtype):
        self.emitter, self.value, self.dtype = emitter, value, dtype

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise Refused(f"{ufunc.__name__}.{method}")
        return self.emitter.function(ufunc.__name__, args)

    def __add__(self, other: Any) -> Entry:
        return self.emitter.function("add", (self, other))

    def __radd__(self, other: Any) -> Entry:
        return self.emitter.function("add", (other, self))

    def __sub__(self, other: Any) -> Entry:
        return self.emitter.function("subtract", (self, other))

    def __rsub__(self, other: Any) -> Entry:
        return self.emitter.function("subtract", (other, self))

    def __mul__(self, other: Any) -> Entry:
        return self.emitter.function("multiply", (self, other))

    def __rmul__(self, other: Any) -> Entry:
        return self.emitter.function("multiply", (other, self))

    def __truediv__(self, other: Any) -> Entry:
        return self.emitter.function("divide", (self, other))

    def __rtruediv__(self, other: Any) -> Entry:
        return self.emitter.function("divide", (other, self))

    def __neg__(self) -> Entry:
        return self.emitter.function("negative", (self,))


class Emitter:
    """Where instructions go."""

    def __init__(self, function: Any):
        self.function_ir = function
        self.module = function.module
        self.entry = function.append_basic_block("entry")
        self.builder = ir.IRBuilder(function.append_basic_block("body"))
        self.top = ir.IRBuilder(self.entry)
        #: whether the loop that is written is long enough for vector mathematics
        self.is_long = False
        #: whether slopes of tanh are asked for, which share work with tanh itself
        self.has_slopes = False

    def finish(self) -> None:
        """Let the entry block go on to the body."""
        self.top.branch(self.function_ir.basic_blocks[1])

    # --- entries -----------------------------------------------------------------------------

    def constant(self, x: Any, dtype: np.dtype) -> Entry:
        """A number as an entry."""
        kind = kind_of(dtype)
        value = np.asarray(x).astype(dtype)[()] if not isinstance(x, int) else dtype.type(x)
        if dtype.kind == "f":
            number = ir.Constant(kind, float(value))
        else:
            number = ir.Constant(kind, int(value))
        return Entry(self, number, dtype)

    def cast(self, x: Any, dtype: np.dtype) -> Entry:
        """An entry or a number in another dtype."""
        if not isinstance(x, Entry):
            return self.constant(x, dtype)
        if x.dtype == dtype:
            return x
        return Entry(self, self._cast(x.value, x.dtype, dtype), dtype)

    def _cast(self, value: Any, old: np.dtype, new: np.dtype) -> Any:
        b, kind = self.builder, kind_of(new)
        if new.kind == "b":
            return self.truth(value, old)
        if old.kind == "f":
            if new.kind != "f":
                raise Refused("a cast from real numbers to integers")
            return b.fptrunc(value, kind) if new.itemsize < old.itemsize else b.fpext(value, kind)
        if new.kind == "f":
            return b.sitofp(value, kind) if old.kind == "i" else b.uitofp(value, kind)
        if old.kind == "b":
            return b.zext(value, kind)
        if new.itemsize == old.itemsize:
            return value
        if new.itemsize < old.itemsize:
            return b.trunc(value, kind)
        return b.sext(value, kind) if old.kind == "i" else b.zext(value, kind)

    def truth(self, value: Any, dtype: np.dtype) -> Any:
        """Whether a value is not zero; a NaN is not."""
        if dtype.kind == "b":
            return value
        zero = ir.Constant(value.type, 0)
        if dtype.kind == "f":
            return self.builder.fcmp_unordered("!=", value, zero)
        return self.builder.icmp_unsigned("!=", value, zero)

    def function(self, name: str, args: tuple, dtype: np.dtype | None = None) -> Entry:
        """An elementwise function by name."""
        from .elementwise import emit

        given = tuple([a[()] if isinstance(a, np.ndarray) else a for a in args])
        return emit(self, name, given, dtype)

    # --- functions ---------------------------------------------------------------------------

    def intrinsic(self, name: str, *args: Any) -> Any:
        """A function that LLVM knows, on floating point numbers of one type."""
        kind = args[0].type
        return self._call(f"llvm.{name}.{'f64' if kind == ir.DoubleType() else 'f32'}", args, kind)

    def libm(self, name: str, *args: Any) -> Any:
        """A function of the mathematical library, in double precision."""
        if not is_known(name):
            raise Refused(f"{name} is not in this system's library")
        wide = [self._wide(a) for a in args]
        out = self._call(name, wide, ir.DoubleType(), pure=True)
        return self.builder.fptrunc(out, args[0].type) if args[0].type != out.type else out

    def _wide(self, a: Any) -> Any:
        return a if a.type == ir.DoubleType() else self.builder.fpext(a, ir.DoubleType())

    def _call(self, name: str, args: Any, kind: Any, pure: bool = False) -> Any:
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(self.module, ir.FunctionType(kind, [kind] * len(args)), name)
            if pure:
                # No errno is read, so that a call whose result nobody reads goes away.
                found.attributes.add("nounwind")
                found.attributes.add("readnone")
        return self.builder.call(found, list(args))

    def mathematics(self, name: str, *args: Any) -> Any:
        """A function in vector form, where the loop is long enough and there is one."""
        function = FUNCTIONS.get(name)
        if not self.is_long or function is None:
            return None
        return self.formula(function.formula, *args)

    def formula(self, formula: Any, *args: Any) -> Any:
        """Write a formula of real numbers in place of a call."""
        inside = arithmetic.Machine(self.builder, has_fused())
        if inside.fused:
            set.add(self.function_ir.attributes, WIDE)
        reals = [arithmetic.Real(inside, self._wide(a)) for a in args]
        out = formula(*reals).value
        return self.builder.fptrunc(out, args[0].type) if args[0].type != out.type else out

    # --- memory and loops --------------------------------------------------------------------

    def variable(self, kind: Any, value: Any) -> Any:
        """A place for a number that changes."""
        place = self.top.alloca(kind)
        self.builder.store(value, place)
        return place

    def load(self, pointer: Any, at: Any, dtype: np.dtype) -> Entry:
        """The entry of an array at an offset."""
        kind = ir.IntType(8) if dtype.kind == "b" else kind_of(dtype)
        place = self.builder.gep(pointer, [at], inbounds=True, source_etype=kind)
        value = self.builder.load(place, typ=kind)
        if dtype.kind == "b":
            value = self.builder.icmp_unsigned("!=", value, ir.Constant(kind, 0))
        return Entry(self, value, dtype)

    def store(self, x: Entry, pointer: Any, at: Any) -> None:
        """Write an entry of an array at an offset."""
        value = x.value
        if x.dtype.kind == "b":
            value = self.builder.zext(value, ir.IntType(8))
        place = self.builder.gep(pointer, [at], inbounds=True, source_etype=value.type)
        self.builder.store(value, place)

    def table(self, kind: Any, numbers: Any) -> Any:
        """Numbers that the code holds."""
        values = [n if isinstance(n, float) else int(n) for n in numbers]
        held_kind = ir.ArrayType(kind, len(values))
        held = ir.GlobalVariable(self.module, held_kind, f"table{len(self.module.globals)}")
        held.initializer = ir.Constant(held_kind, values)
        held.global_constant = True
        held.linkage = "internal"
        return held

    @contextlib.contextmanager
    def loop(self, n: Any) -> Iterator[Any]:
        """A loop of n turns, n > 0; gives the number of the turn."""
        count = n if not isinstance(n, int) else ir.Constant(INT, n)
        before = self.builder.block
        body = self.function_ir.append_basic_block("loop")
        after = self.function_ir.append_basic_block("after")
        self.builder.branch(body)
        self.builder.position_at_end(body)
        turn = self.builder.phi(INT)
        turn.add_incoming(ir.Constant(INT, 0), before)
        yield turn
        following = self.builder.add(turn, ir.Constant(INT, 1), flags=("nuw", "nsw"))
        turn.add_incoming(following, self.builder.block)
        again = self.builder.icmp_unsigned("<", following, count)
        self.builder.cbranch(again, body, after)
        self.builder.position_at_end(after)


def integer(x: int) -> Any:
    """A number of 64 bits."""
    return ir.Constant(INT, x)


class Callee:
    """A pointer as something that can be called."""

    type = POINTER

    def __init__(self, pointer: Any, signature: Any):
        self.get_reference = pointer.get_reference
        self.function_type = signature
