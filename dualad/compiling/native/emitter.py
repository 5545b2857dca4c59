"""Writing LLVM instructions: constants, casts, functions, memory, loops."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from llvmlite import ir

from ..mathematics import arithmetic
from ..mathematics.registry import FUNCTIONS
from .entry import INT, POINTER, Entry, Refused, integer, kind_of
from .machine import has_fused, is_known

__all__ = ["Callee", "Emitter"]

#: LLVM takes half of the width of AVX-512 unless it is asked for all of it, and lets vectors that
#: find no register lie across two lines of the cache unless the stack is aligned. llvmlite knows
#: only attributes without a value, and prints these as they stand.
WIDE = '"prefer-vector-width"="512" "stackrealign"'
#: How many vectors a loop computes side by side whose functions are long chains of operations,
#: each of which waits for the one before; from how many turns on; and how many instructions at
#: most that may become, for the processor holds no more of them decoded.
SIDE_BY_SIDE, MANY, MOST = 4, 64, 1600
#: Bytes that memory hands over at once.
LINE = 64


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
        #: how loops are shared by threads; None where they are not
        self.cores: Any = None
        #: what notices arguments outside of a domain; None where no flags are read
        self.alarm: Any = None
        #: how many long chains of operations have been written in place of calls
        self.chains = 0

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
        out = self.formula(function.formula, *args)
        if self.alarm is not None:
            self.alarm.watch(name, args, out)
        return out

    def formula(self, formula: Any, *args: Any, is_chain: bool = True) -> Any:
        """Write a formula of real numbers in place of a call."""
        inside = arithmetic.Machine(self.builder, has_fused())
        if inside.fused:
            set.add(self.function_ir.attributes, WIDE)
        self.chains += is_chain
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

    def fetch(self, pointer: Any, at: Any, count: int, dtype: np.dtype) -> None:
        """Ask for so many entries of an array from an offset on, some of which may not exist."""
        kind = ir.IntType(32)
        found = self.module.globals.get("llvm.prefetch.p0")
        if found is None:
            signature = ir.FunctionType(ir.VoidType(), [POINTER, kind, kind, kind])
            found = ir.Function(self.module, signature, "llvm.prefetch.p0")
        b = self.builder
        byte = ir.IntType(8)
        start = b.gep(pointer, [b.mul(at, integer(dtype.itemsize))], source_etype=byte)
        # To be read, for the second cache, data.
        how = [ir.Constant(kind, k) for k in (0, 2, 1)]
        for line in range(0, count * dtype.itemsize, LINE):
            b.call(found, [b.gep(start, [integer(line)], source_etype=byte), *how])

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
        chains = self.chains
        yield turn
        is_deep = self.chains > chains and self.builder.block is body
        following = self.builder.add(turn, ir.Constant(INT, 1), flags=("nuw", "nsw"))
        turn.add_incoming(following, self.builder.block)
        again = self.builder.icmp_unsigned("<", following, count)
        branch = self.builder.cbranch(again, body, after)
        together = SIDE_BY_SIDE
        while together > 1 and together * len(body.instructions) > MOST:
            together //= 2
        if is_deep and together > 1 and not (isinstance(n, int) and n < MANY):
            branch.set_metadata("llvm.loop", _SideBySide(self.module, together))
        self.builder.position_at_end(after)


class _SideBySide(ir.MDValue):
    """What tells LLVM how many vectors a loop computes at once."""

    def __init__(self, module: Any, count: int):
        text = ir.MetaDataString(module, "llvm.loop.interleave.count")
        hint = module.add_metadata([text, ir.Constant(ir.IntType(32), count)])
        super().__init__(module, (hint,), str(len(module.metadata)))

    def descr(self, buf: list[str]) -> None:
        """A loop is told from others by a node that holds itself."""
        hints = ", ".join(h.get_reference() for h in (self, *self.operands))
        buf += [f"distinct !{{ {hints} }}", "\n"]


class Callee:
    """A pointer as something that can be called."""

    type = POINTER

    def __init__(self, pointer: Any, signature: Any):
        self.get_reference = pointer.get_reference
        self.function_type = signature
