"""Rules that are chains of linear operations: transposed without a trace, to the same map."""

import numpy as np
import pytest

import dualad
from dualad.engine.primitives.chain import Chain, Link
from dualad.engine.primitives.composite import Composite
from dualad.engine.programs import linear
from dualad.errors import SingularPointError
from dualad.ops.eigen import _moves
from dualad.ops.products import matmul
from dualad.ops.solve import solve

RNG = np.random.default_rng(31)


def matrix(*shape):
    """Regular matrices, of which no two singular values are near."""
    n = shape[-1]
    return RNG.normal(size=shape) / n + np.diag(np.arange(1.0, n + 1))


def definite(n):
    a = matrix(n, n)
    return a @ a.T


A, B, S, LARGE = matrix(5, 5), RNG.normal(size=(5, 2)), definite(5), definite(70)
FUNCTIONS = {
    "solve": (lambda a: np.linalg.solve(a, B), A),
    "solve of a vector": (lambda a: np.linalg.solve(a, B[:, 0]), A),
    "solve of a stack": (lambda a: np.linalg.solve(a, np.stack([B, 2 - B, B**2])), A),
    "solve with a stack": (lambda a: np.linalg.solve(a, B), matrix(3, 5, 5)),
    "solve of large ones": (lambda a: np.linalg.solve(a, LARGE[:, :3]), LARGE),
    "inv": (np.linalg.inv, A),
    "inv of a stack": (np.linalg.inv, matrix(2, 3, 5, 5)),
    "det": (np.linalg.det, A),
    "det of a stack": (np.linalg.det, matrix(3, 4, 4)),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], A),
    "slogdet of a stack": (lambda a: np.linalg.slogdet(a)[1], matrix(3, 4, 4)),
    "slogdet of a large one": (lambda a: np.linalg.slogdet(a)[1], LARGE),
    "the sign too": (lambda a: np.prod(np.linalg.slogdet(a)), A),
    "cholesky": (np.linalg.cholesky, S),
    "cholesky of a stack": (np.linalg.cholesky, np.stack([S, 2 * S])),
    "cholesky of a large one": (np.linalg.cholesky, LARGE),
    "eigenvalues": (lambda a: np.linalg.eigh(a)[0], S),
    "eigenvectors": (lambda a: np.linalg.eigh(a)[1] ** 2, S),
    "both": (lambda a: (lambda w, v: (v * w) @ v.T + w**2)(*np.linalg.eigh(a)), S),
    "eigenvalues of a stack": (lambda a: np.linalg.eigvalsh(a, "U"), np.stack([S, 2 * S])),
    "both of a large one": (lambda a: (lambda w, v: v**2 * w)(*np.linalg.eigh(a)), LARGE),
    "gram": (lambda a: a @ a.T, RNG.normal(size=(110, 110))),
}
LAYOUTS = {
    "by rows": lambda a: a,
    "by columns": lambda a: np.swapaxes(np.swapaxes(a, -1, -2).copy(), -1, -2),
    "backwards": lambda a: a[..., ::-1].copy()[..., ::-1],
}


def transposes_to(f, a, rtol=1e-9):
    """Whether <w, J t> is <J^T w, t>, where J is forward mode and J^T reverse mode."""
    t = RNG.normal(size=a.shape).astype(a.dtype)
    if a.dtype.kind == "c":
        t = t + 1j * RNG.normal(size=a.shape)
    y, move = dualad.jvp(f, (a,), (t,))
    w = RNG.normal(size=np.shape(y)).astype(y.dtype)
    (share,) = dualad.vjp(f, a)[1](w)
    assert share.shape == a.shape and share.dtype == a.dtype
    left, right = np.vdot(w, move).real, np.vdot(share, t).real
    size = np.linalg.norm(w) * np.linalg.norm(move)
    assert abs(left - right) <= rtol * size


@pytest.fixture
def untraced(monkeypatch):
    """An error where a rule is traced."""
    monkeypatch.setattr(linear, "program_of_rule", None)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("f, a", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_transpose_of_a_chain_is_found_without_a_trace(untraced, f, a, layout):
    transposes_to(f, layout(a))


@pytest.mark.parametrize("name", ["solve", "inv", "det", "slogdet", "cholesky", "both"])
def test_single_precision_stays_what_it_is(untraced, name):
    f, a = FUNCTIONS[name]
    transposes_to(f, a.astype(np.float32), 1e-4)


def test_complex_matrices_and_real_ones_in_complex_systems(untraced):
    z, h = A + 1j * matrix(5, 5), S + 0.1j * (A - A.T)
    for f, a in (
        (lambda a: np.linalg.solve(a, B), z),
        (lambda a: np.linalg.solve(a, B + 1j), A),
        (np.linalg.inv, z),
        (np.linalg.det, z),
        (np.linalg.cholesky, h),
        (lambda a: np.linalg.eigh(a)[0], h),
    ):
        transposes_to(f, a)


def test_what_is_no_chain_is_traced():
    z, tied = A + 1j * matrix(5, 5), np.eye(4)
    transposes_to(lambda a: np.linalg.slogdet(a)[1], z)
    transposes_to(lambda a: np.linalg.cholesky(a, upper=True), S)
    # The trace is a symmetric function of the eigenvalues, its gradient is the identity.
    trace = dualad.grad(lambda a: np.sum(np.linalg.eigvalsh(a)))(tied)
    np.testing.assert_allclose(trace, np.eye(4), atol=1e-14)


def test_gradients_in_closed_form():
    inverse, w = np.linalg.inv(A), RNG.normal(size=B.shape)
    x, y = inverse @ B, inverse.T @ w
    by_a, by_b = dualad.grad(lambda a, b: np.sum(w * np.linalg.solve(a, b)), (0, 1))(A, B)
    np.testing.assert_allclose(by_a, -y @ x.T, rtol=1e-12)
    np.testing.assert_allclose(by_b, y, rtol=1e-12)
    np.testing.assert_allclose(dualad.grad(FUNCTIONS["slogdet"][0])(A), inverse.T, rtol=1e-12)
    cofactors = np.linalg.det(A) * inverse.T
    np.testing.assert_allclose(dualad.grad(np.linalg.det)(A), cofactors, rtol=1e-12)
    of_inverse = dualad.grad(lambda a: np.sum(np.linalg.inv(a)))(A)
    ones = np.ones((5, 1))
    np.testing.assert_allclose(of_inverse, -(inverse.T @ ones) @ (ones.T @ inverse.T), rtol=1e-12)


def test_second_derivatives_in_closed_form_in_every_nesting():
    """d^2 log det a along t and u is -tr(a^-1 t a^-1 u)."""
    f, inverse = FUNCTIONS["slogdet"][0], np.linalg.inv(A)
    t, u = RNG.normal(size=A.shape), RNG.normal(size=A.shape)
    expected = -np.trace(inverse @ t @ inverse @ u)
    along = lambda g, a, t: dualad.jvp(g, (a,), (t,))[1]
    dot = lambda g, a, t: np.sum(dualad.grad(g)(a) * t)
    for outer in (along, dot):
        for inner in (along, dot):
            found = outer(lambda a, inner=inner: inner(f, a, u), A, t)
            np.testing.assert_allclose(found, expected, rtol=1e-11)
    x = dualad.tensor(A, requires_grad=True)
    (g,) = dualad.autograd.grad(f(x), x, create_graph=True)
    (h,) = dualad.autograd.grad((g * u).sum(), x)
    np.testing.assert_allclose((h.numpy() * t).sum(), expected, rtol=1e-11)


def test_gradients_of_many_matrices_at_once_are_those_of_each(untraced):
    stack = np.stack([A, A.T, A + 1])
    for name in ("solve", "inv", "det", "slogdet"):
        f = FUNCTIONS[name][0]
        g = dualad.grad(lambda a, f=f: np.sum(f(a)))
        expected = np.stack([g(a) for a in stack])
        np.testing.assert_allclose(dualad.vmap(g)(stack), expected, rtol=1e-10)


def test_of_several_outputs_those_that_are_not_used_count_as_zero(untraced):
    v = np.linalg.eigh(S)[1]
    np.testing.assert_allclose(
        np.tril(dualad.grad(lambda a: np.linalg.eigh(a).eigenvalues[2])(S)),
        np.tril((2 - np.eye(5)) * np.outer(v[:, 2], v[:, 2])), rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    assert not np.any(dualad.grad(lambda a: np.linalg.slogdet(a).sign)(S))
    for a in (S, LARGE):
        transposes_to(lambda a: np.linalg.eigh(a)[1][:, 1] ** 2, a)
        transposes_to(lambda a: np.linalg.eigh(a)[0][[0, 3]], a)
        assert not np.any(dualad.grad(lambda a: np.sum(0 * np.linalg.eigh(a)[0]))(a))


def test_split_and_join_are_each_others_transposes():
    both, out = RNG.normal(size=(6, 5)), np.linalg.eigh(S)
    cotangents = [RNG.normal(size=x.shape) for x in out]
    left = sum(np.vdot(ct, x) for ct, x in zip(cotangents, _moves.split(both), strict=True))
    values, vectors = _moves.join(cotangents, tuple(out))
    np.testing.assert_allclose(left, np.vdot(np.concatenate([values[None], vectors]), both))


def test_a_chain_broadcasts_and_casts_as_its_operations_do(untraced):
    """x -> a x of one vector for each matrix of a stack, in single precision."""
    a = RNG.normal(size=(4, 3, 3))
    times = Composite(
        lambda x: a @ x, Chain(Link(matmul, 1, lambda out, x: (a,))), builtin=False, name="times"
    )
    x = RNG.normal(size=(3, 1)).astype(np.float32)
    w = RNG.normal(size=(4, 3, 1))
    (share,) = dualad.vjp(times, x)[1](w)
    assert share.dtype == np.float32 and share.shape == x.shape
    np.testing.assert_allclose(share, np.einsum("kij,kil->jl", a, w), rtol=1e-5)


def test_an_error_in_what_a_chain_reads_is_that_of_the_rule():
    with pytest.raises(SingularPointError, match="slogdet has no derivative"):
        dualad.grad(lambda a: np.linalg.slogdet(a)[1])(np.ones((3, 3)))
    assert solve.is_chained and not matmul.is_chained


def test_the_shape_of_one_operation_is_not_worked_out(monkeypatch):
    """A cotangent has the shape of the result."""
    chain = Chain(Link(matmul, 0, lambda out, x: (B,)))
    times = Composite(lambda x: x @ B, chain, builtin=False, name="times b")
    monkeypatch.setattr(matmul, "out_spec", None)
    x, w = RNG.normal(size=(3, 5)), RNG.normal(size=(3, 2))
    (share,) = dualad.vjp(times, x)[1](w)
    np.testing.assert_allclose(share, w @ B.T, rtol=1e-14)
