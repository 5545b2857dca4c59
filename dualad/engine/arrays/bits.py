"""Whether arrays agree to the last bit."""

from __future__ import annotations

import numpy as np

__all__ = ["same_bits"]


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have one shape and dtype, and the same entries: -0.0 is not 0.0."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.hasobject:
        return np.array_equal(a, b)
    if a.dtype.char in "gG":  # of whose bytes some hold nothing
        signs = [np.signbit(part) for x in (a, b) for part in (x.real, x.imag)]
        equal = np.array_equal(a, b, equal_nan=True)
        return equal and all(map(np.array_equal, signs[:2], signs[2:]))
    if a.flags.c_contiguous and b.flags.c_contiguous and not a.itemsize % 8:
        return bool((a.reshape(-1).view(np.uint64) == b.reshape(-1).view(np.uint64)).all())
    return a.tobytes() == b.tobytes()
