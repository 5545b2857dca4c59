"""Arithmetic that writes LLVM instructions: what the formulas of this package are stated in.

A formula is an ordinary Python function of a `Real`. Calling it emits its instructions once, in
the place where it is called, so that a compiler sees neither a call nor a branch in the loop and
turns all of it into vector instructions.

Nothing here lets a compiler change the rounding of an operation: `fma` is fused where it is
written and nowhere else, which the transformations of `compensated` rely on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...extras import required

__all__ = [
    "SIGN",
    "Machine",
    "Real",
    "Truth",
    "Word",
    "copysign",
    "fma",
    "horner",
    "polynomial",
    "select",
]

JIT = "pip install 'dualad[jit]'"
SIGN = 1 << 63
# Numba gives the flags of the caller (`contract`) to each operation that has no flag of its own.
# `afn` speaks of library functions only: on arithmetic it changes nothing and keeps others away.
OWN = ("afn",)


class Machine:
    """Where instructions go: a builder, the number of lanes (0: a scalar), and what it can do.

    `ir` is llvmlite's module of the types and values of LLVM's language.
    """

    __slots__ = ("builder", "fused", "integer", "ir", "lanes", "real")

    def __init__(self, builder: Any, fused: bool, lanes: int = 0) -> None:
        self.ir = required("llvmlite.ir", "compiling to machine code", JIT)
        self.builder = builder
        self.fused = fused
        self.lanes = lanes
        self.real, self.integer = (
            self.ir.VectorType(kind, lanes) if lanes else kind
            for kind in (self.ir.DoubleType(), self.ir.IntType(64))
        )

    def constant(self, kind: Any, value: float) -> Any:
        """One number in every lane."""
        constant = self.ir.Constant
        if not self.lanes:
            return constant(kind, value)
        return constant(kind, [constant(kind.element, value)] * self.lanes)

    def intrinsic(self, name: str, arguments: Sequence[Any]) -> Any:
        """A function that LLVM knows, of doubles."""
        kind = f"v{self.lanes}f64" if self.lanes else "f64"
        function_type = self.ir.FunctionType(self.real, [self.real] * len(arguments))
        full = f"llvm.{name}.{kind}"
        module = self.builder.module
        function = module.globals.get(full) or self.ir.Function(module, function_type, full)
        return self.builder.call(function, arguments)


class Lane:
    """A value on a machine."""

    __slots__ = ("machine", "value")

    def __init__(self, machine: Machine, value: Any) -> None:
        self.machine = machine
        self.value = value


class Truth(Lane):
    """A comparison's outcome."""

    __slots__ = ()

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.machine, self.machine.builder.and_(self.value, other.value))

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.machine, self.machine.builder.or_(self.value, other.value))

    def __invert__(self) -> Truth:
        return Truth(self.machine, self.machine.builder.not_(self.value))


class Word(Lane):
    """A 64-bit integer: the bits of a double."""

    __slots__ = ()

    def combined(self, instruction: str, other: Any) -> Word:
        machine = self.machine
        if not isinstance(other, Lane):
            other = Word(machine, machine.constant(machine.integer, other))
        return Word(machine, getattr(machine.builder, instruction)(self.value, other.value))

    def __add__(self, other: Any) -> Word:
        return self.combined("add", other)

    def __sub__(self, other: Any) -> Word:
        return self.combined("sub", other)

    def __neg__(self) -> Word:
        return Word(self.machine, self.machine.builder.neg(self.value))

    def __and__(self, other: Any) -> Word:
        return self.combined("and_", other)

    def __or__(self, other: Any) -> Word:
        return self.combined("or_", other)

    def __xor__(self, other: Any) -> Word:
        return self.combined("xor", other)

    def __lshift__(self, other: Any) -> Word:
        return self.combined("shl", other)

    def __rshift__(self, other: Any) -> Word:
        """Zeros come in from the left: an arithmetic shift of 64 bits is slow before AVX-512."""
        return self.combined("lshr", other)

    def signed(self, real: Real) -> Real:
        """A number, its sign changed where this word's first bit is set."""
        return (real.bits() ^ (self & SIGN)).real()

    def is_zero(self) -> Truth:
        machine = self.machine
        zero = machine.constant(machine.integer, 0)
        return Truth(machine, machine.builder.icmp_unsigned("==", self.value, zero))

    def real(self) -> Real:
        """The double that has these bits."""
        machine = self.machine
        return Real(machine, machine.builder.bitcast(self.value, machine.real))


class Real(Lane):
    """A double. A comparison with a NaN is false, except `differs`."""

    __slots__ = ()

    def like(self, number: Any) -> Real:
        """Another number on the same machine."""
        if isinstance(number, Real):
            return number
        machine = self.machine
        return Real(machine, machine.constant(machine.real, float(number)))

    def combined(self, instruction: str, left: Any, right: Any) -> Real:
        emit = getattr(self.machine.builder, instruction)
        return Real(self.machine, emit(self.like(left).value, self.like(right).value, flags=OWN))

    def __add__(self, other: Any) -> Real:
        return self.combined("fadd", self, other)

    def __radd__(self, other: Any) -> Real:
        return self.combined("fadd", other, self)

    def __sub__(self, other: Any) -> Real:
        return self.combined("fsub", self, other)

    def __rsub__(self, other: Any) -> Real:
        return self.combined("fsub", other, self)

    def __mul__(self, other: Any) -> Real:
        return self.combined("fmul", self, other)

    def __rmul__(self, other: Any) -> Real:
        return self.combined("fmul", other, self)

    def __truediv__(self, other: Any) -> Real:
        return self.combined("fdiv", self, other)

    def __rtruediv__(self, other: Any) -> Real:
        return self.combined("fdiv", other, self)

    def __neg__(self) -> Real:
        return Real(self.machine, self.machine.builder.fneg(self.value))

    def __abs__(self) -> Real:
        return self.through("fabs")

    def compared(self, sign: str, other: Any) -> Truth:
        builder = self.machine.builder
        compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        return Truth(self.machine, compare(sign, self.value, self.like(other).value))

    def __lt__(self, other: Any) -> Truth:
        return self.compared("<", other)

    def __le__(self, other: Any) -> Truth:
        return self.compared("<=", other)

    def __gt__(self, other: Any) -> Truth:
        return self.compared(">", other)

    def __ge__(self, other: Any) -> Truth:
        return self.compared(">=", other)

    def equals(self, other: Any) -> Truth:
        return self.compared("==", other)

    def differs(self, other: Any) -> Truth:
        return self.compared("!=", other)

    def through(self, name: str) -> Real:
        """What one of the processor's own functions gives: sqrt, floor, ceil, trunc, rint."""
        return Real(self.machine, self.machine.intrinsic(name, [self.value]))

    def bits(self) -> Word:
        machine = self.machine
        return Word(machine, machine.builder.bitcast(self.value, machine.integer))


def select(condition: Truth, then: Any, otherwise: Any) -> Real:
    """One of two numbers; both are computed."""
    machine = condition.machine
    example = then if isinstance(then, Real) else otherwise
    if not isinstance(example, Real):
        example = Real(machine, machine.constant(machine.real, 0.0))
    left, right = example.like(then).value, example.like(otherwise).value
    return Real(machine, machine.builder.select(condition.value, left, right))


def fma(x: Any, y: Any, z: Any) -> Real:
    """x y + z, rounded once where the processor can, else twice."""
    example = next(number for number in (x, y, z) if isinstance(number, Real))
    if not example.machine.fused:
        return example.like(x) * y + z
    values = [example.like(number).value for number in (x, y, z)]
    return Real(example.machine, example.machine.intrinsic("fma", values))


def copysign(size: Real, sign: Real) -> Real:
    """The size of one number with the sign of another."""
    return ((size.bits() & (SIGN - 1)) | (sign.bits() & SIGN)).real()


def polynomial(x: Real, coefficients: Sequence[float]) -> Real:
    """A polynomial by its coefficients, constant first.

    Even and odd powers in two chains (Horner's scheme in x**2): half the wait of one chain, one
    operation more.
    """
    if len(coefficients) < 4:
        return horner(x, coefficients)
    square = x * x
    return fma(horner(square, coefficients[1::2]), x, horner(square, coefficients[::2]))


def horner(x: Real, coefficients: Sequence[float]) -> Real:
    """The same in one chain."""
    total = x.like(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = fma(total, x, coefficient)
    return total
