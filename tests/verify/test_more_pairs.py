"""More pairs of a right formula and a wrong one: losses, physics, statistics, matrices."""

import numpy as np
import pytest
from scipy import special

from dualad.verify import prove

S = (2, 2)


def rosen_der(v, c=400):
    g = np.zeros_like(v)
    g[1:-1] = (
        200 * (v[1:-1] - v[:-2] ** 2) - c * (v[2:] - v[1:-1] ** 2) * v[1:-1] - 2 * (1 - v[1:-1])
    )
    g[0] = -c * v[0] * (v[1] - v[0] ** 2) - 2 * (1 - v[0])
    g[-1] = 200 * (v[-1] - v[-2] ** 2)
    return g


#: name: (f, right, wrong, options)
PAIRS = {
    # name: (f, right, wrong, opts)
    "sigmoid": (
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2,
        lambda x: np.exp(-x) / (1 + np.exp(-x)),
        {},
    ),
    "tanhpoly": (
        lambda x: np.tanh(x) ** 2,
        lambda x: 2 * np.tanh(x) / np.cosh(x) ** 2,
        lambda x: 2 * np.tanh(x) * np.cosh(x) ** 2,
        {},
    ),
    "gelu": (
        lambda x: 0.5 * x * (1 + special.erf(x / np.sqrt(2))),
        lambda x: (
            0.5 * (1 + special.erf(x / np.sqrt(2))) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
        ),
        lambda x: (
            0.5 * (1 + special.erf(x / np.sqrt(2))) + x * np.exp(-x * x / 2) / np.sqrt(np.pi)
        ),
        {},
    ),
    "swish": (
        lambda x: x * special.expit(x),
        lambda x: special.expit(x) * (1 + x * (1 - special.expit(x))),
        lambda x: special.expit(x) * (1 - special.expit(x)),
        {},
    ),
    "elu": (
        lambda x: np.where(x > 0, x, np.expm1(x)),
        lambda x: np.where(x > 0, 1, np.exp(x)),
        lambda x: np.where(x > 0, 1, np.expm1(x)),
        {},
    ),
    "softabs": (
        lambda x: np.sqrt(x * x + 1e-3),
        lambda x: x / np.sqrt(x * x + 1e-3),
        lambda x: x / np.sqrt(x * x + 1e-2),
        {},
    ),
    "leaky": (
        lambda x: np.maximum(0.1 * x, x),
        lambda x: np.where(x > 0, 1.0, 0.1),
        lambda x: np.where(x > 0, 1.0, -0.1),
        {},
    ),
    "abssin": (
        lambda x: np.abs(np.sin(x)),
        lambda x: np.sign(np.sin(x)) * np.cos(x),
        lambda x: np.cos(x),
        {},
    ),
    "clip2": (
        lambda x: np.clip(x, -1, 2) ** 2,
        lambda x: np.where((x > -1) & (x < 2), 2 * x, 0),
        lambda x: np.where(x < 2, 2 * x, 0),
        {},
    ),
    "select": (
        lambda x: np.select([x < 0, x < 1], [x**2, x**3], x),
        lambda x: np.select([x < 0, x < 1], [2 * x, 3 * x**2], 1),
        lambda x: np.select([x < 0, x < 1], [2 * x, 2 * x**2], 1),
        {},
    ),
    "piecewise": (
        lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda t: -(t**3), lambda t: np.sin(t)]),
        lambda x: np.where(x < 0, -3 * x**2, np.cos(x)),
        lambda x: np.where(x < 0, 3 * x**2, np.cos(x)),
        {},
    ),
    "xlogx": (
        lambda x: x * np.log(x),
        lambda x: np.log(x) + 1,
        lambda x: np.log(x),
        {"assume": "x>0"},
    ),
    "arctan": (
        lambda x: np.arctan(1 / x),
        lambda x: -1 / (1 + x * x),
        lambda x: 1 / (1 + x * x),
        {"assume": "x > 0"},
    ),
    "cauchy": (
        lambda x, g: 1 / (np.pi * g * (1 + (x / g) ** 2)),
        lambda x, g: (
            -2 * x * g / (np.pi * (x * x + g * g) ** 2),
            (x * x - g * g) / (np.pi * (x * x + g * g) ** 2),
        ),
        lambda x, g: (
            -2 * x * g / (np.pi * (x * x + g * g) ** 2),
            (g * g - x * x) / (np.pi * (x * x + g * g) ** 2),
        ),
        {"assume": "g>0"},
    ),
    "hill": (
        lambda x, k, n: x**n / (k**n + x**n),
        lambda x, k, n: (
            n * x ** (n - 1) * k**n / (k**n + x**n) ** 2,
            -n * k ** (n - 1) * x**n / (k**n + x**n) ** 2,
            x**n * k**n * np.log(x / k) / (k**n + x**n) ** 2,
        ),
        lambda x, k, n: (
            n * x ** (n - 1) * k**n / (k**n + x**n) ** 2,
            -n * k ** (n - 1) * x**n / (k**n + x**n) ** 2,
            x**n * k**n * np.log(x) / (k**n + x**n) ** 2,
        ),
        {"assume": ["x > 0", "k > 0", "n > 0"]},
    ),
    "arrhenius": (
        lambda a, e, t: a * np.exp(-e / (8.314 * t)),
        lambda a, e, t: (
            np.exp(-e / (8.314 * t)),
            -a * np.exp(-e / (8.314 * t)) / (8.314 * t),
            a * e * np.exp(-e / (8.314 * t)) / (8.314 * t**2),
        ),
        lambda a, e, t: (
            np.exp(-e / (8.314 * t)),
            -a * np.exp(-e / (8.314 * t)) / (8.314 * t),
            -a * e * np.exp(-e / (8.314 * t)) / (8.314 * t**2),
        ),
        {"assume": "t > 0"},
    ),
    "bs_call": (
        lambda s, k, r, v, t: (
            s * special.ndtr((np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t)))
            - k
            * np.exp(-r * t)
            * special.ndtr((np.log(s / k) + (r - v * v / 2) * t) / (v * np.sqrt(t)))
        ),
        lambda s, k, r, v, t: special.ndtr(
            (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
        ),
        lambda s, k, r, v, t: special.ndtr(
            (np.log(s / k) + (r - v * v / 2) * t) / (v * np.sqrt(t))
        ),
        {"wrt": "s", "assume": ["s>0", "k>0", "v>0", "t>0"]},
    ),
    "bs_vega": (
        lambda s, k, r, v, t: (
            s * special.ndtr((np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t)))
            - k
            * np.exp(-r * t)
            * special.ndtr((np.log(s / k) + (r - v * v / 2) * t) / (v * np.sqrt(t)))
        ),
        lambda s, k, r, v, t: (
            s
            * np.sqrt(t)
            * np.exp(-(((np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))) ** 2) / 2)
            / np.sqrt(2 * np.pi)
        ),
        lambda s, k, r, v, t: (
            s
            * t
            * np.exp(-(((np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))) ** 2) / 2)
            / np.sqrt(2 * np.pi)
        ),
        {"wrt": "v", "assume": ["s>0", "k>0", "v>0", "t>0"]},
    ),
    "huberd": (
        lambda r, d: np.where(np.abs(r) <= d, r**2 / 2, d * (np.abs(r) - d / 2)),
        lambda r, d: (np.clip(r, -d, d), np.where(np.abs(r) <= d, 0, np.abs(r) - d)),
        lambda r, d: (np.clip(r, -d, d), np.where(np.abs(r) <= d, 0, np.abs(r))),
        {"assume": "d>0"},
    ),
    "dist": (
        lambda a, b: np.linalg.norm(a - b),
        lambda a, b: ((a - b) / np.linalg.norm(a - b), (b - a) / np.linalg.norm(a - b)),
        lambda a, b: ((a - b) / np.linalg.norm(a - b), (a - b) / np.linalg.norm(a - b)),
        {"shapes": {"a": 2, "b": 2}},
    ),
    "cossim": (
        lambda a, b: a @ b / (np.linalg.norm(a) * np.linalg.norm(b)),
        lambda a, b: (
            b / (np.linalg.norm(a) * np.linalg.norm(b))
            - (a @ b) * a / (np.linalg.norm(a) ** 3 * np.linalg.norm(b))
        ),
        lambda a, b: b / (np.linalg.norm(a) * np.linalg.norm(b)),
        {"shapes": {"a": 2, "b": 2}, "wrt": "a"},
    ),
    "lse3": (
        lambda v: np.log(np.sum(np.exp(v))),
        lambda v: np.exp(v - np.log(np.sum(np.exp(v)))),
        lambda v: np.exp(v - np.max(v)),
        {"shapes": {"v": 3}},
    ),
    "crossent": (
        lambda z, y: -np.sum(y * (z - np.log(np.sum(np.exp(z))))),
        lambda z, y: np.sum(y) * np.exp(z) / np.sum(np.exp(z)) - y,
        lambda z, y: np.exp(z) / np.sum(np.exp(z)) - y,
        {"shapes": {"z": 3, "y": 3}, "wrt": "z"},
    ),
    "lsq": (
        lambda A, b, x: 0.5 * np.sum((A @ x - b) ** 2),
        lambda A, b, x: A.T @ (A @ x - b),
        lambda A, b, x: A @ (A @ x - b),
        {"shapes": {"A": S, "b": 2, "x": 2}, "wrt": "x"},
    ),
    "lsqA": (
        lambda A, b, x: 0.5 * np.sum((A @ x - b) ** 2),
        lambda A, b, x: np.outer(A @ x - b, x),
        lambda A, b, x: np.outer(x, A @ x - b),
        {"shapes": {"A": S, "b": 2, "x": 2}, "wrt": "A"},
    ),
    "ridge": (
        lambda A, b, w: np.mean((A @ w - b) ** 2) + 0.1 * w @ w,
        lambda A, b, w: 2 * A.T @ (A @ w - b) / 3 + 0.2 * w,
        lambda A, b, w: 2 * A.T @ (A @ w - b) + 0.2 * w,
        {"shapes": {"A": (3, 2), "b": 3, "w": 2}, "wrt": "w"},
    ),
    "invquad": (
        lambda A, b: b @ np.linalg.solve(A, b),
        lambda A, b: -np.outer(np.linalg.solve(A.T, b), np.linalg.solve(A, b)),
        lambda A, b: -np.outer(np.linalg.solve(A, b), np.linalg.solve(A, b)),
        {"shapes": {"A": S, "b": 2}, "wrt": "A"},
    ),
    "traceinv": (
        lambda A: np.trace(np.linalg.inv(A)),
        lambda A: -np.linalg.matrix_power(np.linalg.inv(A), 2).T,
        lambda A: -np.linalg.matrix_power(np.linalg.inv(A), 2),
        {"shapes": {"A": S}},
    ),
    "det3": (
        np.linalg.det,
        lambda A: np.linalg.det(A) * np.linalg.inv(A).T,
        lambda A: np.linalg.inv(A).T,
        {"shapes": {"A": (3, 3)}},
    ),
    "frob": (
        lambda A: np.linalg.norm(A),
        lambda A: A / np.linalg.norm(A),
        lambda A: A,
        {"shapes": {"A": S}},
    ),
    "einsum": (
        lambda a, b: np.einsum("ij,jk->ik", a, b),
        lambda a, b: np.einsum("im,jn->ijmn", np.eye(2), b.T),
        lambda a, b: np.einsum("im,jn->ijmn", np.eye(2), b),
        {"shapes": {"a": S, "b": S}, "wrt": "a"},
    ),
    "concat": (
        lambda x: np.concatenate([x**2, np.sin(x[:1])]),
        lambda x: np.stack(
            [
                np.stack([2 * x[0], 0 * x[0]]),
                np.stack([0 * x[0], 2 * x[1]]),
                np.stack([np.cos(x[0]), 0 * x[0]]),
            ]
        ),
        lambda x: np.stack(
            [
                np.stack([2 * x[0], 0 * x[0]]),
                np.stack([0 * x[0], 2 * x[1]]),
                np.stack([0 * x[0], np.cos(x[0])]),
            ]
        ),
        {"shapes": {"x": 2}},
    ),
    "std": (
        lambda v: np.std(v),
        lambda v: (v - np.mean(v)) / (len(v) * np.std(v)),
        lambda v: (v - np.mean(v)) / np.std(v),
        {"shapes": {"v": 3}},
    ),
    "varddof": (
        lambda v: np.var(v, ddof=1),
        lambda v: 2 * (v - v.mean()) / (v.size - 1),
        lambda v: 2 * (v - v.mean()) / v.size,
        {"shapes": {"v": 3}},
    ),
    "cumprod": (
        lambda v: np.sum(np.cumprod(v)),
        lambda v: np.stack([1 + v[1] + v[1] * v[2], v[0] + v[0] * v[2], v[0] * v[1]]),
        lambda v: np.stack([1 + v[1] + v[1] * v[2], v[0] * v[2], v[0] * v[1]]),
        {"shapes": {"v": 3}},
    ),
    "sumax": (
        lambda a: np.sum(a**2, axis=0),
        lambda a: np.einsum("jn,mj->jmn", np.eye(2), 2 * a),
        lambda a: np.einsum("jn,mj->jmn", np.eye(2), a),
        {"shapes": {"a": S}},
    ),
    "lotka": (
        lambda y, p: np.array(
            [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]
        ),
        lambda y, p: np.array(
            [[p[0] - p[1] * y[1], -p[1] * y[0]], [p[2] * y[1], p[2] * y[0] - p[3]]]
        ),
        lambda y, p: np.array(
            [[p[0] - p[1] * y[1], -p[1] * y[0]], [p[2] * y[1], p[2] * y[0] + p[3]]]
        ),
        {"shapes": {"y": 2, "p": 4}, "wrt": "y"},
    ),
    "rosen3": (
        lambda v: np.sum(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2),
        lambda v: rosen_der(v),
        lambda v: rosen_der(v, 200),
        {"shapes": {"v": 3}},
    ),
    "polyval": (
        lambda c, x: np.polyval(c, x),
        lambda c, x: np.stack([x**2, x, 1 + 0 * x]),
        lambda c, x: np.stack([1 + 0 * x, x, x**2]),
        {"shapes": {"c": 3}, "wrt": "c"},
    ),
    "rotate": (
        lambda t, v: np.stack(
            [np.cos(t) * v[0] - np.sin(t) * v[1], np.sin(t) * v[0] + np.cos(t) * v[1]]
        ),
        lambda t, v: np.stack(
            [-np.sin(t) * v[0] - np.cos(t) * v[1], np.cos(t) * v[0] - np.sin(t) * v[1]]
        ),
        lambda t, v: np.stack(
            [-np.sin(t) * v[0] + np.cos(t) * v[1], np.cos(t) * v[0] - np.sin(t) * v[1]]
        ),
        {"shapes": {"v": 2}, "wrt": "t"},
    ),
    "cross": (
        lambda a, b: np.cross(a, b) @ np.cross(a, b),
        lambda a, b: 2 * np.cross(b, np.cross(a, b)),
        lambda a, b: 2 * np.cross(np.cross(a, b), b),
        {"shapes": {"a": 3, "b": 3}, "wrt": "a"},
    ),
    "kron": (
        lambda a: np.sum(np.kron(a, a)),
        lambda a: 2 * np.sum(a) * np.ones(2),
        lambda a: np.sum(a) * np.ones(2),
        {"shapes": {"a": 2}},
    ),
    "wherearr": (
        lambda v: np.sum(np.where(v > 0, v**2, -v)),
        lambda v: np.where(v > 0, 2 * v, -1),
        lambda v: np.where(v > 0, 2 * v, 1),
        {"shapes": {"v": 2}},
    ),
    "sort": (
        lambda v: np.sum(np.sort(v) * np.array([1.0, 2.0])),
        lambda v: np.where(v == np.max(v), 2.0, 1.0),
        lambda v: np.array([1.0, 2.0]),
        {"shapes": {"v": 2}},
    ),
    "invariance": (
        lambda x, n: np.cos(n * np.arccos(x)),
        lambda x, n: n * np.sin(n * np.arccos(x)) / np.sqrt(1 - x * x),
        lambda x, n: -n * np.sin(n * np.arccos(x)) / np.sqrt(1 - x * x),
        {"assume": ["-1<x<1", "n integer"]},
    ),
    "intpow": (
        lambda x, n: x**n / n,
        lambda x, n: x ** (n - 1),
        lambda x, n: x**n,
        {"assume": ["n integer", "n>=1"]},
    ),
    "betainc": (
        lambda a, b: special.beta(a, b),
        lambda a, b: (
            special.beta(a, b) * (special.psi(a) - special.psi(a + b)),
            special.beta(a, b) * (special.psi(b) - special.psi(a + b)),
        ),
        lambda a, b: (
            special.beta(a, b) * (special.psi(a) - special.psi(b)),
            special.beta(a, b) * (special.psi(b) - special.psi(a + b)),
        ),
        {"assume": ["a>0", "b>0"]},
    ),
    "j1": (lambda x: special.j0(x), lambda x: -special.j1(x), lambda x: special.j1(x), {}),
    "jv": (
        lambda x: special.jv(2, x),
        lambda x: (special.jv(1, x) - special.jv(3, x)) / 2,
        lambda x: (special.jv(1, x) + special.jv(3, x)) / 2,
        {},
    ),
    "jv2": (
        lambda x: special.jv(2, x),
        lambda x: special.jv(1, x) - 2 * special.jv(2, x) / x,
        lambda x: special.jv(1, x) - special.jv(2, x) / x,
        {"assume": "x>0"},
    ),
    "gammainc": (
        lambda a, x: special.gammainc(a, x),
        lambda a, x: x ** (a - 1) * np.exp(-x) / special.gamma(a),
        lambda a, x: x**a * np.exp(-x) / special.gamma(a),
        {"assume": ["a>0", "x>0"], "wrt": "x"},
    ),
    "studentlik": (
        lambda x, s, n: -(n + 1) / 2 * np.log1p(x * x / (n * s * s)) - np.log(s),
        lambda x, s, n: (n + 1) * x * x / (s * (n * s * s + x * x)) - 1 / s,
        lambda x, s, n: (n + 1) * x * x / (s * (n * s * s + x * x)),
        {"wrt": "s", "assume": ["s>0", "n>0"]},
    ),
    "mod2pi": (
        lambda x: np.sin(np.mod(x, 2 * np.pi)),
        lambda x: np.cos(x),
        lambda x: -np.cos(x),
        {},
    ),
    "remsq": (
        lambda x, y: np.fmod(x, y) ** 2,
        lambda x, y: 2 * np.fmod(x, y),
        lambda x, y: 2 * np.fmod(x, y) * y,
        {"wrt": "x", "assume": "y>0"},
    ),
    "rational": (
        lambda x: (x**3 - 1) / (x - 1),
        lambda x: 2 * x + 1,
        lambda x: 2 * x + 2,
        {"assume": "x != 1"},
    ),
    "nested": (
        lambda x: np.exp(np.exp(np.exp(x))),
        lambda x: np.exp(x + np.exp(x) + np.exp(np.exp(x))),
        lambda x: np.exp(np.exp(x) + np.exp(np.exp(x))),
        {},
    ),
    "atanh": (
        lambda x: 0.5 * np.log((1 + x) / (1 - x)),
        lambda x: 1 / (1 - x * x),
        lambda x: 1 / (1 + x * x),
        {"assume": "-1 < x < 1"},
    ),
    "stablesig": (
        lambda x: np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x))),
        lambda x: np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))) ** 2,
        lambda x: np.where(x >= 0, 1, -1) * np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))) ** 2,
        {},
    ),
    "sixth": (
        lambda x: np.sin(x) ** 6 + np.cos(x) ** 6,
        lambda x: -1.5 * np.sin(4 * x),
        lambda x: 1.5 * np.sin(4 * x),
        {},
    ),
    "cbrt": (
        lambda x: np.cbrt(x) ** 2,
        lambda x: 2 / (3 * np.cbrt(x)),
        lambda x: 2 / (3 * np.cbrt(np.abs(x))),
        {"assume": "x != 0"},
    ),
    "sqrtabs": (
        lambda x: np.sqrt(np.abs(x)),
        lambda x: np.sign(x) / (2 * np.sqrt(np.abs(x))),
        lambda x: 1 / (2 * np.sqrt(np.abs(x))),
        {"assume": "x!=0"},
    ),
    "abspow": (
        lambda x, p: np.abs(x) ** p,
        lambda x, p: p * np.abs(x) ** (p - 1) * np.sign(x),
        lambda x, p: p * np.abs(x) ** (p - 1),
        {"wrt": "x", "assume": "p > 1"},
    ),
    "weib": (
        lambda x, k, w: (k / w) * (x / w) ** (k - 1) * np.exp(-((x / w) ** k)),
        lambda x, k, w: (
            (k / w)
            * (x / w) ** (k - 1)
            * np.exp(-((x / w) ** k))
            * ((k - 1) / x - k / w * (x / w) ** (k - 1))
        ),
        lambda x, k, w: (
            (k / w)
            * (x / w) ** (k - 1)
            * np.exp(-((x / w) ** k))
            * ((k - 1) / x - (x / w) ** (k - 1))
        ),
        {"wrt": "x", "assume": ["x>0", "k>0", "w > 0"]},
    ),
    "norm1": (lambda v: np.linalg.norm(v, 1), np.sign, np.abs, {"shapes": {"v": 2}}),
    "hadamard": (
        lambda a, b: np.prod(a * b),
        lambda a, b: np.prod(a * b) / a,
        lambda a, b: np.prod(b) / a,
        {"shapes": {"a": 2, "b": 2}, "wrt": "a"},
    ),
    "trapz": (
        lambda y: np.trapezoid(y, dx=0.5),
        lambda y: np.array([0.25, 0.5, 0.25]),
        lambda y: np.array([0.5, 0.5, 0.5]),
        {"shapes": {"y": 3}},
    ),
    "diffs": (
        lambda y: np.sum(np.diff(y) ** 2),
        lambda y: np.array([2 * (y[0] - y[1]), 2 * (2 * y[1] - y[0] - y[2]), 2 * (y[2] - y[1])]),
        lambda y: np.array([2 * (y[0] - y[1]), 2 * (y[1] - y[0] - y[2]), 2 * (y[2] - y[1])]),
        {"shapes": {"y": 3}},
    ),
    "conv": (
        lambda a, b: np.convolve(a, b),
        lambda a, b: np.array([[b[0], 0], [b[1], b[0]], [0, b[1]]]),
        lambda a, b: np.array([[b[0], 0], [b[0], b[1]], [0, b[1]]]),
        {"shapes": {"a": 2, "b": 2}, "wrt": "a"},
    ),
    "gausskl": (
        lambda m, s: 0.5 * (m * m + s * s - 1 - 2 * np.log(s)),
        lambda m, s: (m, s - 1 / s),
        lambda m, s: (m, s - 1),
        {"assume": "s>0"},
    ),
    "mahal": (
        lambda x, L: np.sum(np.linalg.solve(L, x) ** 2),
        lambda x, L: 2 * np.linalg.solve(L.T, np.linalg.solve(L, x)),
        lambda x, L: 2 * np.linalg.solve(L, np.linalg.solve(L, x)),
        {"shapes": {"x": 2, "L": S}, "wrt": "x"},
    ),
}


#: Those that take seconds.
LONG = {"huberd", "invquad", "clip2", "bs_vega", "bs_call", "det3", "hill"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in PAIRS]
)
def test_the_right_one_is_proved_and_the_wrong_one_refuted(name):
    f, right, wrong, options = PAIRS[name]
    proof = prove(f, right, **options)
    assert proof.verdict == "proved", proof.table()
    proof = prove(f, wrong, **options)
    assert proof.verdict == "refuted", proof.table()
    assert proof.counterexample.claimed != proof.counterexample.exact


def test_there_are_enough_of_them_with_several_arguments_or_arrays():
    several = [
        n for n, (_, right, _, o) in PAIRS.items()
        if o.get("shapes") or right.__code__.co_argcount > 1
    ]  # fmt: skip
    assert len(PAIRS) >= 60 and len(several) >= 35
