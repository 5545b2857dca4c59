"""A result as JSON, and back: every number to the last bit, every name, unit and setting."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...version import __version__
from ..errors import SensitivityError
from ..given import file_path
from ..parameters.parameter import Parameter
from ..parameters.parameters import Parameters
from .export import write

if TYPE_CHECKING:
    from .sensitivities import Sensitivities

__all__ = ["from_json", "parameters_of", "parameters_record", "to_json"]

FORMAT = "dualad.sensitivity"
#: Raised by one whenever an older program could not read the file rightly.
VERSION = 1


def to_json(result: Sensitivities, path: str | Path | None) -> str:
    """See `Sensitivities.to_json`. What is a function (dense output, recomputing) is left out."""
    record = {"format": FORMAT, "version": VERSION, "dualad": __version__, **_record(result)}
    return write(json.dumps(record, allow_nan=False, indent=1, default=_plain), path)


def _record(result: Sensitivities) -> dict[str, Any]:
    times = result.row_labels()
    out = {
        "type": "TimeSensitivities" if times is not None else "Sensitivities",
        "outputs": result.outputs,
        "parameters": parameters_record(result.parameters),
        "values": _numbers(result.values),
        "jacobian": _numbers(result.jacobian),
        "hessian": None if result.hessian is None else _numbers(result.hessian),
        "layout": result.layout,
        "units": result.output_units,
        "stats": _strict(result.stats),
        "settings": _strict(result.settings),
        "warnings": result.warnings,
    }
    if hasattr(result, "totals"):
        out["totals"] = result.totals
    return out if times is None else {**out, **_time_record(result)}


def _time_record(result: Any) -> dict[str, Any]:
    bends = {n: getattr(e, "hessian", None) for n, e in result.events.items()}
    events = {
        name: {
            "times": _numbers(e.times),
            "dt": _numbers(e.dt),
            "hessian": None if bends[name] is None else _numbers(bends[name]),
            "units": getattr(e, "output_units", {}),
        }
        for name, e in result.events.items()
    }
    log = [{key: _logged(x) for key, x in vars(e).items()} for e in result.event_log]
    return {
        "event_log": log,
        "t": _numbers(result.t),
        "dt": None if result.dt is None else _numbers(result.dt),
        "time_unit": result.time_unit,
        "success": bool(result.success),
        "message": str(result.message),
        "events": events,
        "integrals": None if result.integrals is None else _record(result.integrals),
    }


def from_json(source: str | Path) -> Any:
    """See `Sensitivities.from_json`."""
    is_text = isinstance(source, str) and source.lstrip().startswith("{")
    try:
        text = str(source) if is_text else file_path("source", source).read_text("utf-8")
        record = json.loads(text)
    except SensitivityError:
        raise
    except (OSError, ValueError) as error:
        raise SensitivityError(f"no result can be read from {str(source)[:80]}: {error}") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise SensitivityError(f"{str(source)[:80]} is no file of a result (format {FORMAT!r})")
    if record.get("version", 0) > VERSION:
        raise SensitivityError(
            f"the file was written by dualad {record.get('dualad')}, in version "
            f"{record['version']} of the format; this one reads up to {VERSION}: install a newer "
            f"dualad"
        )
    try:
        return _result(record)
    except (KeyError, TypeError, AttributeError) as error:
        raise SensitivityError(f"the file of the result is damaged: {error!r}") from error


def _result(record: dict[str, Any]) -> Any:
    from .sensitivities import Sensitivities
    from .steady_sensitivities import SteadySensitivities
    from .time_sensitivities import TimeSensitivities

    shared = {
        "outputs": record["outputs"],
        "parameters": parameters_of(record["parameters"]),
        "units": record["units"],
        "stats": record["stats"],
        "settings": record["settings"],
        "warnings": record["warnings"],
        "hessian": None if record["hessian"] is None else _array(record["hessian"]),
    }
    values, jacobian = _array(record["values"]), _array(record["jacobian"])
    if record["type"] == "Sensitivities":
        shared["layout"] = record["layout"]
        if "totals" in record:
            return SteadySensitivities(values, jacobian, totals=record["totals"], **shared)
        return Sensitivities(values, jacobian, **shared)
    integrals = record["integrals"]
    log = [_firing(e) for e in record["event_log"]]
    return TimeSensitivities(
        _array(record["t"]), values, jacobian, **shared,
        dt=None if record["dt"] is None else _array(record["dt"]),
        time_unit=record["time_unit"],
        success=record["success"],
        message=record["message"],
        events={name: _event(name, e, log, shared["parameters"])
                for name, e in record["events"].items()},
        event_log=log,
        integrals=None if integrals is None else _result(integrals),
    )  # fmt: skip


def _logged(x: Any) -> Any:
    return _numbers(x) if isinstance(x, np.ndarray) else x


def _firing(record: dict[str, Any]) -> Any:
    from ..integration.events import Firing

    known: dict[str, Any] = {k: _array(x) if isinstance(x, dict) else x for k, x in record.items()}
    return Firing(**known)


def _event(name: str, record: dict[str, Any], log: list[Any], parameters: Parameters) -> Any:
    from ..integration.events import EventTimes

    firings = [e for e in log if e.name == name]
    states = len(log[0].y) if log else 0
    bends = None if record["hessian"] is None else list(_array(record["hessian"]))
    out = EventTimes(name, firings, states, parameters, bends)
    out.output_units = record["units"]
    return out


def parameters_record(parameters: Parameters) -> dict[str, Any]:
    """All that is known of parameters, as JSON has it."""
    details = {
        name: {key: _finite(x) for key, x in vars(p).items()} for name, p in parameters.details()
    }
    return {"details": details, "correlation": parameters.correlation.tolist()}


def parameters_of(record: dict[str, Any]) -> Parameters:
    """The parameters of a record."""
    details = {}
    for name, p in record["details"].items():
        known: dict[str, Any] = {**p, "dof": _number(p["dof"])}
        details[name] = Parameter(**known)
    return Parameters(details, record["correlation"] if details else None)


def _numbers(array: Any) -> dict[str, Any]:
    """An array as its shape and its numbers; those that JSON does not have are words."""
    a = np.asarray(array, float)
    return {"shape": a.shape, "data": [_finite(x) for x in a.reshape(-1).tolist()]}


def _array(record: dict[str, Any]) -> np.ndarray:
    return np.array([_number(x) for x in record["data"]], float).reshape(record["shape"])


def _finite(x: Any) -> Any:
    return str(x) if isinstance(x, float) and not math.isfinite(x) else x


def _number(x: Any) -> float:
    return float(x)


def _strict(x: Any) -> Any:
    """Settings and counts without what JSON does not have."""
    if isinstance(x, dict):
        return {str(key): _strict(value) for key, value in x.items()}
    if isinstance(x, list | tuple):
        return [_strict(value) for value in x]
    if isinstance(x, np.ndarray | np.generic):
        return _strict(x.tolist())
    return _finite(x)


def _plain(x: Any) -> Any:
    """Anything else by what it says of itself."""
    return getattr(x, "__name__", None) or str(x)
