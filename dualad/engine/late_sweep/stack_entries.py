"""Entries of the tape over stacks, as shares that are computed on some entries of a stack."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..arrays.memory import F64
from ..primitives.block_rules import ShareRules, known_rules
from ..programs.entries import pull_elementwise, pull_linear
from .run_steps import Step
from .stack_shares import (
    Handed,
    RowsTimes,
    Share,
    Summed,
    SummedProduct,
    Times,
    Transposed,
    Written,
)

__all__ = ["shares_of_broadcast", "shares_of_narrow", "shares_of_stacks", "shares_of_step"]

Axes = tuple[int, ...]


def shares_of_step(step: Step, shape: Axes) -> tuple[list[Share], int]:
    """Those of a written pull on arrays of one shape, and how many blocks to work in they need."""
    shares, rows = list[Share](), 1
    rules = known_rules(step.pull, step.kinds) or ()
    for i, rule, (sign, term) in zip(step.parents, rules, step.pull.shares.terms, strict=True):
        if term == "c":
            shares.append(Handed(i, shape, sign == "+"))
        else:
            shares.append(Written(i, shape, function_of(rule), step.reads))
            rows = max(rows, rule.spares)
    return shares, rows


@functools.cache
def function_of(rule: ShareRules) -> Any:
    return rule.function()


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
        if sign == "-" or times != 1.0:
            return None
        d = entry[1 + len(stated.terms) + stated.reads.index(name)]
        if not broadcasts(d, shape):
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
    shares = list[Share]()
    for n, i in enumerate(entry[1]):
        if i is None:
            continue
        like = entry[6][n]
        if like.dtype is not F64 or len(like.shape) != len(shape) or like.shape[0] != shape[0]:
            return None
        if entry[0] is pull_linear:
            found = entry[2].in_stack(n, *entry[3], **entry[4])
            if found is None:
                return None
            shares.append(Transposed(i, like.shape, found))
            continue
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
