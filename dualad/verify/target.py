"""What `dualad verify` is asked about: MODULE:NAME as an object."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from ..errors import ArgumentError

__all__ = ["load_target"]


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
    if not place.endswith(".py"):
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as missing:
            raise ArgumentError(f"there is no module {missing.name}") from None
    if not os.path.isfile(place):
        raise ArgumentError(f"there is no file {place}")
    stem = os.path.splitext(os.path.basename(place))[0]
    spec = importlib.util.spec_from_file_location(stem, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
    spec.loader.exec_module(module)
    return module
