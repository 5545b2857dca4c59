"""A compiled function gives what the function gives in dtype, type and memory order as well."""

import warnings

import numpy as np
import pytest

import dualad

DTYPES = [
    np.bool_, np.int8, np.int16, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64,
    np.longdouble, np.complex64, np.complex128,
]  # fmt: skip
BACKENDS = ["numpy", "auto"]

UNARY = {
    "conjugate": np.conjugate, "square": np.square, "angle": np.angle, "modf": np.modf,
    "x**2": lambda x: x**2, "(x > 0)**2": lambda x: (x > 0) ** 2, "x + x": lambda x: x + x,
    "x + longdouble": lambda x: x + np.longdouble(2), "x * float32": lambda x: x * np.float32(2),
    "x * 1": lambda x: x * 1, "x - 0.0": lambda x: x - 0.0, "-(-x)": lambda x: -(-x),
    "nanmax": np.nanmax, "sum as int8": lambda x: np.sum(x, dtype=np.int8),
    "mean": np.mean, "std": np.std, "cumsum": np.cumsum, "inner": lambda x: np.inner(x, x),
    "clip": lambda x: np.clip(x, 0, 1), "clip above": lambda x: np.clip(x, None, 1),
    "clip by float32": lambda x: np.clip(x, np.float32(0), np.float32(1)),
    "where": lambda x: np.where(x > 0, x, 0), "where of floats": lambda x: np.where(x > 0, x, 0.5),
    "piecewise": lambda x: np.piecewise(x, [x > 0], [1, 0]),
    "select": lambda x: np.select([x > 0], [x], 0), "zeros_like": np.zeros_like,
    "ones_like * x": lambda x: np.ones_like(x) * x, "item": lambda x: x.ravel()[0].item(),
    "tolist": lambda x: x.tolist(), "allclose": lambda x: np.allclose(x, x),
    "concatenate": lambda x: np.concatenate([x, np.ones_like(x, dtype=float)]),
    "linspace": lambda x: np.linspace(0, x.ravel()[0], 3), "copy": lambda x: x.copy(),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, *x.shape)), "sort": np.sort,
    "astype": lambda x: x.astype(np.float32), "same dtype": lambda x: x.astype(x.dtype),
    "written": lambda x: _written(x), "exp": np.exp, "x / 2": lambda x: x / 2,
    "both": lambda x: {"a": x, "b": [x + 1, 3, 2.5, np.float32(2)]},
}  # fmt: skip
BINARY = {
    "add": np.add, "a * b": lambda a, b: a * b, "a - 2 * b": lambda a, b: a - 2 * b,
    "a < b": lambda a, b: a < b, "maximum": np.maximum, "hypot": np.hypot, "power": np.power,
    "float_power": np.float_power, "where": lambda a, b: np.where(a > b, a, b),
    "clip": lambda a, b: np.clip(a, 0, b), "dot": np.dot, "remainder": np.remainder,
    "a + b / 2": lambda a, b: a + b / 2, "sum": lambda a, b: np.sum(a * b),
}  # fmt: skip


def _written(x):
    y = x.copy()
    y[0] = 1
    return y


def array(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind in "biu":
        return rng.integers(kind != "b", 4, shape).astype(dtype)
    return rng.uniform(0.2, 0.9, shape).astype(dtype)


def outcome(f, *args):
    """What a call gives, or the type of the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args)
        except Exception as error:
            return type(error)


def alike(got, want):
    assert type(got) is type(want)
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            alike(g, w)
    elif isinstance(want, dict):
        alike(list(got.items()), list(want.items()))
    elif not isinstance(want, (type, str)):
        g, w = np.asarray(got), np.asarray(want)
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        for flag in ("c_contiguous", "f_contiguous", "writeable"):
            assert getattr(g.flags, flag) == getattr(w.flags, flag), flag
        rtol = 1e-2 if w.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(g, w, rtol=rtol)


def agree(f, backend, *args):
    """Trace, first run of the program and another one against the function."""
    want = outcome(f, *args)
    compiled = dualad.compile(f, backend=backend)
    for _ in range(3):
        alike(outcome(compiled, *args), want)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", UNARY)
def test_one_argument(name, backend):
    for dtype in DTYPES if backend == "numpy" else (np.bool_, np.float32):
        fortran = np.asfortranarray(array(dtype, (2, 3)))
        for x in (array(dtype, 3), fortran):
            if name == "sum as int8" and x.dtype.kind == "c":
                continue  # the parts left out are warned of
            agree(UNARY[name], backend, x)
    if name not in ("zeros_like", "written", "both"):  # into a scalar nobody can write
        agree(UNARY[name], backend, array(np.float32, ()))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name, backend):
    known = DTYPES[::2] if backend == "numpy" else (np.bool_, np.float32)
    for a in known:
        for b in known:
            agree(BINARY[name], backend, array(a, 3), array(b, 3, 1))
            agree(BINARY[name], backend, array(a, 3), array(b, (), 1)[()])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", BINARY)
def test_python_numbers_take_the_dtype_of_arrays(name, backend):
    known = (np.bool_, np.int8, np.float16, np.float32, np.complex64)
    for dtype in known if backend == "numpy" else (np.float32,):
        for number in (0.5, 2):
            agree(BINARY[name], backend, array(dtype, 3), number)
            agree(BINARY[name], backend, number, array(dtype, 3))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x, lambda x: -x * x + 1, lambda x: (x / 3) ** 2 // 1, lambda x: x > 0.25,
        np.sin, lambda x: np.multiply(x, 2.0), lambda x: x * np.float32(2), lambda x: abs(x),
        lambda x: (x > 0) + (x < 1), lambda x: [x, {"a": x * 2.0}, np.exp(x)],
        lambda x: (x * 2) * np.ones(2, np.float32), lambda x: np.sin(x) * np.ones(2, np.float32),
        lambda x: x < np.float32(0.1) * np.ones(2, np.float32), lambda x: np.where(x > 0, x, 1),
        lambda x: dualad.grad(np.square)(x), lambda x: dualad.jvp(np.square, (x,), (x,)),
    ],
)  # fmt: skip
def test_a_python_float_stays_one(f, backend):
    for x in (0.1, 0.5):
        agree(f, backend, x)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_derivatives_have_the_dtype_of_their_arguments(dtype, backend):
    x, rate = array(dtype, 4), 0.1

    def loss(x, rate):
        return np.sum(np.tanh(x) ** 2 * rate + x / 3)

    agree(dualad.grad(loss), backend, x, rate)
    agree(dualad.grad(loss, (0, 1)), backend, x, rate)
    agree(lambda x, t: dualad.jvp(loss, (x, x[0]), (t, t[1])), backend, x, x)
    agree(dualad.grad(lambda x: loss(x, 1.0)), backend, x[0])
    gradient = dualad.compile(dualad.grad(loss), backend=backend)
    slope = rate * 2 * np.tanh(x) / np.cosh(x) ** 2 + 1 / 3
    for _ in range(2):
        assert gradient(x, rate).dtype == dtype
        np.testing.assert_allclose(gradient(x, rate), slope, rtol=4e-3)


def test_an_integer_of_python_beside_few_bits_runs_as_it_is():
    x = np.array([1, 2], np.int8)
    with pytest.warns(dualad.errors.CompileWarning, match="few bits"):
        agree_plain = dualad.compile(lambda x: x * x[0].item())(x)
    assert agree_plain.dtype == np.int8


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: x + y, lambda x, y: y - x, lambda x, y: x * y / 3, lambda x, y: x**y,
        lambda x, y: x**2, lambda x, y: 2.0**x, lambda x, y: x == y, lambda x, y: x != 1,
        lambda x, y: np.add(x, y), lambda x, y: abs(x), lambda x, y: (x + y) * np.float32(2),
    ],
)  # fmt: skip
def test_a_complex_number_of_python_stays_one(f, backend):
    for x in (1 + 2j, 0.5 - 1j):
        for y in (0.5, 2 - 1j, np.float64(2.5), np.float32(1.5), np.complex128(1j), np.array(0.5)):
            agree(f, backend, x, y)


def test_complex_numbers_of_python_have_no_order():
    compiled = dualad.compile(lambda x: x < 2.0, backend="numpy")
    for _ in range(3):
        with pytest.raises(TypeError, match="not supported between instances of 'complex'"):
            compiled(1 + 2j)


@pytest.mark.parametrize("backend", BACKENDS)
def test_quotient_and_remainder_of_python_floats(backend):
    for x, y in ((7.5, 2.0), (-7.5, 2.0), (np.float64(7.5), 2.0), (7.5, np.array([2.0, 4.0]))):
        agree(divmod, backend, x, y)
        agree(lambda x, y: divmod(y, x), backend, x, y)
    agree(lambda x: divmod(x, 2), backend, 7.5)
    agree(lambda x: divmod(2, x), backend, 7.5)


def test_the_text_of_a_python_number():
    compiled = dualad.compile(lambda x: f"{x!r} {x} {x:.1f} {x * 2!r}", backend="numpy")
    for x in (1.5, 2.5, 1.5):
        assert compiled(x) == f"{x!r} {x} {x:.1f} {x * 2!r}"
