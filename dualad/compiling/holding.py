"""What objects, variables of closures and containers hold."""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

__all__ = ["MAPPINGS", "MISSING", "attribute", "contents", "count", "entries"]

MISSING = object()
MAPPINGS = (dict, types.MappingProxyType)


def attribute(x: Any, name: str) -> Any:
    """An attribute; whatever a descriptor raises, it is missing."""
    with suppress(Exception):
        return getattr(x, name)
    return MISSING


def contents(cell: Any) -> Any:
    """What a cell of a closure holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def entries(container: Any) -> Iterator[Any]:
    """The entries of a container; of a dict its keys, then its values."""
    if isinstance(container, MAPPINGS):
        yield from container
        yield from container.values()
    else:
        yield from container.flat if isinstance(container, np.ndarray) else container


def count(container: Any) -> int:
    """How many entries there are."""
    if isinstance(container, MAPPINGS):
        return 2 * len(container)
    return container.size if isinstance(container, np.ndarray) else len(container)
