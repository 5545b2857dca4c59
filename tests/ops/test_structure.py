"""Shape, order and place: every function is linear, so its derivative is the function itself."""

import numpy as np
import pytest
from agreement import DTYPES, like, linear, same

import dualad

A = np.arange(24.0).reshape(2, 3, 4)
V = np.arange(1.0, 6.0)
M = np.arange(12.0).reshape(3, 4)

#: name, function, argument
ONE_ARGUMENT = [
    ("reshape", lambda x: np.reshape(x, (4, 6)), A),
    ("reshape_unknown", lambda x: np.reshape(x, (-1, 8)), A),
    ("reshape_int", lambda x: np.reshape(x, -1), A),
    ("reshape_fortran", lambda x: np.reshape(x, (6, 4), order="F"), A),
    ("reshape_same", lambda x: np.reshape(x, x.shape), A),
    ("ravel", np.ravel, A),
    ("ravel_fortran", lambda x: np.ravel(x, order="F"), A),
    ("transpose", np.transpose, A),
    ("transpose_axes", lambda x: np.transpose(x, (1, -1, 0)), A),
    ("transpose_vector", np.transpose, V),
    ("matrix_transpose", np.matrix_transpose, A),
    ("swapaxes", lambda x: np.swapaxes(x, 0, -1), A),
    ("moveaxis", lambda x: np.moveaxis(x, 0, 2), A),
    ("moveaxis_many", lambda x: np.moveaxis(x, (0, 1), (-1, 0)), A),
    ("rollaxis", lambda x: np.rollaxis(x, 2), A),
    ("rollaxis_start", lambda x: np.rollaxis(x, 0, 3), A),
    ("rollaxis_negative_start", lambda x: np.rollaxis(x, 2, -2), A),
    ("broadcast_to", lambda x: np.broadcast_to(x, (2, 3, 5)), V),
    ("broadcast_to_stretched", lambda x: np.broadcast_to(x[:, None], (2, 5, 3)), V),
    ("expand_dims", lambda x: np.expand_dims(x, 1), A),
    ("expand_dims_many", lambda x: np.expand_dims(x, (0, -1)), A),
    ("squeeze", np.squeeze, A[:, :1, :1]),
    ("squeeze_axis", lambda x: np.squeeze(x, 1), A[:, :1, :1]),
    ("atleast_1d", np.atleast_1d, np.float64(2.0)),
    ("atleast_2d", np.atleast_2d, V),
    ("atleast_3d_vector", np.atleast_3d, V),
    ("atleast_3d_matrix", np.atleast_3d, M),
    ("flip", np.flip, A),
    ("flip_axis", lambda x: np.flip(x, (0, 2)), A),
    ("flipud", np.flipud, M),
    ("fliplr", np.fliplr, M),
    ("rot90", np.rot90, M),
    ("rot90_twice", lambda x: np.rot90(x, 2), M),
    ("rot90_thrice", lambda x: np.rot90(x, 3), M),
    ("rot90_axes", lambda x: np.rot90(x, 1, (2, 0)), A),
    ("roll", lambda x: np.roll(x, 2), M),
    ("roll_axis", lambda x: np.roll(x, -1, 1), M),
    ("roll_axes", lambda x: np.roll(x, (1, -3), (0, 1)), M),
    ("roll_none", lambda x: np.roll(x, 0), M),
    ("repeat", lambda x: np.repeat(x, 3), M),
    ("repeat_axis", lambda x: np.repeat(x, 2, axis=1), M),
    ("repeat_each", lambda x: np.repeat(x, [1, 0, 3], axis=0), M),
    ("tile", lambda x: np.tile(x, (2, 3)), M),
    ("tile_more_axes", lambda x: np.tile(x, (2, 1, 3)), M),
    ("tile_fewer", lambda x: np.tile(x, 2), M),
    ("pad_constant", lambda x: np.pad(x, ((1, 0), (2, 3))), M),
    ("pad_edge", lambda x: np.pad(x, 2, mode="edge"), M),
    ("pad_wrap", lambda x: np.pad(x, (1, 2), mode="wrap"), M),
    ("pad_reflect", lambda x: np.pad(x, 2, mode="reflect"), M),
    ("pad_symmetric", lambda x: np.pad(x, ((0, 2), (3, 1)), mode="symmetric"), M),
    ("diagonal", np.diagonal, M),
    ("diagonal_offset", lambda x: np.diagonal(x, -1), M),
    ("diagonal_axes", lambda x: np.diagonal(x, 1, 2, 0), A),
    ("diag_of_matrix", lambda x: np.diag(x, 1), M),
    ("diag_of_vector", lambda x: np.diag(x, -2), V),
    ("diagflat", lambda x: np.diagflat(x, 1), M[:, :2]),
    ("tril", np.tril, A),
    ("tril_k", lambda x: np.tril(x, 1), M),
    ("triu", lambda x: np.triu(x, -1), A),
    ("copy", np.copy, A),
    ("split", lambda x: np.split(x, 2, axis=1), M),
    ("split_at", lambda x: np.split(x, [1, 3]), V),
    ("array_split", lambda x: np.array_split(x, 3), V),
    ("hsplit", lambda x: np.hsplit(x, 2), M),
    ("vsplit", lambda x: np.vsplit(x, [1]), M),
    ("dsplit", lambda x: np.dsplit(x, 2), A),
    ("unstack", lambda x: np.unstack(x, axis=1), M),
    ("resize_larger", lambda x: np.resize(x, (3, 3)), V),
    ("resize_smaller", lambda x: np.resize(x, 2), V),
    ("sliding_window", lambda x: np.lib.stride_tricks.sliding_window_view(x, 3), V),
    ("sliding_windows", lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 2)), M),
    ("apply_along_axis", lambda x: np.apply_along_axis(lambda r: r[::-1] + r[0], 1, A * 0 + x), A),
    ("apply_along_axis_scalar", lambda x: np.apply_along_axis(lambda r: r[1], 0, x), A),
    ("apply_over_axes", lambda x: np.apply_over_axes(np.sum, x, (0, 2)), A),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "f", "x"), ONE_ARGUMENT, ids=[c[0] for c in ONE_ARGUMENT])
def test_one_argument(name, f, x, dtype):
    linear(f, like(np.asarray(x, dtype)))


TWO_ARGUMENTS = [
    ("concatenate", lambda x, y: np.concatenate([x, y]), M, M[:2]),
    ("concatenate_axis", lambda x, y: np.concatenate([x, y], axis=-1), M, M[:, :2]),
    ("concatenate_flat", lambda x, y: np.concatenate([x, y], axis=None), M, V),
    ("concatenate_twice", lambda x, y: np.concatenate([x, y, x]), V, V),
    ("stack", lambda x, y: np.stack([x, y]), M, M),
    ("stack_last", lambda x, y: np.stack([x, y], axis=-1), M, M),
    ("hstack", lambda x, y: np.hstack([x, y]), M, M[:, :1]),
    ("hstack_vectors", lambda x, y: np.hstack([x, y]), V, V[:2]),
    ("vstack", lambda x, y: np.vstack([x, y]), M, M[0]),
    ("dstack", lambda x, y: np.dstack([x, y]), M, M),
    ("column_stack", lambda x, y: np.column_stack([x, y]), V, np.ones((5, 2))),
    ("append", np.append, M, V),
    ("append_axis", lambda x, y: np.append(x, y, axis=0), M, M[:1]),
    ("block", lambda x, y: np.block([[x, y], [y, x]]), M, M[:, :2]),
    ("broadcast_arrays", lambda x, y: np.broadcast_arrays(x, y), M, M[:1, :1]),
    ("meshgrid", lambda x, y: np.meshgrid(x, y), V, V[:3]),
    ("meshgrid_ij", lambda x, y: np.meshgrid(x, y, indexing="ij"), V, V[:3]),
    ("meshgrid_sparse", lambda x, y: np.meshgrid(x, y, sparse=True), V, V[:3]),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "f", "x", "y"), TWO_ARGUMENTS, ids=[c[0] for c in TWO_ARGUMENTS])
def test_two_arguments(name, f, x, y, dtype):
    linear(f, like(np.asarray(x, dtype)), like(np.asarray(y, dtype)))


def test_joining_different_dtypes_gives_each_its_own_back():
    """float32 beside complex128: the result is complex, the cotangent of the float32 part real."""
    f = lambda x, y: np.concatenate([x, y])
    linear(f, like(np.zeros(3, np.float32)), like(np.zeros(2, np.complex128)))


def test_what_stands_beside_a_traced_array_is_constant():
    """Arrays, numbers and lists join with slope 0."""
    x, t = V, like(V)
    f = lambda v: np.concatenate([np.ones(2), v, [7.0], v[:1]])
    value, tangent = dualad.jvp(f, (x,), (t,))
    same(value, np.r_[1.0, 1.0, x, 7.0, x[0]])
    same(tangent, np.r_[0.0, 0.0, t, 0.0, t[0]])
    same(dualad.grad(lambda v: np.sum(f(v)))(x), np.r_[2.0, np.ones(4)])


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1, 1)])
def test_degenerate_shapes(shape):
    """Numbers, empty arrays and arrays of length one."""
    x = like(np.zeros(shape))
    for f in (np.ravel, np.transpose, np.copy, np.atleast_2d, lambda v: np.reshape(v, shape)):
        linear(f, x)
    linear(lambda v: np.stack([v, v], axis=-1), x)
    if shape:
        linear(lambda v: np.concatenate([v, v]), x)
        linear(np.flip, x)
        linear(lambda v: np.tile(v, 2), x)


LAYOUTS = {
    "transposed": M.T,
    "reversed": M[::-1, ::-1],
    "strided": np.arange(60.0).reshape(6, 10)[::2, 1::3],
    "fortran": np.asfortranarray(M),
    "broadcast": np.broadcast_to(V, (3, 5)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layout_does_not_matter(layout):
    """The result is that of NumPy however the argument lies in memory."""
    x = LAYOUTS[layout]
    for f in (np.ravel, np.transpose, lambda v: np.reshape(v, (-1, x.shape[0])), np.flip):
        value, tangent = dualad.jvp(f, (x,), (x,))
        same(value, f(x))
        same(tangent, f(x))
    w = like(np.ravel(x))
    (share,) = dualad.vjp(np.ravel, x)[1](w)
    same(share, w.reshape(x.shape))


def test_orders_that_depend_on_memory():
    """order='A' and order='K' read the entries as they lie."""
    x = np.asfortranarray(M)
    for order in ("A", "K"):
        f = lambda v, order=order: np.ravel(v, order=order)
        same(dualad.jvp(f, (x,), (2 * x,)), (f(x), 2 * f(x)))
    with pytest.raises(ValueError, match="contiguous"):
        dualad.jvp(lambda v: np.ravel(v, order="K"), (A.swapaxes(0, 1),), (A.swapaxes(0, 1),))


# --- errors --------------------------------------------------------------------------------------

REFUSED = [
    (lambda x: np.reshape(x, (5, 5)), ValueError, "cannot reshape"),
    (lambda x: np.reshape(x, (-1, 5)), ValueError, "cannot reshape"),
    (lambda x: np.transpose(x, (0, 0)), ValueError, "axes don't match"),
    (lambda x: np.moveaxis(x, 0, 5), np.exceptions.AxisError, "out of bounds"),
    (lambda x: np.squeeze(x, 0), ValueError, "not equal to one"),
    (lambda x: np.broadcast_to(x, (2, 4)), ValueError, "broadcast"),
    (lambda x: np.concatenate([x, x[0]]), ValueError, "must match exactly"),
    (lambda x: np.concatenate([x[0, 0], x[0, 0]]), ValueError, "zero-dimensional"),
    (lambda x: np.stack([x, x[:1]]), ValueError, "same shape"),
    (lambda x: np.split(x, 2), ValueError, "equal division"),
    (lambda x: np.expand_dims(x, (0, 0)), ValueError, "duplicate"),
    (lambda x: np.matrix_transpose(x[0]), ValueError, "at least 2-dimensional"),
    (lambda x: np.meshgrid(x, x, indexing="ji"), ValueError, "indexing"),
]


@pytest.mark.parametrize(("f", "error", "message"), REFUSED)
def test_what_numpy_refuses_is_refused(f, error, message):
    with pytest.raises(error, match=message):
        dualad.jvp(f, (M,), (M,))
    with pytest.raises(error, match=message):
        dualad.grad(lambda x: np.sum(f(x)))(M)
