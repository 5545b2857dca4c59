"""dualad.scipy.sparse: matrices whose entries and operands are differentiated.

The values are SciPy's; the derivatives are those of the dense formulas, in every mode.
"""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from every_mode import complex_, derivative, multilinear, real, without_values

import dualad
from dualad.errors import (
    DualADError,
    LostDerivativeError,
    MissingRuleError,
    SingularPointError,
)
from dualad.scipy import sparse
from dualad.scipy.sparse import linalg

# Square and regular, of different patterns, with a row of one entry and an empty place.
A = scipy.sparse.csr_array(np.array([[4.0, 1, 0], [0, 3, 1], [1, 0, 5]]))
B = scipy.sparse.csr_array(np.array([[0.0, 1, 2], [3, 0, 0], [0, 0, 4]]))
WIDE = scipy.sparse.csr_array(np.array([[4.0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 5, 2]]))
X = np.array([0.7, -1.3, 2.1])
FORMATS = ["csr", "csc", "coo"]


def made(like, data, module=sparse, form="csr", kind="array"):
    """The matrix of the pattern of another, of a format, with given entries."""
    csr = getattr(module, f"csr_{kind}")((data, like.indices, like.indptr), shape=like.shape)
    return csr.asformat(form)


def as_scipy(f, *likes, **options):
    """f of matrices as a function of their entries, in dualad and in SciPy."""

    def of(module):
        def call(*entries):
            matrices = [
                made(k, d, module, **options) for k, d in zip(likes, entries, strict=False)
            ]
            return f(*matrices, *entries[len(likes) :])

        return call

    return of(sparse), of(scipy.sparse)


def agree(f, reference, *args, **options):
    np.testing.assert_allclose(f(*args), reference(*args), rtol=1e-12, atol=1e-13)
    derivative(f, *args, **options)


# --- products ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("shape", [(4,), (4, 2), (4, 0)])
def test_products_are_bilinear_in_entries_and_operand(form, shape):
    multilinear(lambda d, x: made(WIDE, d, form=form) @ x, WIDE.data, real(*shape))
    left = (*shape[:0:-1], 3)
    multilinear(lambda d, x: x @ made(WIDE, d, form=form), WIDE.data, real(*left), second=False)


def test_products_of_complex_numbers():
    f = lambda d, x: made(WIDE, d) @ x
    multilinear(f, complex_(5), complex_(4, 2))
    multilinear(f, real(5), complex_(4), second=False, batched=False)
    multilinear(lambda d, x: x @ made(WIDE, d, form="csc"), complex_(5), complex_(3), second=False)


def test_a_plain_matrix_times_a_traced_vector():
    for form in ("csr", "csc", "coo", "lil", "dia", "dok", "bsr"):
        plain = sparse.csr_array(WIDE).asformat(form)
        np.testing.assert_array_equal(dualad.jacrev(lambda x, m=plain: m @ x)(X[[0, 1, 2, 0]]),
                                      WIDE.toarray())  # fmt: skip
        np.testing.assert_array_equal(dualad.jacfwd(lambda x, m=plain: x @ m)(X), WIDE.toarray().T)
        assert dualad.grad(lambda x, m=plain: np.sum(m.T @ x))(X).shape == (3,)
    without_values(lambda x: sparse.csr_array(WIDE) @ x, real(4))
    np.testing.assert_array_equal(dualad.jacrev(lambda x: (sparse.csr_array(A) @ x)[:0])(X).shape,
                                  (0, 3))  # fmt: skip


def test_the_star_is_by_entries_for_arrays_and_a_product_for_matrices():
    f, reference = as_scipy(lambda m, x: m * x, A, kind="matrix")
    agree(f, reference, A.data, X, second=False)
    f, reference = as_scipy(lambda m, x: x * m, A, kind="matrix")
    agree(f, reference, A.data, X, second=False)
    f, reference = as_scipy(lambda m: (m**3).toarray(), A, kind="matrix")
    agree(f, reference, A.data, second=False)
    f, reference = as_scipy(lambda m, x: (m * x).toarray(), A)
    agree(f, reference, A.data, X, second=False)


def test_single_precision_stays_single():
    x = X.astype(np.float32)
    f = lambda x: sparse.csr_array((x, ([0, 1, 2], [2, 1, 0]))) @ x
    value, tangent = dualad.jvp(f, (x,), (x,))
    assert value.dtype == tangent.dtype == np.float32
    np.testing.assert_allclose(tangent, 2 * value, 1e-6)


# --- operations on matrices ----------------------------------------------------------------------

TWO = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a.multiply(b),
    "star": lambda a, b: a * b,
    "matmul": lambda a, b: a @ b,
    "dot": lambda a, b: a.T.dot(b),
    "several": lambda a, b: 3.0 * (a @ b.T) - b / 2 + (-a),
}
BLOCKS = {
    "kron": lambda m, a, b: m.kron(a, b),
    "kronsum": lambda m, a, b: m.kronsum(a, b),
    "vstack": lambda m, a, b: m.vstack([a, b]),
    "hstack": lambda m, a, b: m.hstack([a, b], format="csc"),
    "block_diag": lambda m, a, b: m.block_diag([a, b]),
    "bmat": lambda m, a, b: m.bmat([[a, None], [b, a]]),
    "block_array": lambda m, a, b: m.block_array([[a, None], [b, a]], format="coo"),
    "one is plain": lambda m, a, b: m.kron(m.eye_array(2), a) + m.block_diag([b, np.eye(3)]),
}
ONE = {
    "sum": lambda a: a.sum(),
    "sum of columns": lambda a: a.sum(axis=0),
    "sum of rows": lambda a: a.sum(axis=-1),
    "mean": lambda a: a.mean(),
    "mean of columns": lambda a: a.mean(axis=0),
    "diagonal": lambda a: a.diagonal(),
    "upper diagonal": lambda a: a.diagonal(1),
    "trace": lambda a: a.trace(),
    "transpose": lambda a: a.T.toarray(),
    "entries": lambda a: a.data,
    "entries by columns": lambda a: a.tocsc().data,
    "an entry": lambda a: a[2, 0],
    "a zero": lambda a: a[0, 2] + a[0, 0],
    "slices": lambda a: a[0:2, 1:].toarray(),
    "rows, one twice": lambda a: a[[2, 0, 0]].toarray(),
    "reshape": lambda a: a.reshape((1, 9)).toarray(),
    "absolute": lambda a: abs(a).toarray(),
    "sine": lambda a: a.sin().toarray(),
    "square root": lambda a: a.sqrt().toarray(),
    "power": lambda a: (a**2 + a.power(3)).toarray(),
    "conjugate": lambda a: a.conj().toarray(),
    "by rows": lambda a: a.multiply(X).toarray(),
    "by columns": lambda a: (a / X[:, None]).toarray(),
    "dense sum": lambda a: a + np.outer(X, X),
    "dense difference": lambda a: np.outer(X, X) - a,
    "dot of a scalar": lambda a: a.dot(2.0).toarray(),
}


@pytest.mark.parametrize("name", TWO)
def test_operations_of_two_matrices(name):
    for form in FORMATS:
        f, reference = as_scipy(lambda a, b: TWO[name](a, b).toarray(), A, B, form=form)
        agree(f, reference, A.data + 0.5, B.data, second=form == "csr", batched=form == "csr")


@pytest.mark.parametrize("name", BLOCKS)
def test_matrices_of_blocks(name):
    for module, m in ((sparse, dualad), (scipy.sparse, None)):
        f = lambda a, b, s=module: BLOCKS[name](s, made(A, a, s), made(B, b, s)).toarray()
        if m is not None:
            ours = f
    np.testing.assert_allclose(ours(A.data, B.data), f(A.data, B.data))
    derivative(ours, A.data, B.data, second=False)


@pytest.mark.parametrize("name", ONE)
def test_operations_of_one_matrix(name):
    f, reference = as_scipy(ONE[name], A)
    agree(f, reference, A.data + 0.5, second=False)


def test_scalars_and_dense_matrices_may_be_traced():
    plain = sparse.csr_array(A)
    dense = A.toarray()
    for f, g in (
        (lambda s: (s * plain + plain / s).toarray(), lambda s: s * dense + dense / s),
        (lambda s: (plain * s).multiply(s).toarray(), lambda s: dense * s * s),
    ):
        agree(f, g, np.array(1.3))
    w = real(3, 3)
    agree(lambda w: plain.multiply(w).toarray(), lambda w: dense * w, w)
    agree(lambda w: (plain - w) @ (w + plain), lambda w: (dense - w) @ (w + dense), w)


def test_entries_stored_twice_are_added_up():
    d = real(3)
    coo = lambda d: sparse.coo_array((d, ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    csr = lambda d: sparse.csr_array((d, [2, 1, 1], [0, 3, 3, 3]), shape=(3, 3), copy=True)
    for m in (coo, csr):
        agree(lambda d, m=m: m(d).toarray(), lambda d, m=m: np.asarray(m(d).toarray()), d)
        agree(lambda d, m=m: (m(d) @ X, m(d).sin().toarray(), m(d).T.tocsc().data)[1],
              lambda d, m=m: m(d).sin().toarray(), d, second=False)  # fmt: skip
    both = dualad.jacrev(lambda d: coo(d).power(2).toarray()[0, 1])(d)
    np.testing.assert_allclose(both, [2 * (d[0] + d[1]), 2 * (d[0] + d[1]), 0])


@pytest.mark.parametrize("name", ["diags", "diags_array"])
def test_matrices_of_diagonals(name):
    x = real(4)
    ours, scipys = getattr(sparse, name), getattr(scipy.sparse, name)
    agree(lambda a: ours(a).toarray(), np.diag, x)
    f = lambda make, *d: make(d, offsets=[0, 1, -1], shape=(4, 4)).toarray()
    agree(lambda *d: f(ours, *d), lambda *d: f(scipys, *d), x, x[:3], np.array(2.0), second=False)
    plain = ours([x, np.ones(3)], offsets=[0, 1])
    np.testing.assert_array_equal(dualad.jacrev(lambda v: plain @ v)(x), plain.toarray())


def test_a_dense_matrix_stores_every_place():
    w = np.diag(X)
    agree(lambda w: sparse.csr_array(w) @ w @ X, lambda w: w @ w @ X, w)
    for f in (sparse.tril, sparse.triu):
        agree(lambda w, f=f: f(w).toarray(), lambda w, f=f: f(w).toarray(), real(3, 3))


def test_entries_that_are_not_sorted_keep_their_places():
    indices, indptr = np.array([2, 0, 1, 2, 0]), np.array([0, 2, 4, 5])
    d = real(5)

    def f(d):
        m = sparse.csr_array((d, indices, indptr), shape=(3, 3))
        parts = m[:, [0, 2]].toarray(), m.diagonal(), m[1:].T.toarray(), (m + m.T).toarray()
        return np.concatenate([np.ravel(p) for p in (*parts, m.data, m @ X, m[[2, 0]].toarray())])

    def g(d):
        m = np.zeros((3, 3)).astype(d.dtype)
        m[[0, 0, 1, 1, 2], indices] = d
        parts = m[:, [0, 2]], m.diagonal(), m[1:].T, m + m.T, d, m @ X, m[[2, 0]]
        return np.concatenate([np.ravel(p) for p in parts])

    agree(f, g, d, second=False)
    plain = sparse.csr_array((d.copy(), indices.copy(), indptr), shape=(3, 3))
    dense = plain.toarray()
    value, pullback = dualad.vjp(lambda x: plain @ x, X)
    plain.sort_indices()
    np.testing.assert_allclose(pullback(X)[0], dense.T @ X)
    np.testing.assert_allclose(dualad.jacrev(lambda x: plain @ x)(X), dense)
    np.testing.assert_allclose(value, dense @ X)


def test_entries_given_as_a_list_of_traced_numbers():
    f = lambda x: sparse.coo_array(([x[0], x[1] * x[0]], ([0, 1], [1, 0])), shape=(2, 2)).toarray()
    expected = np.zeros((2, 2, 3))
    expected[0, 1, 0], expected[1, 0, :2] = 1, (X[1], X[0])
    np.testing.assert_allclose(dualad.jacrev(f)(X), expected)


# --- systems -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_spsolve_in_the_right_hand_side_and_the_entries(form):
    f = lambda d, b: linalg.spsolve(made(A, d, form=form), b)
    g = lambda d, b: np.linalg.solve(made(A, d, scipy.sparse).toarray(), b)
    agree(f, g, A.data, real(3))
    agree(f, g, A.data + 0.3j, complex_(3, 2), second=False)
    agree(f, g, A.data, complex_(3), second=False, batched=False)


def test_spsolve_of_a_plain_matrix():
    for m in (A, A.tocsc(), sparse.csc_array(A), sparse.coo_array(A), sparse.lil_array(A)):
        inverse = np.linalg.inv(A.toarray())
        for jacobian in (dualad.jacfwd, dualad.jacrev):
            np.testing.assert_allclose(jacobian(lambda b, m=m: linalg.spsolve(m, b))(X), inverse)
    column = dualad.jacrev(lambda b: linalg.spsolve(A.tocsc(), b))(X[:, None])
    np.testing.assert_allclose(column, inverse[:, :, None])


@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_splu_solves_with_the_matrix_its_transpose_and_its_adjoint(trans):
    of = {"N": lambda m: m, "T": lambda m: m.T, "H": lambda m: m.conj().T}[trans]
    for form in ("csr", "csc"):
        f = lambda d, b, form=form: linalg.splu(made(A, d, form=form)).solve(b, trans)
        g = lambda d, b: np.linalg.solve(of(made(A, d, scipy.sparse).toarray()), b)
        agree(f, g, A.data + 0.3j, complex_(3), second=form == "csc", batched=form == "csc")


def test_one_factorisation_serves_value_tangents_and_cotangents(monkeypatch):
    made_factors = []
    splu = scipy.sparse.linalg.splu
    monkeypatch.setattr(scipy.sparse.linalg, "splu",
                        lambda *a, **k: made_factors.append(1) or splu(*a, **k))  # fmt: skip

    def f(d, b):
        return np.sum(linalg.spsolve(made(A, d, form="csc"), b) ** 2)

    for run in (
        lambda: dualad.jvp(f, (A.data, X), (A.data, X)),
        lambda: dualad.grad(f, argnums=(0, 1))(A.data, X),
        lambda: dualad.hessian(f)(A.data, X),
    ):
        made_factors.clear()
        run()
        assert sum(made_factors) == 1
    made_factors.clear()
    solve = linalg.factorized(A.tocsc())
    dualad.grad(lambda b: np.sum(solve(solve(b) * b)))(X)
    assert sum(made_factors) <= 2  # SciPy's own at once, and that of the rule


def test_factors_follow_entries_that_change():
    entries = A.tocsc().data.copy()
    m = sparse.csc_array((entries, A.tocsc().indices, A.tocsc().indptr))
    f = lambda b: linalg.spsolve(m, b)
    first = dualad.jacrev(f)(X)
    m.data *= 2.0
    np.testing.assert_allclose(dualad.jacrev(f)(X), first / 2)


def test_a_pullback_is_not_reached_by_later_changes_of_the_matrix():
    m = sparse.csr_array(A.copy())
    _, pullback = dualad.vjp(lambda x: m @ x, X)
    m.data[:] = np.nan
    m.indices[:] = 0
    np.testing.assert_allclose(pullback(X)[0], A.T @ X)


def test_norms():
    for order in (None, "fro", 1, -1, np.inf, -np.inf):
        f, _ = as_scipy(lambda m, order=order: linalg.norm(m, order), B)
        value = scipy.sparse.linalg.norm(B, order)
        agree(f, lambda d, v=value: v, B.data, second=False)


def test_a_gradient_of_a_poisson_problem_against_the_adjoint_method():
    n = 30
    k = np.linspace(1.0, 2.0, n + 1)

    def energy(k):
        stiffness = sparse.diags([k[:-1] + k[1:], -k[1:-1], -k[1:-1]], [0, 1, -1], format="csc")
        return np.sum(linalg.spsolve(stiffness, np.ones(n)))

    stiffness = scipy.sparse.diags([k[:-1] + k[1:], -k[1:-1], -k[1:-1]], [0, 1, -1], format="csc")
    u = np.pad(scipy.sparse.linalg.spsolve(stiffness, np.ones(n)), 1)
    # J = b.u with K u = b and u = its own adjoint: dJ/dk_i = -(u_i - u_(i-1))^2.
    np.testing.assert_allclose(dualad.grad(energy)(k), -(np.diff(u) ** 2), rtol=1e-10)


# --- tensors -------------------------------------------------------------------------------------


def test_tensors_give_tensors():
    w = dualad.tensor([0.7, -1.3, 2.1], requires_grad=True, dtype=dualad.float64)
    y = sparse.csr_array(A) @ w
    assert isinstance(y, dualad.Tensor)
    y.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), A.T @ np.ones(3))
    d = sparse.diags(w) + sparse.csr_array(A)
    for out in (d.data, d @ X, d.toarray(), linalg.spsolve(d, w), w @ d, w[:, None] * w + d):
        assert isinstance(out, dualad.Tensor)


# --- what is refused -----------------------------------------------------------------------------

SCIPYS = {
    "A @ x": lambda x: A @ x,
    "x @ A": lambda x: x @ A,
    "A.dot": lambda x: A.dot(x),
    "A * x": lambda x: A * x,
    "x * A": lambda x: x * A,
    "matrix * x": lambda x: scipy.sparse.csr_matrix(A) * x,
    "A + x": lambda x: A + np.outer(x, x),
    "x + A": lambda x: np.outer(x, x) + A,
    "multiply": lambda x: A.multiply(x),
    "np.dot": lambda x: np.dot(A, x),
    "np.matmul": lambda x: np.matmul(A, x),
    "np.multiply": lambda x: np.multiply(x, A),
    "spsolve": lambda x: scipy.sparse.linalg.spsolve(A.tocsc(), x),
    "cg": lambda x: scipy.sparse.linalg.cg(A, x),
    "csr": lambda x: scipy.sparse.csr_matrix((x, [0, 1, 2], [0, 1, 2, 3])),
    "coo": lambda x: scipy.sparse.coo_array((x, ([0, 1, 2], [0, 1, 2]))),
    "scalars": lambda x: scipy.sparse.coo_array(([x[0], x[1]], ([0, 1], [0, 1]))),
    "assignment": lambda x: A.copy().__setitem__((0, 0), x[0]),
}


@pytest.mark.parametrize("name", SCIPYS)
def test_scipys_own_matrices_name_the_remedy(name):
    for mode in (lambda f: dualad.jvp(f, (X,), (X,)), lambda f: dualad.jacrev(f)(X),
                 lambda f: dualad.vmap(f)(np.stack([X, X]))):  # fmt: skip
        with pytest.raises(LostDerivativeError, match=r"dualad\.scipy\.sparse"):
            mode(SCIPYS[name])


REFUSED = {
    "setitem": (lambda x: sparse.diags(x).__setitem__((0, 0), 1.0), LostDerivativeError),
    "plain setitem": (lambda x: sparse.lil_array((3, 3)).__setitem__((0, 0), x[0]),
                      LostDerivativeError),
    "data": (lambda x: setattr(sparse.csr_array(A), "data", x), LostDerivativeError),
    "asarray": (lambda x: np.asarray(sparse.diags(x)), LostDerivativeError),
    "out": (lambda x: sparse.diags(x).toarray(out=np.zeros((3, 3))), LostDerivativeError),
    "np.matmul": (lambda x: np.matmul(sparse.csr_array(A), x), LostDerivativeError),
    "lil": (lambda x: sparse.lil_array(np.outer(x, x)), LostDerivativeError),
    "max": (lambda x: sparse.diags(x).max(), MissingRuleError),
    "maximum": (lambda x: sparse.csr_array(A).maximum(sparse.diags(x)), MissingRuleError),
    "comparison": (lambda x: sparse.diags(x) == A, MissingRuleError),
    "cg": (lambda x: linalg.cg(sparse.csr_array(A), x), MissingRuleError),
    "inv": (lambda x: linalg.inv(sparse.diags(x)), MissingRuleError),
    "find": (lambda x: sparse.find(sparse.diags(x)), MissingRuleError),
    "sparse side": (lambda x: linalg.spsolve(A, sparse.diags(x)), MissingRuleError),
    "division": (lambda x: 1.0 / sparse.diags(x), MissingRuleError),
    "spectral norm": (lambda x: linalg.norm(sparse.diags(x), 2), MissingRuleError),
    "singular": (lambda x: linalg.spsolve(sparse.diags(x * np.array([1.0, 0, 1])), x),
                 SingularPointError),
    "rectangular": (lambda x: linalg.spsolve(sparse.csr_array(A)[:2], x), ValueError),
    "fit": (lambda x: sparse.csr_array(A) @ x[:2], ValueError),
    "scalar": (lambda x: sparse.csr_array(A) @ x[0], ValueError),
    "truth": (lambda x: bool(sparse.diags(x)), ValueError),
    "filling": (lambda x: sparse.diags(x) + 1.0, NotImplementedError),
    "power": (lambda x: sparse.diags(x).power(-1), TypeError),
    "one axis": (lambda x: sparse.diags_array(x)[0], TypeError),
    "the matrix": (sparse.diags, TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name):
    f, error = REFUSED[name]
    for mode in (lambda f: dualad.jvp(f, (X,), (X,)), lambda f: dualad.jacrev(f)(X)):
        with pytest.raises(error):
            mode(f)


# --- a drop-in -----------------------------------------------------------------------------------


def test_plain_matrices_are_scipys():
    m = sparse.csr_array(A)
    assert scipy.sparse.issparse(m) and isinstance(m, scipy.sparse.csr_array)
    np.testing.assert_array_equal((m @ m.T).toarray(), (A @ A.T).toarray())
    results = [m.T, m @ m, m + m, 2 * m, m[:2], m.tolil().tocsr(), sparse.kron(m, m)]
    made_by_functions = [sparse.eye_array(3), sparse.random(3, 3), sparse.vstack([m, m]).tocsc()]
    for again in (*results, *made_by_functions):
        x = np.ones(again.shape[1])
        np.testing.assert_allclose(dualad.jvp(lambda x, a=again: a @ x, (x,), (x,))[1], again @ x)
    assert type(sparse.issparse(m)) is bool and sparse.issparse(m)
    assert {"csr_array", "random"} <= set(dir(sparse)) and {"cg", "splu"} <= set(dir(linalg))
    np.testing.assert_allclose(linalg.spsolve(A.tocsc(), X), np.linalg.solve(A.toarray(), X))
    np.testing.assert_allclose(linalg.splu(A.tocsc()).solve(X), np.linalg.solve(A.toarray(), X))
    assert linalg.splu(A.tocsc()).L.shape == (3, 3)
    with pytest.raises(AttributeError, match=r"dualad\.scipy\.sparse"):
        sparse.no_such_name
    with pytest.raises(AttributeError, match=r"dualad\.scipy\.sparse\.linalg"):
        linalg.no_such_name


def test_matrices_are_pickled_and_copied():
    import copy
    import pickle

    m = sparse.csr_array(A)
    for again in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m), m.copy()):
        assert type(again) is type(m)
        np.testing.assert_array_equal(dualad.jacrev(lambda x, a=again: a @ x)(X), A.toarray())


def test_a_missing_scipy_is_named():
    code = (
        "import sys; sys.modules['scipy'] = None\n"
        "try:\n    import dualad.scipy.sparse\n"
        "except ImportError as e: print(type(e).__name__, e)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.startswith("MissingExtraError") and "dualad[sens]" in out


def test_setdiag_is_refused_with_the_remedy():
    def f(d):
        matrix = made(A, d)
        matrix.setdiag(d[:3])
        return matrix.sum()

    with pytest.raises(LostDerivativeError, match="csr_array"):
        dualad.grad(f)(A.data)


ON_THE_PAGE = [
    e for e in dualad.coverage() if e.package.startswith("scipy.sparse") and e.result == "refused"
]


@pytest.mark.parametrize("entry", ON_THE_PAGE, ids=lambda e: f"{e.package}.{e.name}")
def test_what_the_coverage_page_calls_refused_is_refused(entry):
    module = linalg if entry.package.endswith("linalg") else sparse
    with pytest.raises(DualADError):
        dualad.jvp(lambda d: getattr(module, entry.name)(made(A, d)), (A.data,), (A.data,))
