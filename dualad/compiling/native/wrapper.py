"""The code that CPython calls: it reads the arguments, makes room for the results, runs a kernel.

An argument that is not what the program was written for (another layout, a Python number) goes to
a slower function in Python, which converts it and calls again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from ...engine.arrays.memory import POOL
from ...engine.staging.operations import Variable
from ..program import Output, Program
from . import python
from .calling import INT32, Caller
from .converting import Slow
from .entry import F64, INT, POINTER, integer, kind_of
from .flags import Again, Flags, asks
from .forms import operations_of
from .kernel import Kernel
from .machine import address_of, machine
from .pool import pool
from .rooms import ALIGNED, Block, size_of, stays
from .workers import code

__all__ = ["function_of"]

#: C order and aligned: bits of an array's flags.
PLAIN = 0x101
#: Milliseconds that a kernel may take to compile; what takes longer stays NumPy's.
MOST = 3000.0
#: From how many entries on a result lies in memory of the pool, and what gives that.
LENT, LEND = 1 << 17, POOL.lend
#: From how many entries on other threads of Python run while a kernel does.
LONG = 1 << 15


def function_of(
    program: Program, threads: int = 1, plain: Program | None = None
) -> Callable[..., Any]:
    """The native function of a program whose steps and outputs all have a native form.

    Args:
        program: all of whose steps and outputs have a native form.
        threads: how many share long loops.
        plain: the program as NumPy runs it, where flags are raised; by default the same.
    """
    wrapper = Wrapper(program)
    address = address_of(str(wrapper.module))
    slow = Slow(program.inputs)
    cores, start = (0, 0, 0), None
    if threads > 1 and wrapper.kernel.cores is not None:
        cores = threads - 1, pool().address, code("run")
        start = functools.partial(pool().grow, threads - 1)
    objects = wrapper.objects(slow, start, Again(plain or program))
    own = python.table(objects, wrapper.kernel.constants, wrapper.kernel.kept, cores)
    slow.fast = python.builtin("program", address, own)
    return slow.fast


class Wrapper(Caller):
    """A module of a kernel, and the function around it."""

    def __init__(self, program: Program):
        self.program = program
        self.module = ir.Module("program")
        self.module.triple = machine().triple
        is_heard = asks(program)
        self.kernel = Kernel(program, self.module, MOST, is_shared=True, is_heard=is_heard)
        kind = ir.FunctionType(POINTER, [POINTER, POINTER, INT])
        super().__init__(ir.Function(self.module, kind, "NAME"), self.kernel)
        self.flags = Flags(self.b, self._local(INT32)) if is_heard else None
        #: where the address of a block stays that is kept from call to call
        self.place: Any = None
        self._write()

    # --- writing -----------------------------------------------------------------------------

    def _write(self) -> None:
        b = self.b
        array = self._word(self.own, python.TUPLE)
        self.table = self._word(array, python.OBJECT)
        slow = self.function.append_basic_block("slow")
        self._demand(b.icmp_unsigned("==", self.number, integer(len(self.program.inputs))), slow)
        values = [self._input(k, v, slow) for k, v in enumerate(self.program.inputs)]
        failed = self.function.append_basic_block("failed")
        empty = self.function.append_basic_block("empty")
        if self.kernel.cores is not None:
            self._begin(empty)
        self.result = self._call("PyTuple_New", POINTER, integer(len(self.program.outputs)))
        none = ir.Constant(POINTER, None)
        self._demand(b.icmp_unsigned("!=", self.result, none), empty)
        outputs = [self._room(k, o, failed) for k, o in enumerate(self.program.outputs)]
        held, rooms = self._temporaries(failed)
        *rooms, scratch = rooms
        shared = [self._at(self.table, 8 * python.CORES), scratch]
        code, raised = self._run([*values, *self._constants(), *outputs, *rooms, *shared])
        if held is not None:
            self._give(held)
        self._answer(code)
        if raised is not None:
            self._heed(raised)
        for k, o in enumerate(self.program.outputs):
            if o.kind is float:
                self._python_float(k, o.value, outputs[k], failed)
            elif not o.value.is_array:
                self._boxed(k, o.value, outputs[k], failed)
        b.ret(self.result)
        self._endings(slow, failed, empty)

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

    def _room(self, k: int, o: Output, failed: Any) -> Any:
        """Memory for a result: that of a new array, or a place for a number."""
        b, v = self.b, o.value
        if not v.is_array:
            return self._local(kind_of(v.dtype) if v.dtype.kind != "b" else ir.IntType(8))
        lent = v.dtype == F64 and v.size >= LENT and not o.turned
        made = self._lent(v) if lent else self._empty(v, o.turned)
        self._demand(b.icmp_unsigned("!=", made, ir.Constant(POINTER, None)), failed)
        b.store(made, self._at(self.result, python.TUPLE + 8 * k))
        return self._word(made, python.OBJECT)

    def _empty(self, v: Variable, turned: bool) -> Any:
        """A new array of NumPy's; turned: of the transpose, in Fortran's order."""
        descriptor = self._object(v.dtype)
        self._call("Py_IncRef", ir.VoidType(), descriptor)
        return self._call(
            "PyArray_Empty", POINTER, ir.Constant(INT32, len(v.shape)),
            self._dims(v.shape[::-1] if turned else v.shape),
            descriptor, ir.Constant(INT32, int(turned)),
        )  # fmt: skip

    def _lent(self, v: Variable) -> Any:
        """An array on memory of the pool, whose pages the system need not give again."""
        given, none = self._local(POINTER), ir.Constant(POINTER, None)
        self.b.store(self._object(v.shape), given)
        return self._call(
            "PyObject_Vectorcall", POINTER, self._object(LEND), given, integer(1), none
        )

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
        """Memory that no result lies in: what is to be given back, and where each part begins."""
        sizes = [-(-size_of(v) // ALIGNED) * ALIGNED for v in self.kernel.temporaries]
        cores = self.kernel.cores
        sizes.append(cores.bytes if cores is not None else 0)
        total = sum(sizes)
        if not total:
            return None, [ir.Constant(POINTER, None) for _ in sizes]
        held = None
        if total <= 1 << 15:
            start = self._local(ir.ArrayType(ir.IntType(8), total))
        else:
            held = self._block(total + ALIGNED, failed)
            end = self.b.add(self.b.ptrtoint(held, INT), integer(ALIGNED - 1))
            start = self.b.inttoptr(self.b.and_(end, integer(-ALIGNED)), POINTER)
        places, offset = [], 0
        for n in sizes:
            places.append(self._at(start, offset))
            offset += n
        return held, places

    def _block(self, size: int, failed: Any) -> Any:
        """The block that the last call has left, or a new one: pages that are new cost much."""
        b, none = self.b, ir.Constant(POINTER, None)
        new = self.function.append_basic_block("new")
        if not stays(size):
            held = self._call("PyMem_RawMalloc", POINTER, integer(size))
            self._demand(b.icmp_unsigned("!=", held, none), failed)
            return held
        self.place = self._word(self._object(Block()), python.OBJECT)
        left, before = b.load(self.place, typ=POINTER), b.block
        b.store(none, self.place)
        found = self.function.append_basic_block("found")
        b.cbranch(b.icmp_unsigned("!=", left, none), found, new)
        b.position_at_end(new)
        made = self._call("PyMem_RawMalloc", POINTER, integer(size))
        b.cbranch(b.icmp_unsigned("!=", made, none), found, failed)
        b.position_at_end(found)
        held = b.phi(POINTER)
        held.add_incoming(left, before)
        held.add_incoming(made, new)
        return held

    def _give(self, held: Any) -> None:
        """Leave a block to the next call; that of one which ran at the same time goes."""
        b = self.b
        if self.place is not None:
            left = b.load(self.place, typ=POINTER)
            b.store(held, self.place)
            held = left
        self._call("PyMem_RawFree", ir.VoidType(), held)

    def _run(self, arguments: list[Any]) -> tuple[Any, Any]:
        """The number of the guard that fails, and the flags that are raised."""
        sizes = [v.size for s in operations_of(self.program.steps) for v in s.results]
        state = None
        if max(sizes, default=0) >= LONG:
            state = self._call("PyEval_SaveThread", POINTER)
        if self.flags is not None:
            self.flags.clear()
        code = self.b.call(self.kernel.function, arguments)
        raised = self.flags.raised() if self.flags is not None else None
        if state is not None:
            self._call("PyEval_RestoreThread", ir.VoidType(), state)
        return code, raised

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

    def _python_float(self, k: int, v: Variable, place: Any, failed: Any) -> None:
        """A result that is a float of Python."""
        number = self._number(place, v.dtype)
        if v.dtype.itemsize < 8:
            number = self.b.fpext(number, ir.DoubleType())
        made = self._call("PyFloat_FromDouble", POINTER, number)
        self._demand(self.b.icmp_unsigned("!=", made, ir.Constant(POINTER, None)), failed)
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
        # What made no array has said why: the memory is at an end, or somebody interrupts.
        told = b.icmp_unsigned("!=", self._call("PyErr_Occurred", POINTER), none)
        silent = self.function.append_basic_block("silent")
        b.cbranch(told, empty, silent)
        b.position_at_end(silent)
        b.ret(self._call("PyErr_NoMemory", POINTER))
        b.position_at_end(empty)
        b.ret(none)
