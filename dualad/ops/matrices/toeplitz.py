"""Systems and products with Toeplitz and circulant matrices, in less than n**3 operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.levels.spec import Spec
from ...engine.levels.traced import raw
from ...engine.primitives.linear import Linear
from ..complexes import real
from ..dropin import drop_in, operand
from ..products import conj
from .triangular import as_columns

__all__ = ["matmul_toeplitz", "solve_circulant", "solve_toeplitz"]


def _column_and_row(c_or_cr: Any) -> tuple[Any, Any]:
    if isinstance(c_or_cr, tuple):
        c, r = (np.ravel(operand(x)) for x in c_or_cr)
        return c, r
    c = np.ravel(operand(c_or_cr))
    return c, conj(c)


# --- products ------------------------------------------------------------------------------------


def _times(c: Any, r: Any, x: Any) -> Any:
    """The Toeplitz matrix of column c and row r times columns x, as part of a circulant one."""
    m, n = c.shape[0], r.shape[0]
    ring = np.concatenate([c, r[:0:-1]])
    size = m + n - 1
    if "c" in (ring.dtype.kind, x.dtype.kind):
        product = np.reshape(np.fft.fft(ring), (-1, 1)) * np.fft.fft(x, size, axis=0)
        return np.fft.ifft(product, axis=0)[:m]
    product = np.reshape(np.fft.rfft(ring), (-1, 1)) * np.fft.rfft(x, size, axis=0)
    return np.fft.irfft(product, size, axis=0)[:m]


@drop_in(sp.matmul_toeplitz)
def matmul_toeplitz(c_or_cr: Any, x: Any) -> Any:
    """scipy.linalg.matmul_toeplitz, by Fourier transforms."""
    c, r = _column_and_row(c_or_cr)
    columns, flat = as_columns(x)
    if columns.shape[0] != r.shape[0]:
        raise ValueError("Incompatible dimensions.")
    y = _times(c, r, columns)
    return y[:, 0] if flat else y


# --- systems -------------------------------------------------------------------------------------


def toeplitz_solution(c: Any, r: Any, b: Any) -> Any:
    """The x of a Toeplitz system; its source is what a linear program prints."""
    from scipy.linalg import solve_toeplitz

    return solve_toeplitz((c, r), b, check_finite=False)


def _without_first(x: Any) -> Any:
    """x with 0 in place of its first entry, which a Toeplitz matrix takes from its column."""
    return np.concatenate([np.zeros(1, x.dtype), x[1:]])


def _transpose(ct: Any, c: Any, r: Any, b: Any) -> Any:
    """The conjugate transpose has the roles of row and column exchanged, but for the corner."""
    return _solution(conj(np.concatenate([c[:1], r[1:]])), conj(c), ct)


_solution = Linear(
    toeplitz_solution,
    None,
    None,
    _transpose,
    rules=(
        lambda t, out, c, r, b: -_solution(c, r, _times(t, np.zeros(r.shape, r.dtype), out)),
        lambda t, out, c, r, b: (
            -_solution(c, r, _times(np.zeros(c.shape, c.dtype), _without_first(t), out))
        ),
        None,
    ),
    spec=lambda c, r, b: Spec(b.shape, np.result_type(c.dtype, r.dtype, b.dtype, np.float64)),
    name="scipy.linalg.solve_toeplitz",
)


@drop_in(sp.solve_toeplitz)
def solve_toeplitz(c_or_cr: Any, b: Any) -> Any:
    """scipy.linalg.solve_toeplitz, by Levinson's recursion forwards and in reverse."""
    c, r = _column_and_row(c_or_cr)
    b = operand(b)
    if c.shape != r.shape or b.shape[0] != r.shape[0]:
        raise ValueError("Incompatible dimensions.")
    columns, flat = as_columns(b)
    x = _solution(c, r, columns)
    return x[:, 0] if flat else x


@drop_in(sp.solve_circulant)
def solve_circulant(
    c: Any,
    b: Any,
    singular: str = "raise",
    tol: Any = None,
    caxis: int = -1,
    baxis: int = 0,
    outaxis: int = 0,
) -> Any:
    """scipy.linalg.solve_circulant: a quotient of Fourier transforms."""
    c = np.moveaxis(np.atleast_1d(operand(c)), caxis, -1)
    b = np.moveaxis(np.atleast_1d(operand(b)), baxis, -1)
    if c.shape[-1] != b.shape[-1]:
        raise ValueError(f"Shapes of c {c.shape} and b {b.shape} are incompatible")
    spectrum = np.fft.fft(c, axis=-1)
    size = np.abs(constant(spectrum))
    if tol is None:
        tol = np.max(size, axis=-1, keepdims=True) * c.shape[-1] * np.finfo(np.float64).eps
    zero = size <= tol
    if np.any(raw(zero)) and singular == "raise":
        raise np.linalg.LinAlgError("near singular circulant matrix.")
    quotient = np.where(zero, 0, np.fft.fft(b, axis=-1) / np.where(zero, 1, spectrum))
    x = np.fft.ifft(quotient, axis=-1)
    x = x if "c" in (c.dtype.kind, b.dtype.kind) else real(x)
    return np.moveaxis(x, -1, outaxis)
