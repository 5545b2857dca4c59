"""Airy functions and their integrals (DLMF chapter 9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import airye

from ...engine.arrays.guard import quiet
from ...engine.primitives.composite import Composite
from ...engine.primitives.primitive import align
from .table import several, state

__all__: list[str] = []

several("airy", ("out[1]", "x * out[0]", "out[3]", "x * out[2]"))
several("itairy", ("airy(x)[0]", "airy(x)[2]", "airy(-x)[0]", "airy(-x)[2]"))


def _scaled_rule(t: Any, out: Any, z: Any) -> tuple:
    """Ai is scaled by exp(2/3 z**1.5), Bi by exp(-|Re 2/3 z**1.5|), which is not holomorphic."""
    a, ap, b, bp = out
    with quiet():
        if np.dtype(z.dtype).kind == "c":
            root = np.sqrt(z)
            move = root * t
            size = np.sign(np.real(z * root)) * np.real(move)
        else:
            # SciPy scales by 1 for z < 0, where Ai is not defined in real numbers.
            size = move = np.sqrt(np.maximum(z, 0)) * t
        first = t * ap + move * a, t * (z * a) + move * ap
        return *first, t * bp - size * b, t * (z * b) - size * bp


scaled = Composite(
    airye,
    _scaled_rule,
    name="scipy.special.airye",
    batch=lambda args, mine: scaled(*align(args, mine)),
    builtin=False,
)
state("airye", scaled)
