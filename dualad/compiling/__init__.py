"""dualad.compile: a function written down as a program, which runs without dispatch."""

from __future__ import annotations

from .compiled import Compiled
from .decorator import compile

__all__ = ["Compiled", "compile"]
