"""numpy.linalg as a whole: every function, every calling form, in both modes and to second order.

The right value is the limit of differences, and in reverse mode the adjoint identity; closed
forms are in the test files of the families. Functions of eigen- and singular vectors are taken
where their free factors cancel.
"""

import inspect

import numpy as np
import pytest
from every_mode import derivative, like, parts

import dualad
from dualad.engine.levels.rules import FUNCTIONS

RNG = np.random.default_rng(12)


def draw(*shape):
    return RNG.uniform(-1, 1, shape)


def spread(*shape):
    """Matrices with distinct eigenvalues and singular values, between 1 and 2 n."""
    n = min(shape[-2:])
    out = 0.3 * draw(*shape)
    k = np.arange(n)
    out[..., k, k] += 2 * k + 1.5
    return out


def symmetric(a):
    return (a + np.conj(np.swapaxes(a, -1, -2))) / 2


def projector(v):
    """What a single column of eigenvectors says independent of its factor."""
    return v[..., :, None, :] * np.conj(v[..., None, :, :])


A, B, C = spread(3, 3), spread(2, 3, 3), spread(2, 1, 3, 3)
TALL, WIDE = spread(5, 3), spread(2, 5)[:, :4]
X, Y, Z = draw(3), draw(3, 2), draw(2, 3, 1)
TENSOR = spread(6, 6).reshape(2, 3, 6)
la = np.linalg

#: A function of one matrix (or more), and its arguments, by name.
CALLS = {
    "solve vector": (la.solve, A, X),
    "solve matrix": (la.solve, A, Y),
    "solve stack": (la.solve, B, Z),
    "solve, b broadcast": (la.solve, B, Y),
    "solve, a broadcast": (la.solve, A, Z),
    "solve, both broadcast": (la.solve, C, Z),
    "inv": (la.inv, A),
    "inv stack": (la.inv, C),
    "tensorinv": (lambda a: la.tensorinv(a, ind=2), TENSOR),
    "tensorinv 1": (lambda a: la.tensorinv(a, ind=1), spread(6, 6).reshape(6, 2, 3)),
    "tensorsolve": (la.tensorsolve, TENSOR, draw(2, 3)),
    "tensorsolve axes": (
        lambda a, b: la.tensorsolve(a, b, axes=(0,)),
        np.moveaxis(TENSOR, 2, 0),
        draw(2, 3),
    ),
    "matrix_power 3": (lambda a: la.matrix_power(a, 3), A),
    "matrix_power 6": (lambda a: la.matrix_power(a, 6), B / 3),
    "matrix_power -2": (lambda a: la.matrix_power(a, -2), B),
    "matrix_power 1": (lambda a: la.matrix_power(a, 1), A),
    "det": (la.det, A),
    "det stack": (la.det, B),
    "det 5": (la.det, spread(5, 5)),
    "slogdet": (lambda a: la.slogdet(a)[1], A),
    "slogdet stack": (lambda a: la.slogdet(-a).logabsdet, B),
    "cholesky": (la.cholesky, A),
    "cholesky stack": (la.cholesky, B),
    "cholesky upper": (lambda a: la.cholesky(a, upper=True), B),
    "cholesky large": (lambda a: la.cholesky(a)[-2:], spread(40, 40) + 9 * np.eye(40)),
    "qr": (lambda a: tuple(la.qr(a)), A),
    "qr tall": (lambda a: tuple(la.qr(a)), TALL),
    "qr wide": (lambda a: tuple(la.qr(a)), WIDE),
    "qr stack": (lambda a: tuple(la.qr(a, "reduced")), B),
    "qr r": (lambda a: la.qr(a, mode="r"), TALL),
    "qr complete": (lambda a: tuple(la.qr(a, mode="complete")), WIDE),
    "eigh": (lambda a: (la.eigh(a)[0], projector(la.eigh(a)[1])), A),
    "eigh upper stack": (lambda a: projector(la.eigh(a, UPLO="U").eigenvectors), B),
    "eigvalsh": (la.eigvalsh, A),
    "eigvalsh upper": (lambda a: la.eigvalsh(a, "U"), B),
    "eig": (lambda a: (la.eig(a)[0], projector(la.eig(a)[1])), A),
    "eig stack": (lambda a: np.abs(la.eig(a).eigenvectors), B),
    "eigvals": (la.eigvals, A),
    "eigvals, complex pairs": (la.eigvals, np.array([[1.0, 2, 0.3], [-2, 1, 1], [0.4, 1, 7]])),
    "svd": (lambda a: tuple(map(np.abs, la.svd(a))), A),
    "svd tall": (lambda a: (projector(la.svd(a, full_matrices=False)[0]), la.svd(a)[1]), TALL),
    "svd wide": (lambda a: projector(np.swapaxes(la.svd(a, False).Vh, -1, -2)), WIDE),
    "svd full": (lambda a: la.svd(a)[0][:, 3:] @ la.svd(a)[0][:, 3:].T.conj(), TALL),
    "svd full wide": (lambda a: la.svd(a)[2][2:].T @ la.svd(a)[2][2:].conj(), WIDE),
    "svd values": (lambda a: la.svd(a, compute_uv=False), B),
    "svd hermitian": (lambda a: la.svd(symmetric(a), hermitian=True).S, A - 3 * np.eye(3)),
    "svdvals": (la.svdvals, TALL),
    "pinv": (la.pinv, A),
    "pinv tall": (la.pinv, TALL),
    "pinv wide stack": (lambda a: la.pinv(a, rtol=1e-9), np.stack([WIDE, 2 * WIDE])),
    "pinv hermitian": (lambda a: la.pinv(a, hermitian=True), A),
    "lstsq": (lambda a, b: la.lstsq(a, b)[::3], TALL, draw(5, 2)),
    "lstsq vector": (lambda a, b: la.lstsq(a, b, rcond=None)[:2], TALL, draw(5)),
    "lstsq wide": (lambda a, b: la.lstsq(a, b, rcond=-1)[0], WIDE, draw(2)),
    "cond": (la.cond, A),
    "cond -2": (lambda a: la.cond(a, -2), B),
    "cond fro": (lambda a: la.cond(a, "fro"), B),
    "cond 1": (lambda a: la.cond(a, 1), A),
    "cond inf": (lambda a: la.cond(a, np.inf), A),
    "norm nuc": (lambda a: la.norm(a, "nuc"), TALL),
    "norm 2": (lambda a: la.norm(a, 2), A),
    "norm -2": (lambda a: la.norm(a, -2, axis=(0, 2)), np.moveaxis(B, 1, 0)),
    "norm fro": (lambda a: la.norm(a, "fro", axis=(1, 2), keepdims=True), B),
    "norm 1": (lambda a: la.norm(a, 1), A),
    "norm -inf": (lambda a: la.norm(a, -np.inf), A),
    "matrix_norm": (la.matrix_norm, B),
    "matrix_norm nuc": (lambda a: la.matrix_norm(a, ord="nuc", keepdims=True), B),
    "vector_norm": (lambda a: la.vector_norm(a, axis=-1, ord=3), B),
    "cross": (la.cross, X, draw(2, 3)),
    "outer": (la.outer, X, draw(2)),
    "matmul": (la.matmul, A, B),
    "tensordot": (lambda a, b: la.tensordot(a, b, axes=1), A, Y),
    "vecdot": (lambda a, b: la.vecdot(a, b, axis=0), Y, draw(3, 2)),
    "multi_dot": (lambda a, b, c: la.multi_dot([a, b, c]), X, A, Y),
    "trace": (la.trace, B),
    "trace offset": (lambda a: la.trace(a, offset=1), B),
    "diagonal": (lambda a: la.diagonal(a, offset=-1), B),
    "matrix_transpose": (la.matrix_transpose, B),
}
#: What is not defined for complex arguments, or not differentiable without a real structure.
REAL_ONLY = {"eig stack", "eigvals, complex pairs"}


def cases():
    for name, (f, *args) in CALLS.items():
        yield pytest.param(f, args, id=name)
        if name not in REAL_ONLY:
            complexes = [a + 0.2j * draw(*a.shape) for a in args]
            yield pytest.param(f, complexes, id=f"{name}, complex")


CASES = list(cases())


def test_every_function_of_the_namespace_has_a_rule():
    names = [n for n in la.__all__ if callable(getattr(la, n)) and n != "LinAlgError"]
    assert [n for n in names if getattr(la, n) not in FUNCTIONS] == []


def test_signatures_are_numpys():
    """Arguments have NumPy's names, order, kinds and defaults."""
    for name in la.__all__:
        f = getattr(la, name)
        if f in FUNCTIONS:
            theirs, ours = inspect.signature(f), inspect.signature(FUNCTIONS[f])
            assert [(p.name, p.kind, p.default) for p in theirs.parameters.values()] == [
                (p.name, p.kind, p.default) for p in ours.parameters.values()
            ], name


@pytest.mark.parametrize("f, args", CASES)
def test_every_mode_gives_the_limit_of_differences(f, args):
    """Value, jvp, vjp, linear program, vmap, and second order in all nestings."""
    derivative(f, *args)


def total(f):
    """The squared length of all that f gives."""
    return lambda *xs: sum(np.sum(np.abs(o) ** 2) for o in parts(f(*xs)))


@pytest.mark.parametrize("f, args", CASES)
def test_single_precision_stays_single(f, args):
    low = tuple(a.astype(np.complex64 if np.iscomplexobj(a) else np.float32) for a in args)
    moves = tuple(map(like, low))
    out, found = dualad.jvp(f, low, moves)
    exact = dualad.jvp(f, tuple(args), tuple(t.astype(a.dtype) for t, a in zip(moves, args)))[1]
    for o, t, v, e in zip(*map(parts, (out, found, f(*low), exact)), strict=True):
        assert o.dtype == t.dtype == np.asarray(v).dtype
        np.testing.assert_allclose(t, e, rtol=2e-3, atol=2e-3 * (1 + np.max(np.abs(e))))
    gradients = dualad.grad(total(f), argnums=tuple(range(len(low))))(*low)
    assert [g.dtype for g in gradients] == [a.dtype for a in low]


@pytest.mark.parametrize("f, args", CASES)
def test_derivatives_give_no_warnings(f, args):
    with np.errstate(all="raise"):
        dualad.jvp(f, tuple(args), tuple(map(like, args)))
        dualad.grad(total(f), argnums=tuple(range(len(args))))(*args)


def test_the_batch_of_a_vmap_is_one_call(monkeypatch):
    """NumPy's functions work on stacks: a batch joins the stack, and no loop runs."""
    calls = []

    def counting(name, plain):
        def counted(*args, **kwargs):
            calls.append(name)
            return plain(*args, **kwargs)

        return counted

    functions = {
        name: getattr(la, name)
        for name in ("inv", "det", "cholesky", "qr", "eigh", "eig", "svd", "pinv", "slogdet")
    }
    functions["solve"] = lambda a, solve=la.solve: solve(a, a)
    for name in ("solve", *functions):
        monkeypatch.setattr(la, name, counting(name, getattr(la, name)))
    for f in functions.values():
        for mapped in (dualad.vmap(f), dualad.vmap(dualad.grad(total(f)))):
            calls.clear()
            mapped(np.stack([A] * 7))
            assert 0 < len(calls) < 7
