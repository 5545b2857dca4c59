"""The source of operations that are recorded, and of the pulls of their entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..primitives.blocks import Later, blockwise_pull
from ..primitives.terms import names_in
from .written import Written, quick

__all__ = ["Shares", "WrittenRecords"]


class Shares(NamedTuple):
    """What a written pull adds to each parent, by sign and formula, and what these read."""

    reads: tuple[str, ...]
    terms: tuple[tuple[str, str], ...]
    namespace: dict[str, Any]


class WrittenRecords(Written):
    """Writes the bodies that record an operation, and what transposes what they record."""

    def recorded(self, active: str, pad: str) -> list[str]:
        """Body that records the operation if it is of one shape and float64."""
        own = dict(zip("xy", "uv", strict=True))
        scalars = " and ".join(f"type({a}) is float64" for a in active)
        arrays = " and ".join(f"{a}.shape == out.shape and {a}.dtype is F64" for a in active)
        parents = ", ".join(f"{own[a]}.tangent" for a in active)
        entry = ", ".join([f"pull_{active}", parents, *self.reads(active)])
        primals = ", ".join(self.names)
        given = ", ".join(f"{own[a]}.tangent" if a in active else "None" for a in self.names)
        lines = [
            "r = Recorded()",
            *self.value(active, scalars, arrays),
            "if same:",
            "    tape = L.tape",
            "    r.tangent = len(tape)",
            f"    tape.append(({entry}))",
            "    r.level = L",
            "    r.primal = out",
            "    return r",
            f"return Recorded.record(P, L, ({primals},), ({given},), out, {{}})",
        ]
        return [pad + line for line in lines]

    def value(self, active: str, scalars: str, arrays: str) -> list[str]:
        """Lines that compute the result, and whether all is float64 of one shape.

        A large result is computed in memory of the pool. Of plain arrays the operands tell what
        the result will be.
        """
        first, names = active[0], self.names
        general = [
            "    r._views = None",
            f"    out = {self.call}",
            f"    same = ({scalars}) if type(out) is float64 else (out.dtype is F64 and {arrays})",
        ]
        if not self.has_plain_loop:
            return [line[4:] for line in general]
        pooled = f"result_at(L, F, {', '.join(names)})"
        if self.p.operator == "**":  # which is not always the ufunc
            pooled = self.call
        number = "T is not ndarray and " if self.arity == 2 and len(active) == 1 else ""
        plain, alike, large = f"type({first}) is ndarray", "", f"{first}.size >= LARGE"
        below = f"{first}.primal"
        moving = f"type({first}) in DUALS and type({below}) is ndarray"
        held = ""
        if len(active) == 2:
            plain += " and type(y) is ndarray"
            alike = " is y.dtype and x.shape == y.shape"
            large += " or y.size >= LARGE"
            moving = f"type(x) is type(y) in DUALS and type({below}) is ndarray is type(y.primal)"
            held = " is y.primal.dtype and x.primal.shape == y.primal.shape"
        owners = ", ".join(["uv"["xy".index(a)] for a in active])
        fixed = "".join(f"{a}, " for a in names if a not in active)
        is_kept = bool(set(self.reads(active)).difference(active, ["out"]))
        late = [
            f"if {first}.size >= LATE_RECORD and L.later is not False:",
            f"    d = record_later(P, '{active}', ({owners},), ({fixed}), {is_kept})",
            "    if d is not None:",
            "        return d",
        ]
        lines = [
            f"if type({first}) is float64:",
            f"    out = {self.call}",
            f"    same = type(out) is float64{' and type(y) is float64' * (len(active) == 2)}",
            f"elif {number}{plain}:",
            "    r._views = None",
            f"    same = {first}.dtype is F64{alike}",
            f"    if {large}:",
            *(f"        {line}" for line in late),
            f"        out = {pooled}",
            "    else:",
            f"        out = {self.quick_call}",
        ]
        if number:
            lines += [
                f"elif T is ndarray is type({first}) and (x.size >= LARGE or y.size >= LARGE):",
                *(f"    {line}" for line in late),
                "    r._views = None",
                f"    out = {pooled}",
                f"    same = out.dtype is F64 and {arrays}",
            ]
        return [
            *lines,
            # Of a dual of arrays its value tells the same, asked without a detour.
            f"elif {number}{moving}:",
            "    r._views = None",
            f"    same = {below}.dtype is F64{held}",
            f"    out = {self.call}",
            "else:",
            *general,
        ]

    def pull(self, active: str) -> list[str]:
        """The pull of the recorded entry and its twins: guarded, and on linear variables."""
        parents = [f"i{a}" for a in active]
        head = f"    _, {', '.join([*parents, *self.reads(active)])} = e"
        lines = [
            f"def pull_{active}(c, e, g, own):",
            "    if type(c) is ndarray and c.size >= LARGE:",
            f"        return large_pull_{active}(c, e, g, SPENT in own)",
            head,
        ]
        pad = "    "
        if any(self.slope_of(a) for a in active):
            # An array takes a dual in more time than a dual takes an array; numbers do not ask.
            lines.append("    if type(c) is ndarray:")
            for a in active:
                lines += [
                    f"        s = g[i{a}]",
                    *(f"        {x}" for x in self.added_to_array(a)),
                ]
            lines.append("    else:")
            pad = "        "
        for a in active:
            lines += [f"{pad}s = g[i{a}]", f"{pad}{self.added(a)}"]
        self.rules[f"large_pull_{active}"] = Later(lambda: self.large_pull(active, head))
        return lines

    def shares(self, active: str) -> Shares:
        """All that a pull states."""
        terms = tuple([self.share(a) for a in active])
        return Shares(tuple(self.reads(active)), terms, self.p.namespace)

    def added(self, a: str) -> str:
        """The statement that adds the share of one parent."""
        sign, term = self.share(a)
        term = quick(term)
        first = term if sign == "+" else f"-({term})"
        return f"g[i{a}] = {first} if s is None else s {sign} {term}"

    def slope_of(self, a: str) -> str | None:
        """The slope by which the cotangent is multiplied, where it reads anything."""
        term = self.share(a)[1]
        return quick(term[4:]) if term.startswith("c * (") and names_in(term[5:]) else None

    def added_to_array(self, a: str) -> list[str]:
        """The same where the cotangent is an array, and the slope may be a dual."""
        slope = self.slope_of(a)
        if slope is None:
            return [self.added(a)]
        sign = self.share(a)[0]
        return [
            f"d = {slope}",
            "d = d * c if ndarray is not type(d) in DUALS else c * d",
            f"g[i{a}] = {'d' if sign == '+' else '-d'} if s is None else s {sign} d",
        ]

    def large_pull(self, active: str, head: str) -> Callable[..., Any]:
        """The pull of an entry whose cotangent is a large array."""
        name = f"large_pull_{active}"
        lines = [f"def {name}(c, e, g, over):", head]
        for a in active:
            lines += [f"    s = g[i{a}]", *self.shares_of_blocks(active, a)]
        self.execute("\n".join(lines), name)
        return self.scope[name]

    def shares_of_blocks(self, active: str, a: str) -> list[str]:
        """The share of one parent: by blocks where that can be, else plainly."""
        sign, term = self.share(a)
        reads = [n for n in self.reads(active) if n in names_in(term)]
        constants = [n for n in reads if n not in ("out", *active)]
        namespace = {**self.p.namespace, "F": self.p.impl}
        forms = {"number": [n for n in reads if n not in constants]}
        if constants:
            forms["array"] = reads
        lines = ["    n = None"]
        # The cotangent itself may be what another parent has got.
        shared = any(self.share(b) == ("+", "c") for b in active[:-1])
        over = "over" if a == active[-1] and not shared else "False"
        for form, arrays in forms.items():
            numbers = [n for n in reads if n not in arrays]
            rule = blockwise_pull(namespace, term, sign, arrays, numbers)
            if rule is None:
                continue
            name = f"pull_blocks_{active}_{a}_{form}"
            self.rules[name] = rule
            scalar = [f"type({n}) is not ndarray" for n in numbers]
            read = "".join([f"{n}, " for n in (*arrays, *numbers)])
            lines += [
                f"    if {' and '.join(['n is None', *scalar])}:",
                f"        n = {name}(c, s, ({read}), {over})",
            ]
        return [
            *lines,
            "    if n is None:",
            f"        {self.added(a)}",
            "    else:",
            f"        g[i{a}] = n",
        ]
