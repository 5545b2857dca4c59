"""Large arrays in forward mode: value and tangent together, by blocks, in memory that is reused.

On large arrays an operation costs what it moves: every pass over an array goes through main
memory, and a fresh result faults its pages in. Here one rule is computed on blocks that stay in
the cache, by the same ufuncs in the same order, so that the results are the same to the last bit;
and the memory of a value that dies goes back to its level, which hands it to the next.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .guard import ignore, restore

__all__ = ["LARGE", "Pool", "blockwise", "pool_of"]

#: From this many entries on the rule goes by blocks; how many a block has.
LARGE, BLOCK = 1 << 16, 1 << 14
#: How many arrays a level keeps for its next values.
KEPT = 12

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
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant):
            return repr(node.value)
        function, parts = self._call(node)
        names = [self._put(p, None) for p in parts]
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

    def _spare(self) -> str:
        if self.free:
            return self.free.pop()
        self.count += 1
        return f"spare{self.count - 1}"


class _NotBlockwiseError(Exception):
    pass


def blockwise(
    namespace: dict[str, Any],
    value: str,
    tangent: str,
    arrays: Sequence[str],
    numbers: Sequence[str],
) -> Callable[..., Any] | None:
    """A function of a level, arrays and numbers that gives value and tangent, from their formulas.

    It gives None where the arrays are not plain float64 of one shape in order. None instead of a
    function where the formulas are more than ufuncs, or give nothing to save.
    """
    steps = _Steps(namespace, set(numbers))
    if not (steps.store(value, "out") and steps.store(tangent, "t")):
        return None
    first = arrays[0]
    spares = [f"spare{k}" for k in range(steps.count)]
    lines = [
        f"def rule(level, {', '.join([*arrays, *numbers])}):",
        f"    shape, n = {first}.shape, {first}.size",
        *[
            f"    if type({a}) is not ndarray or {a}.shape != shape or {a}.dtype is not F64 "
            f"or not {a}.flags.c_contiguous: return None"
            for a in arrays
        ],
        *[f"    whole_{a} = {a}.reshape(-1)" for a in arrays],
        "    pool = pool_of(level)",
        "    values, tangents = pool.lend(n), pool.lend(n)",
        *[f"    whole_{s} = empty(BLOCK)" for s in spares],
        "    token = ignore()",
        "    for start in range(0, n, BLOCK):",
        "        at = slice(start, start + BLOCK)",
        "        out, t = values[at], tangents[at]",
        *[f"        {a} = whole_{a}[at]" for a in arrays],
        *[f"        {s} = whole_{s}[:out.size]" for s in spares],
        *[f"        {line}" for line in steps.lines],
        "    restore(token)",
        "    return values.reshape(shape), tangents.reshape(shape)",
    ]
    scope = {name: f for name, f in vars(np).items() if isinstance(f, np.ufunc)}
    scope |= namespace | {
        "BLOCK": BLOCK,
        "F64": np.dtype(np.float64),
        "empty": np.empty,
        "ignore": ignore,
        "ndarray": np.ndarray,
        "pool_of": pool_of,
        "restore": restore,
    }
    exec("\n".join(lines), scope)
    return scope["rule"]
