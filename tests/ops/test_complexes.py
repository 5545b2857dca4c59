"""Complex numbers: directional derivatives, and gradients under the inner product Re<a, b>."""

import numpy as np
import pytest
from agreement import agrees, inner, like, linear, same

import dualad

Z = np.array([[1.0 + 0.5j, -2.0 + 3.0j], [0.25 - 4.0j, -1.0 - 1.0j]])
DZ = np.array([[0.3 - 1.0j, 2.0 + 0.7j], [-1.5 + 0.2j, 0.1 + 0.9j]])
R = np.array([2.0, -3.0, 0.5])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize(
    "f",
    [
        np.real, np.imag, np.conj, np.conjugate, lambda z: z.real, lambda z: z.imag,
        lambda z: z.conj(), lambda z: z.conjugate(), lambda z: z.real - 2.0 * z.imag,
        lambda z: np.conj(z.T),
    ],
)  # fmt: skip
def test_linear_over_the_reals(f, dtype):
    linear(f, like(Z.astype(dtype)))
    linear(f, like(Z[0, 0].astype(dtype)))
    linear(f, like(Z[:0].astype(dtype)))


@pytest.mark.parametrize("f", [np.real, np.conj, lambda x: x.real, lambda x: x.conj()])
def test_real_arrays_are_their_own_real_part_and_conjugate(f):
    """Nothing is computed: no operation is recorded."""
    linear(f, like(R))
    _, program = dualad.linearize(f, R)
    assert len(program.program) == 0


def test_imaginary_part_of_a_real_array_is_zero():
    for f in (np.imag, lambda x: x.imag):
        same(dualad.jvp(f, (R,), (R,)), (np.zeros(3), np.zeros(3)))
        same(dualad.grad(lambda x: np.sum(f(x)))(R), np.zeros(3))


def test_conjugate_of_a_real_array_is_a_copy_and_conj_is_not():
    def by_function(x):
        y = x * 1.0
        np.conj(y)[0] = 9.0
        return y

    def by_method(x):
        y = x * 1.0
        y.conj()[0] = 9.0
        return y

    same(dualad.jvp(by_function, (R,), (R,)), (by_function(R), R))
    same(dualad.jvp(by_method, (R,), (R,)), (by_method(R), R * [0, 1, 1]))


def test_conventions_of_the_gradient():
    """grad of a real f is df/dRe z + i df/dIm z: of Re z 1, of Im z i, of |z|**2 2 z."""
    z = 1.5 - 0.5j
    same(dualad.grad(np.real)(z), 1.0 + 0j)
    same(dualad.grad(np.imag)(z), 1j)
    same(dualad.grad(lambda w: np.real(w * np.conj(w)))(z), 2 * z)
    same(dualad.grad(lambda w: np.abs(w) ** 2)(z), 2 * z)
    same(dualad.grad(np.abs)(z), z / abs(z))
    same(dualad.grad(np.angle)(z), 1j * z / abs(z) ** 2)


@pytest.mark.parametrize("deg", [False, True])
def test_angle(deg):
    """d arg z = Im(conj(z) dz) / |z|**2."""
    want = np.imag(np.conj(Z) * DZ) / np.abs(Z) ** 2
    agrees(lambda z: np.angle(z, deg), (Z,), (DZ,), np.rad2deg(want) if deg else want)


def test_angle_of_real_numbers_is_constant():
    x = np.array([-2.0, 3.0, 0.0, -0.0])
    same(dualad.jvp(np.angle, (x,), (np.ones(4),)), (np.angle(x), np.zeros(4)))
    assert (
        dualad.jvp(np.angle, (x.astype(np.float32),), (x.astype(np.float32),))[0].dtype
        == np.float32
    )


def test_sign_of_a_complex_number():
    """z / |z| turns, and does not grow: d = z / |z| * i Im(conj(z) dz) / |z|**2."""
    want = Z / np.abs(Z) * 1j * np.imag(np.conj(Z) * DZ) / np.abs(Z) ** 2
    agrees(np.sign, (Z,), (DZ,), want)
    same(dualad.jvp(np.sign, (0j,), (1.0 + 2.0j,)), (0j, 0j))
    same(dualad.grad(lambda z: np.real(np.sign(z)))(0j), 0j)


def test_absolute_value_is_smooth_away_from_zero_and_zero_there():
    agrees(np.abs, (Z,), (DZ,), np.real(np.conj(Z) * DZ) / np.abs(Z))
    same(dualad.jvp(np.abs, (0j,), (1.0 + 2.0j,)), (0.0, 0.0))


def test_real_if_close():
    close, far = Z.real + 1e-17j * Z.imag, Z
    same(dualad.jvp(np.real_if_close, (close,), (DZ,)), (close.real, DZ.real))
    same(dualad.jvp(np.real_if_close, (far,), (DZ,)), (far, DZ))
    same(dualad.jvp(np.real_if_close, (R,), (R,)), (R, R))


def test_second_derivative_of_the_modulus():
    """d2/dx2 |x + i b| = b**2 / |x + i b|**3."""
    f = lambda x: np.abs(x + 2.0j)
    x = 1.5
    same(dualad.grad(dualad.grad(f))(x), 4.0 / abs(x + 2j) ** 3)
    same(dualad.jacfwd(dualad.jacfwd(f))(x), 4.0 / abs(x + 2j) ** 3)


def test_parts_can_be_written_to():
    """z.real and z.imag are views: what is written to them changes z."""

    def f(x):
        z = x * (1.0 + 1.0j)
        z.real = 3.0 * x
        z.imag[1:] *= 2.0
        part = z.real
        z *= 1j
        return np.stack([z.real, z.imag, part])

    # z = 3x + i (x, 2x, 2x); after *= i its real part is -(x, 2x, 2x), its imaginary part 3x
    rows = np.array([[-1.0, -2, -2], [3, 3, 3], [-1, -2, -2]])
    same(f(R), rows * R)
    t = like(R)
    same(dualad.jvp(f, (R,), (t,)), (rows * R, rows * t))
    w = like(rows)
    same(dualad.vjp(f, R)[1](w)[0], np.sum(w * rows, 0))
    with pytest.raises(TypeError, match="imaginary part"):
        dualad.jvp(lambda x: setattr(x * 1.0, "imag", 1.0), (R,), (R,))


def test_complex_constants_in_real_programs():
    """A real parameter times 1j and back: the gradient is real and exact."""
    f = lambda x: np.sum(np.real((1j * x) * (x * (2.0 - 1j))))
    # Re(i (2 - i)) x**2 = x**2
    same(dualad.grad(f)(R), 2 * R)
    same(dualad.jacfwd(f)(R), 2 * R)


def test_adjoint_identity_of_a_mixed_map():
    """<w, J t> = <J^T w, t> for a map that is linear over the reals only."""
    A = like(np.zeros((2, 2), complex))
    f = lambda z: A @ z + np.conj(z) * 1j + np.real(z) @ A
    t, w = like(Z), like(Z)
    _, out = dualad.jvp(f, (Z,), (t,))
    same(out, f(t))
    (share,) = dualad.vjp(f, Z)[1](w)
    np.testing.assert_allclose(inner(w, out), inner(share, t))
