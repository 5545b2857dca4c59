"""Each derivative beside what an independent method finds, with a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import CheckError, SensitivityError
from ..given import number
from ..notices import quietly
from ..progress import Line
from .differences import Difference, central, complex_step
from .tabular import Table

if TYPE_CHECKING:
    from .sensitivities import Sensitivities

__all__ = ["Check", "check"]

METHODS = ("central", "complex", "high precision")
COLUMNS = ("t", "output", "parameter", "value", "reference", "difference", "error", "verdict")
#: How many times the estimated error of the reference a difference may be.
TIMES = 20.0
#: How often the steps are shortened, and by what, where events come or go within them.
SHORTER, FACTOR = 5, 8.0


class OtherShapeError(SensitivityError):
    """Within a step of a difference events come or go, or times do."""


class Check(Table):
    """The table of a check; `ok` says whether no entry disagrees.

    `failed()` are the rows that do, `kinks()` those where there is no derivative to disagree with.
    """

    @property
    def ok(self) -> bool:
        """Whether no derivative differs from its reference."""
        return not self.failed()

    def failed(self) -> list[dict[str, Any]]:
        """The rows whose derivatives differ from their references."""
        return [row for row in self if row["verdict"].startswith("differs")]

    def kinks(self) -> list[dict[str, Any]]:
        """The rows where the derivatives from the left and from the right are two."""
        return [row for row in self if row["verdict"].startswith("not differentiable")]

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


def check(
    result: Sensitivities,
    method: str = "central",
    rtol: float | None = None,
    progress: bool = False,
) -> Check:
    """See `Sensitivities.check`.

    The verdicts are "agrees"; "differs"; "not differentiable", where the derivatives from the left
    and from the right are two, and the one given is between them; "below noise", where the
    reference cannot tell the derivative from 0; and for complex steps, where only those differ,
    "agrees with differences".
    """
    if method not in METHODS:
        raise SensitivityError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if rtol is not None and not number("rtol", rtol) > 0:
        raise SensitivityError(f"rtol must be positive, got {rtol!r}")
    if result.again is None:
        raise SensitivityError(
            "this result does not know how to compute its values again, so there is nothing to "
            "check it with: it was read from a file or made by hand, its integration ended early, "
            "or its times are those of steps and events (give t_eval)"
        )
    times = result.row_labels()
    columns = COLUMNS[1:] if times is None else COLUMNS
    rows: list[tuple[Any, ...]] = []
    close, count = _tolerance(result, rtol), len(result.parameters)
    with Line(progress) as line:
        for j, name in enumerate(result.parameters):

            def said(runs: int, j: int = j, name: str = name) -> None:
                line.say(lambda: f"{name} ({j + 1} of {count} parameters): run {runs}")

            f = _Recomputed(result, said)
            found = _rows(result, name, j, _reference(result, f, method, j, close), times, close)
            if method == "complex" and any(row[-1].startswith("differs") for row in found):
                plain = _reference(result, f, "central", j, close)
                found = _analytic(found, _rows(result, name, j, plain, times, close))
            rows.extend(found)
    table = Check(columns, rows)
    kinks = len(table.kinks())
    table.title = (
        f"{len(rows)} derivative{'s' * (len(rows) != 1)} against {method}: "
        f"{len(table.failed())} differ{f', {kinks} not differentiable' * bool(kinks)}"
    )
    return table


def _analytic(rows: list[tuple[Any, ...]], plain: list[tuple[Any, ...]]) -> list[Any]:
    """What differs from complex steps but not from differences is of a model without them.

    A model with np.abs or .real in it is not analytic, and takes no complex step.
    """
    return [
        (*row[:-1], "agrees with differences: the model is not analytic")
        if row[-1].startswith("differs") and not other[-1].startswith("differs")
        else row
        for row, other in zip(rows, plain, strict=True)
    ]


def _tolerance(result: Sensitivities, rtol: float | None) -> float:
    if rtol is not None:
        return rtol
    return max(1e-9, 20 * float(result.settings.get("rtol") or 0.0))


def _reference(
    result: Sensitivities, f: Callable[[np.ndarray], Any], method: str, j: int, rtol: float
) -> Difference:
    """The derivative by one parameter, flat over the outputs."""
    floors = np.resize(_floors(result, j), result.values.size)

    def enough(value: np.ndarray) -> np.ndarray:
        return np.asarray(0.05 * (rtol * np.abs(value) + floors))

    x = result.parameters.vector()
    if method == "complex":
        try:
            return complex_step(f, x, j)
        except Exception as error:
            raise SensitivityError(
                f"the model cannot be computed for complex parameters ({error}): check with "
                f"method='central'"
            ) from error
    h = _step(result, j)
    for _ in range(SHORTER):
        try:
            return _central(f, x, j, h, method, enough)
        except OtherShapeError:
            h /= FACTOR
    return _central(f, x, j, h, method, enough)


def _central(
    f: Callable[[np.ndarray], Any],
    x: np.ndarray,
    j: int,
    h: float,
    method: str,
    enough: Callable[[np.ndarray], np.ndarray],
) -> Difference:
    if method == "high precision":
        return central(f, x.astype(np.longdouble), j, h)
    return central(f, x, j, h, enough=enough)


class _Recomputed:
    """The values for other parameters, flat; `said` is told of each run."""

    def __init__(self, result: Sensitivities, said: Callable[[int], None]):
        self.result, self.said, self.runs = result, said, 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        again, shape = self.result.again, self.result.values.shape
        assert again is not None
        self.runs += 1
        self.said(self.runs)
        with quietly():
            out = np.asarray(again(x))
        if out.shape != shape:
            raise OtherShapeError(
                f"the model gave values of shape {out.shape} for other parameters, instead of "
                f"{shape}: fix the times of the result; an event that comes or goes here, at the "
                f"end of the span, say, has no derivative that differences could find"
            )
        return out.reshape(-1)


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
