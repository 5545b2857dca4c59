"""What a command line asks of a model file: its parameters and arguments, with what is changed."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..ensembles.problem import Problem
from ..errors import ParameterError, SensitivityError, unknown_name
from ..model_file import ModelFile
from ..parameters.parameters import Parameters
from ..results.sensitivities import Sensitivities
from ..results.time_sensitivities import TimeSensitivities
from .parameter_file import read_parameters

__all__ = ["parameters", "posed", "selected", "with_units"]

#: So many times are tabled of a course whose file names none.
TIMES = 11


def parameters(model: ModelFile, args: argparse.Namespace) -> Parameters:
    """The parameters of the file, with those of --params and --set in their place."""
    own = model.params
    if own is None and args.params is None:
        raise SensitivityError(f"{model.name} defines no params, and there is no --params")
    out = None if own is None else Parameters(own)
    if args.params is not None:
        out = read_parameters(args.params, out)
    assert out is not None
    for name, value in args.set:
        if name not in out:
            raise ParameterError(f"--set: {unknown_name('parameter', name, out)}")
        out = out.replace(**{name: replace(out.parameter(name), value=value)})
    return out


def posed(model: ModelFile, args: argparse.Namespace, **changes: Any) -> Problem:
    """The problem that the command line asks.

    Args:
        model: what the file defines.
        args: the options.
        changes: further arguments of the analysis; those that it does not have are left out.
    """
    known = parameters(model, args)
    bare = model.problem(known, {})
    taken = inspect.signature(bare.analysis).parameters
    given = {name: getattr(args, name) for name in ("rtol", "atol", "wrt")}
    given = {name: value for name, value in given.items() if value is not None}
    wanted = {**given, **_times(bare, args)}
    for name in wanted:
        if name not in taken:
            option = "t0, --t1 and --n" if name in ("t_span", "t_eval") else name
            raise SensitivityError(
                f"--{option} is for a model that {bare.analysis.__name__} does not analyse"
            )
    wanted |= {name: value for name, value in changes.items() if name in taken}
    return model.problem(known, wanted)


def _times(bare: Problem, args: argparse.Namespace) -> dict[str, Any]:
    """The span and the times: as in the file, but for what the options say."""
    asked = args.t0 is not None or args.t1 is not None or args.n is not None
    if "t_span" not in bare.arguments:
        return {"t_span": None} if asked else {}
    ends, times = bare.arguments["t_span"], bare.arguments.get("t_eval")
    if callable(ends) or np.shape(ends) != (2,):
        if asked:
            raise SensitivityError("--t0, --t1 and --n need a t_span of two ends")
        return {}
    first, last = ends
    first, last = first if args.t0 is None else args.t0, last if args.t1 is None else args.t1
    out: dict[str, Any] = {"t_span": (first, last)}
    plain = all(isinstance(end, int | float | np.number) for end in (first, last))
    if args.n is not None:
        grid = Grid(first, last, args.n)
        out["t_eval"] = grid(None) if plain else grid
    elif times is None:
        return {**out, "t_eval": Grid(first, last, TIMES)(None)} if plain else out
    elif asked and plain and not callable(times):
        kept = np.asarray(times, float)
        kept = kept[(kept >= min(first, last)) & (kept <= max(first, last))]
        out["t_eval"] = kept if kept.size else Grid(first, last, TIMES)(None)
    return out


class Grid:
    """Times at equal distances between ends that may depend on parameters; one is the last."""

    def __init__(self, first: Any, last: Any, n: int):
        self.ends, self.n = (first, last), n

    def __call__(self, p: Any) -> Any:
        """The times, at these parameters."""
        first, last = (end(p) if callable(end) else end for end in self.ends)
        if self.n == 1:
            return np.stack([last])
        return first + (last - first) * np.linspace(0.0, 1.0, self.n)


def with_units(result: Sensitivities, model: ModelFile) -> Sensitivities:
    """The result with the units of the file, where the analysis has not taken them."""
    units = model.given.get("units")
    if isinstance(result, TimeSensitivities) and model.given.get("time_unit"):
        result.time_unit = str(model.given["time_unit"])
    if units and not result.output_units:
        named = dict.fromkeys(result.outputs, units) if isinstance(units, str) else dict(units)
        result.output_units = {n: u for n, u in named.items() if n in result.outputs and u}
    return result


def selected(result: Sensitivities, names: Sequence[str] | None) -> Sensitivities:
    """The result of these outputs alone."""
    if names is None:
        return result
    at = [result.output_index(name) for name in names]
    if len(set(at)) != len(at):
        raise ParameterError("--outputs names an output twice")
    again = result.again
    units = {n: u for n, u in result.output_units.items() if n in names}
    if isinstance(result, TimeSensitivities):
        dense = result.dense
        return result.replace(
            y=result.y[:, at], S=result.S[:, at], outputs=names, units=units,
            hessian=None if result.hessian is None else result.hessian[:, at],
            again=None if again is None else lambda v: np.asarray(again(v))[:, at],
            dense=None if dense is None else lambda t: tuple(a[:, at] for a in dense(t)),
        )  # fmt: skip
    values, jacobian = result.flat()
    k = len(result.parameters)
    second = None if result.hessian is None else result.hessian.reshape(-1, k, k)[at]
    return result.replace(
        values=values[0, at], jacobian=jacobian[0, at], outputs=names, units=units, layout={},
        hessian=second,
        again=None if again is None else lambda v: np.asarray(again(v)).reshape(-1)[at],
    )  # fmt: skip
