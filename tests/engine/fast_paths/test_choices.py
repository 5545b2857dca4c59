"""np.where of small arrays, in every mode and beside everything."""

import numpy as np
import pytest
from agreement import like, same

import dualad
from dualad.engine.fast_paths.choices import pull_chosen

X = np.array([2.0, -3.0, 5.0])
MASK = np.array([True, False, True])
TABLE = np.array([[True, False, False], [False, True, True]])
ON = np.diag([1.0, 0.0, 1.0])
OFF = np.eye(3) - ON
#: a function of X and its Jacobian
CHOICES = {
    "or a constant": (lambda x: np.where(MASK, x, 0.0), ON),
    "a constant or": (lambda x: np.where(MASK, 1.0, x), OFF),
    "of two": (lambda x: np.where(MASK, x, 2.0 * x), ON + 2 * OFF),
    "of one": (lambda x: np.where(MASK, x, x), np.eye(3)),
    "a mask of values": (lambda x: np.where(x > 0, x, -x), np.diag([1.0, -1.0, 1.0])),
    "or an array": (lambda x: np.where(MASK, x, np.arange(3.0)), ON),
    "of numbers": (lambda x: np.where(MASK, x[0], x[1]), [[1, 0, 0], [0, 1, 0], [1, 0, 0]]),
    "a number or an array": (
        lambda x: np.where(TABLE[1], x[0], x), [[1, 0, 0], [1, 0, 0], [1, 0, 0]],
    ),
    "a number or a constant array": (
        lambda x: np.where(MASK[:1], x[2], np.ones(3)), [[0, 0, 1]] * 3,
    ),
    "broadcast": (
        lambda x: np.where(TABLE, x, 1.0).ravel(),
        [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]],
    ),
    "a mask of one": (lambda x: np.where(np.array([False]), 0.0, x), np.eye(3)),
    "an integer mask": (lambda x: np.where(np.array([1, 0, 2]), x, 0), ON),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOICES)
def test_every_mode(name):
    f, jacobian = CHOICES[name]
    jacobian, value = np.array(jacobian, float), f(X)
    same(dualad.jacfwd(f)(X), jacobian)
    same(dualad.jacrev(f)(X), jacobian)
    t = like(X)
    same(dualad.jvp(f, (X,), (t,)), (value, jacobian @ t))
    w = like(value)
    gradient = dualad.grad(lambda x: np.sum(w * f(x)))
    same(gradient(X), w @ jacobian)
    same(dualad.vmap(f)(np.stack([X, X])), np.stack([value, value]))
    same(dualad.vmap(gradient)(np.stack([X, X])), np.stack([w @ jacobian] * 2))
    linear = dualad.linearize(f, X)[1]
    same(linear(t), jacobian @ t)
    same(linear.program.function()(t)[0], jacobian @ t)
    same(linear.program.transpose().function()(w)[0], w @ jacobian)


@pytest.mark.parametrize("name", CHOICES)
def test_second_derivatives(name):
    """Of g = sum w f^2 / 2: the Hessian is J^T diag(w) J, as f is linear in each region."""
    f, jacobian = CHOICES[name]
    jacobian, w = np.array(jacobian, float), like(f(X))
    g = lambda x: np.sum(w * f(x) ** 2) / 2
    hessian = jacobian.T @ np.diag(w) @ jacobian
    same(dualad.jacfwd(dualad.jacfwd(g))(X), hessian)
    same(dualad.hessian(g)(X), hessian)
    same(dualad.jacrev(dualad.grad(g))(X), hessian)
    same(dualad.hvp(g, (X,), (np.ones(3),)), hessian.sum(1))


def test_the_branch_not_taken_is_an_exact_zero():
    """Whatever its value, tangent and slope are: log x where x > 0 has 1/x, elsewhere 0."""
    x = np.array([2.0, 0.0, -1.0])
    with np.errstate(all="ignore"):
        f = lambda x: np.where(x > 0, np.log(x), 0.0)
        same(dualad.grad(lambda x: np.sum(f(x)))(x), np.array([0.5, 0.0, 0.0]))
        same(dualad.jvp(f, (x,), (np.ones(3),))[1], np.array([0.5, 0.0, 0.0]))


def test_what_is_recorded_is_the_quick_entry():
    kinds = []

    def f(x):
        y = np.sum(np.where(MASK, x, 0.0) * np.where(MASK, x * 2.0, x))
        kinds.extend(entry[0] for entry in x.level.tape[1:])
        return y

    same(dualad.grad(f)(X), np.array([8.0, 0.0, 20.0]))
    same(dualad.hvp(f, (X,), (np.ones(3),)), np.array([4.0, 0.0, 4.0]))
    assert kinds.count(pull_chosen) == 4


def test_a_mask_that_is_written_to_afterwards():
    def f(x):
        mask = MASK.copy()
        y = np.where(mask, x, 0.0)
        mask[:] = False
        return np.sum(y * y)

    same(dualad.grad(f)(X), np.array([4.0, 0.0, 10.0]))


def test_values_of_two_levels():
    """d/dx of d/dy of sum of (x, y, x) y = 2 x y + ...: chosen of two levels."""
    f = lambda x, y: np.sum(np.where(MASK, x, y) * y)
    ones = np.ones(3)
    inner = lambda x: dualad.grad(lambda y: f(x, y * ones))(4.0)  # 2 x + 2 y: d/dx = 2
    same(dualad.grad(inner)(5.0), 2.0)
    same(dualad.jvp(inner, (5.0,), (1.0,))[1], 2.0)


def test_a_complex_cotangent_of_real_numbers():
    f = lambda x: np.real((1.0 - 2.0j) * np.sum(np.where(MASK, x, 3.0 * x)))
    same(dualad.grad(f)(X), np.array([1.0, 3.0, 1.0]))


def test_a_closed_level_is_found_out():
    leaked = []
    dualad.grad(lambda x: leaked.append(x) or np.sum(x))(X)
    dualad.jvp(lambda x: leaked.append(x) or x, (X,), (X,))
    for value in leaked:
        with pytest.raises(dualad.errors.LeakError):
            np.where(MASK, value, 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_other_dtypes(dtype):
    x, t = X.astype(dtype), like(X.astype(dtype))
    moved = dualad.jvp(lambda x: np.where(MASK, x, 0), (x,), (t,))[1]
    assert moved.dtype == dtype
    same(moved, np.where(MASK, t, 0))


def test_shapes_that_do_not_fit_are_numpys_error():
    for transform in (dualad.jacfwd, dualad.jacrev):
        with pytest.raises(ValueError):
            transform(lambda x: np.where(MASK, x, np.ones(2)))(X)
