"""The generator from which random tensors are drawn."""

from __future__ import annotations

import numpy as np

__all__ = ["generator", "manual_seed"]

_random = np.random.default_rng()


def generator() -> np.random.Generator:
    """The generator as it stands."""
    return _random


def manual_seed(seed: int) -> None:
    """Make `rand`, `randn`, `uniform_` and `normal_` begin again from a seed."""
    global _random
    _random = np.random.default_rng(seed)
