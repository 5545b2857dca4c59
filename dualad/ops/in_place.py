"""Linear maps of a matrix as steps in place, and so their transposes.

A map is a list of steps, each of which changes one block of a matrix. The transpose of the map is
the transposes of its steps, the last one first, under the inner product Re tr A^H B. A large rule
that is written so states its derivative once, runs in the memory of one matrix, and leaves the
work to products of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..engine.arrays.memory import copied
from .linalg import above, clear_above

__all__ = [
    "Block",
    "Fold",
    "Halve",
    "Mirror",
    "Step",
    "Subtract",
    "Times",
    "run",
    "run_transposed",
]

#: The rows and the columns of a block.
Block = tuple[slice, slice]


class Step(Protocol):
    """A linear change of one block."""

    def apply(self, m: np.ndarray) -> None:
        """Change the matrix, or each of a stack."""

    def transposed(self) -> Step:
        """The transposed change."""


class Fold:
    """The lower triangle of B + B^H, with half of its diagonal, in the place of B."""

    def __init__(self, block: Block):
        self.block = block

    def apply(self, m: np.ndarray) -> None:
        b = m[..., *self.block]
        b += _adjoint(b).copy()
        _halve(b)

    def transposed(self) -> Step:
        return Mirror(self.block)


class Mirror:
    """The Hermitian matrix of which B holds the lower triangle, in the place of B."""

    def __init__(self, block: Block):
        self.block = block

    def apply(self, m: np.ndarray) -> None:
        b = m[..., *self.block]
        np.copyto(b, _adjoint(b), where=above(b.shape[-1]))
        if b.dtype.kind == "c":
            np.einsum("...ii->...i", b).imag = 0

    def transposed(self) -> Step:
        return Fold(self.block)


class Halve:
    """The lower triangle of B with half of its diagonal: its own transpose."""

    def __init__(self, block: Block):
        self.block = block

    def apply(self, m: np.ndarray) -> None:
        _halve(m[..., *self.block])

    def transposed(self) -> Step:
        return self


def _halve(b: np.ndarray) -> None:
    clear_above(b)
    np.einsum("...ii->...i", b)[...] *= 0.5


def _adjoint(x: np.ndarray) -> np.ndarray:
    x = x.swapaxes(-1, -2)
    return x.conj() if x.dtype.kind == "c" else x


class Times:
    """L B R in the place of B, where a factor of None is left out."""

    def __init__(self, block: Block, left: np.ndarray | None, right: np.ndarray | None):
        self.block, self.left, self.right = block, left, right

    def apply(self, m: np.ndarray) -> None:
        b = m[..., *self.block]
        x = b if self.left is None else self.left @ b
        b[...] = x if self.right is None else x @ self.right

    def transposed(self) -> Step:
        left, right = (None if x is None else _adjoint(x) for x in (self.left, self.right))
        return Times(self.block, left, right)


class Subtract:
    """B - L C^H R in the place of B, where C is another block."""

    def __init__(
        self, block: Block, other: Block, left: np.ndarray | None, right: np.ndarray | None
    ):
        self.block, self.other, self.left, self.right = block, other, left, right

    def apply(self, m: np.ndarray) -> None:
        x = _adjoint(m[..., *self.other])
        x = x if self.left is None else self.left @ x
        b = m[..., *self.block]
        b -= x if self.right is None else x @ self.right

    def transposed(self) -> Step:
        return Subtract(self.other, self.block, self.right, self.left)


def run(steps: Sequence[Step], x: Any) -> np.ndarray:
    """The steps, one after the other, on a copy of x."""
    out = copied(x)
    for step in steps:
        step.apply(out)
    return out


def run_transposed(steps: Sequence[Step], x: Any) -> np.ndarray:
    """The transpose of `run`."""
    return run([step.transposed() for step in reversed(steps)], x)
