"""debug_nans names the operation and the line that first made a NaN, wherever it is."""

import contextvars
import inspect
import threading
from pathlib import Path

import numpy as np
import pytest

import dualad
from dualad.engine.fast_paths.codegen import KINDS, fast
from dualad.engine.levels.traced import TracedArray
from dualad.errors import NaNError
from dualad.ops.elementwise import add


def blamed(call, operation, part, line):
    """The error of a call, which must name all three."""
    with pytest.raises(NaNError) as caught, dualad.debug_nans():
        call()
    error = caught.value
    assert (error.operation, error.part) == (operation, part)
    assert error.filename == __file__
    text = Path(__file__).read_text().splitlines()[error.lineno - 1]
    assert line in text and text.strip() in str(error)
    return error


def quotient(x):
    y = x - 1.0
    z = y / y  # here it is made
    return np.sum(z * z)


def angle(x):
    y = 2.0 * x
    z = np.arctan2(y, y)  # its slope is undefined at 0
    return np.sum(np.sin(z) * 1.0)


ONE, ZERO = np.array([2.0, 1.0]), np.array([1.0, 0.0])

MODES = {
    "jvp": lambda f, x: dualad.jvp(f, (x,), (np.ones_like(x),)),
    "grad": lambda f, x: dualad.grad(f)(x),
    "vjp": lambda f, x: dualad.vjp(f, x)[1](1.0),
    "jacfwd": lambda f, x: dualad.jacfwd(f)(x),
    "jacrev": lambda f, x: dualad.jacrev(f)(x),
    "hessian": lambda f, x: dualad.hessian(f)(x),
    "grad of grad": lambda f, x: dualad.grad(lambda v: np.sum(dualad.grad(f)(v)))(x),
    "vmap": lambda f, x: dualad.vmap(f)(x[:, None]),
    "vmap of grad": lambda f, x: dualad.vmap(dualad.grad(f))(x[:, None]),
    "linearize": lambda f, x: dualad.linearize(f, x)[1](np.ones_like(x)),
}


@pytest.mark.parametrize("mode", MODES)
def test_a_value(mode):
    error = blamed(lambda: MODES[mode](quotient, ONE), "divide", "value", "here it is made")
    assert "at index (1," in str(error) and "of 0 and 0" in str(error)


PARTS = {"jvp": "tangent", "jacfwd": "tangent", "grad": "cotangent", "vjp": "cotangent",
         "jacrev": "cotangent", "vmap of grad": "cotangent", "hessian": "tangent"}  # fmt: skip


@pytest.mark.parametrize("mode", PARTS)
def test_a_tangent_and_a_cotangent(mode):
    blamed(lambda: MODES[mode](angle, ZERO), "arctan2", PARTS[mode], "its slope is undefined")


def test_a_second_derivative_of_reverse_over_reverse():
    def f(x):
        return np.sum(x**1.5 * x)  # third derivative 1/0 and 0 * inf

    value = dualad.grad(lambda v: np.sum(dualad.grad(f)(v)))(ZERO)
    assert np.isfinite(value).all()
    with dualad.debug_nans():
        np.testing.assert_array_equal(
            dualad.grad(lambda v: np.sum(dualad.grad(f)(v)))(ZERO), value
        )


def test_tensors_backward_and_dual_level():
    def back():
        x = dualad.tensor([1.0, 0.0], requires_grad=True)
        y = dualad.Tensor.atan2(x, x)  # of a tensor
        (3.0 * y).sum().backward()

    blamed(back, "arctan2", "cotangent", "of a tensor")

    def forward():
        with dualad.autograd.forward_ad.dual_level():
            x = dualad.autograd.forward_ad.make_dual(dualad.tensor([0.0]), dualad.tensor([1.0]))
            return x.atan2(x)  # of a dual tensor

    blamed(forward, "arctan2", "tangent", "of a dual tensor")


def test_a_second_backward_through_the_graph():
    def twice():
        x = dualad.tensor([-1.0], requires_grad=True)
        y = x.exp().expm1()
        (g,) = dualad.autograd.grad(y.sum(), x, create_graph=True)
        z = (g - g).atan2(g * 0.0)  # of a gradient
        z.sum().backward()

    blamed(twice, "arctan2", "cotangent", "of a gradient")


def test_functions_of_numpy_as_a_whole():
    def f(x):
        return np.std(x) + np.mean(x[x > 5.0])  # of nothing

    blamed(lambda: dualad.grad(f)(ONE), "numpy.mean", "value", "of nothing")


def test_functions_of_the_user_inside_those_of_numpy():
    def f(x):
        def inner(v):
            return np.log(v - 3.0)  # in a callback

        return np.sum(np.apply_along_axis(inner, 0, x))

    blamed(lambda: dualad.grad(f)(ONE), "log", "value", "in a callback")


def test_custom_rules():
    @dualad.custom_jvp
    def root(x):
        return np.sqrt(x)

    root.defjvps(lambda t, out, x: t * (x / x))

    def f(x):
        return root(x) + 1.0  # a rule of the user

    blamed(lambda: dualad.jvp(f, (0.0,), (1.0,)), "root", "tangent", "a rule of the user")
    blamed(lambda: dualad.grad(f)(0.0), "root", "cotangent", "a rule of the user")

    class Bad(dualad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g * float("nan")

    def g(x):
        return Bad.apply(x).sum()  # a backward of the user

    blamed(
        lambda: g(dualad.tensor([1.0], requires_grad=True)).backward(),
        "Bad", "cotangent", "a backward of the user",
    )  # fmt: skip


def test_a_nan_of_the_data_is_not_blamed():
    data = np.array([1.0, np.nan, 3.0])

    def f(x):
        return np.nansum(x * data) + np.sum(np.where(np.isnan(data), 0.0, x))

    with dualad.debug_nans():
        np.testing.assert_array_equal(dualad.grad(f)(np.ones(3)), [2.0, 0.0, 4.0])
        _, t = dualad.jvp(lambda x: x * 2.0, (data,), (np.ones(3),))
        np.testing.assert_array_equal(t, 2.0)
        assert np.isnan(dualad.grad(lambda x: np.sum(x * x))(data)[1])


def test_but_one_that_is_made_beside_it_is():
    data = np.array([-1.0, np.nan, 3.0])

    def f(x):
        return np.sum(np.log(x))  # of data with gaps

    error = blamed(lambda: dualad.grad(f)(data), "log", "value", "of data with gaps")
    assert "beside" in str(error)


def test_what_is_healed_within_an_operation_is_not_blamed():
    with dualad.debug_nans():
        assert dualad.grad(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(0.0) == 0.0
        assert dualad.grad(lambda x: np.hypot(x, 0.0))(0.0) == 0.0
        assert np.all(dualad.grad(lambda x: np.nanmax(x))(np.array([np.nan, 2.0])) == [0.0, 1.0])


def test_results_are_the_same_while_it_is_active():
    x = np.linspace(0.5, 1.5, 4)

    def f(v):
        w = np.zeros_like(v)
        w[1:] = v[1:] * v[:-1]
        w += 2.0 * v
        return np.sum(np.linalg.norm(w) * np.exp(-(w**2)) / (1.0 + w @ w))

    value, hessian = dualad.grad(f)(x), dualad.hessian(f)(x)
    with dualad.debug_nans():
        np.testing.assert_array_equal(dualad.grad(f)(x), value)
        np.testing.assert_array_equal(dualad.hessian(f)(x), hessian)
        assert (dualad.jvp(lambda v: 3 - v, (1.0,), (1.0,))) == (2.0, -1.0)
        with pytest.raises(TypeError):
            dualad.grad(lambda v: v + "text")(1.0)


# --- it leaves nothing behind --------------------------------------------------------------------


def surface():
    return [
        *(vars(TracedArray)[n] for n in ("__array_function__", "__array_ufunc__")),
        *(vars(cls)["bind"] for cls in KINDS),
        *(fast(add, cls.__name__) for cls in KINDS),
    ]


def test_outside_everything_is_as_it_was():
    before = surface()
    with dualad.debug_nans(), dualad.debug_nans():
        assert all(
            a is not b for a, b in zip(surface(), before, strict=True) if "ufunc" not in str(a)
        )
    assert all(a is b for a, b in zip(surface(), before, strict=True))
    dualad.grad(lambda x: x + x)(1.0)
    assert vars(KINDS[0])["__add__"] is not None
    with pytest.raises(NaNError), dualad.debug_nans():
        dualad.grad(quotient)(ONE)
    assert all(a is b for a, b in zip(surface(), before, strict=True))


def test_other_threads_and_contexts_are_not_watched():
    results = []

    def other():
        with np.errstate(invalid="ignore"):
            results.append(dualad.grad(quotient)(ONE))

    with dualad.debug_nans():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        contextvars.Context().run(other)
    assert all(np.isnan(r[1]) for r in results) and len(results) == 2


def test_a_pullback_that_outlives_it_says_nothing():
    with dualad.debug_nans():
        _, pullback = dualad.vjp(angle, ZERO)
    assert np.isnan(pullback(1.0)[0][1])
    with pytest.raises(NaNError), dualad.debug_nans():
        pullback(1.0)


def test_a_recording_from_before_has_no_line():
    _, pullback = dualad.vjp(angle, ZERO)
    with pytest.raises(NaNError, match="before debug_nans"), dualad.debug_nans():
        pullback(1.0)


def test_the_error_is_a_floating_point_error_and_pickles():
    assert issubclass(NaNError, FloatingPointError)
    assert "debug_nans" in inspect.getdoc(NaNError)
