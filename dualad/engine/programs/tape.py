"""Tapes: the entries that recording writes, their pull rules, and the sweep that transposes them.

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
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..arrays.guard import has_nan, ignore, quiet, restore
from ..arrays.memory import LARGE, POOL, large_copy, originals, zeros
from ..arrays.spent import added, is_spent
from ..levels.buffer import frozen
from ..levels.spec import Spec, spec_of
from ..levels.traced import TracedArray
from ..levels.watch import WATCH
from ..primitives.blocks import blockwise_pull
from ..primitives.shape import either_zero_wins, fit, unfit, zero_wins

F64 = np.dtype(np.float64)

__all__ = [
    "add_cotangent",
    "conjugate",
    "kept",
    "multiply",
    "pull_custom",
    "pull_elementwise",
    "pull_linear",
    "pull_part",
    "push_tape",
    "specs",
    "sweep",
]


def kept(constant: Any) -> Any:
    """A constant operand as it is now, whatever the user writes into it later."""
    if type(constant) is np.ndarray:
        if not may_change(constant):
            return constant
        copy = copied(constant)
        if originals.known is not None:
            originals.known[id(copy)] = copy, constant
        return copy
    return frozen(constant) if isinstance(constant, TracedArray) else constant


def may_change(array: Any) -> bool:
    """Whether the memory of an array can be written to through it, or what it is a view of."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False


def copied(array: np.ndarray) -> np.ndarray:
    """A copy, which takes no more memory than the array where that is broadcast.

    Its entries lie in memory as those of the array: that decides which reshapes are views.
    """
    if 0 not in array.strides:
        return large_copy(array)
    one = array[tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])]
    return np.broadcast_to(one.copy(), array.shape)


def specs(args: tuple, parents: tuple) -> tuple:
    """The Spec of each argument that has a parent."""
    return tuple([None if i is None else spec_of(a) for a, i in zip(args, parents, strict=True)])


def add_cotangent(g: Any, i: Any, ct: Any) -> None:
    """Add a share to the cotangent of a variable."""
    s = g[i]
    if s is None:
        g[i] = ct
    elif type(s) is np.ndarray is type(ct) and s.size >= LARGE:
        g[i] = added(ct, s)
    else:
        g[i] = s + ct


# --- the pull rules of the three families ----------------------------------------------------


def multiply(a: Any, b: Any) -> Any:
    """The product of a cotangent and a slope, unguarded."""
    return a * b


def conjugate(d: Any) -> Any:
    """The complex conjugate; a real value itself."""
    if type(d) is np.ndarray and d.dtype is F64:  # what most are
        return d
    if type(d) is complex:
        return d.conjugate()
    return d.conj() if hasattr(d, "dtype") and d.dtype.kind == "c" else d


def scaled(t: Any, d: Any, primitive: Any, product: Callable[..., Any]) -> Any:
    """A tangent or cotangent times a partial derivative; None stands for one."""
    if d is None:
        return t
    return zero_wins(d, t) if primitive.chooses and product is zero_wins else product(t, d)


def pull_elementwise(
    ct: Any, entry: tuple, g: Any, own: set, product: Callable[..., Any] = multiply
) -> None:
    """The cotangent times each conjugate partial derivative."""
    _, parents, primitive, args, _, out, like = entry
    for k, i in enumerate(parents):
        if i is not None:
            constant = primitive.partials[k].constant
            if constant == 1.0 or constant == -1.0:
                share = ct if ct.shape == like[k].shape else unfit(ct, like[k])
                if share.dtype is not like[k].dtype:
                    share = unfit(share, like[k])
                add_cotangent(g, i, share if constant == 1.0 else -share)
                continue
            d = primitive.coefficient(k, out, args)
            if product is multiply and type(ct) is np.ndarray is type(d) and ct.size >= LARGE:
                s = g[i]
                alike = ct.shape == like[k].shape and like[k].dtype is d.dtype
                total = _product(ct, s, (d,)) if alike else None
                if total is not None:
                    g[i] = total
                    continue
                share = summed_product(ct, d, like[k])
            else:
                share = None
            if share is None:
                share = scaled(ct, conjugate(d), primitive, product)
            add_cotangent(g, i, unfit(share, like[k]))


#: c * d added to what has come so far, by blocks.
_product: Any = blockwise_pull({}, "c * d", "+", ["d"], [])


def summed_product(ct: Any, d: Any, like: Spec) -> Any:
    """Large ct * d, summed to the shape of an argument that was broadcast, in one pass.

    None where the arrays are not plain float64 of one shape, or the last axis is summed, over
    which NumPy adds in pairs, with less rounding error.
    """
    shape, last = ct.shape, ct.ndim - 1
    if d.shape != shape or like.shape == shape or len(like.shape) != ct.ndim:
        return None
    if like.shape[last] != shape[last] or not (ct.dtype.char == d.dtype.char == "d"):
        return None
    axes = list(range(ct.ndim))
    kept_axes = [k for k in axes if like.shape[k] == shape[k]]
    return np.einsum(ct, axes, d, axes, kept_axes).reshape(like.shape)


def push_elementwise(entry: tuple, v: Any, product: Callable[..., Any] = multiply) -> Any:
    _, parents, primitive, args, _, out, _ = entry
    total = None
    for k, i in enumerate(parents):
        if i is not None:
            d = primitive.coefficient(k, out, args)
            term = scaled(v[i], d, primitive, product)
            total = term if total is None else total + term
    return fit(total, out)


def pull_linear(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """The stated transpose in each argument."""
    _, parents, primitive, args, params, _, like = entry
    for k, i in enumerate(parents):
        if i is None:
            continue
        if primitive.transpose_all is not None:
            for j, share in primitive.transpose_all(ct, parents, *args, **params):
                add_cotangent(g, parents[j], unfit(share, like[j]))
            return
        if primitive.add_into is not None and not isinstance(ct, TracedArray):
            if add_in_place(ct, primitive, params, g, i, own, like[k]):
                continue
        if primitive.add_share is not None and type(g[i]) is np.ndarray and is_spent(g, i):
            if primitive.add_share(k, g[i], ct, *args, **params):
                continue
        transpose = primitive.transpose_in(k) if primitive.variadic else primitive.transposes[k]
        share = unfit(transpose(ct, *args, **params), like[k])
        s = g[i]
        if s is None:
            g[i] = share
        elif type(s) is np.ndarray and s.size >= LARGE:
            s = None  # one who holds it less
            add_cotangent(g, i, share)
        else:
            g[i] = s + share


def add_in_place(
    ct: Any, primitive: Any, params: dict, g: Any, i: Any, own: set, like: Spec
) -> bool:
    """Scatter into an array the sweep owns: n indexings of one array cost O(n) in all."""
    into = g[i]
    if not like.shape:  # a sum of arrays without axes is a scalar, which nothing is added to
        return False
    if i not in own:
        if isinstance(into, TracedArray) or ct.dtype.kind == "c" != like.dtype.kind:
            return False
        if into is None:
            new = zeros if math.prod(like.shape) >= LARGE else np.zeros
            into = new(like.shape, like.dtype)
        else:
            into = np.array(into, like.dtype)
        own.add(i)
        g[i] = into
    elif isinstance(into, TracedArray) or ct.dtype.kind == "c" != like.dtype.kind:
        return False
    primitive.add_into(into, ct, **params)
    return True


def push_linear(entry: tuple, v: Any) -> Any:
    _, parents, primitive, args, params, out, _ = entry
    tangents = tuple([None if i is None else v[i] for i in parents])
    return primitive.jvp(tangents, out, args, params)


def pull_part(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """One output of an operation that has several."""
    _, k, j, n = entry
    if g[k] is None:
        g[k] = [None] * n
    g[k][j] = ct if g[k][j] is None else g[k][j] + ct


def push_part(entry: tuple, v: Any) -> Any:
    _, k, j, _ = entry
    return v[k][j]


pull_elementwise.push = push_elementwise  # type: ignore[attr-defined]
pull_elementwise.guarded = partial(pull_elementwise, product=either_zero_wins)  # type: ignore[attr-defined]
pull_elementwise.guarded_push = partial(push_elementwise, product=zero_wins)  # type: ignore[attr-defined]
pull_linear.push = push_linear  # type: ignore[attr-defined]
pull_part.push = push_part  # type: ignore[attr-defined]


# --- the sweep ---------------------------------------------------------------------------------


def sweep(
    tape: list,
    inputs: int,
    seeds: list[tuple[int, Any]],
    free: bool = False,
    within: bool = False,
    large: bool = False,
    late: Any = None,
) -> list[Any]:
    """Transpose a tape: the cotangents of its inputs from those of some variables.

    Products run unguarded; where the result holds a NaN the sweep is repeated with products in
    which zero wins over infinity; so it is from the start where the entries are not known before
    they are computed. A sweep within another one that is not guarded leaves the look for a NaN
    to that one. The function has given its own NumPy warnings already, in the
    error state that its author chose: the sweep gives none. `large` says that there are large
    arrays, of which neighbouring entries are swept together, and `late` what was put off.
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
        out = _sweep(tape, inputs, seeds, guarded, found, late or None)
        if not guarded and not within:
            for c in unknown(out, known) if known else out:
                if c is not None and has_nan(c):
                    if late:
                        late.keep(tape)
                    out = _sweep(tape, inputs, seeds, True, None)
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
) -> list[Any]:
    """The cotangents of the inputs; where arrays are large, `known` gets those without a NaN."""
    g: list[Any] = [None] * len(tape)
    own: set[int] = set()
    last = -1
    for i, ct in seeds:
        add_cotangent(g, i, ct)
        last = max(last, i)
    if known is not None:
        known |= sweep_of_large()(tape, inputs, g, last, own, late)
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


def pull_custom(ct: Any, entry: tuple, g: Any, own: set) -> None:
    """A custom rule: entry[2].pull gives one cotangent (None for zero) per input."""
    _, parents, rule, _, _, _, like = entry
    shares = rule.pull(ct if isinstance(ct, list) else [ct])
    for k, (i, share) in enumerate(zip(parents, shares, strict=True)):
        if i is not None and share is not None:
            add_cotangent(g, i, unfit(share, like[k]))


def push_custom(entry: tuple, v: Any) -> Any:
    _, parents, rule, _, _, out, _ = entry
    tangents = rule.push([None if i is None else v[i] for i in parents])
    return tuple(tangents) if isinstance(out, tuple) else tangents[0]


pull_custom.push = push_custom  # type: ignore[attr-defined]
