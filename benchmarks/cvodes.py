"""The same equations by CasADi's CVODES, with forward sensitivities in the error test."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .equations import Problem, brusselator

__all__ = ["available", "cvodes"]


def available() -> bool:
    """Whether CasADi is installed."""
    try:
        import casadi  # noqa: F401
    except ImportError:
        return False
    return True


def integrator(problem: Problem, rtol: float, directions: int) -> Any:
    """CasADi's function of the states at the times, for so many directions at once."""
    import casadi as ca

    y, q = ca.SX.sym("y", len(problem.y0)), ca.SX.sym("q", len(problem.params))
    p = type("P", (), {name: q[i] for i, name in enumerate(problem.params)})
    join = lambda parts: ca.vertcat(*parts)
    kinds = {"ends": ca.DM} if problem.rhs is brusselator else {}
    system = {"x": y, "p": q, "ode": problem.rhs(0.0, y, p, join, **kinds)}
    options = {
        "reltol": rtol, "abstol": float(rtol * np.min(problem.atol)), "fsens_err_con": True,
        "nfwd": directions, "max_num_steps": 10**6,
    }  # fmt: skip
    return ca.integrator("run", "cvodes", system, 0.0, problem.times.tolist(), options)


def cvodes(problem: Problem, rtol: float, rounds: int) -> dict[str, Any]:
    """Steps, calls and CPU time without and with sensitivities, and what they gave.

    Returns:
        `y` and `alone_y` of shape (times, n), `scaled` of shape (times, n, k) for p dy/dp, and
        counts named as `TimeSensitivities.stats` names them, those without sensitivities under
        `alone`.
    """
    values = np.array(list(problem.params.values()))
    n, k = len(problem.y0), len(values)
    start, moves = np.zeros((n, 1 + k)), np.zeros((k, 1 + k))
    start[:, 0], moves[:, 0], moves[:, 1:] = problem.y0, values, np.diag(values)
    alone, full = integrator(problem, rtol, 0), integrator(problem, rtol, k)
    best = [np.inf, np.inf]
    for _ in range(rounds):
        begun = time.process_time()
        plain = alone(x0=problem.y0, p=values)["xf"]
        between = time.process_time()
        both = full(x0=start, p=moves)["xf"]
        best = [
            min(best[0], between - begun), min(best[1], time.process_time() - between),
        ]  # fmt: skip
    out = np.array(both).reshape(n, -1, 1 + k).transpose(1, 0, 2)
    return {
        "y": out[:, :, 0], "scaled": out[:, :, 1:], "alone_y": np.array(plain).T,
        **counts(full.stats(), best[1], k), "alone": counts(alone.stats(), best[0], 0),
    }  # fmt: skip


def counts(stats: dict[str, Any], seconds: float, k: int) -> dict[str, float]:
    """A sensitivity's right-hand sides are evaluated for all directions at once."""
    tangents = stats.get(f"n_call_fwd{k}_daeF", 0) if k else 0
    return {
        "steps": stats["nsteps"], "rhs": stats["nfevals"], "tangent_rhs": k * tangents,
        "factorisations": stats["nlinsetups"], "cpu": seconds,
    }  # fmt: skip
