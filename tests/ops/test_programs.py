"""Random programs of views, writes and arithmetic: NumPy's own aliasing, with derivatives.

The right derivative is the imaginary part of the same program run by NumPy on x + i h t, h = 1e-30
(the complex step, exact to rounding for the analytic functions used here).
"""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dualad

H = 1e-30
SHAPE = (3, 4)

VIEWS = [
    lambda a: a[1:],
    lambda a: a[::-1],
    lambda a: a[..., ::2],
    lambda a: a[0],
    lambda a: a.T,
    lambda a: a.reshape(-1),
    lambda a: a[None],
    lambda a: np.swapaxes(a, 0, -1),
    lambda a: np.ravel(a),
    lambda a: np.squeeze(a[:1]),
    lambda a: np.moveaxis(a, -1, 0),
    lambda a: np.expand_dims(a, 1),
    lambda a: np.split(a, [1])[1],
    lambda a: a[..., 0],
    lambda a: np.atleast_2d(a),
    lambda a: a.reshape(a.shape[::-1]),
    lambda a: a.reshape(-1, 1, order="F"),
    lambda a: a.view(),
]
MAKES = [
    lambda a, b: a + 1.0,
    lambda a, b: 2.0 * a,
    lambda a, b: np.sin(a),
    lambda a, b: a.copy(),
    lambda a, b: np.zeros_like(a),
    lambda a, b: a * np.sum(b),
    lambda a, b: np.where(np.arange(a.size).reshape(a.shape) % 2 == 0, a, 0.5),
    lambda a, b: np.concatenate([np.ravel(a), np.ravel(b)]),
    lambda a, b: a[..., [0, -1, 0]],
    lambda a, b: a[np.arange(len(a)) % 2 == 0],
    lambda a, b: a.flatten(),
    lambda a, b: np.stack([a, a], axis=-1),
    lambda a, b: np.full_like(a, first(b)),
    lambda a, b: a.astype(a.dtype),
    lambda a, b: np.take(a, [0, 0], axis=-1),
    lambda a, b: np.cumsum(a, axis=0),
]


def first(a):
    return a[(0,) * a.ndim]


def _set(a, key, v):
    a[key] = v


WRITES = [
    lambda a, b: _set(a, ..., first(b)),
    lambda a, b: _set(a, (0,) * a.ndim, first(b) * 2.0),
    lambda a, b: _set(a, (-1,) * a.ndim, 0.25),
    lambda a, b: _set(a, (0,) * a.ndim, first(a) * a[(-1,) * a.ndim]),
    lambda a, b: _set(a, 0, a[-1]),
    lambda a, b: _set(a, slice(1, None), a[:-1] * 1.0),
    lambda a, b: _set(a, [0, -1, 0], first(b)),
    lambda a, b: a.__imul__(0.5 + first(b)),
    lambda a, b: a.__iadd__(a * 0.5),
    lambda a, b: a.__isub__(first(b)),
    lambda a, b: a.fill(first(b)),
    lambda a, b: np.add(a, 1.0, out=a),
    lambda a, b: np.add.at(a, [0, 0], first(b)),
    lambda a, b: np.copyto(a, first(b)),
    lambda a, b: _set(a, ..., a[::-1]),
    lambda a, b: _set(a, slice(None, None, -1), a),
    lambda a, b: _set(a, (..., slice(1, None)), a[..., :-1]),
    lambda a, b: np.multiply(a, 0.5, out=a[...]),
    lambda a, b: np.negative(a[-1:], out=a[:1]),
    lambda a, b: _set(a, np.arange(len(a)) % 2 == 0, first(b)),
    lambda a, b: np.put(a, [0, -1], 2.0 * first(b)),
    lambda a, b: a.__itruediv__(2.0 + np.cos(first(b))),
    lambda a, b: np.fill_diagonal(a, first(b)) if a.ndim == 2 else None,
    lambda a, b: [row.__iadd__(1.0) for row in a if row.ndim],
    lambda a, b: [_set(a, k, 0.5 * a[k - 1]) for k in range(1, len(a))],
]

numbers = st.integers(0, 10**6)
steps = st.lists(
    st.tuples(
        st.sampled_from(["view", "make", "write", "write", "read"]), numbers, numbers, numbers
    ),
    min_size=3,
    max_size=14,
)


def run(program, x):
    """Carry out a program on a pool of arrays that begins with a copy of x; all that is left."""
    pool = [x * 1.0]
    reads = []
    for kind, which, i, j in program:
        a, b = pool[i % len(pool)], pool[j % len(pool)]
        if a.ndim == 0 or a.size == 0 or b.size == 0 or b.ndim == 0:
            continue
        if kind == "view":
            pool.append(VIEWS[which % len(VIEWS)](a))
        elif kind == "make":
            pool.append(MAKES[which % len(MAKES)](a, b))
        elif kind == "write":
            WRITES[which % len(WRITES)](a, b)
        else:
            reads.append(np.sum(a * a) * 0.1)
    parts = [np.ravel(a) for a in pool]
    return np.concatenate([*parts, np.stack(reads)] if reads else parts)


def check(program):
    rng = np.random.default_rng(5)
    x, t = rng.normal(size=SHAPE), rng.normal(size=SHAPE)
    f = lambda v: run(program, v)
    want = f(x)
    derivative = f(x + 1j * H * t).imag / H
    scale = 1.0 + np.max(np.abs(derivative)) + np.max(np.abs(want))
    close = lambda a, b: np.testing.assert_allclose(a / scale, b / scale, rtol=0, atol=1e-12)
    value, tangent = dualad.jvp(f, (x,), (t,))
    close(value, want)
    close(tangent, derivative)
    out, pull = dualad.vjp(f, x)
    close(out, want)
    w = rng.normal(size=want.shape)
    (share,) = pull(w)
    close(np.sum(share * t), np.sum(w * derivative))
    close(dualad.vmap(f)(np.stack([x, t]))[0], want)
    close(dualad.linearize(f, x)[1](t), derivative)
    _, along = dualad.jvp(lambda v: dualad.vjp(f, v)[1](w)[0], (x,), (t,))
    _, twice = dualad.jvp(lambda v: dualad.jvp(f, (v,), (t,))[1], (x,), (t,))
    inner = dualad.jvp(lambda v: np.sum(dualad.jvp(f, (v,), (t,))[1] * w), (x,), (t,))[1]
    close(np.sum(along * t), inner)
    close(np.sum(w * twice), inner)


@given(steps)
def test_random_programs(program):
    with np.errstate(all="ignore"):
        check(program)


@pytest.mark.parametrize(
    "program",
    [
        [("view", 0, 0, 0), ("write", 7, 1, 0), ("write", 3, 0, 1), ("read", 0, 1, 0)],
        [("make", 4, 0, 0), ("write", 14, 1, 0), ("view", 5, 1, 0), ("write", 1, 2, 0)],
        [("view", 4, 0, 0), ("view", 0, 1, 0), ("write", 7, 2, 0), ("write", 5, 0, 0)],
    ],
)
def test_programs_that_once_mattered(program):
    check(program)
