"""What is loaded when it is first needed, so that `import dualad` imports NumPy alone.

The rules of scipy.special load with the first of its ufuncs that meets a traced array. An error
about a function of SciPy that does not dispatch names its counterpart in `dualad.scipy`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from types import FrameType

from ..engine.traced import LOADERS, REMEDIES

__all__ = ["load_special", "scipy_remedy"]

ROOT = __name__.partition(".")[0]


def load_special() -> bool:
    """Load the rules of scipy.special; whoever holds one of its ufuncs has imported it."""
    if "scipy.special" not in sys.modules:
        return False
    importlib.import_module(f"{ROOT}.ops.special")
    return True


def scipy_remedy() -> str | None:
    """The drop-in for the SciPy function that is running, if there is one."""
    for package, name in _scipy_functions(sys._getframe(1)):
        module = f"{ROOT}.scipy.{package}"
        if name in _names(module):
            return (
                f"scipy.{package}.{name} does not dispatch to traced arrays; call "
                f"{module}.{name} instead, which differentiates"
            )
    return None


def _names(module: str) -> Sequence[str]:
    """What a drop-in namespace offers of its own."""
    try:
        return getattr(importlib.import_module(module), "__all__", ())
    except ModuleNotFoundError:
        return ()


def _scipy_functions(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """(subpackage, name) of the SciPy functions up to the first frame of somebody else."""
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in ("scipy", "numpy", ROOT):
            return
        if module.startswith("scipy.") and not module.startswith("scipy._"):
            yield module.split(".")[1], _name(frame)
        frame = frame.f_back


def _name(frame: FrameType) -> str:
    """The name of the running function; of a callable object its own."""
    name = frame.f_code.co_name
    return getattr(frame.f_locals.get("self"), "__name__", name) if name == "__call__" else name


LOADERS.append(load_special)
REMEDIES.append(scipy_remedy)
