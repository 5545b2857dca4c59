"""Programs as machine code."""

from __future__ import annotations
