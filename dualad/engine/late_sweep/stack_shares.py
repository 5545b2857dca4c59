"""What an entry over stacks adds to the cotangents of its parents, on some entries of a stack.

A share is carried out by a function (total, what has come so far or None, blocks to work in,
cotangent, *reads). Where all that is asked of a cotangent is its sum over some axes, as for an
operand that was repeated along these, a share that treats each row alike is as well taken of the
sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.rows import long_rows
from ..arrays.sums import sum_up

__all__ = [
    "Handed",
    "RowsTimes",
    "Share",
    "Summed",
    "SummedProduct",
    "Times",
    "Transposed",
    "Written",
]

Rule = Callable[..., None]
Axes = tuple[int, ...]


class Share:
    """What a parent gets. like: the shape of its cotangent."""

    is_handed = False

    def __init__(self, parent: int, like: Axes):
        self.parent, self.like = parent, like

    #: the axes that it sums over
    axes: Axes = ()

    def is_of_sums(self, axes: Axes) -> bool:
        """Whether its sum over axes is what the same makes of the sum of the cotangent."""
        return False

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        """The function, and what it reads; of_sums: of cotangents that are summed."""
        raise NotImplementedError


class Written(Share):
    """A share as a written pull states it."""

    def __init__(self, parent: int, like: Axes, made: Rule, reads: tuple):
        super().__init__(parent, like)
        self.made, self.reads = made, reads

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        return self.made, self.reads


class Handed(Share):
    """The cotangent itself, or what it is with the other sign."""

    def __init__(self, parent: int, like: Axes, is_added: bool):
        super().__init__(parent, like)
        self.is_handed = is_added

    def is_of_sums(self, axes: Axes) -> bool:
        return True

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        return add_it if self.is_handed else subtract_it, ()


def add_it(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
    if s is None:
        np.copyto(total, c)
    else:
        np.add(s, c, total)


def subtract_it(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
    if s is None:
        np.negative(c, total)
    else:
        np.subtract(s, c, total)


class Summed(Share):
    """The sum of the cotangent over some axes, added or subtracted."""

    def __init__(self, parent: int, like: Axes, axes: Axes, is_added: bool):
        super().__init__(parent, like)
        self.axes, self.is_added = axes, is_added

    def is_of_sums(self, axes: Axes) -> bool:
        return True

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        axes, add = self.axes, np.add if self.is_added else np.subtract

        def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
            add(0.0 if s is None else s, sum_up(c, axes).reshape(total.shape), total)

        return rule, ()


class Times(Share):
    """The cotangent times an operand that broadcasts, which is laid out in long rows once."""

    def __init__(self, parent: int, like: Axes, d: np.ndarray):
        super().__init__(parent, like)
        self.d = d

    def is_of_sums(self, axes: Axes) -> bool:
        return all(self.d.shape[k] == 1 for k in axes)

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        d, frame = self.d, None
        longer = None if of_sums else long_rows(shape, (d,))
        if longer is not None:
            frame, (d,) = (-1, *longer[0][1:]), longer[1]

        def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
            share = total
            if s is not None:
                share = np.empty_like(total) if of_sums else work[0]
            if frame is None:
                np.multiply(c, reads[0], share)
            else:
                np.multiply(c.reshape(frame), reads[0], share.reshape(frame))
            if s is not None:
                np.add(s, share, total)

        return rule, (d,)


class SummedProduct(Share):
    """The cotangent times an operand of its shape, summed over some axes."""

    def __init__(self, parent: int, like: Axes, axes: Axes, d: np.ndarray):
        super().__init__(parent, like)
        self.over, self.d = axes, d

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        every = list(range(len(shape)))
        rest = [k for k in every if k not in self.over]

        def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
            share = np.einsum(c, every, reads[0], every, rest).reshape(total.shape)
            np.add(0.0 if s is None else s, share, total)

        return rule, (self.d,)


class Transposed(Share):
    """A linear operation on each entry of a stack, transposed."""

    def __init__(self, parent: int, like: Axes, found: tuple[Rule, np.ndarray, Axes]):
        super().__init__(parent, like)
        self.transpose, self.operand, self.alike = found

    def is_of_sums(self, axes: Axes) -> bool:
        return set(axes) <= set(self.alike)

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        in_work, transpose = self.like == shape and not of_sums, self.transpose

        def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
            share = total
            if s is not None:
                share = work[0] if in_work else np.empty_like(total)
            transpose(c, reads[0], share)
            if s is not None:
                np.add(s, share, total)

        return rule, (self.operand,)


class RowsTimes(Share):
    """An operand times what has one entry for each row."""

    def __init__(self, parent: int, like: Axes, d: np.ndarray, of_rows: np.ndarray):
        super().__init__(parent, like)
        self.d, self.of_rows = d, of_rows

    def rule(self, shape: Axes, of_sums: bool) -> tuple[Rule, tuple]:
        every = list(range(len(shape)))

        def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
            share = total if s is None else work[0]
            np.einsum(reads[0], every, reads[1], every[:-1], every, out=share)
            if s is not None:
                np.add(s, share, total)

        return rule, (self.d, self.of_rows)
