"""The methods of sparse matrices with traced entries, by SciPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.levels.missing import missing_rule
from ...errors import LostDerivativeError
from .arithmetic import (
    add,
    boxed,
    dense_of,
    divide,
    matmul,
    matrix_power,
    multiply,
    power,
    rdivide,
    rmatmul,
    rsubtract,
    subtract,
    times,
)
from .entries import ROOT, TracedSparse, gathered
from .products import sparse_product

__all__ = ["BY_ENTRY", "OPERATORS"]

#: Functions of single entries that keep zero at zero; SciPy has them as methods.
BY_ENTRY = {
    name: getattr(np, name)
    for name in (
        "arcsin",
        "arcsinh",
        "arctan",
        "arctanh",
        "ceil",
        "conj",
        "conjugate",
        "deg2rad",
        "expm1",
        "floor",
        "log1p",
        "rad2deg",
        "rint",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "trunc",
    )
}


def _by_entry(f: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: TracedSparse) -> TracedSparse:
        a = self.deduped()
        return a.with_entries(f(a.entries))

    return method


for _name, _f in BY_ENTRY.items():
    setattr(TracedSparse, _name, _by_entry(_f))
TracedSparse.__abs__ = _by_entry(np.abs)  # type: ignore[attr-defined]
setattr(TracedSparse, "__neg__", lambda self: self.with_entries(-self.entries))  # noqa: B010
setattr(TracedSparse, "__pos__", TracedSparse.copy)  # noqa: B010
for _name, _f in {"real": np.real, "imag": np.imag}.items():
    setattr(TracedSparse, _name, property(_by_entry(_f)))

# --- operators -----------------------------------------------------------------------------------


def _power(a: Any, n: Any) -> Any:
    return matrix_power(a, n) if a.is_matrix else power(a, n)


def _dot(a: Any, x: Any) -> Any:
    return times(a, x) if np.ndim(x) == 0 and not hasattr(x, "nnz") else matmul(a, x)


def _rtimes(a: Any, x: Any) -> Any:
    return rmatmul(a, x) if a.is_matrix and np.ndim(x) else times(a, x)


#: The operations of a sparse matrix with another operand, by the name of their method.
OPERATORS: dict[str, Callable[..., Any]] = {
    "__matmul__": matmul,
    "__rmatmul__": rmatmul,
    "dot": _dot,
    "__add__": add,
    "__radd__": add,
    "__sub__": subtract,
    "__rsub__": rsubtract,
    "__mul__": times,
    "__rmul__": _rtimes,
    "multiply": multiply,
    "__truediv__": divide,
    "__rtruediv__": rdivide,
    "__pow__": _power,
    "power": power,
}
for _name, _operation in OPERATORS.items():
    setattr(TracedSparse, _name, _operation)


# --- reductions and parts ------------------------------------------------------------------------


@boxed
def toarray(self: Any, order: Any = None, out: Any = None) -> Any:
    """The dense matrix."""
    if out is not None:
        raise LostDerivativeError("toarray(out=...) would store traced entries in a plain array")
    return dense_of(self)


@boxed
def total(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The sum of all entries, or of each column (axis=0) or row (axis=1)."""
    if out is not None:
        raise LostDerivativeError("sum(out=...) would store traced entries in a plain array")
    a = self if dtype is None else self.astype(dtype)
    if axis is None or axis in ((0, 1), (-2, -1)):
        return np.sum(a.entries)
    if axis not in (0, 1, -1, -2):
        raise ValueError(f"a sparse matrix has no axis {axis}")
    down = axis % 2 == 0
    entries, pattern, by_columns = a.compressed()
    ones = np.ones(a.shape[not down], a.dtype)
    out = sparse_product(entries, ones, transposed=down != by_columns, **pattern)
    return np.expand_dims(out, axis) if a.is_matrix else out


def mean(self: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """The mean of all places, or of each column (axis=0) or row (axis=1)."""
    n = self.shape[0] * self.shape[1] if axis is None else self.shape[axis]
    return total(self, axis, dtype, out) / n


@boxed
def diagonal(self: Any, k: int = 0) -> Any:
    """The entries (i, i + k)."""
    a = self.deduped()
    return gathered(a, a.numbered.diagonal(k))


def trace(self: Any, offset: int = 0) -> Any:
    """The sum of a diagonal."""
    return diagonal(self, offset).sum()


@boxed
def _item(self: Any, key: Any) -> Any:
    a = self.deduped()
    a = a.tocsr() if a.format == "coo" else a
    at = a.numbered[key]
    return a.moved(at) if hasattr(at, "nnz") else gathered(a, np.asarray(at))[()]


def item(self: Any, key: Any) -> Any:
    """A[i, j], or a part of the matrix by slices and index arrays that are not traced."""
    return _item(self, key=key)


def astype(self: Any, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
    """The matrix with entries of another dtype."""
    return self.with_entries(self.entries.astype(dtype))


def transjugate(self: Any) -> Any:
    """The conjugate transpose."""
    return self.conj().transpose()


def no_writing(self: Any, *_: Any, **__: Any) -> None:
    """Assignment is refused: the pattern and the entries are given when a matrix is made."""
    raise LostDerivativeError(
        "a sparse matrix is not written to where entries are traced: collect entries, rows and "
        f"columns and make it of them, {ROOT}.scipy.sparse.csr_array((data, (row, col)), shape)."
    )


def _missing(self: Any, name: str) -> Any:
    if name.startswith("__") or name in ("structure", "entries", "face"):
        raise AttributeError(name)
    if name in ("indices", "indptr", "has_canonical_format", "has_sorted_indices"):
        return getattr(self.structure, name)
    if not hasattr(self.structure, name):
        raise AttributeError(f"a sparse matrix has no attribute {name!r}")
    full = f"scipy.sparse.{type(self.structure).__name__}.{name}"
    raise missing_rule(f"{full} on traced entries", [])


def _no_order(self: Any, other: Any) -> Any:
    raise missing_rule("the comparison of sparse matrices with traced entries", [])


for _name, _method in {
    "toarray": toarray,
    "todense": toarray,
    "sum": total,
    "mean": mean,
    "diagonal": diagonal,
    "trace": trace,
    "astype": astype,
    "getH": transjugate,
    "__getitem__": item,
    "__setitem__": no_writing,
    "setdiag": no_writing,
    "__getattr__": _missing,
    **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), _no_order),
}.items():
    setattr(TracedSparse, _name, _method)
TracedSparse.__hash__ = object.__hash__  # type: ignore[method-assign]
TracedSparse.A = property(toarray)  # type: ignore[attr-defined]
TracedSparse.H = property(transjugate)  # type: ignore[attr-defined]
