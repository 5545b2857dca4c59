"""All ways to a derivative must give one number; the tests that use this say which number."""

import itertools

import numpy as np

import dualad

RNG = np.random.default_rng(11)
BATCH = 3


def real(*shape):
    """Numbers of both signs, away from zero."""
    return RNG.uniform(0.3, 2.0, shape) * RNG.choice([-1.0, 1.0], shape)


def apart(*shape):
    """Numbers of both signs that differ by more than any step or batch moves them."""
    n = int(np.prod(shape, dtype=int))
    return (RNG.permutation(n) - n / 2 + RNG.uniform(0.1, 0.4, n)).reshape(shape)


def positive(*shape):
    return RNG.uniform(0.3, 2.0, shape)


def complex_(*shape):
    return real(*shape) + 1j * real(*shape)


def like(value):
    """Random numbers of the shape and dtype of a value."""
    value = np.asarray(value)
    r = RNG.normal(size=value.shape)
    if value.dtype.kind == "c":
        r = r + 1j * RNG.normal(size=value.shape)
    return np.asarray(r, value.dtype)


def parts(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


def packed(values, out):
    """Values in the structure of an output."""
    return type(out)(values) if isinstance(out, (tuple, list)) else values[0]


def close(actual, wanted, rtol=1e-11, atol=1e-12):
    if not isinstance(actual, (tuple, list)):
        actual, wanted = (actual,), (wanted,)
    for a, w in zip(actual, wanted, strict=True):
        assert np.shape(a) == np.shape(w)
        np.testing.assert_allclose(a, w, rtol=rtol, atol=atol)


def inner(us, vs):
    """Re <u, v> over all parts."""
    return sum(np.vdot(u, v).real for u, v in zip(us, vs, strict=True))


def differences(f, args, tangents, h=1e-3):
    """The derivative along tangents by central differences of fourth order."""

    def central(step):
        plus = parts(f(*(a + step * t for a, t in zip(args, tangents, strict=True))))
        minus = parts(f(*(a - step * t for a, t in zip(args, tangents, strict=True))))
        return [
            (np.asarray(p) - np.asarray(m)) / (2 * step) for p, m in zip(plus, minus, strict=True)
        ]

    return [
        (4 * fine - coarse) / 3 for fine, coarse in zip(central(h / 2), central(h), strict=True)
    ]


def derivative(f, *args, batched=True, second=True):
    """Tangents and the derivative along them, after every mode was found to agree on it."""
    args = tuple(map(np.asarray, args))
    tangents = tuple(map(like, args))
    value, moved = dualad.jvp(f, args, tangents)
    plain = f(*args)
    close(value, plain)
    for a, b in zip(parts(plain), parts(value), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
    close(moved, packed(differences(f, args, tangents), plain), 1e-6, 1e-6)
    _reverse(f, args, tangents, plain, moved)
    if batched:
        _batches(f, args)
    if second:
        _second(f, args, tangents, plain)
    return tangents, moved


def _reverse(f, args, tangents, plain, moved):
    """The pullback is the adjoint; the linear program and its source agree, also transposed."""
    _, pullback = dualad.vjp(f, *args)
    cotangents = [like(v) for v in parts(plain)]
    shares = pullback(packed(cotangents, plain))
    for a, s in zip(args, shares, strict=True):
        assert s.shape == a.shape and s.dtype == a.dtype
    np.testing.assert_allclose(
        inner(shares, tangents), inner(cotangents, parts(moved)), 1e-10, 1e-11
    )
    _, f_lin = dualad.linearize(f, *args)
    close(f_lin(*tangents), moved)
    close(f_lin.program.function()(*tangents), tuple(parts(moved)))
    transposed = f_lin.program.transpose()
    close(transposed(*cotangents), shares)
    close(transposed.function()(*cotangents), shares)


def _row(values, axes, k):
    return tuple(v[k] if a == 0 else v for v, a in zip(values, axes, strict=True))


def _batches(f, args):
    """vmap is the loop, for any choice of mapped arguments, of f and of its derivative."""
    many = tuple(np.stack([a + 0.01 * np.tanh(like(a)) for _ in range(BATCH)]) for a in args)
    moves = tuple(np.stack([like(a) for _ in range(BATCH)]) for a in args)

    def push(*both):
        return dualad.jvp(f, both[: len(args)], both[len(args) :])[1]

    def pull(*some):
        y, pullback = dualad.vjp(f, *some)
        return pullback(packed([np.ones_like(v) for v in parts(y)], y))

    for axes in itertools.product((0, None), repeat=len(args)):
        values = tuple(m if a == 0 else x for m, x, a in zip(many, args, axes, strict=True))
        mapped = (*axes, *(0,) * len(args))
        _map(push, (*values, *moves), mapped)
        if any(a == 0 for a in axes):
            _map(f, values, axes)
            _map(pull, values, axes)


def _map(f, values, axes):
    out = dualad.vmap(f, in_axes=axes)(*values)
    for k in range(BATCH):
        close(packed([v[k] for v in parts(out)], out), f(*_row(values, axes, k)))


def _second(f, args, tangents, plain):
    """Forward over reverse, reverse over forward and over reverse agree with differences."""
    weights = [like(v) for v in parts(plain)]

    def weigh(values, by):
        return sum(np.real(np.sum(np.conj(w) * v)) for w, v in zip(by, parts(values), strict=True))

    def gradient(*xs):
        return dualad.vjp(lambda *v: weigh(f(*v), weights), *xs)[1](np.float64(1.0))

    curvature = dualad.jvp(gradient, args, tangents)[1]
    close(curvature, tuple(differences(gradient, args, tangents)), 1e-6, 1e-6)
    along = dualad.vjp(lambda *v: weigh(dualad.jvp(f, v, tangents)[1], weights), *args)
    close(along[1](np.float64(1.0)), curvature, 1e-9, 1e-10)
    twice = dualad.vjp(lambda *v: weigh(gradient(*v), tangents), *args)
    close(twice[1](np.float64(1.0)), curvature, 1e-9, 1e-10)


def multilinear(f, *args, **options):
    """f is linear in each argument: its derivative is the sum of f with one of them moved."""
    tangents, moved = derivative(f, *args, **options)
    terms = [parts(f(*args[:k], t, *args[k + 1 :])) for k, t in enumerate(tangents)]
    close(moved, packed([sum(column) for column in zip(*terms, strict=True)], moved))


def without_values(f, *args):
    """A linear function is transposed from shapes alone: <w, f x> = <f^T w, x>."""
    transpose = dualad.linear_transpose(f, *(np.full_like(a, np.nan) for a in args))
    cotangent = like(f(*args))
    shares = transpose(cotangent)
    np.testing.assert_allclose(inner(shares, args), inner([cotangent], [f(*args)]), 1e-10, 1e-11)
