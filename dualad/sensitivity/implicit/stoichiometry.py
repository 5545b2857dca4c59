"""How the rates of change are put together from rates of reactions: rhs = N v."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from .equations import UserFunction
from .factor import Factor, null_combinations

__all__ = ["stoichiometry"]


def stoichiometry(
    user: UserFunction, rates: UserFunction, names: tuple[str, ...], x: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """N of shape (n, r) with rhs(x, p) = N rates(x, p) at every state.

    Found from both functions at random states, and where those do not tell rates apart at random
    parameters as well; accepted where it holds at states that took no part.

    Raises:
        ModelError: the rates are dependent, or rhs is no combination of them.
    """
    for move_parameters in (False, True):
        v, f = _samples(user, rates, x, q, len(names), move_parameters)
        half = v.shape[1] // 2
        if half < len(names):
            continue
        factor = Factor(v[:, :half].T)
        if not factor.singular:
            return _verified(user, rates, factor.solve(f[:, :half].T).T, v, f)
    free = "; ".join(null_combinations(factor.null_space(), names)) if half >= len(names) else ""
    raise ModelError(
        f"the stoichiometry cannot be found: the rates of {rates.name} depend on each other "
        f"wherever they were evaluated ({free or 'at too few states they are finite'}). Give it: "
        f"stoichiometry=N with rhs = N @ rates"
    )


def _samples(
    user: UserFunction,
    rates: UserFunction,
    x: np.ndarray,
    q: np.ndarray,
    r: int,
    move_parameters: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Rates (r, m) and rates of change (n, m) at random states, each pair in units of its own."""
    rng = np.random.default_rng(11)
    size = np.where(x != 0, x, np.abs(x).max() or 1.0)
    v, f = [], []
    for _ in range(8 * r + 8):
        state = size * 10.0 ** rng.uniform(-1.0, 1.0, len(x))
        at = q * rng.uniform(0.6, 1.5, len(q)) if move_parameters else q
        with np.errstate(all="ignore"):
            pair = np.array(rates(state, at), float), np.array(user(state, at), float).reshape(-1)
        unit = np.abs(pair[0]).max(initial=0.0)
        if np.isfinite(pair[0]).all() and np.isfinite(pair[1]).all() and unit > 0:
            v.append(pair[0] / unit)
            f.append(pair[1] / unit)
    return np.array(v).reshape(-1, r).T, np.array(f).reshape(-1, len(x)).T


def _verified(
    user: UserFunction, rates: UserFunction, n: np.ndarray, v: np.ndarray, f: np.ndarray
) -> np.ndarray:
    whole = np.where(np.abs(np.round(n) - n) < 1e-7, np.round(n), n)
    terms = np.abs(whole) @ np.abs(v)
    off = np.abs(whole @ v - f) > 1e-8 * np.maximum(terms, np.abs(f).max(axis=1, keepdims=True))
    if off.any():
        state = user.unknowns.names[int(np.argmax(off.any(axis=1)))]
        raise ModelError(
            f"{user.name} is no combination of the rates that {rates.name} returns with constant "
            f"weights: for {state} it is not N @ rates. A reaction is missing, or is another one"
        )
    return whole
