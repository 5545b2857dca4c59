"""Compiled functions give what the functions give: random programs on arrays of many kinds."""

import warnings

import numpy as np
from hypothesis import given, settings, strategies as st

import dualad
from dualad.compiling import compile

#: Around the bounds of blocks, and where blocks begin to be used.
SIZES = (0, 1, 5, 2047, 16383, 16384, 40961)
SHAPES = ((), (3, 4), (200, 200), (40000, 1), (2, 20000), (3, 0), (50, 7, 120))

ONE = (np.sin, np.tanh, np.exp, np.negative, np.square, np.abs, lambda x: x**3, lambda x: 2 * x,
       lambda x: x * 1.0, lambda x: 1.0 - x, lambda x: -x, lambda x: x / 4.0)  # fmt: skip
TWO = (np.add, np.subtract, np.multiply, np.maximum, lambda a, b: np.where(a > b, a, 0.5 * b),
       lambda a, b: a / (1.0 + b * b), lambda a, b: -a + b)  # fmt: skip


def parts_of_one(v):
    """v with the sum of slices of it added, so that gradients are sums at slices."""
    if v.ndim == 0 or v.shape[0] < 3:
        return v + 1.0
    return np.concatenate([v[1:] * v[:-1], v[:1]]) + v


def written(v):
    """v with a few entries written."""
    if v.ndim == 0 or v.size < 3:
        return v
    out = np.copy(v)
    out[0] = v[-1] * 2.0
    out[1:2] = out[0:1] + 1.0
    return out


@st.composite
def programs(draw, n_inputs=2, length=12):
    """A function of arrays as a list of steps, each from earlier values."""
    steps = []
    for k in range(draw(st.integers(1, length))):
        a = draw(st.integers(0, k + n_inputs - 1))
        b = draw(st.integers(0, k + n_inputs - 1))
        kind = draw(
            st.sampled_from(("one", "two", "two", "sum", "mean", "rows", "slices", "write"))
        )
        which = draw(st.integers(0, len(ONE if kind == "one" else TWO) - 1))
        steps.append((kind, which, a, b))
    wanted = draw(st.lists(st.integers(0, len(steps) + n_inputs - 1), min_size=1, max_size=3))

    def f(*inputs):
        known = list(inputs)
        for kind, which, a, b in steps:
            if kind == "one":
                new = ONE[which](known[a])
            elif kind == "two":
                new = TWO[which](known[a], known[b])
            elif kind == "sum":
                new = known[a] - np.sum(np.cos(known[a])) / max(1, np.size(known[a]))
            elif kind == "mean":
                axis = -1 if np.ndim(known[b]) else None
                total = np.sum(np.sin(known[b]), axis=axis, keepdims=axis is not None)
                new = known[a] * (total / max(1, np.size(known[b])))
            elif kind == "rows":
                new = np.sin(known[a] - np.max(known[a], axis=-1, keepdims=True, initial=0.0)
                             if np.ndim(known[a]) else known[a])  # fmt: skip
            elif kind == "slices":
                new = parts_of_one(known[a])
            else:
                new = written(known[a])
            known.append(np.cos(new) if np.ndim(new) and kind != "write" else new)
        return tuple(known[k] for k in wanted)

    return f


def arrays(shape, seed, dtype=float, layout="C"):
    x = np.random.default_rng(seed).normal(size=shape)
    x = np.asarray(x + 1j if dtype is complex else x).astype(dtype)
    if layout == "F":
        return np.asfortranarray(x)
    if layout == "strided" and x.ndim:
        return np.repeat(x, 2, axis=0)[::2]
    return x[()]


def agree(f, args):
    """Compiled (traced, then replayed twice) and eager give the same, and share no more memory."""
    compiled = compile(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = f(*args)
        earlier: list = []
        for _ in range(3):
            before = [np.array(a) for a in args]
            found = compiled(*args)
            for e, v in zip(expected, found, strict=True):
                assert type(e) is type(v) or np.ndim(e) == 0
                assert (e.shape, e.dtype) == (v.shape, v.dtype)
                tolerance = 1e-4 if e.dtype.itemsize < 8 else 1e-12
                np.testing.assert_allclose(v, e, rtol=tolerance, atol=tolerance * scale(e))
            for a, b in zip(args, before, strict=True):
                np.testing.assert_array_equal(a, b)
            assert shared(args, found) <= shared(args, expected)
            new = [
                v for e, v in zip(expected, found, strict=True)
                if not any(np.may_share_memory(e, a) for a in args)
            ]  # fmt: skip
            assert not any(np.may_share_memory(v, w) for v in new for w in earlier)
            earlier += new


def shared(args, results):
    """Which results share memory with which arguments, or with which results before them."""
    return {
        (n, k)
        for n, v in enumerate(results)
        for k, w in enumerate((*args, *results[:n]))
        if np.may_share_memory(v, w)
    }


def scale(e):
    finite = np.abs(e[np.isfinite(e)])
    return 1 + finite.max(initial=0.0)


@settings(max_examples=60, deadline=None)
@given(programs(), st.sampled_from(SIZES), st.sampled_from(("C", "strided")), st.integers(0, 9))
def test_a_program_of_vectors_gives_what_the_function_gives(f, size, layout, seed):
    agree(f, (arrays(size, seed, layout=layout), arrays(size, seed + 1)))


@settings(max_examples=50, deadline=None)
@given(programs(), st.sampled_from(SHAPES), st.sampled_from(("C", "F", "strided")),
       st.sampled_from((np.float64, np.float32, complex)), st.booleans())  # fmt: skip
def test_a_program_of_arrays_gives_what_the_function_gives(f, shape, layout, dtype, broadcast):
    if dtype is complex:
        f = without_order(f)
    second = shape[1:] if broadcast else shape
    agree(f, (arrays(shape, 1, dtype, layout), arrays(second, 2, dtype)))


def without_order(f):
    """A function of complex numbers that compares none."""
    return lambda a, b: f(np.real(a), np.imag(b))[:1] + (np.exp(a) * b, np.sum(a * b))


@settings(max_examples=50, deadline=None)
@given(programs(), st.sampled_from((1, 4, 40000)), st.sampled_from(("grad", "jvp", "hvp")))
def test_a_derivative_of_a_program_gives_what_the_derivative_gives(f, size, job):
    def loss(x):
        return sum(np.sum(v) for v in f(x, np.flip(x)))

    def derivative(x):
        if job == "grad":
            return (dualad.grad(loss)(x),)
        if job == "jvp":
            return dualad.jvp(loss, (x,), (np.cos(x),))
        return dualad.jvp(dualad.grad(loss), (x,), (np.cos(x),))

    agree(derivative, (arrays(size, 3),))
