"""Fourier transforms against their matrices: they are linear, and their gradients adjoints."""

import inspect

import numpy as np
import pytest
from every_mode import close, derivative, like, without_values

import dualad
from dualad.engine.levels.rules import FUNCTIONS

RNG = np.random.default_rng(2)
NORMS = [None, "backward", "ortho", "forward"]
OF_REAL = ("rfft", "ihfft")
ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY_AXES = ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn")


def draw(name, *shape):
    x = RNG.normal(size=shape)
    return x if name.startswith(OF_REAL) else x + 1j * RNG.normal(size=shape)


def linear(f, x):
    """f agrees with NumPy, is its own derivative, and its gradient is its adjoint, by all ways."""
    _, moved = dualad.jvp(f, (x,), (t := like(x),))
    close(moved, f(t))
    without_values(f, x)
    w = like(f(x))
    gradient = dualad.grad(lambda v: np.sum(np.real(np.conj(w) * f(v))))(x)
    close(gradient, adjoint_matrix(f, x, w), 1e-10, 1e-11)


def adjoint_matrix(f, x, w):
    """The adjoint of f applied to w, entry by entry, real and imaginary unit apart."""
    out = np.zeros(x.shape, x.dtype)
    for at in np.ndindex(x.shape):
        for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
            e = np.zeros(x.shape, x.dtype)
            e[at] = unit
            out[at] += unit * np.vdot(w, f(e)).real
    return out


def test_every_function_of_the_namespace_has_a_rule():
    names = [n for n in np.fft.__all__ if callable(getattr(np.fft, n))]
    without = {n for n in names if getattr(np.fft, n) not in FUNCTIONS}
    assert without == {"fftfreq", "rfftfreq"}, "they take no array"


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, 1, 2, 3, 5, 6, 8])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_one_axis_of_any_length_cut_or_filled_up(name, n, norm):
    f = getattr(np.fft, name)
    for length in (5, 6):
        linear(lambda x: f(x, n, norm=norm), draw(name, length))
    linear(lambda x: f(x, n, axis=0, norm=norm), draw(name, 4, 2))


@pytest.mark.parametrize("name", ONE_AXIS)
def test_a_sequence_of_one(name):
    f = getattr(np.fft, name)
    linear(lambda x: f(x, n=1), draw(name, 1))
    if name not in ("irfft", "hfft"):
        linear(f, draw(name, 1))


CASES = [
    {},
    {"s": (3, 4), "axes": (0, 1)},
    {"s": (2, 5), "axes": (2, 0)},
    {"axes": (2, 1)},
    {"s": (-1, 3), "axes": (1, 2)},
    {"norm": "ortho"},
    {"norm": "forward", "axes": (0, 2), "s": (4, 4)},
]


@pytest.mark.parametrize("arguments", CASES, ids=map(str, CASES))
@pytest.mark.parametrize("name", MANY_AXES)
def test_several_axes(name, arguments):
    f = getattr(np.fft, name)
    linear(lambda x: f(x, **arguments), draw(name, 3, 2, 4))


def test_axes_may_repeat_or_be_one():
    for name in ("fftn", "ifftn"):
        linear(lambda x, f=getattr(np.fft, name): f(x, axes=(0, 0)), draw(name, 3, 2))
    for name in ("fftn", "rfftn", "irfftn"):
        linear(lambda x, f=getattr(np.fft, name): f(x, axes=(0,)), draw(name, 3, 2))


@pytest.mark.parametrize("name", [*ONE_AXIS, *MANY_AXES])
def test_every_mode(name):
    f = getattr(np.fft, name)
    derivative(f, draw(name, 4, 3))
    derivative(lambda x: np.abs(f(x, norm="ortho")) ** 2, draw(name, 3, 4))
    if not name.startswith(OF_REAL):
        derivative(f, RNG.normal(size=(4, 3)))


@pytest.mark.parametrize("name", [*ONE_AXIS, *MANY_AXES])
def test_single_precision_stays_single(name):
    f, x = getattr(np.fft, name), draw(name, 4, 3)
    low = x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)
    out, moved = dualad.jvp(f, (low,), (low,))
    assert out.dtype == moved.dtype == f(low).dtype
    assert dualad.grad(lambda v: np.sum(np.abs(f(v))))(low).dtype == low.dtype


# --- closed forms --------------------------------------------------------------------------------


def test_parseval():
    """sum |fft x|^2 = n sum x^2, and the round trip is the identity."""
    x = RNG.normal(size=(3, 4))
    close(dualad.grad(lambda v: np.sum(np.abs(np.fft.fft(v)) ** 2))(x), 8 * x)
    close(dualad.grad(lambda v: np.sum(np.abs(np.fft.fftn(v)) ** 2))(x), 24 * x)
    close(dualad.jacrev(lambda v: np.real(np.fft.ifft(np.fft.fft(v))))(x[0]), np.eye(4))
    close(dualad.jacfwd(lambda v: np.fft.irfft(np.fft.rfft(v, 4), 4))(x[0]), np.eye(4))


def test_a_masked_spectrum():
    """Power in part of the spectrum: the gradient is 2 Re F^H m^2 F x."""
    x, mask = RNG.normal(size=7), np.array([1.0, 1, 0, 0, 1, 0, 0])
    matrix = np.fft.fft(np.eye(7))
    gradient = dualad.grad(lambda v: np.sum(np.abs(np.fft.fft(v) * mask) ** 2))(x)
    close(gradient, 2 * np.real(matrix.conj().T @ (mask * (matrix @ x))))


@pytest.mark.parametrize("n", [6, 7])
def test_irfft_does_not_see_the_imaginary_part_of_its_real_bins(n):
    z, w = draw("irfft", n // 2 + 1), RNG.normal(size=n)
    gradient = dualad.grad(lambda v: np.sum(w * np.fft.irfft(v, n)))(z)
    assert gradient[0].imag == 0
    assert (gradient[-1].imag == 0) == (n % 2 == 0)
    close(gradient[0], np.mean(w))


def test_convolution_theorem_to_second_order():
    """The Hessian of half the power of a circular convolution is its autocorrelation matrix."""
    kernel = RNG.normal(size=5)
    circulant = np.stack([np.roll(kernel, k) for k in range(5)], 1)

    def power(x):
        y = np.fft.ifft(np.fft.fft(x) * np.fft.fft(kernel))
        return 0.5 * np.sum(np.real(y) ** 2)

    close(dualad.hessian(power)(RNG.normal(size=5)), circulant.T @ circulant, 1e-10, 1e-11)


# --- order of the bins, buffers, errors ----------------------------------------------------------


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("axes", [None, 0, (0, 1), (-1,)])
def test_shifts_move_entries(name, axes):
    f = getattr(np.fft, name)
    linear(lambda x: f(x, axes=axes), draw("fft", 3, 4))
    derivative(lambda x: f(x, axes) ** 2, RNG.normal(size=(5, 2)))


def test_results_can_be_stored():
    def f(x):
        out = np.zeros_like(x, dtype=complex)
        np.fft.fft(x, out=out)
        return out

    x = RNG.normal(size=4)
    close(dualad.jacfwd(f)(x), np.fft.fft(np.eye(4)))


def test_the_program_prints_as_numpy():
    _, f_lin = dualad.linearize(
        lambda x: np.fft.irfft(np.fft.rfft(x), 5, norm="ortho"), np.ones(5)
    )
    source = f_lin.program.source()
    assert "np.fft.rfft(t0, axis=0, norm='backward')" in source
    assert "np.fft.irfft(v0, axis=0, n=5, norm='ortho')" in source


def test_what_numpy_refuses_is_refused():
    x = np.ones(4)
    refused = [
        lambda v: np.fft.fft(v, 0),
        lambda v: np.fft.irfft(v[:1]),
        lambda v: np.fft.fft(v, norm="other"),
        lambda v: np.fft.fftn(v, s=(2, 2), axes=(0,)),
        lambda v: np.fft.fft(v, 3, axis=1),
        lambda v: np.fft.fft(v[:0]),
    ]
    for f in refused:
        with pytest.raises(ValueError):
            f(x)
        with pytest.raises(ValueError):
            dualad.jvp(f, (x,), (x,))
    with pytest.raises(TypeError, match="real"):
        dualad.jvp(np.fft.rfft, (x + 0j,), (x + 0j,))


def test_signatures_are_numpys():
    """Arguments have NumPy's names, order and defaults."""
    for name in (*ONE_AXIS, *MANY_AXES, "fftshift", "ifftshift"):
        theirs, ours = (
            inspect.signature(f) for f in (getattr(np.fft, name), FUNCTIONS[getattr(np.fft, name)])
        )
        pairs = zip(theirs.parameters.values(), ours.parameters.values(), strict=True)
        assert all((p.name, p.default) == (q.name, q.default) for p, q in pairs)
