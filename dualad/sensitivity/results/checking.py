"""Each derivative beside what an independent method finds, with a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CheckError, SensitivityError
from ..notices import quietly
from .differences import Difference, central, complex_step
from .tabular import Table

if TYPE_CHECKING:
    from .sensitivities import Sensitivities

__all__ = ["Check", "check"]

METHODS = ("central", "complex", "high precision")
COLUMNS = ("t", "output", "parameter", "value", "reference", "difference", "error", "verdict")
#: How many times the estimated error of the reference a difference may be.
TIMES = 20.0


class Check(Table):
    """The table of a check; `ok` says whether no entry disagrees."""

    @property
    def ok(self) -> bool:
        """Whether no derivative differs from its reference."""
        return not self.failed()

    def failed(self) -> list[dict[str, Any]]:
        """The rows whose derivatives differ from their references."""
        return [row for row in self if row["verdict"].startswith("differs")]

    def require(self) -> None:
        """Nothing, if all agree.

        Raises:
            CheckError: a derivative differs; the error names output and parameter.
        """
        for row in self.failed():
            time = f" at t = {row['t']:g}" if "t" in row else ""
            raise CheckError(
                f"d{row['output']}/d{row['parameter']}{time} is {row['value']:.10g}, but an "
                f"independent method finds {row['reference']:.10g}: {row['verdict']}"
            )


def check(result: Sensitivities, method: str = "central", rtol: float | None = None) -> Check:
    """See `Sensitivities.check`.

    The verdicts are "agrees"; "differs"; "not differentiable", where the derivatives from the left
    and from the right are two, and the one given is between them; "below noise", where the
    reference cannot tell the derivative from 0.
    """
    if method not in METHODS:
        raise SensitivityError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if result.again is None:
        raise SensitivityError(
            "this result does not know how to compute its values again (it was read from a file, "
            "or made by hand), so there is nothing to check it with"
        )
    times = result.row_labels()
    columns = COLUMNS[1:] if times is None else COLUMNS
    rows: list[tuple[Any, ...]] = []
    for j, name in enumerate(result.parameters):
        reference = _reference(result, method, j)
        rows.extend(_rows(result, name, j, reference, times, _tolerance(result, rtol)))
    bad = sum(row[-1].startswith("differs") for row in rows)
    title = f"{len(rows)} derivatives against {method}: {bad} differ"
    return Check(columns, rows, title)


def _tolerance(result: Sensitivities, rtol: float | None) -> float:
    if rtol is not None:
        return rtol
    return max(1e-9, 20 * float(result.settings.get("rtol") or 0.0))


def _reference(result: Sensitivities, method: str, j: int) -> Difference:
    """The derivative by one parameter, flat over the outputs."""
    x = result.parameters.vector()
    f = _recomputed(result)
    if method == "complex":
        try:
            return complex_step(f, x, j)
        except Exception as error:
            raise SensitivityError(
                f"the model cannot be computed for complex parameters ({error}): check with "
                f"method='central'"
            ) from error
    if method == "high precision":
        x = x.astype(np.longdouble)
    return central(f, x, j, _step(result, j))


def _recomputed(result: Sensitivities) -> Callable[[np.ndarray], np.ndarray]:
    again = result.again
    assert again is not None

    def f(x: np.ndarray) -> np.ndarray:
        with quietly():
            out = np.asarray(again(x))
        if out.shape != result.values.shape:
            raise SensitivityError(
                f"the model gave values of shape {out.shape} for other parameters, instead of "
                f"{result.values.shape}: fix the times of the result"
            )
        return out.reshape(-1)

    return f


def _step(result: Sensitivities, j: int) -> float:
    """The largest step: a part of the parameter that stays inside of its bounds."""
    p = result.parameters.vector()[j]
    lower, upper = (b[j] for b in result.parameters.bounds)
    h = 0.05 * abs(p) or 0.05
    room = min(upper - p, p - lower)
    return float(min(h, room) if room > 0 else h)


def _rows(
    result: Sensitivities,
    name: str,
    j: int,
    reference: Difference,
    times: np.ndarray | None,
    rtol: float,
) -> list[tuple[Any, ...]]:
    n = len(result.outputs)
    flat = result.jacobian.reshape(-1, len(result.parameters))[:, j]
    floors = _floors(result, j)
    rows: list[tuple[Any, ...]] = []
    for i, value in enumerate(flat.tolist()):
        head = () if times is None else (float(times[i // n]),)
        found, error = float(reference.value[i]), float(reference.error[i])
        verdict = _verdict(value, reference, i, rtol, floors[i % n])
        rows.append(
            (*head, result.outputs[i % n], name, value, found, value - found, error, verdict)
        )
    return rows


def _floors(result: Sensitivities, j: int) -> np.ndarray:
    """For each output, what an integration's tolerance leaves of a derivative that is 0."""
    noise = float(result.settings.get("rtol") or 0.0)
    scale = abs(result.parameters.vector()[j]) or 1.0
    return noise * np.abs(result.flat()[0]).max(axis=0, initial=0.0) / scale


def _verdict(value: float, reference: Difference, i: int, rtol: float, floor: float = 0.0) -> str:
    found, error = float(reference.value[i]), float(reference.error[i])
    left, right = float(reference.left[i]), float(reference.right[i])
    close = rtol * max(abs(value), abs(found)) + floor + 1e-300
    # A kink shows as two one-sided derivatives that are each extrapolated well, and further apart
    # than the tolerance of an integration leaves them.
    apart, noise = abs(left - right), 1e3 * error + floor
    if np.isfinite(apart) and apart > 1e-3 * max(abs(left), abs(right), 1e-300) + noise:
        within = min(left, right) - close <= value <= max(left, right) + close
        sides = f"{left:.6g} from the left, {right:.6g} from the right"
        return f"not differentiable: {sides}" if within else f"differs: {sides}"
    if not np.isfinite(found):
        return "differs: the reference is not finite"
    if abs(value - found) <= close:
        return "agrees"
    if abs(value - found) <= TIMES * error:
        return "below noise" if abs(value) <= TIMES * error else "agrees"
    return "differs"
