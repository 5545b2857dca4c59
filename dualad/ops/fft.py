"""Discrete Fourier transforms: four linear primitives along one axis, and NumPy's names for them.

The adjoint of a transform is the one with the opposite sign and the scale exchanged: norms
"backward" and "forward" change places. The real transforms keep half of a spectrum in which each
bin but the first, and the last of an even length, stands for two: their adjoints halve or double
those. Transforms over several axes, of other lengths, and Hermitian ones are written with these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.primitives.inplace import store
from ..engine.primitives.linear import Linear
from .getitem import getitem
from .linalg import real_dtype
from .products import conj
from .registry import function
from .structure import axes_of, axis_of

__all__ = ["fft", "ifft", "irfft", "rfft"]

#: The norm of the adjoint.
OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


# --- the primitives ------------------------------------------------------------------------------


def _complex_of(dtype: Any) -> np.dtype:
    return np.result_type(dtype, np.complex64)


def _shape_with(x: Any, axis: int, n: int) -> tuple[int, ...]:
    return (*x.shape[:axis], n, *x.shape[axis + 1 :])


def _shown(name: str) -> Any:
    return lambda x, **params: (
        f"np.fft.{name}({x}, {', '.join(f'{p}={q}' for p, q in params.items())})"
    )


def _weights(n: int, x: Any, axis: int) -> Any:
    """How many bins of a full spectrum of length n each bin of half a spectrum x stands for."""
    weights = np.full(n // 2 + 1, 2, real_dtype(x))
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    return weights.reshape((-1,) + (1,) * (x.ndim - axis - 1))


fft = Linear(
    lambda x, axis, norm: np.fft.fft(x, axis=axis, norm=norm),
    lambda ct, x, axis, norm: ifft(ct, axis=axis, norm=OPPOSITE[norm]),
    batch=lambda args, mine, axis, norm: fft(args[0], axis=axis + 1, norm=norm),
    spec=lambda x, axis, norm: Spec(x.shape, _complex_of(x.dtype)),
    show=_shown("fft"),
    name="fft",
)
ifft = Linear(
    lambda x, axis, norm: np.fft.ifft(x, axis=axis, norm=norm),
    lambda ct, x, axis, norm: fft(ct, axis=axis, norm=OPPOSITE[norm]),
    batch=lambda args, mine, axis, norm: ifft(args[0], axis=axis + 1, norm=norm),
    spec=lambda x, axis, norm: Spec(x.shape, _complex_of(x.dtype)),
    show=_shown("ifft"),
    name="ifft",
)


def _rfft_adjoint(ct: Any, x: Any, axis: int, norm: str) -> Any:
    n = x.shape[axis]
    return irfft(ct / _weights(n, ct, axis), axis=axis, n=n, norm=OPPOSITE[norm])


def _irfft_adjoint(ct: Any, x: Any, axis: int, n: int, norm: str) -> Any:
    half = rfft(ct, axis=axis, norm=OPPOSITE[norm])
    return half * _weights(n, half, axis)


rfft = Linear(
    lambda x, axis, norm: np.fft.rfft(x, axis=axis, norm=norm),
    _rfft_adjoint,
    batch=lambda args, mine, axis, norm: rfft(args[0], axis=axis + 1, norm=norm),
    spec=lambda x, axis, norm: Spec(
        _shape_with(x, axis, x.shape[axis] // 2 + 1), _complex_of(x.dtype)
    ),
    show=_shown("rfft"),
    name="rfft",
)
irfft = Linear(
    lambda x, axis, n, norm: np.fft.irfft(x, n, axis, norm),
    _irfft_adjoint,
    batch=lambda args, mine, axis, n, norm: irfft(args[0], axis=axis + 1, n=n, norm=norm),
    spec=lambda x, axis, n, norm: Spec(_shape_with(x, axis, n), real_dtype(x)),
    show=_shown("irfft"),
    name="irfft",
)


# --- lengths and axes ----------------------------------------------------------------------------


def _norm(norm: Any) -> str:
    norm = "backward" if norm is None else norm
    if norm not in OPPOSITE:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    return norm


def _resized(x: Any, n: int, axis: int) -> Any:
    """x cut, or filled up with zeros, to length n along an axis."""
    have = x.shape[axis]
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    if have > n:
        index = (slice(None),) * axis + (slice(0, n),) + (slice(None),) * (x.ndim - axis - 1)
        return getitem(x, index=index)
    if have < n:
        return np.concatenate([x, np.zeros(_shape_with(x, axis, n - have), x.dtype)], axis)
    return x


def _lengths(x: Any, s: Any, axes: Any, real_last: bool = False) -> list[tuple[int, int]]:
    """Pairs of an axis and its length; real_last: the last has half a spectrum."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = [axis_of(k, x.ndim) for k in axes]
    sizes = [x.shape[k] for k in axes]
    if real_last and axes:
        sizes[-1] = 2 * (x.shape[axes[-1]] - 1)
    if s is not None:
        if len(s) != len(axes):
            raise ValueError("Shape and axes have different lengths.")
        sizes = [
            x.shape[k] if n == -1 else size if n is None else int(n)
            for k, n, size in zip(axes, s, sizes, strict=True)
        ]
    return list(zip(axes, sizes, strict=True))


def _stored(out: Any, result: Any) -> Any:
    return result if out is None else store(out, result)


# --- along one axis ------------------------------------------------------------------------------


def _one(primitive: Any, x: Any, n: Any, axis: int, norm: str) -> Any:
    axis = axis_of(axis, x.ndim)
    x = x if n is None else _resized(x, int(n), axis)
    if x.shape[axis] < 1:
        raise ValueError("Invalid number of FFT data points (0) specified.")
    return primitive(x, axis=axis, norm=norm)


def _half_to_real(x: Any, n: Any, axis: int, norm: str) -> Any:
    axis = axis_of(axis, x.ndim)
    n = 2 * (x.shape[axis] - 1) if n is None else int(n)
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return irfft(_resized(x, n // 2 + 1, axis), axis=axis, n=n, norm=norm)


@function(np.fft.fft)
def np_fft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The transform along one axis."""
    return _stored(out, _one(fft, a, n, axis, _norm(norm)))


@function(np.fft.ifft)
def np_ifft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse transform along one axis."""
    return _stored(out, _one(ifft, a, n, axis, _norm(norm)))


def _real_only(x: Any, name: str) -> Any:
    if np.dtype(x.dtype).kind == "c":
        raise TypeError(
            f"np.fft.{name} is a transform of real arrays, got {x.dtype}: use np.fft.fft"
        )
    return x


@function(np.fft.rfft)
def np_rfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The first half of the transform of a real array."""
    return _stored(out, _one(rfft, _real_only(a, "rfft"), n, axis, _norm(norm)))


@function(np.fft.irfft)
def np_irfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The real array of which a is the first half of the transform.

    It does not depend on the imaginary part of the first bin, nor of the last of an even length.
    """
    return _stored(out, _half_to_real(a, n, axis, _norm(norm)))


@function(np.fft.hfft)
def np_hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The real transform of an array with Hermitian symmetry, of which a is the first half."""
    return _stored(out, _half_to_real(conj(a), n, axis, OPPOSITE[_norm(norm)]))


@function(np.fft.ihfft)
def np_ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of hfft."""
    half = _one(rfft, _real_only(a, "ihfft"), n, axis, OPPOSITE[_norm(norm)])
    return _stored(out, conj(half))


# --- over several axes ---------------------------------------------------------------------------


def _each(primitive: Any, x: Any, lengths: Sequence[tuple[int, int]], norm: Any) -> Any:
    """One transform after another, the last axis first."""
    for axis, n in reversed(lengths):
        x = _one(primitive, x, n, axis, _norm(norm))
    return x


def _real_then_complex(x: Any, s: Any, axes: Any, norm: Any) -> Any:
    *rest, (axis, n) = _lengths(x, s, axes)
    return _each(fft, _one(rfft, x, n, axis, _norm(norm)), rest, norm)


def _complex_then_real(x: Any, s: Any, axes: Any, norm: Any) -> Any:
    *rest, (axis, n) = _lengths(x, s, axes, real_last=True)
    for k, size in rest:
        x = _one(ifft, x, size, k, _norm(norm))
    return _half_to_real(x, n, axis, _norm(norm))


@function(np.fft.fftn)
def np_fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The transform over several axes, by default all."""
    return _stored(out, _each(fft, a, _lengths(a, s, axes), norm))


@function(np.fft.ifftn)
def np_ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse transform over several axes, by default all."""
    return _stored(out, _each(ifft, a, _lengths(a, s, axes), norm))


@function(np.fft.rfftn)
def np_rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The transform of a real array over several axes, half of it along the last one."""
    return _stored(out, _real_then_complex(_real_only(a, "rfftn"), s, axes, norm))


@function(np.fft.irfftn)
def np_irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of rfftn."""
    return _stored(out, _complex_then_real(a, s, axes, norm))


def _over_two_axes(many: Any) -> Any:
    def transform(
        a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None
    ) -> Any:
        return many(a, s, axes, norm, out)

    transform.__doc__ = many.__doc__
    return transform


function(np.fft.fft2)(_over_two_axes(np_fftn))
function(np.fft.ifft2)(_over_two_axes(np_ifftn))
function(np.fft.rfft2)(_over_two_axes(np_rfftn))
function(np.fft.irfft2)(_over_two_axes(np_irfftn))


# --- order of the bins ---------------------------------------------------------------------------


def _rolled(x: Any, axes: Any, forward: bool) -> Any:
    axes = axes_of(axes, x.ndim)
    shifts = tuple(x.shape[k] // 2 if forward else -(x.shape[k] // 2) for k in axes)
    return np.roll(x, shifts, axes)


@function(np.fft.fftshift)
def np_fftshift(x: Any, axes: Any = None) -> Any:
    """The bins in the order of their frequencies, zero in the middle."""
    return _rolled(x, axes, True)


@function(np.fft.ifftshift)
def np_ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of fftshift."""
    return _rolled(x, axes, False)
