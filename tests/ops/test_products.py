"""Products of arrays are linear in each factor, and transposed by products."""

import numpy as np
import pytest
from agreement import same
from every_mode import close, complex_, multilinear, real, without_values

import dualad
from dualad.ops import lapack

RNG = np.random.default_rng(23)
KINDS = {"real": (real, real), "complex": (complex_, complex_), "mixed": (real, complex_)}
kinds = pytest.mark.parametrize("kind", KINDS)

MATMUL = [
    ((3,), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((4, 2, 3), (3, 2)),
    ((2, 3), (4, 3, 2)),
    ((4, 1, 2, 3), (5, 3, 2)),
    ((3,), (4, 3, 2)),
    ((4, 2, 3), (3,)),
    ((2, 2, 3), (1, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 2)),
]

PRODUCTS = {
    "dot of stacks": (np.dot, (2, 3, 4), (5, 4, 2)),
    "dot of a vector and a stack": (np.dot, (4,), (5, 4, 2)),
    "dot of matrices": (np.dot, (2, 3), (3, 2)),
    "dot with a scalar": (np.dot, (), (3,)),
    "inner": (np.inner, (2, 3, 4), (5, 4)),
    "inner of vectors": (np.inner, (4,), (4,)),
    "inner with a scalar": (np.inner, (4,), ()),
    "outer": (np.outer, (2, 2), (3,)),
    "linalg.outer": (np.linalg.outer, (2,), (3,)),
    "linalg.matmul": (np.linalg.matmul, (3, 2), (2, 2)),
    "tensordot over two": (np.tensordot, (2, 3, 4), (3, 4, 2)),
    "tensordot over none": (lambda x, y: np.tensordot(x, y, 0), (2,), (3,)),
    "tensordot over pairs": (
        lambda x, y: np.tensordot(x, y, axes=([0, 2], [1, 0])), (2, 3, 4), (4, 2, 3),
    ),
    "tensordot over one pair": (lambda x, y: np.tensordot(x, y, (-1, 0)), (3, 4), (4, 2)),
    "linalg.tensordot": (
        lambda x, y: np.linalg.tensordot(x, y, axes=([2], [1])), (2, 3, 4), (3, 4),
    ),
    "kron": (np.kron, (2, 3), (2, 2)),
    "kron of a vector and a matrix": (np.kron, (3,), (2, 2)),
    "kron of a scalar": (np.kron, (), (2,)),
    "kron of three axes": (np.kron, (1, 2, 3), (2, 2)),
    "cross": (np.cross, (3,), (3,)),
    "cross, broadcast": (np.cross, (2, 3), (3,)),
    "cross along axes": (
        lambda x, y: np.cross(x, y, axisa=0, axisb=1, axisc=0), (3, 4), (4, 3),
    ),
    "cross along one axis": (lambda x, y: np.cross(x, y, axis=0), (3, 4), (3, 4)),
    "linalg.cross": (np.linalg.cross, (2, 3), (2, 3)),
    "multiply.outer": (np.multiply.outer, (2, 3), (2,)),
}  # fmt: skip


@kinds
@pytest.mark.parametrize("left, right", MATMUL)
def test_matmul_of_every_combination_of_ranks(kind, left, right):
    first, second = KINDS[kind]
    multilinear(lambda x, y: x @ y, first(*left), second(*right))


@kinds
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_bilinear(kind, name):
    f, left, right = PRODUCTS[name]
    first, second = KINDS[kind]
    multilinear(f, first(*left), second(*right))


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_transposed_without_values(name):
    f, left, right = PRODUCTS[name]
    x, y = real(*left), real(*right)
    without_values(lambda v: f(v, y), x)
    without_values(lambda v: f(x, v), y)


@pytest.mark.parametrize("left, right", MATMUL)
def test_matmul_is_transposed_without_values(left, right):
    x, y = real(*left), complex_(*right)
    without_values(lambda v: v @ y, x)
    without_values(lambda v: x @ v, y)


VECTORS = {
    "vecdot": (lambda x, y: np.vecdot(x, y), (2, 3), (4, 2, 3)),
    "linalg.vecdot": (lambda x, y: np.linalg.vecdot(x, y, axis=0), (3, 2), (3, 2)),
    "vdot": (lambda x, y: np.vdot(x, y), (2, 3), (2, 3)),
}
if hasattr(np, "matvec"):
    VECTORS |= {
        "matvec": (lambda x, y: np.matvec(x, y), (2, 3, 4), (2, 4)),
        "matvec of one vector": (lambda x, y: np.matvec(x, y), (2, 3, 4), (4,)),
        "vecmat": (lambda x, y: np.vecmat(x, y), (2, 3), (2, 3, 4)),
        "vecmat of one vector": (lambda x, y: np.vecmat(x, y), (3,), (5, 3, 4)),
    }


@kinds
@pytest.mark.parametrize("name", VECTORS)
def test_products_that_conjugate_a_factor(kind, name):
    """Linear over the real numbers in the factor that is conjugated."""
    f, left, right = VECTORS[name]
    first, second = KINDS[kind]
    multilinear(f, first(*left), second(*right))


@kinds
def test_multi_dot_takes_vectors_at_both_ends(kind):
    first, second = KINDS[kind]
    f = lambda x, y, z: np.linalg.multi_dot([x, y, z])
    multilinear(f, first(3, 4), second(4, 5), first(5, 2), batched=False)
    multilinear(f, first(4), second(4, 5), first(5), batched=False)


def test_multi_dot_multiplies_in_the_cheapest_order():
    """(1000 x 2)(2 x 1000)(1000 x 1): from the right, 4000 products instead of 3 million."""
    x, y, z = real(1000, 2), real(2, 1000), real(1000, 1)
    _, f_lin = dualad.linearize(lambda v: np.linalg.multi_dot([x, y, v]), z)
    assert [entry[5].shape for entry in f_lin.program.tape[1:]] == [(2, 1), (1000, 1)]


def test_the_gradient_of_a_quadratic_form():
    """d (x^T A x) = (A + A^T) x, and its Hessian is A + A^T."""
    A, x = real(4, 4), real(4)
    close(dualad.grad(lambda v: v @ A @ v)(x), (A + A.T) @ x)
    close(dualad.hessian(lambda v: v @ A @ v)(x), A + A.T)


def test_a_complex_product_follows_the_conjugate_convention():
    """The gradient of |c z|**2 is 2 |c|**2 z."""
    c, z = 2.0 - 1.0j, np.array([1.0 + 3.0j])
    f = lambda v: np.real(np.vdot(np.array([c]) * v, np.array([c]) * v))
    close(dualad.grad(f)(z), 2 * 5 * z)


def test_a_batch_of_vectors_is_one_matrix_product(monkeypatch):
    from dualad.ops.products import matmul

    calls = []
    plain = matmul.impl
    monkeypatch.setattr(
        matmul, "impl", lambda a, b: calls.append((a.shape, b.shape)) or plain(a, b)
    )
    A, many = real(5, 4), real(7, 4)
    close(dualad.vmap(lambda v: A @ v)(many), many @ A.T)
    assert calls == [((7, 4), (4, 5))]


def test_a_stack_of_matrices_times_a_matrix_is_one_matrix_product_in_reverse(monkeypatch):
    from dualad.ops.products import matmul

    x, w = real(6, 5, 4), real(4, 3)
    _, pullback = dualad.vjp(lambda v: x @ v, w)
    calls = []
    plain = matmul.impl
    monkeypatch.setattr(
        matmul, "impl", lambda a, b: calls.append((a.shape, b.shape)) or plain(a, b)
    )
    ct = real(6, 5, 3)
    close(pullback(ct)[0], np.einsum("abk,abp->kp", x, ct))
    assert calls == [((4, 30), (30, 3))]


def test_operators_with_plain_arrays_and_lists_on_either_side():
    A, x, t = real(2, 3), real(3), real(3)
    close(dualad.jvp(lambda v: A @ v, (x,), (t,))[1], A @ t)
    close(dualad.jvp(lambda v: v @ A.T, (x,), (t,))[1], t @ A.T)
    close(dualad.jvp(lambda v: [1.0, 2.0, 3.0] @ v, (x,), (t,))[1], np.array([1.0, 2.0, 3.0]) @ t)


def test_matmul_in_place_and_out():
    A, x, t = real(3, 3), real(3, 3), real(3, 3)

    def in_place(v):
        y = v * 1.0
        y @= A
        return y

    def into(v):
        y = np.zeros_like(v)
        np.dot(A, v, out=y)
        return y

    close(dualad.jvp(in_place, (x,), (t,))[1], t @ A)
    close(dualad.jvp(into, (x,), (t,))[1], A @ t)


def test_scalars_and_lengths_that_do_not_fit_are_refused_as_numpy_does():
    x = real(3)
    with pytest.raises(ValueError, match="matmul"):
        dualad.jvp(lambda v: v @ np.float64(2.0), (x,), (x,))
    with pytest.raises(ValueError, match="matmul"):
        dualad.vmap(lambda v: v @ x)(x)
    with pytest.raises(ValueError):
        dualad.jvp(lambda v: np.ones((2, 4)) @ v, (x,), (x,))
    with pytest.raises(ValueError, match="shape-mismatch"):
        dualad.jvp(lambda v: np.tensordot(v, np.ones((2, 3)), 1), (x,), (x,))
    with pytest.raises(ValueError, match="matmul"):
        dualad.linear_transpose(lambda v: np.ones((2, 4)) @ v, x)


def test_two_tangents_are_not_multiplied():
    with pytest.raises(dualad.DualADError, match="matmul"):
        dualad.linear_transpose(lambda v: v @ v, np.ones(3))


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
def test_cross_products_of_plane_vectors():
    """In the plane the third component alone is left; against a vector in space it is zero."""
    x, y, z = real(2), real(2), real(3)
    multilinear(np.cross, x, y)
    multilinear(np.cross, x, z)
    multilinear(np.cross, z, x)


@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.divide, np.arctan2])
def test_outer_of_a_ufunc_pairs_every_entry_with_every_other(ufunc):
    x, y, t, s = real(2, 2), real(3), real(2, 2), real(3)
    outer = lambda a, b: ufunc.outer(a, b)
    paired = lambda a, b: ufunc(a[:, :, None], b)
    close(dualad.jvp(outer, (x, y), (t, s)), dualad.jvp(paired, (x, y), (t, s)))


@pytest.mark.parametrize("f", [np.dot, np.matmul, np.inner, np.outer, np.cross, np.kron])
def test_float32_stays_float32(f):
    x = np.array([0.5, 0.7, 0.9], np.float32)
    y, moved = dualad.jvp(f, (x, x), (x, x))
    _, pullback = dualad.vjp(f, x, x)
    shares = pullback(np.ones_like(y))
    assert {np.asarray(v).dtype for v in (y, moved, *shares)} == {np.dtype(np.float32)}


def test_arrays_that_are_not_contiguous():
    a, b = real(6, 4), real(8, 6)
    multilinear(lambda x, y: x[::2].T @ y[1::2, ::2][:3], a, b)


LARGE_MATRIX = np.linspace(-1.0, 1.0, 80 * 60).reshape(80, 60) ** 3


@pytest.mark.parametrize("mode", [dualad.jacfwd, dualad.jacrev])
@pytest.mark.parametrize("chunk", [None, 7])
def test_unit_tangents_pick_rows_of_a_large_matrix(mode, chunk):
    """d(A sin x)/dx = A cos x, d(sin(x) A')/dx the same, and rows that do not move are zero."""
    x = np.linspace(-2.0, 3.0, 60)
    jacobian = LARGE_MATRIX * np.cos(x)
    f = mode(lambda x: LARGE_MATRIX @ np.sin(x), chunk_size=chunk)
    same(f(x), jacobian)
    same(mode(lambda x: np.sin(x) @ LARGE_MATRIX.T, chunk_size=chunk)(x), jacobian)
    masked = mode(lambda x: LARGE_MATRIX @ (np.sin(x) * (x > 0)), chunk_size=chunk)
    same(masked(x), jacobian * (x > 0))
    twice = mode(lambda x: LARGE_MATRIX @ (x + np.roll(x, 1)), chunk_size=chunk)
    same(twice(x), LARGE_MATRIX + np.roll(LARGE_MATRIX, -1, axis=1))


def test_an_infinite_entry_of_a_large_matrix_is_treated_as_in_a_small_one():
    """NumPy's product of a row of zeros with an infinity is NaN, whatever the size."""
    small, large = np.eye(2), np.eye(80)
    small[0, 1] = large[0, 1] = np.inf
    for matrix in (small, large):
        with np.errstate(invalid="ignore"):
            jacobian = dualad.jacfwd(lambda x, m=matrix: m @ x)(np.ones(len(matrix)))
        assert np.isnan(jacobian[0, 0]) and jacobian[1, 1] == 1.0


@pytest.mark.parametrize("stack", [(), (7,)])
def test_products_of_tangents_and_cotangents_that_repeat_a_row_or_a_column(stack):
    """They are made of one row or column, and are those of arrays that hold all of them."""
    x, w = real(*stack, 190, 200), real(*stack, 200, 180)
    row, column = real(*stack, 1, 200), real(*stack, 200, 1)
    shift = lambda b, c: (x + b) @ (w - c)
    y, moved = dualad.jvp(shift, (row, column), (row, column))
    left, right = np.broadcast_to(row, x.shape).copy(), np.broadcast_to(column, w.shape).copy()
    close((y, moved), ((x + row) @ (w - column), left @ (w - column) - (x + row) @ right))
    ones = np.ones((*stack, 190, 180))
    sides = dualad.grad(lambda x, w: np.sum(x @ w), argnums=(0, 1))(x, w)
    close(sides, (ones @ np.swapaxes(w, -1, -2), np.swapaxes(x, -1, -2) @ ones))
    sides[0][...] = 0.0  # they belong to the caller
    rows = real(*stack, 190, 1)
    got = dualad.grad(lambda w: np.sum((x @ w) * rows))(w)
    close(got, np.swapaxes(x, -1, -2) @ (ones * rows))


def test_stacks_whose_matrices_are_not_in_order_are_multiplied_by_blas(monkeypatch):
    """The rule's products take copies: NumPy would multiply such matrices without BLAS."""
    x, w = real(7, 600, 10), real(10, 12, 7).transpose(2, 0, 1)
    seen = []
    f = lambda x, w: np.sum(np.sin(x @ w))
    monkeypatch.setattr(
        "dualad.ops.products.large_product", lambda a, b: seen.append((a, b)) or np.matmul(a, b)
    )
    c = np.cos(x @ w)
    close(
        dualad.grad(f, argnums=(0, 1))(x, w),
        (c @ np.swapaxes(w, 1, 2), np.swapaxes(x, 1, 2) @ c),
    )
    close(
        dualad.jvp(lambda x, w: x @ w, (x, w), (2.0 * x, w))[1],
        3.0 * (x @ w),
    )
    assert len(seen) >= 2
    assert all(8 in m.strides[-2:] for pair in seen for m in pair)


# --- outer products that are added ---------------------------------------------------------------


@pytest.mark.parametrize("by_rows", [False, True], ids=["columns", "rows"])
@pytest.mark.parametrize("axes", [1, 2])
def test_outer_products_are_added_to_the_cotangent_of_a_large_matrix(axes, by_rows, monkeypatch):
    """Of w^T W^3 x, which is the sum of the outer products of what is before and behind each W."""
    n = 190
    a, x, w = (RNG.normal(size=s) / n**0.5 for s in ((n, n), (n,), (n,)))
    added, add = [], lapack.add_outer
    monkeypatch.setattr(lapack, "add_outer", lambda *args: added.append(add(*args)) or added[-1])

    def f(a):
        h = x if axes == 1 else (x[None, :] if by_rows else x[:, None])
        for _ in range(3):
            h = h @ a if by_rows else a @ h
        return np.sum(h * (w if axes == 1 else w.reshape(np.shape(h))))

    m = a.T if by_rows else a
    behind = [x, m @ x, m @ m @ x]
    before = [w @ m @ m, w @ m, w]
    expected = sum(np.outer(p, q) for p, q in zip(before, behind, strict=True))
    found = dualad.grad(f)(a)
    expected = expected.T if by_rows else expected
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-15)
    assert lapack._routines() is None or added == [True, True]


def test_an_outer_product_is_not_added_to_what_others_hold_or_what_is_not_double():
    n = 190
    x, a = RNG.normal(size=n), RNG.normal(size=(n, n))
    kept = np.ones((n, n))
    _, pull = dualad.vjp(lambda a: (a @ x, a), a)
    (share,) = pull((x, kept))
    np.testing.assert_allclose(share, np.outer(x, x) + 1, rtol=1e-13)
    assert np.array_equal(kept, np.ones((n, n)))
    single = a.astype(np.float32)
    twice = dualad.grad(lambda a: np.sum(a @ x.astype(np.float32) + a @ np.ones(n, np.float32)))
    assert twice(single).dtype == np.float32
    np.testing.assert_allclose(twice(single), np.broadcast_to(x + 1, (n, n)), rtol=1e-4)
    columns = dualad.grad(lambda a: np.sum((a @ x + a @ x)[::-1] + 0 * a.T.copy()[:, 0]))(a.T)
    np.testing.assert_allclose(columns, np.broadcast_to(2 * x, (n, n)), rtol=1e-12)


def test_zero_times_infinity_is_what_it_is_without_the_sum():
    n = 190
    x = np.ones(n)
    x[3] = np.inf
    w = np.ones(n)
    w[5] = 0.0
    with np.errstate(invalid="ignore"):
        once = dualad.vjp(lambda a: a @ x, np.zeros((n, n)))[1](w)[0]
        twice = dualad.vjp(lambda a: a @ np.ones(n) + a @ x, np.zeros((n, n)))[1](w)[0]
    assert np.array_equal(np.isnan(once), np.isnan(twice))
