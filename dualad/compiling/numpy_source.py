"""Programs as NumPy source: what people read, and what runs where nothing faster is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.guard import has_nan, ignore, restore
from ..engine.source import Literals, definition
from ..engine.staged import Guard, Operation, Variable
from .program import Output, Program

__all__ = ["Failed", "NumpySource", "same_value"]


class Failed:
    """What a program gives in place of a result where a guard did not hold."""

    __slots__ = ("guard",)

    def __init__(self, guard: Guard):
        self.guard = guard


def same_value(a: Any, b: Any) -> bool:
    """Whether two values agree to the last bit."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


#: for each question a condition under which the answer is another one than it was
OTHERWISE: dict[str, str] = {
    "shape": "{v}.shape != {a}",
    "int": "int({v}) != {a}",
    "index": "int({v}) != {a}",
    "float": "not same_value(float({v}), {a})",
    "complex": "not same_value(complex({v}), {a})",
    "value": "not same_value({v}, {a})",
}


class NumpySource(Literals):
    """The source of one program, and the function it defines."""

    def __init__(self, program: Program):
        super().__init__()
        self.program = program
        self.helpers: dict[str, Callable[..., Any]] = {}
        self.failures: list[Failed] = []
        self.names: dict[Variable, str] = {v: f"x{k}" for k, v in enumerate(program.inputs)}
        self.lines: list[str] = []
        self._quiet = False
        for step in program.steps:
            self._step(step)
        self._mode(False)
        self._results()

    # --- steps -------------------------------------------------------------------------------

    def _step(self, step: Operation | Guard) -> None:
        if isinstance(step, Guard):
            self._line(self._guard(step))
            return
        self._mode(step.quiet)
        for r in step.results:
            self.names[r] = f"v{len(self.names) - len(self.program.inputs)}"
        target = ", ".join(self.names[r] for r in step.results)
        target += "" if step.is_single or len(step.results) > 1 else ","
        self._line(f"{target} = {self.expression(step)}")

    def _line(self, text: str) -> None:
        self.lines.append("    " * (2 if self._quiet else 1) + text)

    def _mode(self, quiet: bool) -> None:
        """Start or end the part that gives no warnings."""
        if quiet and not self._quiet:
            self.lines += ["    token = ignore()", "    try:"]
        elif self._quiet and not quiet:
            self.lines += ["    finally:", "        restore(token)"]
        self._quiet = quiet

    def _guard(self, g: Guard) -> str:
        v = self.names[g.variable]
        n = len(self.failures)
        self.failures.append(Failed(g))
        if g.question == "bool":
            test = f"not {v}" if g.answer else v
        elif g.question == "has_nan":
            scalar = not g.variable.is_array and g.variable.dtype == np.float64
            asked = f"{v} != {v}" if scalar else f"has_nan({v})"
            test = f"not ({asked})" if g.answer else asked
        else:
            answer = g.answer if g.question != "value" else self.frozen(g.answer)
            test = OTHERWISE[g.question].format(v=v, a=self.value(answer))
        return f"if {test}: return failed[{n}]"

    def frozen(self, x: Any) -> Any:
        """A constant as it is now."""
        return x.copy() if isinstance(x, np.ndarray) else x

    # --- expressions -------------------------------------------------------------------------

    def value(self, x: Any) -> str:
        """A variable by its name, a constant by value or by name."""
        if type(x) is Variable:
            return self.names[x]
        if isinstance(x, np.ndarray) and x.ndim == 0:
            return self.named(x)
        return self.constant(x)

    def named(self, x: Any) -> str:
        """A constant by name."""
        if id(x) not in self._by_id:
            name = f"c{len(self.constants)}"
            self.constants[name] = x
            self._by_id[id(x)] = name
            self._kept.append(x)
        return self._by_id[id(x)]

    def constant(self, x: Any) -> str:
        if type(x) is Variable:
            return self.names[x]
        if x is None or x is Ellipsis or isinstance(x, (bool, int, float, complex, str)):
            return super().constant(x) if x is not Ellipsis else "..."
        if isinstance(x, np.generic):
            return super().constant(x) if x.dtype.kind in "fciub" else self.named(x)
        return self.named(x)

    def expression(self, s: Operation) -> str:
        """The call that an operation is."""
        primitive = s.primitive
        names = [self.value(x) for x in s.operands]
        operator = getattr(primitive, "operator", None)
        if operator is not None and not s.params:
            names = [f"({n})" if n.startswith("-") else n for n in names]
            return f"{operator}{names[0]}" if len(names) == 1 else f" {operator} ".join(names)
        if primitive.name == "getitem":
            return f"{names[0]}[{self.brackets(s.params['index'])}]"
        given = names + [f"{k}={self.parameter(v)}" for k, v in s.params.items()]
        return f"{self.function(primitive)}({', '.join(given)})"

    def function(self, primitive: Any) -> str:
        """The function of a primitive by name: NumPy's, or one that the source defines."""
        impl = primitive.impl
        name = getattr(impl, "__name__", "")
        if getattr(np, name, None) is impl:
            return f"np.{name}"
        known = re.sub(r"\W", "_", primitive.name)
        while self.helpers.get(known, impl) is not impl:
            known += "_"
        self.helpers[known] = impl
        return known

    # --- results -----------------------------------------------------------------------------

    def _results(self) -> None:
        for k, v in self.program.writes:
            self._line(f"x{k}[...] = {self.names[v]}")
        shown: set[Any] = set()
        leaves = [self._output(o, shown) for o in self.program.outputs]
        text = ", ".join(leaves) + ("," if len(leaves) == 1 else "")
        self._line(f"return ({text})")

    def _output(self, o: Output, shown: set[Any]) -> str:
        if type(o.value) is not Variable:
            fresh = isinstance(o.value, np.ndarray)
            return f"{self.named(o.value)}.copy()" if fresh else self.value(o.value)
        v = o.value
        roots = self.roots(v)
        shared = any(r in self.program.inputs for r in roots) or bool(roots & shown)
        shown |= roots
        return (
            f"{self.names[v]}.copy()" if v.is_array and shared and not o.is_view else self.names[v]
        )

    def roots(self, v: Variable) -> set[Variable]:
        """The variables whose memory a variable may lie in."""
        found, todo = {v}, [v]
        made = {r: s for s in self.program.operations for r in s.results}
        while todo:
            s = made.get(todo.pop())
            for a in () if s is None else s.aliases:
                if a not in found:
                    found.add(a)
                    todo.append(a)
        return found

    # --- what comes of it --------------------------------------------------------------------

    def text(self, name: str = "program") -> str:
        """The source for people."""
        inputs = ", ".join(f"x{k}" for k in range(len(self.program.inputs)))
        before = ", ".join(repr(v).partition(": ")[2] for v in self.program.inputs)
        head = ["import numpy as np", ""]
        for known, impl in self.helpers.items():
            head += ["", self._definition(known, impl), ""]
        head += [f"{c} = {_shown(c, a)}" for c, a in self.constants.items()]
        return "\n".join(
            [*head, "", f"def {name}({inputs}):", f'    """{before}"""', *self.lines, ""]
        )

    @staticmethod
    def _definition(name: str, impl: Any) -> str:
        try:
            text = definition(impl).rstrip()
        except (OSError, TypeError, SyntaxError):
            text = ""
        return text if text.startswith(f"def {name}(") else f"# {name}: {_origin(impl)}"

    def function_of(self, name: str = "program") -> Callable[..., Any]:
        """The function that the source defines: it gives the leaves of the result, or a Failed."""
        inputs = ", ".join(f"x{k}" for k in range(len(self.program.inputs)))
        scope: dict[str, Any] = {
            **self.helpers, **self.constants, "np": np, "has_nan": has_nan, "ignore": ignore,
            "restore": restore, "same_value": same_value, "failed": self.failures,
        }  # fmt: skip
        text = "\n".join([f"def {name}({inputs}):", *self.lines])
        exec(compile(text, f"<{name}>", "exec"), scope)
        return scope[name]


def _origin(impl: Any) -> str:
    return f"{getattr(impl, '__module__', '?')}.{getattr(impl, '__qualname__', impl)}"


def _shown(name: str, a: Any) -> str:
    if isinstance(a, np.ndarray) and a.size > 32:
        return f"...  # {name}: {a.dtype.name}[{','.join(map(str, a.shape))}]"
    return f"np.array({a.tolist()!r}, {a.dtype.name!r})" if isinstance(a, np.ndarray) else repr(a)
