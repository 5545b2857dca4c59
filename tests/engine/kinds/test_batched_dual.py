"""Many tangents at once are each what it is alone, and nested they stay apart."""

import operator

import numpy as np
import pytest
from agreement import same

import dualad
from dualad.engine.kinds.batched import Batched, batched
from dualad.engine.kinds.batched_dual import BatchedDual, general, packed
from dualad.engine.kinds.dual import Dual, make_dual
from dualad.engine.levels.buffer import Buffer
from dualad.engine.levels.level import Level
from dualad.engine.levels.traced import raw
from dualad.engine.primitives.elementwise import Elementwise
from dualad.engine.primitives.primitive import PRIMITIVES

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
MANY = 3
VALUES = {
    "scalar": np.float64(0.4),
    "vector": np.array([0.3, 0.5, 0.7]),
    "matrix": np.linspace(0.2, 0.9, 6).reshape(2, 3),
    "column": np.array([[0.25], [0.65]]),
    "strided": np.linspace(0.2, 0.9, 6)[::2],
    "empty": np.zeros(0),
}
CONSTANTS = {**VALUES, "Python float": 0.7, "Python int": 2, "float32": np.float32(0.7)}


def tangents(x, shift=0.0):
    """Many tangents of x, the last of them zero."""
    t = np.cos(np.arange(MANY * np.size(x)) + 1.0 + shift).reshape((MANY, *np.shape(x)))
    t[-1] = 0.0
    return t


def at_once(call, values):
    """Value and tangents of an operation on values that move along many tangents."""
    with Level("test") as lanes, Level("test") as level, np.errstate(all="ignore"):
        args = [
            packed(make_dual(level, x, batched(lanes, tangents(x, k), MANY)))
            for k, x in enumerate(values)
        ]
        assert all(type(a) is BatchedDual for a in args)
        out = general(call(*args))
        return (out.primal, out.tangent.primal) if type(out) is Dual else (raw(out), None)


def one_by_one(call, values):
    found = []
    for i in range(MANY):
        with Level("test") as level, np.errstate(all="ignore"):
            out = call(*(make_dual(level, x, tangents(x, k)[i][()]) for k, x in enumerate(values)))
            found.append((out.primal, out.tangent) if type(out) is Dual else (raw(out), None))
    value = found[0][0]
    return value, None if found[0][1] is None else np.stack([t for _, t in found])


def each_is_what_it_is_alone(call, *values):
    value, moves = at_once(call, values)
    expected, alone = one_by_one(call, values)
    equal(value, expected)
    equal(moves, alone)


def equal(a, b):
    """Equal numbers, dtypes and shapes up to a rounding error or two, NaN equal to itself."""
    if a is None or b is None:
        assert a is b
        return
    assert np.shape(a) == np.shape(b) and a.dtype == b.dtype
    eps = 4 * np.finfo(a.dtype).eps if a.dtype.kind in "fc" else 0.0
    np.testing.assert_allclose(a, b, rtol=eps, atol=eps)


def values_for(primitive):
    shift = 1.0 if primitive.name == "arccosh" else 0.0
    return {name: x + shift for name, x in VALUES.items()}


@pytest.mark.parametrize("primitive", UNARY, ids=lambda p: p.name)
def test_one_argument(primitive):
    for x in values_for(primitive).values():
        each_is_what_it_is_alone(primitive, x)
        if isinstance(primitive.impl, np.ufunc):
            each_is_what_it_is_alone(primitive.impl, x)


@pytest.mark.parametrize("primitive", BINARY, ids=lambda p: p.name)
def test_two_arguments(primitive):
    call = OPERATORS.get(primitive.name, primitive)
    for x in VALUES.values():
        for y in VALUES.values():
            try:
                np.broadcast_shapes(np.shape(x), np.shape(y))
            except ValueError:
                continue
            each_is_what_it_is_alone(call, x, y)
    each_is_what_it_is_alone(lambda v: call(v, v), VALUES["vector"])


@pytest.mark.parametrize("primitive", BINARY, ids=lambda p: p.name)
def test_beside_a_constant(primitive):
    call = OPERATORS.get(primitive.name, primitive)
    for x in VALUES.values():
        for c in CONSTANTS.values():
            try:
                np.broadcast_shapes(np.shape(x), np.shape(c))
            except ValueError:
                continue
            each_is_what_it_is_alone(lambda v, c=c: call(v, c), x)
            each_is_what_it_is_alone(lambda v, c=c: call(c, v), x)


@pytest.mark.parametrize(
    "call",
    [
        np.sum,
        lambda x: np.sum(x, axis=0),
        lambda x: x[1],
        lambda x: x[-1:],
        lambda x: x[..., None],
        lambda x: x[np.array([1, 0, 1])],
        lambda x: x.T @ x,
        lambda x: np.ones((2, 2)) @ x,
        lambda x: x.reshape(-1),
        lambda x: np.concatenate([x, np.ones((1, 3)), x]),
        lambda x: np.stack([x[0, 0], 2.0, x[1, 2] * x[0, 1]]),
        lambda x: np.concatenate([x[0], np.ones(2), x[1]]),
        lambda x: np.stack([x[0], x[1] * x[0]], axis=1),
        lambda x: np.where(x > 0.5, x, 0.0),
        lambda x: np.sort(x, axis=1),
        lambda x: np.prod(x),
        lambda x: np.linalg.solve(x[:, :2] @ x[:, :2].T, x[:, 2]),
        lambda x: x.astype(np.float32) * 2,
        lambda x: x * (1.0 + 2.0j),
        lambda x: x * np.longdouble(2.0),
        lambda x: x * [1.0, 2.0, 3.0],
    ],
)
def test_linear_and_other_operations(call):
    each_is_what_it_is_alone(call, VALUES["matrix"])


def test_it_is_what_jacfwd_and_a_mapped_jvp_run_on():
    seen = []

    def f(x):
        seen.append(type(x))
        return x * x[0]

    x = np.array([2.0, 3.0])
    same(dualad.jacfwd(f)(x), np.array([[4.0, 0.0], [3.0, 2.0]]))
    push = dualad.vmap(lambda t: dualad.jvp(f, (x,), (t,))[1])
    same(push(np.eye(2)), np.array([[4.0, 3.0], [0.0, 2.0]]))
    assert seen == [BatchedDual, BatchedDual]


def test_writes_and_views():
    def f(x):
        out = np.zeros_like(x)
        out[0], out[1:] = x[1] * x[2], x[:2] ** 2
        part = out[1:]
        out[2] = 5.0 * part[0]
        part[0] = x[0]
        x[0] = 7.0
        return out * x

    # out = (bc, a, 5 a^2), times (7, b, c)
    a, b, c = x = np.array([2.0, 3.0, 5.0])
    jacobian = np.array([[0, 7 * c, 7 * b], [b, a, 0], [10 * a * c, 0, 5 * a * a]])
    same(dualad.jacfwd(f)(x.copy()), jacobian)


def test_an_infinite_slope_and_a_tangent_of_zero():
    """d sqrt(x_i)/dx_j is infinite at 0 for i = j and zero otherwise, as one by one."""
    same(dualad.jacfwd(np.sqrt)(np.zeros(2)), np.diag([np.inf, np.inf]))
    same(dualad.jacfwd(lambda x: np.sqrt(x[0]) + x[1])(np.zeros(2)), np.array([np.inf, 1.0]))
    # The slope of x_1 / x_0 at (0, 1) is -1/0 in the first and 1/0 in the second argument.
    with np.errstate(divide="ignore"):
        jacobian = dualad.jacfwd(lambda x: x[1] / x[0])(np.array([0.0, 1.0]))
    same(jacobian, np.array([-np.inf, np.inf]))


def test_its_value_gives_the_warnings_of_numpy_and_its_tangents_none():
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        dualad.jacfwd(np.log)(np.zeros(2))
    dualad.jacfwd(np.sqrt)(np.zeros(2))  # warnings are errors in these tests


def cube(x):
    return x[0] ** 3 * np.stack([x[1], x[0]])


def test_nested_in_itself_and_in_other_transformations():
    a, b = x = np.array([2.0, 3.0])
    # f = (a^3 b, a^4)
    second = np.array([[[6 * a * b, 3 * a * a], [3 * a * a, 0]], [[12 * a * a, 0], [0, 0]]])
    same(dualad.jacfwd(dualad.jacfwd(cube))(x), second)
    same(dualad.jacfwd(dualad.jacrev(cube))(x), second)
    same(dualad.jacrev(dualad.jacfwd(cube))(x), second)
    same(dualad.vmap(dualad.jacfwd(dualad.jacfwd(cube)))(np.stack([x, x])), np.stack([second] * 2))
    same(dualad.jvp(dualad.jacfwd(cube), (x,), (np.array([0.0, 1.0]),))[1], second[..., 1])
    same(dualad.grad(lambda x: np.sum(dualad.jacfwd(cube)(x)))(x), second.sum((0, 1)))
    third = dualad.jacfwd(dualad.jacfwd(dualad.jacfwd(lambda x: x[0] ** 3 * x[1])))(x)
    assert third[0, 0, 0] == 6 * b and third[0, 0, 1] == third[1, 0, 0] == 6 * a


def test_mapped_values_inside_the_function_belong_to_their_own_entry():
    """d/dx (a x_0, x_1 + a) along v, one a for each v."""
    x, a, v = np.array([2.0, 3.0]), np.array([5.0, 7.0, 11.0]), np.arange(6.0).reshape(3, 2)
    f = lambda a, v: dualad.jvp(lambda x: np.stack([a * x[0], x[1] + a]), (x,), (v,))
    values, moves = dualad.vmap(f)(a, v)
    same(values, np.stack([a * 2.0, 3.0 + a], axis=1))
    same(moves, np.stack([a * v[:, 0], v[:, 1]], axis=1))


def test_a_level_between_the_map_and_the_tangents():
    """d/dz of the derivative of z sin(x) along v, and of x z^2 with z of a second map."""
    v, x = np.array([1.0, -2.0]), 0.3
    f = lambda v: dualad.grad(lambda z: dualad.jvp(lambda x: z * np.sin(x), (x,), (v,))[1])(4.0)
    same(dualad.vmap(f)(v), v * np.cos(x))
    z = np.array([3.0, 5.0, 7.0])
    inner = lambda v, z: dualad.jvp(lambda x: x * z**2, (x,), (v,))[1]
    g = dualad.vmap(lambda v: dualad.vmap(lambda z: inner(v, z))(z))
    same(g(v), v[:, None] * z**2)


def test_perturbations_are_not_confused():
    """d/dx (x . dy (x + y) / dy) = (1, 1): the inner Jacobian does not see x move."""
    f = lambda x: x @ dualad.jacfwd(lambda y: x + y)(np.array([1.0, 2.0]))
    same(dualad.jacfwd(f)(np.array([3.0, 4.0])), np.eye(2))


def test_an_escaped_value_is_found_out():
    escaped = []
    dualad.jacfwd(lambda x: escaped.append(x) or x)(np.ones(2))
    for use in (lambda x: x * 2.0, lambda x: x[0], np.sum, np.sqrt, lambda x: np.stack([x[0]])):
        with pytest.raises(dualad.errors.LeakError, match="finished jacfwd"):
            use(escaped[0])
    with pytest.raises(dualad.errors.LeakError):
        dualad.jacfwd(lambda y: y * escaped[0])(np.ones(2))


def test_what_is_not_plain_is_the_general_dual():
    with Level("test") as lanes, Level("test") as level:
        pairs = [
            (np.float32(1.0), np.zeros(2, np.float32)),
            (np.ones(2), np.zeros((2, 2), np.float32)),
            (np.complex128(1.0), np.zeros(2, complex)),
        ]
        for x, t in pairs:
            assert type(packed(make_dual(level, x, batched(lanes, t, 2)))) is Dual
        other = make_dual(level, np.float64(1.0), np.float64(2.0))
        assert packed(other) is other
        d = packed(make_dual(level, np.float64(1.0), batched(lanes, np.ones(2), 2)))
        assert type(d) is BatchedDual and level.lanes is lanes
        assert type(d * other) is BatchedDual and type(d * 1j) is Dual
        assert type(general(d).tangent) is Batched and general(other) is other
        with Level("test") as stranger:
            elsewhere = make_dual(level, np.float64(1.0), batched(stranger, np.ones(2), 2))
            assert packed(elsewhere) is elsewhere


def test_comparisons_and_branches_go_by_the_value():
    def f(x):
        assert (x[0] > 1.0) == np.True_ and not x[0] == x[1] and x[1] >= x[0]
        return x * 2.0 if np.sum(x) > 4.0 else x

    same(dualad.jacfwd(f)(np.array([2.0, 3.0])), 2 * np.eye(2))


def test_a_buffer_beside_it_is_a_constant():
    def f(x):
        still = np.zeros_like(x)
        assert type(still) is Buffer
        return operator.add(still, x) + np.concatenate([still[:1], x[1:]])

    same(dualad.jacfwd(f)(np.array([2.0, 3.0])), np.diag([1.0, 2.0]))


class Scaled(dualad.autograd.Function):
    """c x for a constant c, with a backward rule of its own."""

    @staticmethod
    def forward(ctx, c, x):
        ctx.c = c
        return c * x

    @staticmethod
    def backward(ctx, ct):
        return None, ctx.c * ct


def test_custom_functions_and_compiled_ones():
    """d(c x)/dx = c and d^2 (c . x)^2 = 2 c c', wherever the tangents are."""
    c, x = np.array([3.0, 5.0]), np.array([2.0, 7.0])
    scaled = dualad.custom_jvp(lambda x: c * x)
    scaled.defjvp(lambda primals, tangents: (c * primals[0], c * tangents[0]))
    for f in (scaled, dualad.compile(lambda x: c * x), lambda x: Scaled.apply(c, x)):
        same(dualad.jacfwd(f)(x), np.diag(c))
        square = lambda x, f=f: np.sum(f(x)) ** 2
        same(dualad.hessian(square)(x), 2 * np.outer(c, c))
        same(dualad.jacfwd(dualad.jacfwd(square))(x), 2 * np.outer(c, c))
        same(dualad.vmap(lambda t, f=f: dualad.jvp(f, (x,), (t,))[1])(np.eye(2)), np.diag(c))
    product = dualad.compile(lambda x, y: x * y)
    both = dualad.jacfwd(lambda x: product(x, 2.0 * x) + product(x, x.astype(np.float32)))(x)
    same(both, np.diag(6.0 * x))


def test_products_of_a_number_and_arrays_in_every_layout():
    x = np.linspace(0.5, 1.5, 5)
    for f in (
        lambda x: x[0] * x,
        lambda x: x * x[0],
        lambda x: x[0] * x.reshape(5, 1),
        lambda x: x[1:] * x.reshape(5, 1),
        lambda x: (x[0] * x)[1:] * x[2] - x[:-1],
    ):
        expected = np.stack([dualad.jvp(f, (x,), (e,))[1] for e in np.eye(5)], axis=-1)
        np.testing.assert_array_equal(dualad.jacfwd(f)(x), expected)


def test_the_tangents_of_an_entry_lie_together_so_that_slices_do():
    x = np.linspace(0.5, 1.5, 5)
    jac = dualad.jacfwd(lambda x: np.concatenate([x[2:] * x[0], x[:-2] + x[0]]) * 2.0)(x)
    assert jac.flags.c_contiguous
    assert jac[0, 0] == 2.0 * x[2] and jac[3, 0] == 4.0


def test_a_sum_of_products_changes_no_tangent_that_somebody_holds():
    x = np.linspace(0.5, 1.5, 4)
    held = []

    def f(x):
        u, v = x[:2], x[2:]
        held.append((u.tangent.copy(), v.tangent.copy()))
        out = u * v + u * v
        assert (u.tangent == held[0][0]).all() and (v.tangent == held[0][1]).all()
        return out

    np.testing.assert_array_equal(
        dualad.jacfwd(f)(x), [[2 * x[2], 0, 2 * x[0], 0], [0, 2 * x[3], 0, 2 * x[1]]]
    )
