"""Sweeps over large arrays: a run of elementwise operations is transposed block by block.

Where neighbouring entries of a tape are elementwise, of one large shape, their cotangents need
never be whole arrays: a block of each passes all of these entries while it is in the cache. Only
what leaves the run is written to memory, over the cotangents that the run has read where nobody
else holds them. The shares are those of the entries' own pulls. Where these read what was put off
(see `late_records`), a block of that is computed first, from the operands on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays.guard import has_nan
from ..arrays.memory import LARGE
from ..arrays.spent import SPENT, is_spent
from ..programs.entries import pull_linear
from ..put_off.joint import Node, in_order
from .late_runs import LateRun
from .record_state import RecordState
from .run_steps import Step, step_of
from .runs import Run
from .stacks import is_stack, pull_stack

__all__ = ["sweep_large"]

#: How many entries a run has at most of which values are computed: they are all in the cache.
LONGEST = 64


def sweep_large(
    tape: list,
    inputs: int,
    g: list[Any],
    last: int,
    own: set[int],
    late: RecordState | None = None,
    once: bool = False,
) -> dict[int, np.ndarray]:
    """Pull the entries of a tape from `last` down, runs of large elementwise ones as one.

    late: what was put off; once: entries that were pulled are let go. Gives the cotangents of
    inputs, by their numbers, of which it is known that they hold no NaN that another sweep could
    avoid, unless others are found in their places.
    """
    known: dict[int, np.ndarray] = {}
    k = last
    while k >= inputs:
        ct = g[k]
        if ct is None:
            k -= 1
            continue
        if is_stack(ct):
            del ct  # what nobody else holds is written over
            if pull_stack(tape, inputs, g, k):
                k -= 1
                continue
            ct = g[k]
        entry = tape[k]
        pull = entry[0]
        if pull is pull_linear and type(ct) is np.ndarray:
            new = larger_shares(ct, entry, inputs, g)
            has_none = new and not has_nan(ct)
            g[k] = None
            pull(ct, entry, g, own)
            if has_none:
                known.update([(i, g[i]) for i in new])
        elif type(ct) is np.ndarray and ct.size >= LARGE and hasattr(pull, "shares"):
            del ct  # what nobody else holds is written over
            first = pull_run(tape, inputs, g, k, late, known)
            if first is None:
                pull_one(entry if late is None else late.settled(entry), g, k, own)
            else:
                k = first
        else:
            g[k] = None
            pull(ct, entry if late is None else late.settled(entry), g, own)
        if once:
            del tape[k:]
        k -= 1
    return known


def pull_one(entry: tuple, g: list[Any], k: int, own: set[int]) -> None:
    """Pull a large elementwise entry, over its own cotangent where that is spent."""
    if is_spent(g, k):
        own.add(SPENT)
    ct, g[k] = g[k], None
    entry[0](ct, entry, g, own)
    own.discard(SPENT)


def larger_shares(ct: np.ndarray, entry: tuple, inputs: int, g: list[Any]) -> list[int]:
    """The inputs whose cotangents begin as shares of a linear operation larger than its own.

    What a sweep does that avoids a NaN is no other for linear operations: the look for one may as
    well be at what they are given.
    """
    like, least = entry[6], max(LARGE, 2 * ct.size)
    return [
        i
        for n, i in enumerate(entry[1])
        if i is not None and i < inputs and g[i] is None and math.prod(like[n].shape) >= least
    ]


def pull_run(
    tape: list,
    inputs: int,
    g: list[Any],
    last: int,
    late: RecordState | None,
    known: dict[int, np.ndarray],
) -> int | None:
    """Transpose the run of entries that ends at `last`; where it begins, None where none does.

    What is known of gradients then is noted as in `sweep_large`.
    """
    below = last - 1
    if late is not None:
        pass  # one entry may be a run
    elif below < inputs:
        return None
    elif not hasattr(tape[below][0], "shares"):
        parents = tape[last][1 : 1 + len(tape[last][0].shares.terms)]
        if g[below] is not None or below in parents:
            return None
    elif are_sums(tape, inputs, last):
        return None
    shape = g[last].shape
    steps: list[Step] = []
    reached, k = {last}, last
    while k >= inputs and (late is None or len(steps) < LONGEST):
        if k in reached or g[k] is not None:
            step = step_of(k, tape[k], g[k], shape)
            if step is None:
                break
            steps.append(step)
            reached.update(step.parents)
        k -= 1
    nodes = [] if late is None else nodes_of(steps, late, k, last, shape)
    if not nodes and (len(steps) < 2 or all(all(step.hands_on) for step in steps)):
        return None
    if late is None or not nodes:
        run = Run(g, k + 1, shape)
    else:
        run = LateRun(g, k + 1, shape, late, in_order(nodes))
    known |= run.carry_out(steps, inputs)
    return k + 1


def are_sums(tape: list, inputs: int, last: int) -> bool:
    """Whether entries hand their cotangent on as it is, down to one that is in no run."""
    for k in range(last, inputs - 1, -1):
        stated = getattr(tape[k][0], "shares", None)
        if stated is None:
            return True
        for term in stated.terms:
            if term != ("+", "c"):
                return False
    return True


def nodes_of(steps: list[Step], late: RecordState, k: int, last: int, shape: tuple) -> list[Node]:
    """What is not computed yet of what steps read, and of the sums of results of theirs."""
    nodes = [r for step in steps for r in step.reads if type(r) is Node and r.done is None]
    for total in late.totals:
        n = total.node
        if total.value is None and n.done is None and n.shape == shape and k < n.variable <= last:
            nodes.append(n)
    return nodes
