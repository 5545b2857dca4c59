"""dualad.scipy.signal: convolutions are bilinear, in all modes and by all methods."""

import numpy as np
import pytest
import scipy.signal
from every_mode import multilinear, real, without_values

import dualad
from dualad.errors import LostDerivativeError, MissingRuleError, NotDifferentiableError
from dualad.scipy import signal

SHAPES = [((5,), (3,)), ((3,), (5,)), ((5,), (4,)), ((4, 5), (2, 3)), ((2, 3), (4, 5)),
          ((3, 4, 2), (2, 2, 2)), ((1,), (1,)), ((), ())]  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "direct", "fft"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_products_of_signals_are_bilinear(name, mode, method):
    for a, v in SHAPES:
        f = lambda x, y: getattr(signal, name)(x, y, mode, method)
        multilinear(f, real(*a), real(*v), second=method == "auto")
        multilinear(f, real(*a) + 1j, real(*v) + 1j * real(*v), second=False, batched=False)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_fftconvolve(mode):
    multilinear(lambda x, y: signal.fftconvolve(x, y, mode), real(4, 5), real(2, 3))
    with pytest.raises(NotDifferentiableError, match="vmap"):
        dualad.jacrev(lambda x: signal.fftconvolve(x, x, axes=0))(real(3, 3))


def test_a_convolution_is_transposed_from_shapes_alone():
    kernel = real(2, 3)
    for mode in ("full", "same", "valid"):
        without_values(lambda x: signal.convolve(x, kernel, mode), real(4, 5))


def test_the_transpose_of_a_convolution_is_a_correlation():
    x, w = real(3), real(5)
    pulled = dualad.vjp(lambda v: signal.convolve(x, v), real(3))[1](w)[0]
    np.testing.assert_allclose(pulled, scipy.signal.correlate(w, x, "valid"), 1e-12)


def test_modes_that_do_not_fit_are_refused_as_by_scipy():
    for args in (
        (real(3), real(3, 2)),
        (real(3), real(2), "wide"),
        (real(3, 2), real(2, 3), "valid"),
        (real(3), real(2), "full", "slow"),
    ):
        with pytest.raises(ValueError):
            scipy.signal.convolve(*args)
        with pytest.raises(ValueError):
            dualad.jacrev(lambda x: signal.convolve(x, *args[1:]))(args[0])


def test_single_precision_stays_single():
    x = real(5).astype(np.float32)
    value, tangent = dualad.jvp(lambda x: signal.convolve(x, x), (x,), (x,))
    assert value.dtype == tangent.dtype == np.float32
    np.testing.assert_allclose(tangent, 2 * value, 1e-5)


def test_other_names_are_scipys_and_refuse_tracked_values():
    np.testing.assert_array_equal(signal.get_window("hann", 5), scipy.signal.get_window("hann", 5))
    np.testing.assert_array_equal(
        signal.convolve([1, 2], [3, 4]), scipy.signal.convolve([1, 2], [3, 4])
    )
    with pytest.raises(MissingRuleError, match=r"scipy\.signal\.lfilter"):
        dualad.jacrev(lambda x: signal.lfilter(x, [1.0], x))(real(3))
    with pytest.raises(LostDerivativeError, match=r"dualad\.scipy\.signal\.convolve"):
        dualad.jacrev(lambda x: scipy.signal.convolve(x, x))(real(3))
    assert {"convolve", "lfilter"} <= set(dir(signal))
