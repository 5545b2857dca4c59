"""Runs over stacks of small arrays: products of matrices, and operands that broadcast, by blocks.

Entries of one large shape, such as points seen from many centres, are swept together, some
entries of the first axis at a time: the cotangents of these pass all of them while they are in the
cache. What comes between, of other shapes, is pulled afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .cutting import TOGETHER, scratch
from .joint import Node
from .memory import F64, workspace
from .rows import long_rows
from .run_steps import Step, step_of
from .runs import Run
from .sums import sum_up
from .tape import pull_elementwise, pull_linear

__all__ = ["is_stack", "pull_stack"]

#: How many entries of the tape are looked at for one run.
LONGEST = 64
#: How many entries the blocks of a run have together: 2 MB. Half of them is read only once.
ROOM = 2 * TOGETHER


def is_stack(ct: Any) -> bool:
    """Whether a cotangent is a large stack, of which some entries are in the cache together."""
    if type(ct) is not np.ndarray or ct.ndim < 3 or ct.size < TOGETHER or ct.dtype is not F64:
        return False
    each = ct.size // len(ct)
    return len(ct) > 1 and 4 * each <= TOGETHER and (ct.flags.c_contiguous or is_narrow(ct))


def is_narrow(ct: np.ndarray) -> bool:
    """Whether an array repeats one entry along its last axis, and is in order otherwise."""
    return ct.strides[-1] == 0 and ct[..., 0].flags.c_contiguous


def pull_stack(tape: list, inputs: int, g: list[Any], last: int) -> bool:
    """Transpose the run of entries over stacks that ends at `last`; whether there is one.

    It is not one where flat blocks would do.
    """
    shape = g[last].shape
    steps: list[Step] = []
    reached, others = {last}, dict[int, tuple[int, ...]]()
    #: what entries may still add to that are pulled after the run
    behind: set[int] = set()
    is_flat, is_spread, rows, k = True, False, 1, last
    while k >= max(inputs, last + 1 - LONGEST):
        entry = tape[k]
        if type(entry) is not tuple:
            break
        if k not in reached:
            behind |= numbers_in(entry)
        elif k in behind or (k != last and g[k] is not None):
            break
        else:
            found = step_of(k, entry, None, shape)
            if found is None:
                found = step_of_stacks(k, entry, shape, others)
                is_flat = is_flat and found is None
            if found is None or any(type(r) is Node and r.done is None for r in found[0].reads):
                break
            if k == last and not g[k].flags.c_contiguous:
                narrow = of_narrow(found[0], entry, g[k])
                found = (narrow or found[0]), found[1]
                is_spread = narrow is None
            steps.append(found[0])
            rows = max(rows, found[1])
            reached.update([i for i in found[0].parents if i not in others])
        k -= 1
    if is_flat or len(steps) < 2:
        return False
    StackRun(g, k + 1, shape, others, is_spread).carry_out(steps, rows)
    return True


def numbers_in(entry: tuple) -> set[int]:
    """All numbers that an entry holds, the variables of its parents among them."""
    found = set()
    for part in entry:
        for i in part if type(part) is tuple else (part,):
            if type(i) is int:
                found.add(i)
    return found


class StackRun(Run):
    """A run that is cut along the first axis of its arrays.

    others: the shapes of cotangents that have another one; they leave the run. is_spread: whether
    a cotangent that has one entry for each row is spread over the row.
    """

    def __init__(
        self,
        g: list[Any],
        first: int,
        shape: tuple,
        others: dict[int, tuple],
        is_spread: bool,
    ):
        super().__init__(g, first, shape)
        self.others, self.is_spread = others, is_spread
        #: the slots of arrays that have one entry for each row
        self.narrow: list[int] = []

    def whole(self, array: np.ndarray) -> int:
        slot = super().whole(array)
        if self.is_spread and not array.flags.c_contiguous and not self.narrow:
            self.narrow.append(slot)
        return slot

    def laid(self, array: np.ndarray) -> np.ndarray:
        return array if array.flags.c_contiguous or not is_narrow(array) else array[..., 0]

    def given(self, variable: int) -> int:
        return 0 if variable in self.others else super().given(variable)

    def home(self, variable: int) -> int:
        if variable not in self.others:
            return super().home(variable)
        if variable not in self.homes:
            total = self.results[variable] = workspace(self.others[variable], F64)
            self.homes[variable] = self.whole(total)
        return self.homes[variable]

    def blocks(self, count: int, most: int) -> Iterator[list[Any]]:
        n, inner = self.shape[0], self.shape[1:]
        each, wholes = math.prod(inner), [(i, self.slots[i]) for i in self.cut]
        together = len(self.rows) + count + sum(a.shape == self.shape for _, a in wholes)
        step = max(1, ROOM // (each * together))
        memory = [r.reshape(step, *inner) for r in scratch(len(self.rows) + count, step * each)]
        now = list(self.slots)
        for start in range(0, n, step):
            size = min(step, n - start)
            for i, array in wholes:
                now[i] = array[start : start + size]
            for i in self.narrow:
                now[i] = np.repeat(now[i].reshape(-1), inner[-1]).reshape(size, *inner)
            rows = memory if size == step else [r[:size] for r in memory]
            for i, row in zip(self.rows, rows, strict=False):
                now[i] = row
            now[1] = rows[len(self.rows) :]
            yield now


# --- entries as steps --------------------------------------------------------------------------


def step_of_stacks(
    k: int, entry: tuple, shape: tuple, others: dict[int, tuple]
) -> tuple[Step, int] | None:
    """An entry that is more than ufuncs of one shape, as a step; None where it is none of these.

    The shapes of parents that have another one are added to `others`.
    """
    if entry[0] is not pull_elementwise and entry[0] is not pull_linear:
        return None
    if entry[0] is pull_linear and entry[2].in_stack is None:
        return None
    parents, rules, reads, hands_on = [], [], [], []
    shapes: dict[int, tuple] = {}
    for n, i in enumerate(entry[1]):
        if i is None:
            continue
        like = entry[6][n]
        if like.dtype is not F64 or len(like.shape) != len(shape) or like.shape[0] != shape[0]:
            return None
        of = of_elementwise if entry[0] is pull_elementwise else of_linear
        found = of(n, entry, like.shape, shape, len(reads))
        if found is None:
            return None
        rule, read = found
        parents.append(i)
        rules.append(rule)
        reads += [] if read is None else [read]
        hands_on.append(rule is add_it)
        if like.shape != shape:
            shapes[i] = like.shape
    others.update(shapes)
    return Step(k, tuple(parents), rules, tuple(reads), tuple(hands_on)), 1


#: Shares that are the cotangent times an operand, and how often they are that.
PRODUCTS = {
    "c * (x + x)": ("x", 2.0), "c * (x)": ("x", 1.0), "c * x": ("x", 1.0), "c * (y)": ("y", 1.0),
    "c * y": ("y", 1.0), "c * (out)": ("out", 1.0), "c * out": ("out", 1.0),
}  # fmt: skip


def of_narrow(step: Step, entry: tuple, ct: np.ndarray) -> Step | None:
    """The same step for a cotangent that has one entry for each row, which is not spread.

    None where the shares are more than products with operands.
    """
    stated = getattr(entry[0], "shares", None)
    if stated is None or any(term not in PRODUCTS for _, term in stated.terms):
        return None
    one, reads, rules = ct[..., 0], list(step.reads), []
    for sign, term in stated.terms:
        name, times = PRODUCTS[term]
        at = stated.reads.index(name)
        c = one * (times if sign == "+" else -times)
        # What is too large to be taken twice may be the cotangent of what is small.
        if type(reads[at]) is not np.ndarray or not math.isfinite(np.vdot(c, c)):
            return None
        rules.append(row_rule(at, len(reads)))
        reads.append(c)
    return step._replace(rules=rules, reads=tuple(reads))


def row_rule(at: int, of_rows: int) -> Callable[..., None]:
    """An operand times what has one entry for each row."""

    def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
        every = list(range(total.ndim))
        share = total if s is None else work[0]
        np.einsum(reads[at], every, reads[of_rows], every[:-1], every, out=share)
        if s is not None:
            np.add(s, share, total)

    return rule


Found = tuple[Callable[..., None], Any] | None


def of_linear(n: int, entry: tuple, like: tuple, shape: tuple, at: int) -> Found:
    """The rule of an argument of a linear operation, and what it reads, which it is given `at`."""
    found = entry[2].in_stack(n, *entry[3], **entry[4])
    if found is None:
        return None
    transpose, operand = found

    def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
        share = total
        if s is not None:
            share = work[0] if like == shape else np.empty_like(total)
        transpose(c, reads[at], share)
        if s is not None:
            np.add(s, share, total)

    return rule, operand


def of_elementwise(n: int, entry: tuple, like: tuple, shape: tuple, at: int) -> Found:
    """The same of an elementwise operation whose slope is an operand, 1 or -1."""
    primitive, args = entry[2], entry[3]
    partial = primitive.partials[n]
    axes = summed_axes(like, shape)
    if axes is None:
        return None
    if partial.constant == 1.0 or partial.constant == -1.0:
        if axes:
            return sum_rule(axes, np.add if partial.constant == 1.0 else np.subtract), None
        return add_it if partial.constant == 1.0 else subtract_it, None
    if partial.text not in ("x", "y"):
        return None
    d = args["xy".index(partial.text)]
    if type(d) is not np.ndarray or d.dtype is not F64 or d.ndim != len(shape):
        return None
    if summed_axes(d.shape, shape) is None or not (d.flags.c_contiguous or 0 in d.strides):
        return None
    if not axes:
        return product_rule(d, shape, at)
    return (summed_product_rule(axes, at), d) if d.shape == shape else None


def summed_axes(like: tuple, shape: tuple) -> tuple[int, ...] | None:
    """Along which axes it broadcasts; None where among these are the first or the last."""
    axes = tuple([k for k, (m, n) in enumerate(zip(like, shape, strict=True)) if m != n])
    inner = all(like[k] == 1 and 0 < k < len(shape) - 1 for k in axes)
    return axes if inner else None


def add_it(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
    """The cotangent as it is."""
    if s is None:
        np.copyto(total, c)
    else:
        np.add(s, c, total)


def subtract_it(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
    """The cotangent with the other sign."""
    if s is None:
        np.negative(c, total)
    else:
        np.subtract(s, c, total)


def sum_rule(axes: tuple[int, ...], add: np.ufunc) -> Callable[..., None]:
    """The sum of the cotangent over some axes, added or subtracted."""

    def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
        add(0.0 if s is None else s, sum_up(c, axes).reshape(total.shape), total)

    return rule


def product_rule(d: np.ndarray, shape: tuple, at: int) -> tuple[Callable[..., None], np.ndarray]:
    """The cotangent times an operand that broadcasts, which is laid out in long rows once."""
    frame, (d,) = long_rows(shape, (d,)) or (shape, (d,))
    frame = (-1, *frame[1:])

    def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
        share = total if s is None else work[0]
        np.multiply(c.reshape(frame), reads[at], share.reshape(frame))
        if s is not None:
            np.add(s, share, total)

    return rule, d


def summed_product_rule(axes: tuple[int, ...], at: int) -> Callable[..., None]:
    """The cotangent times an operand of its shape, summed over some axes."""

    def rule(total: Any, s: Any, work: Any, c: Any, *reads: Any) -> None:
        every = list(range(c.ndim))
        rest = [k for k in every if k not in axes]
        out = total.reshape([total.shape[k] for k in rest])
        if s is None:
            np.einsum(c, every, reads[at], every, rest, out=out)
        else:
            out += np.einsum(c, every, reads[at], every, rest)

    return rule
