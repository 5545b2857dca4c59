"""What the code around a kernel asks of Python: objects by a table, threads, warnings."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ..numpy_source import Failed
from . import python
from .emitter import Callee
from .entry import INT, POINTER, integer
from .flags import UNDERFLOW, is_heeded, state
from .pool import WANTED

__all__ = ["INT32", "NONE", "Caller"]

INT32 = ir.IntType(32)
#: No object: an error is set.
NONE = ir.Constant(POINTER, None)


class Caller:
    """A function that CPython calls, while it is written."""

    def __init__(self, function: Any, kernel: Any):
        self.function, self.kernel = function, kernel
        self.b = ir.IRBuilder(function.append_basic_block("start"))
        self.own, self.args, self.number = function.args
        #: where addresses lie, and the objects in there: types, dtypes, failures
        self.table: Any = None
        self.kept: list[Any] = []
        #: the tuple of results
        self.result: Any = None

    # --- the table ---------------------------------------------------------------------------

    def objects(self, slow: Any, start: Any, again: Any) -> list[Any]:
        """The objects in the order of the table."""
        return [slow, start, again, *(Failed(g) for g in self.kernel.guards), *self.kept]

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
        return self._slow + 3

    @property
    def _again(self) -> int:
        return self._slow + 2

    @property
    def _start(self) -> int:
        return self._slow + 1

    @property
    def _slow(self) -> int:
        return python.COUNT + len(self.kernel.constants)

    def _call(self, name: str, kind: Any, *args: Any) -> Any:
        """A function of CPython or NumPy."""
        signature = ir.FunctionType(kind, [a.type for a in args])
        callee = Callee(self._entry(python.API[name]), signature)
        return self.b.call(callee, list(args))

    def _invoke(self, f: Any, args: Any, number: Any) -> Any:
        """Call an object."""
        return self._call("PyObject_Vectorcall", POINTER, f, args, number, NONE)

    # --- instructions ------------------------------------------------------------------------

    def _at(self, pointer: Any, offset: Any) -> Any:
        at = integer(offset) if isinstance(offset, int) else offset
        return self.b.gep(pointer, [at], source_etype=ir.IntType(8))

    def _word(self, pointer: Any, offset: int, kind: Any = POINTER) -> Any:
        return self.b.load(self._at(pointer, offset), typ=kind)

    def _demand(self, condition: Any, otherwise: Any) -> None:
        """Go on only where a condition holds."""
        following = self.function.append_basic_block("next")
        self.b.cbranch(condition, following, otherwise)
        self.b.position_at_end(following)

    def _local(self, kind: Any) -> Any:
        with self.b.goto_block(self.function.entry_basic_block):
            first = self.function.entry_basic_block.instructions
            if first:
                self.b.position_before(first[0])
            return self.b.alloca(kind)

    # --- what is asked -----------------------------------------------------------------------

    def _begin(self, failed: Any) -> None:
        """See to it that the threads are there: before the first call, and after a fork."""
        b = self.b
        workers = self._word(self.table, 8 * python.CORES, INT)
        ask, start, following = map(self.function.append_basic_block, ("ask", "begin", "next"))
        b.cbranch(b.icmp_unsigned("==", workers, integer(0)), following, ask)
        b.position_at_end(ask)
        wanted = self._word(self._entry(python.CORES + 1), 8 * WANTED, INT)
        b.cbranch(b.icmp_unsigned(">=", wanted, workers), following, start)
        b.position_at_end(start)
        started = self._invoke(self._entry(self._start), self.args, integer(0))
        self._demand(b.icmp_unsigned("!=", started, NONE), failed)
        self._call("Py_DecRef", ir.VoidType(), started)
        b.branch(following)
        b.position_at_end(following)

    def _heed(self, raised: Any) -> None:
        """Run the program by NumPy where a flag is raised that is not ignored."""
        b = self.b
        ask, again, failed, following = map(
            self.function.append_basic_block, ("ask", "again", "failed", "next")
        )
        b.cbranch(b.icmp_unsigned("==", raised, integer(0)), following, ask)
        b.position_at_end(ask)
        self._pass_underflow(raised, following)
        number = self._call("PyLong_FromLong", POINTER, raised)
        given = self._local(POINTER)
        b.store(number, given)
        told = self._invoke(self._object(is_heeded), given, integer(1))
        self._call("Py_DecRef", ir.VoidType(), number)
        self._demand(b.icmp_unsigned("!=", told, NONE), failed)
        self._call("Py_DecRef", ir.VoidType(), told)
        b.cbranch(b.icmp_unsigned("==", told, self._object(True)), again, following)
        b.position_at_end(again)
        self._call("Py_DecRef", ir.VoidType(), self.result)
        b.ret(self._invoke(self._entry(self._again), self.args, self.number))
        b.position_at_end(failed)
        self._call("Py_DecRef", ir.VoidType(), self.result)
        b.ret(NONE)
        b.position_at_end(following)

    def _pass_underflow(self, raised: Any, following: Any) -> None:
        """Go on where it is underflow alone, and nobody has set an error state."""
        found = state()
        if found is None:
            return
        b = self.b
        look, judge = map(self.function.append_basic_block, ("look", "judge"))
        b.cbranch(b.icmp_unsigned("==", raised, integer(UNDERFLOW)), look, judge)
        b.position_at_end(look)
        variable, default = found
        place = self._local(POINTER)
        b.store(NONE, place)
        self._call("PyContextVar_Get", INT32, self._object(variable), NONE, place)
        now = b.load(place, typ=POINTER)
        self._demand(b.icmp_unsigned("!=", now, NONE), judge)
        self._call("Py_DecRef", ir.VoidType(), now)
        b.cbranch(b.icmp_unsigned("==", now, self._object(default)), following, judge)
        b.position_at_end(judge)
