"""What sensitivities of differential equations cost: python -m benchmarks.ode.

Three problems, each by SciPy's methods: Robertson's kinetics (stiff), Lotka and Volterra's model,
and a one-dimensional Brusselator on 50 cells (100 states). Steps, right-hand sides and time with
sensitivities are given as ratios to the same integration without them; errors in units of the
relative tolerance, against a run at a far tighter one. CasADi's CVODES stands beside them where
CasADi is installed.
"""

# ruff: noqa: E402 - the number of threads is read when NumPy is imported
import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before NumPy is imported

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualad import sensitivity as ds

CELLS = 50


def robertson(t, y, p, stack=np.array):
    a, b, c = p.k1 * y[0], p.k2 * y[1] * y[2], p.k3 * y[1] ** 2
    return stack([-a + b, a - b - c, c])


def lotka_volterra(t, y, p, stack=np.array):
    eaten = y[0] * y[1]
    return stack([p.a * y[0] - p.b * eaten, -p.c * y[1] + p.d * eaten])


def brusselator(t, y, p, stack=np.concatenate, ends=np.array):
    u, v = y[:CELLS], y[CELLS:]
    c = p.D * (CELLS + 1) ** 2
    uu, vv = stack([ends([1.0]), u, ends([1.0])]), stack([ends([3.0]), v, ends([3.0])])
    du = p.A + u**2 * v - (p.B + 1) * u + c * (uu[:-2] - 2 * u + uu[2:])
    dv = p.B * u - u**2 * v + c * (vv[:-2] - 2 * v + vv[2:])
    return stack([du, dv])


@dataclass(frozen=True)
class Problem:
    """A model, its parameters, times of the result, and the ratio of atol to rtol."""

    name: str
    rhs: Callable[..., Any]
    y0: Any
    params: dict[str, float]
    times: np.ndarray
    atol: Any
    methods: tuple[str, ...]
    #: the method and tolerance of the run that errors are measured by
    exact: tuple[str, float]


X = np.arange(1, CELLS + 1) / (CELLS + 1)
PROBLEMS = [
    Problem(
        "Robertson", robertson, [1.0, 0.0, 0.0], {"k1": 0.04, "k2": 1e4, "k3": 3e7},
        0.4 * 10.0 ** np.arange(4), np.array([1e-4, 1e-10, 1e-2]), ("BDF", "Radau"),
        ("Radau", 1e-10),
    ),
    Problem(
        "Lotka-Volterra", lotka_volterra, [10.0, 5.0], {"a": 1.5, "b": 1.0, "c": 3.0, "d": 1.0},
        np.arange(1.0, 11.0), 1e-2, ("RK45", "DOP853"), ("DOP853", 1e-12),
    ),
    Problem(
        "Brusselator", brusselator, np.concatenate([1 + np.sin(2 * np.pi * X), 3 + 0 * X]),
        {"A": 1.0, "B": 3.0, "D": 0.02}, np.arange(1.0, 6.0), 1e-1, ("BDF", "Radau"),
        ("BDF", 1e-9),
    ),
]  # fmt: skip


def solve(problem: Problem, method: str, rtol: float, **options: Any) -> ds.TimeSensitivities:
    return ds.ode(
        problem.rhs, problem.y0, problem.params, (0.0, problem.times[-1]), t_eval=problem.times,
        method=method, rtol=rtol, atol=rtol * problem.atol, **options,
    )  # fmt: skip


def error(found: np.ndarray, exact: np.ndarray, rtol: float) -> float:
    """The root mean square of the errors, each by the largest value over time, in tolerances."""
    scale = np.abs(exact).max(axis=0)
    return float(np.sqrt(np.mean(((found - exact) / np.where(scale > 0, scale, 1.0)) ** 2)) / rtol)


def line(name: str, method: str, rtol: float, cells: list[str]) -> str:
    return f"{name:<15}{method:<14}{rtol:<8.0e}" + "".join(f"{c:>13}" for c in cells)


def row(problem: Problem, method: str, rtol: float, exact: Any) -> str:
    r = solve(problem, method, rtol, compare=True)
    s = r.stats
    return line(
        problem.name, method, rtol,
        [
            f"{s['steps']}/{s['alone']['steps']}", f"{s['steps_ratio']:.2f}",
            f"{s['rhs_ratio']:.2f}", f"{s['wall_ratio']:.1f}", f"{1e3 * s['wall']:.0f}",
            f"{error(r.y, exact.y, rtol):.2g}", f"{error(r.scaled(), exact.scaled(), rtol):.2g}",
        ],
    )  # fmt: skip


# --- CasADi


def casadi_row(problem: Problem, rtol: float, exact: Any) -> str | None:
    """The same by CasADi's CVODES, with forward sensitivities; None where it is not installed."""
    try:
        import casadi as ca
    except ImportError:
        return None
    y, q = ca.SX.sym("y", len(problem.y0)), ca.SX.sym("q", len(problem.params))
    p = type("P", (), {name: q[i] for i, name in enumerate(problem.params)})
    join = lambda parts: ca.vertcat(*parts)
    kinds = {"ends": ca.DM} if problem.rhs is brusselator else {}
    system = {"x": y, "p": q, "ode": problem.rhs(0.0, y, p, join, **kinds)}
    options = {"reltol": rtol, "abstol": float(rtol * np.min(problem.atol)), "fsens_err_con": True}
    run = ca.integrator("run", "cvodes", system, 0.0, problem.times.tolist(), options)
    values = np.array(list(problem.params.values()))
    x, w = ca.MX.sym("x", len(problem.y0)), ca.MX.sym("w", len(values))
    out = run(x0=x, p=w)["xf"]
    plain = ca.Function("plain", [x, w], [out])
    seeds = [ca.MX(ca.DM(np.diag(values)[:, j])) for j in range(len(values))]
    moved = ca.forward([out], [w], [[seed] for seed in seeds])
    full = ca.Function("full", [x, w], [out, *[m[0] for m in moved]])
    timings = []
    for f in (plain, full):
        f(problem.y0, values)
        begun = time.perf_counter()
        results = f(problem.y0, values)
        timings.append(time.perf_counter() - begun)
    found = np.array(results[0]).T
    scaled = np.stack([np.array(m).T for m in results[1:]], axis=2)
    return line(
        problem.name, "CasADi CVODES", rtol,
        [
            "", "", "", f"{timings[1] / timings[0]:.1f}", f"{1e3 * timings[1]:.0f}",
            f"{error(found, exact.y, rtol):.2g}", f"{error(scaled, exact.scaled(), rtol):.2g}",
        ],
    )  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.ode", description=__doc__)
    p.add_argument("--quick", action="store_true", help="one tolerance")
    p.add_argument("--only", nargs="*", metavar="NAME", help="problems whose names begin so")
    options = p.parse_args(arguments)
    head = ["steps", "ratio", "rhs ratio", "time ratio", "ms", "error of y", "of p dy/dp"]
    print(f"{'problem':<15}{'method':<14}{'rtol':<8}" + "".join(f"{h:>13}" for h in head))
    for problem in PROBLEMS:
        if options.only and not problem.name.startswith(tuple(options.only)):
            continue
        method, rtol = problem.exact
        exact = solve(problem, method, rtol)
        for rtol in (1e-4,) if options.quick else (1e-4, 1e-6, 1e-8):
            for method in problem.methods:
                print(row(problem, method, rtol, exact), flush=True)
            text = casadi_row(problem, rtol, exact)
            if text is not None:
                print(text, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
