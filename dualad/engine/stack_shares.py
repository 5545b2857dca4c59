"""What an entry over stacks adds to the cotangents of its parents, on some entries of a stack.

A share is carried out by a function (total, what has come so far or None, blocks to work in,
cotangent, *reads). Where all that is asked of a cotangent is its sum over some axes, as for an
operand that was repeated along these, a share that treats each row alike is as well taken of the
sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .memory import F64
from .rows import long_rows
from .run_steps import Step
from .sums import sum_up
from .tape import pull_elementwise, pull_linear

__all__ = [
    "Share",
    "Summed",
    "shares_of_broadcast",
    "shares_of_narrow",
    "shares_of_stacks",
    "shares_of_step",
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


# --- the shares of an entry --------------------------------------------------------------------


def shares_of_step(step: Step, terms: tuple[tuple[str, str], ...], shape: Axes) -> list[Share]:
    """Those of a written pull, which states the terms, on arrays of one shape."""
    return [
        Handed(i, shape, sign == "+") if term == "c" else Written(i, shape, rule, step.reads)
        for i, rule, (sign, term) in zip(step.parents, step.rules, terms, strict=True)
    ]


#: Shares that are the cotangent times an operand, and how often they are that.
PRODUCTS = {"c * (x + x)": ("x", 2.0), "c * (x)": ("x", 1.0), "c * (y)": ("y", 1.0)}


def shares_of_narrow(step: Step, entry: tuple, ct: np.ndarray) -> list[Share] | None:
    """The same where the cotangent has one entry for each row, which is not spread over it.

    None where they are more than products with operands.
    """
    stated = entry[0].shares
    if any(term not in PRODUCTS for _, term in stated.terms):
        return None
    one, shares = ct[..., 0], list[Share]()
    for i, (sign, term) in zip(step.parents, stated.terms, strict=True):
        name, times = PRODUCTS[term]
        d = step.reads[stated.reads.index(name)]
        c = one * (times if sign == "+" else -times)
        # What is too large to be taken twice may be the cotangent of what is small.
        if type(d) is not np.ndarray or not math.isfinite(np.vdot(c, c)):
            return None
        shares.append(RowsTimes(i, ct.shape, d, c))
    return shares


def shares_of_broadcast(entry: tuple, shape: Axes) -> list[Share] | None:
    """Those of a written pull that reads operands which broadcast; None where it is no product."""
    stated, shares = entry[0].shares, list[Share]()
    for i, (sign, term) in zip(entry[1:], stated.terms, strict=False):
        if term == "c":
            shares.append(Handed(i, shape, sign == "+"))
            continue
        name, times = PRODUCTS.get(term, ("", 0.0))
        d = entry[1 + len(stated.terms) + stated.reads.index(name)] if times else None
        if sign == "-" or times != 1.0 or not broadcasts(d, shape):
            return None
        shares.append(Times(i, shape, d))
    return shares


def shares_of_stacks(entry: tuple, shape: Axes) -> list[Share] | None:
    """Those of an entry that is more than ufuncs of one shape; None where it is none for here.

    That is a linear operation on each entry of the first axis, or an elementwise one of operands
    that broadcast along inner axes.
    """
    if entry[0] is pull_linear:
        if entry[2].in_stack is None:
            return None
    elif entry[0] is not pull_elementwise:
        return None
    shares = []
    for n, i in enumerate(entry[1]):
        if i is None:
            continue
        like = entry[6][n]
        if like.dtype is not F64 or len(like.shape) != len(shape) or like.shape[0] != shape[0]:
            return None
        if entry[0] is pull_linear:
            found = entry[2].in_stack(n, *entry[3], **entry[4])
            share = None if found is None else Transposed(i, like.shape, found)
        else:
            share = of_elementwise(n, i, entry, like.shape, shape)
        if share is None:
            return None
        shares.append(share)
    return shares


def of_elementwise(n: int, i: int, entry: tuple, like: Axes, shape: Axes) -> Share | None:
    """The share of an argument in which the slope is an operand, 1 or -1."""
    partial, args = entry[2].partials[n], entry[3]
    axes = repeated(like, shape)
    if axes is None:
        return None
    if partial.constant == 1.0 or partial.constant == -1.0:
        is_added = partial.constant == 1.0
        return Summed(i, like, axes, is_added) if axes else Handed(i, like, is_added)
    if partial.text not in ("x", "y"):
        return None
    d = args["xy".index(partial.text)]
    if not broadcasts(d, shape):
        return None
    if not axes:
        return Times(i, like, d)
    return SummedProduct(i, like, axes, d) if d.shape == shape else None


def broadcasts(d: Any, shape: Axes) -> bool:
    """Whether an operand is a plain array in order that broadcasts along inner axes, or none."""
    if type(d) is not np.ndarray or d.dtype is not F64 or d.ndim != len(shape):
        return False
    return d.flags.c_contiguous and repeated(d.shape, shape) is not None


def repeated(like: Axes, shape: Axes) -> Axes | None:
    """Along which axes it broadcasts; None where among these are the first or the last."""
    axes = tuple([k for k, (m, n) in enumerate(zip(like, shape, strict=True)) if m != n])
    inner = all(like[k] == 1 and 0 < k < len(shape) - 1 for k in axes)
    return axes if inner else None
