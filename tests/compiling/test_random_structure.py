"""Random programs of products, sums, joins, writes and loops, on arrays with all axes equal.

Where every axis has the same length a mistake about axes raises nothing: it shows in the numbers.
The right ones: derivatives by a complex step of plain NumPy, values by the function itself.
"""

import warnings

import numpy as np
import pytest

import dualad

N, LENGTH, H = 4, 5, 1e-200


def dims(least, most=3):
    return lambda a, b: least <= np.ndim(a) <= most


def alike(least, most=3):
    return lambda a, b: least <= np.ndim(a) <= most and np.shape(a) == np.shape(b)


def both(first, second):
    return lambda a, b: np.ndim(a) in first and np.ndim(b) in second


def rows_written(a, b):
    out = a + 0.0
    out[1] = b
    return out


def columns_written(a, b):
    out = a + 0.0
    out[:, 2] = b
    return out


def in_place(a, b):
    out = a * 1.0
    out[1:3] += 0.5
    out *= 2.0
    out -= b
    return out


def repeated(f, x, turns=8):
    for _ in range(turns):
        x = f(x)
    return x


def rows_in_turn(a, b):
    x = b * 0.5
    for k in range(12):
        x = np.sin(x) * 0.9 + a[k % N] * 0.2 - 0.01 * k
    return x


def rows_written_in_turn(a, b):
    out = a * 1.0
    for k in range(8):
        out[k % N] = np.sin(out[(k + 1) % N]) + 0.1 * b
        out[:, k % N] *= 0.5
    return out


def all_turns(a, b):
    out = []
    x = a
    for _ in range(9):
        x = np.cos(x) * b + 0.1 * a
        out.append(x)
    return np.stack(out)[3:7]


def two_carried(a, b):
    x, y, z = a, b, 0.0
    for _ in range(10):
        x, y = y * 0.5 + np.sin(x) * 0.3, x
        z = z + np.sum(x * y) * 0.1
    return x + y * z


#: What is computed of two values, and of which values it can be.
OPERATIONS = [
    (lambda a, b: np.matmul(a, b) / 3, both((1, 2, 3), (1, 2, 3))),
    (lambda a, b: np.dot(a, b) / 3, both((1, 2), (1, 2, 3))),
    (lambda a, b: a.T + 0, dims(1)),
    (lambda a, b: a.T * b, dims(1)),
    (lambda a, b: np.swapaxes(a, 0, -1) - b, dims(2)),
    (lambda a, b: np.moveaxis(a, 0, -1) * b, dims(2)),
    (lambda a, b: np.transpose(a, (1, 2, 0)), dims(3)),
    (lambda a, b: np.sum(a, axis=0) * b / 4, dims(1)),
    (lambda a, b: np.sum(a, axis=-1) + b, dims(1)),
    (lambda a, b: np.sum(a, axis=1, keepdims=True) / 4 * b, dims(2)),
    (lambda a, b: np.sum(a, axis=(0, 1)) / 4 - b, dims(2)),
    (lambda a, b: np.sum(a, axis=(0, 2)) / 4 * b, dims(3)),
    (lambda a, b: np.mean(a, axis=0) * b, dims(1)),
    (lambda a, b: np.prod(a, axis=-1) * b, dims(1)),
    (lambda a, b: a[None] * b, dims(0, 2)),
    (lambda a, b: a[..., None] + b, dims(1, 2)),
    (lambda a, b: a[::-1] * b, dims(1)),
    (lambda a, b: a[1] + b, dims(1)),
    (lambda a, b: a[..., 2] * b, dims(1)),
    (lambda a, b: a[:, -1] - b, dims(2)),
    (lambda a, b: np.diagonal(a) * b, dims(2, 2)),
    (lambda a, b: np.diagonal(a, axis1=0, axis2=2) + 0.5 * b, dims(3)),
    (lambda a, b: np.trace(a) * b / 4, dims(2, 2)),
    (lambda a, b: np.tril(a) + b, dims(2)),
    (lambda a, b: np.stack([a, b, a * b, b - a]), alike(0, 2)),
    (lambda a, b: np.stack([a, b, a * b, b - a], axis=-1), alike(0, 2)),
    (lambda a, b: np.concatenate([a[:2], b[1:3]]), alike(1)),
    (lambda a, b: np.concatenate([a[:, :1], b[:, 1:]], axis=1), alike(2)),
    (lambda a, b: np.roll(a, 1, axis=-1) * b, dims(1)),
    (lambda a, b: np.flip(a) + b, dims(1)),
    (lambda a, b: a[[2, 0, 0, 3]] * b, dims(1)),
    (lambda a, b: a[[2, 0, 0, 3], [1, 1, 3, 2]] + b, dims(2)),
    (lambda a, b: a[:, [1, 1, 0, 2]] * b, dims(2)),
    (lambda a, b: np.broadcast_to(a, (N, N, N)) * b, dims(0)),
    (lambda a, b: np.einsum("ij,kj->ki", a, b) / 4, both((2,), (2,))),
    (lambda a, b: np.einsum("ijk,jk->ik", a, b) / 4, both((3,), (2,))),
    (lambda a, b: np.tensordot(a, b, axes=([1], [0])) / 4, both((2, 3), (1, 2))),
    (lambda a, b: np.cumsum(a, axis=0) / 4 * b, dims(1)),
    (lambda a, b: a.T @ a / 4 + b, dims(2, 2)),
    (lambda a, b: a @ a.T / 4 * b, dims(2, 2)),
    (lambda a, b: np.where(np.real(a) > 0.1, a, b), dims(0)),
    (lambda a, b: np.sin(a), dims(0)),
    (lambda a, b: a * b, dims(0)),
    (lambda a, b: a - 0.5 * b, dims(0)),
    (lambda a, b: np.exp(-a * a) + b, dims(0)),
    (lambda a, b: np.diff(a, axis=0, append=a[:1]) * b, dims(1)),
    (lambda a, b: a / np.sqrt(1 + np.sum(a * a, axis=-1, keepdims=True)) + b, dims(1)),
    (rows_written, lambda a, b: np.ndim(b) < np.ndim(a)),
    (columns_written, lambda a, b: np.ndim(b) < np.ndim(a) >= 2),
    (in_place, lambda a, b: np.ndim(b) <= np.ndim(a) >= 1),
    (lambda a, b: repeated(lambda x: np.sin(x @ a) / 2 + 0.3 * a, b), alike(2, 2)),
    (lambda a, b: repeated(lambda x: np.tanh(a @ x) + 0.1 * x[::-1], b), both((2,), (1,))),
    (lambda a, b: repeated(lambda x: np.roll(x, -1) * 0.9 + 0.1 * a, b), alike(1)),
    (lambda a, b: repeated(lambda x: x.T * 0.8 + np.sum(x, axis=0) * 0.05, b), dims(2, 2)),
    (rows_in_turn, dims(1)),
    (rows_written_in_turn, both((2,), (0, 1))),
    (all_turns, alike(0, 2)),
    (two_carried, alike(0)),
]


def made(seed):
    """A function of two arrays, and the arrays; of the operations drawn, those that fit."""
    rng = np.random.default_rng(seed)
    shapes = ((), (N,), (N, N), (N, N, N))
    inputs = [rng.normal(size=shapes[k]) * 0.7 for k in rng.integers(0, 4, 2)]
    known, steps = list(inputs), []
    for _ in range(60):
        a, b = (int(k) for k in rng.integers(0, len(known), 2))
        a = len(known) - 1 if rng.random() < 0.5 else a
        b = len(known) - 1 if rng.random() < 0.3 else b
        f, fits = OPERATIONS[rng.integers(len(OPERATIONS))]
        new = result(f, known[a], known[b]) if fits(known[a], known[b]) else None
        if new is not None:
            known.append(new)
            steps.append((f, a, b))
        if len(steps) == LENGTH:
            break
    weights = [rng.normal(size=np.shape(v)) for v in known[-3:]]

    def loss(x, y):
        values = [x, y]
        for f, a, b in steps:
            values.append(f(values[a], values[b]))
        return sum(np.sum(w * v) for w, v in zip(weights, values[-3:], strict=True))

    return loss, inputs, [rng.normal(size=np.shape(v)) for v in inputs]


def result(f, a, b):
    """What an operation gives, if that is of use in a program."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            new = f(a, b)
    except (ValueError, IndexError):
        return None
    small = np.ndim(new) <= 3 and set(np.shape(new)) <= {1, 2, N}
    return new if small and np.all(np.abs(new) < 1e4) else None


def agree(seed):
    loss, inputs, directions = made(seed)
    step = [x + 1j * H * t for x, t in zip(inputs, directions, strict=True)]
    expected = np.imag(loss(*step)) / H
    try:
        gradient = dualad.grad(loss, (0, 1))(*inputs)
    except dualad.LostDerivativeError:  # it writes into an array that is not traced
        return
    scale = 1.0 + max(np.abs(g).max() for g in gradient) + abs(expected)
    along = sum(np.sum(g * t) for g, t in zip(gradient, directions, strict=True))
    np.testing.assert_allclose(along, expected, rtol=1e-9, atol=1e-9 * scale)

    def derivative(*x):
        return dualad.jvp(loss, x, tuple(directions))[1]

    wanted = (loss(*inputs), gradient, expected)
    for f, want in zip((loss, dualad.grad(loss, (0, 1)), derivative), wanted, strict=True):
        for backend in ("numpy", "auto"):
            compiled = dualad.compile(f, backend=backend)
            compiled(*inputs)
            found = compiled(*inputs)
            pairs = zip(found, want, strict=True) if type(want) is tuple else [(found, want)]
            for got, right in pairs:
                assert np.shape(got) == np.shape(right)
                np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9 * scale)


@pytest.mark.parametrize("seed", range(40))
def test_compiled_and_eager_give_what_a_complex_step_gives(seed):
    agree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("tens", range(4, 100))
def test_many_more(tens):
    for seed in range(10 * tens, 10 * tens + 10):
        agree(seed)
