"""Products of matrices: matmul, and the product of a matrix with its transpose.

The transpose of a bilinear map in one factor is again a product, with the conjugate of the other
factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.arrays.cutting import add_products
from ..engine.arrays.memory import F64, LARGE, copied, large_product, workspace
from ..engine.fast_paths.codegen import mixed
from ..engine.fast_paths.contractions import install, of_any_size, of_two
from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray
from ..engine.primitives.chain import Chain, Link
from ..engine.primitives.composite import Composite
from ..engine.primitives.inplace import augmented
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from .registry import function, ufunc
from .structure import reshape, transpose

__all__ = ["column", "conj", "contract", "gram", "matmul", "np_matmul", "product", "row"]


def conj(x: Any) -> Any:
    """The conjugate; a real array is its own."""
    return np.conj(x) if x.dtype.kind == "c" else x


def _transposed(x: Any) -> Any:
    """The transpose over the last two axes."""
    last = x.ndim - 1
    return transpose(x, axes=(*range(last - 1), last, last - 1))


def _adjoint(x: Any) -> Any:
    """The conjugate transpose over the last two axes."""
    return conj(x.swapaxes(-1, -2) if type(x) is np.ndarray else _transposed(x))


def column(x: Any) -> Any:
    """Vectors as matrices of one column."""
    return reshape(x, shape=(*x.shape, 1))


def row(x: Any) -> Any:
    """Vectors as matrices of one row."""
    return reshape(x, shape=(*x.shape[:-1], 1, x.shape[-1]))


def shaped(x: Any, shape: tuple[int, ...]) -> Any:
    """An array in a shape, which it may have already."""
    return x if x.shape == shape else reshape(x, shape=shape)


def _left(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of a in a @ b; the engine sums it down where a was broadcast."""
    if _are_small(ct, b) and len(a.shape) == 2:
        return ct @ b.T if b.ndim == 2 else ct[:, None] * b
    if b.ndim == 1:
        return (ct if a.ndim == 1 else column(ct)) * conj(b)
    if a.ndim == 1:
        return matmul(conj(b), ct) if b.ndim == 2 else matmul(conj(b), column(ct))[..., 0]
    if a.ndim == 2 < b.ndim:
        shared = (*range(b.ndim - 2), b.ndim - 1)
        return contract(ct, conj(b), shared, shared)
    if b.shape[-1] == 1:
        return _of_columns(ct, b)
    return _product(ct, _adjoint(b))


def _of_columns(a: Any, b: Any) -> Any:
    """The product of a with the adjoint of b, of one column each."""
    if type(a) is type(b) is np.ndarray and a.ndim == b.ndim == 2:
        out = workspace((a.shape[0], b.shape[0]), np.result_type(a, b))
        return np.einsum("i,j->ij", a[:, 0], conj(b[:, 0]), out=out)
    return a * _adjoint(b)


def _right(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of b in a @ b."""
    if _are_small(ct, a) and len(b.shape) <= 2 == a.ndim:
        return a.T @ ct
    if a.ndim == 1:
        return ct * conj(a) if b.ndim == 1 else column(conj(a)) * row(ct)
    if b.ndim <= 2 < a.ndim:
        shared = tuple(range(a.ndim - 1))
        return contract(conj(a), ct, shared, shared)
    return _product(_adjoint(a), ct)


def _are_small(ct: Any, factor: Any) -> bool:
    """Whether a cotangent and a factor are plain, real, and not large: the common case."""
    return (
        type(ct) is np.ndarray is type(factor)
        and ct.dtype is F64 is factor.dtype
        and ct.size < LARGE > factor.size
        and ct.ndim <= 2 >= factor.ndim
    )


def _product(a: Any, b: Any) -> Any:
    """a @ b in reverse."""
    if not (type(a) is np.ndarray is type(b)):
        return matmul(a, b)
    out = _quickly(a, b)
    return large_product(a, b) if out is None else out


def _quickly(a: Any, b: Any) -> Any:
    """The product of large arrays up to rounding; None where NumPy's own is as quick.

    Tangents and cotangents that were broadcast repeat a row or a column: so does the product.
    In a stack NumPy leaves to BLAS only matrices that have their rows or columns in order.
    """
    if not (type(a) is np.ndarray is type(b) and a.dtype is F64 is b.dtype):
        return None
    if a.ndim < 2 or b.ndim < 2 or max(a.size, b.size) < LARGE:
        return None
    rows, columns = a.shape[-2], b.shape[-1]
    left, right = a, b
    if rows > 1 and a.strides[-2] == 0:
        left = a[..., :1, :]
    if columns > 1 and b.strides[-1] == 0:
        right = b[..., :1]
    if a.ndim > 2 or b.ndim > 2:
        left, right = _for_blas(left), _for_blas(right)
    if left is a and right is b:
        return None
    out = large_product(left, right)
    shape = (*out.shape[:-2], rows, columns)
    return out if out.shape == shape else np.broadcast_to(out, shape)


def _for_blas(x: np.ndarray) -> np.ndarray:
    """Matrices of which the entries of a row, or of a column, are neighbours."""
    return x if 8 in x.strides[-2:] else copied(x)


def _add_share(k: int, into: np.ndarray, ct: Any, a: Any, b: Any) -> bool:
    """Add the cotangent of a or b: an outer product, or products of stacks of small matrices."""
    other = a if k else b
    if into.size < LARGE or not (type(ct) is np.ndarray is type(other)):
        return False
    if into.ndim == 2:
        return _add_outer(into, a, ct) if k else _add_outer(into, ct, b)
    if not (ct.ndim == other.ndim == into.ndim) or len(a.shape) != len(b.shape):
        return False
    left, right = (_adjoint(a), ct) if k else (ct, _adjoint(b))
    return add_products(into, _for_blas(left), _for_blas(right))


def _in_stack(k: int, a: Any, b: Any) -> tuple[Any, np.ndarray, tuple[int, ...]] | None:
    """The cotangent of a or b in products of as many matrices, of some of them at a time."""
    other = a if k else b
    if type(other) is not np.ndarray or other.dtype is not F64 or len(a.shape) < 3:
        return None
    if a.shape[:-2] != b.shape[:-2]:
        return None
    last = len(a.shape) - 1
    factor = _for_blas(_adjoint(other))
    return (_from_left, factor, (last,)) if k else (np.matmul, factor, (last - 1,))


def _from_left(ct: np.ndarray, factor: np.ndarray, out: np.ndarray) -> None:
    np.matmul(factor, ct, out)


def _add_outer(into: np.ndarray, x: np.ndarray, y: np.ndarray) -> bool:
    """Add the outer product of a column, or vector, and a row."""
    from .lapack import add_outer

    if (x.size, y.size) != into.shape:
        return False
    return add_outer(into, x.reshape(-1), y.reshape(-1))


def _common(a: Any, b: Any) -> Any:
    return a.dtype if a.dtype == b.dtype else np.result_type(a.dtype, b.dtype)


def _matmul_spec(a: Any, b: Any) -> Spec:
    """The shape of a @ b, without computing."""
    if a.shape[-1] != b.shape[-2:][0]:
        raise ValueError(f"matmul: the inner axes of {a.shape} and {b.shape} differ in length")
    outer = (*a.shape[-2:-1], *(b.shape[-1:] if len(b.shape) > 1 else ()))
    stack = ()
    if len(a.shape) > 2 or len(b.shape) > 2:
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return Spec((*stack, *outer), _common(a, b))


#: From so many multiplications on a product is looked at before it is made.
MANY = 1 << 20


def _rows_times(rows: Any, b: Any) -> Any:
    """rows @ b, where the rows of a large product may be multiples of unit vectors.

    The tangents of an argument are, and what elementwise functions make of them: each picks a row
    of b. Where b is not finite the product is NaN, and is left to NumPy.
    """
    plain = type(rows) is np.ndarray is type(b) and b.ndim == 2 and rows.dtype == b.dtype
    if plain and rows.shape[0] * b.size >= MANY and np.count_nonzero(rows[0]) <= 1:
        n, k = rows.shape
        if rows.flags.c_contiguous:
            at, picked = np.divmod(np.flatnonzero(rows != 0), k)
        else:  # as they lie in memory: by columns
            picked, at = np.divmod(np.flatnonzero(rows.T != 0), n)
        once = np.all(at[1:] > at[:-1])
        if not once and len(at) <= n:
            by_row = np.argsort(at)
            at, picked = at[by_row], picked[by_row]
            once = np.all(at[1:] > at[:-1])
        flat = b.ravel(order="K")
        if len(at) <= n and once and np.isfinite(np.vdot(flat, flat)):
            entries = b[picked]
            entries *= rows[at, picked][:, None]
            if len(at) == n:
                return entries
            out = np.zeros((n, b.shape[1]), b.dtype)
            out[at] = entries
            return out
    return matmul(rows, b)


def _matmul_batch(args: tuple, mine: tuple) -> Any:
    """A batch of vectors, or of the rows of matrices, times a constant is one matrix product."""
    a, b = args
    left, right = a.ndim - mine[0], b.ndim - mine[1]
    if not mine[1] and right <= 2:
        flat = _rows_times(shaped(a, (math.prod(a.shape[:-1]), a.shape[-1])), b)
        return shaped(flat, (*a.shape[:-1], *b.shape[1:]))
    if not mine[0] and right == 1 and left <= 2:
        return _rows_times(b, a if left == 1 else transpose(a, axes=(1, 0)))
    out = matmul(*align((row(a) if left == 1 else a, column(b) if right == 1 else b), mine))
    stack, ends = out.shape[:-2], out.shape[-2:]
    return shaped(out, (*stack, *ends[left == 1 : 1 + (right > 1)]))


matmul = Linear(
    large_product,
    _left,
    _right,
    batch=_matmul_batch,
    spec=_matmul_spec,
    show=lambda a, b: f"{a} @ {b}",
    quick=_quickly,
    add_share=_add_share,
    in_stack=_in_stack,
    name="matmul",
)


@ufunc(np.matmul)
def np_matmul(a: Any, b: Any) -> Any:
    """The matrix product."""
    if getattr(a, "ndim", 0) == 0 or getattr(b, "ndim", 0) == 0:  # Python numbers have none
        raise ValueError("matmul: an operand has no axis, use * for scalars")
    return gram(a) if _is_gram(a, b) else matmul(a, b)


def _plus_transpose(x: Any) -> Any:
    if type(x) is not np.ndarray:
        return x + np.swapaxes(x, -1, -2)
    out = copied(np.swapaxes(x, -1, -2))
    out += x
    return out


plus_transpose = Linear(
    _plus_transpose,
    lambda ct, x: plus_transpose(ct),
    batch=lambda args, mine: plus_transpose(args[0]),
    spec=lambda x: Spec(x.shape, x.dtype),
    show=lambda x: f"({x} + np.swapaxes({x}, -1, -2))",
    name="plus_transpose",
)

gram = Composite(
    lambda a: large_product(a, np.swapaxes(a, -1, -2)),
    Chain(Link(matmul, 0, lambda out, a: (_transposed(a),)), Link(plus_transpose)),
    reads="args",
    batch=lambda args, mine: matmul(args[0], _transposed(args[0])),
    name="gram",
)


def _is_gram(a: Any, b: Any) -> bool:
    """Whether b is the transpose of a large matrix a: its tangent takes one product, not two."""
    if type(a) is not type(b) or len(a.shape) != 2 or a.shape[0] * a.size < MANY:
        return False
    return _is_transpose(a, b) or _is_transpose(b, a)


def _is_transpose(a: Any, b: Any) -> bool:
    """Whether b was made as the transpose of a, and follows it."""
    base, read, _ = getattr(b, "_base", (None, None, None))
    return base is a and getattr(read, "func", None) is transpose


def product(a: Any, b: Any) -> Any:
    """The matrix product of what has axes."""
    quick = of_two(matmul, np.matmul, a, b)
    if quick is None:
        quick = of_any_size(matmul, _is_gram, a, b)
    return matmul(a, b) if quick is None else quick


def _operator(self: Any, other: Any) -> Any:
    return np_matmul(self, other) if type(other) is type(self) else mixed(np_matmul, self, other)


for _name, _method in {
    "__matmul__": _operator,
    "__rmatmul__": lambda self, other: mixed(np_matmul, other, self),
    "__imatmul__": lambda self, other: augmented(np_matmul, self, other),
}.items():
    setattr(TracedArray, _name, _method)
install(np.matmul, matmul, "__matmul__", _operator, _is_gram)


@function(np.linalg.matmul)
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    """The matrix product by the array API's name."""
    return np.matmul(x1, x2)


def ordered(x: Any, axes: tuple[int, ...]) -> Any:
    """An array with its axes in an order, which they may be in already."""
    return x if axes == tuple(range(len(axes))) else transpose(x, axes=axes)


def contract(a: Any, b: Any, left: Sequence[int], right: Sequence[int]) -> Any:
    """The sum over pairs of axes of a and b, as one matrix product."""
    a_rest = tuple(k for k in range(a.ndim) if k not in left)
    b_rest = tuple(k for k in range(b.ndim) if k not in right)
    rows, columns = tuple(a.shape[k] for k in a_rest), tuple(b.shape[k] for k in b_rest)
    n = math.prod(a.shape[k] for k in left)
    a = shaped(ordered(a, (*a_rest, *left)), (math.prod(rows), n))
    b = shaped(ordered(b, (*right, *b_rest)), (n, math.prod(columns)))
    return shaped(matmul(a, b), (*rows, *columns))
