"""A group as a loop over blocks: the same functions of NumPy, into buffers that stay in the cache.

The buffers are given out by lifetime: a result takes that of an operand which is not read again.
They belong to one call, so that calls in several threads do not meet.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.staging.operations import Guard, Operation, Variable
from .expressions import may_be_float
from .group import REDUCTIONS, Group

if TYPE_CHECKING:
    from .numpy_source import NumpySource

__all__ = ["BlockLoop"]

#: What the blocks of one round take together, and the bounds of a block.
CACHE = 3 << 19
SMALLEST, LARGEST = 2048, 16384


class BlockLoop:
    """The lines of one group."""

    def __init__(self, source: NumpySource, group: Group):
        self.source, self.group = source, group
        self.flat = group.is_flat
        self.made = {r for s in group.operations for r in s.results}
        self.outside = set(group.results)
        self.last = {v: k for k, s in enumerate(group.steps) for v in _variables(s)}
        #: names inside of the loop
        self.names: dict[Variable, str] = {}
        self.taken: dict[tuple[Any, int], str] = {}
        self.before: list[str] = []
        self.slices: list[str] = []
        self.body: list[tuple[bool, str]] = []
        self.sums: list[tuple[str, Variable]] = []
        self.buffers: dict[str, list[str]] = defaultdict(list)
        self.free: dict[str, list[str]] = defaultdict(list)
        self.buffered: set[Variable] = set()
        self.count = 0
        self.rows = 0
        for operation in group.operations:
            for x in operation.operands:
                self._operand(x, len(operation.results[0].shape))
        for k, s in enumerate(group.steps):
            self._step(s, k)
        self.lines = self._text()

    # --- what is read ------------------------------------------------------------------------

    def _operand(self, x: Any, ndim: int) -> None:
        """Name the part of an operand, for results of so many axes, that belongs to a block."""
        is_variable = type(x) is Variable
        if x in self.made if is_variable else False:
            return
        if (x if is_variable else id(x), ndim) in self.taken:
            return
        shape = x.shape if is_variable else np.shape(x)
        if not is_variable and not isinstance(x, np.ndarray):
            return
        whole = self.source.value(x)
        name = whole
        if self.flat and shape != self.group.shape:
            name = whole if shape == () else self._named(f"{whole}.reshape(())")
        elif len(shape) == ndim and shape[0] == self.group.shape[0] != 1:
            name = f"{whole}_"
            if self.flat and len(shape) > 1:
                whole = self._named(f"{whole}.reshape(-1)")
            line = f"{name} = {whole}[i:j]"
            if line not in self.slices:
                self.slices.append(line)
        self.taken[x if is_variable else id(x), ndim] = name

    def _named(self, text: str) -> str:
        name = f"f{len(self.before)}"
        self.before.append(f"{name} = {text}")
        return name

    def value(self, s: Operation, x: Any, dtype: np.dtype | None) -> str:
        """An operand inside of the loop."""
        if type(x) is Variable and x in self.made:
            return self.names[x]
        key = (x if type(x) is Variable else id(x), len(s.results[0].shape))
        if key in self.taken:
            return self.taken[key]
        if dtype is not None and may_be_float(s, x, dtype):
            if not isinstance(x, np.generic) or x.dtype == dtype:
                return self.source.number(x, dtype)
        if isinstance(x, np.generic):
            return self.source.number(x, x.dtype)
        return self.source.value(x)

    # --- steps -------------------------------------------------------------------------------

    def _step(self, s: Operation | Guard, k: int) -> None:
        quiet = s.quiet if type(s) is Operation else None
        if isinstance(s, Guard):
            b = self.names[s.variable]
            self._line(quiet, f"if {self._nan(s.variable, b)}: return {self.source.failed(s)}")
            self._release(s, k)
        elif s.primitive.name == "sum_axes" and 0 in s.params["axes"]:
            self._sum(s, quiet)
            self._release(s, k)
        elif s.results[0].shape != self.group.shape:
            self._by_rows(s)
            self._release(s, k)
        else:
            self._entries(s, k)

    def _sum(self, s: Operation, quiet: bool | None) -> None:
        """A sum over all rows: that of each block, for a sum of these behind the loop."""
        name = f"p{len(self.sums)}"
        self.sums.append((name, s.results[0]))
        x, axes = s.operands[0], s.params["axes"]
        axis = "" if self.flat or axes == (0,) else f", {self.source.parameter(axes)}"
        self._line(quiet, f"{name}.append(np.add.reduce({self.names[x]}{axis}))")

    def _by_rows(self, s: Operation) -> None:
        """An operation on a few values for each row, as arrays of their own."""
        r, primitive = s.results[0], s.primitive
        name = self.names[r] = f"r{self.rows}"
        self.rows += 1
        if primitive.name in REDUCTIONS:
            axes = s.params["axes"]
            axis = axes[0] if len(axes) == 1 else self.source.parameter(axes)
            text = f"{REDUCTIONS[primitive.name]}.reduce({self.names[s.operands[0]]}, {axis})"
        elif primitive.name == "reshape":
            rest = ", ".join(map(str, r.shape[1:]))
            text = f"{self.names[s.operands[0]]}.reshape(-1{', ' if rest else ''}{rest})"
        else:
            function = "np.where" if primitive.name == "where" else self.source.function(primitive)
            text = f"{function}({', '.join([self.value(s, x, None) for x in s.operands])})"
        self._line(s.quiet, f"{name} = {text}")
        if r in self.outside:
            whole = self.source.new_name(r)
            self.before.append(f"{whole} = np.empty({_shape(r.shape)}{_dtype(r.dtype)})")
            self._line(s.quiet, f"{whole}[i:j] = {name}")

    def _entries(self, s: Operation, k: int) -> None:
        """An operation entry by entry, into a buffer or the part of a result."""
        r = s.results[0]
        kinds = {x.dtype for x in s.operands if type(x) is Variable}
        dtype = kinds.pop() if len(kinds) == 1 else None
        is_where = s.primitive.name == "where"
        given = [self.value(s, x, None if is_where else dtype) for x in s.operands]
        if is_where:
            out = self._target(r)  # before its operands are given back: it is written twice
            self._line(s.quiet, f"np.copyto({out}, {given[2]})")
            self._line(s.quiet, f"np.copyto({out}, {given[1]}, where={given[0]})")
            self._release(s, k)
            return
        self._release(s, k)
        out = self._target(r)
        impl = s.primitive.impl
        if impl is np.power and isinstance(s.operands[1], (int, float, np.floating, np.integer)):
            self._power(s, out, given)
            return
        self._line(s.quiet, f"{self.source.function(s.primitive)}({', '.join([*given, out])})")

    def _power(self, s: Operation, out: str, given: list[str]) -> None:
        """A power as the operator ** takes it, which knows a few exponents by themselves."""
        name = {0.5: "sqrt", -1.0: "reciprocal", 2.0: "square"}.get(float(s.operands[1]))
        if name is None or s.results[0].dtype.kind not in "fc":
            self._line(s.quiet, f"np.power({', '.join([*given, out])})")
        else:
            self._line(s.quiet, f"np.{name}({given[0]}, {out})")

    def _line(self, quiet: bool | None, text: str) -> None:
        if quiet is None:
            quiet = self.body[-1][0] if self.body else self.group.quiet
        self.body.append((quiet, text))

    def _nan(self, v: Variable, name: str) -> str:
        if v.dtype.kind == "f" and v.dtype.itemsize in (4, 8):
            flat = self.flat or len(self.group.shape) == 1
            return f"isnan({name}.dot({name}))" if flat else f"isnan(np.vdot({name}, {name}))"
        return f"np.isnan({name}).any()"

    # --- buffers -----------------------------------------------------------------------------

    def _target(self, r: Variable) -> str:
        """Where a result is computed."""
        if r in self.outside:
            whole = self._whole(r)
            self.names[r] = f"{whole}_"
            if self.flat and len(self.group.shape) > 1:
                whole = self._named(f"{whole}.reshape(-1)")
            self.slices.append(f"{self.names[r]} = {whole}[i:j]")
            return self.names[r]
        kind = r.dtype.name
        if not self.free[kind]:
            self.buffers[kind].append(f"b{self.count}")
            self.free[kind].append(f"b{self.count}")
            self.count += 1
        self.names[r] = self.free[kind].pop()
        self.buffered.add(r)
        return self.names[r]

    def _whole(self, r: Variable) -> str:
        """The whole array of a result that others read."""
        place = self.source.place(r)
        if place is not None:
            self.before.append(place[0])
            new = place[1]
        else:
            new = f"np.empty({_shape(self.group.shape)}{_dtype(r.dtype)})"
            new = self.source.home(r) or new
        whole = self.source.new_name(r)
        self.before.append(f"{whole} = {new}")
        return whole

    def _release(self, s: Operation | Guard, k: int) -> None:
        """Give back the buffers of what is not read again."""
        for v in set(_variables(s)):
            if self.last[v] == k and v in self.buffered:
                self.free[v.dtype.name].append(self.names[v])

    # --- text --------------------------------------------------------------------------------

    def _text(self) -> list[str]:
        n = math.prod(self.group.shape) if self.flat else self.group.shape[0]
        row = 1 if self.flat else math.prod(self.group.shape[1:])
        entry = self.group.operations[0].results[0].dtype.itemsize
        parts = self.count + len(self.slices)
        length = CACHE // (entry * max(parts, 1)) // 1024 * 1024
        length = min(max(length, SMALLEST), LARGEST)
        step = max(1, length // row) if not self.flat else length
        lines = [*self.before, *[f"{name} = []" for name, _ in self.sums]]
        rest = "" if self.flat else "".join([f", {d}" for d in self.group.shape[1:]])
        for kind, names in self.buffers.items():
            shape = (f"{len(names)}, " if len(names) > 1 else "") + f"{step}{rest}"
            new = f"np.empty({_tuple(shape)}{_dtype(np.dtype(kind))})"
            lines.append(f"{', '.join(names)} = {new}")
        lines += [f"for i in range(0, {n}, {step}):", f"    j = i + {step}"]
        used = [b for names in self.buffers.values() for b in names]
        if n % step and used:
            lines.append(f"    if j > {n}:")
            lines.append(f"        {'; '.join(f'{b} = {b}[:{n % step}]' for b in used)}")
        lines += ["    " + text for text in self.slices]
        lines += self._quietly()
        for name, v in self.sums:
            lines.append(f"{self.source.new_name(v)} = np.add.reduce({name})")
        return lines

    def _quietly(self) -> list[str]:
        """The steps, of which those that give no warnings stand together."""
        if len({quiet for quiet, _ in self.body}) < 2:
            return ["    " + text for _, text in self.body]
        lines: list[str] = []
        before = False
        for quiet, text in self.body:
            if quiet and not before:
                lines += ["    token = ignore()", "    try:"]
            elif before and not quiet:
                lines += ["    finally:", "        restore(token)"]
            before = quiet
            lines.append(("        " if quiet else "    ") + text)
        return lines + (["    finally:", "        restore(token)"] if before else [])


def _variables(s: Operation | Guard) -> list[Variable]:
    if isinstance(s, Guard):
        return [s.variable]
    return [x for x in s.operands if type(x) is Variable]


def _tuple(inner: str) -> str:
    return f"({inner})" if "," in inner else inner


def _shape(shape: tuple[int, ...]) -> str:
    return str(shape[0]) if len(shape) == 1 else str(shape)


def _dtype(dtype: np.dtype) -> str:
    return "" if dtype.name == "float64" else f", {dtype.name!r}"
