"""Discrete Fourier transforms of symbolic arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .entries import number, part
from .errors import REMEDY, NotSymbolicError
from .tables import handles
from .value import FUNCTIONS, Symbolic, entries_of, wrapped

__all__ = ["irfft", "transformed"]


def transformed(sign: int, half: bool = False) -> Callable[..., Any]:
    """The discrete Fourier transform as a matrix of roots of unity."""

    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        entries = np.frompyfunc(number, 1, 1)(entries_of(a))
        size = entries.shape[axis]
        if n not in (None, size):
            raise NotSymbolicError(
                f"a Fourier transform with n= is not known on symbols: {REMEDY}"
            )
        turn = sign * 2 * sympy.pi * sympy.I / size
        rows = size // 2 + 1 if half else size
        roots = [[sympy.expand_complex(sympy.exp(turn * j * k)) for k in range(size)]
                 for j in range(rows)]  # fmt: skip
        forward = (norm or "backward") == "backward"
        whole = 1 if (sign < 0) == forward else size
        scale = sympy.sqrt(size) if norm == "ortho" else sympy.Integer(whole)
        out = np.tensordot(np.array(roots, dtype=object), entries, (1, axis)) / scale
        return wrapped(np.moveaxis(out, 0, axis))

    return transform


@handles(np.fft.irfft)
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Symbolic:
    """The whole spectrum is that of real numbers; what it says twice is read once."""
    half = np.moveaxis(entries_of(a), axis, 0)
    length = 2 * (len(half) - 1) if n is None else n
    if length // 2 + 1 != len(half):
        raise NotSymbolicError(
            f"an irfft that cuts its argument is not known on symbols: {REMEDY}"
        )
    re, im = (np.frompyfunc(part(k), 1, 1)(half) for k in (0, 1))
    rows = []
    for k in range(length):
        total = re[0] + 0 * re[0]
        for j in range(1, len(half)):
            turn = 2 * sympy.pi * j * k / length
            once = 2 * j == length
            wave = sympy.cos(turn) * re[j] - (0 if once else sympy.sin(turn) * im[j])
            total = total + (wave if once else 2 * wave)
        rows.append(total)
    scale = {"ortho": sympy.sqrt(length), "forward": sympy.Integer(1)}.get(norm or "", length)
    return wrapped(np.moveaxis(np.stack([np.asarray(r, object) for r in rows]) / scale, 0, axis))


FUNCTIONS[np.fft.fft] = transformed(-1)
FUNCTIONS[np.fft.ifft] = transformed(1)
FUNCTIONS[np.fft.rfft] = transformed(-1, half=True)
