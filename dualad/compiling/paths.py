"""The programs of a function for one kind of arguments: one for each path that it takes."""

from __future__ import annotations

import operator
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from ..engine.levels.tree import LEAF_TREE
from ..engine.staging.operations import Guard
from .backends import prefers_loops, runner
from .captured import Captured
from .numpy_source import Failed
from .passes import private_arrays, simplified, without_dead_code, without_repetition, writes_last
from .program import Program, overlapping
from .rolling import rolled

__all__ = ["Path", "Paths"]

FIRST = operator.itemgetter(0)
#: Questions whose answers hardly ever come again: how often one of them may fail.
EXACT = {"value": 3, "float": 3, "complex": 3}
WHY = {
    "value": "reads the entries of a value that depends on the arguments",
    "float": "turns a value that depends on the arguments into a Python float (use NumPy's "
    "functions in place of math's, and np.zeros_like(x) in place of np.zeros for a buffer)",
    "complex": "turns a value that depends on the arguments into a Python complex",
}


class Path:
    """One program of a function; what runs it is made when it is first run."""

    __slots__ = ("backend", "finish", "program", "run", "threads", "traced")

    #: the function of the input values; it gives the leaves of the result, or a Failed
    run: Callable[..., Any]
    #: the result from its leaves
    finish: Callable[[Any], Any]

    def __init__(self, traced: Program, backend: str, threads: int | None = None):
        self.traced = traced
        self.backend, self.threads = backend, threads
        self.program: Program | None = None
        self.finish = FIRST if traced.tree is LEAF_TREE else traced.tree.unflatten
        self.run = self._first_run

    def simplified(self) -> Program:
        """The program after all passes."""
        if self.program is None:
            private = private_arrays(self.traced)
            short = without_dead_code(without_repetition(self.traced))
            looped = rolled(short) if prefers_loops(short, self.backend) else short
            self.program = writes_last(simplified(looped, private))
        return self.program

    def _first_run(self, *values: Any) -> Any:
        self.run = runner(self.simplified(), self.backend, self.threads)
        return self.run(*values)


def _nothing(args: tuple) -> None:
    """The matcher of arguments that have to be looked at more closely at each call."""


class Paths:
    """The programs for one kind of arguments, the latest first."""

    def __init__(self, most: int, backend: str, threads: int | None = None):
        self.most = most
        self.backend, self.threads = backend, threads
        self.known: list[Path] = []
        #: for plain arguments: see `matcher`
        self.match: Callable[[tuple], tuple | None] | None = None
        #: the objects among the arguments, as they were
        self.given: Captured | None = None
        #: programs that write into arguments
        self.writing: list[Program] = []
        self.failed: Counter[tuple[str, str]] = Counter()
        #: why these arguments run without a program
        self.refused: str | None = None
        self._lock = threading.Lock()

    def run(self, values: list) -> tuple[Any, Any]:
        """The path that fits and its result; (None, the guard that failed last) if none does."""
        guard: Guard | None = None
        for k, path in enumerate(self.known):
            out = path.run(*values)
            if type(out) is not Failed:
                if k:
                    self._to_front(path)
                return path, out
            guard = out.guard
        return None, guard

    def overlaps(self, values: list) -> bool:
        """Whether what a program writes into is read by another name as well."""
        return any(overlapping(program, values) for program in self.writing)

    def _to_front(self, path: Path) -> None:
        with self._lock:
            if path in self.known:
                self.known.remove(path)
                self.known.insert(0, path)

    def may_grow(self, guard: Guard | None) -> bool:
        """Whether another path is worth a trace, after a guard failed; else it is refused."""
        with self._lock:
            if guard is not None and guard.question in EXACT:
                place = (guard.where, guard.question)
                self.failed[place] += 1
                if self.failed[place] > EXACT[guard.question]:
                    self.refused = f"{guard.where} {WHY[guard.question]}"
            if guard is not None and len(self.known) >= self.most:
                self.refused = (
                    f"it takes more than {self.most} paths, the last one decided at {guard.where}"
                )
            return self.refused is None

    def add(self, program: Program) -> Path:
        """A path for a program."""
        path = Path(program, self.backend, self.threads)
        with self._lock:
            self.known.insert(0, path)
            if program.writes:
                self.writing.append(program)
                self.match = _nothing
        return path
