"""What must hold of every function in every mode, stated once for the tests of the formulas."""

import numpy as np

import dualad

RNG = np.random.default_rng(1729)
DTYPES = (np.float32, np.float64, np.complex128)


def like(x, rng=RNG):
    """A random array of the shape and dtype of x."""
    x = np.asarray(x)
    out = rng.normal(size=x.shape)
    if x.dtype.kind == "c":
        out = out + 1j * rng.normal(size=x.shape)
    return np.asarray(out, x.dtype)


def inner(a, b):
    """The real inner product Re<a, b>."""
    return np.real(np.vdot(np.asarray(a), np.asarray(b)))


def leaves(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


def tolerance(*xs):
    single = any(np.asarray(x).dtype in (np.float32, np.complex64) for x in xs)
    return {"rtol": 2e-5, "atol": 1e-5} if single else {"rtol": 1e-12, "atol": 1e-13}


def same(got, want, **tol):
    """Equal in structure, shape and dtype, and close in value."""
    got, want = leaves(got), leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert np.shape(g) == np.shape(w)
        assert np.asarray(g).dtype == np.asarray(w).dtype
        np.testing.assert_allclose(g, w, **(tol or tolerance(w)))


def agrees(f, primals, tangents, derivative):
    """f in all modes: its value is NumPy's, its derivative along the tangents the one given."""
    tol = tolerance(*primals)
    value, tangent = dualad.jvp(f, primals, tangents)
    same(value, f(*primals), **(tol if tol["rtol"] > 1e-6 else {"rtol": 1e-14, "atol": 1e-14}))
    same(tangent, derivative, **tol)
    for g, v in zip(leaves(tangent), leaves(value), strict=True):
        assert np.asarray(g).dtype == np.asarray(v).dtype
    pulled_back(f, primals, tangents, derivative, tol)
    mapped(f, primals, tol)


def pulled_back(f, primals, tangents, derivative, tol):
    """<w, J t> = <J^T w, t>, also when the pullback is mapped over many w."""
    value, pull = dualad.vjp(f, *primals)
    cotangents = [like(v) for v in leaves(value)]
    restored = cotangents if isinstance(value, (tuple, list)) else cotangents[0]
    restored = type(value)(restored) if isinstance(value, (tuple, list)) else restored
    shares = pull(restored)
    for share, x in zip(shares, primals, strict=True):
        assert np.shape(share) == np.shape(x) and np.asarray(share).dtype == np.asarray(x).dtype
    left = sum(inner(w, d) for w, d in zip(cotangents, leaves(derivative), strict=True))
    right = sum(inner(s, t) for s, t in zip(shares, tangents, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-4 if tol["rtol"] > 1e-6 else 1e-10, atol=1e-5)
    if not isinstance(value, (tuple, list)):
        many = np.stack([cotangents[0], 2 * cotangents[0]])
        twice = dualad.vmap(pull)(many)
        for s, share in zip(twice, shares, strict=True):
            np.testing.assert_allclose(s, np.stack([share, 2 * share]), **tol)


def mapped(f, primals, tol):
    """vmap is a loop."""
    batch = [np.stack([x, like(x), x]) for x in map(np.asarray, primals)]
    got = leaves(dualad.vmap(f)(*batch))
    rows = [leaves(f(*(b[k] for b in batch))) for k in range(3)]
    for g, column in zip(got, zip(*rows, strict=True), strict=True):
        want = np.stack(column)
        assert np.shape(g) == want.shape
        np.testing.assert_allclose(g, want, **tol)


def linear(f, *primals):
    """A linear f is its own derivative: at once in each argument, and on linear variables."""
    tangents = tuple(like(x) for x in primals)
    agrees(f, primals, tangents, f(*tangents))
    tol = tolerance(*primals)
    value = f(*primals)
    if not isinstance(value, (tuple, list)):
        w = like(value)
        shares = dualad.vjp(f, *primals)[1](w)
        transposed = dualad.linear_transpose(f, *primals)(w)
        for a, b in zip(shares, transposed, strict=True):
            np.testing.assert_allclose(a, b, **tol)
        curved(f, primals, tangents, w, shares, tol)
        printed(f, primals, tangents, w, shares, tol)


def printed(f, primals, tangents, w, shares, tol):
    """The linear program as NumPy source gives the same numbers, forwards and transposed."""
    program = dualad.linearize(f, *primals)[1].program
    (out,) = program.function()(*tangents)
    np.testing.assert_allclose(out, f(*tangents), **tol)
    for a, b in zip(program.transpose().function()(w), shares, strict=True):
        np.testing.assert_allclose(a, b, **tol)


def curved(f, primals, tangents, w, shares, tol):
    """Nested: the gradient of Re<w, f(x * x)> is 2 conj(x) f^T w, linear in conj(x)."""
    loss = lambda *xs: np.sum(np.real(np.conj(w) * f(*(x * x for x in xs))))
    if len(primals) == 1 and np.asarray(w).size:
        _, along = dualad.jvp(dualad.grad(loss), primals, tangents)
        np.testing.assert_allclose(along, 2 * np.conj(tangents[0]) * shares[0], **tol)
