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

from ..engine.memory import copied
from .linalg import above, adjoint

__all__ = ["Block", "Halve", "PlusAdjoint", "Step", "Subtract", "Times", "run", "run_transposed"]

#: The rows and the columns of a block.
Block = tuple[slice, slice]


class Step(Protocol):
    """A linear change of one block."""

    def apply(self, m: np.ndarray) -> None:
        """Change the matrix, or each of a stack."""

    def transposed(self) -> Step:
        """The transposed change."""


class PlusAdjoint:
    """B + B^H in the place of B: its own transpose."""

    def __init__(self, block: Block):
        self.block = block

    def apply(self, m: np.ndarray) -> None:
        b = m[..., *self.block]
        b += adjoint(b).copy()

    def transposed(self) -> Step:
        return self


class Halve:
    """The lower triangle of B with half of its diagonal: its own transpose."""

    def __init__(self, block: Block):
        self.block = block

    def apply(self, m: np.ndarray) -> None:
        b = m[..., *self.block]
        np.copyto(b, 0, where=above(b.shape[-1]))
        np.einsum("...ii->...i", b)[...] *= 0.5

    def transposed(self) -> Step:
        return self


class Times:
    """L B R in the place of B, where a factor of None is left out."""

    def __init__(self, block: Block, left: np.ndarray | None, right: np.ndarray | None):
        self.block, self.left, self.right = block, left, right

    def apply(self, m: np.ndarray) -> None:
        b = m[..., *self.block]
        x = b if self.left is None else self.left @ b
        b[...] = x if self.right is None else x @ self.right

    def transposed(self) -> Step:
        left, right = (None if x is None else adjoint(x) for x in (self.left, self.right))
        return Times(self.block, left, right)


class Subtract:
    """B - L C^H R in the place of B, where C is another block."""

    def __init__(
        self, block: Block, other: Block, left: np.ndarray | None, right: np.ndarray | None
    ):
        self.block, self.other, self.left, self.right = block, other, left, right

    def apply(self, m: np.ndarray) -> None:
        x = adjoint(m[..., *self.other])
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
