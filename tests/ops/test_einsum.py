"""Einstein sums with arbitrary subscripts."""

import numpy as np
import pytest
from every_mode import close, complex_, multilinear, real, without_values

import dualad

KINDS = {"real": (real, real), "complex": (complex_, complex_), "mixed": (real, complex_)}
kinds = pytest.mark.parametrize("kind", KINDS)

PAIRS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ba,cb", (2, 3), (4, 2)),
    ("aB,Bc", (2, 3), (3, 2)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("i,j->ji", (2,), (3,)),
    ("ij , jk -> k", (2, 3), (3, 2)),
    ("ij,kl->lj", (2, 3), (2, 2)),
    ("ijk,k->", (2, 3, 2), (2,)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    (",ij->ij", (), (2, 3)),
    ("ij,j->ij", (2, 1), (3,)),
    ("i...,i...", (2, 3), (2, 1)),
    ("...i,...i->...", (2, 3), (5, 2, 3)),
    ("...ij,...jk", (4, 2, 3), (3, 2)),
    ("i...j,j", (2, 4, 3), (3,)),
    ("ii,i->i", (3, 3), (3,)),
    ("nd,nn->d", (3, 2), (3, 3)),
    ("iij,jj->i", (2, 2, 3), (3, 3)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 2)),
]
SINGLE = [
    ("ii", (3, 3)),
    ("ii->", (3, 3)),
    ("ii->i", (3, 3)),
    ("iii->i", (2, 2, 2)),
    ("iij->ij", (2, 2, 3)),
    ("iji->j", (2, 3, 2)),
    ("ijij->ij", (2, 3, 2, 3)),
    ("ij->ji", (2, 3)),
    ("ji", (2, 3)),
    ("ij->", (2, 3)),
    ("i->i", (3,)),
    ("->", ()),
    ("abcd->bd", (3, 2, 3, 2)),
    ("...i->i...", (2, 3, 4)),
    ("...ii->...i", (2, 3, 3)),
    ("...", (2, 3)),
]


@kinds
@pytest.mark.parametrize("subscripts, left, right", PAIRS)
def test_two_operands(kind, subscripts, left, right):
    first, second = KINDS[kind]
    multilinear(lambda x, y: np.einsum(subscripts, x, y), first(*left), second(*right))


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.parametrize("subscripts, shape", SINGLE)
def test_one_operand(kind, subscripts, shape):
    x = KINDS[kind][0](*shape)
    multilinear(lambda v: np.einsum(subscripts, v), x)
    without_values(lambda v: np.einsum(subscripts, v), x)


@pytest.mark.parametrize("subscripts, left, right", PAIRS)
def test_einsum_is_transposed_without_values(subscripts, left, right):
    x, y = real(*left), complex_(*right)
    without_values(lambda v: np.einsum(subscripts, v, y), x)
    without_values(lambda v: np.einsum(subscripts, x, v), y)


@kinds
@pytest.mark.parametrize("optimize", [False, True, "optimal", ["einsum_path", (0, 1), (0, 1)]])
def test_three_operands_with_any_plan(kind, optimize):
    first, second = KINDS[kind]
    multilinear(
        lambda x, y, z: np.einsum("ij,jk,kl->il", x, y, z, optimize=optimize),
        first(2, 3), second(3, 2), first(2, 2),
    )  # fmt: skip


LISTS = [
    lambda x, y: np.einsum(x, [0, 1], y, [1, 2], [0, 2]),
    lambda x, y: np.einsum(x, [5, 1], y, [1, 30]),
    lambda x, y: np.einsum(x, [..., 1], y, [1, 2], [..., 2]),
]


@pytest.mark.parametrize("f", LISTS)
def test_the_form_with_lists_of_labels(f):
    multilinear(f, real(2, 3), real(3, 4))


def test_one_operand_that_is_used_twice():
    """x^T A x has the gradient (A + A^T) x and the Hessian A + A^T."""
    A, x = real(3, 3), real(3)
    f = lambda v: np.einsum("i,ij,j->", v, A, v)
    close(dualad.grad(f)(x), (A + A.T) @ x)
    close(dualad.hessian(f)(x), A + A.T)


def test_a_trace_has_the_identity_as_its_gradient():
    for subscripts in ("ii", "ii->"):
        close(dualad.grad(lambda M: np.einsum(subscripts, M))(real(3, 3)), np.eye(3))


def test_a_diagonal_is_put_back_on_the_diagonal():
    M = real(3, 3)
    g = dualad.grad(lambda v: np.sum(np.einsum("ii->i", v) ** 2))(M)
    close(g, np.diag(2 * np.diag(M)))


def test_the_program_is_printed_as_einsum():
    A = real(2, 3)
    _, f_lin = dualad.linearize(lambda v: np.einsum("ij,j->i", A, v), real(3))
    assert "np.einsum('ij,j->i', c0, t0)" in f_lin.program.source()
    assert "np.einsum('i,ij->j', t0, c0)" in f_lin.program.source(transpose=True)


def test_out_and_dtype():
    def f(x):
        y = np.zeros_like(x)
        np.einsum("ij,jk->ik", x, x, out=y)
        return y

    x, t = real(3, 3), real(3, 3)
    close(dualad.jvp(f, (x,), (t,))[1], x @ t + t @ x)
    y, moved = dualad.jvp(lambda v: np.einsum("i,i", v, v, dtype=complex), (x[0],), (t[0],))
    assert y.dtype == moved.dtype == np.complex128


@pytest.mark.parametrize(
    "subscripts", ["ij,jk->il", "ij,jk->ii", "ij", "ij,j", "ijk,jk", "...ij,jk->ik", "i.j,jk"]
)
def test_subscripts_that_do_not_fit_are_refused(subscripts):
    x = real(2, 2, 3) if "..." in subscripts else real(2, 3)
    with pytest.raises(ValueError):
        dualad.jvp(lambda v: np.einsum(subscripts, v, np.ones((3, 2))), (x,), (x,))


def test_axes_of_one_label_must_agree_in_length():
    x = real(2, 3)
    with pytest.raises(ValueError, match="lengths"):
        dualad.jvp(lambda v: np.einsum("ij,jk", v, np.ones((2, 2))), (x,), (x,))
