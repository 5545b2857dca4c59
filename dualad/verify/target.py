"""What `dualad verify` is asked about: MODULE:NAME, or all that a file has to verify.

A file may say what is to be verified in it by a list VERIFY at module level:

    VERIFY = [
        logsumexp,                                       # a custom_jvp or custom_vjp function
        (energy, force),                                 # a pair (f, derivative)
        Case(Softmax, shapes={"v": 3}, assume="v > 0"),  # with what `prove` and `check` are told
        Case((f, g), at={"x": 2.0}, expect="refuted", name="a misprint"),
    ]

A dict gives names: VERIFY = {"softmax": Softmax}. Without VERIFY it is every custom_jvp and
custom_vjp function, every Function class that the file defines, and every pair of functions.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from ..autograd.custom_vjp import custom_vjp
from ..autograd.function import Function
from ..errors import ArgumentError
from ..transforms.custom import custom_jvp
from .case import Case

__all__ = ["cases_of", "load_cases", "load_target"]


def load_cases(text: str) -> list[Case]:
    """The cases that MODULE:NAME, or a module or file alone, stands for.

    Raises:
        ArgumentError: it cannot be found, or holds nothing to verify.
    """
    place, colon, name = text.rpartition(":")
    if colon and name and not name.endswith(".py"):
        if (listed := _listed(place, name)) is not None:
            return [listed]
        found = load_target(text)
        if not _is_something(found):
            raise ArgumentError(
                f"{name} is a {type(found).__name__}: there is nothing to verify about it"
            )
        if isinstance(found, (list, dict)):
            return cases_of(found, name)
        return [found if isinstance(found, Case) else Case(found, name=name)]
    module = _module(text)
    if hasattr(module, "VERIFY"):
        return cases_of(module.VERIFY, "VERIFY")
    found = [Case(v, name=n) for n, v in vars(module).items() if _is_claim(n, v, module)]
    if not found:
        raise ArgumentError(
            f"{text} has nothing to verify: no list VERIFY, no custom function, no Function "
            "class, no pair (f, derivative)"
        )
    return found


def _is_something(found: Any) -> bool:
    return callable(found) or isinstance(found, (Case, list, tuple, dict))


def _listed(place: str, name: str) -> Case | None:
    """The case of this name in the list VERIFY, where nothing in the module has the name."""
    module = _module(place)
    if hasattr(module, name.partition(".")[0]) or not hasattr(module, "VERIFY"):
        return None
    return next((c for c in cases_of(module.VERIFY, "VERIFY") if c.name == name), None)


def cases_of(listed: Any, what: str) -> list[Case]:
    """The cases of a list VERIFY, or of a dict name -> case."""
    if isinstance(listed, dict):
        named = [(n, v) for n, v in listed.items()]
    elif isinstance(listed, (list, tuple)):
        named = [(None, v) for v in listed]
    else:
        raise ArgumentError(
            f"{what} is a {type(listed).__name__}: give a list, or a dict of names"
        )
    if not named:
        raise ArgumentError(f"{what} is empty: there is nothing to verify")
    return [_named(v, n) for n, v in named]


def _named(item: Any, name: str | None) -> Case:
    if not isinstance(item, Case):
        return Case(item, name=name)
    if name is not None:
        item.name = name
    return item


def _is_claim(name: str, value: Any, module: ModuleType) -> bool:
    if name.startswith("_"):
        return False
    if isinstance(value, (custom_jvp, custom_vjp)):
        return value.__module__ == module.__name__
    if isinstance(value, type):
        return issubclass(value, Function) and value.__module__ == module.__name__
    return isinstance(value, tuple) and len(value) == 2 and all(map(callable, value))


def load_target(text: str) -> Any:
    """The object that MODULE:NAME names; MODULE is a dotted name or the path of a Python file.

    Raises:
        ArgumentError: it cannot be found.

    >>> load_target("math:sqrt")(4.0)
    2.0
    """
    place, _, name = text.rpartition(":")
    if not place or not name:
        raise ArgumentError(f"{text!r} is not of the form MODULE:NAME")
    found: Any = _module(place)
    for part in name.split("."):
        if not hasattr(found, part):
            raise ArgumentError(f"{place} has no {name}")
        found = getattr(found, part)
    return found


def _module(place: str) -> ModuleType:
    """A module by its dotted name, or the path of its file.

    Raises:
        ArgumentError: there is none, or running it failed.
    """
    try:
        return _of_file(place) if place.endswith(".py") else _of_name(place)
    except ArgumentError:
        raise
    except (Exception, SystemExit) as failed:
        said = f"{type(failed).__name__}: {failed}"
        raise ArgumentError(f"{place} cannot be imported: {said}") from failed


def _of_name(place: str) -> ModuleType:
    if not all(part.isidentifier() for part in place.split(".")):
        raise ArgumentError(f"{place!r} is neither a Python file nor the name of a module")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{place}.".startswith(f"{missing.name}."):
            raise  # what is missing is something that the module imports
        raise ArgumentError(f"there is no module {missing.name}") from None


def _of_file(place: str) -> ModuleType:
    if not os.path.isfile(place):
        raise ArgumentError(f"there is no file {place}")
    stem = os.path.splitext(os.path.basename(place))[0]
    spec = importlib.util.spec_from_file_location(stem, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
    spec.loader.exec_module(module)
    return module
