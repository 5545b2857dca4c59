"""Complex numbers: real part, imaginary part, conjugate, and what is written with them.

These are linear over the real numbers, not over the complex ones. Transposes are adjoints under
the real inner product Re<a, b>, so that a gradient is PyTorch's: df/dRe z + i df/dIm z.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..engine.levels.buffer import buffer, frozen
from ..engine.levels.spec import Spec
from ..engine.levels.traced import memory_of
from ..engine.primitives.inplace import link
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import Opaque
from .constants import sign
from .registry import CONSTANT, function, kinks, ufunc
from .structure import cast

__all__ = ["conjugate", "imag", "real"]


def _real_spec(x: Any) -> Spec:
    return Spec(x.shape, np.empty(0, x.dtype).real.dtype)


real = Linear(
    lambda x: x.real,
    lambda ct, x: cast(ct, dtype=x.dtype),
    batch=lambda args, mine: real(args[0]),
    spec=_real_spec,
    show=lambda x: f"np.real({x})",
    name="real",
)
imag = Linear(
    lambda x: x.imag,
    lambda ct, x: cast(ct, dtype=x.dtype) * 1j,
    batch=lambda args, mine: imag(args[0]),
    spec=_real_spec,
    show=lambda x: f"np.imag({x})",
    name="imag",
)
conjugate = Linear(
    np.conjugate,
    lambda ct, x: conjugate(ct),
    batch=lambda args, mine: conjugate(args[0]),
    spec=lambda x: Spec(x.shape, x.dtype),
    show=lambda x: f"np.conj({x})",
    name="conjugate",
)


def is_complex(x: Any) -> bool:
    return np.dtype(x.dtype).kind == "c"


def _set_real(base: Any, value: Any) -> Any:
    return value + 1j * imag(base)


def _set_imag(base: Any, value: Any) -> Any:
    return real(base) + 1j * value


@function(np.real)
def np_real(val: Any) -> Any:
    return link(val, real(val), real, _set_real) if is_complex(val) else val


@function(np.imag)
def np_imag(val: Any) -> Any:
    if is_complex(val):
        return link(val, imag(val), imag, _set_imag)
    zeros = np.zeros_like(val)
    return zeros if isinstance(memory_of(val), np.ndarray) else zeros[()]


@ufunc(np.conjugate)
def np_conjugate(x: Any) -> Any:
    """A real array is its own conjugate: that is no operation, and no copy of its value."""
    if is_complex(x):
        return conjugate(x)
    x = x.astype(np.int8) if x.dtype.kind == "b" else buffer(frozen(x))
    return x if x.ndim else x[()]


@ufunc(np.sign, result=CONSTANT)
def np_sign(x: Any) -> Any:
    """Of a complex number z / |z|, with value and slope 0 at 0."""
    if not is_complex(x):
        return sign(x)
    size = np.abs(x)
    return np.where(size == 0, 0, x / np.where(size == 0, 1, size))


_real_angle = Opaque(partial(np.arctan2, 0), name="real_angle", elementwise=True)


@function(np.angle)
def np_angle(z: Any, deg: bool = False) -> Any:
    """The argument of z; of a real z it is 0 or pi, with slope 0."""
    a = np.arctan2(np.imag(z), np.real(z)) if is_complex(z) else _real_angle(z)
    return np.rad2deg(a) if deg else a


@function(np.real_if_close)
def np_real_if_close(a: Any, tol: float = 100) -> Any:
    """The real part where all imaginary parts are zero within tol (machine epsilons above 1)."""
    if not is_complex(a):
        return a
    tol = tol * np.finfo(np.dtype(a.dtype)).eps if tol > 1 else tol
    return np.real(a) if np.all(np.abs(np.imag(a)) < tol) else a


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Modulus and angle at 0.
kinks(
    (
        "np.abs(x + 1j * y)",
        "0.0, 0.0",
        "0.0, 0.0",
        "the tip of a cone: the subgradient of least norm",
    ),
    (
        "np.angle(x + 1j * y)",
        "0.0, 0.0",
        "np.nan, np.nan",
        "an angle has no derivative at the origin",
    ),
    ("np.angle(x)", "0.0", "0.0", "of a real number it is a step"),
)
