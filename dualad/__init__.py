"""dualad: forward-mode dual numbers for NumPy, with reverse mode as their transposition.

At the top level are the NumPy user's functions (`jvp`, `grad`, `jacobian`, ...) and PyTorch's
names for tensors; `dualad.autograd` and `dualad.func` mirror `torch.autograd` and `torch.func`.

The names of PyTorch, and those that few programs need, are loaded when they are first asked for.
"""

import importlib as _importlib
import sys as _sys
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from . import ops as _ops  # noqa: F401  (the rules)
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
from .engine.requires_grad.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from .errors import DualADError
from .tensor_functions import IN_PLACE as _IN_PLACE, METHODS as _METHODS, OF_SEVERAL as _OF_SEVERAL
from .transforms.custom import custom_jvp, defelementwise, stop_gradient
from .transforms.forward import jvp
from .transforms.gradient import grad, value_and_grad
from .version import __version__

if _TYPE_CHECKING:
    from . import autograd, func
    from .autograd.custom_vjp import custom_vjp
    from .compiling import compile as compile
    from .conventions import conventions
    from .covered import coverage
    from .nans import debug_nans
    from .tensor import (
        Tensor,
        arange,
        as_tensor,
        device,
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
    from .transforms.hessian import hessian, hvp
    from .transforms.jacobian import jacfwd, jacobian, jacrev, value_and_jacobian
    from .transforms.linearize import linear_transpose, linearize
    from .transforms.reverse import vjp
    from .transforms.sparse_jacobian import sparse_jacobian

#: What `from dualad import *` brings: the dtypes and `compile`, which would hide Python's names,
#: are left out.
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
    "device",
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
    "inference_mode",
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
    "sparse_jacobian",
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

#: Whole namespaces, imported when they are first named.
_PARTS = ("autograd", "func", "numpy", "scipy", "sensitivity", "symbolic", "verify")
#: Names that are imported when they are first asked for, and the modules that have them.
_LATER = {
    "compile": "compiling",
    "conventions": "conventions",
    "coverage": "covered",
    "custom_vjp": "autograd.custom_vjp",
    "debug_nans": "nans",
    "sparse_jacobian": "transforms.sparse_jacobian",
    "vjp": "transforms.reverse",
    "vmap": "transforms.batching",
    **dict.fromkeys(
        ("is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"),
        "autograd.anomaly",
    ),
    **dict.fromkeys(("hessian", "hvp"), "transforms.hessian"),
    **dict.fromkeys(("linear_transpose", "linearize"), "transforms.linearize"),
    **dict.fromkeys(
        ("jacfwd", "jacobian", "jacrev", "value_and_jacobian"), "transforms.jacobian"
    ),
    **dict.fromkeys(
        (
            "Tensor", "arange", "as_tensor", "device", "empty", "eye", "from_numpy", "full",
            "full_like", "linspace", "manual_seed", "ones", "ones_like", "rand", "randn", "tensor",
            "zeros", "zeros_like",
        ),
        "tensor",
    ),
    **dict.fromkeys(_METHODS | _IN_PLACE | _OF_SEVERAL, "tensor.functions"),
}  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _PARTS:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        value = getattr(_importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS, *_LATER})


class _Package(_ModuleType):
    """What this module is: `conventions` and `tensor` stay functions.

    They are modules too, and an import makes a module an attribute of its package.
    """

    def __setattr__(self, name: str, value: _Any) -> None:
        if isinstance(value, _ModuleType) and _LATER.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
