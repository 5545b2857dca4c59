"""The source of a function, read for whether it writes into arrays; see `pure`."""

from __future__ import annotations

import ast
import functools
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..engine.levels.traced import TracedArray
from .source import Unclear, nested, source_of

__all__ = ["Reading", "is_harmless"]

#: Functions that write into nothing, by how many arguments may be given by position: a further
#: one would be written into.
READERS: dict[int, str] = {
    2: "amax amin argmax argmin max min concatenate dot outer round stack",
    3: "clip cumsum mean prod std sum take var",
    99: "arange array asarray atleast_1d atleast_2d broadcast_to diag diff einsum expand_dims eye "
    "flip full full_like hstack inner kron linspace moveaxis ones ones_like ravel repeat reshape "
    "roll squeeze swapaxes tensordot tile transpose tril triu vdot vstack where zeros zeros_like",
}
#: The same of np.linalg, of arrays' methods, and of Python.
ALGEBRA = "cholesky det eigh eigvalsh inv norm slogdet solve"
METHODS: dict[int, str] = {
    0: "conj conjugate",
    1: "argmax argmin dot max min round",
    2: "clip cumsum mean prod std sum take var",
    99: "astype copy flatten get items keys ravel reshape squeeze swapaxes tolist "
    "transpose values",
}
PYTHON = (abs, bool, complex, enumerate, float, int, len, list, max, min, range, round, sum,
          tuple, zip)  # fmt: skip
PROPERTIES = frozenset("T dtype imag mT ndim real shape size".split())
#: What holds nothing that could run code of its own.
NUMBERS = (float, int, bool, complex, str, type(None), type(Ellipsis), range, np.dtype)
CONTAINERS = (dict, list, tuple, slice)
SCALARS = frozenset(np.sctypeDict.values()) - {np.void, np.object_}
#: How many entries of a container, and of those in it, are looked at, and how many functions that
#: a function calls.
MANY, CALLED = 512, 16

EXPRESSIONS = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice,
    ast.Tuple, ast.List, ast.Dict, ast.Constant, ast.NamedExpr, ast.ListComp, ast.GeneratorExp,
    ast.comprehension,
)  # fmt: skip
STATEMENTS = (
    ast.Assign, ast.Return, ast.Expr, ast.If, ast.For, ast.While, ast.Pass, ast.Assert, ast.Break,
    ast.Continue,
)  # fmt: skip
#: Parts of both that hold no more than what is looked at.
SIGNS = (ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)


class Known(NamedTuple):
    """An object that a name or an attribute stands for."""

    found: Any


#: An array, a number, a container of such: what an expression is but for a few names.
VALUE = None


def is_harmless(x: Any) -> bool:
    """Whether an object is an array, a number, or a container of such."""
    kind = type(x)
    if kind is np.ndarray:
        return not x.dtype.hasobject
    if kind in CONTAINERS:
        return holds_harmless(x)
    return kind in NUMBERS or kind in SCALARS or isinstance(x, TracedArray)


def holds_harmless(container: Any) -> bool:
    """The same of all that a container holds, which may be the container itself."""
    waiting, left = [container], MANY
    while waiting:
        c = waiting.pop()
        if type(c) is slice:
            c = c.start, c.stop, c.step
        left -= len(c)
        if left < 0:
            return False
        for x in (*c, *c.values()) if type(c) is dict else c:
            if type(x) in CONTAINERS:
                waiting.append(x)
            elif not is_harmless(x):
                return False
    return True


@functools.cache
def readers() -> dict[Any, int]:
    """The functions that write into nothing."""
    named = [(getattr(np, n), k) for k, names in READERS.items() for n in names.split()]
    named += [(getattr(np.linalg, n), 99) for n in ALGEBRA.split()]
    named = [(f, k) for f, k in named if is_of_numpy(f)]
    return dict([*named, *((f, 99) for f in PYTHON)])


def is_of_numpy(f: Any) -> bool:
    """Whether nothing has been put in the place of a function of NumPy's."""
    if type(f) is FunctionType:
        return str(f.__globals__.get("__name__")).partition(".")[0] == "numpy"
    return type(f) in (BuiltinFunctionType, type(np.sum))


@functools.cache
def methods() -> dict[str, int]:
    return {n: k for k, names in METHODS.items() for n in names.split()}


def most_by_position(f: Any) -> int | None:
    """How many arguments a function may be given so that it writes into none; None if unknown."""
    if type(f) is np.ufunc:  # one of Python's functions has loops for objects alone
        return f.nin if any("O" not in loop for loop in f.types) else None
    try:
        return readers().get(f)
    except TypeError:  # no hash
        return None


def looked_up(f: FunctionType, name: str) -> Any:
    """What a name stands for in a function where it is not a variable of its own."""
    free = f.__code__.co_freevars
    if name in free:
        try:
            return (f.__closure__ or ())[free.index(name)].cell_contents
        except ValueError:
            raise Unclear from None
    for scope in (f.__globals__, getattr(f, "__builtins__", {})):
        if name in scope:
            return scope[name]
    raise Unclear


class Reading:
    """The source of a function, read for whether it writes."""

    def __init__(
        self, f: FunctionType, given: dict[str, Any], calls: dict[Any, tuple[Any, Any, Any]]
    ):
        """given: the modules among its arguments.

        calls: the functions of Python that are called, those by others too, with their code and
        what their source says; None for one that is being read.
        """
        code, node = f.__code__, source_of(f)
        self.f, self.given, self.calls = f, given, calls
        self.variables = {*code.co_varnames, *code.co_cellvars}
        #: the names in the code that are none of its variables, and those of attributes
        self.outside = {*code.co_names, *code.co_freevars, *nested(code)}
        #: names that stand for arrays and numbers, and those that stand for what is known
        self.values: set[str] = set()
        self.known: dict[str, Any] = {}
        self.attributes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        if isinstance(node, ast.Lambda):
            self.value(node.body)
        else:
            for statement in node.body:
                self.statement(statement)
        del self.f  # what it has in its closure is not kept

    # --- statements and expressions: Unclear where one may write -------------------------------

    def statement(self, node: ast.AST) -> None:
        if not isinstance(node, STATEMENTS):
            raise Unclear
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.target(target)
        self.parts(node)

    def parts(self, node: ast.AST) -> None:
        """What a statement or an expression is made of."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.expr):
                if not isinstance(getattr(child, "ctx", None), ast.Store):
                    self.value(child)
                else:
                    self.target(child)
            elif isinstance(child, ast.comprehension):
                named = {n.id for n in ast.walk(child.target) if isinstance(n, ast.Name)}
                if named & self.outside:
                    raise Unclear  # one name for two things
                self.parts(child)
            elif not isinstance(child, SIGNS):
                raise Unclear

    def target(self, node: ast.expr) -> None:
        """Variables get values alone."""
        if isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                self.target(part)
        elif not isinstance(node, ast.Name) or node.id in self.given:
            raise Unclear

    def value(self, node: ast.expr) -> None:
        """An expression that is an array or a number."""
        if self.thing(node) is not VALUE:
            raise Unclear

    def thing(self, node: ast.expr) -> Known | None:
        """What an expression is: a value, or an object that is known."""
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Call):
            self.call(node)
        elif isinstance(node, EXPRESSIONS):
            self.parts(node)
        else:
            raise Unclear
        return VALUE

    def name(self, name: str) -> Known | None:
        if name in self.given:
            return Known(self.given[name])
        if name in self.variables or name not in self.outside:
            return VALUE
        found = looked_up(self.f, name)
        if is_harmless(found):
            self.values.add(name)
            return VALUE
        self.known[name] = found
        return Known(found)

    def attribute(self, node: ast.Attribute) -> Known | None:
        base = self.thing(node.value)
        if base is VALUE:
            if node.attr not in PROPERTIES:
                raise Unclear
            return VALUE
        module = base.found
        if module is not np and module is not np.linalg:
            raise Unclear
        found = getattr(module, node.attr, None)
        self.attributes[id(module), node.attr] = module, node.attr, found
        return VALUE if is_harmless(found) else Known(found)

    def call(self, node: ast.Call) -> None:
        if any(k.arg is None or k.arg == "out" for k in node.keywords):
            raise Unclear
        count = 100 if any(isinstance(a, ast.Starred) for a in node.args) else len(node.args)
        f = node.func
        if isinstance(f, ast.Attribute) and f.attr in methods() and self.thing(f.value) is VALUE:
            most: int | None = methods()[f.attr]
        else:
            callee = self.thing(f)
            if callee is VALUE:
                raise Unclear
            if type(callee.found) is FunctionType and most_by_position(callee.found) is None:
                self.call_of_function(callee.found, node)
                return
            most = most_by_position(callee.found)
        if most is None or count > most:
            raise Unclear
        for argument in (*node.args, *(k.value for k in node.keywords)):
            self.value(argument.value if isinstance(argument, ast.Starred) else argument)

    def call_of_function(self, f: FunctionType, node: ast.Call) -> None:
        """A call of a function of Python, whose source is read too."""
        code = f.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if f.__closure__ or len(node.args) > code.co_argcount:
            raise Unclear
        if any(isinstance(a, ast.Starred) for a in node.args):
            raise Unclear
        given = {}
        pairs = [*zip(names, node.args, strict=False)]
        for name, argument in [*pairs, *((str(k.arg), k.value) for k in node.keywords)]:
            thing = self.thing(argument)
            if thing is not VALUE:
                if name not in names or (thing.found is not np and thing.found is not np.linalg):
                    raise Unclear
                given[name] = thing.found
        key = f, *sorted((name, id(module)) for name, module in given.items())
        if key not in self.calls:
            if len(self.calls) == CALLED:
                raise Unclear
            self.calls[key] = f, code, None
            self.calls[key] = f, code, Reading(f, given, self.calls)
        elif self.calls[key][2] is None:  # it calls itself
            raise Unclear
