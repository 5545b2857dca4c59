"""Convolution of signals with any number of axes, by SciPy's names.

One bilinear primitive in two modes. As in one dimension the transposes of the full convolution are
valid ones with the other factor reversed, and those of the valid one a full and a valid one. The
method, direct or by Fourier transforms, is SciPy's choice in both directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as sp

from ..engine.levels.spec import Spec
from ..engine.primitives.linear import Linear
from ..errors import NotDifferentiableError
from .dropin import drop_in, operand
from .products import conj

__all__ = ["convolve", "correlate", "fftconvolve"]


# --- the primitive -------------------------------------------------------------------------------


def signal_convolution(a: Any, v: Any, mode: str, method: str) -> Any:
    """The convolution of two signals; its source is what a linear program prints."""
    from scipy.signal import convolve

    return convolve(a, v, mode, method)


def _reversed(x: Any) -> Any:
    return np.flip(conj(x))


def _pull_long(ct: Any, a: Any, v: Any, mode: str, method: str) -> Any:
    back = "valid" if mode == "full" else "full"
    return convolution(ct, _reversed(v), mode=back, method=method)


def _pull_short(ct: Any, a: Any, v: Any, mode: str, method: str) -> Any:
    if mode == "full":
        return convolution(ct, _reversed(a), mode="valid", method=method)
    return np.flip(convolution(conj(a), np.flip(ct), mode="valid", method=method))


def _spec(a: Any, v: Any, mode: str, method: str) -> Spec:
    sign = 1 if mode == "full" else -1
    shape = tuple(n + sign * (m - 1) for n, m in zip(a.shape, v.shape, strict=True))
    return Spec(shape, np.result_type(a.dtype, v.dtype))


def _batch(args: tuple, mine: tuple, mode: str, method: str) -> Any:
    """A batch of one factor is one more axis, along which the other factor has length 1."""
    a, v = args
    if mine == (True, False):
        return convolution(a, v[None], mode=mode, method=method)
    if mine == (False, True) and mode == "full":
        return convolution(a[None], v, mode=mode, method=method)
    n = a.shape[0] if mine[0] else v.shape[0]
    pairs = ((a[k] if mine[0] else a, v[k] if mine[1] else v) for k in range(n))
    return np.stack([convolution(*pair, mode=mode, method=method) for pair in pairs])


#: The full convolution, or the valid one of a v that is not longer than a along any axis.
convolution = Linear(
    signal_convolution,
    _pull_long,
    _pull_short,
    batch=_batch,
    spec=_spec,
    name="scipy.signal.convolve",
)


# --- SciPy's names -------------------------------------------------------------------------------


def _checked(in1: Any, in2: Any, mode: str, method: str) -> tuple[Any, Any]:
    a, v = operand(in1), operand(in2)
    if a.ndim != v.ndim:
        raise ValueError("volume and kernel should have the same dimensionality")
    if mode not in ("full", "valid", "same"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    return a, v


def _is_longer(v: Any, a: Any) -> bool:
    """Whether v has to take the place of a in a valid convolution."""
    sizes = list(zip(a.shape, v.shape, strict=True))
    if all(n >= m for n, m in sizes):
        return False
    if all(n <= m for n, m in sizes):
        return True
    raise ValueError(
        "For 'valid' mode, one must be at least as large as the other in every dimension"
    )


def _centred(full: Any, shape: tuple[int, ...]) -> Any:
    """The middle part of an array, of a given shape."""
    starts = [(n - m) // 2 for n, m in zip(full.shape, shape, strict=True)]
    return full[tuple(slice(s, s + m) for s, m in zip(starts, shape, strict=True))]


@drop_in(sp.convolve)
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """scipy.signal.convolve, linear in each signal."""
    a, v = _checked(in1, in2, mode, method)
    if a.ndim == 0:
        return a * v
    if mode == "valid":
        a, v = (v, a) if _is_longer(v, a) else (a, v)
        return convolution(a, v, mode="valid", method=method)
    full = convolution(a, v, mode="full", method=method)
    return full if mode == "full" else _centred(full, a.shape)


@drop_in(sp.correlate)
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """scipy.signal.correlate: the convolution with the second signal conjugated and reversed."""
    a, v = _checked(in1, in2, mode, method)
    if a.ndim == 0:
        return a * conj(v)
    return convolve(a, _reversed(v), mode, method)


@drop_in(sp.fftconvolve)
def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """scipy.signal.fftconvolve over all axes."""
    if axes is not None:
        raise NotDifferentiableError(
            "scipy.signal.fftconvolve over some of the axes has no derivative rule: map "
            "dualad.scipy.signal.convolve over the others with dualad.vmap."
        )
    return convolve(in1, in2, mode, "fft")
