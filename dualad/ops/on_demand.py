"""What is loaded when it is first needed, so that `import dualad` imports NumPy alone.

The rules of scipy.special load with the first of its ufuncs that meets a traced array. An error
about a function of SciPy that does not dispatch names its counterpart in `dualad.scipy`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..engine.levels.rules import UFUNCS, loading
from ..engine.levels.traced import REMEDIES, lost
from ..engine.levels.values import FOREIGN

__all__ = ["load_special", "scipy_remedy"]

ROOT = __name__.partition(".")[0]
#: What to do where a sparse matrix of SciPy's meets a traced operand.
SPARSE = (
    f"SciPy's sparse matrices compute by themselves. Make the matrix with {ROOT}.scipy.sparse: "
    "csr_array(A) of a matrix A of SciPy's, whose operators then take traced operands, or "
    "csr_array((data, indices, indptr), shape) of traced entries; solve with "
    f"{ROOT}.scipy.sparse.linalg.spsolve or splu. What these do not offer has no derivative rule"
)

#: What differentiates in place of a package whose functions call the user's.
INSTEAD = {
    "fft": "; numpy.fft differentiates as it is",
    "integrate": (
        f"; {ROOT}.sensitivity.ode integrates with derivatives by named parameters, and "
        f"np.trapezoid differentiates"
    ),
    "interpolate": "; np.interp differentiates as it is",
    "spatial": "; distances are np.linalg.norm(x[:, None] - y, axis=-1), which differentiates",
    "stats": "; a density written with NumPy and scipy.special differentiates",
    "optimize": (
        f"; {ROOT}.sensitivity.root, minimize and fit differentiate solutions by named parameters"
    ),
}


def load_special(key: Any) -> bool:
    """Load the rules of scipy.special; whoever holds one of its ufuncs has imported it."""
    if "scipy.special" not in sys.modules:
        return False
    with loading():
        importlib.import_module(f"{ROOT}.ops.special")
    return True


def scipy_remedy() -> str | None:
    """The drop-in for the SciPy function that is running, or what to do where there is none."""
    package = None
    for package, name in _scipy_functions(sys._getframe(1)):
        if package == "sparse":  # its methods are operators, which their names do not explain
            return SPARSE
        module = f"{ROOT}.scipy.{package}"
        if _offers(module, name):
            return (
                f"scipy.{package}.{name} does not dispatch to traced arrays; call "
                f"{module}.{name} instead, which differentiates"
            )
    if package is None:
        return None
    if package.startswith("sparse"):
        return SPARSE
    return (
        f"scipy.{package} takes plain arrays only; what of SciPy differentiates is in "
        f"{ROOT}.scipy (linalg, special, stats, signal, sparse){INSTEAD.get(package, '')}. Put "
        f"anything else into a function with a rule of your own (@{ROOT}.custom_jvp), or take "
        f"{ROOT}.stop_gradient(x) where the derivative is not wanted"
    )


def _offers(module: str, name: str) -> bool:
    """Whether a drop-in namespace has a function, or a method of an object, of its own."""
    try:
        namespace = importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    head, _, method = name.partition(".")
    if head not in getattr(namespace, "__all__", ()):
        return False
    return not method or hasattr(type(getattr(namespace, head)), method)


def _scipy_functions(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """(subpackage, name) of the SciPy functions up to the first frame of somebody else."""
    own = (__name__, f"{ROOT}.engine")
    while frame is not None and frame.f_globals.get("__name__", "").startswith(own):
        frame = frame.f_back
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in ("scipy", "numpy"):
            return
        for within, name in _names_of(frame, module):
            if within.startswith("scipy.") and not within.startswith("scipy._"):
                inner = within.startswith("scipy.sparse.linalg")
                yield "sparse.linalg" if inner else within.split(".")[1], name
        frame = frame.f_back


def _names_of(frame: FrameType, module: str) -> Iterator[tuple[str, str]]:
    """(module, name) of the running function, and of the object or function it stands for."""
    yield module, frame.f_code.co_name
    for local in ("self", *frame.f_code.co_freevars):
        wrapped = frame.f_locals.get(local)
        name = getattr(wrapped, "__name__", None)
        if name is not None:
            yield getattr(wrapped, "__module__", None) or module, name
    owner = frame.f_locals.get("self")
    if owner is not None:  # a distribution of scipy.stats, by its name or that of its class
        title = getattr(owner, "name", None) or type(owner).__name__.removesuffix("_gen")
        method = frame.f_code.co_name
        yield module, title if method == "__call__" else f"{title}.{method}"


def refuse_sparse(x: Any, by_operator: bool) -> None:
    """A sparse matrix beside a traced operand, where that says nothing, is an error that does."""
    t = type(x)
    own = t.__module__.startswith(f"{ROOT}.ops.sparse")
    if t.__module__.startswith("scipy.sparse") or (own and not by_operator):
        what = "an operation" if by_operator else "a NumPy function"
        raise lost(f"{what} of a traced array and a {t.__name__}", SPARSE)


UFUNCS.loaders.append(load_special)
FOREIGN.append(refuse_sparse)
REMEDIES.append(scipy_remedy)
