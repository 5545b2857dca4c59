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
from typing import Any, NamedTuple

import numpy as np

from .guard import ignore, restore
from .memory import F64, LARGE, POOL, Pool, aligned, has_own_memory, large_result
from .rows import long_rows
from .steps import Steps

__all__ = [
    "SPENT", "Later", "blockwise", "blockwise_pull", "is_spent", "joint_rule", "pool_of",
    "share_rule",
]  # fmt: skip

#: Among the numbers of variables whose cotangents the sweep owns: that the cotangent which a rule
#: is given is held by nobody else.
SPENT = -1
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


class Laid(NamedTuple):
    """How arrays are cut: along the first axis of a frame, in which they have their entries."""

    #: that of the result
    shape: tuple[int, ...]
    frame: tuple[int, ...]
    #: how far a block reaches: over all of the first axis where one block is enough
    step: int
    arrays: Sequence[np.ndarray]
    #: which of the arrays are cut; the others are the same for every block
    cut: Sequence[bool]


def laid_out(others: int, arrays: Sequence[Any]) -> Laid | None:
    """How to cut arrays into blocks that are in the cache together with so many others.

    Arrays of one shape in order are cut as if they had one axis; those that broadcast, or repeat
    their entries, along the first axis. None where they are not plain float64, or lie otherwise.
    """
    shape, whole = arrays[0].shape, True
    for a in arrays:
        if type(a) is not np.ndarray or a.dtype is not F64:
            return None
        whole = whole and a.flags.c_contiguous
        if a.ndim > len(shape):
            shape = a.shape
    full = [a.shape == shape for a in arrays]
    if whole and all(full):
        n, block = arrays[0].size, aligned_block(others + len(arrays))
        if n <= block:
            return Laid(shape, shape, shape[0], arrays, full)
        return Laid(shape, (n,), block, [a.reshape(-1) for a in arrays], full)
    for a in arrays:
        if not (a.flags.c_contiguous or 0 in a.strides):
            return None
    if not all([a.shape == shape[len(shape) - a.ndim :] for a in arrays]):
        shape = np.broadcast(*arrays).shape
    if math.prod(shape) < LARGE:
        return None
    frame, laid = long_rows(shape, arrays) or (shape, arrays)
    row = math.prod(frame[1:])  # of an axis that is cut as it is
    if row > TOGETHER:
        return None
    cut = [a.ndim == len(frame) and a.shape[0] == frame[0] for a in laid]
    return Laid(shape, frame, max(1, aligned_block(others + sum(cut)) // row), laid, cut)


def by_blocks(
    rule: Callable[..., None], spares: int, laid: Laid, results: Sequence[Any], numbers: Sequence
) -> None:
    """Call rule(*results, work, *arrays, *numbers) on each block; a result may be None.

    work: so many blocks for what is intermediate.
    """
    _, frame, step, arrays, cut = laid
    if step >= frame[0]:
        n = math.prod(frame)
        work = [r.reshape(frame) for r in scratch(spares, n)] if spares else ()
        whole = [None if r is None else r.reshape(frame) for r in results]
        rule(*whole, work, *arrays, *numbers)
        return
    whole = [None if r is None else r.reshape(frame) for r in results]
    rows = scratch(spares, step * math.prod(frame[1:]))
    for start in range(0, frame[0], step):
        at = slice(start, start + step)
        now = [None if r is None else r[at] for r in whole]
        work = cut_rows(rows, now[0])
        rule(*now, work, *[a[at] if c else a for a, c in zip(arrays, cut, strict=True)], *numbers)


def add_products(into: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Add a @ b, which are stacks of as many small matrices, into a large array.

    Some matrices at a time, which are in the cache when they are added. False where the arrays
    are not plain float64 of fitting shapes.
    """
    shape, each = into.shape, into[:1].size
    if not (into.dtype is F64 is a.dtype is b.dtype) or into.size < LARGE or len(shape) < 3:
        return False
    if (*a.shape[:-1], b.shape[-1]) != shape or a.shape[:-2] != b.shape[:-2]:
        return False
    step = aligned_block(4) // each  # two operands, the product, their sum
    if not 0 < step < shape[0]:
        return False
    (memory,) = scratch(1, step * each)
    for start in range(0, shape[0], step):
        part = into[start : start + step]
        product = memory[: part.size].reshape(part.shape)
        np.matmul(a[start : start + step], b[start : start + step], product)
        part += product
    return True


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
    names = [*arrays, *numbers]
    if not can_be_stored(
        namespace, set(numbers), value, *([] if tangent in arrays else [tangent])
    ):
        return None
    return Later(lambda: _value_and_tangent(
        joint_rule(
            namespace, value, tangent, names, set(numbers), singular and tangent not in arrays
        ),
        names.index(tangent) if tangent in arrays else None, len(arrays),
    ))  # fmt: skip


def can_be_stored(namespace: dict[str, Any], numbers: set[str], *formulas: str) -> bool:
    """Whether formulas are no more than ufuncs of blocks."""
    steps = Steps(namespace, numbers)
    return all([steps.store(formula, "out") for formula in formulas])


def _value_and_tangent(made: Any, shared: int | None, count: int) -> Callable[..., Any]:
    """A function of a level, arrays (so many) and numbers, from a rule on blocks.

    shared: which of the arrays is the tangent.
    """
    of_blocks, spares = made

    def rule(level: Any, *given: Any) -> tuple[Any, Any] | None:
        laid = laid_out(2 + spares, given[:count])
        if laid is None:
            return None
        pool = pool_of(level)
        if shared is None:
            tangent = written = pool.lend(laid.shape)
        else:
            tangent, written = given[shared], None
            if tangent.shape != laid.shape:
                return None
        values = pool.lend(laid.shape)
        try:
            by_blocks(of_blocks, spares, laid, (values, written), given[count:])
        except NotANumber:
            return None
        return values, tangent

    return rule


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
    """A function of a cotangent c, what has come so far, and (*arrays, *numbers): their sum so far.

    What has come is added to in place where nobody else holds it, and is None at first. With
    over=True nobody else holds c, which may be written over. It gives None where the arrays are
    not plain float64 of one shape in order.
    """
    if share == "c":
        return added if sign == "+" else subtracted
    if not can_be_stored(namespace, set(numbers), share):
        return None
    return Later(lambda: _pull(
        share_rule(namespace, share, sign, [*arrays, *numbers], set(numbers)), len(arrays)
    ))  # fmt: skip


def _pull(made: Any, count: int) -> Callable[..., Any]:
    """A function as of `blockwise_pull`, that reads so many arrays, from a rule on blocks."""
    of_blocks, spares = made

    def rule(c: Any, s: Any, reads: Sequence[Any], over: bool = False) -> Any:
        laid = laid_out(1 + spares, (c, *reads[:count]))
        if laid is None or laid.shape != c.shape:
            return None
        if s is None:
            total = c if over else POOL.lend(laid.shape)
        elif type(s) is not np.ndarray or s.shape != laid.shape or s.dtype is not F64:
            return None
        elif is_free(s, sys.getrefcount(s)) and s.flags.c_contiguous:
            # Written through a reshape, which of an array in another order would be a copy.
            total = s
        else:
            total = POOL.lend(laid.shape)
        by_blocks(of_blocks, spares, laid, (total, s), (*reads[count:], total is c))
        return total

    return rule


def share_rule(
    namespace: dict[str, Any], share: str, sign: str, reads: Sequence[str], numbers: set[str]
) -> tuple[Callable[..., Any], int] | None:
    """A function of blocks (total, what has come s, blocks to work in, cotangent c, *reads).

    With it how many blocks to work in it needs. None where the share is more than ufuncs. The
    total may lie where c does if a last argument, which is False by default, is True.
    """
    steps = Steps(namespace, set(numbers))
    add = {"+": "add", "-": "subtract"}[sign]
    head = f"def rule({', '.join(['total', 's', 'work', 'c', *reads])}, over=False):"
    if share == "c":
        first = "copyto(total, c)" if sign == "+" else "negative(c, total)"
        lines = [head, f"    if s is None: {first}", f"    else: {add}(s, c, total)"]
        return _compiled(lines, namespace), 1
    if not steps.store(share, "last", "t"):
        return None
    lines = [
        head,
        "    t = work[0] if over or s is not None else total",
        "    last = total if s is None else t",
        *[f"    spare{k} = work[{k + 1}]" for k in range(steps.count)],
        *[f"    {line}" for line in steps.lines],
        f"    if s is not None: {add}(s, t, total)",
        *(["    else: negative(total, total)"] if sign == "-" else []),
    ]
    return _compiled(lines, namespace), steps.count + 1


def cut_rows(rows: np.ndarray, like: np.ndarray) -> list[np.ndarray]:
    """Intermediate blocks in the shape of a block."""
    if like.ndim == 1:
        return [r[: like.size] for r in rows]
    return [r[: like.size].reshape(like.shape) for r in rows]


def added(c: Any, s: Any, reads: tuple[()] = (), over: bool = False) -> Any:
    """What has come so far and a cotangent as it is."""
    if s is None:
        return c
    return np.add(s, c, s) if _takes(s, c, sys.getrefcount(s)) else s + c


def subtracted(c: Any, s: Any, reads: tuple[()] = (), over: bool = False) -> Any:
    """What has come so far without a cotangent as it is."""
    if s is None:
        return np.negative(c, c) if over else -c
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


def references(arrays: list[Any], k: int) -> int:
    """How many hold an array, as far as can be counted here."""
    return sys.getrefcount(arrays[k])


#: The count where the list alone does.
ALONE = references([np.zeros(1)], 0)


def is_spent(arrays: list[Any], k: int) -> bool:
    """Whether an array may be written over that nobody but a list has."""
    if references(arrays, k) != ALONE:
        return False
    a = arrays[k]
    return a.flags.c_contiguous and a.flags.writeable and has_own_memory(a)


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
        "copyto": np.copyto,
        "ignore": ignore,
        "restore": restore,
        "vdot": np.vdot,
    }
    exec("\n".join(lines), scope)
    return scope["rule"]
