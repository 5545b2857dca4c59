"""dualad.compile: a function written down as a program, which runs without dispatch."""

from __future__ import annotations

from .compiled import Compiled, compile

__all__ = ["Compiled", "compile"]
