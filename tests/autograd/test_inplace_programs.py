"""Random programs of views and writes, in every mode, against NumPy run by complex steps.

NumPy's arrays are views of memory in the same way. A program of polynomial steps on x + i h v with
a tiny h gives its value in the real part and its derivative along v, exactly, in the imaginary.
"""

import random

import numpy as np
import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad import func
from dualad.autograd.forward_ad import dual_level, make_dual

STEP = 1e-30


def imul(a, b):
    a *= b


def iadd(a, b):
    a += b


def isub(a, b):
    a -= b


def assign(a, b):
    a[...] = b


def assign_row(a, b):
    a[0] = b


VIEWS = [
    lambda a: a[1:],
    lambda a: a[:, ::2],
    lambda a: a[:1],
    lambda a: a.T,
    lambda a: a[..., :2],
    lambda a: a[...],
]
WRITES = [imul, iadd, isub, assign, assign_row]
NUMBERS = [0.5, -1.0, 2.0, 0.0]


def steps(seed):
    """A program: steps (kind, which array, what) chosen at random."""
    choose = random.Random(seed)
    program = []
    for _ in range(choose.randint(4, 14)):
        kind = choose.choice(["view", "write", "write", "scalar", "product", "copy"])
        program.append((kind, choose.random(), choose.random(), choose.random()))
    return program


def pick(items, u):
    return items[int(u * len(items))]


def run(program, x, zeros, copied):
    """The program on an input x, which is not written to; the sum of all its arrays."""
    arrays = [x * 1, zeros]
    for kind, u, v, w in program:
        a = pick(arrays, u)
        if kind == "view":
            view = pick(VIEWS, v)(a)
            if all(view.shape):
                arrays.append(view)
        elif kind == "write":
            pick(WRITES, v)(a, pick(arrays, w).sum() * 0.25)
        elif kind == "scalar":
            pick(WRITES, v)(a, pick(NUMBERS, w))
        elif kind == "product":
            arrays.append(pick(arrays, w).sum() * copied(a))  # a itself may be written to
        else:
            arrays.append(copied(a))
    return arrays


def total(arrays):
    return sum(((a * a).sum() for a in arrays[1:]), arrays[0].sum())


RNG = np.random.default_rng(3)
X, V = RNG.uniform(0.5, 1.5, (2, 3)), RNG.uniform(-1.0, 1.0, (2, 3))


def by_numpy(program):
    """Values of all arrays, and their derivatives along V."""
    x = X + 1j * STEP * V
    return run(program, x, np.zeros((2, 3), complex), np.copy)


def tensors(program, x):
    return run(program, x, dualad.zeros(2, 3, dtype=dualad.float64), lambda a: a.clone())


def slope(arrays):
    return total(arrays).imag / STEP


@pytest.mark.parametrize("seed", range(60))
def test_duals(seed):
    program = steps(seed)
    want = by_numpy(program)
    with dual_level():
        got = tensors(program, make_dual(t(X), t(V)))
        for a, w in zip(got, want, strict=True):
            same(primal(a), w.real, tol=1e-10)
            d = tangent(a)
            same(dualad.zeros_like(a) if d is None else d, w.imag / STEP, tol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_graph(seed):
    program = steps(seed)
    x = t(X, True)
    value = total(tensors(program, x))
    want = by_numpy(program)
    same(value, total(want).real, tol=1e-10)
    (g,) = dualad.autograd.grad(value, x, create_graph=True)
    same((g * t(V)).sum(), slope(want), tol=1e-8)


@pytest.mark.parametrize("seed", range(60))
def test_transformations(seed):
    program = steps(seed)
    f = lambda x: total(tensors(program, x))
    want = slope(by_numpy(program))
    same(func.jvp(f, (t(X),), (t(V),))[1], want, tol=1e-8)
    g = func.grad(f)(t(X))
    same((g * t(V)).sum(), want, tol=1e-8)
    same(dualad.vmap(func.grad(f))(t(np.stack([X, X])))[1], g.numpy(), tol=1e-8)


@pytest.mark.parametrize("seed", range(30))
def test_second_order(seed):
    """The Hessian is symmetric, and the same by all compositions."""
    program = steps(seed)
    f = lambda x: total(tensors(program, x))
    x, v = t(X), t(V)
    hv = func.jvp(func.grad(f), (x,), (v,))[1]
    same(func.grad(lambda x: func.jvp(f, (x,), (v,))[1])(x), hv.numpy(), tol=1e-7)
    same(func.grad(lambda x: (func.grad(f)(x) * v).sum())(x), hv.numpy(), tol=1e-7)
    leaf = t(X, True)
    (g,) = dualad.autograd.grad(f(leaf), leaf, create_graph=True)
    if g.requires_grad:
        same(dualad.autograd.grad((g * v).sum(), leaf)[0], hv.numpy(), tol=1e-7)
    with dual_level():
        d = make_dual(leaf, v)
        (g,) = dualad.autograd.grad(f(d), d)
        dg = tangent(g)
        same(dualad.zeros_like(g) if dg is None else dg, hv.numpy(), tol=1e-7)


@pytest.mark.parametrize("seed", range(30))
def test_arrays_of_the_numpy_face(seed):
    """The same programs on traced arrays, where a write copies what was recorded."""
    program = steps(seed)
    want = slope(by_numpy(program))

    def f(x):
        return total(run(program, x, np.zeros_like(x), np.copy))

    same(dualad.jvp(f, (X,), (V,))[1], want, tol=1e-8)
    same(np.sum(dualad.grad(f)(X) * V), want, tol=1e-8)
