"""What rules share of a matrix: the right inverse, and solutions as accurate as NumPy's."""

import gc
import threading

import mpmath
import numpy as np
import pytest

import dualad
from dualad.engine.arrays.memory import POOL
from dualad.ops import lapack, shared
from dualad.ops.products import gram
from dualad.ops.triangular import inverse_by_factors

RNG = np.random.default_rng(12)
N = shared.LEAST


@pytest.fixture(autouse=True, params=["lapack", "numpy"])
def nothing_known(request, monkeypatch):
    """Each test with the LAPACK that comes with NumPy, and as where that is not found."""
    if request.param == "numpy":
        monkeypatch.setattr(lapack, "_routines", lambda: None)
    elif lapack._routines() is None:
        pytest.skip("this NumPy was built with another library")
    shared._memory.__init__()


def matrix(n=N):
    return RNG.normal(size=(n, n)) / n**0.5 + 2 * np.eye(n)


def covariance(n=N):
    a = matrix(n)
    return a @ a.T


def decaying(n, condition):
    """A matrix whose singular values fall to 1 / condition."""
    q, _ = np.linalg.qr(RNG.normal(size=(n, n)))
    p, _ = np.linalg.qr(RNG.normal(size=(n, n)))
    return (q * np.geomspace(1, 1 / condition, n)) @ p


def exactly(a, b):
    """The solution of a x = b, refined in extended precision until nothing changes."""
    wide, x = a.astype(np.longdouble), np.zeros(b.shape, np.longdouble)
    for _ in range(12):
        x = x + np.linalg.solve(a, (b - wide @ x).astype(float))
    return x


def exactly_lower(a, b):
    """The solution with a lower triangular a, by substitution with 50 digits."""
    with mpmath.workdps(50):
        x = []
        for row, right in zip(a.tolist(), b.tolist(), strict=True):
            known = mpmath.fdot(row[: len(x)], x)
            x.append((mpmath.mpf(right) - known) / row[len(x)])
        return np.array([float(v) for v in x])


def windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, N)


def outcome(f, *args):
    """The arrays that f gives, or the message of its error."""
    try:
        with np.errstate(invalid="ignore"):
            return list(f(*args))
    except np.linalg.LinAlgError as refused:
        return str(refused)


def error(x, exact):
    return np.max(np.abs(x - exact)) / np.max(np.abs(exact))


# --- the memory ----------------------------------------------------------------------------------


def test_an_inverse_is_found_again_for_the_matrix_and_its_transpose():
    a = matrix()
    inverse = shared.inverse_of(a)
    assert shared.inverse_of(a) is inverse
    assert np.shares_memory(shared.inverse_of(a.T), inverse)
    assert np.array_equal(shared.inverse_of(a.T), inverse.T)
    np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=1e-12, atol=1e-14)
    assert not inverse.flags.writeable


@pytest.mark.parametrize("view", [lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[1:, 1:]])
def test_another_view_of_the_same_memory_is_another_matrix(view):
    a = matrix(N + 1)
    shared.inverse_of(a)
    expected = np.linalg.inv(view(a))
    assert error(shared.inverse_of(view(a)), expected) < 1e-13


def test_a_part_of_a_matrix_that_begins_where_it_does_is_another_matrix():
    a = matrix(N + 6)
    log_det = lambda x: np.linalg.slogdet(x)[1]
    for x in (a[:N, :N], a, a[:N, :N]):
        gradient = dualad.grad(log_det)(x)
        np.testing.assert_allclose(gradient, np.linalg.inv(x).T, rtol=1e-10, atol=1e-12)


def test_a_matrix_that_was_written_to_is_another_matrix():
    a = matrix()
    shared.inverse_of(a)
    a[3, 5] += 0.5
    assert error(shared.inverse_of(a), np.linalg.inv(a)) < 1e-13
    a *= 2
    np.testing.assert_allclose(shared.solve_by(a, a), np.eye(N), atol=1e-13)


def test_a_write_is_seen_to_an_entry_that_is_tiny_beside_its_row():
    a = np.eye(N)
    a[1:, 0] = 1e18
    e = np.eye(N)[:, 5:6]
    solve = lambda a: np.sum(np.linalg.solve(a, e))
    log_det = lambda a: np.linalg.slogdet(a)[1]
    for entry in (1.0, 2.0, 2.0 + 2**-51, -4.0):
        a[5, 5] = entry
        for f, value, slope in (
            (log_det, np.log(abs(entry)), 1 / entry),
            (solve, 1 / entry, -1 / entry**2),
        ):
            got, by_entry = dualad.value_and_grad(f)(a)
            assert got == pytest.approx(value, rel=1e-15)
            assert by_entry[5, 5] == pytest.approx(slope, rel=1e-15)


def test_nothing_is_kept_of_a_matrix_that_is_gone_nor_by_other_threads():
    a = matrix()
    shared.inverse_of(a)
    known = shared._memory.known
    seen = []
    thread = threading.Thread(target=lambda m: seen.append(shared._recall(m)), args=(a,))
    thread.start()
    thread.join()
    assert seen == [(None, False)]
    del a, thread
    gc.collect()
    assert known == []


def test_a_matrix_with_nan_is_never_found():
    a = np.tril(matrix())
    a[5, 3] = np.nan
    shared.inverse_of_lower(a)
    with np.errstate(invalid="ignore"):
        shared.slogdet_of(a)
    assert shared._recall(a) == (None, False)
    assert np.isnan(shared.solve_by(a, np.ones((N, 1)))).any()


# --- accuracy ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [N, N + 1, 100, 200])
def test_inverses_of_positive_definite_and_of_triangular_matrices(n):
    s = covariance(n)
    assert error(shared.inverse_of(s), np.linalg.inv(s)) < 1e-13
    low = np.tril(matrix(n))
    assert error(shared.inverse_of_lower(low), np.linalg.inv(low)) < 1e-13
    assert np.array_equal(np.triu(shared.inverse_of_lower(low), 1), np.zeros((n, n)))


def test_a_symmetric_matrix_that_is_not_definite_and_a_singular_one():
    s = covariance() - 2 * np.eye(N)
    assert error(shared.inverse_of(s), np.linalg.inv(s)) < 1e-12
    with pytest.raises(np.linalg.LinAlgError):
        shared.inverse_of(np.ones((N, N)))
    with pytest.raises(np.linalg.LinAlgError):
        shared.solve_by(np.zeros((N, N)), np.ones((N, 1)))


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e9, 1e13])
def test_a_solution_by_the_inverse_is_as_accurate_as_numpys(condition):
    a = decaying(N, condition)
    b = np.column_stack([a @ np.ones(N), RNG.normal(size=N), 1e-9 * a[:, 3]])
    shared.inverse_of(a)
    for m, side in ((a, "a"), (a.T, "its transpose")):
        x = shared.solve_by(m, b)
        for k in range(3):
            exact = exactly(m, b[:, k])
            mine, numpys = (error(v[:, k], exact) for v in (x, np.linalg.solve(m, b)))
            assert mine < 4 * numpys + 1e-15, (side, k)


def test_a_nearly_singular_triangle_and_hilberts_matrix():
    i = np.arange(N)
    hilbert = 1 / (1 + i[:, None] + i)
    low, turn = np.tril(hilbert), np.flip
    for a in (low, low.T):
        b = a @ np.ones((N, 1))
        right = b[:, 0]
        exact = exactly_lower(a, right) if a is low else turn(exactly_lower(turn(a), turn(right)))
        numpys = error(np.linalg.solve(a, b)[:, 0], exact)
        assert error(shared.solve_by(a, b)[:, 0], exact) < 4 * numpys + 1e-15
    shared.inverse_of(hilbert)
    np.testing.assert_array_equal(
        shared.solve_by(hilbert, np.ones((N, 1))), np.linalg.solve(hilbert, np.ones((N, 1)))
    )


# --- triangles -----------------------------------------------------------------------------------

TRIANGLES = {
    "lower": np.tril,
    "upper": np.triu,
    "lower by columns": lambda a: np.asfortranarray(np.tril(a)),
    "upper by columns": lambda a: np.asfortranarray(np.triu(a)),
    "a part": lambda a: np.tril(np.pad(a, ((0, 3), (0, 5))))[:-3, :-5],
    "every other column": lambda a: np.repeat(np.tril(a), 2, axis=1)[:, ::2],
    "read only": lambda a: np.broadcast_to(np.tril(a), a.shape),
    "rows backwards": lambda a: np.tril(a)[::-1].copy()[::-1],
    "rows that overlap": lambda a: windows(np.r_[np.linspace(0.1, 2, N), np.zeros(N - 1)])[::-1],
}


@pytest.mark.parametrize("k", [1, 2, 70])
@pytest.mark.parametrize("triangle", TRIANGLES.values(), ids=TRIANGLES)
def test_triangular_systems(triangle, k):
    a, b = triangle(matrix()), RNG.normal(size=(N, k))
    for right in (b, np.asfortranarray(b), np.repeat(b, 2, axis=1)[:, ::2]):
        before = right.copy()
        for x in (shared.solution(a, right), shared.solve_by(a, right)):
            np.testing.assert_allclose(x, exactly(a, right), rtol=1e-12, atol=1e-14)
            assert x.flags.c_contiguous and x.flags.writeable
        assert np.array_equal(right, before)


def test_a_triangular_system_is_not_factorised(monkeypatch):
    if lapack._routines() is None:
        pytest.skip("needs substitution")
    low, b = np.tril(matrix()), RNG.normal(size=(N, 1))
    expected = [exactly(a, b) for a in (low, low.T)]
    monkeypatch.setattr(np.linalg, "solve", None)
    monkeypatch.setattr(lapack.LU, "solving", None)
    for a, x in zip((low, low.T), expected, strict=True):
        np.testing.assert_allclose(shared.solution(a, b), x, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(shared.solve_by(a, b), x, rtol=1e-12, atol=1e-14)


def test_substitution_is_as_accurate_as_factors_where_they_are_not():
    """Of 1 on and -1 below the diagonal: row k of the solution is the sum of all before it."""
    a = np.eye(N) - np.tri(N, k=-1)
    b = np.ones((N, 1))
    expected = 2.0 ** np.arange(N)[:, None]
    np.testing.assert_allclose(shared.solution(a, b), expected, rtol=1e-12)


def test_a_triangle_that_is_singular_or_not_finite_is_left_to_numpy():
    low, b = np.tril(matrix()), RNG.normal(size=(N, 1))
    low[3, 3] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        shared.solution(low, b)
    for bad in (np.nan, np.inf):
        for place in ((5, 3), (5, 5), (3, 5)):
            a = np.tril(matrix())
            a[place] = bad
            found, numpys = outcome(shared.solution, a, b), outcome(np.linalg.solve, a, b)
            np.testing.assert_equal(found, numpys)


def test_derivatives_of_a_triangular_system_count_every_entry():
    """The matrix happens to be triangular: its zeros have derivatives as its other entries."""
    low, b, w = np.tril(matrix(70)), RNG.normal(size=(70, 1)), RNG.normal(size=(70, 1))
    f = lambda a: np.sum(w * np.linalg.solve(a, b))
    inverse = np.linalg.inv(low)
    x, y = inverse @ b, inverse.T @ w
    np.testing.assert_allclose(dualad.grad(f)(low), -y @ x.T, rtol=1e-10, atol=1e-12)
    t = RNG.normal(size=low.shape)
    push = dualad.jvp(f, (low,), (t,))[1]
    np.testing.assert_allclose(push, -np.sum(y * (t @ x)), rtol=1e-10)


# --- eigenvalues ---------------------------------------------------------------------------------


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [N, N + 1, 97, 160])
def test_eigenvalues_and_eigenvectors_are_numpys_to_the_last_bit(n, lower):
    plain, tied = RNG.normal(size=(n, n)), np.kron(np.eye(2), np.ones((n // 2, n // 2)))
    for a in (plain, covariance(n), np.diag(np.arange(n) % 7.0), tied, np.asfortranarray(plain)):
        read_only = np.broadcast_to(a, a.shape)
        expected = np.linalg.eigh(a, "L" if lower else "U")
        for found in (shared.eigh_of(a, lower), shared.eigh_of(read_only, lower)):
            assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))
            assert all(x.flags.c_contiguous and x.flags.writeable for x in found)


def test_a_matrix_that_lapack_would_scale_or_refuse():
    a = covariance()
    for scale in (0.0, 1e-250, 1e-150, 1e150, 1e250):
        for x, y in zip(shared.eigh_of(scale * a, True), np.linalg.eigh(scale * a), strict=True):
            assert np.array_equal(x, y)
    other = np.triu(np.full(a.shape, np.nan), 1)
    w, v = shared.eigh_of(a + other, True)
    assert np.array_equal(w, np.linalg.eigh(a)[0]) and np.array_equal(v, np.linalg.eigh(a)[1])
    for bad in (np.nan, np.inf):
        b = a.copy()
        b[5, 3] = bad
        np.testing.assert_equal(outcome(shared.eigh_of, b, True), outcome(np.linalg.eigh, b))


def test_eigenvalues_are_numpys_own_call_only_where_they_must(monkeypatch):
    if lapack._routines() is None:
        pytest.skip("needs LAPACK")
    monkeypatch.setattr(np.linalg, "eigh", None)
    w, v = shared.eigh_of(covariance(), True)
    np.testing.assert_allclose(v.T @ v, np.eye(N), atol=1e-13)
    assert np.all(np.diff(w) >= 0)


# --- inverses by factors -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [N, 101, 200])
def test_an_inverse_by_factors_whether_or_not_rows_were_exchanged(n):
    if lapack._routines() is None:
        pytest.skip("needs factors")
    dominant = np.eye(n) * 3 + RNG.normal(size=(n, n)) / n
    for a, is_exchanged in ((dominant, False), (dominant[::-1], True), (decaying(n, 1e8), True)):
        lu = lapack.LU.of(np.ascontiguousarray(a))
        order = lu.order()
        assert (order is not None) == is_exchanged
        found, numpys = inverse_by_factors(lu.columns, order), np.linalg.inv(a)
        for left, right in ((a, found), (found, a)):
            residual = np.max(np.abs(left @ right - np.eye(n)))
            sizes = np.max(np.abs(a)) * np.max(np.abs(numpys))
            assert residual < 1e-15 * n * max(sizes, 1)


@pytest.mark.parametrize("n", [shared.DEFINITE, 131, 200])
def test_the_inverse_of_a_positive_definite_matrix_is_made_by_a_root_of_it(n, monkeypatch):
    if lapack._routines() is None:
        pytest.skip("needs factors")
    monkeypatch.setattr(shared, "inverse_by_factors", None)
    monkeypatch.setattr(lapack.LU, "inverse", None)
    dominant = covariance(n) + 2 * np.eye(n)
    for s in (dominant, 1e-200 * dominant, np.diag(np.geomspace(1e-9, 1e9, n)[::-1])):
        for used in [POOL.lend((n, n)) for _ in range(4)]:  # whatever memory holds
            used[...] = np.nan
        found = shared.inverse_of(s)
        residual = np.abs(s @ found - np.eye(n))
        assert np.max(residual) < 1e-15 * n * np.max(np.abs(s)) * np.max(np.abs(found))
        np.testing.assert_allclose(found, found.T, rtol=1e-12)


def test_only_what_is_symmetric_and_definite_is_taken_for_it():
    n = 130
    s = covariance(n) + 4 * np.eye(n)
    almost, indefinite = s.copy(), s.copy()
    almost[n - 3, 2] = np.nextafter(almost[n - 3, 2], np.inf)
    almost[5, 9] += 0.25
    indefinite[np.arange(9), np.arange(9)] *= -1
    for a in (almost, indefinite, -s, s[::-1], np.triu(s)):
        inverse = np.linalg.inv(a)
        assert error(shared.inverse_of(a), inverse) < 1e-12


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [N, N + 1, 100, 150])
def test_solutions_determinants_and_factors_are_numpys_to_the_last_bit(n):
    for a in (matrix(n), -matrix(n).T, covariance(n), matrix(n)[:, ::-1]):
        for b in (RNG.normal(size=(n, 1)), RNG.normal(size=(n, 3)), RNG.normal(size=(3, n)).T):
            assert np.array_equal(shared.solution(a, b), np.linalg.solve(a, b))
        found, expected = shared.slogdet_of(a.copy()), np.linalg.slogdet(a)
        assert found == tuple(expected)
        # Several threads may share the work of a solution and of a factorisation in other ways.
        np.testing.assert_allclose(shared.slogdet_of(a), expected, rtol=1e-13)
        assert [type(v) for v in found] == [np.float64, np.float64]
    s = covariance(n)
    s[0, 1] = 7.0  # is not read
    assert np.array_equal(shared.cholesky_of(s), np.linalg.cholesky(s))


def test_values_at_singular_matrices_and_of_what_lapack_does_not_take():
    flat = np.ones((N, N))
    assert shared.slogdet_of(flat) == tuple(np.linalg.slogdet(flat)) == (0.0, -np.inf)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        shared.solution(flat, flat)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        shared.cholesky_of(-np.eye(N))
    a = matrix()
    assert np.array_equal(shared.solution(a, a[:, 0]), np.linalg.solve(a, a[:, 0]))
    assert shared.solution(a, np.ones((N, 0))).shape == (N, 0)
    for wrong in (np.ones((N - 1, 1)), np.ones((N + 1, 2))):
        with pytest.raises(ValueError, match="mismatch"):
            shared.solution(a, wrong)
    for kind in (np.float32, complex, ">f8"):
        b = a.astype(kind)
        assert np.array_equal(shared.solution(b, b), np.linalg.solve(b, b))
        assert np.array_equal(shared.cholesky_of(b @ b.T), np.linalg.cholesky(b @ b.T))
        assert shared.slogdet_of(b) == tuple(np.linalg.slogdet(b))


def test_one_factorisation_for_a_value_and_its_derivatives(monkeypatch):
    if lapack._routines() is None:
        pytest.skip("needs factors")
    calls, solving, of = [], lapack.LU.solving, lapack.LU.of
    count = lambda f: staticmethod(lambda *args: calls.append(f) or f(*args))
    monkeypatch.setattr(lapack.LU, "solving", count(solving))
    monkeypatch.setattr(lapack.LU, "of", count(of))
    a, b = matrix(), RNG.normal(size=(N, 1))
    f = lambda a: np.sum(np.linalg.solve(a, b)) + np.linalg.slogdet(a)[1]
    expected = np.linalg.inv(a).T - np.linalg.solve(a.T, np.ones((N, 1))) @ np.linalg.solve(a, b).T
    np.testing.assert_allclose(dualad.grad(f)(a), expected, rtol=1e-10, atol=1e-12)
    assert len(calls) == 1


# --- derivatives ---------------------------------------------------------------------------------


def test_values_are_numpys_to_the_last_bit():
    s, y = covariance(), RNG.normal(size=(N, 1))

    def f(s):
        factor = np.linalg.cholesky(s)
        log = np.linalg.slogdet(s)[1]
        return np.linalg.solve(s, y), factor, log, np.linalg.inv(s), *np.linalg.eigh(s)

    for a, b in zip(dualad.jvp(f, (s,), (s,))[0], f(s), strict=True):
        assert np.array_equal(a, b)


def test_gradients_of_two_ways_to_a_likelihood_are_the_closed_form():
    a, y = matrix(80), RNG.normal(size=(80, 1))

    def by_factor(a):
        factor = np.linalg.cholesky(a @ a.T)
        z = np.linalg.solve(factor, y)
        return 0.5 * np.sum(z * z) + np.sum(np.log(np.diagonal(factor)))

    def by_determinant(a):
        s = a @ a.T
        return 0.5 * np.sum(y * np.linalg.solve(s, y)) + 0.5 * np.linalg.slogdet(s)[1]

    inverse = np.linalg.inv(a @ a.T)
    w = inverse @ y
    expected = (inverse - w @ w.T) @ a
    t = RNG.normal(size=a.shape)
    for f in (by_factor, by_determinant):
        np.testing.assert_allclose(dualad.grad(f)(a), expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(dualad.jvp(f, (a,), (t,))[1], np.sum(t * expected), rtol=1e-9)
        push = dualad.jvp(dualad.grad(f), (a,), (t,))[1]
        dw = -inverse @ (t @ a.T + a @ t.T) @ w
        di = -inverse @ (t @ a.T + a @ t.T) @ inverse
        second = (di - dw @ w.T - w @ dw.T) @ a + (inverse - w @ w.T) @ t
        np.testing.assert_allclose(push, second, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("f", [lambda a: a @ a.T, lambda a: a.T @ a])
def test_the_product_with_the_transpose(f, monkeypatch):
    calls, impl = [], gram.impl
    monkeypatch.setattr(gram, "impl", lambda a: calls.append(a) or impl(a))
    a, t = RNG.normal(size=(2, 105, 103))
    value, push = dualad.jvp(f, (a,), (t,))
    assert np.array_equal(value, f(a))
    left, right = (a, t) if value.shape == (105, 105) else (a.T, t.T)
    np.testing.assert_allclose(push, right @ left.T + left @ right.T, rtol=1e-12, atol=1e-11)
    w = RNG.normal(size=value.shape)
    g = dualad.grad(lambda a: np.sum(w * f(a)))(a)
    expected = (w + w.T) @ a if value.shape == (105, 105) else a @ (w + w.T)
    np.testing.assert_allclose(g, expected, rtol=1e-12, atol=1e-11)
    batch = dualad.vmap(lambda k: f(k * dualad.stop_gradient(a)))(np.array([1.0, 2.0]))
    np.testing.assert_allclose(batch[1], 4 * f(a), rtol=1e-12)
    assert len(calls) == 2


def test_a_product_with_the_transpose_is_seen_only_where_it_is_one(monkeypatch):
    monkeypatch.setattr(gram, "impl", None)
    a = RNG.normal(size=(110, 110))

    def f(a):
        b = a.T
        b = b * 1.0
        return np.sum(a @ b) + np.sum(a @ np.reshape(a, (110, 110)).T[::-1])

    t = RNG.normal(size=a.shape)
    expected = np.sum(t @ a.T + a @ t.T) + np.sum(t @ a.T[::-1] + a @ t.T[::-1])
    np.testing.assert_allclose(dualad.jvp(f, (a,), (t,))[1], expected, rtol=1e-9)


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("is_lower", [True, False])
def test_what_is_not_finite_in_a_triangle_counts_beside_zeros_too(bad, is_lower):
    """A zero times what is infinite is no number, in substitution as in factors."""
    a, b = np.tril(np.ones((70, 70))) + 3.0 * np.eye(70), np.ones(70)
    a[60, 3], b[:10] = bad, 0.0
    if not is_lower:
        a, b = a.T.copy(), b[::-1].copy()
        a[3, 60], a[9, 66], b[60:] = 1.0, bad, 0.0
    assert lapack.solve_triangle(a, b[:, None], is_lower) is None
