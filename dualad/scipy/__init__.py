"""Drop-in namespaces for what of SciPy does not dispatch: linalg, special, stats, signal, sparse.

`import dualad.scipy.linalg as linalg` in place of `import scipy.linalg as linalg`. Called with
plain arrays their functions are SciPy's; called with tracked values they differentiate.

>>> import numpy as np, dualad
>>> import dualad.scipy.linalg as linalg
>>> dualad.grad(lambda t: np.trace(linalg.expm(t * np.eye(2))))(0.0)
2.0
"""

import importlib as _importlib
from typing import Any as _Any

from ..errors import MissingExtraError

__all__ = ["linalg", "signal", "sparse", "special", "stats"]

try:
    import scipy as _scipy  # noqa: F401
except ModuleNotFoundError as _missing:
    if _missing.name != "scipy":
        raise
    raise MissingExtraError(
        "dualad.scipy needs SciPy, which is not installed: pip install dualad[sens]"
    ) from None


def __getattr__(name: str) -> _Any:
    """The namespaces are imported when they are first named, as SciPy's are."""
    if name in __all__:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
