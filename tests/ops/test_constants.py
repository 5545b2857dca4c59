"""What carries no derivative: NumPy's results, plain, and usable as such inside a derivative."""

import math
import warnings

import numpy as np
import pytest
from agreement import like, same

import dualad
from dualad.engine.levels.buffer import Buffer
from dualad.engine.levels.traced import TracedArray
from dualad.errors import LostDerivativeError

X = np.array([[-1.3, 0.2, 2.7], [0.0, -0.0, 5.5]])
Y = np.array([[-1.3, 1.2, 2.0], [0.0, 3.0, -5.5]])
ODD = np.array([1.0, np.nan, np.inf, -np.inf, -0.0, 0.0])


def inside(f, *xs):
    """What f gives inside a jvp, inside a grad, and inside both, which must agree."""
    seen = []

    def watch(*vs):
        seen.append(f(*vs))
        return np.sum(vs[0]) * 0.0

    dualad.jvp(watch, xs, xs)
    dualad.grad(watch)(*xs)
    dualad.jvp(dualad.grad(watch), xs, xs) if len(xs) == 1 else None
    for other in seen[1:]:
        assert type(other) is type(seen[0])
        np.testing.assert_array_equal(np.asarray(other), np.asarray(seen[0]))
    return seen[0]


# --- predicates ----------------------------------------------------------------------------------

OF_ONE = [
    np.isnan, np.isfinite, np.isinf, np.signbit, np.logical_not, np.isposinf, np.isneginf,
    np.isreal, np.iscomplex,
]  # fmt: skip
OF_TWO = [
    np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal, np.logical_and,
    np.logical_or, np.logical_xor, np.isclose,
]  # fmt: skip


@pytest.mark.parametrize("f", OF_ONE)
@pytest.mark.parametrize("x", [X, ODD, np.float64(0.0), X.astype(np.float32), X[:0]])
def test_predicates_give_plain_booleans(f, x):
    got = inside(f, x)
    assert not isinstance(got, TracedArray)
    same(got, f(x))
    same(dualad.vmap(f)(np.stack([x, x])), np.stack([f(x), f(x)]))


@pytest.mark.parametrize("f", OF_TWO)
def test_comparisons_give_plain_booleans(f):
    for x, y in [(X, Y), (X, Y[0]), (X[0, 0], Y[0]), (X[0, 0], Y[0, 0])]:
        for got in (inside(f, x, y), inside(lambda v: f(v, y), x), inside(lambda v: f(x, v), y)):
            assert not isinstance(got, TracedArray)
            same(got, f(x, y))
    same(dualad.vmap(f)(X, Y), f(X, Y))
    same(dualad.vmap(f, in_axes=(0, None))(X, Y[0]), f(X, Y[0]))


OPERATORS = [
    lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a == b, lambda a, b: a != b,
    lambda a, b: a > b, lambda a, b: a >= b,
]  # fmt: skip


@pytest.mark.parametrize("f", OPERATORS)
def test_comparison_operators(f):
    """Against numbers, arrays, lists, NumPy scalars, on either side, and against each other."""
    for other in (0.2, 1, np.float64(0.2), np.int64(0), np.float32(2.7), Y, Y[0], Y[0].tolist()):
        for g in (lambda v: f(v, other), lambda v: f(other, v)):
            got = inside(g, X)
            assert not isinstance(got, TracedArray)
            same(got, g(X) if not isinstance(other, list) else np.asarray(g(X)))
    number = inside(lambda v: f(v, 0.2), np.float64(0.2))
    assert isinstance(number, (bool, np.bool)) and bool(number) == f(0.2, 0.2)
    same(inside(f, X, Y), f(X, Y))
    same(dualad.vmap(f)(X, Y), f(X, Y))
    same(dualad.vmap(lambda v: f(v, 0.2))(X), f(X, 0.2))


def test_comparison_with_what_is_not_a_number():
    def f(x):
        assert x != "name" and not x == None and x not in ("ab", None)  # noqa: E711
        with pytest.raises(TypeError):
            x < "name"
        with pytest.raises(LostDerivativeError, match="looked up"):
            {x: 1}
        return x

    same(dualad.jvp(f, (2.0,), (1.0,)), (2.0, 1.0))
    same(dualad.grad(f)(2.0), 1.0)


def test_branches_loops_and_builtins_on_values():
    def f(x):
        steps = 0
        while x < 100.0:
            x = x * 3.0
            steps += 1
        assert steps == 4 and max(x, 1.0) is x and sorted([x, 1.0])[1] is x
        return x if 0.0 < x <= 200.0 else 0.0 * x

    same(dualad.grad(f)(2.0), 81.0)
    same(dualad.jvp(f, (2.0,), (1.0,)), (162.0, 81.0))


def test_verdicts_are_plain_python_booleans():
    def f(x):
        assert np.allclose(x, x + 1e-12) is True and np.allclose(x, 2.0) is False
        assert np.array_equal(x, x) is True and np.array_equal(x, x[0]) is False
        assert np.array_equal(x * np.nan, x * np.nan, equal_nan=True) is True
        assert np.array_equiv(x, x[None]) is True and np.array_equiv(x, np.ones(7)) is False
        assert bool(np.all(x == x)) and not np.any(x != x)
        return np.sum(x)

    same(dualad.grad(f)(X), np.ones((2, 3)))
    same(dualad.vmap(lambda a, b: np.allclose(a, b, atol=1.2))(X, Y), np.array([True, False]))
    same(dualad.vmap(np.array_equal)(X, X.copy()), np.array([True, True]))


def test_a_batched_truth_cannot_branch():
    for f in (lambda v: v if v > 0 else -v, lambda v: v if np.any(v > 0) else -v):
        with pytest.raises(TypeError, match=r"np\.where"):
            dualad.vmap(f)(np.ones(3))


def test_a_comparison_is_not_linear():
    for f in (
        lambda t: t * (t > 0),
        lambda t: t if t > 0 else 0.0 * t,
        np.floor,
        np.isnan,
        np.argmax,
    ):
        with pytest.raises(RuntimeError, match="not linear"):
            dualad.linear_transpose(f, 1.0 if f is not np.argmax else np.ones(2))


# --- step functions ------------------------------------------------------------------------------

STEPS = [
    np.floor, np.ceil, np.rint, np.trunc, np.sign, np.fix, np.round, np.around, np.spacing,
    lambda v: np.round(v, 1), lambda v: np.round(v, -1), lambda v: v // 1.0, lambda v: 7.0 // v,
    lambda v: np.floor_divide(v, 0.7), lambda v: v.round(), lambda v: v.round(1),
    lambda v: np.heaviside(v, 0.5), lambda v: divmod(v, 2.0)[0], lambda v: np.modf(v)[1],
]  # fmt: skip


@pytest.mark.parametrize("f", STEPS)
def test_step_functions_have_slope_zero(f):
    x = np.array([-1.3, 0.2, 2.7])
    for v in (x, np.float64(2.7), x.astype(np.float32)):
        value, tangent = dualad.jvp(f, (v,), (v,))
        same(value, f(v))
        same(tangent, np.zeros_like(f(v)))
    same(dualad.grad(lambda v: np.sum(f(v) + 3.0 * v))(x), np.full(3, 3.0))
    same(dualad.vmap(f)(x), f(x))


@pytest.mark.parametrize("x", [2.25, -2.25])
def test_fractional_part_and_remainders(x):
    """x - trunc(x) and x mod y have slope 1 in x; the quotient counts the slope in y."""
    same(dualad.grad(lambda v: np.modf(v)[0])(x), 1.0)
    same(dualad.jvp(lambda v: np.modf(v), (x,), (3.0,)), (np.modf(x), (3.0, 0.0)))
    same(dualad.grad(lambda v: divmod(v, 0.7)[1])(x), 1.0)
    same(dualad.grad(lambda v: np.divmod(x, v)[1])(0.7), -(x // 0.7))
    same(dualad.grad(lambda v: divmod(5.0, v)[1] + divmod(5.0, v)[0])(0.7), -(5.0 // 0.7))
    same(dualad.grad(lambda v: v - np.floor(v))(x), 1.0)
    same(dualad.jvp(np.modf, (np.inf,), (1.0,))[0], np.modf(np.inf))


def test_mantissa_and_exponent():
    """x = m 2**e: the slope of m is 2**-e, and ldexp has slope 2**n."""
    x = np.array([3.5, -0.3, 1000.0])
    value, tangent = dualad.jvp(np.frexp, (x,), (np.ones(3),))
    same(value, np.frexp(x))
    same(tangent[0], 2.0 ** -np.frexp(x)[1].astype(float))
    same(tangent[1], np.zeros(3))
    n = np.array([1, -2, 3])
    same(dualad.jvp(lambda v: np.ldexp(v, n), (x,), (x,)), (np.ldexp(x, n), np.ldexp(x, n)))
    same(dualad.grad(lambda v: np.sum(np.ldexp(v, n)))(x), 2.0**n)
    same(dualad.grad(lambda v: np.sum(np.nextafter(v, 2.0)))(x), np.ones(3))


def test_heaviside_carries_the_derivative_of_its_value_at_zero():
    x, h = np.array([-1.0, 0.0, 2.0]), np.array([0.3, 0.4, 0.5])
    same(dualad.grad(lambda a: np.sum(np.heaviside(x, a)))(h), np.array([0.0, 1.0, 0.0]))
    same(dualad.grad(lambda a: np.sum(np.heaviside(a, h)))(x), np.zeros(3))


def test_rounding_to_python_integers():
    def f(x):
        assert round(x) == 3 and type(round(x)) is int
        assert (math.floor(x), math.ceil(x), math.trunc(x)) == (2, 3, 2)
        assert int(np.floor(x)) == 2 and float(np.ceil(x)) == 3.0 and round(x, 1) == 2.7
        return [1.0, 2.0, 4.0][int(np.floor(x))] * x

    same(dualad.grad(f)(2.7), 4.0)
    same(dualad.jvp(f, (2.7,), (1.0,))[1], 4.0)
    with pytest.raises(TypeError):
        dualad.vmap(lambda x: math.floor(x))(np.ones(2))
    with pytest.raises(TypeError, match="number"):
        dualad.jvp(lambda x: math.floor(x), (np.ones(2),), (np.ones(2),))


def test_integer_and_logical_operators_along_a_batch():
    """Batched integers and truth values have NumPy's operators."""
    n, m = np.array([5, 6, 7]), np.array([3, 2, 1])
    for f in (
        lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b, lambda a, b: a << b,
        lambda a, b: a >> b, lambda a, b: ~a + b, lambda a, b: a // b, lambda a, b: a % b,
        np.gcd, np.lcm, lambda a, b: 6 & a, lambda a, b: 1 | b, lambda a, b: 40 // b,
        lambda a, b: np.bitwise_count(a),
    ):  # fmt: skip
        same(dualad.vmap(f)(n, m), f(n, m))
    x = np.array([0.5, -0.5, 2.0])
    f = lambda v: ~((v > 0) & (v < 1)) | (v == 0.5)
    same(dualad.vmap(f)(x), f(x))
    same(dualad.vmap(lambda v: np.where((v > 0) & ~(v > 1), v, 0.0))(x), np.array([0.5, 0, 0]))


# --- indices -------------------------------------------------------------------------------------

A = np.array([[3.0, 1.0, 2.0, 2.5], [9.0, -4.0, 0.0, 9.5], [1.0, 7.0, 6.0, -8.0]])
INDEX = [
    ("argmax", np.argmax),
    ("argmax_axis", lambda x: np.argmax(x, axis=0)),
    ("argmax_keepdims", lambda x: np.argmax(x, axis=-1, keepdims=True)),
    ("argmax_all_keepdims", lambda x: np.argmax(x, keepdims=True)),
    ("argmin", np.argmin),
    ("argmin_axis", lambda x: x.argmin(axis=1)),
    ("argsort", np.argsort),
    ("argsort_axis", lambda x: np.argsort(x, axis=0)),
    ("argsort_flat", lambda x: np.argsort(x, axis=None, stable=True)),
    ("argsort_kind", lambda x: x.argsort(kind="mergesort")),
    ("argpartition", lambda x: np.argpartition(x, 2)),
    ("lexsort", lambda x: np.lexsort(x)),
    ("lexsort_keys", lambda x: np.lexsort((x[0], x[1] > 0))),
    ("searchsorted", lambda x: np.searchsorted([0.0, 2.0, 5.0], x)),
    ("searchsorted_sides", lambda x: np.searchsorted(np.array([0.0, 2.0, 5.0]), x, side="right")),
    ("searchsorted_in_traced", lambda x: np.searchsorted(np.sort(x[0]), [2.2, -1.0])),
    ("searchsorted_method", lambda x: np.sort(x[0]).searchsorted(x[1])),
    ("digitize", lambda x: np.digitize(x, [0.0, 2.0, 5.0])),
    ("digitize_right", lambda x: np.digitize(x, [0.0, 2.0, 5.0], right=True)),
    ("digitize_falling", lambda x: np.digitize(x, [5.0, 2.0, 0.0])),
    ("digitize_falling_right", lambda x: np.digitize(x, [5.0, 2.0, 0.0], right=True)),
    ("count_nonzero", np.count_nonzero),
    ("count_nonzero_axis", lambda x: np.count_nonzero(x, axis=1, keepdims=True)),
    ("all", np.all),
    ("all_axis", lambda x: np.all(x, axis=0)),
    ("all_axes", lambda x: np.all(x > -10, axis=(0, 1), keepdims=True)),
    ("any", lambda x: np.any(x > 5)),
    ("any_axis", lambda x: (x > 5).any(axis=1)),
    ("any_where", lambda x: np.any(x, axis=0, where=x > 5)),
    ("all_where", lambda x: np.all(x, axis=0, where=x > 5)),
    ("sum of truths", lambda x: np.sum(x > 2)),
]


@pytest.mark.parametrize(("name", "f"), INDEX, ids=[c[0] for c in INDEX])
def test_indices_are_plain_integers(name, f):
    got = inside(f, A)
    assert not isinstance(got, TracedArray)
    assert np.asarray(got).dtype == np.asarray(f(A)).dtype
    same(got, f(A))
    batch = np.stack([A, -A, A[::-1]])
    same(dualad.vmap(f)(batch), np.stack([f(b) for b in batch]))
    twice = dualad.vmap(dualad.vmap(f))(batch[None])
    same(twice, np.stack([f(b) for b in batch])[None])


def test_places():
    def f(x):
        same(np.nonzero(x), np.nonzero(A))
        same(x.nonzero(), A.nonzero())
        same(np.flatnonzero(x > 2), np.flatnonzero(A > 2))
        same(np.argwhere(x > 2), np.argwhere(A > 2))
        return np.sum(x[np.nonzero(x > 2)])

    same(dualad.grad(f)(A), (A > 2).astype(float))
    with pytest.raises(TypeError, match="different number of results"):
        dualad.vmap(np.flatnonzero)(A)


def test_unordered_bins_are_refused():
    with pytest.raises(ValueError, match="monotonic"):
        dualad.jvp(lambda x: np.digitize(x, [1.0, 0.0, 2.0]), (A,), (A,))


# --- what needs no value, and text ---------------------------------------------------------------


def test_types_and_shapes():
    def f(x):
        assert np.result_type(x, np.float32) == np.float64
        assert np.result_type(x.astype(np.float32), 1.0) == np.float32
        assert np.can_cast(x, np.complex128) and np.min_scalar_type(x) == np.float64
        assert np.common_type(x, x.astype(np.float32)) is np.float64
        assert np.isrealobj(x) and not np.iscomplexobj(x) and np.iscomplexobj(x + 0j)
        assert (
            np.shape(x) == (3, 4) and np.ndim(x) == 2 and np.size(x) == 12 and np.size(x, 1) == 4
        )
        return np.sum(x)

    same(dualad.grad(f)(A), np.ones((3, 4)))
    same(dualad.jvp(f, (A,), (A,))[1], A.sum())
    same(dualad.linear_transpose(f, A)(1.0)[0], np.ones((3, 4)))


def test_memory():
    def f(x):
        y = x * 1.0
        assert np.may_share_memory(y, y[1:]) and np.shares_memory(y, y.T)
        assert np.shares_memory(y, y) and not np.may_share_memory(y, x + 1.0)
        assert not np.shares_memory(y[:1], y[1:])
        return np.sum(y)

    same(dualad.grad(f)(A), np.ones((3, 4)))
    same(
        dualad.linear_transpose(lambda t: t if np.shares_memory(t, t) else 0 * t, 1.0)(2.0), (2.0,)
    )


def test_text_shows_the_value():
    def f(x):
        assert np.array_str(x) == np.array_str(A) and str(x) == str(A)
        assert np.array_repr(x) == np.array_repr(A)
        assert np.array2string(x, precision=1) == np.array2string(A, precision=1)
        return x

    dualad.jvp(f, (A,), (A,))
    dualad.grad(lambda x: np.sum(f(x)))(A)
    dualad.jvp(dualad.grad(lambda x: np.sum(f(x))), (A,), (A,))
    dualad.linear_transpose(lambda t: t if "float64" in np.array_repr(t) else None, 1.0)(1.0)


# --- fresh buffers -------------------------------------------------------------------------------

BUFFERS = [
    (np.zeros_like, {}),
    (np.ones_like, {}),
    (np.zeros_like, {"shape": (2,)}),
    (np.zeros_like, {"dtype": np.float32}),
    (np.ones_like, {"dtype": complex, "shape": ()}),
    (lambda x, **k: np.full_like(x, 2.5, **k), {"shape": (1, 2)}),
    (lambda x, **k: np.full_like(x, [1.0, 2.0, 3.0, 4.0], **k), {}),
]


@pytest.mark.parametrize(("make", "kwargs"), BUFFERS)
def test_buffers_have_no_derivative_and_take_one(make, kwargs):
    def f(x):
        out = make(x, **kwargs)
        assert isinstance(out, Buffer)
        same(np.asarray(out), make(A, **kwargs))
        before = +out
        out[...] = x[0, 0]
        return np.real(np.sum(before)) + np.real(np.sum(out))

    size = make(A, **kwargs).size
    gradient = np.zeros((3, 4))
    gradient[0, 0] = size
    same(dualad.grad(f)(A), gradient, rtol=1e-6)
    np.testing.assert_allclose(dualad.jvp(f, (A,), (A,))[1], A[0, 0] * size, rtol=1e-6)


def test_integer_and_boolean_buffers_are_plain():
    def f(x):
        for dtype in (int, bool):
            assert type(np.zeros_like(x, dtype=dtype)) is np.ndarray
        return x

    dualad.jvp(f, (A,), (A,))


def test_full_like_carries_the_derivative_of_its_value():
    f = lambda x: np.full_like(x, x[0, 0] ** 2)
    gradient = np.zeros((3, 4))
    gradient[0, 0] = 2 * A[0, 0] * 12
    same(dualad.grad(lambda x: np.sum(f(x)))(A), gradient)
    same(dualad.vmap(f)(np.stack([A, 2 * A])), np.stack([f(A), f(2 * A)]))
    narrow = lambda x: np.full_like(x, x, shape=(2, 3, 4), dtype=np.float32)
    assert dualad.jvp(narrow, (A,), (A,))[1].dtype == np.float32


def test_a_buffer_is_a_number_and_an_array_where_one_is_needed():
    def f(x):
        y = np.floor(x)
        assert float(y[0, 0]) == 3.0 and int(y[0, 0]) == 3 and complex(y[0, 0]) == 3
        same(np.asarray(y), np.floor(A))
        assert y.tolist() == np.floor(A).tolist() and y[0, 0].item() == 3.0
        return x * y

    same(dualad.jvp(f, (A,), (A,))[1], A * np.floor(A))


def test_an_empty_buffer_holds_zeros():
    """Chance contents would spoil what is linear: empty_like is zeros_like."""
    f = lambda t: np.empty_like(t) + t
    same(dualad.linear_transpose(f, np.ones(3))(np.arange(3.0))[0], np.arange(3.0))


def test_buffers_of_linear_variables_and_batches():
    def f(t):
        out = np.zeros_like(t)
        out[1:] = 2.0 * t[:-1]
        out[0] += t[2]
        return out

    jacobian = np.array([[0.0, 0, 1], [2, 0, 0], [0, 2, 0]])
    w = like(np.zeros(3))
    same(dualad.linear_transpose(f, np.zeros(3))(w)[0], jacobian.T @ w)
    same(dualad.jacrev(f)(np.ones(3)), jacobian)
    same(dualad.vmap(f)(np.eye(3)), jacobian.T)


def test_no_warning_that_numpy_does_not_give():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f in (np.floor, np.sign, np.round, np.isnan, lambda v: v > 0, np.argmax):
            inside(f, ODD)
