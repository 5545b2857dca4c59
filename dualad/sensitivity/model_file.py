"""A model in a Python file of its own: which names it defines, and how it is loaded."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from .errors import ModelError, SensitivityError

__all__ = ["ModelFile", "load"]


@dataclass(frozen=True)
class ModelFile:
    """What a model file defines: rhs, y0, params and t_span, and what else it likes to.

    Attributes:
        rhs, y0, params, t_span: see `ode`.
        t_eval, states, method, rtol, atol, pscale: see `ode`; left out, its defaults hold.
        reference: the path of a CSV file of figures to compare with, beside the model file.
        name: the name of the file or module.
        folder: where the file lies.
    """

    rhs: Callable[..., Any]
    y0: Any
    params: Mapping[str, float]
    t_span: Any
    t_eval: Any = None
    states: Any = None
    method: Any = None
    rtol: Any = None
    atol: Any = None
    pscale: Any = None
    reference: str | None = None
    name: str = field(default="", kw_only=True)
    folder: Path = field(default=Path(), kw_only=True)

    def options(self) -> dict[str, Any]:
        """The arguments of `ode` that the file gives."""
        names = ("t_eval", "states", "method", "rtol", "atol", "pscale")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def reference_path(self) -> Path | None:
        return None if self.reference is None else self.folder / self.reference


REQUIRED = {
    "rhs": "the right-hand side, def rhs(t, y, p)",
    "y0": "the state at the start",
    "params": "the parameters, a dict of names and numbers",
    "t_span": "the first and the last time",
}


def load(target: str) -> ModelFile:
    """The model of a file (a path that ends with .py) or of a module (a dotted name).

    Raises:
        SensitivityError: there is no such file or module, or it lacks a name that a model needs.
        ModelError: it raises an exception when it is run.
    """
    module = _run(target)
    missing = [f"{name} ({what})" for name, what in REQUIRED.items() if not hasattr(module, name)]
    if missing:
        raise SensitivityError(f"{target} defines no {'; no '.join(missing)}")
    if not callable(module.rhs):
        raise SensitivityError(f"{target}: rhs must be a function of (t, y, p)")
    if not isinstance(module.params, Mapping):
        raise SensitivityError(f"{target}: params must be a dict of names and numbers")
    given = {f.name for f in fields(ModelFile) if not f.kw_only} & set(vars(module))
    values = {name: getattr(module, name) for name in given}
    path = Path(getattr(module, "__file__", None) or target)
    return ModelFile(**values, name=path.stem, folder=path.resolve().parent)


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
