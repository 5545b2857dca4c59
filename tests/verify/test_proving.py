"""Verdicts of `prove` on right and wrong formulas: each pair differs by one mistake."""

import inspect
import json
import math
import threading
import time

import mpmath
import numpy as np
import pytest
import sympy
from scipy import special

import dualad
from dualad.symbolic.errors import SymbolicBranchError
from dualad.verify import prove

SQUARE, ROW = (2, 2), 2


def of_softmax(v, product):
    s = np.exp(v) / np.sum(np.exp(v))
    return np.diag(s) - product(s, s)


def eye(v):
    return np.eye(v.shape[0])


# fmt: off
#: name: (f, right, wrong, options)
PAIRS = {
    # one number
    "power":      (lambda x: x**3, lambda x: 3 * x**2, lambda x: 3 * x**3, {}),
    "product":    (lambda x: x * np.exp(x), lambda x: (1 + x) * np.exp(x),
                   lambda x: x * np.exp(x), {}),
    "chain":      (lambda x: np.sin(x**2), lambda x: 2 * x * np.cos(x**2), lambda x: np.cos(x**2),
                   {}),
    "sign":       (lambda x: np.cos(3 * x), lambda x: -3 * np.sin(3 * x),
                   lambda x: 3 * np.sin(3 * x), {}),
    "quotient":   (lambda x: x / (1 + x**2), lambda x: (1 - x**2) / (1 + x**2) ** 2,
                   lambda x: (1 - x**2) / (1 + x**2), {}),
    "softplus":   (lambda x: np.log1p(np.exp(x)), lambda x: 1 / (1 + np.exp(-x)),
                   lambda x: 1 / (1 + np.exp(x)), {}),
    "arcsin":     (np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)),
                   lambda x: 1 / np.sqrt(1 + x * x),
                   {"assume": "-1 < x < 1", "shapes": {"x": ()}}),
    "relu":       (lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1.0, 0.0),
                   lambda x: np.where(x > 0, 1.0, 0.01), {}),
    "branch":     (lambda x: np.where(x > 0, x**2, -x), lambda x: np.where(x > 0, 2 * x, -1),
                   lambda x: np.where(x > 0, 2 * x, 1), {}),
    "huber":      (lambda x: np.where(np.abs(x) < 1, x**2 / 2, np.abs(x) - 0.5),
                   lambda x: np.clip(x, -1, 1), lambda x: np.clip(x, 0, 1), {}),
    "erf":        (lambda x: special.erf(x), lambda x: 2 / np.sqrt(np.pi) * np.exp(-x * x),
                   lambda x: np.exp(-x * x) / np.sqrt(np.pi), {}),
    "gamma":      (lambda x: special.gammaln(x), lambda x: special.psi(x),
                   lambda x: np.log(x), {"assume": "x > 0"}),
    "logarithm":  (lambda x: np.log2(x), lambda x: 1 / (x * np.log(2)), lambda x: 0.6931 / x,
                   {"assume": "x > 0"}),
    "integer":    (lambda x, n: x**n, lambda x, n: n * x ** (n - 1), lambda x, n: (n - 1) * x**n,
                   {"assume": ["n integer", "n > 1"]}),
    "remainder":  (lambda x: np.remainder(x, 0.7) ** 2, lambda x: 2 * np.remainder(x, 0.7),
                   lambda x: 2 * x, {}),
    # several arguments
    "plane":      (lambda x, y: x * y**2, lambda x, y: (y**2, 2 * x * y),
                   lambda x, y: (y**2, x * y), {}),
    "swapped":    (lambda x, y: np.arctan2(x, y), lambda x, y: (y / (x * x + y * y),
                   -x / (x * x + y * y)),
                   lambda x, y: (x / (x * x + y * y), -y / (x * x + y * y)), {}),
    "hypot":      (np.hypot, lambda x, y: (x / np.hypot(x, y), y / np.hypot(x, y)),
                   lambda x, y: (x / np.hypot(x, y), x / np.hypot(x, y)),
                   {"shapes": {"x": (), "y": ()}}),
    "michaelis":  (lambda s, v, k: v * s / (k + s),
                   lambda s, v, k: (v * k / (k + s) ** 2, s / (k + s), -v * s / (k + s) ** 2),
                   lambda s, v, k: (v * k / (k + s) ** 2, s / (k + s), v * s / (k + s) ** 2),
                   {"assume": ["s > 0", "v > 0", "k > 0"]}),
    "gaussian":   (lambda x, m, s: np.exp(-((x - m) ** 2) / (2 * s**2)) / (s * np.sqrt(2 * np.pi)),
                   lambda x, m, s: np.exp(-((x - m) ** 2) / (2 * s**2)) / (s * np.sqrt(2 * np.pi))
                   * ((x - m) ** 2 / s**3 - 1 / s),
                   lambda x, m, s: np.exp(-((x - m) ** 2) / (2 * s**2)) / (s * np.sqrt(2 * np.pi))
                   * ((x - m) ** 2 / s**3), {"assume": "s > 0", "wrt": "s"}),
    "maximum":    (lambda x, y: np.maximum(x, y) ** 2,
                   lambda x, y: (np.where(x > y, 2 * x, 0), np.where(x > y, 0, 2 * y)),
                   lambda x, y: (np.where(x > y, 2 * x, 0), np.where(x > y, 2 * y, 0)), {}),
    "logaddexp":  (np.logaddexp, lambda x, y: (1 / (1 + np.exp(y - x)), 1 / (1 + np.exp(x - y))),
                   lambda x, y: (1 / (1 + np.exp(y - x)), 1 / (1 + np.exp(y - x))),
                   {"shapes": {"x": (), "y": ()}}),
    "exponent":   (lambda x, y: x**y, lambda x, y: x**y * np.log(x), lambda x, y: y * np.log(x),
                   {"wrt": "y", "assume": "x > 0"}),
    "beta":       (lambda a, b: special.betaln(a, b),
                   lambda a, b: (special.psi(a) - special.psi(a + b),
                   special.psi(b) - special.psi(a + b)),
                   lambda a, b: (special.psi(a) - special.psi(b), special.psi(b) - special.psi(a)),
                   {"assume": ["a > 0", "b > 0"]}),
    # arrays
    "mean":       (lambda v: np.mean(v**2), lambda v: 2 * v / len(v), lambda v: 2 * v,
                   {"shapes": {"v": 3}}),
    "variance":   (lambda v: np.var(v), lambda v: 2 * (v - np.mean(v)) / len(v),
                   lambda v: 2 * v / len(v), {"shapes": {"v": 3}}),
    "norm":       (lambda v: np.linalg.norm(v), lambda v: v / np.linalg.norm(v),
                   lambda v: 2 * v / np.linalg.norm(v), {"shapes": {"v": 3},
                    "assume": "v > 0"}),
    "softmax":    (lambda v: np.exp(v) / np.sum(np.exp(v)),
                   lambda v: of_softmax(v, np.outer), lambda v: of_softmax(v,
                   lambda s, t: np.diag(s * t)),
                   {"shapes": {"v": 2}}),
    "logsumexp":  (lambda v: np.max(v) + np.log(np.sum(np.exp(v - np.max(v)))),
                   lambda v: np.exp(v) / np.sum(np.exp(v)), lambda v: np.exp(v - np.max(v)),
                   {"shapes": {"v": 2}}),
    "quadratic":  (lambda a, v: v @ a @ v, lambda a, v: (a + a.T) @ v, lambda a, v: 2 * a @ v,
                   {"shapes": {"a": SQUARE, "v": ROW}, "wrt": "v"}),
    "matrix":     (lambda a, v: v @ a @ v, lambda a, v: np.outer(v, v),
                   lambda a, v: 2 * np.outer(v, v),
                   {"shapes": {"a": SQUARE, "v": ROW}, "wrt": "a"}),
    "det":        (np.linalg.det, lambda a: np.linalg.det(a) * np.linalg.inv(a).T,
                   lambda a: np.linalg.det(a) * np.linalg.inv(a), {"shapes": {"a": SQUARE}}),
    "logdet":     (lambda a: np.linalg.slogdet(a)[1], lambda a: np.linalg.inv(a).T,
                   lambda a: np.linalg.inv(a), {"shapes": {"a": SQUARE}}),
    "solve":      (np.linalg.solve, lambda a, b: np.linalg.inv(a), lambda a, b: np.linalg.inv(a).T,
                   {"shapes": {"a": SQUARE, "b": ROW}, "wrt": "b"}),
    "trace":      (lambda a: np.trace(a @ a), lambda a: 2 * a.T, lambda a: 2 * a,
                   {"shapes": {"a": SQUARE}}),
    "cumsum":     (np.cumsum, lambda v: np.tril(np.ones_like(np.outer(v, v))),
                   lambda v: np.triu(np.ones_like(np.outer(v, v))), {"shapes": {"v": 3}}),
    "rosenbrock": (lambda v: np.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2),
                   lambda v: np.stack([-400 * v[0] * (v[1] - v[0] ** 2) - 2 * (1 - v[0]),
                                       200 * (v[1] - v[0] ** 2)]),
                   lambda v: np.stack([-400 * v[0] * (v[1] - v[0] ** 2) - 2 * (1 - v[0]),
                                       200 * (v[1] - v[0])]), {"shapes": {"v": 2}}),
    "kinetics":   (lambda y, k: np.stack([-k[0] * y[0] + k[1] * y[1] * y[2],
                                          k[0] * y[0] - k[1] * y[1] * y[2] - k[2] * y[1] ** 2,
                                          k[2] * y[1] ** 2]),
                   lambda y, k: [[-k[0], k[1] * y[2], k[1] * y[1]],
                                 [k[0], -k[1] * y[2] - 2 * k[2] * y[1], -k[1] * y[1]],
                                 [0, 2 * k[2] * y[1], 0]],
                   lambda y, k: [[-k[0], k[1] * y[2], k[1] * y[1]],
                                 [k[0], -k[1] * y[2] - k[2] * y[1], -k[1] * y[1]],
                                 [0, 2 * k[2] * y[1], 0]],
                   {"shapes": {"y": 3, "k": 3}, "wrt": "y"}),
    "residuals":  (lambda p, t=np.arange(3): p[0] * np.exp(-p[1] * t) - 1,
                   lambda p, t=np.arange(3): np.stack(
                       [np.exp(-p[1] * t), -t * p[0] * np.exp(-p[1] * t)], axis=1),
                   lambda p, t=np.arange(3): np.stack(
                       [np.exp(-p[1] * t), -p[0] * np.exp(-p[1] * t)], axis=1),
                   {"shapes": {"p": 2}}),
    "normalised": (lambda v: v / np.sum(v), lambda v: eye(v) / np.sum(v) - np.outer(v,
                   np.ones(2)) / np.sum(v) ** 2,
                   lambda v: eye(v) / np.sum(v), {"shapes": {"v": 2}, "assume": "v > 0"}),
    "entropy":    (lambda p: -np.sum(p * np.log(p)), lambda p: -np.log(p) - 1,
                   lambda p: -np.log(p),
                   {"shapes": {"p": 2}, "assume": "p > 0"}),
    "one_norm":   (lambda v: np.sum(np.abs(v)), lambda v: np.sign(v), lambda v: np.abs(v),
                   {"shapes": {"v": 2}}),
    "prod":       (np.prod, lambda v: np.prod(v) / v, lambda v: np.prod(v) * v,
                   {"shapes": {"v": 3}}),
}
# fmt: on


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_formula_is_proved(name):
    f, right, _, options = PAIRS[name]
    proof = prove(f, right, **options)
    assert proof.verdict == "proved" and proof, proof.table()
    assert all(e.steps for e in proof.entries)


@pytest.mark.parametrize("name", PAIRS)
def test_the_wrong_formula_is_refuted_at_a_point_that_shows_it(name):
    f, _, wrong, options = PAIRS[name]
    proof = prove(f, wrong, **options)
    assert proof.verdict == "refuted" and not proof
    for entry in proof.entries:
        if entry.verdict != "refuted":
            continue
        found = entry.counterexample
        assert found.claimed != found.exact
        at = {
            s: sympy.Rational(found.point[str(s)])
            for s in (entry.claimed + entry.exact * sympy.Symbol("t")).free_symbols
            if s.name != "t"
        }
        with mpmath.workdps(50):
            both = [mpmath.mpmathify(getattr(found, side)) for side in ("claimed", "exact")]
            direct = [
                mpmath.mpmathify(sympy.N(getattr(entry, side).subs(at), 50))
                for side in ("claimed", "exact")
            ]
            for a, b in zip(both, direct, strict=True):
                assert abs(a - b) <= mpmath.mpf(10) ** -45 * max(1, abs(b))


def test_there_are_as_many_pairs_as_promised():
    several = [
        name
        for name, (f, right, _, options) in PAIRS.items()
        if len(inspect.signature(right).parameters) > 1 or any(options.get("shapes", {}).values())
    ]
    assert len(PAIRS) >= 40 and len(several) >= 25


# --- rules -----------------------------------------------------------------------------------


def log_sum_exp(factor):
    @dualad.custom_jvp
    def lse(v):
        m = np.max(v)
        return m + np.log(np.sum(np.exp(v - m)))

    @lse.defjvp
    def rule(primals, tangents):
        (v,), (dv,) = primals, tangents
        out = lse(v)
        return out, factor * np.sum(np.exp(v - out) * dv)

    return lse


def test_a_custom_jvp_rule():
    assert prove(log_sum_exp(1), shapes={"v": 2})
    assert prove(log_sum_exp(2), shapes={"v": 2}).count("refuted") == 2


def test_a_custom_jvp_rule_that_gives_another_value():
    @dualad.custom_jvp
    def f(x):
        return x**2

    f.defjvp(lambda p, t: (p[0] ** 3, 2 * p[0] * t[0]))
    proof = prove(f)
    assert [e.verdict for e in proof.entries] == ["proved", "refuted"]


def test_rules_by_argument_and_an_argument_without_derivative():
    @dualad.custom_jvp
    def scaled(x, k, n):
        return k * x**n

    scaled.defjvps(
        lambda t, out, x, k, n: n * k * x ** (n - 1) * t, lambda t, out, x, k, n: x**n * t, None
    )
    assert prove(scaled, fixed={"n": 3})


def test_a_rule_that_is_not_linear_is_refuted():
    @dualad.custom_jvp
    def f(x):
        return x**2

    f.defjvp(lambda p, t: (p[0] ** 2, 2 * p[0] * t[0] + t[0] ** 2))
    assert prove(f).verdict == "refuted"
    f.defjvp(lambda p, t: (p[0] ** 2, 2 * p[0] * t[0] + 1))
    assert "without any tangent" in prove(f).table()


class Fill(dualad.autograd.Function):
    """Split style, two outputs, a buffer filled in place, both rules."""

    wrong = 1

    @staticmethod
    def forward(x, y):
        out = np.zeros_like(x)
        out[0] = x[0] * y
        out[1] = np.sin(x[1])
        return out, np.sum(x) * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def jvp(ctx, dx, dy):
        x, y = ctx.saved_tensors
        out = np.zeros_like(x)
        out[0] = dx[0] * y + x[0] * dy
        out[1] = np.cos(x[1]) * dx[1]
        return out, np.sum(dx) * y + np.sum(x) * dy

    @classmethod
    def backward(cls, ctx, c, s):
        x, y = ctx.saved_tensors
        gx = np.zeros_like(x)
        gx[0] = c[0] * y
        gx[1] = c[1] * np.cos(x[1])
        return gx + s * y * cls.wrong, c[0] * x[0] + s * np.sum(x)


class WrongFill(Fill):
    wrong = -1


def test_a_function_with_both_rules():
    proof = prove(Fill, shapes={"x": 2})
    assert proof and len(proof.entries) == 18
    wrong = prove(WrongFill, shapes={"x": 2})
    assert {e.name for e in wrong.entries if e.verdict == "refuted"} == {
        "d out1 (backward) / d x[0]", "d out1 (backward) / d x[1]",
    }  # fmt: skip


class Square(dualad.autograd.Function):
    """z**2, whose backward needs a conjugate for complex z."""

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, c):
        (z,) = ctx.saved_tensors
        return 2 * z * c


class ConjugatedSquare(Square):
    @staticmethod
    def backward(ctx, c):
        (z,) = ctx.saved_tensors
        return 2 * np.conj(z) * c


def test_the_missing_conjugate():
    assert prove(Square) and prove(ConjugatedSquare, assume="z complex")
    assert prove(Square, assume="z complex").verdict == "refuted"


# --- other claims ----------------------------------------------------------------------------

x, y = sympy.symbols("x y")


def test_hessians():
    f = lambda v: np.sum(np.log(v)) + v[0] * v[1]
    right = lambda v: np.diag(-1 / v**2) + 1 - np.eye(2)
    options = {"shapes": {"v": 2}, "assume": "v > 0"}
    assert prove(f, hessian=right, **options)
    assert not prove(f, hessian=lambda v: np.diag(-1 / v**2), **options)


def test_two_functions():
    half = lambda x: 1 - 2 / (np.exp(2 * x) + 1)
    assert prove(np.tanh, equals=half, shapes={"x": ()})
    assert prove(np.tanh, equals=lambda x: half(x / 2), shapes={"x": ()}).verdict == "refuted"


def test_expressions_on_either_side():
    assert prove(sympy.exp(x * y), lambda x, y: (y * np.exp(x * y), x * np.exp(x * y)))
    assert prove(lambda x, y: np.exp(x * y), sympy.Matrix([y, x]) * sympy.exp(x * y))
    assert prove(lambda x: x**2, equals=sympy.sqrt(x**4))


def test_a_pair_as_scipy_takes_it():
    assert prove((lambda v: np.sum(v**2), lambda v: 2 * v), shapes={"v": 3})


def test_a_forward_given_beside():
    @dualad.custom_jvp
    def f(x):
        return np.float64(float(x) ** 2)  # cannot run on symbols

    f.defjvp(lambda p, t: (p[0] ** 2, 2 * p[0] * t[0]))
    assert prove(f, forward=x**2) and prove(f, forward=lambda x: x * x)
    assert prove(f, forward=x**3).verdict == "refuted"


def test_a_rule_that_calls_its_routine_of_plain_numbers():
    """As rules do for their output: the formula stands in for the routine, on symbols alone."""
    x, k = sympy.symbols("x k")

    @dualad.custom_jvp
    def decay(x, k):
        return math.exp(-float(k) * float(x))

    @decay.defjvp
    def rule(primals, tangents):
        (x, k), (dx, dk) = primals, tangents
        y = decay(x, k)
        return y, -y * (k * dx + x * dk)

    assert prove(decay, forward=sympy.exp(-k * x))
    assert prove(decay, forward=lambda x, k: np.exp(-k * x))
    assert prove(decay, forward=sympy.exp(k * x)).verdict == "refuted"
    assert decay(1.0, 2.0) == math.exp(-2.0)
    with pytest.raises(SymbolicBranchError, match=r"prove\(rule, forward=expr\)"):
        prove(decay)


def test_a_routine_is_called_at_other_points_and_by_a_backward():
    x = sympy.Symbol("x")

    @dualad.custom_jvp
    def square(x):
        return float(x) ** 2

    square.defjvp(lambda p, t: (square(p[0]), square(2 * p[0]) / (2 * p[0]) * t[0]))
    assert prove(square, forward=x**2)
    assert prove(square, forward=x**3).verdict == "refuted"

    @dualad.custom_vjp
    def length(v):
        return math.hypot(*map(float, v))

    def forward(v):
        n = length(v)
        return n, (v, n)

    length.defvjp(forward, lambda r, g: (g * r[0] / r[1],))
    v = sympy.symbols("v[0] v[1]")
    assert prove(length, shapes={"v": 2}, forward=lambda v: np.sqrt(np.sum(v**2)))
    assert prove(length, shapes={"v": 2}, forward=sympy.sqrt(v[0] ** 2 + v[1] ** 2))

    @dualad.custom_jvp
    def both(x):
        return np.array([float(x), 3.0 * float(x)])

    both.defjvp(lambda p, t: (both(*p), np.stack([t[0], 3 * t[0]])))
    assert prove(both, forward=sympy.Matrix([x, 3 * x]))


# --- verdicts, kinks, limits -----------------------------------------------------------------


def test_what_is_not_proved_is_undecided_and_says_what_was_seen():
    """The Wronskian of two Bessel functions: true, and beyond the tactics."""
    f = lambda x: special.y0(x) / special.j0(x)
    slope = lambda x: 2 / (np.pi * x * special.j0(x) ** 2)
    proof = prove(f, slope, assume="0 < x < 2", limit=5)
    (entry,) = proof.entries
    assert proof.verdict == "undecided" and not proof
    assert entry.numeric.points >= 10 and entry.numeric.digits == 50
    assert float(entry.numeric.worst) < 1e-40 and entry.numeric.region == "0 < x < 2"
    assert "checked numerically" in proof.table() and entry.reason


def slow(x):
    for _ in range(9):
        x = np.sin(x) * np.exp(x) + np.cos(x * x) ** 3
    return x


def test_a_time_limit_ends_in_undecided_also_in_a_thread():
    found, start = [], time.monotonic()
    wronskian = lambda x: special.j1(x) * special.y0(x) - special.j0(x) * special.y1(x)

    def hard():
        claim = lambda x: slow(x) * wronskian(x)
        wanted = lambda x: slow(x) * 2 / (np.pi * x)
        found.append(prove(claim, equals=wanted, limit=0.5, assume="0 < x < 1"))

    threads = [threading.Thread(target=hard) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert len(found) == 2 and time.monotonic() - start < 60
    assert {p.verdict for p in found} == {"undecided"}


def test_kinks_are_listed_with_the_convention():
    proof = prove(
        lambda x, y: np.abs(x) + np.maximum(x, y) + np.floor(y),
        lambda x, y: (np.sign(x) + (x > y), 1.0 * (y > x)),
    )
    assert proof
    assert {(k.where, k.operation, k.convention) for k in proof.kinks} == {
        ("x = 0", "abs", "slope 0"),
        ("x - y = 0", "maximum", "ties share the slope evenly"),
        ("y an integer", "floor", "the step itself has slope 0, at a jump as beside it"),
    }


def test_the_conventions_that_it_states_are_those_of_the_library():
    assert (
        dualad.grad(np.abs)(0.0) == 0.0 == dualad.grad(np.sign)(0.0) == dualad.grad(np.floor)(1.0)
    )
    assert dualad.grad(lambda a: np.maximum(a, 1.0))(1.0) == 0.5
    assert dualad.grad(lambda a: np.where(a > 0, 2 * a, 3 * a))(0.0) == 3.0


def test_a_mistake_at_a_kink_only_is_no_counterexample():
    assert prove(np.abs, lambda x: np.where(x >= 0, 1.0, -1.0), shapes={"x": ()})


def test_a_mistake_beyond_the_declared_region_is_not_claimed():
    f, slope = lambda x: np.abs(x) ** 3, lambda x: 3 * x**2
    assert prove(f, slope, assume="x > 0")
    assert prove(f, slope).counterexample.point == {"x": "-1"}


def fill_plain(x):
    out = np.zeros(2)
    out[0] = x[1]
    return out


def test_counterexamples_are_simple():
    proof = prove(lambda x, y: x * y, lambda x, y: (y, x + 1e-3))
    assert proof.counterexample.point in ({"x": "0"}, {"x": "0", "y": "0"})
    assert proof.counterexample.claimed == "0.001" and proof.counterexample.exact == "0.0"


def test_a_report_as_json_and_as_text():
    proof = prove(lambda x: np.log2(x), lambda x: 1.4426950408889634 / x, assume="x > 0")
    data = json.loads(proof.to_json())
    assert data["verdict"] == "proved" and data["entries"][0]["claimed"] == "1/(x*log(2))"
    assert data["readings"] == {"1.4426950408889634": "1/log(2)"}
    assert "1.4426950408889634 was read as 1/log(2)" in str(proof)


#: Conditions that hold on more, or on less, than it seems.
TRICKY = [
    ("refuted", lambda x: np.where(np.floor(x) == 3, x**2, x), lambda x: np.ones_like(x), {}),
    ("proved", lambda x: np.where(np.floor(x) == 3, x**2, x),
     lambda x: np.where(np.floor(x) == 3, 2 * x, 1), {}),
    ("refuted", lambda x: np.where(np.maximum(x, 0) == 0, x**2, x), lambda x: np.ones_like(x), {}),
    ("refuted", lambda x, n: np.where(n % 2 == 0, x**n, x), lambda x, n: np.ones_like(x),
     {"assume": ["n integer", "n >= 1"]}),
    ("refuted", lambda x: np.where(np.abs(x - 7) < 1e-6, x, 0), lambda x: 0 * x, {}),
    ("undecided", lambda x: np.where(np.sin(x) ** 2 + np.cos(x) ** 2 == 1, x**2, x),
     lambda x: np.ones_like(x), {}),
]  # fmt: skip


@pytest.mark.parametrize("verdict, f, slope, options", TRICKY)
def test_no_condition_deceives_the_prover(verdict, f, slope, options):
    proof = prove(f, slope, **options)
    found = proof.verdict
    # The last condition is always true: a refutation would be right as well.
    assert found == verdict or (verdict, found) == ("undecided", "refuted"), proof.table()


REFUSED = [
    (lambda: prove(lambda x: x), "nothing to prove"),
    (lambda: prove(lambda x: x, 1, equals=2), "one claim at a time"),
    (lambda: prove(lambda x: x, lambda x: 1, assume="z > 0"), "arguments are x"),
    (lambda: prove(lambda x: x, lambda x: 1, assume="x nice"), "neither a comparison"),
    (lambda: prove(lambda x: x, lambda x: 1, assume="x == 1"), "other than"),
    (lambda: prove(lambda x: x, lambda x: 1, shapes={"q": 2}), "q: no argument"),
    (lambda: prove(lambda x: x, lambda x: 1, wrt="q"), "no argument 'q'"),
    (lambda: prove(lambda x: x, lambda x: np.ones(3)), "shape"),
    (lambda: prove(lambda *a: a[0], lambda *a: 1), "cannot be read"),
    (lambda: prove(lambda x: x if x > 0 else 0, lambda x: 1), "np.where"),
    (lambda: prove(fill_plain, lambda x: 1, shapes={"x": 2}), "np.zeros_like"),
    (lambda: prove(lambda x: x.frobnicate(), lambda x: 1), "frobnicate.*verify.check"),
]


@pytest.mark.parametrize("call, says", REFUSED)
def test_what_cannot_be_asked(call, says):
    with pytest.raises(dualad.DualADError, match=says):
        call()
