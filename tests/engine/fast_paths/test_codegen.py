"""The generated fast paths agree with the general path, whatever the operands are."""

import itertools
import operator

import numpy as np
import pytest

import dualad
from dualad.engine.fast_paths.codegen import generated
from dualad.engine.kinds.dual import Dual, make_dual
from dualad.engine.kinds.recorded import Recorded, recorded
from dualad.engine.levels.level import Level
from dualad.engine.levels.traced import TracedArray, raw
from dualad.engine.levels.values import as_operand
from dualad.engine.primitives.elementwise import Elementwise
from dualad.engine.primitives.primitive import PRIMITIVES
from dualad.engine.programs.tape import sweep

ELEMENTWISE = [p for p in PRIMITIVES.values() if isinstance(p, Elementwise)]
UNARY = [p for p in ELEMENTWISE if len(p.partials) == 1]
BINARY = [
    p for p in ELEMENTWISE if len(p.partials) == 2 and p.name not in ("ldexp", "complex_power")
]
OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "power": operator.pow,
    "remainder": operator.mod,
}
rng = np.random.default_rng(11)


def arr(*shape, dtype=float):
    return rng.uniform(0.2, 0.9, shape).astype(dtype)


VALUES = {
    "float64": np.float64(0.4),
    "0-d array": np.array(0.4),
    "array": arr(3),
    "matrix": arr(2, 3),
    "column": arr(2, 1),
    "strided": arr(6)[::2],
    "transposed": arr(3, 2).T,
    "empty": arr(0),
    "float32": np.float32(0.4),
    "float32 array": arr(3, dtype=np.float32),
    "float16 array": arr(3, dtype=np.float16),
    "longdouble": np.longdouble(0.4),
    "longdouble array": arr(3, dtype=np.longdouble),
}
COMPLEX = {
    "complex128": np.complex128(0.4 - 0.3j),
    "complex array": arr(3) + 1j * arr(3),
    "complex64 array": (arr(3) + 1j * arr(3)).astype(np.complex64),
}
CONSTANTS = {
    **VALUES,
    "Python float": 0.7,
    "Python int": 2,
    "Python zero": 0,
    "bool": True,
    "int64": np.int64(3),
    "int array": np.array([1, 2, 3]),
    "bool array": np.array([True, False, True]),
    "uint8 array": np.array([1, 2, 3], np.uint8),
    "list": [0.2, 0.3, 0.4],
    "object array": np.array([0.2, 0.3, 0.4], object),
}


def level_value(x, kind, level):
    """x as a value of a level; its tangent is that of `tangent_of` or variable 0."""
    if kind == "dual":
        return make_dual(level, x, tangent_of(x))
    return recorded(level, x, 0)


def tangent_of(x):
    t = np.cos(np.arange(np.size(x)) + 1.0).reshape(np.shape(x))
    if np.asarray(x).dtype.kind == "c":
        t = t * (1 - 0.5j)
    return (
        np.asarray(t, np.asarray(x).dtype)[()]
        if isinstance(x, np.generic)
        else np.asarray(t, x.dtype)
    )


def derivative(kind, call, *values):
    """What an operation on values of one level gives: the value, and tangent or cotangents."""
    with Level("test") as level:
        level.tape = [None] * len(values)
        if kind == "dual":
            args = [make_dual(level, v, tangent_of(v)) for v in values]
        else:
            args = [recorded(level, v, k) for k, v in enumerate(values)]
        with np.errstate(all="ignore"):
            out = call(*args)
        if not isinstance(out, TracedArray) or out.level is not level:
            return raw(out), None
        if kind == "dual":
            return out.primal, (out.tangent,)
        return out.primal, sweep(level.tape, len(values), [(out.tangent, tangent_of(raw(out)))])


def assert_same(a, b, eps=0.0):
    """Equal numbers, dtypes, shapes and kinds, NaN equal to itself."""
    if a is None or b is None:
        assert a is b
        return
    assert np.shape(a) == np.shape(b)
    assert np.asarray(a).dtype == np.asarray(b).dtype
    assert isinstance(a, np.ndarray) == isinstance(b, np.ndarray)
    if np.asarray(a).dtype.kind not in "fc":
        np.testing.assert_array_equal(a, b)
        return
    tolerance = 4 * max(np.finfo(np.asarray(a).dtype).eps, eps)
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def assert_paths_agree(kind, quick, general, *values):
    try:
        expected = derivative(kind, general, *values)
    except TypeError:  # NumPy has no loop for these dtypes
        return
    found = derivative(kind, quick, *values)
    assert_same(found[0], expected[0])
    if expected[1] is None or found[1] is None:
        assert found[1] is expected[1]
    else:
        # A float32 tangent may be multiplied by a float32 value before it meets a float64 one.
        eps = max(np.finfo(np.asarray(v).dtype).eps for v in values)
        for a, b in zip(found[1], expected[1], strict=True):
            assert_same(a, b, eps if len(values) == 2 else 0.0)


kinds = pytest.mark.parametrize("kind", ["dual", "recorded"])


def values_for(primitive):
    complex_too = isinstance(primitive.impl, np.ufunc) and "D" in "".join(primitive.impl.types)
    shift = 1 if primitive.name == "arccosh" else 0
    return {
        n: v + v.dtype.type(shift)
        for n, v in ({**VALUES, **COMPLEX} if complex_too else VALUES).items()
    }


@kinds
@pytest.mark.parametrize("primitive", UNARY, ids=lambda p: p.name)
def test_one_argument(primitive, kind):
    cls = {"dual": "Dual", "recorded": "Recorded"}[kind]
    for value in values_for(primitive).values():
        assert_paths_agree(kind, generated(primitive, cls)[0], primitive, value)


def binary_paths(primitive, kind):
    """(written, general) of u op v, with a constant on either side or none."""
    op, rop = generated(primitive, {"dual": "Dual", "recorded": "Recorded"}[kind])
    general = lambda u, v: primitive(as_operand(u), as_operand(v))
    return op, rop, general


@kinds
@pytest.mark.parametrize("primitive", BINARY, ids=lambda p: p.name)
def test_two_arguments_of_one_level(primitive, kind):
    op, _, general = binary_paths(primitive, kind)
    values = values_for(primitive)
    for a, b in itertools.product(values.values(), repeat=2):
        if broadcastable(a, b):
            assert_paths_agree(kind, op, general, a, b)


def broadcastable(*values):
    try:
        np.broadcast_shapes(*map(np.shape, values))
    except ValueError:
        return False
    return True


@kinds
@pytest.mark.parametrize("primitive", BINARY, ids=lambda p: p.name)
def test_a_constant_on_either_side(primitive, kind):
    op, rop, general = binary_paths(primitive, kind)
    values = values_for(primitive)
    constants = {
        **CONSTANTS,
        **({} if len(values) == len(VALUES) else {**COMPLEX, "complex": 1 - 2j}),
    }
    for value, c in itertools.product(values.values(), constants.values()):
        if broadcastable(value, c) and not (value.dtype.kind == "c" and np.any(np.equal(c, 0))):
            assert_paths_agree(kind, lambda u: op(u, c), lambda u: general(u, c), value)
            if primitive.name != "polynomial_power":  # its exponent is a Python number
                assert_paths_agree(kind, lambda u: rop(u, c), lambda u: general(c, u), value)


@kinds
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_and_ufuncs_are_one_operation(name, kind):
    """Also with NumPy operands on the left, whose own operators come first."""
    op, ufunc = OPERATORS[name], PRIMITIVES[name].impl
    for value, c in itertools.product({**VALUES, **COMPLEX}.values(), CONSTANTS.values()):
        if not broadcastable(value, c) or (name == "remainder" and value.dtype.kind == "c"):
            continue
        assert_paths_agree(kind, lambda u: op(u, c), lambda u: ufunc(u, c), value)
        if not isinstance(c, list):
            assert_paths_agree(kind, lambda u: op(c, u), lambda u: ufunc(c, u), value)


@pytest.mark.parametrize("name", OPERATORS)
def test_values_and_dtypes_are_those_of_numpy(name):
    """NumPy's own operator on the plain operands says what value and dtype are right."""
    op = OPERATORS[name]
    for value, c in itertools.product(VALUES.values(), CONSTANTS.values()):
        if not broadcastable(value, c) or isinstance(c, list):
            continue
        for f in (lambda u: op(u, c), lambda u: op(c, u)):
            if np.asarray(c).dtype == object:
                continue
            with np.errstate(all="ignore"):
                expected = f(value)
            found, _ = derivative("dual", f, value)
            assert_same(np.asarray(found), np.asarray(expected))


@kinds
@pytest.mark.parametrize("name", ["add", "multiply", "divide", "power"])
def test_operands_of_other_levels(name, kind):
    """The higher level handles the operation and the lower one sees a plain operation below."""
    op, primitive = OPERATORS[name], PRIMITIVES[name]
    for a, b, order in itertools.product(
        [np.float64(0.4), arr(3)], [np.float64(0.7), arr(3)], ["dual", "recorded"]
    ):
        with Level("outer") as outer:
            outer.tape = [None]
            inner_value = level_value(b, order, outer)
            for quick, general in (
                (lambda u: op(u, inner_value), lambda u: primitive(u, inner_value)),
                (lambda u: op(inner_value, u), lambda u: primitive(inner_value, u)),
            ):
                found, expected = (derivative_below(kind, f, a) for f in (quick, general))
                for x, y in zip(found, expected, strict=True):
                    assert type(x) is type(y)
                    assert_same(raw(x), raw(y))


def derivative_below(kind, call, value):
    out, slopes = derivative(kind, call, value)
    return [out, *slopes]


def test_object_arrays_of_traced_scalars_are_stacked():
    def f(x):
        return x * np.array([x[0], x[1]], object)

    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(dualad.jvp(f, (x,), (np.ones(2),))[1], 2 * x)
    np.testing.assert_array_equal(dualad.jacrev(f)(x), np.diag(2 * x))


class Stranger:
    """An object that answers an operator itself."""

    def __radd__(self, other):
        return "mine"

    __rmul__ = __rpow__ = __rsub__ = __radd__


@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.pow, operator.sub])
def test_an_operator_defers_to_what_it_does_not_know(op):
    with Level("test") as level:
        level.tape = [None]
        for u in (
            make_dual(level, np.float64(1), np.float64(1)),
            recorded(level, np.float64(1), 0),
        ):
            assert op(u, Stranger()) == "mine"
            with pytest.raises(TypeError):
                op(u, "text")
            with pytest.raises(TypeError):
                op(None, u)


def test_code_is_generated_on_first_use_and_then_replaces_itself():
    with Level("test") as level:
        level.tape = [None]
        u = make_dual(level, np.float64(1), np.float64(1))
        u + u
        assert type(Dual.__dict__["__add__"]).__name__ == "function"
        r = recorded(level, np.float64(1), 0)
        r + r
        assert type(Recorded.__dict__["__add__"]).__name__ == "function"


def test_a_constant_exponent_takes_the_polynomial_rule():
    """x**2 at a negative x with a Python exponent needs no logarithm, nor any warning."""
    for p in (1, 2, 2.0, 3):
        slope = float(p) * (-2.0) ** (p - 1)
        assert dualad.jvp(lambda x: x**p, (-2.0,), (1.0,))[1] == slope
        assert dualad.grad(lambda x: x**p)(-2.0) == slope
        assert dualad.grad(lambda x: np.power(x, p))(-2.0) == slope


def test_in_place_operators_on_scalars_make_new_values():
    def f(x):
        y = x
        y += 1.0
        y *= x
        y **= 2
        return y - x

    at = 1.5
    exact = 2 * (at**2 + at) * (2 * at + 1) - 1
    np.testing.assert_allclose(dualad.grad(f)(at), exact)
    np.testing.assert_allclose(dualad.jvp(f, (at,), (1.0,))[1], exact)


@pytest.mark.parametrize("n", [3, 400, 2000])
def test_a_product_of_two_duals_by_size(n):
    """From 500 entries on the second term of x dy + y dx is added to the first, in place."""
    x, y = np.linspace(1.0, 2.0, n), np.linspace(-1.0, 3.0, n)
    dx, dy = np.cos(x), np.sin(y)
    kept = [a.copy() for a in (x, y, dx, dy)]
    for shape in ((n,), (n, 1)):
        other = y.reshape(shape)
        moved = dy.reshape(shape)
        value, t = dualad.jvp(lambda x, y: x * y, (x, other), (dx, moved))
        np.testing.assert_array_equal(value, x * other)
        np.testing.assert_allclose(t, dx * other + x * moved, rtol=1e-15)
        if n > 500:
            break  # 2000 by 2000
    for single in (np.float32, np.complex128):
        value, t = dualad.jvp(lambda x, y: x * y, (x.astype(single), y), (dx.astype(single), dy))
        assert t.dtype == value.dtype == np.result_type(single, float)
        np.testing.assert_allclose(t, dx * y + x * dy, rtol=1e-6, atol=1e-6)
    for a, b in zip((x, y, dx, dy), kept, strict=True):
        np.testing.assert_array_equal(a, b)
    second = dualad.jvp(lambda x: dualad.jvp(lambda z: z * z * x, (x,), (dx,))[1], (x,), (dx,))[
        1
    ]  # of d(z^2 x) = 2 z x dz at z = x: d = 2 dx (2 x dx)
    np.testing.assert_allclose(second, 4 * x * dx * dx, rtol=1e-13)
