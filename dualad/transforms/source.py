"""The source of a function as a syntax tree, which is believed where it gives the very code.

A file may have been changed since, and of two functions in one line the source does not tell
which is meant.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["Unclear", "nested", "source_of"]


class Unclear(Exception):
    """What a function does is not seen."""


#: The flags of a code that tell variadic functions, generators and coroutines.
KINDS = 0x3AC


def source_of(f: FunctionType) -> ast.FunctionDef | ast.Lambda:
    """The syntax tree of a function, if the compilation of it gives its very code."""
    code = f.__code__
    last = max((end or 0 for _, end, _, _ in code.co_positions()), default=0)
    lines = linecache.getlines(code.co_filename, f.__globals__)[code.co_firstlineno - 1 : last]
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (SyntaxError, ValueError):
        raise Unclear from None
    is_lambda = f.__name__ == "<lambda>"
    kind: Any = ast.Lambda if is_lambda else ast.FunctionDef
    wanted = identity(code)
    modules = [n for n in code.co_names if isinstance(f.__globals__.get(n), ModuleType)]
    for node in ast.walk(tree):
        if isinstance(node, kind) and (is_lambda or node.name == code.co_name):
            # Calls of what the file imports, as of np.exp, are compiled in another way.
            for imported in (modules, []):
                if wanted in map(identity, compiled(node, code.co_freevars, imported)):
                    return node
    raise Unclear


def compiled(node: Any, free: Sequence[str], imported: Sequence[str]) -> list[CodeType]:
    """The code of a function within one that has the variables that are free in it."""
    if isinstance(node, ast.FunctionDef):
        node.decorator_list, node.returns = [], None
    for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
        a.annotation = None
    none = ast.parse("def outer(): pass").body[0]
    assert isinstance(none, ast.FunctionDef)
    none.args.args = [ast.arg(name) for name in free]
    none.body = [node if isinstance(node, ast.FunctionDef) else ast.Expr(node)]
    head: list[ast.stmt] = [ast.Import([ast.alias(name) for name in imported])] if imported else []
    module = ast.fix_missing_locations(ast.Module([*head, none], []))
    try:
        code = compile(module, "<source>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return []
    outer = next(c for c in code.co_consts if isinstance(c, CodeType))
    return [c for c in outer.co_consts if isinstance(c, CodeType)]


def identity(code: CodeType) -> tuple[Any, ...]:
    """What two codes have in common that do the same."""
    consts = tuple([
        identity(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts
    ])  # fmt: skip
    return (
        code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
        code.co_argcount, code.co_kwonlyargcount, code.co_flags & KINDS,
    )  # fmt: skip


def nested(code: CodeType) -> set[str]:
    """The names outside of the codes within a code."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set[str]().union(*({*c.co_names} | nested(c) for c in inner))
