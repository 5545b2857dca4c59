"""The compiled function: programs by the arguments they are for, and paths by what they decide."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable
from typing import Any

from .numpy_source import Failed, NumpySource
from .passes import simplified
from .program import Program, trace
from .signature import Call, signature

__all__ = ["Compiled", "compile"]

#: From how many failures of one question on the value itself it is not asked again.
SAME = 3


class Path:
    """One program of a function, and the function that runs it."""

    __slots__ = ("leaf", "program", "run", "traced", "tree")

    def __init__(self, traced: Program):
        self.traced = traced
        self.program = simplified(traced)
        self.run = NumpySource(self.program).function_of()
        self.tree = traced.tree


class Paths:
    """The programs for one kind of arguments, the latest first."""

    __slots__ = ("known", "refused")

    def __init__(self) -> None:
        self.known: list[Path] = []
        #: why these arguments run as they are, without a program
        self.refused: str | None = None


class Compiled:
    """A function that runs as a program; see `compile`."""

    def __init__(
        self, function: Callable[..., Any], static: frozenset, max_paths: int, backend: str
    ):
        self.function = function
        self.static = static
        self.max_paths = max_paths
        self.backend = backend
        self.cache: dict[Any, Paths] = {}
        self._lock = threading.RLock()
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = signature(args, kwargs, self.static)
        if call.has_traced or call.key is None:
            return self.function(*args, **kwargs)
        paths = self.cache.get(call.key)
        if paths is None:
            return self._first(call)
        if paths.refused is not None:
            return self.function(*args, **kwargs)
        for k, path in enumerate(paths.known):
            out = path.run(*call.values)
            if type(out) is not Failed:
                if k:
                    with self._lock:
                        if path in paths.known:
                            paths.known.remove(path)
                            paths.known.insert(0, path)
                return path.tree.unflatten(out)
        return self._another(call, paths)

    def _first(self, call: Call) -> Any:
        with self._lock:
            paths = self.cache.setdefault(call.key, Paths())
        return self._another(call, paths)

    def _another(self, call: Call, paths: Paths) -> Any:
        """Trace the path that these arguments take."""
        with self._lock:
            if len(paths.known) >= self.max_paths:
                paths.refused = "too many paths"
        program, result = trace(self.function, call.values, call.rebuild)
        path = Path(program)
        with self._lock:
            paths.known.insert(0, path)
        return result


def compile(
    function: Callable[..., Any] | None = None,
    *,
    static: Iterable[int | str] = (),
    max_paths: int = 32,
    backend: str = "auto",
) -> Any:
    """A function that gives what `function` gives, run as a program."""
    if function is None:
        return functools.partial(compile, static=static, max_paths=max_paths, backend=backend)
    return Compiled(function, frozenset(static), max_paths, backend)
