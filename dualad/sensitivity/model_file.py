"""A model in a Python file of its own: which names it defines, and how it is loaded.

    FILE.py, or a module          what the command line takes of it
    problem                       an analysis with all its arguments, as `problem(...)` gives it
    rhs(t, y, p), y0, t_span      a differential equation, for `ode`
    model(p)                      a function of the parameters, or of them and data, model(p, x);
                                  it may return the result of an analysis
    residual(x, p), x0            equations, for `root`

The first of these that a file defines is its model; FILE.py:NAME takes another one, whose kind is
seen by how many arguments it has. `params` are its parameters. The other names of `MORE` are
arguments of the analysis that have the same name there; `reference`, `data`, `units` (by the name
of an output, or one for all) and `time_unit` are for the command line itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .ensembles.problem import Problem
from .errors import ModelError, SensitivityError, unknown_name
from .functions.function import function
from .implicit.root import root
from .integration.ode import ode
from .parameters.parameters import Parameters

__all__ = ["ModelFile", "load"]


@dataclass(frozen=True)
class Kind:
    """What a model function is: how it is analysed, and what it needs beside.

    Attributes:
        name: of the function, where a file does not say another.
        call: how it is called.
        analysis: what differentiates it.
        needs: what else the file must define.
        more: what else it may define, for the analysis.
    """

    name: str
    call: str
    analysis: Callable[..., Any]
    needs: Mapping[str, str]
    more: tuple[str, ...]


START = {"y0": "the state at the start", "t_span": "the first and the last time"}
MORE = ("t_eval", "states", "outputs", "integrals", "events", "method", "rtol", "atol",
        "sens_rtol", "sens_atol", "pscale", "jac", "jac_sparsity", "mass", "max_step",
        "first_step", "max_steps")  # fmt: skip
KINDS = (
    Kind("rhs", "rhs(t, y, p)", ode, START, MORE),
    Kind("model", "model(p)", function, {}, ("outputs", "mode")),
    Kind(
        "residual", "residual(x, p)", root, {"x0": "where the search begins"},
        ("outputs", "method", "tol", "conserved", "starts"),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class ModelFile:
    """What a model file defines.

    Attributes:
        given: the names that it defines, with their values.
        function: the model itself, or a `Problem`.
        kind: what it is; None for a `Problem`.
        name: the name of the file or module.
        folder: where the file lies.
        module: the module that it became.
    """

    given: Mapping[str, Any]
    function: Any
    kind: Kind | None
    name: str
    folder: Path
    module: Any

    @property
    def params(self) -> Any:
        """The parameters as the file has them; None where it has none."""
        if isinstance(self.function, Problem):
            return self.function.parameters
        return self.given.get("params")

    def options(self) -> dict[str, Any]:
        """The arguments of the analysis that the file gives, beside the model and its params."""
        if self.kind is None:
            return dict(self.function.arguments)
        names = [*self.kind.needs, *self.kind.more]
        return {name: self.given[name] for name in names if self.given.get(name) is not None}

    def problem(self, params: Parameters, changes: Mapping[str, Any]) -> Problem:
        """The analysis with these parameters, and some arguments changed.

        Raises:
            SensitivityError: the analysis has no such argument.
        """
        analysis = self.function.analysis if self.kind is None else self.kind.analysis
        known = inspect.signature(analysis).parameters
        for name in changes:
            if name not in known:
                raise SensitivityError(f"{name} is no argument of {analysis.__name__}")
        arguments = {**self.options(), **changes, "params": params}
        if self.kind is None:
            return Problem(analysis, (), arguments)
        first = next(iter(known))
        return Problem(analysis, (), {first: self.function, **arguments})

    @property
    def reference_path(self) -> Path | None:
        """The CSV file of figures to compare with, if the file names one."""
        path = self.given.get("reference")
        return None if path is None else self.folder / path


def load(target: str, arguments: Mapping[int, str] | None = None) -> ModelFile:
    """The model of a file (a path that ends with .py) or of a module (a dotted name).

    Args:
        target: the path or name; with :NAME, which function or problem of it.
        arguments: which kinds of function a number of arguments stands for, in place of the usual.

    Raises:
        SensitivityError: there is no such file or module, or it lacks a name that a model needs.
        ModelError: it raises an exception when it is run.
    """
    where, name = _split(target)
    module = _run(where)
    given = vars(module)
    found, kind = _named(where, given, name, arguments) if name else _default(where, given)
    missing = [] if kind is None else [
        f"{n} ({what})" for n, what in kind.needs.items() if n not in given
    ]  # fmt: skip
    if missing:
        raise SensitivityError(f"{where} defines no {'; no '.join(missing)}")
    params = given.get("params")
    if kind is not None and params is not None and not isinstance(params, Mapping):
        raise SensitivityError(f"{where}: params must be a dict of names and numbers")
    path = Path(getattr(module, "__file__", None) or where)
    return ModelFile(given, found, kind, path.stem, path.resolve().parent, module)


def _split(target: str) -> tuple[str, str]:
    """The file or module, and the name in it; a drive letter is no name."""
    where, colon, name = target.rpartition(":")
    return (where, name) if colon and name.isidentifier() and len(where) > 1 else (target, "")


def _default(where: str, given: Mapping[str, Any]) -> tuple[Any, Kind | None]:
    """The first of the usual names that the file defines."""
    if isinstance(given.get("problem"), Problem):
        return given["problem"], None
    for kind in KINDS:
        if kind.name in given:
            if not callable(given[kind.name]):
                raise SensitivityError(f"{where}: {kind.name} must be a function {kind.call}")
            return given[kind.name], kind
    calls = ", ".join(kind.call for kind in KINDS)
    raise SensitivityError(
        f"{where} defines no model: no {calls}, and no problem = dualad.sensitivity.problem(...). "
        f"{where}:NAME takes a function of another name"
    )


def _named(
    where: str, given: Mapping[str, Any], name: str, arguments: Mapping[int, str] | None
) -> tuple[Any, Kind | None]:
    """What has this name, and its kind by the number of its arguments."""
    if name not in given:
        own = [n for n, v in given.items() if callable(v) and not n.startswith("_")]
        raise SensitivityError(f"{where}: {unknown_name('function', name, own)}")
    found = given[name]
    if isinstance(found, Problem):
        return found, None
    if not callable(found):
        raise SensitivityError(f"{where}:{name} is no function and no problem, but {found!r}")
    counts = {1: "model", 2: "residual", 3: "rhs"} | dict(arguments or {})
    n = required_arguments(found)
    for kind in KINDS:
        if kind.name == counts.get(n):
            return found, kind
    calls = ", ".join(kind.call for kind in KINDS)
    raise SensitivityError(f"{where}:{name} takes {n} arguments; a model is one of {calls}")


def required_arguments(f: Callable[..., Any]) -> int:
    """How many arguments without a default a function has."""
    known = _by_position(f)
    return -1 if known is None else sum(p.default is p.empty for p in known)


def second_argument(f: Callable[..., Any]) -> str | None:
    """The name of the second argument of a function, also of one that has a default."""
    known = _by_position(f) or []
    return known[1].name if len(known) > 1 else None


def _by_position(f: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The arguments that are given by position."""
    try:
        known = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in known if p.kind in kinds]


def _run(target: str) -> Any:
    """The module that a path or a dotted name stands for."""
    path = Path(target)
    if path.suffix == ".py" or path.is_file() or not target.replace(".", "a").isidentifier():
        return _run_file(path)
    _search(Path.cwd())
    try:
        return importlib.import_module(target)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{target}.".startswith(f"{error.name}."):
            raise _failed(target, error) from error
        raise SensitivityError(
            f"there is no model file and no module {target!r}: give a path that ends with .py, or "
            f"the name of a module that can be imported"
        ) from None
    except Exception as error:
        raise _failed(target, error) from error


def _run_file(path: Path) -> Any:
    if not path.is_file():
        raise SensitivityError(f"there is no model file {path}")
    name = f"dualad_model_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SensitivityError(f"{path} is no Python file: its name must end with .py")
    _search(path.resolve().parent)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _failed(str(path), error) from error
    return module


def _search(folder: Path) -> None:
    """Let a model import what lies beside it, as a script may."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _failed(target: str, error: Exception) -> ModelError:
    line = traceback.extract_tb(error.__traceback__)[-1].lineno
    line = error.lineno if isinstance(error, SyntaxError) else line
    return ModelError(f"{target}, line {line}: {type(error).__name__}: {error}")
