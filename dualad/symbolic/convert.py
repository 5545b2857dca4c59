"""A NumPy function as a SymPy expression."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..engine.levels.tree import flatten
from ..errors import ArgumentError
from .extra import symbolic_extra

__all__ = ["on_symbols", "to_sympy"]


def to_sympy(f: Callable[..., Any], *symbols: Any) -> Any:
    """A function written in NumPy as a SymPy expression, Matrix or array.

    Args:
        f: the function; branches are written with np.where, np.select or np.piecewise.
        symbols: one per argument of f: a SymPy symbol or expression, a Matrix, a nested list of
            expressions for an array, or a number. None at all: a real symbol for each argument,
            with its name.

    Returns:
        An expression for a number, a column Matrix for a vector, a Matrix for a matrix, an
        ImmutableDenseNDimArray beyond that; for a container of results the same container.

    Raises:
        NotSymbolicError: f uses something that SymPy does not know.
        SymbolicBranchError: f branches on the value of a symbol, with `if` or `float(x)`.
        MissingExtraError: SymPy is not installed.

    >>> import numpy as np, sympy
    >>> to_sympy(lambda x, k: np.exp(-k * x) * np.maximum(x, 0))
    exp(-k*x)*Max(0, x)
    >>> a, b = sympy.symbols("a b", real=True)
    >>> to_sympy(lambda v: v / np.sum(v), [a, b])
    Matrix([
    [a/(a + b)],
    [b/(a + b)]])
    """
    symbolic_extra()
    return _given_back(on_symbols(f, symbols or _own_symbols(f)))


def on_symbols(f: Callable[..., Any], symbols: Sequence[Any]) -> Any:
    """f of symbolic arrays; the leaves of what it gives are symbolic arrays."""
    from .value import Symbolic, symbolic

    def array(x: Any) -> Any:
        return Symbolic(symbolic(x).entries.copy())

    leaves, tree = flatten(f(*map(array, symbols)))
    return tree.unflatten([symbolic(v) for v in leaves])


def _own_symbols(f: Callable[..., Any]) -> list[Any]:
    import sympy

    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(
            f"the arguments of {f!r} cannot be read: give to_sympy a symbol for each of them"
        ) from None
    required = [
        p for p in parameters if p.default is p.empty and p.kind <= p.POSITIONAL_OR_KEYWORD
    ]
    return [sympy.Symbol(p.name, real=True) for p in required]


def _given_back(result: Any) -> Any:
    leaves, tree = flatten(result)
    return tree.unflatten([_matrix(v.entries) for v in leaves])


def _matrix(entries: Any) -> Any:
    import numpy as np
    import sympy

    from .held import released

    entries = np.frompyfunc(released, 1, 1)(entries)
    if not isinstance(entries, np.ndarray):
        return entries
    if entries.ndim == 0:
        return entries[()]
    if entries.ndim <= 2:
        return sympy.Matrix(entries)
    return sympy.ImmutableDenseNDimArray(entries.ravel().tolist(), entries.shape)
