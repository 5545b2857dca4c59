"""Remedies for a conversion to a plain array, from who asked for it."""

from __future__ import annotations

import importlib
import sys

from ..engine.missing import INSTEAD
from ..engine.traced import HINTS

__all__ = ["conversion_hint"]

ROOT = __name__.partition(".")[0]
#: Libraries of labelled arrays, and how they give the plain array.
LABELLED = {"pandas": "x.to_numpy()", "xarray": "x.values"}


def conversion_hint() -> str | None:
    """What to do for the NumPy function, or the library, that wants a plain array."""
    frame = sys._getframe(1)
    while frame is not None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        root = module.partition(".")[0]
        if module.startswith("numpy.ma"):
            return "masked arrays hold no traced values: use np.where(mask, other, x)"
        if root in LABELLED:
            return (
                f"{root} computes on arrays of its own: take {LABELLED[root]} of its objects "
                f"first, and label the results afterwards"
            )
        if root == "numpy" and name in _dropins():
            return (
                f"numpy.{name} does not dispatch to traced arrays; `import {ROOT}.numpy as np` "
                f"has one that takes them"
            )
        if root not in ("numpy", ROOT):
            return None
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _dropins() -> list[str]:
    """What the drop-in namespace does differently from NumPy."""
    fresh = importlib.import_module(f"{ROOT}.numpy.fresh")
    return [*fresh.__all__, "vectorize"]


HINTS.append(conversion_hint)

_FILE = "a file has no derivative: save dualad.stop_gradient(x)"
_DATES = "dates have no derivative"
INSTEAD.update(
    {f"numpy.{name}": _FILE for name in ("save", "savetxt", "savez", "savez_compressed")}
    | {
        f"numpy.{name}": _DATES
        for name in ("busday_count", "busday_offset", "datetime_as_string", "is_busday")
    }
)
