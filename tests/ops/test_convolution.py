"""Convolution and correlation are linear in each sequence."""

import numpy as np
import pytest
from every_mode import close, complex_, multilinear, real, without_values

import dualad

KINDS = {"real": (real, real), "complex": (complex_, complex_), "mixed": (real, complex_)}
modes = pytest.mark.parametrize("mode", ["full", "same", "valid"])
lengths = pytest.mark.parametrize("n, m", [(7, 3), (3, 7), (7, 4), (4, 7), (4, 4), (1, 3), (5, 1)])


@modes
@lengths
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("f", [np.convolve, np.correlate])
def test_every_mode_and_order_of_lengths(f, kind, mode, n, m):
    first, second = KINDS[kind]
    multilinear(lambda a, v: f(a, v, mode), first(n), second(m))


@modes
@lengths
def test_convolutions_are_transposed_without_values(mode, n, m):
    a, v = real(n), complex_(m)
    without_values(lambda x: np.convolve(x, v, mode), a)
    without_values(lambda x: np.convolve(a, x, mode), v)


def test_the_transpose_of_a_convolution_is_a_correlation():
    a, v, w = real(6), real(3), real(8)
    (share,) = dualad.vjp(lambda x: np.convolve(x, v), a)[1](w)
    close(share, np.correlate(w, v, "valid"))


def test_a_batch_of_signals_and_kernels():
    a, v = real(3, 6), real(3, 2)
    both = dualad.vmap(np.convolve)
    close(both(a, v), np.stack([np.convolve(x, y) for x, y in zip(a, v, strict=True)]))
    pairs = dualad.vmap(dualad.vmap(np.convolve, in_axes=(None, 0)), in_axes=(0, None))(a, v)
    close(pairs, np.stack([[np.convolve(x, y) for y in v] for x in a]))


def test_scalars_count_as_sequences_of_one():
    multilinear(lambda a, v: np.convolve(a, v), real(4), real())


def test_what_numpy_refuses():
    x = real(2, 2)
    with pytest.raises(ValueError, match="deep"):
        dualad.jvp(lambda v: np.convolve(v, v), (x,), (x,))
    with pytest.raises(ValueError, match="mode"):
        dualad.jvp(lambda v: np.convolve(v, v, "half"), (x[0],), (x[0],))
    with pytest.raises(ValueError, match="empty"):
        dualad.jvp(lambda v: np.convolve(v, np.zeros(0)), (x[0],), (x[0],))
