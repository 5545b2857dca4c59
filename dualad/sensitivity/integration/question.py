"""What is asked of an integration, checked before it begins: times, states, scales, tolerances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ModelError, ParameterError, SensitivityError, unknown_name
from ..given import mapped, members, numbers
from ..named import mapping_of
from ..notices import warn
from ..parameters.parameters import ModelParameters, Parameters
from .model import start_of, state_vector
from .times import Moments, moments

__all__ = [
    "absolute_tolerance",
    "initial_state",
    "output_times",
    "relative_tolerance",
    "scales",
    "sensitivity_atol",
    "sensitivity_rtol",
    "span",
]


def span(t_span: Any, parameters: Parameters, wrt: Parameters) -> Moments:
    """The first and the last time, and how they move with the parameters."""
    try:
        two = len(t_span) == 2
    except TypeError:
        two = False
    if not two:
        raise SensitivityError(f"t_span must be the first and the last time, got {t_span!r}")
    out = moments(t_span, parameters, wrt, "t_span")
    if out.t.shape != (2,):
        raise SensitivityError(f"t_span must be the first and the last time, got {t_span!r}")
    if not np.isfinite(out.t).all() or out.t[0] == out.t[1]:
        raise SensitivityError(
            f"t_span must be two different finite times, got {t_span!r}: "
            f"({out.t[0]:g}, {out.t[1]:g})"
        )
    return out


def output_times(t_eval: Any, ends: Moments, parameters: Parameters, wrt: Parameters) -> Moments:
    """The times of the result, in order from t0 to t1 and between them; some may be the same."""
    (t0, t1), out = ends.t, moments(t_eval, parameters, wrt, "t_eval")
    times = out.t
    if times.ndim != 1 or not times.size:
        hint = f": [{times:g}]" if times.ndim == 0 else ""
        raise SensitivityError(
            f"t_eval must be a list of times, at least one, got shape {times.shape}{hint}"
        )
    if not np.isfinite(times).all():
        raise SensitivityError("the times of t_eval must be finite")
    if not (np.diff(times) * (t1 - t0) >= 0).all():
        raise SensitivityError(out_of_order(times, t1 - t0))
    if not (min(t0, t1) <= times.min() and times.max() <= max(t0, t1)):
        raise SensitivityError(
            f"t_eval runs from {times[0]:g} to {times[-1]:g}, outside of t_span = ({t0:g}, {t1:g})"
        )
    return out


def out_of_order(times: np.ndarray, ahead: float) -> str:
    """Which times of t_eval do not go on in the direction of the integration."""
    i = int(np.flatnonzero(np.diff(times) * ahead < 0)[0])
    way, remedy = "rise" if ahead > 0 else "fall", "np.sort(t_eval)" + "[::-1]" * int(ahead < 0)
    return (
        f"the times of t_eval must {way} from t0 to t1, but {times[i]:g} is followed by "
        f"{times[i + 1]:g}: {remedy}"
    )


def initial_state(
    y0: Any, parameters: Parameters, states: Sequence[str] | None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The state at the start as a vector, and the names of the states."""
    value = start_of(y0, ModelParameters(parameters)) if callable(y0) else y0
    start = np.array(state_vector(value), float)
    named = tuple(mapping_of(value) or ())
    names = named or tuple(f"y{i + 1}" for i in range(start.size))
    names = names if states is None else tuple(members("states", states, "names"))
    if named and set(names) == set(named) and names != named:
        raise ModelError(
            f"the states are {', '.join(names)}, but y0 has them as {', '.join(named)}: leave "
            f"states out, or give both in one order"
        )
    strange = [name for name in names if not isinstance(name, str)]
    if strange:
        raise ModelError(f"the name of a state must be a string, got {strange[0]!r}")
    if len(names) != start.size or len(set(names)) != len(names):
        raise ModelError(
            f"there are {start.size} states, so there must be as many different names: {names!r}"
        )
    return start, names


def functions_by_name(what: str, given: Any, taken: Sequence[str]) -> dict[str, Callable]:
    """A mapping of new names to functions."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise SensitivityError(f"{what} must be a mapping of names to functions of (t, y, p)")
    for name, g in given.items():
        if not isinstance(name, str) or not callable(g):
            raise SensitivityError(f"{what}[{name!r}] must be a function of (t, y, p), got {g!r}")
        if name in taken:
            raise SensitivityError(f"the name {name!r} of {what} is taken: give it another")
    return dict(given)


def scales(chosen: Parameters, pscale: Mapping[str, float] | None) -> np.ndarray:
    """The scale of each parameter: what was given, else its magnitude."""
    given = mapped("pscale", pscale, "parameters to numbers")
    chosen.subset(given)
    zero = [name for name, value in chosen.items() if value == 0 and name not in given]
    if zero:
        warn(
            f"{', '.join(zero)} is 0, which says nothing about its scale: the sensitivity is "
            f"controlled as for a scale of 1; pscale={{{zero[0]!r}: ...}} gives another",
            stacklevel=3,
        )
    out = np.array([given.get(name, abs(value) or 1.0) for name, value in chosen.items()], float)
    if not (np.isfinite(out) & (out > 0)).all():
        raise ParameterError(f"the scale of a parameter must be positive and finite: {pscale}")
    return out


# --- tolerances


def relative_tolerance(rtol: Any, what: str = "rtol") -> float:
    """One relative tolerance, no smaller than rounding allows."""
    least = 100 * np.finfo(float).eps
    if isinstance(rtol, bool) or not isinstance(rtol, (int, float, np.number)):
        raise SensitivityError(f"{what} must be a number, got {rtol!r}")
    if not least <= rtol < 1:
        raise SensitivityError(
            f"{what} is {rtol:g}; it must be below 1, and at least {least:.2g}, a hundred times "
            f"the rounding of floats"
        )
    return float(rtol)


def absolute_tolerance(
    atol: Any, states: Sequence[str], integrals: Sequence[str], start: np.ndarray
) -> np.ndarray:
    """One absolute tolerance for each state and each integral.

    Integrals take the smallest of the states', unless atol is a mapping that names them.
    """
    n, rows = len(states), (*states, *integrals)
    if isinstance(atol, Mapping):
        for name in atol:
            if name not in rows:
                raise SensitivityError(unknown_name("state or integral", name, rows))
        missing = [name for name in states if name not in atol]
        if missing:
            raise SensitivityError(f"atol names no tolerance for {', '.join(missing)}")
        least = min(atol[name] for name in states)
        out = numbers("atol", [atol.get(name, least) for name in rows])
    else:
        given = numbers("atol", atol)
        if given.shape not in ((), (n,)):
            raise wrong_atol(atol, n)
        own = np.broadcast_to(given, (n,))
        out = np.concatenate([own, np.full(len(integrals), own.min())])
    if not (np.isfinite(out) & (out >= 0)).all():
        raise wrong_atol(atol, n)
    lost = [name for name, a, v in zip(states, out, start, strict=False) if a == 0 and v == 0]
    lost += [name for name, a in zip(integrals, out[n:], strict=True) if a == 0]
    if lost:
        raise SensitivityError(
            f"atol is 0 for {', '.join(lost)}, which begins at 0: no error would be small enough. "
            f"Give it a positive atol"
        )
    return out


def wrong_atol(atol: Any, n: int) -> SensitivityError:
    return SensitivityError(
        f"atol must be one number, or one for each of the {n} states, not negative: {atol!r}"
    )


def sensitivity_rtol(given: Any, rtol: float, chosen: Parameters) -> np.ndarray:
    """One relative tolerance for each parameter."""
    if given is None:
        return np.full(len(chosen), rtol)
    values = by_parameter("sens_rtol", given, chosen, rtol)
    return np.array([relative_tolerance(v, f"sens_rtol of {n}") for n, v in values])


def sensitivity_atol(
    given: Any, atol: np.ndarray, chosen: Parameters, scale: np.ndarray, rows: Sequence[str]
) -> np.ndarray:
    """One absolute tolerance for each scaled sensitivity, shape (k, n).

    Without another wish it is that of the state: c dy/dp is measured in the unit of y.
    """
    n, k = len(rows), len(chosen)
    if given is None:
        zero = [name for name, a in zip(rows, atol, strict=True) if a == 0]
        if zero and k:
            raise SensitivityError(
                f"atol is 0 for {', '.join(zero)}, but its sensitivities may be 0: give sens_atol"
            )
        return np.broadcast_to(atol, (k, n))
    values = by_parameter("sens_atol", given, chosen, None)
    out = np.empty((k, n))
    for j, (name, value) in enumerate(values):
        own = atol / scale[j] if value is None else numbers(f"sens_atol of {name}", value)
        if own.shape not in ((), (n,)) or not (np.isfinite(own) & (own > 0)).all():
            raise SensitivityError(
                f"sens_atol of {name} must be positive, one number or one for each of the {n} "
                f"states: {value!r}"
            )
        out[j] = own * scale[j]
    return out


def by_parameter(what: str, given: Any, chosen: Parameters, default: Any) -> list[tuple[str, Any]]:
    """A wish for each parameter, from one for all, or a mapping of names."""
    if isinstance(given, Mapping):
        for name in given:
            if name not in chosen:
                raise ParameterError(unknown_name("parameter", name, chosen))
        return [(name, given.get(name, default)) for name in chosen]
    return [(name, given) for name in chosen]
