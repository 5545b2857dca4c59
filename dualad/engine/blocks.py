"""Large arrays by blocks: value and tangent together, and the shares of a sweep with their sum.

On large arrays an operation costs what it moves: every pass over an array goes through main
memory, and a fresh result faults its pages in. Here one rule is computed on blocks that stay in
the cache, by the same ufuncs in the same order, so that the results are the same to the last bit.
In forward mode the memory of a value that dies goes back to its level, which hands it to the next;
in the sweep a cotangent that nobody else holds is added to in place.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .guard import ignore, restore
from .workspace import is_lent_to_one

__all__ = ["LARGE", "Pool", "blockwise", "blockwise_pull", "pool_of"]

#: From this many entries on, 256 kB, the rule goes by blocks.
LARGE = 1 << 15
#: How many entries the blocks of one rule have together: 1 MB, a second level cache holds it.
TOGETHER = 1 << 17
#: How many arrays a level keeps for its next values.
KEPT = 12

F64 = np.dtype(np.float64)
UFUNCS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}


class Pool:
    """The memory of values that have died, for the next values of one level while it is open."""

    __slots__ = ("free", "is_open")

    def __init__(self) -> None:
        self.free: list[np.ndarray] = []
        self.is_open = True

    def lend(self, n: int) -> np.ndarray:
        """An array of n float64 entries with any content."""
        for k in range(len(self.free) - 1, -1, -1):
            if self.free[k].size == n:
                return np.asarray(_Loan(self.free.pop(k), self))
        return np.asarray(_Loan(np.empty(n), self))

    def close(self) -> None:
        """Let go of all memory, also of what comes back later."""
        self.is_open = False
        self.free.clear()


class _Loan:
    """Memory that returns to its pool when the last array on it is gone."""

    __slots__ = ("__array_interface__", "memory", "pool")

    def __init__(self, memory: np.ndarray, pool: Pool):
        self.memory, self.pool = memory, pool
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        if self.pool.is_open and len(self.pool.free) < KEPT:
            self.pool.free.append(self.memory)


class _Scratch(threading.local):
    """The blocks of a thread for what is intermediate, 1 MB at most."""

    memory = np.empty(0)


_scratch = _Scratch()


def scratch(count: int, n: int) -> np.ndarray:
    """Rows of n float64 entries for intermediate blocks, the same ones at every call."""
    if _scratch.memory.size < count * n:
        _scratch.memory = np.empty(count * n)
    return _scratch.memory[: count * n].reshape(count, n)


def pool_of(level: Any) -> Pool:
    """The pool of a level, made when it is first needed."""
    if level.pool is None:
        level.pool = Pool()
    return level.pool


class _Steps:
    """A formula as ufunc calls on the names of blocks, with few intermediate ones."""

    def __init__(self, namespace: dict[str, Any], numbers: set[str]):
        self.namespace, self.numbers = namespace, numbers
        self.lines: list[str] = []
        self.free: list[str] = []
        self.count = 0

    def store(self, formula: str, target: str) -> bool:
        """Write the formula into a block; False where it is more than ufuncs of blocks."""
        try:
            return self._put(ast.parse(formula, mode="eval").body, target) == target
        except _NotBlockwiseError:
            return False

    def _put(self, node: ast.expr, target: str | None) -> str:
        node = self._inlined(node)
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant):
            return repr(node.value)
        function, parts = self._call(node)
        # The last operand that is computed may lie where the result will: it is read once.
        last = max((k for k, p in enumerate(parts) if not _is_leaf(p)), default=None)
        names = [self._put(p, target if k == last else None) for k, p in enumerate(parts)]
        if all(n in self.numbers or not n.isidentifier() for n in names):
            raise _NotBlockwiseError
        self.free += [n for n in names if n.startswith("spare")]
        target = target or self._spare()
        self.lines.append(f"{function}({', '.join(names)}, {target})")
        return target

    def _call(self, node: ast.expr) -> tuple[str, Sequence[ast.expr]]:
        if isinstance(node, ast.BinOp) and type(node.op) in UFUNCS:
            return UFUNCS[type(node.op)], (node.left, node.right)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return "negative", (node.operand,)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if isinstance(self.namespace.get(node.func.id), np.ufunc):
                return node.func.id, node.args
        raise _NotBlockwiseError

    def _inlined(self, node: ast.expr) -> ast.expr:
        """The formula of x of an operation that is no ufunc itself, at its argument."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            text = getattr(self.namespace.get(node.func.id), "text", None)
            if text is not None and isinstance(node.args[0], ast.Name):
                name = node.args[0]
                return _Rename(name.id).visit(ast.parse(text, mode="eval").body)
        return node

    def _spare(self) -> str:
        if self.free:
            return self.free.pop()
        self.count += 1
        return f"spare{self.count - 1}"


def _is_leaf(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Constant))


class _Rename(ast.NodeTransformer):
    """A formula of x as one of another name."""

    def __init__(self, name: str):
        self.name = name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.name if node.id == "x" else node.id, node.ctx)


class _NotBlockwiseError(Exception):
    pass


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
    steps = _Steps(namespace, set(numbers))
    if not steps.store(value, "out"):
        return None
    of_value, steps.lines = steps.lines, []
    shared = tangent in arrays
    if not shared and not steps.store(tangent, "t"):
        return None
    body = _value_alone(of_value) if shared else _both(of_value, steps, arrays, singular)
    first = arrays[0]
    lines = [
        f"def rule(level, {', '.join([*arrays, *numbers])}):",
        f"    shape, n = {first}.shape, {first}.size",
        *[f"    if {_unfit(a)}: return None" for a in arrays],
        "    pool = pool_of(level)",
        *["    " + line for line in body],
        f"    return values.reshape(shape), {tangent if shared else 'tangents.reshape(shape)'}",
    ]
    return Later(lambda: _compiled(lines, namespace))


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
    steps = _Steps(namespace, set(numbers))
    if not steps.store(share, "t"):
        return None
    blocked = ["c", *arrays]
    count = steps.count + 1
    block = TOGETHER // (len(blocked) + 1 + count)
    rows = "".join(f"whole_spare{k}, " for k in range(steps.count)) + "whole_t, "
    add = {"+": "add", "-": "subtract"}[sign]
    first = ["negative(t, t)"] if sign == "-" else []
    lines = [
        f"def rule(c, s, {', '.join([*arrays, *numbers])}):",
        "    shape, n = c.shape, c.size",
        *[f"    if {_unfit(a)}: return None" for a in blocked],
        "    if s is None:",
        "        sums = empty(shape)",
        f"    elif {_unfit('s')}: return None",
        "    else:",
        "        sums = s if is_free(s, getrefcount(s)) else empty(shape)",
        "        whole_s = s.reshape(-1)",
        "    whole_sums = sums.reshape(-1)",
        *[f"    whole_{a} = {a}.reshape(-1)" for a in blocked],
        f"    {rows}= scratch({count}, {block})",
        f"    for start in range(0, n, {block}):",
        f"        at = slice(start, start + {block})",
        "        total = whole_sums[at]",
        *[f"        {a} = whole_{a}[at]" for a in blocked],
        *[f"        spare{k} = whole_spare{k}[:total.size]" for k in range(steps.count)],
        "        t = total if s is None else whole_t[:total.size]",
        *[f"        {line}" for line in steps.lines],
        "        if s is None:",
        *["            " + line for line in first or ["pass"]],
        f"        else: {add}(whole_s[at], t, total)",
        "    return sums",
    ]
    return Later(lambda: _compiled(lines, namespace))


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


def _unfit(a: str) -> str:
    """The condition under which an array is not one for blocks, as source."""
    return (
        f"type({a}) is not ndarray or {a}.shape != shape or {a}.dtype is not F64 "
        f"or not {a}.flags.c_contiguous"
    )


def is_free(array: np.ndarray, references: int) -> bool:
    """Whether a cotangent with so many references may be added to in place."""
    if references != HELD_ONCE or not array.flags.writeable:
        return False
    return array.base is None or is_lent_to_one(array)


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
        "dot": np.dot,
        "empty": np.empty,
        "getrefcount": sys.getrefcount,
        "ignore": ignore,
        "is_free": is_free,
        "ndarray": np.ndarray,
        "pool_of": pool_of,
        "restore": restore,
        "scratch": scratch,
    }
    exec("\n".join(lines), scope)
    return scope["rule"]


def _value_alone(of_value: Sequence[str]) -> list[str]:
    """The tangent is that of an operand: the value is one pass over whole arrays."""
    return ["values = out = pool.lend(n).reshape(shape)", *of_value]


def _both(
    of_value: Sequence[str], steps: _Steps, arrays: Sequence[str], singular: bool
) -> list[str]:
    """Value and tangent block by block; only the tangent's steps are kept from warning."""
    spares = [f"spare{k}" for k in range(steps.count)]
    block = TOGETHER // (len(arrays) + 2 + len(spares))
    rows = "".join(f"whole_{s}, " for s in spares)
    return [
        *[f"whole_{a} = {a}.reshape(-1)" for a in arrays],
        "values, tangents = pool.lend(n), pool.lend(n)",
        *([f"{rows}= scratch({len(spares)}, {block})"] if spares else []),
        f"for start in range(0, n, {block}):",
        f"    at = slice(start, start + {block})",
        "    out, t = values[at], tangents[at]",
        *[f"    {a} = whole_{a}[at]" for a in arrays],
        *[f"    {s} = whole_{s}[:out.size]" for s in spares],
        *[f"    {line}" for line in of_value],
        "    token = ignore()",
        "    try:",
        *[f"        {line}" for line in steps.lines],
        "    finally:",
        "        restore(token)",
        *(["    s = dot(t, t)", "    if s != s: return None"] if singular else []),
    ]
