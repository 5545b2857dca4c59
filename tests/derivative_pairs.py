"""Functions with a right and a subtly wrong derivative, by pencil: what `check` has to tell apart.

Each is (name, function, right derivative, wrong derivative, arguments, what is wrong).
"""

import numpy as np
from scipy import special

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.4, 0.2, -0.7])
A = np.array([[2.0, 0.5, -0.3], [0.1, 3.0, 0.7], [-0.4, 0.2, 1.5]])
S = A @ A.T + np.eye(3)
Z = np.array([0.4 + 1.1j, -0.7 + 0.2j])
EYE = np.eye(3)


def softmax(v):
    e = np.exp(v - np.max(v))
    return e / np.sum(e)


def softmax_jac(v):
    p = softmax(v)
    return np.diag(p) - np.outer(p, p)


def logsumexp(v):
    m = np.max(v)
    return m + np.log(np.sum(np.exp(v - m)))


def rosenbrock(v):
    return np.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2)


def rosenbrock_grad(v):
    out = np.zeros_like(v)
    slope = v[1:] - v[:-1] ** 2
    out[:-1] = -400 * v[:-1] * slope - 2 * (1 - v[:-1])
    out[1:] += 200 * slope
    return out


def in_one_entry(g, at, factor=1 + 1e-4):
    """The same derivative with one entry off by a factor."""

    def wrong(*args):
        out = np.array(g(*args), dtype=float)
        out[at] *= factor
        return out

    return wrong


def rotated(t):
    c, s = np.cos(t), np.sin(t)
    return np.array([[c, -s], [s, c]])


def kinetics(params, t):
    return {"y": params["a"] * np.exp(-params["k"] * t), "mass": np.sum(params["a"])}


def kinetics_jac(params, t):
    a, k = params["a"], params["k"]
    e = np.exp(-k * t)
    return {
        "y": ({"a": np.diag(e), "k": np.diag(-a * t * e)}, np.diag(-a * k * e)),
        "mass": ({"a": np.ones(3), "k": np.zeros(3)}, np.zeros(3)),
    }


def kinetics_wrong(params, t):
    out = kinetics_jac(params, t)
    out["y"][0]["k"][2, 2] *= 1 + 1e-5
    return out


PARAMS = {"a": np.array([1.0, 2.0, 0.5]), "k": np.array([0.3, 0.7, 1.1])}
TIMES = np.array([0.5, 1.0, 2.0])
X10 = np.linspace(-1, 1, 10)

SCALAR = [
    ("sine", np.sin, np.cos, lambda x: np.cos(x) * (1 + 1e-5), (0.7,), "1e-5 too large"),
    ("log", np.log, lambda x: 1 / x, lambda x: -1 / x, (3.0,), "sign"),
    ("tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2, lambda x: 1 + np.tanh(x) ** 2, (0.8,),
     "sign"),
    ("steep", lambda x: np.exp(40 * x), lambda x: 40 * np.exp(40 * x),
     lambda x: 40.002 * np.exp(40 * x), (1.0,), "5e-5 too large, steep"),
    ("oscillating", lambda x: np.sin(1e5 * x), lambda x: 1e5 * np.cos(1e5 * x),
     lambda x: 1e5 * np.cos(1e5 * x) * 1.0001, (0.3,), "1e-4, oscillating"),
    ("offset", lambda x: 1e8 + np.sin(x), np.cos, lambda x: np.cos(x) * 1.001, (0.4,), "1e-3"),
    ("large offset", lambda x: 1e9 + np.sin(x), np.cos, lambda x: np.cos(x) * (1 + 1e-5), (0.4,),
     "1e-5 under an offset that drowns differences"),
    ("near an edge", lambda x: np.sqrt(x) * np.log(x),
     lambda x: np.log(x) / (2 * np.sqrt(x)) + 1 / np.sqrt(x),
     lambda x: np.log(x) / (2 * np.sqrt(x)), (1e-9,), "a term is missing"),
    ("next to the end of arcsin", np.arcsin, lambda x: 1 / np.sqrt((1 - x) * (1 + x)),
     lambda x: 1.0001 / np.sqrt((1 - x) * (1 + x)), (1 - 1e-7,), "1e-4"),
    ("tiny argument", lambda x: np.log1p(x) * x, lambda x: np.log1p(x) + x / (1 + x),
     lambda x: np.log1p(x), (1e-12,), "a term is missing"),
    ("huge argument", lambda x: x**1.5, lambda x: 1.5 * np.sqrt(x), lambda x: 1.5001 * np.sqrt(x),
     (1e12,), "7e-5"),
    ("tiny values", lambda x: 1e-150 * x**3, lambda x: 3e-150 * x**2,
     lambda x: 3.0001e-150 * x**2, (2.0,), "3e-5"),
    ("huge values", lambda x: 1e150 * x**3, lambda x: 3e150 * x**2,
     lambda x: 3.0001e150 * x**2, (2.0,), "3e-5"),
    ("branch", lambda x: np.where(x > 1, (x - 1) ** 2, 0.0),
     lambda x: np.where(x > 1, 2 * (x - 1), 0.0), lambda x: np.where(x > 1, 2 * (1 - x), 0.0),
     (1.0 + 1e-3,), "wrong sign beyond a branch"),
    ("next to a kink", lambda x: 3 + np.maximum(x, 0.0), lambda x: np.where(x > 0, 1.0, 0.0),
     lambda x: 0.5, (-1e-6,), "the mean of both sides"),
    ("gamma", special.gammaln, special.digamma, lambda x: special.digamma(x) + 1e-4, (2.3,),
     "an offset"),
    ("cancellation", lambda x: (1 + x) ** 7 - 1 - 7 * x, lambda x: 7 * (1 + x) ** 6 - 7,
     lambda x: 7 * (1 + x) ** 6, (0.01,), "a constant is forgotten"),
]  # fmt: skip

ARRAYS = [
    ("mean square", lambda v: np.mean(v**2), lambda v: 2 * v / 3, lambda v: 2 * v, (V,), "1/n"),
    ("variance", np.var, lambda v: 2 * (v - v.mean()) / 3, lambda v: 2 * (v - v.mean()) / 2, (V,),
     "n - 1 for n"),
    ("norm", lambda v: np.sqrt(v @ v), lambda v: v / np.sqrt(v @ v), lambda v: v, (V,), "norm"),
    ("logsumexp", logsumexp, softmax, lambda v: np.exp(v - np.max(v)), (V,), "not normalised"),
    ("softmax", softmax, softmax_jac, lambda v: np.diag(softmax(v)), (V,), "off the diagonal"),
    ("softmax, one entry", softmax, softmax_jac, in_one_entry(softmax_jac, (2, 1), 1.001), (V,),
     "one entry by 1e-3"),
    ("Rosenbrock", rosenbrock, rosenbrock_grad, in_one_entry(rosenbrock_grad, 3, 1 + 1e-5), (X10,),
     "one entry by 1e-5"),
    ("Rosenbrock, last", rosenbrock, rosenbrock_grad, in_one_entry(rosenbrock_grad, -1, 1.001),
     (X10,), "the last entry"),
    ("quadratic form", lambda x: x @ A @ x, lambda x: (A + A.T) @ x, lambda x: 2 * A @ x, (V,),
     "the transpose"),
    ("linear map", lambda x: A @ x, lambda x: A, lambda x: A.T, (V,), "transposed"),
    ("outer", lambda x, y: np.outer(x, y),
     lambda x, y: (np.einsum("ik,j->ijk", EYE, y), np.einsum("i,jk->ijk", x, EYE)),
     lambda x, y: (np.einsum("ik,j->ijk", EYE, y), np.einsum("j,ik->ijk", x, EYE)), (V, W),
     "indices swapped"),
    ("inverse", lambda m: np.linalg.inv(m),
     lambda m: -np.einsum("ik,lj->ijkl", np.linalg.inv(m), np.linalg.inv(m)),
     lambda m: np.einsum("ik,lj->ijkl", np.linalg.inv(m), np.linalg.inv(m)), (A,), "sign"),
    ("determinant", np.linalg.det, lambda m: np.linalg.det(m) * np.linalg.inv(m).T,
     lambda m: np.linalg.det(m) * np.linalg.inv(m), (A,), "the transpose"),
    ("log-determinant", lambda m: np.log(np.linalg.det(m)), lambda m: np.linalg.inv(m).T,
     lambda m: np.linalg.inv(m).T * 1.0001, (S,), "1e-4"),
    ("solve", lambda m, b: np.linalg.solve(m, b),
     lambda m, b: (-np.einsum("ik,l->ikl", np.linalg.inv(m), np.linalg.solve(m, b)),
                   np.linalg.inv(m)),
     lambda m, b: (-np.einsum("ik,l->ikl", np.linalg.inv(m), b), np.linalg.inv(m)), (A, V),
     "b for x"),
    ("product", np.prod, lambda v: np.prod(v) / v, lambda v: np.prod(v) / v**2, (V,), "a factor"),
    ("cumulative", np.cumsum, lambda v: np.tril(np.ones((3, 3))),
     lambda v: np.triu(np.ones((3, 3))), (V,), "reversed"),
    ("two arguments", lambda x, y: x * np.exp(y), lambda x, y: (np.exp(y), x * np.exp(y)),
     lambda x, y: (np.exp(y), np.exp(y)), (0.7, 1.3), "chain factor"),
    ("two arguments swapped", lambda x, y: x**2 * y, lambda x, y: (2 * x * y, x**2),
     lambda x, y: (x**2, 2 * x * y), (0.7, 1.3), "swapped"),
    ("one array of two", lambda x, y: np.hypot(x, y),
     lambda x, y: np.array([x, y]) / np.hypot(x, y),
     lambda x, y: np.array([x, y]) / np.hypot(x, y) ** 2, (0.7, 1.3), "a power"),
    ("rotation", rotated, lambda t: np.array([[-np.sin(t), -np.cos(t)], [np.cos(t), -np.sin(t)]]),
     lambda t: np.array([[-np.sin(t), np.cos(t)], [np.cos(t), -np.sin(t)]]), (0.6,), "one sign"),
    ("containers", kinetics, kinetics_jac, kinetics_wrong, (PARAMS, TIMES), "one entry by 1e-5"),
    ("tuple out", lambda x, y: (x * y, x - y), lambda x, y: ((y, x), (1.0, -1.0)),
     lambda x, y: ((y, x), (1.0, 1.0)), (0.7, 1.3), "sign"),
    ("relu layer", lambda x: np.maximum(A @ x, 0), lambda x: A * (A @ x > 0)[:, None],
     lambda x: A * (x > 0)[:, None], (V,), "the wrong mask"),
    ("abs", lambda v: np.sum(np.abs(v)), np.sign, np.ones_like, (V,), "negative entries"),
    ("sorted", lambda v: np.sort(v)[-1] - np.sort(v)[0], lambda v: np.array([0.0, -1.0, 1.0]),
     lambda v: np.array([-1.0, 0.0, 1.0]), (V,), "the wrong entry"),
    ("convolution", lambda x: np.convolve(x, [1.0, 2.0]),
     lambda x: np.array([[1.0, 0, 0], [2, 1, 0], [0, 2, 1], [0, 0, 2]]),
     lambda x: np.array([[2.0, 0, 0], [1, 2, 0], [0, 1, 2], [0, 0, 1]]), (V,), "reversed kernel"),
    ("mixed scales", lambda v: np.array([1e6 * v[0], 1e-6 * np.sin(v[1])]),
     lambda v: np.array([[1e6, 0.0], [0.0, 1e-6 * np.cos(v[1])]]),
     lambda v: np.array([[1e6, 0.0], [0.0, 1.0001e-6 * np.cos(v[1])]]), (np.array([0.3, 0.9]),),
     "1e-4 of an entry 1e12 times smaller"),
    ("small beside large", lambda v: 1e5 * v[0] + np.sin(v[1]),
     lambda v: np.array([1e5, np.cos(v[1])]), lambda v: np.array([1e5, 1.001 * np.cos(v[1])]),
     (np.array([1.0, 0.5]),), "1e-3 of a small entry of the same row"),
    ("an entry forgotten", lambda v: v[0] * v[1] + 1e-4 * v[2],
     lambda v: np.array([v[1], v[0], 1e-4]), lambda v: np.array([v[1], v[0], 0.0]), (V,),
     "zero for 1e-4"),
]  # fmt: skip

COMPLEX = [
    ("modulus squared", lambda z: np.sum(np.abs(z) ** 2), lambda z: 2 * z,
     lambda z: 2 * np.conj(z), (Z,), "conjugate"),
    ("holomorphic", lambda z: z**2, lambda z: np.diag(2 * z), lambda z: np.diag(2 * np.conj(z)),
     (Z,), "conjugate"),
    ("complex out of real", lambda t: np.exp(1j * t), lambda t: 1j * np.exp(1j * t),
     lambda t: -1j * np.exp(-1j * t), (0.7,), "conjugate"),
    ("real part of a square", lambda z: np.real(z**2), lambda z: np.diag(2 * np.conj(z)),
     lambda z: np.diag(2 * z), (Z,), "conjugate"),
]  # fmt: skip

PAIRS = [*SCALAR, *ARRAYS, *COMPLEX]
