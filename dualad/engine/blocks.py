"""Large arrays by blocks: value and tangent together, and the shares of a sweep with their sum.

On large arrays an operation costs what it moves: every pass over an array goes through main
memory, and a fresh result faults its pages in. Here one rule is computed on blocks that stay in
the cache, by the same ufuncs in the same order, so that the results are the same to the last bit.
Arrays that broadcast are cut along their first axis, after `rows` has made short rows long. In
the sweep a cotangent that nobody else holds is added to in place; `fused` sweeps several entries
so at once.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .guard import ignore, restore
from .memory import F64, LARGE, POOL, Pool, aligned, has_own_memory, large_result
from .rows import long_rows
from .steps import Steps

__all__ = ["Later", "blockwise", "blockwise_pull", "pool_of", "share_rule"]

#: How many entries the blocks of one rule have together: 1 MB, a second level cache holds it.
TOGETHER = 1 << 17


class _Scratch(threading.local):
    """The blocks of a thread for what is intermediate, a few MB at most."""

    memory = np.empty(0)


_scratch = _Scratch()


def scratch(count: int, n: int) -> np.ndarray:
    """Rows of n float64 entries for intermediate blocks, the same ones at every call."""
    if _scratch.memory.size < count * n:
        _scratch.memory = aligned(count * n)
    return _scratch.memory[: count * n].reshape(count, n)


def aligned_block(count: int) -> int:
    """How long blocks are of which there are so many: whole lines of the cache."""
    return TOGETHER // count // 8 * 8


def pool_of(level: Any) -> Pool:
    """The pool, which keeps what comes back until the level is closed."""
    if level.pool is None:
        level.pool = POOL.enter()
    return POOL


def result_at(level: Any, ufunc: Callable[..., Any], *operands: Any) -> Any:
    """A large result of an operation that is recorded at a level."""
    pool_of(level)
    return large_result(ufunc, *operands)


def laid_out(block: int, *arrays: Any) -> tuple | None:
    """How to cut arrays: shape and size of the result, as what it is cut, a step, the arrays.

    Arrays of one shape in order are cut as if they had one axis; those that broadcast, or repeat
    their entries, along the first axis. None where they are not plain float64, or lie otherwise.
    """
    shape, alike = arrays[0].shape, True
    for a in arrays:
        if type(a) is not np.ndarray or a.dtype is not F64:
            return None
        alike = alike and a.shape == shape and a.flags.c_contiguous
    if alike:
        n = arrays[0].size
        return shape, (n,), block, [a.reshape(-1) for a in arrays]
    for a in arrays:
        if not (a.flags.c_contiguous or 0 in a.strides):
            return None
    shape = np.broadcast(*arrays).shape
    if math.prod(shape) < LARGE:
        return None
    frame, laid = long_rows(shape, arrays) or (shape, arrays)
    row = math.prod(frame[1:])  # of an axis that is cut as it is
    if row > TOGETHER:
        return None
    whole = [a if a.shape == frame else np.broadcast_to(a, frame) for a in laid]
    return shape, frame, max(1, block // row), whole


def blockwise(
    namespace: dict[str, Any],
    value: str,
    tangent: str,
    arrays: Sequence[str],
    numbers: Sequence[str],
    singular: bool = False,
) -> Callable[..., Any] | None:
    """A function of a level, arrays and numbers that gives value and tangent, from their formulas.

    It gives None where the arrays are not plain float64 of one shape in order, and where a
    singular rule gives a NaN. None instead of a function where the formulas are more than ufuncs,
    or give nothing to save.
    """
    steps = Steps(namespace, set(numbers))
    if not steps.store(value, "out"):
        return None
    of_value, steps.lines = steps.lines, []
    shared = tangent in arrays
    if not shared and not steps.store(tangent, "t"):
        return None
    body = (
        _value_alone(of_value, arrays, tangent)
        if shared
        else _both(of_value, steps, arrays, singular)
    )
    lines = [f"def rule(level, {', '.join([*arrays, *numbers])}):", *body]
    return Later(lambda: _compiled(lines, namespace))


def joint_rule(
    namespace: dict[str, Any],
    value: str,
    tangent: str,
    names: Sequence[str],
    numbers: set[str],
    singular: bool,
) -> tuple[Callable[..., Any], int] | None:
    """A function of blocks (out, t, work, *names) that writes value and tangent of an operation.

    With it how many blocks to work in it needs. None where the formulas are more than ufuncs. Of a
    tangent that is an operand's nothing is written.
    """
    steps = Steps(namespace, numbers)
    if not steps.store(value, "out"):
        return None
    of_value, steps.lines = steps.lines, []
    shared = tangent in names
    if not shared and not steps.store(tangent, "t"):
        return None
    lines = [
        f"def rule({', '.join(['out', 't', 'work', *names])}):",
        *[f"    spare{k} = work[{k}]" for k in range(steps.count)],
        *[f"    {line}" for line in of_value],
    ]
    if not shared:
        lines += [
            "    token = ignore()",
            "    try:",
            *[f"        {line}" for line in steps.lines],
            "    finally:",
            "        restore(token)",
        ]
    if singular:
        lines += ["    s = vdot(t, t)", "    if s != s: raise NotANumber"]
    return _compiled(lines, {**namespace, "NotANumber": NotANumber}), steps.count


class NotANumber(Exception):
    """A slope is infinite or none at all: the rule on blocks does not say what is right."""


def blockwise_pull(
    namespace: dict[str, Any],
    share: str,
    sign: str,
    arrays: Sequence[str],
    numbers: Sequence[str],
) -> Callable[..., Any] | None:
    """A function of a cotangent c, what has come so far, arrays and numbers: their sum so far.

    What has come is added to in place where nobody else holds it, and is None at first. It gives
    None where the arrays are not plain float64 of one shape in order.
    """
    if share == "c":
        return added if sign == "+" else subtracted
    steps = Steps(namespace, set(numbers))
    if not steps.store(share, "t"):
        return None
    blocked = ["c", *arrays]
    count = steps.count + 1
    block = aligned_block(len(blocked) + 1 + count)
    spares = [*[f"spare{k}" for k in range(steps.count)], "spare_t"]
    add = {"+": "add", "-": "subtract"}[sign]
    first = ["negative(t, t)"] if sign == "-" else ["pass"]
    lines = [
        f"def rule(c, s, {', '.join([*arrays, *numbers])}):",
        f"    laid = laid_out({block}, {', '.join(blocked)})",
        "    if laid is None or laid[0] != c.shape: return None",
        "    shape, frame, step, whole = laid",
        "    if s is None:",
        "        sums = lend(shape)",
        "    elif type(s) is not ndarray or s.shape != shape or s.dtype is not F64: return None",
        "    else:",
        # Written through a reshape, which of an array in another order would be a copy.
        "        free = is_free(s, getrefcount(s)) and s.flags.c_contiguous",
        "        sums = s if free else lend(shape)",
        "        s = s.reshape(frame)",
        "    cut = sums.reshape(frame)",
        f"    {', '.join('whole_' + a for a in blocked)}, = whole",
        f"    rows = scratch({count}, step * (sums.size // frame[0]))",
        "    for start in range(0, frame[0], step):",
        "        at = slice(start, start + step)",
        "        total = cut[at]",
        *[f"        {a} = whole_{a}[at]" for a in blocked],
        f"        {', '.join(spares)}, = cut_rows(rows, total)",
        "        t = total if s is None else spare_t",
        *[f"        {line}" for line in steps.lines],
        "        if s is None:",
        *["            " + line for line in first],
        f"        else: {add}(s[at], t, total)",
        "    return sums",
    ]
    return Later(lambda: _compiled(lines, namespace))


def share_rule(
    namespace: dict[str, Any], share: str, sign: str, reads: Sequence[str], numbers: set[str]
) -> tuple[Callable[..., Any], int] | None:
    """A function of blocks (cotangent c, what has come s, their total, blocks to work in, *reads).

    With it how many blocks to work in it needs. None where the share is more than ufuncs.
    """
    steps = Steps(namespace, set(numbers))
    add = {"+": "add", "-": "subtract"}[sign]
    head = f"def rule({', '.join(['c', 's', 'total', 'work', *reads])}):"
    if share == "c":
        first = "copyto(total, c)" if sign == "+" else "negative(c, total)"
        lines = [head, f"    if s is None: {first}", f"    else: {add}(s, c, total)"]
        return _compiled(lines, namespace), 1
    if not steps.store(share, "t"):
        return None
    lines = [
        head,
        "    t = total if s is None else work[0]",
        *[f"    spare{k} = work[{k + 1}]" for k in range(steps.count)],
        *[f"    {line}" for line in steps.lines],
        f"    if s is not None: {add}(s, t, total)",
        *(["    else: negative(t, t)"] if sign == "-" else []),
    ]
    return _compiled(lines, namespace), steps.count + 1


def cut_rows(rows: np.ndarray, like: np.ndarray) -> list[np.ndarray]:
    """Intermediate blocks in the shape of a block."""
    if like.ndim == 1:
        return [r[: like.size] for r in rows]
    return [r[: like.size].reshape(like.shape) for r in rows]


def added(c: Any, s: Any) -> Any:
    """What has come so far and a cotangent as it is."""
    if s is None:
        return c
    return np.add(s, c, s) if _takes(s, c, sys.getrefcount(s)) else s + c


def subtracted(c: Any, s: Any) -> Any:
    """What has come so far without a cotangent as it is."""
    if s is None:
        return -c
    return np.subtract(s, c, s) if _takes(s, c, sys.getrefcount(s)) else s - c


def _takes(s: Any, c: np.ndarray, references: int) -> bool:
    """Whether c may be added to s in place."""
    if type(s) is not np.ndarray or s.shape != c.shape or not (s.dtype is F64 is c.dtype):
        return False
    return is_free(s, references)


def is_free(array: np.ndarray, references: int) -> bool:
    """Whether a cotangent with so many references may be added to in place."""
    return references == HELD_ONCE and has_own_memory(array) and array.flags.writeable


def _held_once() -> int:
    """The count of references that a rule sees to a cotangent which the sweep alone holds."""

    def count(s: np.ndarray, references: int) -> int:
        return references

    def rule(s: np.ndarray) -> int:
        return count(s, sys.getrefcount(s))  # the call holds a reference, as that of is_free does

    g = [np.zeros(1)]
    s = g[0]
    return rule(s)


HELD_ONCE = _held_once()


#: Held while a rule is made.
_making = threading.RLock()


class Later:
    """A rule that is made when it is first called: few programs have arrays so large.

    It then takes its own place in the generated code that calls it, where it is `name` of `scope`.
    """

    def __init__(self, make: Callable[[], Callable[..., Any]]):
        self.make = make
        self.scope: dict[str, Any] = {}
        self.name = "rule"

    def __call__(self, *args: Any) -> Any:
        with _making:
            rule = self.scope.get(self.name, self)
            if rule is self:
                rule = self.scope[self.name] = self.make()
        return rule(*args)


def _compiled(lines: Sequence[str], namespace: dict[str, Any]) -> Callable[..., Any]:
    scope = {name: f for name, f in vars(np).items() if isinstance(f, np.ufunc)}
    scope |= namespace | {
        "F64": F64,
        "copyto": np.copyto,
        "cut_rows": cut_rows,
        "getrefcount": sys.getrefcount,
        "ignore": ignore,
        "is_free": is_free,
        "laid_out": laid_out,
        "lend": POOL.lend,
        "ndarray": np.ndarray,
        "pool_of": pool_of,
        "restore": restore,
        "scratch": scratch,
        "vdot": np.vdot,
    }
    exec("\n".join(lines), scope)
    return scope["rule"]


def _value_alone(of_value: Sequence[str], arrays: Sequence[str], tangent: str) -> list[str]:
    """The tangent is that of an operand: the value is one pass over whole arrays."""
    return [
        f"    laid = laid_out(0, {', '.join(arrays)})",
        f"    if laid is None or {tangent}.shape != laid[0]: return None",
        f"    values, as_given = pool_of(level).lend(laid[0]), {tangent}",
        "    out = values.reshape(laid[1])",
        f"    {', '.join(arrays)}, = laid[3]",
        *["    " + line for line in of_value],
        "    return values, as_given",
    ]


def _both(
    of_value: Sequence[str], steps: Steps, arrays: Sequence[str], singular: bool
) -> list[str]:
    """Value and tangent block by block; only the tangent's steps are kept from warning."""
    spares = [f"spare{k}" for k in range(steps.count)]
    block = aligned_block(len(arrays) + 2 + len(spares))
    return [
        f"    laid = laid_out({block}, {', '.join(arrays)})",
        "    if laid is None: return None",
        "    shape, frame, step, whole = laid",
        f"    {', '.join('whole_' + a for a in arrays)}, = whole",
        "    pool = pool_of(level)",
        "    values, tangents = pool.lend(shape), pool.lend(shape)",
        "    cut_values, cut_tangents = values.reshape(frame), tangents.reshape(frame)",
        f"    rows = scratch({len(spares)}, step * (values.size // frame[0]))" if spares else "",
        "    for start in range(0, frame[0], step):",
        "        at = slice(start, start + step)",
        "        out, t = cut_values[at], cut_tangents[at]",
        *[f"        {a} = whole_{a}[at]" for a in arrays],
        f"        {', '.join(spares)}, = cut_rows(rows, out)" if spares else "",
        *[f"        {line}" for line in of_value],
        "        token = ignore()",
        "        try:",
        *[f"            {line}" for line in steps.lines],
        "        finally:",
        "            restore(token)",
        *(["        s = vdot(t, t)", "        if s != s: return None"] if singular else []),
        "    return values, tangents",
    ]
