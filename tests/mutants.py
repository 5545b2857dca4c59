"""Derivative formulas with one mistake each, made from right ones."""

import ast
import copy

#: What each kind of mistake does to a formula.
KINDS = ("sign", "factor", "missing factor", "swapped argument", "wrong branch", "wrong operator")


def mutants(formula):
    """(kind, text) of every mutant of a formula, each of them once and none that says the same."""
    seen = {ast.unparse(ast.parse(formula, mode="eval"))}
    for kind, text in _all(formula):
        if text not in seen:
            seen.add(text)
            yield kind, text


def _all(formula):
    yield "sign", f"-({formula})"
    yield "factor", f"2 * ({formula})"
    tree = ast.parse(formula, mode="eval")
    for k, node in enumerate(ast.walk(tree)):
        for kind, other in _variants(node):
            yield kind, ast.unparse(_replaced(tree, k, other))
    swapped = copy.deepcopy(tree)
    for node in ast.walk(swapped):
        if isinstance(node, ast.Name) and node.id in "xy":
            node.id = {"x": "y", "y": "x"}[node.id]
    if "y" in {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}:
        yield "swapped argument", ast.unparse(swapped)


def _variants(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield "missing factor", node.left
        yield "missing factor", node.right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield "missing factor", node.left
        yield "wrong operator", ast.BinOp(node.left, ast.Mult(), node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield "wrong operator", ast.BinOp(node.left, other, node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Gt, ast.Lt)):
        other = ast.Lt() if isinstance(node.ops[0], ast.Gt) else ast.Gt()
        yield "wrong branch", ast.Compare(node.left, [other], node.comparators)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "where":
        c, a, b = node.args
        yield "wrong branch", ast.Call(node.func, [c, b, a], [])


def _replaced(tree, k, other):
    new = copy.deepcopy(tree)
    target = list(ast.walk(new))[k]
    for parent in ast.walk(new):
        for name, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, name, other)
            elif isinstance(value, list):
                setattr(parent, name, [other if v is target else v for v in value])
    return ast.fix_missing_locations(new)
