"""The direction in which a value moves, read while the function runs."""

import numpy as np

import dualad
from dualad.engine.kinds.direction import constant, direction
from dualad.engine.levels.traced import TracedArray, raw


def seen(transform, f=lambda x: x):
    """What `direction` says of f(x) inside a transformation."""
    found = []

    def g(x):
        y = f(x)
        found.append(direction(y))
        return np.sum(y)

    transform(g)
    return found[0]


def test_in_forward_mode_it_is_the_tangent():
    t = np.array([1.0, -2.0])
    assert seen(lambda g: dualad.jvp(g, (t,), (t,)), lambda x: 3 * x).tolist() == [3.0, -6.0]


def test_reverse_mode_knows_none():
    assert seen(lambda g: dualad.grad(g)(2.0)) is None
    assert seen(lambda g: dualad.vjp(g, np.ones(2))) is None


def test_of_a_batch_it_is_a_batch():
    t = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = seen(lambda g: dualad.vmap(lambda x, s: dualad.jvp(g, (x,), (s,)))(t, 2 * t))
    assert found.shape == (2,) and raw(found).tolist() == (2 * t).tolist()
    found = seen(lambda g: dualad.jvp(lambda x: np.sum(dualad.vmap(g)(x)), (t,), (t,)))
    assert found.shape == (2,) and raw(found).tolist() == t.tolist()


def test_it_has_no_derivatives_of_its_own():
    def inner(x):
        return dualad.jvp(lambda y: found.append(direction(y * y)) or y, (x,), (x,))[1]

    found = []
    dualad.jvp(inner, (3.0,), (1.0,))
    assert not isinstance(found[0], TracedArray) and found[0] == 18.0


def test_a_plain_value_has_none():
    assert direction(np.ones(2)) is None
    assert constant(2.0) == 2.0
    assert seen(lambda g: dualad.vmap(g)(np.ones((2, 2)))) is None
