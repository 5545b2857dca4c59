"""dualad.numpy: NumPy, whose fresh arrays take part in derivatives."""

import pickle
import threading

import numpy
import pytest
from agreement import agrees, like, linear, same

import dualad
import dualad.numpy as np
from dualad.engine.levels.buffer import Buffer

X = numpy.array([0.5, 1.5, 2.0])


def inside(f, x=X):
    """What f gives while a jvp runs."""
    seen = []
    dualad.jvp(lambda v: (seen.append(f(v)), v)[1], (x,), (x,))
    return seen[0]


# --- the namespace -------------------------------------------------------------------------------


def test_every_name_of_numpy_is_there():
    assert set(numpy.__all__) <= set(np.__all__) <= set(dir(np))
    for name in numpy.__all__:
        assert getattr(np, name) is not None or name in ("newaxis",)
    assert np.sin is numpy.sin and np.float64 is numpy.float64 and np.ndarray is numpy.ndarray
    with pytest.raises(AttributeError):
        np.no_such_name


def test_star_import_and_submodules():
    scope: dict = {}
    exec("from dualad.numpy import *", scope)
    assert scope["zeros"] is np.zeros and scope["sin"] is numpy.sin
    import dualad.numpy.fft as fft
    import dualad.numpy.linalg as linalg
    import dualad.numpy.random as random

    assert linalg.norm is numpy.linalg.norm and fft.fft is numpy.fft.fft
    assert random.default_rng is numpy.random.default_rng
    assert linalg.LinAlgError is numpy.linalg.LinAlgError
    assert np.linalg.inv is numpy.linalg.inv and np.emath is numpy.emath


# --- outside of transformations ------------------------------------------------------------------

MAKE = {
    "zeros": lambda: np.zeros(3),
    "ones": lambda: np.ones((2, 3)),
    "empty": lambda: np.empty(0),
    "full": lambda: np.full(3, 2.0),
    "eye": lambda: np.eye(2),
    "identity": lambda: np.identity(2),
    "tri": lambda: np.tri(3),
    "array": lambda: np.array([1.0, 2.0]),
    "asarray": lambda: np.asarray([1.0, 2.0]),
    "linspace": lambda: np.linspace(0, 1, 5),
    "logspace": lambda: np.logspace(0, 1, 5),
    "geomspace": lambda: np.geomspace(1, 2, 5),
    "arange": lambda: np.arange(0.0, 2.0, 0.5),
    "zeros_like": lambda: np.zeros_like(X),
    "full_like": lambda: np.full_like(X, 2.0),
    "copy": lambda: np.copy(X),
    "diag": lambda: np.diag(X),
    "tile": lambda: np.tile(X, 2),
    "fromfunction": lambda: np.fromfunction(lambda i: i / 2, (3,)),
    "fromiter": lambda: np.fromiter([1.0, 2.0], float),
    "frombuffer": lambda: np.frombuffer(X.tobytes()),
    "hanning": lambda: np.hanning(4),
}


@pytest.mark.parametrize("name", MAKE)
def test_plain_outside_and_a_buffer_inside(name):
    plain = MAKE[name]()
    assert type(plain) is numpy.ndarray
    buffer = inside(lambda x: MAKE[name]())
    assert type(buffer) is Buffer
    same(numpy.asarray(buffer), plain)
    assert type(MAKE[name]()) is numpy.ndarray


@pytest.mark.parametrize(
    "run",
    [
        lambda f: dualad.jvp(f, (X,), (X,)),
        lambda f: dualad.vjp(f, X),
        lambda f: dualad.linearize(f, X),
        lambda f: dualad.jacfwd(f)(X),
        lambda f: dualad.jacrev(f)(X),
        lambda f: dualad.vmap(f)(X[None]),
        lambda f: dualad.linear_transpose(f, X),
        lambda f: dualad.grad(lambda x: np.sum(f(x)))(X),
        lambda f: dualad.hessian(lambda x: np.sum(f(x)))(X),
    ],
)
def test_every_transformation_is_noticed_and_left(run):
    seen = []
    run(lambda x: (seen.append(np.zeros(2)), x)[1])
    assert seen and all(type(z) is Buffer for z in seen)
    assert type(np.zeros(2)) is numpy.ndarray


def test_an_exception_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError):
        dualad.grad(lambda x: 1 / 0)(1.0)
    assert type(np.zeros(2)) is numpy.ndarray


def test_another_thread_has_plain_arrays():
    seen = []

    def f(x):
        worker = threading.Thread(target=lambda: seen.append(np.zeros(2)))
        worker.start()
        worker.join()
        return x

    dualad.jvp(f, (X,), (X,))
    assert type(seen[0]) is numpy.ndarray


def test_integers_and_existing_arrays_stay_plain():
    plain = numpy.ones(3)
    assert type(inside(lambda x: np.zeros(3, int))) is numpy.ndarray
    assert type(inside(lambda x: np.arange(3))) is numpy.ndarray
    for f in (np.asarray, np.asanyarray, np.require):
        assert inside(lambda x: f(plain)) is plain


def test_results_are_plain_arrays():
    def f(x):
        return np.zeros(2), {"a": np.ones(2)}

    (a, b), _ = dualad.jvp(f, (X,), (X,))
    assert type(a) is type(b["a"]) is numpy.ndarray
    assert type(dualad.vmap(lambda x: np.zeros(2))(X)) is numpy.ndarray
    assert type(dualad.vjp(lambda x: np.zeros(2), X)[0]) is numpy.ndarray
    aux = dualad.grad(lambda x: (x[0], np.ones(2)), has_aux=True)(X)[1]
    assert type(aux) is numpy.ndarray


# --- buffers that escape, or are given to others -------------------------------------------------


def test_a_buffer_serves_where_an_array_is_expected():
    buffer = inside(lambda x: np.linspace(0.0, 1.0, 3))
    assert numpy.linalg.norm(buffer) == numpy.linalg.norm([0, 0.5, 1])
    assert buffer.flags.c_contiguous and buffer.strides == (8,) and len(buffer.tobytes()) == 24
    copy = pickle.loads(pickle.dumps(buffer))
    assert type(copy) is numpy.ndarray and copy.tolist() == [0.0, 0.5, 1.0]
    pandas = pytest.importorskip("pandas")
    assert pandas.Series(buffer).sum() == 1.5


def test_a_constant_made_inside_costs_no_more_than_its_value():
    """Beside a traced value it is used as the plain array that it holds."""
    f = lambda x: np.sum((x * np.array([1.0, 2.0, 3.0]) + np.ones(3)) ** 2 - np.full(3, 2.0) / x)
    value, gradient = dualad.value_and_grad(f)(X)
    c = numpy.array([1.0, 2.0, 3.0])
    same(gradient, 2 * (X * c + 1) * c + 2.0 / X**2)
    same(value, f(X))


# --- what takes traced values --------------------------------------------------------------------


def test_fresh_arrays_take_traced_values():
    def f(x):
        y = np.zeros(3)
        for k in range(3):
            y[k] = x[k] ** k
        z = np.empty((2, 3))
        z[0], z[1] = y, 1.0
        z[1] += x
        return z

    agrees(f, (X,), (X,), numpy.stack([numpy.arange(3) * X ** numpy.arange(3), X]))


def test_a_right_hand_side_is_an_array_of_numbers():
    k = numpy.array([0.5, 1.5])
    f = lambda y: np.array([-k[0] * y[0], k[0] * y[0] - k[1] * y[1] ** 2, 1.0])
    want = [[-0.5, 0.0, 0.0], [0.5, -2 * 1.5 * 1.5, 0.0], [0.0] * 3]
    same(dualad.jacfwd(f)(X), numpy.array(want))
    same(dualad.jacrev(f)(X), numpy.array(want))


def test_what_makes_arrays_of_traced_values_is_linear():
    for f in (
        np.asarray,
        np.array,
        np.ascontiguousarray,
        np.asfortranarray,
        lambda x: np.require(x, float, ["C"]),
        lambda x: np.array([x, x[::-1]]),
        lambda x: np.array([x[0], 0.0, x[1]], ndmin=2),
        lambda x: np.full((2, 3), x),
        lambda x: np.full_like(numpy.ones((2, 3)), x),
        lambda x: np.linspace(x[0], x[1], 4),
        lambda x: np.r_[x, 0.0, 0:0, x[0]],
        lambda x: np.c_[x, x],
        lambda x: np.vectorize(lambda a, b: a * b)(x, 3.0),
        lambda x: np.fromiter((v * 2 for v in x), float),
        lambda x: np.fromfunction(lambda i, j: i * x[0] + j * x[1], (2, 2)),
        lambda x: np.array([v for _, v in np.ndenumerate(x)]),
    ):
        linear(f, X)


def test_traced_values_beside_a_plain_array():
    """NumPy looks at the first array alone; here it is a buffer, so that the others count."""
    one, none = numpy.ones((2, 2)), numpy.zeros((2, 2))
    for f in (
        lambda x: np.pad(none, 1, constant_values=x[0]),
        lambda x: np.apply_along_axis(lambda v: v * x[0], 0, one),
        lambda x: np.apply_over_axes(lambda a, k: np.sum(a * x[k], k), one, [0]),
        lambda x: np.piecewise(
            numpy.array([0.5, 1.5]), [numpy.array([True, False])], [lambda v: v * x[0], x[1]]
        ),
    ):
        linear(f, X)
    f = lambda x: np.nan_to_num(numpy.array([numpy.nan, 1.0]), nan=x[2])
    same(dualad.jacrev(f)(X), numpy.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))


def test_several_results_of_a_vectorized_function():
    f = np.vectorize(lambda a, n: (a**n, a), excluded=[1])
    got = dualad.jvp(lambda x: f(x, 2), (X,), (X,))[1]
    same(got, (2 * X * X, X))
    assert np.vectorize(lambda a: a + 1)(X).tolist() == (X + 1).tolist()
    inner = lambda x: np.vectorize(lambda a: a * x[0])(X)
    linear(inner, X)


def test_scalars_and_directives():
    def f(x):
        assert np.isscalar(x[0]) and not np.isscalar(x) and np.isscalar(1.0)
        with pytest.raises(NotImplementedError, match="no directives"):
            np.r_["0,2", x, x]
        return x

    dualad.jvp(f, (X,), (X,))
    assert np.r_[1, 2:4].tolist() == [1, 2, 3] and np.c_[[1, 2]].shape == (2, 1)
    assert [k for k, _ in np.ndenumerate(X)] == [(0,), (1,), (2,)]


def test_batches_and_nesting():
    def f(x):
        y = np.zeros(2)
        y[0] = x[0] * x[1]
        y[1] = np.array([x[0], x[1]])[1]
        return y

    points = like(numpy.ones((4, 2)))
    same(dualad.vmap(f)(points), numpy.stack([f(p) for p in points]))
    jacobians = dualad.vmap(dualad.jacfwd(f))(points)
    same(jacobians, numpy.stack([dualad.jacrev(f)(p) for p in points]))
    same(dualad.hessian(lambda x: f(x)[0])(points[0]), numpy.array([[0.0, 1.0], [1.0, 0.0]]))
