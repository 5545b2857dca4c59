"""Linear programs as NumPy source: one line an operation, constants by value or by name."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from ..levels.spec import Spec
from ..levels.traced import TracedArray, raw

__all__ = ["Literals", "compile_source", "constants", "definition", "source"]

INLINE = 32


class Literals:
    """Constants in source: numbers by value, arrays by name."""

    def __init__(self) -> None:
        self.constants: dict[str, Any] = {}
        self._by_id: dict[int, str] = {}
        self._kept: list[Any] = []

    def constant(self, x: Any) -> str:
        """A number by value, an array by name; one name for one object."""
        if isinstance(x, (bool, int, float, complex, str)) or x is None:
            return self._number(x)
        if isinstance(x, TracedArray):
            x = raw(x)
        if np.ndim(x) == 0:
            return self._number(np.asarray(x)[()])
        if id(x) not in self._by_id:
            name = f"c{len(self.constants)}"
            self.constants[name] = self._by_id[id(x)] = name
            self.constants[name] = np.asarray(x)
            self._kept.append(x)
        return self._by_id[id(x)]

    @staticmethod
    def _number(x: Any) -> str:
        if isinstance(x, (bool, str)) or x is None:
            return repr(x)
        if isinstance(x, np.generic) and x.dtype.type not in (np.float64, np.complex128, np.bool_):
            if x.dtype.kind in "iu":
                return repr(int(x))
            return f"np.{x.dtype.name}({_number(x.item())})"
        return _number(x.item() if isinstance(x, np.generic) else x)

    def brackets(self, index: tuple) -> str:
        """An index as it is written in brackets, without full slices at its end."""
        items = list(index)
        short = not any(k is Ellipsis for k in index)
        while (
            short and len(items) > 1 and isinstance(items[-1], slice) and items[-1] == slice(None)
        ):
            items.pop()
        shown = [self._slice(k) if isinstance(k, slice) else self.parameter(k) for k in items]
        return ", ".join(shown) or "()"

    def _slice(self, s: slice) -> str:
        parts = ["" if q is None else self.parameter(q) for q in (s.start, s.stop, s.step)]
        return ":".join(parts if s.step is not None else parts[:2])

    def parameter(self, p: Any) -> str:
        """A static parameter; indices are printed as they are written in brackets."""
        if isinstance(p, tuple):
            inner = ", ".join(self.parameter(q) for q in p)
            return f"({inner},)" if len(p) == 1 else f"({inner})"
        if isinstance(p, slice):
            parts = [self.parameter(q) for q in (p.start, p.stop, p.step)]
            return f"slice({', '.join(parts)})"
        if isinstance(p, np.dtype):
            return repr(p.name)
        if p is Ellipsis:
            return "..."
        return self.constant(p)


class _Printer(Literals):
    def __init__(self, program: Any):
        super().__init__()
        self.program = program
        self.helpers: dict[str, str] = {}
        self.lines = [self._line(k) for k in range(len(program.inputs), len(program.tape))]
        self.results = [self._result(i, s) for i, s in program._outputs]

    def name(self, k: int) -> str:
        n = len(self.program.inputs)
        return f"t{k}" if k < n else f"v{k - n}"

    def _line(self, k: int) -> str:
        entry = self.program.tape[k]
        return f"    {self.name(k)} = {self._expression(entry)}"

    def _expression(self, entry: tuple) -> str:
        _, parents, primitive, args, params, _, _ = entry
        if primitive.family == "elementwise":
            return self._sum([(i, d) for i, d in zip(parents, args, strict=True) if i is not None])
        names = [
            self.name(i) if i is not None else self._operand(a)
            for i, a in zip(parents, args, strict=True)
        ]
        if primitive.show is not None:
            shown = {
                p: self.brackets(q) if p == "index" else self.parameter(q)
                for p, q in params.items()
            }
            return primitive.show(*names, **shown)
        self.helpers[primitive.name] = definition(primitive.impl)
        printed = {p: q for p, q in params.items() if not hasattr(q, "unprinted")}
        extra = [f"{p}={self.parameter(q)}" for p, q in printed.items()]
        return f"{primitive.impl.__name__}({', '.join(names + extra)})"

    def _operand(self, a: Any) -> str:
        if isinstance(a, Spec):
            return f"np.zeros({a.shape}, {np.dtype(a.dtype).name!r})"
        return self.constant(a)

    def _sum(self, terms: list[tuple[int, Any]]) -> str:
        text = ""
        for i, d in terms:
            v = self.name(i)
            if isinstance(d, (int, float)) and d == -1.0:
                text = f"{text} - {v}" if text else f"-{v}"
                continue
            term = v if d is None else f"{v} * {self._factor(d)}"
            text = f"{text} + {term}" if text else term
        return text

    def _factor(self, d: Any) -> str:
        c = self.constant(d)
        return f"({c})" if c.startswith("-") or c.startswith("complex") else c

    def _result(self, i: int | None, spec: Spec) -> str:
        if i is not None:
            return self.name(i)
        return f"np.zeros({spec.shape}, {np.dtype(spec.dtype).name!r})"

    def text(self, name: str) -> str:
        head = ["import numpy as np", ""]
        for helper in self.helpers.values():
            head += ["", helper.rstrip(), ""]
        for c, value in self.constants.items():
            head.append(f"{c} = {_array(c, value)}")
        head.append("")
        inputs = ", ".join(f"t{k}" for k in range(len(self.program.inputs)))
        before, after = (
            ", ".join(map(repr, specs)) for specs in (self.program.inputs, self.program.outputs)
        )
        doc = f"{before} -> {after}"
        result = ", ".join(self.results) + ("," if len(self.results) == 1 else "")
        return "\n".join(
            [
                *head,
                f"def {name}({inputs}):",
                f'    """{doc}"""',
                *self.lines,
                f"    return ({result})",
                "",
            ]
        )


def _number(x: Any) -> str:
    if isinstance(x, complex):
        return f"complex({_number(x.real)}, {_number(x.imag)})"
    if isinstance(x, float) and not np.isfinite(x):
        return "np.nan" if x != x else "np.inf" if x > 0 else "-np.inf"
    return repr(x)


def definition(f: Callable[..., Any]) -> str:
    """The source of a function of NumPy alone, without its annotations."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(f)))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def _array(name: str, a: np.ndarray) -> str:
    if a.size > INLINE:
        return f'constants["{name}"]  # {a.dtype.name}[{",".join(map(str, a.shape))}]'
    text = repr(a.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    if 0 in a.shape:
        return f"np.zeros({a.shape}, {a.dtype.name!r})"
    return f"np.array({text}, dtype={a.dtype.name!r})"


def source(program: Any, name: str) -> str:
    """The source of a NumPy function that applies the program."""
    return _Printer(program).text(name)


def constants(program: Any) -> dict[str, Any]:
    """What the source reads from the mapping `constants`."""
    return {c: a for c, a in _Printer(program).constants.items() if a.size > INLINE}


def compile_source(program: Any) -> Callable[..., Any]:
    """The function that the source defines."""
    printer = _Printer(program)
    scope: dict[str, Any] = {"constants": printer.constants}
    exec(printer.text("linear"), scope)
    return scope["linear"]
