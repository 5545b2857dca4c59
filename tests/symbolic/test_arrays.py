"""A function run on symbols, with numbers put in afterwards, is that function on numbers."""

import numpy as np
import pytest
import sympy
from scipy import special

from dualad.symbolic import NotSymbolicError, SymbolicBranchError, to_sympy

V, W = np.array([0.3, 1.7, 0.8]), np.array([2.5, 0.4, 1.1])
M = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.2]])


def fill(x):
    out = np.zeros_like(x)
    out[0] = x[1] * x[2]
    out[1:] += x[:2]
    out[-1] *= 2
    return out


def recurrence(x):
    out = np.empty_like(x)
    state = 0.5
    for k in range(len(x)):
        state = state * x[k] + 1
        out[k] = state
    return out


def cases():
    yield from (
        (f, (V,))
        for f in (
            np.sum, np.prod, np.mean, np.var, np.std, np.max, np.min, np.ptp, np.cumsum,
            np.cumprod, np.diff, np.flip, np.ravel, np.sign, np.floor, np.ceil, np.rint, np.trunc,
            np.sinc, np.i0, np.cbrt, np.exp2, np.expm1, np.log2, np.log10, np.log1p, np.arctan,
            np.linalg.norm, special.erf, special.gamma, special.gammaln, special.psi,
            special.expit, special.j0, special.k1, special.ndtr, special.log_ndtr,
            special.entr, special.expi,
            lambda x: x[1:] * x[:-1], lambda x: x[[2, 0]], lambda x: x[::-1].sum(),
            lambda x: np.where(x > 1, x**2, np.sqrt(x)),
            lambda x: np.select([x > 1, x > 0.5], [x, -x], 3.0),
            lambda x: np.piecewise(x, [x > 1, x < 0.5], [np.exp, np.sin, 0.25]),
            lambda x: np.piecewise(x, [x > 1, x <= 1], [np.exp, np.sin]),
            lambda x: np.clip(x, 0.5, 1), lambda x: x.clip(max=1), lambda x: abs(x - 1),
            lambda x: np.heaviside(x - 1, 0.5), lambda x: x % 0.7, lambda x: -x // 0.7,
            lambda x: np.fmod(-x, 0.7), lambda x: np.var(x, ddof=1), lambda x: x.max() - x.min(),
            lambda x: np.stack([x, 2 * x], axis=1), lambda x: np.concatenate([x, [1.0]]),
            lambda x: np.array([x[0] * x[1], x[2]]), lambda x: [x[0], np.sin(x[1])],
            lambda x: np.sin(np.array([x[0], x[1]])), lambda x: np.outer(x, x), lambda x: x @ x,
            lambda x: np.multiply.outer(x, x), lambda x: np.add.reduce(x),
            lambda x: np.logaddexp.reduce(x), lambda x: np.maximum.accumulate(x),
            lambda x: np.einsum("i,j->ij", x, x), lambda x: x.reshape(3, 1).T,
            lambda x: np.average(x, weights=[1.0, 2.0, 3.0]), lambda x: np.linalg.norm(x, 3),
            lambda x: np.linalg.norm(x, np.inf), lambda x: x[..., None] + x, fill, recurrence,
            lambda x: np.full_like(x, 2.5) * x, lambda x: x.astype(float).copy(),
            lambda x: np.where((x > 0.5) & ~(x > 1), 1.0, 0.0), lambda x: (x > 1) * x + (x < 1),
            lambda x: np.abs(x + 2j * x), lambda x: np.real((x + 1j) ** 2),
        )
    )  # fmt: skip
    yield from (
        (f, (V, W))
        for f in (
            np.hypot, np.arctan2, np.maximum, np.minimum, np.fmax, np.logaddexp, np.logaddexp2,
            np.copysign, np.power, np.remainder, np.dot, np.inner, np.outer, np.kron, np.cross,
            special.xlogy, special.beta, special.rel_entr, special.kl_div, special.jv,
            special.gammainc, special.huber, special.pseudo_huber, special.betaln,
            lambda x, y: np.convolve(x, y), lambda x, y: np.trapezoid(y, x),
            lambda x, y: x[:, None] / y, lambda x, y: np.vander(x, 3) @ y,
            lambda x, y: np.add(x, y, out=np.zeros_like(x)),
        )
    )  # fmt: skip
    yield from (
        (f, (M,))
        for f in (
            np.linalg.det, np.linalg.inv, np.trace, np.diag, np.tril, np.linalg.norm,
            np.linalg.cholesky, lambda a: np.linalg.matrix_power(a, 3), lambda a: a.T @ a,
            lambda a: np.linalg.slogdet(a)[1], lambda a: a.sum(axis=0), lambda a: a.mean(axis=1),
            lambda a: a.max(axis=(0, 1), keepdims=True), lambda a: a.sum(dim=0) if hasattr(
                a, "entries") else a.sum(axis=0), lambda a: np.stack([a, a @ a]),
        )
    )  # fmt: skip
    yield np.linalg.solve, (M, V)
    yield lambda a, b: b @ np.linalg.solve(a, b), (M, V)


def symbols_for(args):
    return [
        np.vectorize(lambda k, n=n: sympy.Symbol(f"s{n}_{k}", real=True))(
            np.arange(a.size).reshape(a.shape)
        )
        for n, a in enumerate(args)
    ]


@pytest.mark.parametrize("f, args", list(cases()))
def test_numbers_put_into_the_expression_give_what_numpy_gives(f, args):
    symbols = symbols_for(args)
    expr = to_sympy(f, *symbols)
    numbers = {
        s: sympy.Float(float(v), 30)
        for symbol, value in zip(symbols, args, strict=True)
        for s, v in zip(symbol.ravel(), value.ravel(), strict=True)
    }
    value = lambda e: complex(sympy.sympify(e).subs(numbers).evalf(20))
    cells = lambda e: np.reshape([value(c) for c in np.ravel(e)], np.shape(e))
    found = [value(e) for e in expr] if isinstance(expr, list) else cells(np.array(expr))
    wanted = np.asarray(f(*args))
    np.testing.assert_allclose(np.reshape(found, wanted.shape), wanted, rtol=1e-12, atol=1e-13)


def test_exact_numbers_are_what_the_floats_stand_for():
    x = sympy.Symbol("x", real=True)
    expr = to_sympy(lambda x: 0.1 * x + np.pi / 4 + np.log(10) - 1 / 3, x)
    assert expr == x / 10 + sympy.pi / 4 + sympy.log(10) - sympy.Rational(1, 3)


def test_a_number_that_nobody_means_is_the_binary_fraction_that_it_is():
    v = 0.7123456789012345
    assert to_sympy(lambda x: x * v, sympy.Symbol("x")).args[0] == sympy.Rational(v)


def test_arrays_of_any_rank_come_back_as_sympy_arrays():
    a = symbols_for([M])[0]
    assert to_sympy(lambda a: a, a).shape == (3, 3)
    assert to_sympy(lambda a: a[0], a).shape == (3, 1)
    assert to_sympy(lambda a: np.stack([a, a]), a).shape == (2, 3, 3)
    assert isinstance(to_sympy(lambda a: {"t": np.trace(a)}, a)["t"], sympy.Add)


def test_a_function_does_not_change_the_symbols_that_it_is_given():
    a = symbols_for([V])[0]

    def f(x):
        x[0] = 0.0
        return x

    assert list(to_sympy(f, a)) == [0, *a[1:]]
    assert a[0] == sympy.Symbol("s0_0", real=True)


def branch(x):
    return x if x > 0 else -x


REFUSED = [
    (branch, SymbolicBranchError, "np.where"),
    (lambda x: float(x), SymbolicBranchError, "the number of the symbolic value x"),
    (lambda x: np.argsort(np.stack([x, 2 * x])), NotSymbolicError, "numpy.argsort.*verify.check"),
    (lambda x: special.struve(0.5, x), NotSymbolicError, "struve.*verify.check"),
    (lambda x: np.linalg.svd(np.stack([x, x])[None]), NotSymbolicError, "svd"),
    (lambda x: np.where(x > 0), NotSymbolicError, "one argument"),
    (lambda x: np.add(x, 1, out=np.zeros(())), NotSymbolicError, "np.zeros_like"),
]


@pytest.mark.parametrize("f, error, says", REFUSED)
def test_what_symbols_cannot_do_is_an_error_that_names_it(f, error, says):
    with pytest.raises(error, match=says):
        to_sympy(f, sympy.Symbol("x", real=True))


def test_a_branch_that_the_assumptions_decide_is_taken():
    assert to_sympy(branch, sympy.Symbol("x", positive=True)) == sympy.Symbol("x", positive=True)
