"""A right-hand side as its author wrote it, and what is said when it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...engine.levels.values import as_value
from ...errors import DualADError
from ..errors import ModelError, SensitivityError
from ..named import in_order, mapping_of
from ..parameters.parameters import ModelParameters, Parameters
from ..user_errors import failure
from .pushing import gathered

__all__ = [
    "Model",
    "NotFiniteError",
    "listed",
    "plain",
    "sealed",
    "start_of",
    "state_vector",
    "states_there_are",
]


class NotFiniteError(ModelError):
    """What the model gave is not finite."""


def start_of(y0: Callable[[Any], Any], p: ModelParameters) -> Any:
    """What y0(p) gives, traced or not."""
    try:
        return y0(p)
    except SensitivityError:
        raise
    except Exception as error:
        raise ModelError(failure("y0", y0, error)) from error


def state_vector(value: Any) -> Any:
    """A state as one vector: from an array, a list, or a mapping of names, traced or not."""
    named = mapping_of(value)
    parts = value if named is None else list(named.values())
    try:
        out = as_value(parts, "the state y0")
    except (DualADError, ValueError) as error:
        raise ModelError(f"y0 is no list of numbers: {error}") from error
    if out.dtype.kind not in "fiu":
        raise ModelError(f"y0 must be a list of real numbers, got dtype {out.dtype}")
    if len(out.shape) != 1 or not out.shape[0]:
        raise ModelError(f"y0 must be a list of states, got shape {out.shape}")
    return out


class Model:
    """The right-hand side f(t, y, p) of n states, and m integrands g(t, y, p), checked.

    An integral is one more state, whose slope is the integrand; the user's functions do not see
    it. `rows` are the names of all n + m.

    Args:
        rhs: the function, written in NumPy; p gives the parameters by name.
        parameters: the values of all parameters.
        states: the names of the states.
        integrals: the integrands, by name.
        written: the functions that rhs is made of, where it is not the user's own.
    """

    def __init__(
        self,
        rhs: Callable[..., Any],
        parameters: Parameters,
        states: tuple[str, ...],
        integrals: Mapping[str, Callable[..., Any]] | None = None,
        written: tuple[Callable[..., Any], ...] = (),
    ):
        self.rhs, self.parameters, self.states = rhs, parameters, states
        self.integrals = dict(integrals or {})
        #: all functions of the user that are read
        self.written = (*(written or (rhs,)), *self.integrals.values())
        self.rows = (*states, *self.integrals)
        self.fixed = dict(parameters)
        self.name = getattr(rhs, "__name__", type(rhs).__name__)

    def __call__(self, t: Any, y: Any, moving: Mapping[str, Any]) -> Any:
        """dy/dt and the integrands, where the parameters in `moving` have other values."""
        p = ModelParameters({**self.fixed, **moving})
        y = sealed(y)
        if not self.integrals:
            return self.slopes(t, y, p)
        y = y[: len(self.states)]
        rates = [self.scalar(name, g, t, y, p) for name, g in self.integrals.items()]
        return np.concatenate([self.slopes(t, y, p), np.stack(rates)])

    def slopes(self, t: Any, y: Any, p: ModelParameters) -> Any:
        """dy/dt, of shape (n,)."""
        out = self.value(self.name, self.rhs, t, y, p)
        if out.shape != (len(self.states),):
            raise ModelError(
                f"{self.name} returned shape {out.shape} at t = {plain(t):g}; "
                f"{states_there_are(self.states)}, so it must be {(len(self.states),)}"
            )
        return out

    def scalar(self, name: str, g: Callable[..., Any], t: Any, y: Any, p: ModelParameters) -> Any:
        """One number g(t, y, p), traced or not."""
        out = self.value(name, g, t, y, p)
        if out.shape == (1,):
            out = out[0]
        if out.shape != ():
            raise ModelError(
                f"{name} returned shape {out.shape} at t = {plain(t):g}; it must be one number"
            )
        if out.dtype.kind not in "fiu":
            raise ModelError(
                f"{name} returned {out.dtype} at t = {plain(t):g}; it must be a real number"
            )
        return out if out.dtype.kind == "f" else np.float64(out)

    def value(self, name: str, f: Callable[..., Any], t: Any, y: Any, p: ModelParameters) -> Any:
        """What a function of the user's returned, as an array of real numbers."""
        try:
            out = f(t, y, p)
        except SensitivityError:
            raise
        except Exception as error:
            raise self.failure(t, error, f, name) from error
        if out is None:
            raise ModelError(
                f"{name} at t = {plain(t):g} returned None: is a return statement missing?"
            )
        try:
            return as_value(gathered(out), f"what {name} returned")
        except (DualADError, ValueError) as error:
            raise ModelError(f"{name} at t = {plain(t):g}: {error}") from error

    def failure(
        self, t: Any, error: Exception, f: Any = None, name: str | None = None
    ) -> ModelError:
        """An exception of the model's own, with the line of its code."""
        what = f"{name or self.name} at t = {plain(t):g}"
        given = "(t, y, p), y an array, in the order of the states"
        return ModelError(failure(what, self.rhs if f is None else f, error, given))

    def try_out(self, t: float, y: np.ndarray) -> None:
        """One plain call, before any integration: shape, dtype, finite values, no side effects."""
        given = y.copy()
        p = ModelParameters(self.fixed)
        returned = self.value(self.name, self.rhs, t, given[: len(self.states)], p)
        self.require_floats(t, returned)
        if not np.array_equal(given, y):
            raise self.writes()
        out = np.asarray(self(t, given, {}), float)
        self.require_finite(t, y, out, self.name)
        if not np.array_equal(out, self(t, y.copy(), {})):
            raise ModelError(
                f"{self.name} gave two results for the same t, y and p: a right-hand side must "
                f"not keep a state of its own or draw random numbers"
            )

    def require_floats(self, t: float, out: Any) -> None:
        """Real numbers; an integer array has cut off what was stored into it."""
        if out.dtype.kind not in "fiu":
            raise ModelError(f"{self.name} returned {out.dtype} at t = {t:g}, not real numbers")
        if out.dtype.kind in "iu":
            raise ModelError(
                f"{self.name} returned integers ({out.dtype}) at t = {t:g}: an array of integers "
                f"cuts off what is stored into it; make it of floats (1.0 for 1, "
                f"np.zeros_like(y) for a buffer)"
            )

    def writes(self) -> ModelError:
        return ModelError(
            f"{self.name} writes into the state that it is given: copy it first (y = y.copy())"
        )

    def require_finite(self, t: float, y: Any, values: np.ndarray, what: str) -> None:
        """values, one row a state or integral, must hold no NaN and no infinity."""
        bad = [
            name
            for name, row in zip(self.rows, np.asarray(values), strict=True)
            if not np.all(np.isfinite(row))
        ]
        if bad:
            raise NotFiniteError(self.not_finite(t, y, what, bad), t, y)

    def not_finite(self, t: float, y: Any, what: str, bad: list[str]) -> str:
        """The sentence that says where, for which state and which parameters."""
        values = np.asarray(y)[: len(self.states)]
        pairs = list(zip(self.states, values, strict=True))
        at = ", ".join(f"{n} = {v:.6g}" for n, v in pairs[:12]) + ", ..." * (len(pairs) > 12)
        p = ", ".join(f"{n} = {v:.6g}" for n, v in self.parameters.items())
        where = f"at t = {t:g}; state: {at}; parameters: {p}"
        return f"{what} is not finite for {', '.join(bad)} {where}"


def states_there_are(states: Sequence[str]) -> str:
    """How many states there are, with their names."""
    few = ", ".join(states[:12]) + ", ..." * (len(states) > 12)
    one = len(states) == 1
    return f"there {'is' if one else 'are'} {len(states)} state{'' if one else 's'} ({few})"


class SlopesByName:
    """A right-hand side whose slopes have the names of the states, as one that lists them."""

    def __init__(self, rhs: Callable[..., Any], states: Sequence[str]):
        self.rhs, self.states = rhs, states
        self.__name__ = getattr(rhs, "__name__", type(rhs).__name__)
        self.__code__ = getattr(rhs, "__code__", None)

    def __call__(self, t: Any, y: Any, p: Any) -> Any:
        return in_order(self.rhs(t, y, p), self.states, f"what {self.__name__} returned")


def listed(rhs: Callable[..., Any], states: Sequence[str], t: float, y: Any, p: Any) -> Any:
    """The right-hand side as one that lists its slopes; (t, y, p) is where it is tried."""
    try:
        given = rhs(t, sealed(np.array(y)), ModelParameters(p))
    except Exception:
        return rhs  # It will be said where it is first computed in earnest.
    return rhs if mapping_of(given) is None else SlopesByName(rhs, states)


def sealed(y: Any) -> Any:
    """A plain state that the user's function cannot write into; a traced one copies by itself."""
    if type(y) is np.ndarray:
        y = y.view()
        y.flags.writeable = False
    return y


def plain(t: Any) -> float:
    """A time for a message, traced or not."""
    while hasattr(t, "primal"):
        t = t.primal
    return float(t)
