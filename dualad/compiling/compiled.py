"""The compiled function: programs by the arguments they are for, and what to do without one."""

from __future__ import annotations

import functools
import importlib
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

from ..engine.levels.tree import flatten
from ..engine.staging.operations import Untraceable
from ..errors import ArgumentError, CompileWarning
from .captured import Captured
from .doubts import Doubts
from .impurity import Impurity
from .integers import Integers, deciding
from .numpy_source import Failed, NumpySource
from .paths import Path, Paths
from .program import Program, trace
from .signature import Call, by_name_and_position, matcher, python_numbers, signature
from .under import Derivatives, Written, is_staged, top_of, without_writes

__all__ = ["Compiled"]

#: How many kinds of arguments are remembered, and how often what is captured may change.
KINDS, CHANGES = 256, 8
#: Why a function has no program in the end, though each single time it might have one.
CAPTURED = "{}, which it captures, changes again and again: pass it as an argument"
GIVEN = "{}, of an object that it is given, changes again and again: pass it as an argument"
WARNS = "it gives warnings (warnings.warn), which a program does not"


class Compiled:
    """A function that runs as a program; see `compile`."""

    def __init__(
        self,
        function: Callable[..., Any],
        static: frozenset[int | str] = frozenset(),
        max_paths: int = 32,
        backend: str = "auto",
        warns: bool = True,
        watched: tuple[Callable[..., Any], ...] = (),
        threads: int | None = None,
    ):
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self._static = by_name_and_position(function, static) if static else static
        self._max_paths, self._backend, self._threads = max_paths, backend, threads
        self._cache: dict[Any, Paths] = {}
        #: the programs that ran last, where their arguments are plain
        self._hot: Any = None
        self._derivatives: dict[Any, Derivatives] = {}
        self._captured: Captured | None = None
        self._doubts = Doubts()
        self._changes = 0
        self._integers = Integers(max_paths)
        #: why the function runs as it is, whatever the arguments
        self._refused: str | None = None
        self._warned = not warns
        #: functions that the function calls where nobody can see that it does
        self._watched = watched
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<compiled {_name(self.function)}>"

    def __reduce__(self) -> Any:
        return functools.partial(Compiled, threads=self._threads), (
            self.function, self._static, self._max_paths, self._backend,
        )  # fmt: skip

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        hot = self._hot
        if hot is not None and not kwargs:
            values = hot.match(args)
            if values is not None and hot.refused is None:
                captured = self._captured
                if captured is None or captured.changed() is None:
                    path = hot.known[0]
                    try:
                        out = path.run(*values)
                    except Exception:
                        out = None  # the error is the function's own
                    if out is None:
                        return self.function(*args)
                    if type(out) is not Failed:
                        return path.finish(out)
        return self._call(args, kwargs)

    def _call(self, args: tuple, kwargs: dict) -> Any:
        call = signature(args, kwargs, self._static, self._integers.varying)
        if call.key is None or self._refused is not None:
            return self.function(*args, **kwargs)
        if call.has_traced:
            return self._traced(call, args, kwargs)
        captured = self._captured
        if captured is not None and captured.changed() is not None:
            self._forget(captured)
        paths = self._cache.get(call.key)
        if paths is not None and paths.given is not None:
            name = paths.given.changed()
            if name is not None:
                self._cache.pop(call.key, None)
                self._count_change(GIVEN.format(name))
                paths = None
        if paths is None:
            leaf = self._integers.count(args, kwargs, self._static)
            if leaf is not None and leaf not in self._integers.deciding:
                self._integers.vary(leaf)
                return self._call(args, kwargs)
            if leaf is not None:
                self._warn(self._integers.why(leaf, self.function, args, kwargs))
                return self.function(*args, **kwargs)
            paths = self._new(call.key)
        if paths.refused is not None or self._refused is not None or paths.overlaps(call.values):
            return self.function(*args, **kwargs)
        try:
            path, out = paths.run(call.values)
        except Exception:
            return self.function(*args, **kwargs)  # the error is the function's own
        if path is not None:
            if paths.match is not None:
                self._hot = paths
            return path.finish(out)
        if not paths.may_grow(out):
            self._warn(paths.refused)
            return self.function(*args, **kwargs)
        return self._run_and_trace(call, paths, args, kwargs)

    # --- tracing ------------------------------------------------------------------------------

    def _new(self, key: Any) -> Paths:
        with self._lock:
            while len(self._cache) >= KINDS:
                del self._cache[next(iter(self._cache))]
            new = Paths(self._max_paths, self._backend, self._threads)
            return self._cache.setdefault(key, new)

    def _run_and_trace(self, call: Call, paths: Paths, args: tuple, kwargs: dict) -> Any:
        captured = Captured(self.function, *self._watched)
        given = Captured(given=call.others, names=captured.names, codes=captured.codes)
        sources = [*captured.sources, *given.sources, *flatten((args, kwargs))[0]]
        impure, marks = Impurity(sources), (captured.marks(), given.marks())
        try:
            with impure:
                numbers = python_numbers(args, kwargs, self._static, call.places)
                program, result, kept = trace(self.function, call.values, call.rebuild, numbers)
        except Untraceable as error:
            why = str(error) if error.always else None
        except Written:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        else:
            why = ""
        if why != "":
            captured.restore()
            given.restore()
            result = self.function(*args, **kwargs)  # the error is the function's own if it raises
            if why is not None:
                self._refuse(paths, why)
            return result
        if kept is not None and impure.found is None:
            impure.found = f"it keeps a value that depends on the arguments, in {kept}"
        if impure.found is not None:
            self._refused = impure.found
            self._warn(impure.found)
            return result
        if impure.warned:  # so it does whenever it comes to that place
            self._count_change(WARNS)
            return result
        name = captured.settled() or captured.written(marks[0])
        name = name or given.settled() or given.written(marks[1])
        if name is not None:  # the function itself did it, and will do it again
            self._count_change(CAPTURED.format(name))
            return result
        leaves = deciding(program, call, self._integers.varying)
        if leaves:
            self._integers.decide(leaves)
            self._cache.pop(call.key, None)
            self._warn(self._integers.why(min(leaves), self.function, args, kwargs))
            return result
        self._keep(program, paths, captured, given)
        if not kwargs and not self._static and not paths.writing:
            paths.match = matcher(args, self._integers.varying)
        return result

    def _keep(self, program: Program, paths: Paths, captured: Captured, given: Captured) -> None:
        """Keep a program, and what it depends on beside the arguments."""
        captured.compare_arrays(program, self._doubts, self._captured)
        given.compare_arrays(program, self._doubts, paths.given)
        with self._lock:
            self._captured = captured if captured else None
        paths.given = given if given else None
        paths.add(program)

    def _refuse(self, paths: Paths, why: str) -> None:
        paths.refused = why
        self._warn(why)

    def _warn(self, why: str | None) -> None:
        with self._lock:
            if self._warned:
                return
            self._warned = True
        warnings.warn(
            f"dualad.compile runs {_name(self.function)} without a program: {why}",
            CompileWarning,
            stacklevel=_outside(),
        )

    def _forget(self, captured: Captured) -> None:
        """Start again where a variable that the function captures has another value."""
        name = captured.changed()
        with self._lock:
            if self._captured is not captured:
                return
            self._captured = None
            self._cache.clear()
            self._hot = None
            self._derivatives.clear()
        self._count_change(CAPTURED.format(name))

    def _count_change(self, why: str) -> None:
        """Give up where what a program depends on changes again and again."""
        with self._lock:
            self._changes += 1
            if self._changes <= CHANGES or self._refused is not None:
                return
            self._refused = why
        self._warn(self._refused)

    # --- under transformations ------------------------------------------------------------------

    def _traced(self, call: Call, args: tuple, kwargs: dict) -> Any:
        top = top_of(call.values)
        if top is None or any(map(is_staged, call.values)):
            return self.function(*args, **kwargs)
        made = self._derivatives.get(call.key)
        if made is None:
            made = self._derivatives.setdefault(call.key, self._differentiable(call))
        out = made.under(call.values, top)
        return self.function(*args, **kwargs) if out is NotImplemented else out

    def _differentiable(self, call: Call) -> Derivatives:
        rebuild = call.rebuild

        def of_values(*values: Any) -> Any:
            args, kwargs = rebuild(list(values))
            return self.function(*args, **kwargs)

        def compiled(f: Callable[..., Any]) -> Compiled:
            return Compiled(
                f, max_paths=self._max_paths, backend=self._backend, threads=self._threads
            )

        checked = without_writes(of_values)
        return Derivatives(functools.wraps(self.function)(checked), compiled)

    # --- for people ---------------------------------------------------------------------------

    def source(self, *args: Any, simplified: bool = True, **kwargs: Any) -> str:
        """The program for some arguments as NumPy source, before or after it is simplified.

        Without arguments it is the program that ran last.
        """
        path = self._path(args, kwargs)
        program = path.simplified() if simplified else path.traced
        return NumpySource(program).text(_name(self.function))

    def cfunc(self, *args: Any, signature: str | None = None, **kwargs: Any) -> Any:
        """The program for some arguments as a function of C, for integrators that take pointers.

        Arguments and results are float64. Where the program would take another path than for
        these arguments, all results are NaN.

        Args:
            *args: arguments of a call, which is made.
            signature: one of "double (double)", "double (int, double *)" (numbers as one array),
                "void (double, double *, double *)" (time, state, its derivative), and "void
                (double *, double *)" (all arguments one after the other, all results likewise);
                by default the first of these that fits.
            **kwargs: keyword arguments of the call.

        Returns:
            An object with `address`, `signature`, `ctypes` (the function for ctypes) and
            `as_scipy()`, which gives a `scipy.LowLevelCallable`.

        Raises:
            ArgumentError: the function has no program, or the program no function of C.
            MissingExtraError: the extra `jit` is not installed.
        """
        native = importlib.import_module(".native", __package__)
        return native.c_function(self._path(args, kwargs).simplified(), signature)

    def _path(self, args: tuple, kwargs: dict) -> Path:
        if args or kwargs:
            self(*args, **kwargs)
            call = signature(args, kwargs, self._static, self._integers.varying)
            chosen = [self._cache[call.key]] if call.key in self._cache else []
        else:
            chosen = list(self._cache.values())[-1:]
        if not chosen or not chosen[0].known:
            why = self._refused or (chosen[0].refused if chosen else None)
            raise ArgumentError(
                f"{_name(self.function)} has no program: "
                + (why or "call it first, or give source the arguments of a call")
            )
        return chosen[0].known[0]

    def clear(self) -> None:
        """Forget all programs, and whatever kept the function from having one."""
        with self._lock:
            self._cache.clear()
            self._hot = None
            self._derivatives.clear()
            self._captured, self._refused = None, None
            self._integers, self._doubts = Integers(self._max_paths), Doubts()
            self._changes, self._warned = 0, False


def _outside() -> int:
    """How many calls up from a warning the code outside of the package lies."""
    frame, level = sys._getframe(1), 1
    while frame.f_globals.get("__name__", "").startswith(ROOT) and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    return level


#: What the names of the modules of this package begin with.
ROOT = __name__.partition(".")[0] + "."


def _name(f: Any) -> str:
    name = getattr(f, "__name__", type(f).__name__)
    return name if name.isidentifier() else "program"
