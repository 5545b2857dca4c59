"""`dualad.compile`: a function, or a decorator."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, overload

from ..errors import ArgumentError
from .backends import checked
from .compiled import Compiled
from .cores import number_of_threads

__all__ = ["compile"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def compile(
    function: F,
    *,
    static: Iterable[int | str] = ...,
    max_paths: int = ...,
    backend: str = ...,
    threads: int | None = ...,
) -> Compiled: ...
@overload
def compile(
    function: None = None,
    *,
    static: Iterable[int | str] = ...,
    max_paths: int = ...,
    backend: str = ...,
    threads: int | None = ...,
) -> Callable[[Callable[..., Any]], Compiled]: ...


def compile(
    function: Callable[..., Any] | None = None,
    *,
    static: Iterable[int | str] = (),
    max_paths: int = 32,
    backend: str = "auto",
    threads: int | None = None,
) -> Any:
    """A function that gives what `function` gives, run as a program.

    The first call with arguments of some structure, shapes and dtypes runs the function and
    writes its operations down; later calls run these. What Python decides by a value (a branch,
    a loop that ends, an index) is checked in the program, and another path is traced where it is
    decided otherwise. Works in any nesting with the transformations: `compile(grad(f))` compiles
    the derivative program, and `grad(compile(f))` does so too.

    Args:
        function: a function of arrays, floats or nested containers, written in NumPy. It depends
            on its arguments alone: what it reads beside them is remembered (module and closure
            variables are compared at each call), and random draws or prints, where they are
            noticed, leave the function as it is.
        static: positions or names of arguments that are no values but decide the program. Numbers
            of type int, strings and other objects that are no arrays always do.
        max_paths: how many paths are kept for one kind of arguments.
        backend: "numpy", "numba" (the extra `jit`), or "auto": numba where it is installed.
        threads: how many threads run a large loop of machine code, the one that calls among
            them; 1 for none. By default the environment variable DUALAD_NUM_THREADS, then
            OMP_NUM_THREADS, then the number of CPUs that this process may use. The result does
            not depend on it, to the last bit.

    Returns:
        A `Compiled` function, with `source()` and `clear()`.

    Raises:
        ArgumentError: `function` is none, or an option is none of those above.

    Warns:
        CompileWarning: once for a function that runs without a program, with the reason and the
            line that it lies in.

    >>> import numpy as np, dualad
    >>> df = dualad.compile(dualad.grad(lambda x: np.sum(np.sin(x) ** 2)))
    >>> df(np.zeros(2))
    array([0., 0.])
    """
    number_of_threads(threads)  # raises here, where it was asked for
    options: dict[str, Any] = {
        "threads": threads,
        "static": frozenset([static] if isinstance(static, (int, str)) else static),
        "max_paths": _whole(max_paths),
        "backend": checked(backend),
    }
    if function is None:
        return functools.partial(Compiled, **options)
    if not callable(function):
        raise ArgumentError(f"compile takes a function, got {type(function).__name__}")
    if not isinstance(function, Compiled):
        return Compiled(function, **options)
    return function if options == DEFAULT else Compiled(function.function, **options)


DEFAULT: dict[str, Any] = {
    "threads": None,
    "static": frozenset(),
    "max_paths": 32,
    "backend": "auto",
}


def _whole(max_paths: Any) -> int:
    if isinstance(max_paths, int) and max_paths >= 1:
        return max_paths
    raise ArgumentError(f"max_paths is a whole number from 1 on, not {max_paths!r}")
