"""The source of the fast paths of one primitive, written from its partial derivatives."""

from __future__ import annotations

from ..primitives.blocks import Later
from .written_duals import WrittenDuals
from .written_records import WrittenRecords

__all__ = ["Writer"]


class Writer(WrittenDuals, WrittenRecords):
    """Writes the functions of one primitive for one kind."""

    def source(self, kind: str) -> str:
        lines = [x for p in self.patterns() for x in self.pull(p)] if kind == "Recorded" else []
        lines += self.unary(kind) if self.arity == 1 else self.binary(kind)
        return "\n".join(lines)

    def unary(self, kind: str) -> list[str]:
        check = [
            "    if x.dtype is not F64 and x.dtype.kind == 'c':",
            "        return P.complex(u)",
        ]
        return [
            "def op(u):",
            "    x = u.primal",
            *(check if self.p.complex is not None else []),
            "    L = u.level",
            *self.body(kind, "x", "    "),
        ]

    def binary(self, kind: str) -> list[str]:
        patterns = self.patterns()
        general = "return mixed(P, u, v)"
        lines = ["def op(u, v):", "    T = type(v)", "    L = u.level"]
        if self.p.constant is not None:
            condition, primitive = self.p.constant
            self.rules["constant"] = Later(lambda: self.made(primitive, kind)[0])
            lines += [
                f"    if (T is int or T is float) and {condition}:",
                "        return constant(u, v)",
            ]
        if "xy" in patterns and self.p.complex is None:
            lines += [
                f"    if T is {kind} and v.level is L:",
                *self.twice(kind, "        "),
                "        x = u.primal",
                "        y = v.primal",
                *self.aligned(kind, "xy"),
                *self.body(kind, "xy", "        "),
            ]
        if "x" in patterns:
            plain = self.plain("v")
            if self.p.complex is not None:
                plain = f"({plain}) and u.dtype.kind != 'c' and T is not ndarray"
            lines += [
                f"    if {plain}:",
                "        x = u.primal",
                f"        y = {self.constant(kind, 'x', 'v')}",
                *self.aligned(kind, "x"),
                *self.body(kind, "x", "        "),
            ]
        lines += [f"    {general}", "def rop(v, u):", "    T = type(u)", "    L = v.level"]
        if "y" in patterns and self.p.complex is None:
            lines += [
                f"    if {self.plain('u')}:",
                f"        x = {self.constant(kind, 'y', 'u')}",
                "        y = v.primal",
                *self.aligned(kind, "y"),
                *self.body(kind, "y", "        "),
            ]
        lines += [f"    {general}"]
        return lines

    def twice(self, kind: str, pad: str) -> list[str]:
        """An operand combined with itself, where another primitive does that with less work."""
        if self.p.twice is None:
            return []
        self.rules["twice"] = Later(lambda: self.made(self.p.twice, kind)[0])  # type: ignore[arg-type]
        return [f"{pad}if u is v:", f"{pad}    return twice(u)"]

    def plain(self, constant: str) -> str:
        """The condition that an operand of type T is a constant of the common kinds."""
        computed = self.computes_with_constant("x" if constant == "v" else "y")
        dtype = "dtype.kind == 'f'" if computed else "dtype is not OBJECT"
        array = f"(T is ndarray and {constant}.{dtype})"
        return f"T is float or T is int or T is float64 or {array}"

    def constant(self, kind: str, active: str, name: str) -> str:
        """A constant operand; one that a recorded rule reads is kept from later writes."""
        if kind == "Recorded" and {"x": "y", "y": "x"}[active] in self.reads(active):
            return f"kept({name}) if T is ndarray else {name}"
        return name

    def aligned(self, kind: str, active: str) -> list[str]:
        """Lines that give batched operands one rank, and one above that of a constant array."""
        if kind != "Batched":
            return []
        if active == "xy":
            return [
                "        if x.ndim != y.ndim:",
                "            n = max(x.ndim, y.ndim)",
                "            x, y = lifted(x, n), lifted(y, n)",
            ]
        other = "y" if active == "x" else "x"
        return [
            f"        if T is ndarray and {other}.ndim >= {active}.ndim:",
            f"            {active} = lifted({active}, {other}.ndim + 1)",
        ]

    def body(self, kind: str, active: str, pad: str) -> list[str]:
        write = {
            "Dual": self.dual,
            "BatchedDual": self.batched_dual,
            "Recorded": self.recorded,
            "Batched": self.batched,
        }[kind]
        return write(active, pad)

    def batched(self, active: str, pad: str) -> list[str]:
        """Body that applies the operation to values whose batch axes are aligned already."""
        owner = "u" if "x" in active else "v"
        lines = [
            f"out = {self.call}",
            "if L.closed:",
            "    L.new(Batched)",
            "r = Batched()",
            "r._views = None",
            "r.level = L",
            "r.primal = out",
            f"r.tangent = {owner}.tangent",
            "return r",
        ]
        return [pad + line for line in lines]
