"""Remedies for a conversion to a plain array, from who asked for it."""

from __future__ import annotations

import importlib
import sys
from types import FrameType

from ..engine.levels.missing import INSTEAD
from ..engine.levels.traced import HINTS

__all__ = ["conversion_hint"]

ROOT = __name__.partition(".")[0]
#: Libraries of labelled arrays, and how they give the plain array.
LABELLED = {"pandas": "x.to_numpy()", "xarray": "x.values"}


def conversion_hint() -> str | None:
    """What to do for the NumPy function, or the library, that wants a plain array."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module, root = _module(frame)
        if module.startswith("numpy.ma"):
            return "masked arrays hold no traced values: use np.where(mask, other, x)"
        if root in LABELLED:
            held = " (x.data of one that was made of a traced array)" if root == "xarray" else ""
            return (
                f"{root} computes on arrays of its own: take {LABELLED[root]} of its objects "
                f"first{held}, and label the results afterwards"
            )
        name = _dropins().get(frame.f_code.co_qualname.partition(".")[0])
        if root == "numpy" and name is not None:
            return (
                f"numpy.{name} does not dispatch to traced arrays; `import {ROOT}.numpy as np` "
                f"has one that takes them"
            )
        if root not in ("numpy", ROOT):
            return None
        frame = frame.f_back
    return None


def _module(frame: FrameType) -> tuple[str, str]:
    """The module that a frame runs in, and its package."""
    module = frame.f_globals.get("__name__", "")
    return module, module.partition(".")[0]


def _dropins() -> dict[str, str]:
    """The functions and classes of NumPy that the drop-in namespace does differently."""
    fresh = importlib.import_module(f"{ROOT}.numpy.fresh")
    classes = {"vectorize": "vectorize", "ndenumerate": "ndenumerate", "AxisConcatenator": "r_"}
    return {name: name for name in fresh.__all__} | classes


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
