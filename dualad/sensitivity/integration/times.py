"""Times that depend on parameters: the ends of a span, and the times of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ...transforms.jacobian import jacfwd
from ..errors import SensitivityError
from ..parameters.parameters import ModelParameters, Parameters
from ..user_errors import failure
from .pushing import derivative, pushed

__all__ = ["Moments", "Time", "moments", "second_moments"]


class Time:
    """A time that is a parameter, or a function of parameters.

    Args:
        of: the name of a parameter, or a function of the parameters that gives a number.

    >>> Time("t_end"), Time(lambda p: 2 * p.tau)
    (Time('t_end'), Time(<lambda>))
    """

    def __init__(self, of: str | Callable[[Any], Any]):
        if not isinstance(of, str) and not callable(of):
            raise SensitivityError(
                f"Time takes the name of a parameter or a function of the parameters, got {of!r}"
            )
        self.of = of

    def __call__(self, p: Any) -> Any:
        return p[self.of] if isinstance(self.of, str) else self.of(p)

    def __repr__(self) -> str:
        name = repr(self.of) if isinstance(self.of, str) else getattr(self.of, "__name__", "f")
        return f"Time({name})"


class Moments:
    """Times and their derivatives.

    Attributes:
        t: the times, shape (m,).
        dt: their derivatives by the parameters, shape (m, k).
        moving: for each time, whether it was given as a function of the parameters.
    """

    def __init__(self, t: np.ndarray, dt: np.ndarray, moving: np.ndarray):
        self.t, self.dt, self.moving = t, dt, moving


def moments(entries: Any, parameters: Parameters, wrt: Parameters, what: str) -> Moments:
    """The times that a list of numbers, `Time` objects and functions of p stands for.

    Args:
        entries: the list, or one function of p that gives all times.
        parameters: all parameters.
        wrt: those to differentiate by.
        what: how an error calls the list.
    """
    k = len(wrt)
    if callable(entries):
        t, dt = _value_and_slope(entries, parameters, wrt, what)
        return Moments(t, dt, np.ones(t.shape, bool))
    plain = np.asarray(entries) if not _holds_functions(entries) else None
    if plain is not None:
        if plain.dtype.kind not in "fiu":
            raise SensitivityError(f"{what} must hold real numbers, got dtype {plain.dtype}")
        return Moments(
            plain.astype(float), np.zeros((*plain.shape, k)), np.zeros(plain.shape, bool)
        )
    rows = [
        _value_and_slope(e, parameters, wrt, what) if callable(e) else (np.array(e), np.zeros(k))
        for e in entries
    ]
    for t, _ in rows:
        if np.shape(t) != ():
            raise SensitivityError(f"an entry of {what} gave shape {np.shape(t)}, not one time")
    moving = np.array([callable(e) for e in entries])
    return Moments(np.array([t for t, _ in rows]), np.array([d for _, d in rows]), moving)


def second_moments(entries: Any, parameters: Parameters, wrt: Parameters) -> np.ndarray:
    """The second derivatives of times that `moments` takes, shape (m, k, k)."""
    k, q = len(wrt), wrt.vector()

    def curved(f: Callable[[Any], Any]) -> np.ndarray:
        def g(q: Any) -> Any:
            moving = {name: q[j] for j, name in enumerate(wrt)}
            return as_value(f(ModelParameters({**parameters, **moving})), "a time")

        return np.asarray(jacfwd(jacfwd(g))(q), float)

    if callable(entries):
        return curved(entries)
    if not _holds_functions(entries):
        return np.zeros((*np.shape(entries), k, k))
    return np.array([curved(e) if callable(e) else np.zeros((k, k)) for e in entries])


def _holds_functions(entries: Any) -> bool:
    return isinstance(entries, (list, tuple)) and any(map(callable, entries))


def _value_and_slope(
    f: Callable[[Any], Any], parameters: Parameters, wrt: Parameters, what: str
) -> tuple[np.ndarray, np.ndarray]:
    """A function of the parameters and its derivatives by those of wrt, (*shape, k)."""
    fixed, names = dict(parameters), wrt.names

    def g(t: Any, y: Any, q: list[Any]) -> Any:
        try:
            seen = ModelParameters({**fixed, **dict(zip(names, q, strict=True))})
            return as_value(f(seen), f"a time of {what}")
        except DualADError:
            raise
        except Exception as error:
            raise SensitivityError(failure(what, f, error)) from error

    values = [np.float64(v) for v in wrt.values()]
    if not values:
        out = np.asarray(g(0.0, None, []), float)
        return out, np.zeros((*out.shape, 0))
    value, slope = pushed(g, 0.0, None, values, dq=np.eye(len(values)))
    value = np.asarray(value, float)
    return value, np.moveaxis(derivative(value, slope, len(values)), 0, -1)
