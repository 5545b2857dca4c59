"""scipy.sparse, whose matrices take traced operands and may hold traced entries.

The classes are SciPy's, with products, sums and solutions that differentiate with respect to the
stored entries and to the other operand; the pattern is static. A matrix of SciPy's becomes one of
these by csr_array(A).

>>> import numpy as np, dualad
>>> import dualad.scipy.sparse as sparse
>>> A = sparse.csr_array(np.array([[2.0, 0.0], [1.0, 3.0]]))
>>> dualad.grad(lambda x: np.sum(A @ x))(np.ones(2))
array([3., 3.])
>>> f = lambda d: np.sum(sparse.csr_array((d, A.indices, A.indptr)) @ np.array([1.0, 10.0]))
>>> dualad.grad(f)(A.data)
array([ 1.,  1., 10.])
"""

from __future__ import annotations

import inspect as _inspect
from typing import Any

import scipy.sparse as _original

from ...ops.sparse.construct import (
    block_array,
    block_diag,
    bmat,
    diags,
    diags_array,
    hstack,
    issparse,
    kron,
    kronsum,
    passed_on as _passed_on,
    tril,
    triu,
    vstack,
)
from ...ops.sparse.formats import CLASSES as _CLASSES
from . import linalg

bsr_array, bsr_matrix = _CLASSES["bsr_array"], _CLASSES["bsr_matrix"]
coo_array, coo_matrix = _CLASSES["coo_array"], _CLASSES["coo_matrix"]
csc_array, csc_matrix = _CLASSES["csc_array"], _CLASSES["csc_matrix"]
csr_array, csr_matrix = _CLASSES["csr_array"], _CLASSES["csr_matrix"]
dia_array, dia_matrix = _CLASSES["dia_array"], _CLASSES["dia_matrix"]
dok_array, dok_matrix = _CLASSES["dok_array"], _CLASSES["dok_matrix"]
lil_array, lil_matrix = _CLASSES["lil_array"], _CLASSES["lil_matrix"]

__all__ = [
    "block_array",
    "block_diag",
    "bmat",
    "bsr_array",
    "bsr_matrix",
    "coo_array",
    "coo_matrix",
    "csc_array",
    "csc_matrix",
    "csr_array",
    "csr_matrix",
    "dia_array",
    "dia_matrix",
    "diags",
    "diags_array",
    "dok_array",
    "dok_matrix",
    "hstack",
    "issparse",
    "kron",
    "kronsum",
    "lil_array",
    "lil_matrix",
    "linalg",
    "tril",
    "triu",
    "vstack",
]


def __getattr__(name: str) -> Any:
    try:
        value = getattr(_original, name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    if not _inspect.isfunction(value):
        return value
    return _passed_on(value, f"scipy.sparse.{name}", [f"scipy.sparse.{c}" for c in __all__])


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_original)})
