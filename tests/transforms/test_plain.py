"""Plain arguments take a shorter way in and out, which nobody can tell from the general one."""

import numpy as np
import pytest
from agreement import same

import dualad
from dualad.engine.levels.traced import TracedArray

X, T = np.array([2.0, 3.0]), np.array([1.0, -1.0])


def f(x):
    return np.sin(x) * x[0]


JACOBIAN = np.array([[np.sin(2.0) + 2 * np.cos(2.0), 0.0], [np.sin(3.0), 2 * np.cos(3.0)]])


def alike(a, b):
    assert type(a) is type(b)
    if isinstance(a, (tuple, list)):
        assert len(a) == len(b)
        for p, q in zip(a, b, strict=True):
            alike(p, q)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        alike(list(a.values()), list(b.values()))
    else:
        same(a, b)


RESULTS = {
    "array": f,
    "number": lambda x: np.sum(f(x)),
    "constant": lambda x: 3.0,
    "constant array": lambda x: np.arange(3.0),
    "tuple": lambda x: (x[0], f(x), 2.0),
    "dict": lambda x: {"a": x * x, "b": np.ones(2)},
    "itself": lambda x: x,
    "0-d": lambda x: np.reshape(x[:1] * x[1], ()),
    "complex": lambda x: x * 1j,
    "float32": lambda x: x.astype(np.float32),
    "buffer": lambda x: np.zeros_like(x),
}


@pytest.mark.parametrize("name", RESULTS)
def test_the_general_way_gives_the_same(name):
    """In a container of one the argument takes the general way."""
    g = RESULTS[name]
    boxed = lambda box: g(box["x"])
    alike(dualad.jvp(g, (X,), (T,)), dualad.jvp(boxed, ({"x": X},), ({"x": T},)))
    plain, general = dualad.jacfwd(g)(X), dualad.jacfwd(boxed)({"x": X})
    if isinstance(plain, tuple):
        general = tuple(part["x"] for part in general)
    elif isinstance(plain, dict):
        general = {k: part["x"] for k, part in general.items()}
    else:
        general = general["x"]
    alike(plain, general)
    mapped = dualad.vmap(g)(np.stack([X, X]))
    alike(mapped, dualad.vmap(boxed)({"x": np.stack([X, X])}))


@pytest.mark.parametrize("x", [X, 2.0, np.float64(2.0), np.array(2.0)], ids=["v", "f", "s", "0"])
def test_gradients_come_back_as_the_argument(x):
    """The gradient of sum x^3 is 3 x^2, of a constant 0, in the kind of the argument."""
    for g, slope in ((lambda x: np.sum(x**3), 3 * x * x), (lambda x: 5.0, 0.0 * x)):
        value, gradient = dualad.value_and_grad(g)(x)
        alike(gradient, type(x)(slope) if type(x) is not np.ndarray else np.asarray(slope))
        same(value, np.float64(g(x)))
        alike(dualad.grad(lambda box, g=g: g(box[0]))([x])[0], gradient)


def test_errors_are_those_of_the_general_way():
    for bad, message in (
        (lambda x: x, r"shape \(2,\)"),
        (lambda x: (x[0], x[1]), r"returned \(\*, \*\)"),
        (lambda x: x[0] * 1j, "complex"),
    ):
        for call in (lambda g: dualad.grad(g)(X), lambda g: dualad.grad(lambda b: g(b[0]))([X])):
            with pytest.raises(dualad.errors.ShapeError, match=message):
                call(bad)
    with pytest.raises(dualad.errors.ShapeError, match="tangent of primal 0 has shape"):
        dualad.jvp(f, (X,), (np.ones(3),))
    with pytest.raises(dualad.errors.ShapeError, match="different lengths"):
        dualad.vmap(lambda a, b: a * b)(np.ones((2, 1)), np.ones((3, 1)))
    with pytest.raises(dualad.errors.ArgumentError, match="does not depend"):
        dualad.jvp(lambda x: 1.0, (X,), (T,), strict=True)


def test_results_share_no_memory_with_the_tangents():
    t = T.copy()
    out = dualad.jvp(lambda x: x, (X,), (t,))[1]
    out[0] = 9.0
    assert t[0] == 1.0


def test_the_function_runs_once():
    runs = []
    g = lambda x: runs.append(1) or (x[0], {"a": f(x)})
    dualad.jvp(g, (X,), (T,))
    dualad.jacfwd(g)(X)
    dualad.vmap(g)(np.stack([X, X]))
    dualad.value_and_grad(lambda x: runs.append(1) or np.sum(x))(X)
    dualad.value_and_grad(lambda x: runs.append(1) or 1.0)(X)
    assert len(runs) == 5


def test_several_arguments_and_keywords():
    g = lambda x, y, scale=1.0: scale * x[0] * y
    both = dualad.jacfwd(g, argnums=(0, 1))(X, np.array([5.0]), scale=2.0)
    same(both, (np.array([[10.0, 0.0]]), np.array([[4.0]])))
    same(dualad.jacfwd(g, argnums=1)(X, np.array([5.0])), np.array([[2.0]]))
    same(dualad.jacfwd(g, argnums=[1])(X, np.array([5.0])), (np.array([[2.0]]),))
    same(
        dualad.grad(lambda x, y: np.sum(g(x, y)), argnums=-1)(X, np.array([5.0])), np.array([2.0])
    )
    same(dualad.jacfwd(lambda x: x * X[0])(np.zeros(0)), np.zeros((0, 0)))


def test_a_derivative_that_needs_a_direction():
    """The eigenvalues of diag(x) are x sorted; at a tie grad follows forward mode's Jacobian."""
    x = np.array([1.0, 1.0, 2.0])
    top = lambda x: np.linalg.eigvalsh(np.diag(x))[2]
    same(dualad.grad(top)(x), np.array([0.0, 0.0, 1.0]))
    sums = lambda x: np.sum(np.linalg.eigvalsh(np.diag(x)) ** 2)
    same(dualad.grad(sums)(x), 2 * x)
    same(dualad.grad(lambda box: sums(box[0]))([x])[0], 2 * x)


def test_traced_arguments_of_an_outer_transformation():
    """grad, jvp and vmap inside each other, x^3 each time: 3 x^2, 6 x, 6."""
    cube = lambda x: np.sum(x**3)
    for second in (
        lambda x: dualad.grad(lambda x: np.sum(dualad.grad(cube)(x)))(x),
        lambda x: dualad.jvp(dualad.grad(cube), (x,), (np.ones(2),))[1],
        lambda x: dualad.grad(lambda x: dualad.jvp(cube, (x,), (np.ones(2),))[1])(x),
        lambda x: dualad.vmap(dualad.grad(dualad.grad(lambda x: x**3)))(x),
    ):
        same(second(X), 6 * X)
        same(dualad.grad(lambda x, second=second: np.sum(second(x)))(X), np.full(2, 6.0))


def test_a_batched_tangent_beside_a_plain_one():
    """d(x y) = x dy + y dx, one dx for each entry and the same dy for all."""
    push = lambda t: dualad.jvp(lambda x, y: x * y, (2.0, 3.0), (t, 5.0))
    values, moves = dualad.vmap(push)(np.array([1.0, 7.0]))
    same(values, np.full(2, 6.0))
    same(moves, np.array([13.0, 31.0]))


def test_vmap_of_what_is_the_same_for_all_and_of_other_axes():
    a = np.arange(6.0).reshape(2, 3)
    same(dualad.vmap(lambda x: 2.0)(a), np.full(2, 2.0))
    same(dualad.vmap(lambda x: x * 2.0, out_axes=1)(a), 2.0 * a.T)
    same(dualad.vmap(lambda x: (x, 7.0), out_axes=(0, None))(a)[1], np.float64(7.0))
    assert not isinstance(dualad.vmap(lambda x, k: x * k)(a, a), TracedArray)


@pytest.mark.parametrize("name", RESULTS)
def test_several_plain_arguments_take_the_short_way(name):
    """Beside an argument in a container they take the general way: same results and errors."""
    g = RESULTS[name]
    f, boxed = lambda x, y: g(x * y), lambda box, y: g(box["x"] * y)
    try:
        value, (gx, gy) = dualad.value_and_grad(boxed, (0, 1))({"x": X}, 3.0)
    except dualad.errors.DualADError as error:
        with pytest.raises(type(error)) as short:
            dualad.grad(f, (0, 1))(X, 3.0)
        assert str(short.value) == str(error)
        return
    alike(dualad.value_and_grad(f, (0, 1))(X, 3.0), (value, (gx["x"], gy)))
    alike(dualad.grad(f, (0, 1))(X, 3.0), (gx["x"], gy))


def test_gradients_by_several_arguments():
    """x^T A y + c: A y, A^T x, 1; in any order, beside constants and at other levels."""
    A = np.array([[1.0, 2.0], [3.0, 5.0]])
    f = lambda x, y, c: x @ A @ y + c
    gx, gy, gc = dualad.grad(f, (0, 1, 2))(X, T, 7.0)
    same((gx, gy, gc), (A @ T, A.T @ X, 1.0))
    same(dualad.grad(f, (2, 0))(X, T, 7.0), (gc, gx))
    same(dualad.grad(f, (1, 0))(X, T, c=7.0), (gy, gx))
    same(dualad.grad(f, [0])(X, T, 7.0), (gx,))
    moved = dualad.jvp(lambda x: dualad.grad(f, (0, 1))(x, T, 7.0)[1], (X,), (T,))[1]
    same(moved, A.T @ T)
    same(dualad.jacrev(lambda x: dualad.grad(f, (0, 1))(x, T, 7.0)[1])(X), A.T)
    same(dualad.hvp(lambda x, y: x @ A @ y, (X, T), (T, X)), (A @ X, A.T @ T))


def test_results_share_no_memory_with_each_other():
    """An addition hands one cotangent to both operands, and one tangent to both results."""
    x, y = np.ones(3), np.ones(3)
    total = lambda x, y: np.sum((x + y) * 3.0)
    of_tree = dualad.grad(lambda t: total(t["x"], t["y"]))({"x": x, "y": y})
    y_and_pullback = dualad.vjp(lambda x, y: x + y, x, y)[1]
    twice = lambda x: ((z := x * 2.0) + 1.0, z + 2.0)
    for a, b in (
        dualad.grad(total, (0, 1))(x, y),
        dualad.grad(total, (0, 1))(x, x),
        (of_tree["x"], of_tree["y"]),
        y_and_pullback(np.ones(3)),
        dualad.jvp(twice, (x,), (y,))[1],
        dualad.linearize(twice, x)[1](y),
    ):
        expected = b.copy()
        a += 1.0
        np.testing.assert_array_equal(b, expected)


def test_a_constant_tangent_beside_one_of_another_level():
    """What a result may share memory with is asked of traced tangents too."""
    f = lambda x: np.arange(2.0) + 0.0 * np.sum(x != 0)
    t = np.stack([T, X])
    same(dualad.vmap(lambda t: dualad.jvp(f, (X,), (t,))[1])(t), np.zeros((2, 2)))
    same(dualad.jacrev(lambda t: dualad.jvp(f, (X,), (t,))[1])(T), np.zeros((2, 2)))
