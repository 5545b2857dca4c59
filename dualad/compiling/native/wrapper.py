"""The code that CPython calls: it reads the arguments, makes room for the results, runs a kernel.

An argument that is not what the program was written for (another layout, a Python number) goes to
a slower function in Python, which converts it and calls again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.staged import Variable
from ..numpy_source import Failed
from ..program import Program
from . import python
from .emitter import INT, POINTER, Callee, integer, kind_of
from .forms import operations_of
from .kernel import Kernel
from .machine import address_of, machine

__all__ = ["function_of"]

INT32 = ir.IntType(32)
#: C order and aligned: bits of an array's flags.
PLAIN = 0x101
#: Milliseconds that a kernel may take to compile; what takes longer stays NumPy's.
MOST = 3000.0
#: From how many entries on other threads of Python run while a kernel does.
LONG = 1 << 15


def function_of(program: Program) -> Callable[..., Any]:
    """The native function of a program whose steps and outputs all have a native form."""
    wrapper = Wrapper(program)
    address = address_of(str(wrapper.module))
    slow = _Slow(program.inputs)
    objects = wrapper.objects(slow)
    own = python.table(objects, wrapper.kernel.constants, wrapper.kernel.kept)
    slow.fast = python.builtin("program", address, own)
    return slow.fast


class _Slow:
    """The call for arguments that lie otherwise than a kernel reads them."""

    def __init__(self, inputs: tuple[Variable, ...]):
        self.inputs = inputs
        self.fast: Callable[..., Any]

    def __call__(self, *args: Any) -> Any:
        if len(args) != len(self.inputs):
            raise TypeError(f"a program of {len(self.inputs)} inputs got {len(args)}")
        return self.fast(*[_plain(v, a) for v, a in zip(self.inputs, args, strict=True)])


def _plain(v: Variable, a: Any) -> Any:
    found = np.asarray(a)
    if found.shape != v.shape or not np.can_cast(found.dtype, v.dtype, "same_kind"):
        raise TypeError(f"an input of a program is {found.dtype}{found.shape}, not {v!r}")
    if not v.is_array:
        return v.dtype.type(found[()])
    plain = np.array(found, v.dtype, order="C", copy=None, subok=False)
    aligned = plain.flags.aligned and plain.dtype.isnative and type(plain) is np.ndarray
    return plain if aligned else plain.copy()


class Wrapper:
    """A module of a kernel, and the function around it."""

    def __init__(self, program: Program):
        self.program = program
        self.module = ir.Module("program")
        self.module.triple = machine().triple
        self.kernel = Kernel(program, self.module, MOST)
        kind = ir.FunctionType(POINTER, [POINTER, POINTER, INT])
        self.function = ir.Function(self.module, kind, "NAME")
        self.b = ir.IRBuilder(self.function.append_basic_block("start"))
        self.own, self.args, self.number = self.function.args
        #: the objects in the table: types, dtypes, failures
        self.kept: list[Any] = []
        self._write()

    # --- the table ---------------------------------------------------------------------------

    def objects(self, slow: Any) -> list[Any]:
        """The objects in the order of the table."""
        return [slow, *(Failed(g) for g in self.kernel.guards), *self.kept]

    def _entry(self, k: int) -> Any:
        """An address in the table."""
        return self.b.load(self._at(self.table, 8 * k), typ=POINTER)

    def _object(self, x: Any) -> Any:
        places = [k for k, known in enumerate(self.kept) if known is x]
        if not places:
            places = [len(self.kept)]
            self.kept.append(x)
        return self._entry(self._first + places[0])

    @property
    def _first(self) -> int:
        return self._failures + len(self.kernel.guards)

    @property
    def _failures(self) -> int:
        return self._slow + 1

    @property
    def _slow(self) -> int:
        return python.COUNT + len(self.kernel.constants)

    def _call(self, name: str, kind: Any, *args: Any) -> Any:
        """A function of CPython or NumPy."""
        signature = ir.FunctionType(kind, [a.type for a in args])
        callee = Callee(self._entry(python.API[name]), signature)
        return self.b.call(callee, list(args))

    # --- writing -----------------------------------------------------------------------------

    def _at(self, pointer: Any, offset: Any) -> Any:
        at = integer(offset) if isinstance(offset, int) else offset
        return self.b.gep(pointer, [at], source_etype=ir.IntType(8))

    def _word(self, pointer: Any, offset: int, kind: Any = POINTER) -> Any:
        return self.b.load(self._at(pointer, offset), typ=kind)

    def _write(self) -> None:
        b = self.b
        array = self._word(self.own, python.TUPLE)
        self.table = self._word(array, python.OBJECT)
        slow = self.function.append_basic_block("slow")
        self._demand(b.icmp_unsigned("==", self.number, integer(len(self.program.inputs))), slow)
        values = [self._input(k, v, slow) for k, v in enumerate(self.program.inputs)]
        failed = self.function.append_basic_block("failed")
        empty = self.function.append_basic_block("empty")
        self.result = self._call("PyTuple_New", POINTER, integer(len(self.program.outputs)))
        none = ir.Constant(POINTER, None)
        self._demand(b.icmp_unsigned("!=", self.result, none), empty)
        outputs = [self._room(k, o.value, failed) for k, o in enumerate(self.program.outputs)]
        held, rooms = self._temporaries(failed)
        code = self._run([*values, *self._constants(), *outputs, *rooms])
        if held is not None:
            self._call("PyMem_RawFree", ir.VoidType(), held)
        self._answer(code)
        for k, o in enumerate(self.program.outputs):
            if not o.value.is_array:
                self._boxed(k, o.value, outputs[k], failed)
        b.ret(self.result)
        self._endings(slow, failed, empty)

    def _demand(self, condition: Any, otherwise: Any) -> None:
        """Go on only where a condition holds."""
        following = self.function.append_basic_block("next")
        self.b.cbranch(condition, following, otherwise)
        self.b.position_at_end(following)

    def _input(self, k: int, v: Variable, slow: Any) -> Any:
        b = self.b
        x = self.b.load(self._at(self.args, 8 * k), typ=POINTER)
        kind = np.ndarray if v.is_array else v.dtype.type
        found = self._word(x, python.OBJECT - 8)
        self._demand(b.icmp_unsigned("==", found, self._object(kind)), slow)
        if not v.is_array:
            return self._number(self._at(x, python.OBJECT), v.dtype)
        flags = self._word(x, python.OBJECT + 48, INT32)
        plain = ir.Constant(INT32, PLAIN)
        holds = b.icmp_unsigned("==", b.and_(flags, plain), plain)
        same = b.icmp_unsigned("==", self._word(x, python.OBJECT + 40), self._object(v.dtype))
        ndim = self._word(x, python.OBJECT + 8, INT32)
        right = b.icmp_unsigned("==", ndim, ir.Constant(INT32, len(v.shape)))
        self._demand(b.and_(b.and_(holds, same), right), slow)
        if v.shape:
            dims = self._word(x, python.OBJECT + 16)
            each = [
                b.icmp_unsigned("==", self._word(dims, 8 * k, INT), integer(n))
                for k, n in enumerate(v.shape)
            ]
            fits = each[0]
            for other in each[1:]:
                fits = b.and_(fits, other)
            self._demand(fits, slow)
        return self._word(x, python.OBJECT)

    def _number(self, place: Any, dtype: np.dtype) -> Any:
        if dtype.kind != "b":
            return self.b.load(place, typ=kind_of(dtype))
        kind = ir.IntType(8)
        return self.b.icmp_unsigned("!=", self.b.load(place, typ=kind), ir.Constant(kind, 0))

    def _constants(self) -> list[Any]:
        return [self._entry(python.COUNT + k) for k in range(len(self.kernel.constants))]

    def _room(self, k: int, v: Variable, failed: Any) -> Any:
        """Memory for a result: that of a new array, or a place for a number."""
        b = self.b
        if not v.is_array:
            return self._local(kind_of(v.dtype) if v.dtype.kind != "b" else ir.IntType(8))
        descriptor = self._object(v.dtype)
        self._call("Py_IncRef", ir.VoidType(), descriptor)
        made = self._call(
            "PyArray_Empty", POINTER, ir.Constant(INT32, len(v.shape)), self._dims(v.shape),
            descriptor, ir.Constant(INT32, 0),
        )  # fmt: skip
        self._demand(b.icmp_unsigned("!=", made, ir.Constant(POINTER, None)), failed)
        b.store(made, self._at(self.result, python.TUPLE + 8 * k))
        return self._word(made, python.OBJECT)

    def _local(self, kind: Any) -> Any:
        with self.b.goto_block(self.function.entry_basic_block):
            first = self.function.entry_basic_block.instructions
            if first:
                self.b.position_before(first[0])
            return self.b.alloca(kind)

    def _dims(self, shape: tuple[int, ...]) -> Any:
        name = "shape_" + "_".join(map(str, shape))
        if name not in self.module.globals:
            kind = ir.ArrayType(INT, len(shape))
            held = ir.GlobalVariable(self.module, kind, name)
            held.initializer = ir.Constant(kind, list(shape))
            held.global_constant = True
            held.linkage = "internal"
        return self.module.globals[name]

    def _temporaries(self, failed: Any) -> tuple[Any, list[Any]]:
        sizes = [-(-v.size * v.dtype.itemsize // 64) * 64 for v in self.kernel.temporaries]
        total = sum(sizes)
        if not total:
            return None, []
        held = None
        if total <= 1 << 15:
            start = self._local(ir.ArrayType(ir.IntType(8), total))
        else:
            start = held = self._call("PyMem_RawMalloc", POINTER, integer(total))
            self._demand(self.b.icmp_unsigned("!=", start, ir.Constant(POINTER, None)), failed)
        places, offset = [], 0
        for n in sizes:
            places.append(self._at(start, offset))
            offset += n
        return held, places

    def _run(self, arguments: list[Any]) -> Any:
        sizes = [v.size for s in operations_of(self.program.steps) for v in s.results]
        state = None
        if max(sizes, default=0) >= LONG:
            state = self._call("PyEval_SaveThread", POINTER)
        code = self.b.call(self.kernel.function, arguments)
        if state is not None:
            self._call("PyEval_RestoreThread", ir.VoidType(), state)
        return code

    def _answer(self, code: Any) -> None:
        """Give a Failed where a guard does not hold."""
        if not self.kernel.guards:
            return
        b = self.b
        told = self.function.append_basic_block("told")
        self._demand(b.icmp_signed("<", code, integer(0)), told)
        with b.goto_block(told):
            at = b.add(code, integer(self._failures))
            place = b.gep(self.table, [at], source_etype=POINTER)
            failure = b.load(place, typ=POINTER)
            self._call("Py_IncRef", ir.VoidType(), failure)
            self._call("Py_DecRef", ir.VoidType(), self.result)
            b.ret(failure)

    def _boxed(self, k: int, v: Variable, place: Any, failed: Any) -> None:
        """A result that is a NumPy scalar."""
        none = ir.Constant(POINTER, None)
        made = self._call("PyArray_Scalar", POINTER, place, self._object(v.dtype), none)
        self._demand(self.b.icmp_unsigned("!=", made, none), failed)
        self.b.store(made, self._at(self.result, python.TUPLE + 8 * k))

    def _endings(self, slow: Any, failed: Any, empty: Any) -> None:
        b, none = self.b, ir.Constant(POINTER, None)
        b.position_at_end(slow)
        b.ret(
            self._call(
                "PyObject_Vectorcall", POINTER, self._entry(self._slow), self.args, self.number,
                none,
            )
        )  # fmt: skip
        b.position_at_end(failed)
        self._call("Py_DecRef", ir.VoidType(), self.result)
        b.ret(self._call("PyErr_NoMemory", POINTER))
        b.position_at_end(empty)
        b.ret(none)
