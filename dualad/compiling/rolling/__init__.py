"""Rolling: repetition in straight-line code is found and written as loops."""

from __future__ import annotations

from .roll import rolled

__all__ = ["rolled"]
