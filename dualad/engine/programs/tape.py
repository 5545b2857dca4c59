"""Tapes: what recording writes, and the sweep that transposes it.

A tape is a list. An entry is a tuple that begins with its pull rule; the number of a linear
variable is the position of the entry that made it, and the first entries are the inputs (of a
function that is recorded: their Specs).

    pull(cotangent, entry, g, own)   adds the share of each parent to g[parent]
    pull.push(entry, v)              the tangent of the entry from those of its parents
    pull.guarded                     the same pull with either_zero_wins for its products

g holds one cotangent a variable, None for zero; own the numbers of those whose array belongs to
the sweep, so that it may be added to in place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..arrays.guard import has_nan, ignore, quiet, restore
from ..arrays.memory import POOL
from ..levels.level import WATCH
from ..levels.traced import TracedArray
from .entries import add_cotangent

__all__ = ["push_tape", "sweep"]


def sweep(
    tape: list,
    inputs: int,
    seeds: list[tuple[int, Any]],
    free: bool = False,
    within: bool = False,
    large: bool = False,
    late: Any = None,
    again: Callable[[], list] | None = None,
) -> list[Any]:
    """Transpose a tape: the cotangents of its inputs from those of some variables.

    Products run unguarded; where the result holds a NaN the sweep is repeated with products in
    which zero wins over infinity; so it is from the start where the entries are not known before
    they are computed. A sweep within another one that is not guarded leaves the look for a NaN
    to that one. The function has given its own NumPy warnings already, in the
    error state that its author chose: the sweep gives none. `large` says that there are large
    arrays, of which neighbouring entries are swept together, and `late` what was put off. Where
    `again` records the tape once more, entries of large arrays are let go as they are pulled.
    """
    watch = WATCH.get()
    if watch is not None:
        if late:
            late.keep(tape)
        from ..requires_grad.blame import blame_tape

        return watch.swept(
            lambda: sweep(tape, inputs, seeds), lambda: blame_tape(watch, tape, inputs, seeds)
        )
    token = ignore()
    user = POOL.enter() if large else None
    try:
        guarded = False
        for _, ct in seeds:
            guarded = guarded or (isinstance(ct, TracedArray) and ct.kind == "duck")
        known: dict[int, Any] = {}
        if late and guarded:
            late.keep(tape)
        found = known if large and not guarded else None
        if late or found is None:
            again = None
        out = _sweep(tape, inputs, seeds, guarded, found, late or None, again is not None)
        if not guarded and not within:
            for c in unknown(out, known) if known else out:
                if c is not None and has_nan(c):
                    if late:
                        late.keep(tape)
                    whole = tape if again is None else again()
                    out = _sweep(whole, inputs, seeds, True, None)
                    break
        if free:
            tape.clear()
    finally:
        restore(token)
        if user is not None:
            user.close()
    return out


def unknown(cotangents: list[Any], known: dict[int, Any]) -> list[Any]:
    """Those that are not known by their numbers to hold no NaN."""
    return [c for i, c in enumerate(cotangents) if known.get(i) is not c]


def _sweep(
    tape: list,
    inputs: int,
    seeds: list[tuple[int, Any]],
    guarded: bool,
    known: dict[int, Any] | None,
    late: Any = None,
    once: bool = False,
) -> list[Any]:
    """The cotangents of the inputs; where arrays are large, `known` gets those without a NaN.

    once: large arrays are let go when they have been read.
    """
    g: list[Any] = [None] * len(tape)
    own: set[int] = set()
    last = -1
    for i, ct in seeds:
        add_cotangent(g, i, ct)
        last = max(last, i)
    if known is not None:
        known |= sweep_of_large()(tape, inputs, g, last, own, late, once)
        return g[:inputs]
    for k in range(last, inputs - 1, -1):
        ct = g[k]
        if ct is not None:
            g[k] = None
            entry = tape[k]
            pull = entry[0]
            if guarded:
                pull = getattr(pull, "guarded", pull)
            pull(ct, entry, g, own)
    return g[:inputs]


@functools.cache
def sweep_of_large() -> Callable[..., Any]:
    """The sweep over large arrays, which few programs have."""
    from ..late_sweep.fused import sweep_large

    return sweep_large


def push_tape(tape: list, tangents: list[Any], wanted: list[int | None]) -> list[Any]:
    """Apply a tape to tangents: the tangents of some variables, None for zero."""
    watch = WATCH.get()
    if watch is not None:
        from ..requires_grad.blame import blame_push

        return watch.swept(
            lambda: push_tape(tape, tangents, wanted), lambda: blame_push(watch, tape, tangents)
        )
    v: list[Any] = [*tangents, *[None] * (len(tape) - len(tangents))]
    for guarded in (False, True):
        with quiet():
            for k in range(len(tangents), len(tape)):
                pull = tape[k][0]
                rule = getattr(pull, "guarded_push", pull.push) if guarded else pull.push
                v[k] = rule(tape[k], v)
        out = [None if i is None else v[i] for i in wanted]
        if not any(t is not None and has_nan(t) for t in out):
            break
    return out
