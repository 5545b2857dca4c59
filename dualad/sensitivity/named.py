"""Values whose parts have names of their own: mappings, dataclasses, named tuples."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ModelError

__all__ = ["in_order", "mapping_of"]


def mapping_of(value: Any) -> Mapping[Any, Any] | None:
    """The parts of a value by their names; None where they have none.

    >>> mapping_of({"a": 1.0}), mapping_of([1.0])
    ({'a': 1.0}, None)
    """
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    return None


def in_order(value: Any, names: Sequence[str], what: str) -> Any:
    """The parts of a value with names as a list in the order of the states or unknowns.

    What has no names stays itself, and so do parts whose names are all others than those: they
    come as they stand.

    Raises:
        ModelError: some of the names are those of the states, and some are not.

    >>> in_order({"b": 2.0, "a": 1.0}, ("a", "b"), "what f returned")
    [1.0, 2.0]
    """
    parts = mapping_of(value)
    if parts is None:
        return value
    if not any(name in parts for name in names):
        return list(parts.values())
    missing = [name for name in names if name not in parts]
    strange = [str(name) for name in parts if name not in names]
    if missing or strange:
        wrong = [f"{', '.join(missing)} missing"] * bool(missing)
        wrong += [f"{', '.join(strange)} unknown"] * bool(strange)
        raise ModelError(
            f"{what} must have one entry for each of {', '.join(names)}: {', and '.join(wrong)}"
        )
    return [parts[name] for name in names]
