"""Whole programs: derivatives of the functions that benchmarks are made of, reductions, moves."""

import math

import numpy as np
import pytest
from native_programs import check, native

import dualad

rng = np.random.default_rng(0)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def robertson(y, p):
    r1, r2, r3 = p[0] * y[0], p[1] * y[1] * y[2], p[2] * y[1] * y[1]
    return np.stack([r2 - r1, r1 - r2 - r3, r3])


def brusselator(y, p):
    n = y.size // 2
    u, v = y[:n], y[n:]
    k = p[2] * (n + 1) ** 2
    left, right = np.concatenate([[1.0], u, [1.0]]), np.concatenate([[3.0], v, [3.0]])
    uuv = u * u * v
    du = p[0] + uuv - (p[1] + 1.0) * u + k * (left[2:] - 2.0 * u + left[:-2])
    dv = p[1] * u - uuv + k * (right[2:] - 2.0 * v + right[:-2])
    return np.concatenate([du, dv])


def cdf(z):
    return 0.5 * (1.0 + np.tanh(0.7978845608 * (z + 0.044715 * z * z * z)))


def black_scholes(s, vol):
    d1 = (np.log(s / 100.0) + (0.02 + 0.5 * vol * vol) * 0.75) / (vol * 0.75**0.5)
    d2 = d1 - vol * 0.75**0.5
    return np.sum(s * cdf(d1) - 100.0 * np.exp(-0.015) * cdf(d2))


def polynomial(x):
    y = ((0.3 * x + 0.7) * x - 0.2) * x + 1.1
    return np.sum((y / (1.0 + x * x)) ** 2)


def chain(x):
    for _ in range(20):
        x = x + np.sin(x) * np.cos(x) * 0.05 + 0.1
    return x if np.ndim(x) == 0 else np.sum(x)


ROWS = {
    "rosenbrock 2": (rosenbrock, (np.array([0.7, 1.3]),)),
    "rosenbrock 100": (rosenbrock, (rng.normal(size=100) + 1,)),
    "rosenbrock 10000": (rosenbrock, (rng.normal(size=10000) + 1,)),
    "robertson": (robertson, (np.array([0.9, 2e-5, 0.1]), np.array([0.04, 1e4, 3e7]))),
    "brusselator": (brusselator, (rng.uniform(1, 3, 60), np.array([1.0, 3.0, 0.02]))),
    "black-scholes": (black_scholes, (rng.uniform(80, 120, 9000), rng.uniform(0.1, 0.4, 9000))),
    "polynomial": (polynomial, (rng.normal(size=9000),)),
    "chain": (chain, (np.float64(0.5),)),
    "chain 3": (chain, (np.linspace(0.2, 0.8, 3),)),
    "chain 30": (chain, (np.linspace(0.2, 0.8, 30),)),
}
SMALL = ("rosenbrock 2", "rosenbrock 100", "robertson", "brusselator", "chain 3", "chain 30")


@pytest.mark.parametrize("row", ROWS)
def test_values(row):
    f, args = ROWS[row]
    check(f, *args, rtol=1e-13)


@pytest.mark.parametrize("row", ROWS)
def test_gradients(row):
    f, args = ROWS[row]
    which = tuple(range(len(args)))
    check(dualad.grad(lambda *a: np.sum(f(*a)), argnums=which), *args, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("row", ROWS)
def test_jvps(row):
    f, args = ROWS[row]
    n = len(args)
    tangents = [rng.normal(size=np.shape(a)) if np.ndim(a) else np.float64(0.3) for a in args]
    check(lambda *a: dualad.jvp(f, a[:n], a[n:]), *args, *tangents, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("row", [r for r in SMALL if r not in ("robertson", "brusselator")])
def test_second_derivatives(row):
    f, (x,) = ROWS[row]
    check(lambda x, v: dualad.hvp(f, (x,), (v,)), x, x * 0.5, rtol=1e-10, atol=1e-12)
    if x.size < 10:
        check(dualad.hessian(f), x, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("row", ["robertson", "brusselator"])
def test_jacobians(row):
    f, args = ROWS[row]
    check(dualad.jacobian(f, argnums=(0, 1)), *args, rtol=1e-12, atol=1e-13)


# --- reductions ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [40, 1000, 5000, 100_003, 1_000_000])
def test_sums_are_as_exact_as_pairwise_ones(n):
    x = rng.normal(size=n) * 10.0 ** rng.integers(-6, 6, n)
    run, values = native(lambda x: np.sum(x * 1.0 + 0.0), x)
    exact = math.fsum(x)
    assert abs(run(*values)[0] - exact) <= 1e-15 * math.fsum(np.abs(x)) * 4


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan, 1e308])
def test_sums_of_special_values(special):
    x = np.ones(10000)
    x[[5, 7000]] = special
    with np.errstate(over="ignore"):
        run, values = native(lambda x: np.sum(x * 1.0), x)
        np.testing.assert_equal(run(*values)[0], np.sum(x))


@pytest.mark.parametrize("shape", [(7, 9), (40, 50), (3, 4, 5, 6), (2000, 3), (3, 2000)])
def test_reductions_over_some_axes(shape):
    x = rng.normal(size=shape)

    def f(x):
        y = x * 1.5
        axes = range(x.ndim)
        sums = [np.sum(y, axis=k) for k in axes] + [np.sum(y, axis=k, keepdims=True) for k in axes]
        extrema = np.max(y, axis=0), np.min(y, axis=-1), np.max(y), np.min(y), np.mean(y)
        truths = np.any(y > 2, axis=0), np.all(y > -2, axis=-1), np.any(y > 9), np.sum(y > 0)
        return (*sums, *extrema, *truths)

    check(f, x, rtol=1e-12, atol=1e-14)


def test_extrema_hand_on_nans():
    x = rng.normal(size=200)
    x[77] = np.nan
    got = check(lambda x: (np.max(x * 1.0), np.min(x * 2.0), np.sum(x)), x)
    assert np.isnan(got).all()


def test_a_sum_of_negative_zeros_is_zero():
    for n in (3, 300, 30000):
        run, values = native(lambda x: np.sum(x * 1.0), np.full(n, -0.0))
        assert not np.signbit(run(*values)[0])


# --- moves -----------------------------------------------------------------------------------

MOVES = {
    "slices": lambda x: (x[1:-1, ::2] * 2.0, x[::-1, 3] + 1.0, x[2] * x[:, :1][:6, 0].sum()),
    "transpose": lambda x: (x.T * 2.0, np.transpose(x * 1.5), x.T + x[:1].T),
    "reshape": lambda x: (x.T.reshape(-1) * 2.0, (x * 2.0).reshape(2, -1) + 1.0),
    "broadcast": lambda x: (x + x[0], x * x[:, :1], np.broadcast_to(x[0] * 2.0, (5, x.shape[1]))),
    "concatenate": lambda x: (np.concatenate([x, 2.0 * x[:2], x[:1]]) * 2.0,),
    "stack": lambda x: (np.stack([x[0], x[1] * 2.0, x[2]], axis=1) + 1.0,),
    "index arrays": lambda x: (x[np.array([2, 0, 2, 1])] * 2.0, x[:, np.arange(3)] + 1.0),
    "rolled": lambda x: (np.roll(x, 2, axis=0) * x, np.flip(x, 1) - x),
    "small out of large": lambda x: (x[0, 1] * x[2, 3], x[1, 2:4] + 1.0, x[:2, :2] @ x[0, :2]),
    "products": lambda x: ((x * 2.0) @ x.T, x @ x[0], x[0] @ x[1], x.T[:3] @ (x + 1.0)),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(6, 7), (30, 40)])
@pytest.mark.parametrize("name", MOVES)
def test_entries_that_move(name, shape):
    check(MOVES[name], rng.normal(size=shape), rtol=1e-12, atol=1e-14, whole=False)


@pytest.mark.parametrize("shape", [(6, 7), (30, 40)])
@pytest.mark.parametrize("name", MOVES)
def test_gradients_of_entries_that_move(name, shape):
    def f(x):
        return sum(np.sum(np.sin(y)) for y in MOVES[name](x))

    check(dualad.grad(f), rng.normal(size=shape), rtol=1e-11, atol=1e-13, whole=False)


def test_written_entries():
    def f(x):
        y = np.copy(x) * 2.0
        y[1:3] = x[:2] * 5.0
        y[np.array([0, 4])] = 1.5
        y[5] += y[0]
        return y, np.sum(y)

    for n in (8, 200):
        check(f, rng.normal(size=n), whole=False)
        check(dualad.grad(lambda x: f(x)[1] ** 2), rng.normal(size=n), whole=False)


def test_a_small_result_is_read_by_an_operation_on_a_large_array():
    """A result of one number, spread over an array: its place is written only at the end."""
    x = np.array(0.75)

    def f(x):
        y = np.sin(x)
        return y, np.broadcast_to(y, (5, 5, 5)) * 2.0

    run, values = native(f, x)
    small, large = run(*values)
    assert small == np.sin(0.75)
    np.testing.assert_array_equal(large, np.full((5, 5, 5), 2.0 * np.sin(0.75)))
