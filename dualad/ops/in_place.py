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

    def apply_transposed(self, m: np.ndarray) -> None:
        """Change it by the transpose."""


class Fold:
    """The lower triangle of B + B^H, with half of its diagonal, in the place of B."""

    __slots__ = ("block",)

    def __init__(self, block: Block):
        self.block = block

    def apply(self, m: np.ndarray) -> None:
        _fold(m[..., *self.block])

    def apply_transposed(self, m: np.ndarray) -> None:
        _mirror(m[..., *self.block])


class Mirror(Fold):
    """The Hermitian matrix of which B holds the lower triangle, in the place of B."""

    __slots__ = ()
    apply, apply_transposed = Fold.apply_transposed, Fold.apply


class Halve:
    """The lower triangle of B with half of its diagonal: its own transpose."""

    __slots__ = ("block",)

    def __init__(self, block: Block):
        self.block = block

    def apply(self, m: np.ndarray) -> None:
        _halve(m[..., *self.block])

    apply_transposed = apply


def _fold(b: np.ndarray) -> None:
    b += _adjoint(b).copy()
    _halve(b)


def _mirror(b: np.ndarray) -> None:
    np.copyto(b, _adjoint(b), where=above(b.shape[-1]))
    if b.dtype.kind == "c":
        np.einsum("...ii->...i", b).imag = 0


def _halve(b: np.ndarray) -> None:
    clear_above(b)
    np.einsum("...ii->...i", b)[...] *= 0.5


def _adjoint(x: np.ndarray) -> np.ndarray:
    x = x.swapaxes(-1, -2)
    return x.conj() if x.dtype.kind == "c" else x


def _adjoint_of(x: np.ndarray | None) -> np.ndarray | None:
    return None if x is None else _adjoint(x)


class Times:
    """L B R in the place of B, where a factor of None is left out."""

    __slots__ = ("block", "left", "right")

    def __init__(self, block: Block, left: np.ndarray | None, right: np.ndarray | None):
        self.block, self.left, self.right = block, left, right

    def apply(self, m: np.ndarray) -> None:
        _multiply(m[..., *self.block], self.left, self.right)

    def apply_transposed(self, m: np.ndarray) -> None:
        _multiply(m[..., *self.block], _adjoint_of(self.left), _adjoint_of(self.right))


def _multiply(b: np.ndarray, left: np.ndarray | None, right: np.ndarray | None) -> None:
    if right is None:
        b[...] = left @ b
    elif left is None:
        b[...] = b @ right
    else:
        np.matmul(left @ b, right, out=b)


class Subtract:
    """B - L C^H R in the place of B, where C is another block."""

    __slots__ = ("block", "left", "other", "right")

    def __init__(
        self, block: Block, other: Block, left: np.ndarray | None, right: np.ndarray | None
    ):
        self.block, self.other, self.left, self.right = block, other, left, right

    def apply(self, m: np.ndarray) -> None:
        _subtract(m[..., *self.block], m[..., *self.other], self.left, self.right)

    def apply_transposed(self, m: np.ndarray) -> None:
        _subtract(m[..., *self.other], m[..., *self.block], self.right, self.left)


def _subtract(
    b: np.ndarray, c: np.ndarray, left: np.ndarray | None, right: np.ndarray | None
) -> None:
    x = _adjoint(c)
    x = x if left is None else left @ x
    b -= x if right is None else x @ right


def run(steps: Sequence[Step], x: Any) -> np.ndarray:
    """The steps, one after the other, on a copy of x."""
    out = copied(x)
    for step in steps:
        step.apply(out)
    return out


def run_transposed(steps: Sequence[Step], x: Any) -> np.ndarray:
    """The transpose of `run`."""
    out = copied(x)
    for step in reversed(steps):
        step.apply_transposed(out)
    return out
