"""In-place operations, one by one: identity, version, dtype, history and tangent."""

import numpy as np
import pytest
from tensors import primal, same, t, tangent

import dualad
from dualad.autograd import gradgradcheck
from dualad.autograd.forward_ad import dual_level, make_dual

X = np.array([0.3, 0.6])
INDEX = dualad.tensor([1, 0])

#: name -> (arguments, the derivative of the result by the entry itself)
OPERATIONS = {
    "add_": ((2.0,), np.ones(2)),
    "sub_": ((2.0,), np.ones(2)),
    "mul_": ((3.0,), np.full(2, 3.0)),
    "div_": ((4.0,), np.full(2, 0.25)),
    "pow_": ((3.0,), 3 * X**2),
    "remainder_": ((0.5,), np.ones(2)),
    "floor_divide_": ((0.5,), np.zeros(2)),
    "neg_": ((), -np.ones(2)),
    "abs_": ((), np.ones(2)),
    "exp_": ((), np.exp(X)),
    "expm1_": ((), np.exp(X)),
    "exp2_": ((), np.log(2) * 2**X),
    "log_": ((), 1 / X),
    "log1p_": ((), 1 / (1 + X)),
    "log2_": ((), 1 / (X * np.log(2))),
    "log10_": ((), 1 / (X * np.log(10))),
    "sqrt_": ((), 0.5 / np.sqrt(X)),
    "rsqrt_": ((), -0.5 * X**-1.5),
    "square_": ((), 2 * X),
    "reciprocal_": ((), -1 / X**2),
    "sin_": ((), np.cos(X)),
    "cos_": ((), -np.sin(X)),
    "tan_": ((), 1 / np.cos(X) ** 2),
    "asin_": ((), 1 / np.sqrt(1 - X**2)),
    "acos_": ((), -1 / np.sqrt(1 - X**2)),
    "atan_": ((), 1 / (1 + X**2)),
    "sinh_": ((), np.cosh(X)),
    "cosh_": ((), np.sinh(X)),
    "tanh_": ((), 1 - np.tanh(X) ** 2),
    "asinh_": ((), 1 / np.sqrt(1 + X**2)),
    "atanh_": ((), 1 / (1 - X**2)),
    "sigmoid_": ((), np.exp(-X) / (1 + np.exp(-X)) ** 2),
    "relu_": ((), np.ones(2)),
    "frac_": ((), np.ones(2)),
    "floor_": ((), np.zeros(2)),
    "ceil_": ((), np.zeros(2)),
    "round_": ((), np.zeros(2)),
    "trunc_": ((), np.zeros(2)),
    "sign_": ((), np.zeros(2)),
    "clamp_": ((0.0, 0.5), np.array([1.0, 0.0])),
    "zero_": ((), np.zeros(2)),
    "fill_": ((5.0,), np.zeros(2)),
    "copy_": ((t([8.0, 9.0]),), np.zeros(2)),
    "lerp_": ((t([1.0, 1.0]), 0.25), np.full(2, 0.75)),
    "addcmul_": ((t([2.0, 3.0]), t([4.0, 5.0])), np.ones(2)),
    "addcdiv_": ((t([2.0, 3.0]), t([4.0, 5.0])), np.ones(2)),
    "maximum_": ((t([0.5, 0.5]),), np.array([0.0, 1.0])),
    "masked_fill_": ((dualad.tensor([True, False]), 7.0), np.array([0.0, 1.0])),
    "index_fill_": ((0, dualad.tensor([1]), 7.0), np.array([1.0, 0.0])),
    "index_copy_": ((0, dualad.tensor([1]), t([7.0])), np.array([1.0, 0.0])),
    "index_add_": ((0, INDEX, t([7.0, 8.0])), np.ones(2)),
    "index_put_": (((dualad.tensor([0]),), t(7.0)), np.array([0.0, 1.0])),
    "scatter_": ((0, dualad.tensor([1]), t([7.0])), np.array([1.0, 0.0])),
    "scatter_add_": ((0, INDEX, t([7.0, 8.0])), np.ones(2)),
}
EACH = pytest.mark.parametrize(
    ("name", "arguments", "slope"), [(k, *v) for k, v in OPERATIONS.items()], ids=OPERATIONS
)


@EACH
def test_graph(name, arguments, slope):
    """The same object, its history and what is read before the write."""
    x = t(X, True)
    y = x * 1
    before = y._version
    assert getattr(y, name)(*arguments) is y
    assert y._version > before and y.requires_grad and not y.is_leaf
    (y * t([1.0, 10.0])).sum().backward()
    same(x.grad, slope * [1.0, 10.0])


@EACH
def test_the_value_is_that_of_the_operation_out_of_place(name, arguments, slope):
    bare = name[:-1]
    if bare in ("zero", "fill", "copy"):
        return
    x = t(X)
    same(getattr(x.clone(), name)(*arguments), getattr(x, bare)(*arguments).numpy())
    same(x, X)


@EACH
def test_duals(name, arguments, slope):
    p = t(X)
    with dual_level():
        d = make_dual(p, t([1.0, 10.0]))
        assert getattr(d, name)(*arguments) is d
        same(tangent(d), slope * [1.0, 10.0])
        same(primal(d), p.numpy())


@EACH
def test_leaves_are_refused(name, arguments, slope):
    x = t(X, True)
    with pytest.raises(RuntimeError, match="leaf"):
        getattr(x, name)(*arguments)
    same(x, X)
    with dualad.no_grad():
        getattr(x, name)(*arguments)
    assert x.is_leaf and x.requires_grad


@pytest.mark.parametrize(
    ("operation", "slope"),
    [
        ("+=", 1.0), ("-=", 1.0), ("*=", 3.0), ("/=", 1 / 3.0), ("**=", 12.0), ("%=", 1.0),
        ("//=", 0.0),
    ],
)  # fmt: skip
def test_augmented_assignment(operation, slope):
    x = t(2.0, True)
    y = alias = x * 1
    scope = {"y": y}
    exec(f"y {operation} 3.0", scope)
    assert scope["y"] is alias
    alias.backward()
    same(x.grad, slope)


def test_augmented_assignment_of_integers():
    i = alias = dualad.tensor([6, 7])
    i |= 1
    i &= 5
    i ^= 2
    i <<= 2
    i >>= 1
    i += 1
    assert i is alias and i.tolist() == [((((k | 1) & 5) ^ 2) << 2 >> 1) + 1 for k in (6, 7)]


# --- item assignment ---------------------------------------------------------------------------

KEYS = {
    "row": (1,),
    "entry": (0, 2),
    "slice": (slice(None), slice(1, None)),
    "step": (slice(None), slice(None, None, 2)),
    "reverse": (slice(None), slice(None, None, -1)),
    "ellipsis": (Ellipsis, 0),
    "integers": (np.array([0, 1]), np.array([2, 0])),
    "mask": np.array([[True, False, True], [False, True, False]]),
    "row mask": np.array([True, False]),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS.keys())
def test_assignment_replaces_value_tangent_and_history(key):
    a, moves = np.arange(1.0, 7.0).reshape(2, 3), np.full((2, 3), 7.0)
    w = t(4.0, True)
    x = t(a, True)
    y = x * 2
    y[key] = w * 5
    want = 2 * a
    want[key] = 20.0
    same(y, want)
    y.sum().backward()
    slope = np.full((2, 3), 2.0)
    slope[key] = 0.0
    same(x.grad, slope)
    same(w.grad, 5.0 * (slope == 0).sum())
    with dual_level():
        d = make_dual(t(a), t(moves))
        d[key] = make_dual(t(1.0), t(3.0))
        moves[key] = 3.0
        same(tangent(d), moves)
        d[key] = 0.0
        moves[key] = 0.0
        same(tangent(d), moves)


def test_assignment_of_a_dual_makes_a_tensor_dual():
    with dual_level():
        x = t([1.0, 2.0])
        x[0] = make_dual(t(5.0), t(1.0))
        same(tangent(x), [1.0, 0.0])
        y = t([1.0, 2.0])
        y.copy_(x)
        same(tangent(y), [1.0, 0.0])


def test_what_cannot_be_assigned():
    x = t([1.0, 2.0, 3.0])
    with pytest.raises(IndexError):
        x[5] = 1.0
    with pytest.raises(RuntimeError):
        x[:2] = t([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError):
        x[0] = t([1.0, 2.0])
    i = dualad.tensor([1, 2])
    i[0] = 2.7
    assert i.tolist() == [2, 2]
    with pytest.raises(TypeError, match="drop its derivative"):
        i[0] = t(1.0, True)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[1:].copy_(x[:-1]),
        lambda x: x[:-1].copy_(x[1:]),
        lambda x: x.__setitem__(slice(1, None), x[:-1]),
        lambda x: x.__setitem__(dualad.tensor([0, 1]), x[1:3]),
        lambda x: x[1:].add_(x[:-1]),
        lambda x: x.mul_(x[0]),
        lambda x: x.copy_(x[2]),
        lambda x: x.reshape(2, 2).copy_(x.reshape(2, 2).t()),
        lambda x: x.reshape(2, 2).mul_(x.reshape(2, 2)[0]),
        lambda x: x[1:].addcmul_(t([1.0, 1.0, 1.0]), x[:-1]),
        lambda x: x[1:].lerp_(end=x[:-1], weight=0.5),
        lambda x: x.index_add_(0, dualad.tensor([0]), x[1:2]),
    ],
)
@pytest.mark.parametrize("recorded", [False, True])
def test_operands_in_other_parts_of_the_written_memory_are_refused(write, recorded):
    x = t([1.0, 2.0, 3.0, 4.0], recorded)
    y = x * 1
    with pytest.raises(RuntimeError, match="single memory location"):
        write(y)
    same(y, [1.0, 2.0, 3.0, 4.0])
    assert y._version == 0


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda x: x.copy_(x), [1.0, 2.0, 3.0, 4.0]),
        (lambda x: x.mul_(x[:]), [1.0, 4.0, 9.0, 16.0]),
        (lambda x: x[:2].copy_(x[2:]), [3.0, 4.0, 3.0, 4.0]),
        (lambda x: x[::2].copy_(x[1::2]), [2.0, 2.0, 4.0, 4.0]),
        (lambda x: x[::2].add_(x[:2]), [2.0, 2.0, 5.0, 4.0]),
        (lambda x: x.__setitem__(0, x[1]), [2.0, 2.0, 3.0, 4.0]),
        (lambda x: x.__setitem__(x > 2, x[1]), [1.0, 2.0, 2.0, 2.0]),
        (lambda x: x.masked_fill_(x > 2, x[1]), [1.0, 2.0, 2.0, 2.0]),
    ],
)
def test_operands_in_the_written_memory_that_are_read_first(write, expected):
    x = t([1.0, 2.0, 3.0, 4.0])
    write(x)
    same(x, expected)


def test_inside_of_a_transformation_values_have_no_memory_to_overlap():
    def f(x):
        y = x * 1
        y[1:] = y[:-1]
        return y.sum()

    same(dualad.func.grad(f)(t([1.0, 2.0, 3.0])), [2.0, 1.0, 0.0])


def test_a_recurrence():
    """y_k = w_k y_{k-1}: dy_n / dw_k = product of the others."""
    w = t([2.0, 3.0, 5.0], True)
    y = dualad.zeros(4, dtype=dualad.float64)
    y[0] = 1.0
    for k in range(3):
        y[k + 1] = y[k].clone() * w[k]
    y[3].backward()
    same(w.grad, [15.0, 10.0, 6.0])


# --- dtype and shape ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda: dualad.tensor([1, 2]).add_(1.5),
        lambda: dualad.tensor([1, 2]).add_(t([1.0, 2.0])),
        lambda: dualad.tensor([1, 2]).div_(2),
        lambda: dualad.tensor([True]).add_(1),
        lambda: t([1.0]).add_(1j),
        lambda: t([1.0]).copy_(t([1.0, 2.0])),
        lambda: t(1.0).add_(t([1.0, 2.0])),
        lambda: t([1.0, 2.0]).add_(t([[1.0, 2.0], [3.0, 4.0]])),
        lambda: t([1.0, 2.0]).fill_(t([1.0, 2.0])),
    ],
)
def test_a_result_that_does_not_fit(write):
    with pytest.raises(RuntimeError):
        write()


def test_the_dtype_stays():
    x = dualad.tensor([1.0, 2.0])
    x.add_(t([0.5, 0.5]))
    assert x.dtype == dualad.float32
    y = dualad.zeros(2, requires_grad=True) * 1
    y.copy_(t([1.0, 2.0], True))
    assert y.dtype == dualad.float32 and y.requires_grad


def test_scalars_without_dimensions():
    x = t(3.0)
    alias = x
    x += 1
    x[...] = x * 2
    x[()] = x + 1
    assert alias is x
    same(x, 9.0)
    x.view(1).add_(1)
    same(x, 10.0)


# --- NumPy's own ways to write -----------------------------------------------------------------

WRITES = {
    "out": lambda x: np.multiply(x, 3, out=x),
    "at": lambda x: np.add.at(x, np.array([0, 0]), 1.0),
    "copyto": lambda x: np.copyto(x, t([7.0, 8.0])),
    "put": lambda x: np.put(x, [0], 5.0),
    "putmask": lambda x: np.putmask(x, np.array([True, False]), 5.0),
    "place": lambda x: np.place(x, np.array([True, False]), 5.0),
    "sum to out": lambda x: np.sum(t([[1.0, 2.0]]), axis=0, out=x),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_numpy_functions_that_write(write):
    plain = t([1.0, 2.0])
    write(plain)
    x = t([1.0, 2.0], True)
    y = x * 1
    z = y * y
    write(y)
    same(y, plain.numpy())
    assert plain._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="leaf"):
        write(x)


def test_a_tensor_written_to_an_array():
    a = np.zeros(2)
    np.add(t([1.0, 2.0]), 1, out=a)
    same(a, [2.0, 3.0])
    with pytest.raises(TypeError, match="plain ndarray"):
        np.add(t([1.0, 2.0], True), 1, out=a)


def test_numpy_shares_memory_and_is_refused_with_a_derivative():
    x = t([1.0, 2.0])
    x.numpy()[0] = 5.0
    same(x, [5.0, 2.0])
    assert x._version == 0
    y = t([1.0, 2.0], True)
    for leave in (y.numpy, (y * 2).numpy, lambda: np.asarray(y)):
        with pytest.raises(RuntimeError, match="detach"):
            leave()
    with dualad.no_grad():
        assert y.numpy() is not None
    shared = np.zeros(2)
    dualad.from_numpy(shared).add_(1)
    dualad.as_tensor(shared).add_(1)
    dualad.tensor(shared).add_(1)
    same(shared, [2.0, 2.0])


# --- writes and what was recorded before -------------------------------------------------------

READS = {
    "multiply": (lambda a: a * a, True),
    "power": (lambda a: a**2, True),
    "sine": (lambda a: a.sin(), True),
    "matmul": (lambda a: a @ a, True),
    "scale": (lambda a: a * 3.0, False),
    "shift": (lambda a: a + 1, False),
    "sum": (lambda a: a.sum(), False),
    "mean": (lambda a: a.mean(), False),
    "clone": (lambda a: a.clone(), False),
    "reshape": (lambda a: a.reshape(2, 1).clone(), False),
}


@pytest.mark.parametrize(("f", "reads"), READS.values(), ids=READS.keys())
def test_a_changed_saved_value_is_an_error_and_nothing_else_is(f, reads):
    a = t([1.0, 2.0], True) * 1
    y = f(a)
    a.add_(1)
    if reads:
        with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*version 1"):
            y.sum().backward()
    else:
        y.sum().backward()


def test_a_constant_that_was_saved_counts_too():
    c = t([3.0, 4.0])
    y = t([1.0, 2.0], True) * c
    c.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.sum().backward()


def test_transformations_never_meet_a_version_error():
    """z = y^2 keeps its value though y is written to: the derivative is exact."""

    def f(x):
        y = x * x
        z = y * y
        y.add_(1)
        return z.sum() + y.sum()

    x = np.array([1.0, 2.0])
    same(dualad.func.grad(f)(t(x)), 4 * x**3 + 2 * x)


@pytest.mark.parametrize(
    ("operation", "slope"),
    [
        (lambda a, b: a / b, lambda a, b: -a / b**2),
        (lambda a, b: 3 / b, lambda a, b: -3 / b**2),
        (lambda a, b: a.fmod(b), lambda a, b: -np.trunc(a / b)),
        (lambda a, b: a % b, lambda a, b: -np.floor(a / b)),
    ],
)
def test_a_quotient_may_be_written_to(operation, slope):
    """Its rule reads the arguments, as in PyTorch, also at second order."""
    a, b = t([1.0, 7.0], True), t([3.0, 2.0], True)
    y = operation(a, b)
    y.mul_(2).add_(1)
    (g,) = dualad.autograd.grad(y.sum(), b, create_graph=True)
    same(g, 2 * slope(a.detach().numpy(), b.detach().numpy()))
    if g.requires_grad:
        gradgradcheck(lambda a, b: operation(a, b).mul_(2), (a, b))


def test_the_divisor_may_not():
    a, b = t([1.0, 7.0], True), t([3.0, 2.0], True) * 1
    y = a / b
    b.add_(1)
    with pytest.raises(RuntimeError, match="inplace"):
        y.sum().backward()
