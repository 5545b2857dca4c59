"""What belongs to the user, whose variables change, and what to libraries."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

__all__ = ["ROOT", "classes_of", "has_attributes", "imported", "is_fixed", "is_written"]

ROOT = __name__.partition(".")[0]
#: Packages whose functions and objects depend on nothing that changes.
FIXED = frozenset({ROOT, "numpy", "scipy", "numba", *sys.stdlib_module_names} - {"__main__"})


def is_fixed(module: str) -> bool:
    """Whether a module belongs to a library, whose variables are not followed."""
    return _is_fixed(module.partition(".")[0])


@functools.cache
def _is_fixed(root: str) -> bool:
    file = getattr(sys.modules.get(root), "__file__", None) or ""
    return root in FIXED or "site-packages" in file or "dist-packages" in file


def has_attributes(x: Any) -> bool:
    """Whether a number, or a text, is of a class of the user's and has attributes."""
    return bool(getattr(x, "__dict__", None)) and not is_fixed(type(x).__module__ or "")


def classes_of(x: Any) -> list[type]:
    """Where the attributes of an object and of its class are looked up, but for its own."""
    kind: Any = x if isinstance(x, type) else type(x)
    return [*kind.__mro__, *type(kind).__mro__]


def is_written(method: types.FunctionType) -> bool:
    """Whether somebody wrote a method, which was not made for a dataclass."""
    return not method.__code__.co_filename.startswith("<string>")


def imported(name: str, names: dict[str, Any]) -> Any:
    """The module of that name which a function with these global names imports, if there is one.

    It may be given relative to one of the packages that the function lies in.
    """
    home = str(names.get("__package__") or "")
    while home and f"{home}.{name}" not in sys.modules:
        home = home.rpartition(".")[0]
    return sys.modules.get(f"{home}.{name}" if home else name)
