"""A formula as calls of ufuncs that write into blocks of memory."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from .terms import is_one

__all__ = ["Steps"]

UFUNCS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.Mod: "remainder", ast.USub: "negative", ast.UAdd: "positive",
}  # fmt: skip


class Steps:
    """A formula as ufunc calls on the names of blocks, with few intermediate ones.

    Up to rounding a product with 1 / d, where that is what a function stands for, is a division.
    A part of a kind in `as_it_is` that is more than ufuncs is computed as it is, into an array of
    its own.
    """

    def __init__(
        self,
        namespace: dict[str, Any],
        numbers: set[str],
        up_to_rounding: bool = False,
        as_it_is: tuple[type[ast.expr], ...] = (),
    ):
        self.namespace, self.numbers, self.as_it_is = namespace, numbers, as_it_is
        self.up_to_rounding = up_to_rounding
        self.lines: list[str] = []
        self.free: list[str] = []
        self.count = 0

    def store(self, formula: str, target: str, within: str | None = None) -> bool:
        """Write the formula into a block; False where it is more than ufuncs of blocks.

        Nothing but the last call writes there where another block is given to compute within: it
        may then be one of those that the formula reads.
        """
        try:
            return self._put(ast.parse(formula, mode="eval").body, target, within) == target
        except _MoreThanUfuncsError:
            return False

    def _put(self, node: ast.expr, target: str | None, within: str | None = None) -> str:
        node = self._inlined(node)
        if self.up_to_rounding:
            node = self._divided_once(node)
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant):
            return repr(node.value)
        try:
            function, parts = self._call(node)
        except _MoreThanUfuncsError:
            return self._as_it_is(node, target)
        # The last operand that is computed may lie where the result will: it is read once.
        last = max((k for k, p in enumerate(parts) if not _is_leaf(p)), default=None)
        inner = within or target
        names = [self._put(p, inner if k == last else None) for k, p in enumerate(parts)]
        if not any(self._is_block(n) for n in names):
            raise _MoreThanUfuncsError
        self.free += [n for n in names if n.startswith("spare")]
        target = target or self._spare()
        out = f"out={target}" if self._wants_a_keyword(function) else target
        self.lines.append(f"{function}({', '.join(names)}, {out})")
        return target

    def _is_block(self, name: str) -> bool:
        return name.startswith("(") or (name.isidentifier() and name not in self.numbers)

    def _as_it_is(self, node: ast.expr, target: str | None) -> str:
        """A part that is more than ufuncs, which reads a block, and calls what is known."""
        parts = list(ast.walk(node))
        read = {n.id for n in parts if isinstance(n, ast.Name)}
        known = {*self.namespace, *vars(builtins)}
        called = {ast.unparse(n.func) for n in parts if isinstance(n, ast.Call)}
        if not (
            isinstance(node, self.as_it_is) and called <= known and read - known - self.numbers
        ):
            raise _MoreThanUfuncsError
        source = f"({ast.unparse(node)})"
        if target is None:
            return source
        self.lines.append(f"copyto({target}, {source})")
        return target

    def _call(self, node: ast.expr) -> tuple[str, Sequence[ast.expr]]:
        if isinstance(node, ast.BinOp) and type(node.op) in UFUNCS:
            return UFUNCS[type(node.op)], (node.left, node.right)
        if isinstance(node, ast.UnaryOp) and type(node.op) in UFUNCS:
            return UFUNCS[type(node.op)], (node.operand,)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if isinstance(self.namespace.get(node.func.id), np.ufunc):
                return node.func.id, node.args
        raise _MoreThanUfuncsError

    def _wants_a_keyword(self, function: str) -> bool:
        """Whether a third operand of a ufunc is deprecated: it might be meant as one of three."""
        return self.namespace.get(function) in (np.maximum, np.minimum)

    def _inlined(self, node: ast.expr) -> ast.expr:
        """The formula of x of an operation that is no ufunc itself, at its argument."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            text = getattr(self.namespace.get(node.func.id), "text", None)
            if text is not None and isinstance(node.args[0], ast.Name):
                name = node.args[0]
                return _Rename(name.id).visit(ast.parse(text, mode="eval").body)
        return node

    def _divided_once(self, node: ast.expr) -> ast.expr:
        """a / d for a * (1 / d)."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            right = self._inlined(node.right)
            if (
                isinstance(right, ast.BinOp)
                and isinstance(right.op, ast.Div)
                and is_one(right.left)
            ):
                return ast.BinOp(node.left, ast.Div(), right.right)
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


class _MoreThanUfuncsError(Exception):
    pass
