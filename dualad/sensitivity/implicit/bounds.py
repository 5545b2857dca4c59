"""Minima within bounds: which bounds hold, and the equations that the minimiser then solves.

An unknown at a bound stays there, x_i = b_i(p); the gradient vanishes for the others. That makes
the minimiser a function of p as long as each gradient at a bound pushes against it (strict
complementarity). Fiacco, Introduction to Sensitivity and Stability Analysis in Nonlinear
Programming (1983), theorem 3.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ..errors import ModelError, ParameterError, SensitivityError, unknown_name
from ..given import members
from .equations import UserFunction

__all__ = ["ActiveBounds", "Bounds", "bounds_of"]

#: Relative to the size of an unknown, how near to a bound it is at it.
NEAR = 1e-6
#: Relative to the terms of the gradient, what is as good as no push against a bound.
WEAK = 1e-9


class Bounds:
    """The lower and upper bounds of the unknowns, each a number or a function of the parameters.

    Args:
        user: the objective, with its unknowns.
        sides: the lower and the upper ones, one an unknown; None where there is none.
    """

    def __init__(self, user: UserFunction, sides: tuple[list[Any], list[Any]]):
        self.user, self.sides = user, sides

    def bound(self, side: int, i: int, q: Any) -> Any:
        """One bound at q; infinite where there is none."""
        given = self.sides[side][i]
        if given is None:
            return (-np.inf, np.inf)[side]
        if not callable(given):
            return float(given)
        name = self.user.unknowns.names[i]
        try:
            out = as_value(given(self.user.seen(q)), f"the bound of {name!r}")
        except DualADError as error:
            raise ModelError(f"the bound of {name!r}: {error}") from error
        if out.shape != ():
            raise ModelError(f"the bound of {name!r} has shape {out.shape}, not one number")
        return out

    def at(self, q: Any) -> tuple[np.ndarray, np.ndarray]:
        """All lower and all upper bounds as numbers.

        Raises:
            ModelError: one is NaN, or the lower is above the upper one.
        """
        n = len(self.user.unknowns.names)
        low, high = (np.array([float(self.bound(s, i, q)) for i in range(n)]) for s in (0, 1))
        for name, a, b in zip(self.user.unknowns.names, low, high, strict=True):
            if not a < b:
                raise ModelError(f"the bounds of {name!r} leave nothing between {a:g} and {b:g}")
        return low, high

    def active(self, x: np.ndarray, gradient: np.ndarray, q: np.ndarray) -> np.ndarray:
        """-1 at a lower bound that the gradient pushes against, 1 at an upper one, else 0."""
        low, high = self.at(q)
        near = NEAR * np.maximum(1e-3, np.abs(x))
        return np.where(
            (x <= low + near) & (gradient >= 0),
            -1,
            np.where((x >= high - near) & (gradient <= 0), 1, 0),
        )


class ActiveBounds:
    """The equations of a minimum at some bounds: the gradient, or the distance from the bound."""

    def __init__(self, bounds: Bounds, gradient: Callable[[Any, Any], Any], active: np.ndarray):
        self.bounds, self.gradient, self.active = bounds, gradient, active
        self.held = np.flatnonzero(active)

    def names(self) -> tuple[str, ...]:
        """What each equation is called."""
        user = self.bounds.user
        sides = {-1: "the lower bound of", 1: "the upper bound of"}
        return tuple(
            f"{sides[a]} {n}" if a else f"the derivative of {user.name} by {n}"
            for n, a in zip(user.unknowns.names, self.active.tolist(), strict=True)
        )

    def __call__(self, x: Any, q: Any) -> Any:
        gradient = self.gradient(x, q)
        if not self.held.size:
            return gradient
        rows = [gradient[i] for i in range(len(self.active))]
        for i in self.held:
            rows[i] = x[i] - self.bounds.bound(int(self.active[i] > 0), int(i), q)
        return np.stack(rows)

    def on_bounds(self, x: np.ndarray, q: np.ndarray) -> np.ndarray:
        """x, with what is held put onto its bound."""
        low, high = self.bounds.at(q)
        return np.where(self.active < 0, low, np.where(self.active > 0, high, x))

    def next(self, x: np.ndarray, gradient: np.ndarray, q: np.ndarray) -> np.ndarray | None:
        """The active bounds to try instead; None where these are right."""
        low, high = self.bounds.at(q)
        wrong = self.active * gradient > 0
        out = np.where(wrong, 0, self.active)
        beyond = np.where(x < low, -1, np.where(x > high, 1, 0))
        out = np.where(self.active == 0, beyond, out)
        return None if np.array_equal(out, self.active) else out

    def require_strict(self, x: np.ndarray, push: np.ndarray, terms: np.ndarray) -> None:
        """Each held unknown must be pushed against its bound, each other must be away from it.

        Args:
            x: the minimiser; push: the gradient there; terms: of what size its parts are.

        Raises:
            ModelError: where it is not, the derivatives to the two sides differ.
        """
        user = self.bounds.user
        for i in self.held:
            if abs(push[i]) <= WEAK * terms[i]:
                raise ModelError(
                    f"{user.unknowns.names[i]} is at its bound {x[i]:.6g}, but nothing pushes it "
                    f"there {user.where(x)}: for some changes of the parameters it leaves the "
                    f"bound, for others it stays, so that the minimiser has no derivative. Move "
                    f"the bound, or leave it out",
                    y=x,
                )

    def said(self, x: np.ndarray, push: np.ndarray) -> dict[str, dict[str, Any]]:
        """For each unknown at a bound: which, its value, and its multiplier."""
        names = self.bounds.user.unknowns.names
        return {
            names[i]: {
                "bound": "lower" if self.active[i] < 0 else "upper",
                "value": float(x[i]), "multiplier": float(abs(push[i])),
            }
            for i in self.held
        }  # fmt: skip


def bounds_of(given: Any, user: UserFunction) -> Bounds:
    """The bounds as they were given: by name, or one pair an unknown.

    Raises:
        ParameterError: a name is unknown; SensitivityError: an entry is no pair.
    """
    names = user.unknowns.names
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise ParameterError(unknown_name("unknown", name, names))
        pairs: Sequence[Any] = [given.get(name, (None, None)) for name in names]
    else:
        pairs = members("bounds", given, "pairs (lower, upper), one an unknown")
    if len(pairs) != len(names):
        raise SensitivityError(
            f"there are {len(names)} unknowns ({', '.join(names[:8])}) and {len(pairs)} bounds"
        )
    sides: tuple[list[Any], list[Any]] = ([], [])
    for name, pair in zip(names, pairs, strict=True):
        if not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
            raise SensitivityError(
                f"the bounds of {name!r} must be a pair (lower, upper), each a number, None or a "
                f"function of the parameters; got {pair!r}"
            )
        for side, bound in zip(sides, pair, strict=True):
            real = bound is None or callable(bound) or isinstance(bound, int | float | np.number)
            if not real or isinstance(bound, bool):
                raise SensitivityError(f"a bound of {name!r} is no number: {bound!r}")
            side.append(bound)
    return Bounds(user, sides)
