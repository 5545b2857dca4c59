"""A sparse matrix with traced stored entries: the entries as a vector, the pattern as it is.

What only moves entries (transposing, slicing, stacking, changing the format) is done by SciPy on a
matrix of the same pattern that holds the numbers 1, 2, ... of its entries: the result says which
entry goes where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...engine.arrays.memory import originals
from ...engine.levels.traced import TracedArray
from ...engine.levels.values import as_operand
from ...errors import LostDerivativeError, NotDifferentiableError
from ..dropin import is_tracked
from .products import collected, rows_of

__all__ = [
    "TracedSparse",
    "concerns",
    "gathered",
    "is_sparse",
    "lifted",
    "traced",
    "unboxed_entry",
]

ROOT = __name__.partition(".")[0]
CARRIED = ("csr", "csc", "coo")


def scipy_class(form: str, is_matrix: bool) -> Any:
    """SciPy's class of a format."""
    return getattr(sp, f"{form}_{'matrix' if is_matrix else 'array'}")


def is_sparse(x: Any) -> bool:
    """Whether x is a sparse matrix, of SciPy's or with traced entries."""
    return isinstance(x, TracedSparse) or sp.issparse(x)


def concerns(x: Any) -> bool:
    """Whether an operand makes an operation ours: it is traced, or a tensor."""
    t = type(x)
    if t is np.ndarray:
        return x.dtype.kind == "O" and is_tracked(x)
    if isinstance(x, (TracedArray, TracedSparse)) or hasattr(t, "__dualad_face__"):
        return True
    return t in (list, tuple, dict) and any(map(concerns, x.values() if t is dict else x))


def unboxed_entry(x: Any) -> tuple[Any, Any]:
    """What the engine computes with, and the face it was seen by."""
    face = getattr(x, "__dualad_face__", None)
    if face is not None:
        return face.unwrap(x), face
    if isinstance(x, TracedSparse):
        return x, x.face
    return x if is_sparse(x) else as_operand(x), None


class TracedSparse:
    """A sparse matrix whose stored entries are traced; it has the names of SciPy's matrices.

    The pattern is static: entries that become zero stay stored. What is not offered here raises an
    error that says so.
    """

    __array_priority__ = 1001.0
    ndim = 2

    def __init__(self, entries: Any, structure: Any, face: Any = None):
        """Entries in the order in which `structure`, a matrix of SciPy's, stores its own."""
        self.entries, self.structure, self.face = entries, structure, face
        self._numbered: Any = None

    # --- what is known without computing -------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        return self.structure.shape

    @property
    def format(self) -> str:
        return self.structure.format

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.entries.dtype)

    @property
    def nnz(self) -> int:
        return self.entries.shape[0]

    size = nnz

    @property
    def is_matrix(self) -> bool:
        """Whether it has the conventions of spmatrix: * is the matrix product."""
        return isinstance(self.structure, sp.spmatrix)

    @property
    def data(self) -> Any:
        """The stored entries."""
        return self.entries if self.face is None else self.face.wrap(self.entries)

    @property
    def coords(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column of each stored entry."""
        s = self.structure
        if s.format == "coo":
            return s.coords
        major, minor = rows_of(s.indptr), s.indices
        return (major, minor) if s.format == "csr" else (minor, major)

    @property
    def row(self) -> np.ndarray:
        return self.coords[0]

    @property
    def col(self) -> np.ndarray:
        return self.coords[1]

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use nnz or shape[0]")

    def __bool__(self) -> bool:
        raise ValueError("the truth value of a sparse matrix with traced entries is ambiguous")

    def __repr__(self) -> str:
        return (
            f"<{self.format} matrix of shape {self.shape} with {self.nnz} traced stored entries>"
        )

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise LostDerivativeError(
            "a sparse matrix with traced entries does not become a plain array, and SciPy's own "
            f"functions do not take it: use {ROOT}.scipy.sparse and {ROOT}.scipy.sparse.linalg, "
            "or A.toarray() for the traced dense matrix."
        )

    # --- what only moves entries ---------------------------------------------------------------

    @property
    def numbered(self) -> Any:
        """SciPy's matrix of this pattern that holds the numbers of its entries, from 1 on."""
        if self._numbered is None:
            s, numbers = self.structure, np.arange(1, self.nnz + 1)
            cls = scipy_class(s.format, self.is_matrix)
            where = (s.coords,) if s.format == "coo" else (s.indices, s.indptr)
            # A copy: SciPy's methods may sort it in place.
            self._numbered = cls((numbers, *where), shape=s.shape, copy=True)
        return self._numbered

    def moved(self, result: Any) -> TracedSparse:
        """The entries as a structural result of `numbered` arranges them."""
        if result.ndim != 2:
            raise NotDifferentiableError(
                "a one-dimensional sparse array of traced entries is not offered: keep both axes "
                "(A[[k]] for A[k]), or take A.toarray()[k]."
            )
        if result.format not in CARRIED:
            result = result.tocsr()
        at = result.data - 1
        same = len(at) == self.nnz and np.array_equal(at, np.arange(self.nnz))
        return TracedSparse(self.entries if same else self.entries[at], result, self.face)

    def asformat(self, form: str | None, copy: bool = False) -> TracedSparse:
        """The same matrix in another format."""
        if form in (None, self.format):
            return self.with_entries(self.entries)
        if form not in CARRIED:
            raise NotDifferentiableError(
                f"traced entries are stored in the formats {', '.join(CARRIED)}, not in {form}."
            )
        a = self.deduped()
        return a.moved(a.numbered.asformat(form))

    def tocsr(self, copy: bool = False) -> TracedSparse:
        """The same matrix, compressed by rows."""
        return self.asformat("csr")

    def tocsc(self, copy: bool = False) -> TracedSparse:
        """The same matrix, compressed by columns."""
        return self.asformat("csc")

    def tocoo(self, copy: bool = True) -> TracedSparse:
        """The same matrix as a list of entries with row and column."""
        return self.asformat("coo")

    def copy(self) -> TracedSparse:
        """The same matrix again; neither changes with the other."""
        return self.with_entries(self.entries)

    def with_entries(self, entries: Any) -> TracedSparse:
        """A matrix of the same pattern."""
        return TracedSparse(entries, self.structure, self.face)

    def deduped(self) -> TracedSparse:
        """The same matrix with no place stored twice."""
        s = self.structure
        if s.format != "coo" and s.has_canonical_format:
            return self
        row, col = (np.asarray(k, np.int64) for k in self.coords)
        keys = row * s.shape[1] + col if s.format != "csc" else col * s.shape[0] + row
        places, inverse = np.unique(keys, return_inverse=True)
        if len(places) == len(keys):
            return self
        first = np.zeros(len(places), np.int64)
        first[inverse] = np.arange(len(keys))
        entries = collected(self.entries, inverse, len(places))
        coo = scipy_class("coo", self.is_matrix)
        merged = coo((np.ones(len(places)), (row[first], col[first])), shape=s.shape)
        # The keys ascend in the order of the format, so that its entries have that of `places`.
        return TracedSparse(entries, merged.asformat(s.format), self.face)

    def compressed(self) -> tuple[Any, dict[str, Any], bool]:
        """Entries and pattern by rows of this matrix, or (True) of its transpose."""
        a = self if self.format != "coo" else self.tocsr()
        s, by_columns = a.structure, a.format == "csc"
        shape = s.shape[::-1] if by_columns else s.shape
        return a.entries, {"indices": s.indices, "indptr": s.indptr, "shape": shape}, by_columns


def _structural(name: str) -> Callable[..., Any]:
    def method(self: TracedSparse, *args: Any, **kwargs: Any) -> Any:
        a = self.deduped()
        return a.moved(getattr(a.numbered, name)(*args, **kwargs))

    method.__name__ = name
    return method


for _name in ("transpose", "reshape"):
    setattr(TracedSparse, _name, _structural(_name))
TracedSparse.T = property(lambda self: self.transpose())  # type: ignore[attr-defined]


def gathered(a: TracedSparse, numbers: Any) -> Any:
    """A dense array with the entry of each number, and zero for the number 0."""
    padded = np.concatenate([np.zeros(1, a.dtype), a.entries])
    return padded[numbers]


def lifted(a: Any) -> TracedSparse:
    """A sparse matrix of any kind as one with entries that the engine handles."""
    if isinstance(a, TracedSparse):
        return a
    if a.ndim != 2:
        raise NotDifferentiableError("sparse arrays of one or many axes take no traced operands")
    a = a if a.format in CARRIED else a.tocsr()
    cls = scipy_class(a.format, isinstance(a, sp.spmatrix))
    parts = a.coords if a.format == "coo" else (a.indices, a.indptr)
    entries, *pattern = map(_apart, (a.data, *parts))
    where = (tuple(pattern),) if a.format == "coo" else tuple(pattern)
    return TracedSparse(entries, cls((entries, *where), shape=a.shape))


def _apart(array: np.ndarray) -> np.ndarray:
    """A copy, as SciPy sorts and prunes entries in place; programs read the array itself."""
    copy = array.copy()
    if originals.known is not None:
        originals.known[id(copy)] = copy, array
    return copy


def traced(form: str, is_matrix: bool, arg: Any, shape: Any = None, dtype: Any = None) -> Any:
    """The matrix that SciPy's constructor of a format makes of an argument that is traced."""
    cls = scipy_class(form, is_matrix)
    if isinstance(arg, TracedSparse):
        out = arg.asformat(form)
        out = TracedSparse(out.entries, cls(out.structure), out.face)
    elif isinstance(arg, tuple) and len(arg) in (2, 3):
        entries, face = unboxed_entry(arg[0])
        if not isinstance(entries, TracedArray) and not hasattr(entries, "shape"):
            entries = np.asarray(entries)
        if entries.ndim != 1:
            raise NotDifferentiableError(
                f"the stored entries of {cls.__name__} have shape {entries.shape}: traced ones "
                "are a vector (csr, csc or coo)."
            )
        coo = len(arg) == 2
        maker = scipy_class("coo", is_matrix) if coo else cls
        if any(map(concerns, arg[1:])):
            raise LostDerivativeError("the pattern of a sparse matrix has no derivative")
        structure = maker((np.ones(entries.shape), *arg[1:]), shape=shape, copy=True)
        out = TracedSparse(entries, structure, face).asformat(form)
    else:
        out = _of_dense(form, is_matrix, arg)
    if shape is not None and tuple(shape) != out.shape:
        raise ValueError(f"inconsistent shapes: {tuple(shape)} and {out.shape}")
    return out if dtype is None else out.with_entries(out.entries.astype(dtype))


def _of_dense(form: str, is_matrix: bool, arg: Any) -> TracedSparse:
    dense, face = unboxed_entry(arg)
    if getattr(dense, "ndim", 0) != 2:
        raise NotDifferentiableError("a sparse matrix is made of a dense one with two axes")
    # Every place is stored: an entry that is zero may have a derivative that is not.
    row, col = np.nonzero(np.ones(dense.shape))
    coo = scipy_class("coo", is_matrix)
    whole = coo((np.ones(len(row)), (row, col)), shape=dense.shape)
    return TracedSparse(np.ravel(dense), whole, face).asformat(form)
