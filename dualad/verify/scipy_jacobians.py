"""`check_jac`: the Jacobians that SciPy's solvers are given, in the forms that they take."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .numerical import check
from .problem import name_of
from .report import Report

__all__ = ["check_jac"]


def check_jac(
    fun: Callable[..., Any],
    jac: Any,
    x: Any,
    y: Any = None,
    *,
    args: Sequence[Any] = (),
    hess: Any = None,
    name: str | None = None,
    seed: int = 0,
) -> Report:
    """Check a Jacobian for `scipy.optimize` or `scipy.integrate`, with error bounds.

    Args:
        fun: the function: of x for `minimize`, `least_squares` and `root`, of (t, y) for
            `solve_ivp`, each followed by args.
        jac: its gradient or Jacobian with the same arguments; an array or sparse matrix where it
            is constant; True where fun returns the pair (f, jac), as for `minimize`.
        x: where. For `solve_ivp` either the pair (t, y), or t here and y as the next argument.
        y: the state, for `solve_ivp`.
        args: further arguments of all functions, not differentiated.
        hess: for `minimize`: the Hessian of a scalar fun, in the same form.
        name: what the report calls fun.
        seed: of the neighbours by which rounding is measured.

    Returns:
        The `Report` of `check`: entries are named x[1] -> fun[0].

    Raises:
        ArgumentError: the arguments are in none of these forms.

    >>> import numpy as np
    >>> rosen = lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    >>> def gradient(x):
    ...     slope = x[1] - x[0] ** 2
    ...     return np.array([-2 * (1 - x[0]) - 400 * x[0] * slope, 200 * slope])
    >>> bool(check_jac(rosen, gradient, np.array([-1.2, 1.0])))
    True
    >>> decay = lambda t, y, k: np.array([-k * y[0] * t, k * y[0] - y[1] ** 2])
    >>> wrong = lambda t, y, k: np.array([[-k * t, 0.0], [k, -y[1]]])
    >>> report = check_jac(decay, wrong, 0.5, np.array([1.0, 2.0]), args=(3.0,))
    >>> report.worst.entry, report.worst.claimed
    ('y[1] -> fun[1]', -2.0)
    """
    args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
    t, state = _point(fun, x, y, len(args))
    before = () if t is None else (t,)
    if jac is True:
        both, fun, jac = fun, _part(fun, 0), _part(fun, 1)
        name = name or name_of(both)

    def of_state(v: Any) -> Any:
        return np.asarray(fun(*before, v, *args))[()]

    return check(
        of_state,
        state,
        derivative=_bound(jac, before, args),
        hessian=None if hess is None else _bound(hess, before, args),
        names=["x" if t is None else "y"],
        name=name or name_of(fun),
        output="fun",
        batching=False,
        precision=False,
        seed=seed,
    )


def _point(fun: Any, x: Any, y: Any, extra: int) -> tuple[Any, np.ndarray]:
    """(t or None, the state as an array of floats)."""
    if y is not None:
        return float(x), _floats(y)
    pair = isinstance(x, (tuple, list)) and len(x) == 2 and np.ndim(x[0]) == 0
    if pair and (np.ndim(x[1]) == 1 or _positional(fun) == 2 + extra):
        return float(x[0]), _floats(x[1])
    return None, _floats(x)


def _floats(x: Any) -> np.ndarray:
    out = np.asarray(x)
    if out.dtype.kind not in "fc":
        if out.dtype.kind not in "biu":
            raise ArgumentError(f"the point is {x!r}, which is no array of numbers")
        out = out.astype(float)
    return out


def _positional(f: Any) -> int | None:
    """How many arguments a function needs, None if that cannot be read."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    return sum(p.kind <= p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)


def _part(both: Callable[..., Any], k: int) -> Callable[..., Any]:
    return lambda *arguments: both(*arguments)[k]


def _bound(jac: Any, before: tuple, args: tuple) -> Any:
    """A Jacobian as a function of the state, or as the constant that it is."""
    if callable(jac):
        return lambda v: _array(jac(*before, v, *args))
    constant = _array(jac)
    return lambda v: constant


def _array(jac: Any) -> Any:
    """Dense, whatever SciPy accepts: sparse matrices, linear operators, lists of rows."""
    if hasattr(jac, "toarray"):
        return jac.toarray()
    if hasattr(jac, "matvec"):
        return np.asarray(jac @ np.eye(jac.shape[1]))
    return np.asarray(jac)
