"""What NumPy does by itself on arrays of expressions: it moves, adds and multiplies entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .entries import number
from .special import SEVERAL
from .tables import UFUNCS
from .value import FUNCTIONS, Symbolic, entries_of, store, wrapped

__all__ = ["by_numpy", "plain"]


def plain(x: Any) -> Any:
    """Symbolic arrays inside an argument, as object arrays."""
    if isinstance(x, Symbolic):
        return x.entries
    if type(x) in (list, tuple):
        return type(x)(map(plain, x))
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return entries_of(x) if isinstance(x, np.ndarray) and x.dtype.kind in "fcO" else x


def given_back(x: Any) -> Any:
    """Results of NumPy, whose own zeros and ones become expressions; views stay views."""
    if type(x) in (list, tuple):
        return type(x)(map(given_back, x))
    out = wrapped(x)
    plain_numbers = any(not isinstance(e, sympy.Basic) for e in out.entries.ravel())
    return Symbolic(entries_of(out.entries)) if plain_numbers else out


def by_numpy(f: Any, prepare: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A NumPy function on arrays of expressions; arithmetic prepares truth values as 0 and 1."""

    def given(x: Any) -> Any:
        x = plain(x)
        return prepare(x) if prepare is not None and isinstance(x, np.ndarray) else x

    def call(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        kwargs.pop("dtype", None)
        result = given_back(f(*map(given, args), **{k: given(v) for k, v in kwargs.items()}))
        return result if out is None else store(out, result)

    return call


for _f in (
    *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis),
    *(np.expand_dims, np.squeeze, np.broadcast_to, np.broadcast_arrays),
    *(np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block),
    *(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.append, np.insert, np.delete),
    *(np.repeat, np.tile, np.roll, np.flip, np.fliplr, np.flipud, np.rot90, np.take, np.compress),
    *(np.take_along_axis, np.resize, np.pad, np.atleast_1d, np.atleast_2d, np.atleast_3d),
    *(np.diag, np.diagflat, np.diagonal, np.trace, np.tril, np.triu, np.matrix_transpose),
    *(np.copy, np.linalg.matrix_transpose),
):
    FUNCTIONS[_f] = by_numpy(_f)

for _a in (
    *(np.sum, np.prod, np.cumsum, np.cumprod, np.diff, np.ediff1d, np.trapezoid),
    *(np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.kron, np.cross, np.einsum),
    *(np.convolve, np.correlate, np.polyval, np.vander, np.linalg.multi_dot),
):
    FUNCTIONS[_a] = by_numpy(_a, np.frompyfunc(number, 1, 1))

for _name in ("matmul", "vecdot", "matvec", "vecmat"):
    _ufunc = getattr(np, _name, None)
    if _ufunc is not None:
        UFUNCS[_name] = by_numpy(_ufunc)


def several(functions: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    """A ufunc with more than one result."""
    parts = [np.frompyfunc(lambda *a, f=f: f(*map(number, a)), 1, 1) for f in functions]
    return lambda *inputs: tuple(wrapped(p(*map(entries_of, inputs))) for p in parts)


for _name, _functions in SEVERAL.items():
    UFUNCS[_name] = several(_functions)
