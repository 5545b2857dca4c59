"""Matrix equations: Sylvester, Lyapunov and Riccati.

A X + X B = Q and X = A X A^H + Q are linear in Q. The equation that a tangent fulfils is again one
of the same kind, with the right-hand side that the moved coefficients leave (Gahinet et al.,
"Sensitivity of the stable discrete-time Lyapunov equation", 1990; for the Riccati equations
Kao and Hennequin, "Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati
equations", 2020).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.levels.spec import Spec
from ...engine.levels.traced import raw
from ...engine.primitives.composite import Composite
from ...engine.primitives.linear import Linear
from ..dropin import drop_in, matrix, operand
from ..linalg import adjoint

__all__ = [
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_lyapunov",
    "solve_sylvester",
    "stein",
    "sylvester",
]


# --- Sylvester -----------------------------------------------------------------------------------


def sylvester_solution(a: Any, b: Any, q: Any) -> Any:
    """The x of a x + x b = q, all in one dtype: SciPy errs on a real a beside a complex q.

    Its source is what a linear program prints.
    """
    from scipy.linalg import solve_sylvester

    dtype = np.result_type(a, b, q)
    return solve_sylvester(a.astype(dtype), b.astype(dtype), q.astype(dtype))


sylvester = Linear(
    sylvester_solution,
    None,
    None,
    lambda ct, a, b, q: sylvester(adjoint(a), adjoint(b), ct),
    rules=(
        lambda t, out, a, b, q: -sylvester(a, b, t @ out),
        lambda t, out, a, b, q: -sylvester(a, b, out @ t),
        None,
    ),
    spec=lambda a, b, q: Spec(q.shape, np.result_type(a.dtype, b.dtype, q.dtype)),
    name="scipy.linalg.solve_sylvester",
)


@drop_in(sp.solve_sylvester, a=2, b=2, q=2)
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """scipy.linalg.solve_sylvester: a x + x b = q."""
    return sylvester(matrix(a), matrix(b, "b"), operand(q))


@drop_in(sp.solve_continuous_lyapunov, a=2, q=2)
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """scipy.linalg.solve_continuous_lyapunov: a x + x a^H = q."""
    a = matrix(a)
    return sylvester(a, adjoint(a), matrix(q, "q"))


solve_lyapunov = solve_continuous_lyapunov


# --- Stein ---------------------------------------------------------------------------------------


def _stein_rule(t: Any, out: Any, a: Any, q: Any, method: Any) -> Any:
    return stein(a, t @ out @ adjoint(a) + a @ out @ adjoint(t), method=method)


def stein_solution(a: Any, q: Any, method: Any) -> Any:
    """The x of x = a x a^H + q, in one dtype."""
    from scipy.linalg import solve_discrete_lyapunov

    dtype = np.result_type(a, q)
    return solve_discrete_lyapunov(a.astype(dtype), q.astype(dtype), method)


stein = Linear(
    stein_solution,
    None,
    lambda ct, a, q, method: stein(adjoint(a), ct, method=method),
    rules=(_stein_rule, None),
    spec=lambda a, q, method: Spec(q.shape, np.result_type(a.dtype, q.dtype)),
    name="scipy.linalg.solve_discrete_lyapunov",
)


@drop_in(sp.solve_discrete_lyapunov, a=2, q=2)
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """scipy.linalg.solve_discrete_lyapunov: x = a x a^H + q."""
    return stein(matrix(a), matrix(q, "q"), method=method)


# --- Riccati -------------------------------------------------------------------------------------


def _hermitian_part(x: Any) -> Any:
    return (x + adjoint(x)) / 2


#: The share of each argument a, b, q, r, e, s in what moves at fixed X: each with its adjoint.
CONTINUOUS = (
    lambda t, x, closed, gain, e: adjoint(e) @ x @ t,
    lambda t, x, closed, gain, e: -(adjoint(e) @ x @ t @ gain),
    lambda t, x, closed, gain, e: t / 2,
    lambda t, x, closed, gain, e: adjoint(gain) @ t @ gain / 2,
    lambda t, x, closed, gain, e: adjoint(t) @ x @ closed,
    lambda t, x, closed, gain, e: -(t @ gain),
)
DISCRETE = (
    lambda t, x, closed, gain, e: adjoint(closed) @ x @ t,
    lambda t, x, closed, gain, e: -(adjoint(closed) @ x @ t @ gain),
    CONTINUOUS[2],
    CONTINUOUS[3],
    lambda t, x, closed, gain, e: -(adjoint(e) @ x @ t),
    CONTINUOUS[5],
)


def _rules(shares: tuple, gain_of: Any, solve_for: Any) -> list[Any]:
    """The forward rules: dX solves a linear equation of the closed loop A - B K."""

    def rule_of(share: Any) -> Any:
        def rule(
            t: Any, x: Any, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, balanced: bool
        ) -> Any:
            e = np.eye(a.shape[-1]) if e is None else e
            gain = gain_of(x, a, b, _hermitian_part(r), e, 0 if s is None else adjoint(s))
            closed = a - b @ gain
            half = share(t, x, closed, gain, e)
            back = np.linalg.inv(e)
            return solve_for(closed @ back, adjoint(back) @ (half + adjoint(half)) @ back)

        return rule

    return [rule_of(share) for share in shares]


def _discrete_gain(x: Any, a: Any, b: Any, r: Any, e: Any, s: Any) -> Any:
    pressed = adjoint(b) @ x
    return np.linalg.solve(r + pressed @ b, pressed @ a + s)


def _solver(solve: Any) -> Any:
    """SciPy's solver on the Hermitian parts of q and r, along which alone they may move.

    With an e it is called without balancing, which it does not undo rightly there.
    """

    def impl(a: Any, b: Any, q: Any, r: Any, e: Any, s: Any, balanced: bool) -> Any:
        q, r = _hermitian_part(q), _hermitian_part(r)
        return solve(a, b, q, r, e, s, balanced and e is None)

    return impl


continuous_riccati = Composite(
    _solver(sp.solve_continuous_are),
    *_rules(
        CONTINUOUS,
        lambda x, a, b, r, e, s: np.linalg.solve(r, adjoint(b) @ x @ e + s),
        lambda closed, force: -sylvester(adjoint(closed), closed, force),
    ),
    name="scipy.linalg.solve_continuous_are",
)
discrete_riccati = Composite(
    _solver(sp.solve_discrete_are),
    *_rules(
        DISCRETE,
        _discrete_gain,
        lambda closed, force: stein(adjoint(closed), force, method=None),
    ),
    name="scipy.linalg.solve_discrete_are",
)


def _riccati(primitive: Any, matrices: tuple, balanced: bool) -> Any:
    operands = [None if m is None else np.atleast_2d(operand(m)) for m in matrices]
    for name, m in zip("qr", map(raw, operands[2:4]), strict=True):
        if np.any(np.abs(m - adjoint(m)) > 1e-12 * np.max(np.abs(m), initial=0)):
            raise ValueError(f"Matrix {name} should be symmetric/hermitian.")
    return primitive(*operands, balanced=bool(balanced))


@drop_in(sp.solve_continuous_are, a=2, b=2, q=2, r=2, e=2, s=2)
def solve_continuous_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    """scipy.linalg.solve_continuous_are: the gradients in q and r are Hermitian as they are."""
    return _riccati(continuous_riccati, (a, b, q, r, e, s), balanced)


@drop_in(sp.solve_discrete_are, a=2, b=2, q=2, r=2, e=2, s=2)
def solve_discrete_are(
    a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True
) -> Any:
    """scipy.linalg.solve_discrete_are: the gradients in q and r are Hermitian as they are."""
    return _riccati(discrete_riccati, (a, b, q, r, e, s), balanced)
