"""Programs as NumPy source: what people read, and what runs where nothing faster is there."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np

from ..engine.arrays.bits import same_bits
from ..engine.arrays.guard import has_nan, ignore, restore
from ..engine.arrays.rows import in_long_rows
from ..engine.arrays.sums import sum_up, total
from ..engine.programs.source import definition
from ..engine.staging.operations import Guard, Operation, Variable
from .block_loop import BlockLoop
from .expressions import Expressions
from .group import Group
from .lifetime import Lifetimes, is_large
from .loop import Loop
from .loop_source import LoopSource
from .placing import placed
from .program import Handed, Output, Program
from .readable import readable
from .schedule import Piece, mode_of, scheduled
from .statements import statements
from .workspace import Plan, Workspace

__all__ = ["SHOWN", "Failed", "NumpySource", "same_value"]


class Failed:
    """What a program gives in place of a result where a guard did not hold."""

    __slots__ = ("guard",)

    def __init__(self, guard: Guard):
        self.guard = guard


def same_value(a: Any, b: Any) -> bool:
    """Whether two values agree to the last bit."""
    return same_bits(np.asarray(a), np.asarray(b))


#: for each question a condition under which the answer is another one than it was
OTHERWISE: dict[str, str] = {
    "shape": "{v}.shape != {a}",
    "int": "int({v}) != {a}",
    "index": "int({v}) != {a}",
    "float": "not same_value(float({v}), {a})",
    "complex": "not same_value(complex({v}), {a})",
    "value": "not same_value({v}, {a})",
}


#: The types of results, and what gives them by name.
SHOWN: dict[type, str] = {
    bool: "bool", int: "int", float: "float", complex: "complex", np.ndarray: "np.array",
}  # fmt: skip

NAME = re.compile(r"\bc\d+\b")
FUNCTION = re.compile(r"\bnp\.(\w+(?:\.reduce)?)\(")

#: From how many steps names are used again, so that what they stood for is freed.
LONG = 100


class NumpySource(Expressions):
    """The source of one program, and the function it defines."""

    def __init__(self, program: Program):
        super().__init__()
        self.program = program
        self.failures: list[Failed] = []
        self.names.update({v: f"x{k}" for k, v in enumerate(program.inputs)})
        self.lines: list[str] = []
        self._quiet = False
        self.depth = 1
        self._rows = 0
        #: lists of what loops save, by name, and the variables in them
        self.rows: dict[str, tuple[Variable, ...]] = {}
        #: names: whose each is, how many there are, and which are free
        self.owner: dict[str, Variable] = {}
        self._count, self._unused = 0, list[str]()
        self.plan = Plan()
        pieces = scheduled(program)
        self._is_long = len(pieces) > LONG
        self.life = Lifetimes(program, pieces)
        self._placed = placed(pieces, self.life.kept)
        for k, piece in enumerate(pieces):
            self._piece(piece, k)
            ended = self.release(k)
            if ended and k + 1 < len(pieces):
                self.line(f"del {', '.join(ended)}")
            for v in [v for v in self.plan.homes if self.life.end.get(v, -1) <= k]:
                self.plan.leave(v)
        self.mode(False)
        self._results()
        self.lines = self.plan.around(self.lines)

    # --- steps -------------------------------------------------------------------------------

    def _piece(self, piece: Piece, k: int) -> None:
        if isinstance(piece, Guard):
            self.line(self.guard(piece))
            return
        quiet = mode_of(piece)
        if quiet is not None:
            self.mode(quiet)
        if isinstance(piece, Loop):
            LoopSource(self, piece).write()
        elif isinstance(piece, Group):
            for text in BlockLoop(self, piece).lines:
                self.line(text)
        else:
            assert isinstance(piece, Operation)
            for text in statements(self, piece, k):
                self.line(text)

    def new_name(self, v: Variable) -> str:
        """Name a variable."""
        if self._unused:
            name = self._unused.pop()
        else:
            name = f"v{self._count}"
            self._count += 1
        self.names[v] = name
        self.owner[name] = v
        return name

    def rename(self, r: Variable, x: Variable) -> str:
        """Give a result the name of an operand that it replaces."""
        name = self.names[r] = self.names[x]
        self.owner[name] = r
        self.plan.move(r, x)
        return name

    def place(self, v: Variable) -> tuple[str, str] | None:
        """A line that makes zeros, and the part of them that a value is to be computed into."""
        scatter = self._placed.get(v) if self.depth == 1 else None
        if scatter is None:
            return None
        z = scatter.results[0]
        name = self.new_name(z)
        shape = z.shape[0] if len(z.shape) == 1 else z.shape
        dtype = "" if z.dtype == np.float64 else f", {z.dtype.name!r}"
        index = self.brackets(scatter.params["index"])
        return f"{name} = np.zeros({shape}{dtype})", f"{name}[{index}]"

    def may_replace(self, x: Any, r: Variable, k: int) -> bool:
        """Whether a result may be written over an operand of the k-th piece."""
        if not self.life.is_free_to_write(x, k):
            return False
        return x not in self.plan.homes or not self.life.leaves(r)

    def home(self, r: Variable) -> str | None:
        """An array of the workspace for a large result that stays inside of the program."""
        if self.depth > 1 or not is_large(r) or not r.contiguous or self.life.leaves(r):
            return None
        return self.plan.home(r, r.shape, r.dtype)

    def release(self, k: int) -> list[str]:
        """The names of what is not read after the k-th piece; long programs use them again."""
        ended = [
            name
            for v in self.life.dying.pop(k, ())
            if (name := self.names.get(v)) is not None and self.owner.get(name) is v
        ]
        if self._is_long:
            self._unused += ended
            return []
        return [
            name for name in ended
            if is_large(self.owner[name]) and self.owner[name] not in self.plan.homes
        ]  # fmt: skip

    def count_row(self) -> int:
        """A number for a new list."""
        self._rows += 1
        return self._rows - 1

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * (self.depth + self._quiet) + text)

    def mode(self, quiet: bool) -> None:
        """Start or end the part that gives no warnings."""
        pad = "    " * self.depth
        if quiet and not self._quiet:
            self.lines += [f"{pad}token = ignore()", f"{pad}try:"]
        elif self._quiet and not quiet:
            self.lines += [f"{pad}finally:", f"{pad}    restore(token)"]
        self._quiet = quiet

    # --- guards ------------------------------------------------------------------------------

    def failed(self, g: Guard) -> str:
        """What is given back where a guard does not hold."""
        self.failures.append(Failed(g))
        return f"failed[{len(self.failures) - 1}]"

    def guard(self, g: Guard) -> str:
        """A guard as a line."""
        v = self.names[g.variable]
        if g.question == "bool":
            test = f"not {v}" if g.answer else v
        elif g.question == "has_nan":
            asked = self.asks_for_nan(g.variable, v)
            test = f"not ({asked})" if g.answer else asked
        else:
            answer = g.answer if g.question != "value" else self.frozen(g.answer)
            test = OTHERWISE[g.question].format(v=v, a=self.parameter(answer))
        return f"if {test}: return {self.failed(g)}"

    @staticmethod
    def asks_for_nan(v: Variable, name: str) -> str:
        """Whether a value holds a NaN: then the sum of its squares is one, and not otherwise."""
        if v.dtype.kind != "f" or v.dtype.itemsize not in (4, 8) or not v.contiguous:
            return f"has_nan({name})"
        if not v.is_array:
            return f"{name} != {name}"
        return (
            f"isnan({name}.dot({name}))"
            if len(v.shape) == 1
            else f"isnan(np.vdot({name}, {name}))"
        )

    def frozen(self, x: Any) -> Any:
        """A constant as it is now."""
        return x.copy() if isinstance(x, np.ndarray) else x

    # --- results -----------------------------------------------------------------------------

    def _results(self) -> None:
        for k, v in self.program.writes:
            self.line(f"x{k}[...] = {self.value(v)}")
        shown: set[Any] = set()
        leaves = [self._output(o, shown) for o in self.program.outputs]
        text = ", ".join(leaves) + ("," if len(leaves) == 1 else "")
        self.line(f"return ({text})")

    def _output(self, o: Output, shown: set[Any]) -> str:
        if o.kind is not None:
            return f"{SHOWN[o.kind]}({self.value(o.value)})"
        if type(o.value) is Handed:
            text = f"x{o.value.argument}"
            for read in o.value.reads:
                is_index = type(read) is tuple
                text = (
                    f"{text}[{self.brackets(read)}]" if is_index else f"{self.named(read)}({text})"
                )
            return text
        if type(o.value) is not Variable:
            fresh = isinstance(o.value, np.ndarray)
            return f"{self.named(o.value)}.copy('K')" if fresh else self.named(o.value)
        v = o.value
        roots = self.life.roots(v)
        shared = any(r in self.program.inputs or self._is_broadcast(r) for r in roots)
        shared = shared or bool(roots & shown)
        shown |= roots
        return self.copied(v) if v.is_array and shared and not o.is_view else self.names[v]

    def is_handed_out(self, v: Variable) -> bool:
        """Whether the caller gets the memory of a variable, as a view of an argument."""
        views = [o.value for o in self.program.outputs if o.is_view]
        return any(v in self.life.roots(w) for w in views)

    def copied(self, v: Variable) -> str:
        """A copy of an array, which lies in memory as it does."""
        return f"{self.names[v]}.copy({'' if v.contiguous else repr('K')})"

    def _is_broadcast(self, v: Variable) -> bool:
        maker = self.life.made.get(v)
        return type(maker) is Operation and maker.primitive.name == "broadcast_to"

    # --- what comes of it --------------------------------------------------------------------

    def text(self, name: str = "program") -> str:
        """The source for people."""
        inputs = ", ".join(f"x{k}" for k in range(len(self.program.inputs)))
        before = ", ".join(repr(v).partition(": ")[2] for v in self.program.inputs)
        head = ["import numpy as np", ""]
        for known, impl in self.helpers.items():
            head += ["", self._definition(known, impl), ""]
        numbers = {c: self._number(self.constants[c].item()) for c in self._numbers.values()}
        head += [f"{c} = {_shown(c, a)}" for c, a in self.constants.items() if c not in numbers]
        lines = [
            NAME.sub(lambda m: numbers.get(m[0], m[0]), line) for line in readable(self.lines)
        ]
        return "\n".join([*head, "", f"def {name}({inputs}):", f'    """{before}"""', *lines, ""])

    @staticmethod
    def _definition(name: str, impl: Any) -> str:
        try:
            text = definition(impl).rstrip()
        except (OSError, TypeError, SyntaxError):
            text = ""
        return text if text.startswith(f"def {name}(") else f"# {name}: {_origin(impl)}"

    def function_of(self, name: str = "program") -> Callable[..., Any]:
        """The function that the source defines: it gives the leaves of the result, or a Failed.

        NumPy's functions are looked up once, and numbers beside arrays are arrays without axes:
        that takes a tenth of the time off programs of small operations.
        """
        inputs = ", ".join(f"x{k}" for k in range(len(self.program.inputs)))
        scope: dict[str, Any] = {
            **self.helpers, **self.constants, "np": np, "has_nan": has_nan, "ignore": ignore,
            "restore": restore, "same_value": same_value, "failed": self.failures,
            "isnan": isnan, "workspace": Workspace(self.plan.kinds), "sum_up": sum_up,
            "sum_as_numpy": total, "in_long_rows": in_long_rows,
        }  # fmt: skip
        text = "\n".join([f"def {name}({inputs}):", *self.lines])
        for known in set(FUNCTION.findall(text)):
            scope["np_" + known.replace(".", "_")] = operator.attrgetter(known)(np)
        text = FUNCTION.sub(lambda m: f"np_{m[1].replace('.', '_')}(", text)
        exec(compile(text, f"<{name}>", "exec"), scope)
        return scope[name]


def _origin(impl: Any) -> str:
    return f"{getattr(impl, '__module__', '?')}.{getattr(impl, '__qualname__', impl)}"


def _shown(name: str, a: Any) -> str:
    if isinstance(a, np.ndarray) and a.size > 32:
        return f"...  # {name}: {a.dtype.name}[{','.join(map(str, a.shape))}]"
    if isinstance(a, np.ndarray):
        dtype = "" if a.dtype == np.float64 else f", {a.dtype.name!r}"
        return f"np.array({a.tolist()!r}{dtype})"
    return repr(a)
