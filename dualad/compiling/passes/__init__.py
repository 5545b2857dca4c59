"""Passes over programs. What they leave equals what was there to rounding.

A pass may change the last digits of a number. It does not change which entries are NaN or
infinite, the sign of an infinity, dtypes, shapes, or what warns; nor the sign of a zero, but for
one case: an entry to which a slice adds nothing stays as it is, where adding 0.0 would turn -0.0
into 0.0 (`slices`).
"""

from __future__ import annotations

from .constants import private_arrays
from .dead_code import without_dead_code
from .parts import simplified
from .repetition import without_repetition
from .writes_last import writes_last

__all__ = [
    "private_arrays",
    "simplified",
    "without_dead_code",
    "without_repetition",
    "writes_last",
]
