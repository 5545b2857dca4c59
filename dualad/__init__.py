"""dualad: forward-mode dual numbers for NumPy, with reverse mode as their transposition.

At the top level are the NumPy user's functions (`jvp`, `grad`, `jacobian`, ...) and PyTorch's
names for tensors; `dualad.autograd` and `dualad.func` mirror `torch.autograd` and `torch.func`.
"""

import importlib as _importlib
from types import ModuleType as _ModuleType

from . import autograd, func
from .autograd.custom_vjp import custom_vjp
from .conventions import conventions
from .covered import coverage
from .dtypes import (
    bool as bool,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    float as float,
    float16,
    float32,
    float64,
    half,
    int as int,
    int8,
    int16,
    int32,
    int64,
    long,
    short,
    uint8,
)
from .engine.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .errors import DualADError
from .nans import debug_nans
from .tensor import (
    Tensor,
    arange,
    as_tensor,
    empty,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    manual_seed,
    ones,
    ones_like,
    rand,
    randn,
    tensor,
    zeros,
    zeros_like,
)
from .transforms.batching import vmap
from .transforms.custom import custom_jvp, defelementwise, stop_gradient
from .transforms.forward import jvp
from .transforms.jacobian import hessian, hvp, jacfwd, jacobian, jacrev, value_and_jacobian
from .transforms.reverse import grad, linear_transpose, linearize, value_and_grad, vjp
from .version import __version__

#: What `from dualad import *` brings: the dtypes that would hide Python's names are left out.
__all__ = [
    "DualADError",
    "Tensor",
    "__version__",
    "arange",
    "as_tensor",
    "autograd",
    "conventions",
    "coverage",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "defelementwise",
    "empty",
    "enable_grad",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "func",
    "grad",
    "hessian",
    "hvp",
    "is_grad_enabled",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linear_transpose",
    "linearize",
    "linspace",
    "manual_seed",
    "no_grad",
    "ones",
    "ones_like",
    "rand",
    "randn",
    "set_grad_enabled",
    "stop_gradient",
    "tensor",
    "value_and_grad",
    "value_and_jacobian",
    "vjp",
    "vmap",
    "zeros",
    "zeros_like",
]
__all__ += [
    "cdouble",
    "cfloat",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "long",
    "short",
    "uint8",
]

#: Parts that are imported when they are first named: they need an extra, or are whole namespaces.
_PARTS = ("numpy", "scipy", "sensitivity", "symbolic", "verify")


def __getattr__(name: str) -> _ModuleType:
    if name in _PARTS:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
