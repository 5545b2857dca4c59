"""Slopes that are formulas of their own become the functions of NumPy that they are made of."""

from __future__ import annotations

import ast
from typing import Any

from ...engine.primitives.primitive import PRIMITIVES
from ...engine.staging.operations import Operation, Variable
from .rewriting import Made, Rules

__all__ = ["FORMULAS"]

OPERATORS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.USub: "negative",
}  # fmt: skip


def by_functions(operation: Operation, made: Made) -> list[Operation] | None:
    """The operations of a formula of one argument, which give no warnings."""
    text = getattr(operation.primitive.impl, "text", None)
    x, result = operation.operands[0] if operation.operands else None, operation.results[0]
    if type(text) is not str or len(operation.operands) != 1 or type(x) is not Variable:
        return None
    if (x.shape, x.dtype) != (result.shape, result.dtype):
        return None
    found: list[Operation] = []

    def compute(node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return x
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)
            name, parts = node.func.id, node.args
        elif isinstance(node, ast.BinOp):
            name, parts = OPERATORS[type(node.op)], [node.left, node.right]
        else:
            assert isinstance(node, ast.UnaryOp)
            name, parts = OPERATORS[type(node.op)], [node.operand]
        operands = tuple([compute(p) for p in parts])
        out = result.another()
        found.append(Operation(PRIMITIVES[name], operands, {}, (out,), True, True, ()))
        return out

    try:
        compute(ast.parse(text, mode="eval").body)
    except (KeyError, AssertionError):
        return None
    return [*found[:-1], found[-1]._replace(results=operation.results)]


FORMULAS = Rules({"": (by_functions,)}, lambda s: hasattr(s.primitive.impl, "text"))
