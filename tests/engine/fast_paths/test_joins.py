"""np.stack of numbers and np.concatenate of vectors, in every mode and beside everything."""

import numpy as np
import pytest
from agreement import like, same

import dualad
from dualad.engine.fast_paths.joins import pull_join, pull_stack

X = np.array([2.0, 3.0, 5.0])
A, B, C = X
ONE = np.ones(1)
#: a function of X and its Jacobian
JOINS = {
    "numbers": (
        lambda x: np.stack([x[0] * x[1], x[2], x[2]]),
        [[B, A, 0], [0, 0, 1], [0, 0, 1]],
    ),
    "numbers and constants": (
        lambda x: np.stack([1.0, x[0] ** 2, np.float64(3.0), x[1]]),
        [[0, 0, 0], [2 * A, 0, 0], [0, 0, 0], [0, 1, 0]],
    ),
    "a tuple, and an integer": (lambda x: np.stack((x[0], 2)), [[1, 0, 0], [0, 0, 0]]),
    "stack of vectors": (lambda x: np.stack([x[:1], x[1:2]])[:, 0], [[1, 0, 0], [0, 1, 0]]),
    "vectors": (
        lambda x: np.concatenate([x[1:], x * x[0]]),
        [[0, 1, 0], [0, 0, 1], [2 * A, 0, 0], [B, A, 0], [C, 0, A]],
    ),
    "vectors and constants": (
        lambda x: np.concatenate((ONE, x[:2], np.zeros(0), ONE, x[2:])),
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]],
    ),
    "a list, and integers": (
        lambda x: np.concatenate([[1.0], x[:1], np.array([2, 3])]),
        [[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]],
    ),
    "matrices": (
        lambda x: np.concatenate([x[None, :2], x[None, 1:]]).ravel(),
        [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]],
    ),
    "one vector twice": (
        lambda x: np.concatenate([x, x]) ** 2,
        np.concatenate([np.diag(2 * X), np.diag(2 * X)]),
    ),
}


@pytest.mark.parametrize("name", JOINS)
def test_every_mode(name):
    f, jacobian = JOINS[name]
    jacobian = np.array(jacobian, float)
    same(dualad.jacfwd(f)(X), jacobian)
    same(dualad.jacrev(f)(X), jacobian)
    t, value = like(X), f(X)
    same(dualad.jvp(f, (X,), (t,)), (value, jacobian @ t))
    w = like(value)
    gradient = dualad.grad(lambda x: np.sum(w * f(x)))
    same(gradient(X), w @ jacobian)
    same(dualad.vmap(f)(np.stack([X, X])), np.stack([value, value]))
    same(dualad.vmap(gradient)(np.stack([X, X])), np.stack([w @ jacobian] * 2))
    program = dualad.linearize(f, X)[1].program
    same(program.function()(t)[0], jacobian @ t)
    same(program.transpose().function()(w)[0], w @ jacobian)


@pytest.mark.parametrize("name", JOINS)
def test_second_derivatives(name):
    """Of g = sum w f^2 / 2 with J' constant or by forward over forward: all four agree."""
    f, _ = JOINS[name]
    w = like(f(X))
    g = lambda x: np.sum(w * f(x) ** 2) / 2
    hessian = dualad.jacfwd(dualad.jacfwd(g))(X)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12)
    same(dualad.hessian(g)(X), hessian)
    same(dualad.jacrev(dualad.grad(g))(X), hessian)
    same(dualad.hvp(g, (X,), (ONE[[0, 0, 0]],)), hessian.sum(1))
    e = 1e-5
    central = [
        (dualad.grad(g)(X + e * i) - dualad.grad(g)(X - e * i)) / (2 * e) for i in np.eye(3)
    ]
    np.testing.assert_allclose(hessian, central, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_dtypes(dtype):
    x = np.array([2.0, 3.0], dtype)
    t = like(x)
    same(dualad.jvp(lambda x: np.stack([x[1], x[0]]), (x,), (t,))[1], t[::-1])
    same(dualad.jvp(lambda x: np.concatenate([x[1:], x[:1]]), (x,), (t,))[1], t[::-1])


def test_a_complex_cotangent_of_real_numbers():
    """d/dx of Re((1 - 2i)(x_0 + 3 x_1)): the share of a real number is real."""
    w = np.array([1.0, 3.0])
    for join in (lambda x: np.stack([x[0], x[1]]), lambda x: np.concatenate([x[:1], x[1:]])):
        f = lambda x, join=join: np.real((1.0 - 2.0j) * np.sum(w * join(x)))
        same(dualad.grad(f)(np.array([2.0, 5.0])), w)


def test_what_is_recorded_is_the_quick_entry():
    kinds = []

    def f(x):
        y = np.concatenate([x[:1], ONE, np.stack([x[0], x[1]])])
        kinds.extend(entry[0] for entry in x.level.tape[1:])
        return np.sum(y)

    same(dualad.grad(f)(np.array([2.0, 3.0])), np.array([2.0, 1.0]))
    assert pull_stack in kinds and pull_join in kinds


def test_values_of_two_levels():
    """d/dx d/dy of sum [x, y, x y] . [1, y, x] = d/dx (2 y + x^2) = 2 x."""
    f = lambda x, y: np.sum(np.stack([x, y, x * y]) * np.stack([1.0, y, x]))
    same(dualad.grad(lambda x: dualad.grad(lambda y: f(x, y))(3.0))(5.0), 10.0)
    same(dualad.jvp(lambda x: dualad.grad(lambda y: f(x, y))(3.0), (5.0,), (1.0,))[1], 10.0)


def test_a_closed_level_is_found_out():
    leaked = []
    dualad.grad(lambda x: leaked.append(x[0]) or x[0])(X)
    dualad.jvp(lambda x: leaked.append(x[0]) or x[0], (X,), (X,))
    for value in leaked:
        with pytest.raises(dualad.errors.LeakError):
            np.stack([value, 1.0])


def test_a_constant_that_is_written_to_afterwards():
    def f(x):
        still = np.array([7.0])
        y = np.concatenate([still, x])
        still[0] = 0.0
        return y * y[0]

    same(dualad.jacrev(f)(X), np.concatenate([np.zeros((1, 3)), 7.0 * np.eye(3)]))


def test_errors_are_numpys():
    for bad in (lambda x: np.stack([x[0], x]), lambda x: np.concatenate([x, x[0]])):
        for transform in (dualad.jacfwd, dualad.jacrev):
            with pytest.raises(ValueError):
                transform(bad)(X)
