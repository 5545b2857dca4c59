"""Products of arrays: matmul and all that is written with it, cross and outer products.

Two bilinear primitives, matmul and cross. The transpose of a bilinear map in one factor is again
a product, with the conjugate of the other factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.arrays.cutting import add_products
from ..engine.arrays.memory import F64, LARGE, copied, large_product, workspace
from ..engine.fast_paths.codegen import mixed
from ..engine.fast_paths.contractions import install, of_two
from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray
from ..engine.levels.values import as_operand
from ..engine.primitives.chain import Chain, Link
from ..engine.primitives.composite import Composite
from ..engine.primitives.inplace import augmented, store
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import align
from .registry import function, ufunc
from .structure import axes_of, axis_of, reshape, transpose

__all__ = ["array_of", "conj", "contract", "cross", "gram", "matmul"]


def conj(x: Any) -> Any:
    """The conjugate; a real array is its own."""
    return np.conj(x) if x.dtype.kind == "c" else x


def array_of(x: Any) -> Any:
    """An operand of a product as something that has a shape."""
    x = as_operand(x)
    if not hasattr(x, "shape"):
        return np.asarray(x)
    return x.as_number() if isinstance(x, TracedArray) and x.ends else x


# --- matmul --------------------------------------------------------------------------------------


def _transposed(x: Any) -> Any:
    """The transpose over the last two axes."""
    last = x.ndim - 1
    return transpose(x, axes=(*range(last - 1), last, last - 1))


def _adjoint(x: Any) -> Any:
    """The conjugate transpose over the last two axes."""
    return conj(x.swapaxes(-1, -2) if type(x) is np.ndarray else _transposed(x))


def _column(x: Any) -> Any:
    return reshape(x, shape=(*x.shape, 1))


def _row(x: Any) -> Any:
    return reshape(x, shape=(*x.shape[:-1], 1, x.shape[-1]))


def _shaped(x: Any, shape: tuple[int, ...]) -> Any:
    return x if x.shape == shape else reshape(x, shape=shape)


def _left(ct: Any, a: Any, b: Any) -> Any:
    """The cotangent of a in a @ b; the engine sums it down where a was broadcast."""
    if _are_small(ct, b) and len(a.shape) == 2:
        return ct @ b.T if b.ndim == 2 else ct[:, None] * b
    if b.ndim == 1:
        return (ct if a.ndim == 1 else _column(ct)) * conj(b)
    if a.ndim == 1:
        return matmul(conj(b), ct) if b.ndim == 2 else matmul(conj(b), _column(ct))[..., 0]
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
        return ct * conj(a) if b.ndim == 1 else _column(conj(a)) * _row(ct)
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
        flat = _rows_times(_shaped(a, (math.prod(a.shape[:-1]), a.shape[-1])), b)
        return _shaped(flat, (*a.shape[:-1], *b.shape[1:]))
    if not mine[0] and right == 1 and left <= 2:
        return _rows_times(b, a if left == 1 else transpose(a, axes=(1, 0)))
    out = matmul(*align((_row(a) if left == 1 else a, _column(b) if right == 1 else b), mine))
    stack, ends = out.shape[:-2], out.shape[-2:]
    return _shaped(out, (*stack, *ends[left == 1 : 1 + (right > 1)]))


matmul = Linear(
    large_product,
    _left,
    _right,
    batch=_matmul_batch,
    spec=_matmul_spec,
    show=lambda a, b: f"{a} @ {b}",
    quick=_quickly,
    add_share=_add_share,
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
    return matmul(a, b) if quick is None else quick


def _operator(self: Any, other: Any) -> Any:
    return np_matmul(self, other) if type(other) is type(self) else mixed(np_matmul, self, other)


for _name, _method in {
    "__matmul__": _operator,
    "__rmatmul__": lambda self, other: mixed(np_matmul, other, self),
    "__imatmul__": lambda self, other: augmented(np_matmul, self, other),
}.items():
    setattr(TracedArray, _name, _method)
install(np.matmul, matmul, "__matmul__", _operator)


@function(np.linalg.matmul)
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    """The matrix product by the array API's name."""
    return np.matmul(x1, x2)


@ufunc(np.vecdot)
def np_vecdot(a: Any, b: Any) -> Any:
    """The sum of conj(a) * b over the last axis."""
    return np.sum(conj(a) * b, axis=-1)


def _matvec(a: Any, x: Any) -> Any:
    return matmul(a, x) if x.ndim == 1 else np_matmul(a, _column(x))[..., 0]


def _vecmat(x: Any, a: Any) -> Any:
    return matmul(conj(x), a) if x.ndim == 1 else np_matmul(_row(conj(x)), a)[..., 0, :]


if hasattr(np, "matvec"):  # NumPy 2.2
    ufunc(np.matvec)(_matvec)
    ufunc(np.vecmat)(_vecmat)


@function(np.linalg.vecdot)
def linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of conj(x1) * x2 over an axis."""
    x1, x2 = array_of(x1), array_of(x2)
    return np_vecdot(_last(x1, axis), _last(x2, axis))


# --- contractions --------------------------------------------------------------------------------


def _ordered(x: Any, axes: tuple[int, ...]) -> Any:
    return x if axes == tuple(range(len(axes))) else transpose(x, axes=axes)


def contract(a: Any, b: Any, left: Sequence[int], right: Sequence[int]) -> Any:
    """The sum over pairs of axes of a and b, as one matrix product."""
    a_rest = tuple(k for k in range(a.ndim) if k not in left)
    b_rest = tuple(k for k in range(b.ndim) if k not in right)
    rows, columns = tuple(a.shape[k] for k in a_rest), tuple(b.shape[k] for k in b_rest)
    n = math.prod(a.shape[k] for k in left)
    a = _shaped(_ordered(a, (*a_rest, *left)), (math.prod(rows), n))
    b = _shaped(_ordered(b, (*right, *b_rest)), (n, math.prod(columns)))
    return _shaped(matmul(a, b), (*rows, *columns))


@function(np.tensordot)
def np_tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum over the last axes of a and the first of b, or over given pairs of axes."""
    a, b = array_of(a), array_of(b)
    if isinstance(axes, (int, np.integer)):
        left, right = tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
        if axes > min(a.ndim, b.ndim):
            raise ValueError("shape-mismatch for sum")
    else:
        left, right = (axes_of(_sequence(x), v.ndim) for x, v in zip(axes, (a, b), strict=True))
    if [a.shape[k] for k in left] != [b.shape[k] for k in right]:
        raise ValueError("shape-mismatch for sum")
    return contract(a, b, left, right)


def _sequence(axes: Any) -> tuple:
    return (axes,) if isinstance(axes, (int, np.integer)) else tuple(axes)


@function(np.linalg.tensordot)
def linalg_tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """np.tensordot by the array API's name."""
    return np_tensordot(x1, x2, axes)


@function(np.dot)
def np_dot(a: Any, b: Any, out: Any = None) -> Any:
    """The sum over the last axis of a and the second last of b."""
    a, b = array_of(a), array_of(b)
    if a.ndim == 0 or b.ndim == 0:
        result = a * b
    elif b.ndim <= 2:
        result = product(a, b)
    else:
        result = np_tensordot(a, b, (-1, -2))
    return result if out is None else store(out, result)


@function(np.inner)
def np_inner(a: Any, b: Any, /) -> Any:
    """The sum over the last axes of both."""
    a, b = array_of(a), array_of(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return product(a, b) if a.ndim == b.ndim == 1 else np_tensordot(a, b, (-1, -1))


@function(np.vdot)
def np_vdot(a: Any, b: Any, /) -> Any:
    """The sum of conj(a) * b over all entries."""
    return product(conj(np.ravel(array_of(a))), np.ravel(array_of(b)))


@function(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """The product of several matrices, in the order that costs least."""
    parts = [array_of(x) for x in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    first, last = parts[0].ndim == 1, parts[-1].ndim == 1
    parts[0] = _row(parts[0]) if first else parts[0]
    parts[-1] = _column(parts[-1]) if last else parts[-1]
    result = _chain(
        parts, _splits([*(p.shape[0] for p in parts), parts[-1].shape[1]]), 0, len(parts)
    )
    shape = result.shape[first : 2 - last]
    result = result if shape == result.shape else np.reshape(result, shape)
    return result if out is None else store(out, result)


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of a chain of matrices (Cormen et al., matrix-chain order)."""
    n = len(sizes) - 1
    cost = {(i, i + 1): 0 for i in range(n)}
    best = {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cost[i, j], best[i, j] = min(
                (cost[i, k] + cost[k, j] + sizes[i] * sizes[k] * sizes[j], k)
                for k in range(i + 1, j)
            )
    return best


def _chain(parts: list, splits: dict, i: int, j: int) -> Any:
    if j == i + 1:
        return parts[i]
    k = splits[i, j]
    return matmul(_chain(parts, splits, i, k), _chain(parts, splits, k, j))


# --- outer products ------------------------------------------------------------------------------


@function(np.outer)
def np_outer(a: Any, b: Any, out: Any = None) -> Any:
    """Every entry of a times every entry of b."""
    result = _column(np.ravel(array_of(a))) * np.ravel(array_of(b))
    return result if out is None else store(out, result)


@function(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """The outer product of two vectors."""
    return np_outer(x1, x2)


@function(np.kron)
def np_kron(a: Any, b: Any) -> Any:
    """The Kronecker product: blocks a[i, j, ...] * b."""
    a, b = array_of(a), array_of(b)
    n = max(a.ndim, b.ndim)
    a_shape, b_shape = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    wide = np.reshape(a, tuple(s for k in a_shape for s in (k, 1)))
    narrow = np.reshape(b, tuple(s for k in b_shape for s in (1, k)))
    return np.reshape(wide * narrow, tuple(p * q for p, q in zip(a_shape, b_shape, strict=True)))


# --- cross product -------------------------------------------------------------------------------


def _cross_spec(a: Any, b: Any) -> Spec:
    return Spec(np.broadcast_shapes(a.shape, b.shape), np.result_type(a.dtype, b.dtype))


cross = Linear(
    lambda a, b: np.cross(a, b),
    lambda ct, a, b: cross(conj(b), ct),
    lambda ct, a, b: cross(ct, conj(a)),
    batch=lambda args, mine: cross(*align(args, mine)),
    spec=_cross_spec,
    show=lambda a, b: f"np.cross({a}, {b})",
    name="cross",
)


@function(np.cross)
def np_cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The vector product of vectors of two or three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = array_of(a), array_of(b)
    a, b = _last(a, axisa), _last(b, axisb)
    sizes = (a.shape[-1], b.shape[-1])
    if not set(sizes) <= {2, 3}:
        raise ValueError(f"cross products are of vectors of 2 or 3 components, got {sizes}")
    if sizes == (2, 2):
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    out = cross(_in_space(a), _in_space(b))
    return out if axisc == -1 else np.moveaxis(out, -1, axis_of(axisc, out.ndim))


def _last(x: Any, axis: int) -> Any:
    return x if axis == -1 and x.ndim else np.moveaxis(x, axis_of(axis, x.ndim), -1)


def _in_space(x: Any) -> Any:
    """A vector of two components with a third that is zero."""
    if x.shape[-1] == 3:
        return x
    return np.concatenate([x, np.zeros((*x.shape[:-1], 1), x.dtype)], -1)


@function(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The vector product of vectors of three components."""
    x1, x2 = array_of(x1), array_of(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    return np_cross(x1, x2, axis=axis)
