"""The source of the fast paths of one primitive, written from its partial derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .blocks import Later, blockwise, blockwise_pull
from .primitive import Elementwise
from .terms import names_in, scaled, summed

__all__ = ["Writer"]


class Shares(NamedTuple):
    """What a generated pull adds to each parent, by sign and formula, and what these read."""

    reads: tuple[str, ...]
    terms: tuple[tuple[str, str], ...]
    namespace: dict[str, Any]


def quick(text: str) -> str:
    """A formula as it is written where no array is large; see `doubled`."""
    return text.replace("x + x", "(x + x if type(x) is float64 else doubled(x))")


class Writer:
    """Writes the functions of one primitive for one kind."""

    def __init__(
        self,
        primitive: Elementwise,
        scope: dict[str, Any],
        made: Callable[[Elementwise, str], tuple[Callable, Callable | None]],
    ):
        """scope: what all written code refers to; made: the functions of a primitive and kind."""
        self.p, self.made = primitive, made
        self.arity = len(primitive.partials)
        #: the block-by-block rules that the written code calls, by name
        self.rules: dict[str, Callable[..., Any]] = {}
        #: what each pull states: see `Shares`
        self.shares: dict[str, Shares] = {}
        #: what the written code refers to
        self.scope = {**primitive.namespace, **scope, "P": primitive, "F": primitive.impl}
        arguments = ", ".join(("out", *"xy"[: self.arity]))
        self.formulas = [
            "0" if p.constant == 0.0 else p.text or f"partial{k}({arguments})"
            for k, p in enumerate(primitive.partials)
        ]
        for k, p in enumerate(primitive.partials):
            if p.text is None:
                self.scope[f"partial{k}"] = p.value

    def execute(self, text: str, name: str) -> None:
        """Run what was written, with the rules that it calls."""
        for key, rule in self.rules.items():
            self.scope[key] = rule
            if isinstance(rule, Later):
                rule.scope, rule.name = self.scope, key
        self.rules.clear()
        exec(compile(text, f"<{name}>", "exec"), self.scope)

    @property
    def call(self) -> str:
        if self.p.call is not None:
            return self.p.call
        if self.p.operator is None:
            return f"F({', '.join('xy'[: self.arity])})"
        return f"{self.p.operator}x" if self.arity == 1 else f"x {self.p.operator} y"

    @property
    def quick_call(self) -> str:
        """The same for any operands; a square of an array reads it once."""
        return "F(x) if type(x) is ndarray else x * x" if self.call == "x * x" else self.call

    def summed_up(self, total: str) -> list[str]:
        """Lines that compute the tangent t, without warnings where a slope may be infinite."""
        if not self.p.singular:
            return [f"t = {total}"]
        return [
            "token = set_state(IGNORE)",
            "try:",
            f"    t = {total}",
            "finally:",
            "    restore(token)",
        ]

    def dual(self, active: str, pad: str) -> list[str]:
        """Body that makes the dual of `out` from primals x, y and the operands u, v."""
        tangents = dict(zip("xy", ("u.tangent", "v.tangent"), strict=True))
        live = [a for a in active if self.formulas["xy".index(a)] != "0"]
        total = summed([(tangents[a], self.formulas["xy".index(a)]) for a in live])
        first = "x" if "x" in active else "y"
        guarded = []
        if self.p.singular:
            args = ", ".join("xy"[: self.arity])
            given = ", ".join(tangents[a] if a in active else "None" for a in "xy"[: self.arity])
            guarded = [
                "if (t != t) if type(t) is float64 else has_nan(t):",
                f"    t = P.jvp(({given},), out, ({args},), {{}})",
            ]
        scalar = (
            "type(x) is float64 is type(y)" if len(active) == 2 else f"type({first}) is float64"
        )
        if self.arity == 2 and len(active) == 1:
            scalar += " and T is not ndarray"
        unfit = "t.dtype is not out.dtype"
        if not self.spans(live):
            unfit = f"t.shape != out.shape or {unfit}"
        of_scalars = [f"out = {self.call}", *self.summed_up(total), *guarded]
        of_others = [
            *self.blocks(active, total),
            f"out = {self.quick_call}",
            *self.summed_up(quick(total)),
            *guarded,
            "if type(t) is not float64 or type(out) is not float64:",
            f"    if {unfit}:",
            "        t = fit(t, out)",
            "    r._views = None",
        ]
        lines = [
            "if L.closed:",
            "    L.new(Dual)",
            "r = Dual()",
            # The tangent of a scalar is one, and of its dtype.
            f"if {scalar}:",
            *(f"    {line}" for line in of_scalars),
            "else:",
            *(f"    {line}" for line in of_others),
            "r.level = L",
            "r.primal = out",
            "r.tangent = t",
            "return r",
        ]
        return [pad + line for line in lines]

    def spans(self, live: list[str]) -> bool:
        """Whether the terms of the tangent read all operands: then its shape is the result's."""
        read = set(live)
        for a in live:
            partial = self.p.partials["xy".index(a)]
            if partial.text is not None:  # of a function it is not known what it reads
                read |= partial.names
        return "out" in read or read >= set("xy"[: self.arity])

    def batched_dual(self, active: str, pad: str) -> list[str]:
        """Body that makes the value and, from the same formula, all its tangents."""
        live = [a for a in active if self.formulas["xy".index(a)] != "0"]
        total = summed([(f"d{a}", self.formulas["xy".index(a)]) for a in live])
        own = dict(zip("xy", "uv", strict=True))
        moves = [f"d{a} = {own[a]}.tangent" for a in live]
        given = ", ".join(
            f"{own[a]}.tangent" if a in active else "None" for a in "xy"[: self.arity]
        )
        finish = f"return completed(P, L, ({given},), out, ({', '.join('xy'[: self.arity])},))"
        number = []
        if self.arity == 2 and len(active) == 1 and self.p.operator in (*"+-*/",):
            own_, other = ("x", "y") if active == "x" else ("y", "x")
            number = [
                f"if (T is float or T is int) and type({own_}) is ndarray:",
                f"    {other} = ARRAYS[{other}]",
            ]
        lines = [
            *number,
            f"out = {self.call}",
            *moves,
            "scalar = type(out) is float64",
            "if not scalar:",
            "    n = out.ndim + 1",
            *(
                f"    if d{a}.ndim != n: d{a} = d{a}[:, None] if n == 2 else lifted(d{a}, n)"
                for a in live
            ),
        ]
        if self.p.operator == "*" and len(live) == 2:
            lines[-2:] = [
                "    if dx.ndim != dy.ndim and dx.ndim + dy.ndim != 3:",
                "        dx, dy = lifted(dx, n), lifted(dy, n)",
            ]
        in_place = self.added_in_place(live)
        if in_place and self.p.operator == "*":
            lines += [
                "if dx.ndim == dy.ndim:",
                *(f"    {line}" for line in in_place),
                "else:",
                "    a = (dx, y, dy, x) if dx.ndim == 1 else (dy, x, dx, y)",
                "    t = vector_moves(*a)",
            ]
        else:
            lines += in_place or self.summed_up(total)
        if self.p.singular:
            lines.append(f"if has_nan(t): {finish}")
        plain = "t.dtype is F64 is out.dtype"
        if not self.spans(live):
            plain = f"t.shape[1:] == out.shape and {plain}"
        lines += [
            f"if not scalar and not ({plain}):",
            f"    {finish}",
            "if L.closed:",
            "    L.new(BatchedDual)",
            "r = BatchedDual()",
            "if not scalar:",
            "    r._views = None",
            "r.level = L",
            "r.primal = out",
            "r.tangent = t",
            "return r",
        ]
        return [pad + line for line in lines]

    def added_in_place(self, live: list[str]) -> list[str]:
        """Lines that add a product of tangents to the first, an array that nobody else has.

        None where the first may be no new array, or smaller than the sum.
        """
        partials = [self.p.partials["xy".index(a)] for a in live]
        if len(live) < 2 or self.p.singular or any(p.text is None for p in partials):
            return []
        if any(
            p.constant is not None or not self.spans([a])
            for a, p in zip(live, partials, strict=True)
        ):
            return []
        pairs = [(f"d{a}", p.text) for a, p in zip(live, partials, strict=True)]
        (sign, first), (then, second) = [scaled(*pair) for pair in pairs]
        return [f"t = {first if sign == '+' else f'-({first})'}", f"t {then}= {second}"]

    def blocks(self, active: str, total: str) -> list[str]:
        """The branch for large arrays; it falls through where they are not plain or hold a NaN."""
        first = "x" if "x" in active else "y"
        tangents = ["uv"["xy".index(a)] + ".tangent" for a in active]
        given = [*"xy"[: self.arity], *tangents]
        self.rules[f"large_{active}"] = Later(lambda: self.large(active, total))
        large, other = f"{first}.size >= LARGE", "y" if first == "x" else "x"
        if len(active) == 2:
            large = f"{large} or y.size >= LARGE"
        elif self.arity == 2:
            large = f"{large} or T is ndarray and {other}.size >= LARGE"
        lines = [
            f"if type({first}) is ndarray:",
            f"    if {large}:",
            f"        done = large_{active}(L, {', '.join(given)})",
            "        if done is not None:",
            "            return done",
        ]
        if self.arity == 2 and len(active) == 1 and self.p.operator in (*"+-*/",):
            lines += [
                f"    if (T is float or T is int) and {first}.dtype is F64:",
                f"        {other} = ARRAYS[{other}]",
            ]
        return lines

    def large(self, active: str, total: str) -> Callable[..., Any]:
        """The function of a level, values and tangents that makes the dual block by block."""
        names = "xy"[: self.arity]
        moved = total.replace("u.tangent", "dx").replace("v.tangent", "dy")
        arrays = [*active, *(f"d{a}" for a in active)]
        constants = [a for a in names if a not in active]
        namespace = {**self.p.namespace, "F": self.p.impl}
        forms = [("number", arrays, constants)]
        if constants:
            forms.append(("array", [*arrays, *constants], []))
        name = f"large_{active}"
        lines = [f"def {name}(L, {', '.join([*names, *(f'd{a}' for a in active)])}):"]
        for form, blocked, numbers in forms:
            rule = blockwise(namespace, self.call, moved, blocked, numbers, self.p.singular)
            if rule is not None:
                given = ", ".join([*arrays, *constants])
                self.rules[f"blocks_{active}_{form}"] = rule
                plain = [f"type({a}) is not ndarray" for a in numbers] or ["True"]
                lines += [
                    f"    if {' and '.join(plain)}:",
                    f"        pair = blocks_{active}_{form}(L, {given})",
                    "        if pair is not None:",
                    "            r = L.new(Dual)",
                    "            r.level = L",
                    "            r.primal, r.tangent = pair",
                    "            return r",
                ]
        self.execute("\n".join([*lines, "    return None"]), name)
        return self.scope[name]

    def value(self, active: str, scalars: str, arrays: str) -> list[str]:
        """Lines that compute the result, and whether all is float64 of one shape.

        A large result is computed in memory of the pool. Of plain arrays the operands tell what
        the result will be.
        """
        first, names = active[0], "xy"[: self.arity]
        general = [
            "    r._views = None",
            f"    out = {self.call}",
            f"    same = ({scalars}) if type(out) is float64 else (out.dtype is F64 and {arrays})",
        ]
        if f"{'d' * self.arity}->d" not in getattr(self.p.impl, "types", ()):
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
        lines = [
            f"if type({first}) is float64:",
            f"    out = {self.call}",
            f"    same = type(out) is float64{' and type(y) is float64' * (len(active) == 2)}",
            f"elif {number}{plain}:",
            "    r._views = None",
            f"    same = {first}.dtype is F64{alike}",
            f"    out = {pooled} if {large} else {self.quick_call}",
        ]
        if number:
            lines += [
                f"elif T is ndarray is type({first}) and (x.size >= LARGE or y.size >= LARGE):",
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

    def reads(self, active: str) -> list[str]:
        names: set[str] = set()
        for a in active:
            names |= self.p.partials["xy".index(a)].names
        return [n for n in ("out", "x", "y") if n in names and n in ("out", *"xy"[: self.arity])]

    def recorded(self, active: str, pad: str) -> list[str]:
        """Body that records the operation if it is of one shape and float64."""
        own = dict(zip("xy", "uv", strict=True))
        scalars = " and ".join(f"type({a}) is float64" for a in active)
        arrays = " and ".join(f"{a}.shape == out.shape and {a}.dtype is F64" for a in active)
        parents = ", ".join(f"{own[a]}.tangent" for a in active)
        entry = ", ".join([f"pull_{active}", parents, *self.reads(active)])
        primals = ", ".join("xy"[: self.arity])
        given = ", ".join(
            f"{own[a]}.tangent" if a in active else "None" for a in "xy"[: self.arity]
        )
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

    def constant(self, kind: str, active: str, name: str) -> str:
        """A constant operand; one that a recorded rule reads is kept from later writes."""
        if kind == "Recorded" and {"x": "y", "y": "x"}[active] in self.reads(active):
            return f"kept({name}) if T is ndarray else {name}"
        return name

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

    def body(self, kind: str, active: str, pad: str) -> list[str]:
        write = {
            "Dual": self.dual,
            "BatchedDual": self.batched_dual,
            "Recorded": self.recorded,
            "Batched": self.batched,
        }[kind]
        return write(active, pad)

    def pull(self, active: str) -> list[str]:
        """The pull of the recorded entry and its twins: guarded, and on linear variables."""
        parents = [f"i{a}" for a in active]
        head = f"    _, {', '.join([*parents, *self.reads(active)])} = e"
        lines = [
            f"def pull_{active}(c, e, g, own):",
            "    if type(c) is ndarray and c.size >= LARGE:",
            f"        return large_pull_{active}(c, e, g)",
            head,
        ]
        for a in active:
            lines += [f"    s = g[i{a}]", f"    {self.share(a)[2]}"]
        terms = tuple([self.share(a)[:2] for a in active])
        self.shares[active] = Shares(tuple(self.reads(active)), terms, self.p.namespace)
        self.rules[f"large_pull_{active}"] = Later(lambda: self.large_pull(active, head))
        return lines

    def share(self, a: str) -> tuple[str, str, str]:
        """Sign and source of the share of one parent, and the statement that adds it."""
        sign, term = scaled("c", self.formulas["xy".index(a)])
        now = quick(term)
        first = now if sign == "+" else f"-({now})"
        return sign, term, f"g[i{a}] = {first} if s is None else s {sign} {now}"

    def large_pull(self, active: str, head: str) -> Callable[..., Any]:
        """The pull of an entry whose cotangent is a large array."""
        name = f"large_pull_{active}"
        lines = [f"def {name}(c, e, g):", head]
        for a in active:
            lines += [f"    s = g[i{a}]", *self.shares_of_blocks(active, a, *self.share(a))]
        self.execute("\n".join(lines), name)
        return self.scope[name]

    def unpack(self, active: str) -> Callable[[tuple], tuple]:
        """What takes an entry apart: parents, result and arguments, None where unread."""
        names = ["", *(f"i{a}" for a in active), *self.reads(active)]
        at = [names.index(n) if n in names else None for n in ("out", "ix", "iy", "x", "y")]

        def unpack(e: tuple) -> tuple:
            out, *rest = [None if k is None else e[k] for k in at]
            n = self.arity
            return tuple(rest[:n]), out, tuple(rest[2 : 2 + n])

        return unpack

    def shares_of_blocks(self, active: str, a: str, sign: str, term: str, plain: str) -> list[str]:
        """The share of one parent: by blocks where that can be, else plainly."""
        reads = [n for n in self.reads(active) if n in names_in(term)]
        constants = [n for n in reads if n not in ("out", *active)]
        namespace = {**self.p.namespace, "F": self.p.impl}
        forms = {"number": [n for n in reads if n not in constants]}
        if constants:
            forms["array"] = reads
        lines = ["    n = None"]
        for form, arrays in forms.items():
            numbers = [n for n in reads if n not in arrays]
            rule = blockwise_pull(namespace, term, sign, arrays, numbers)
            if rule is None:
                continue
            name = f"pull_blocks_{active}_{a}_{form}"
            self.rules[name] = rule
            scalar = [f"type({n}) is not ndarray" for n in numbers]
            lines += [
                f"    if {' and '.join(['n is None', *scalar])}:",
                f"        n = {name}({', '.join(['c', 's', *arrays, *numbers])})",
            ]
        return [
            *lines,
            "    if n is None:",
            f"        {plain}",
            "    else:",
            f"        g[i{a}] = n",
        ]

    def patterns(self) -> list[str]:
        if self.arity == 1:
            return ["x"]
        live = [a for a, f in zip("xy", self.formulas, strict=True) if f != "0"]
        return [p for p in ("xy", "x", "y") if all(a in live for a in p)]

    def plain(self, constant: str) -> str:
        """The condition that an operand of type T is a constant of the common kinds."""
        own, other = ("x", "y") if constant == "v" else ("y", "x")
        formula = self.formulas["xy".index(own)]
        # Integers of few bits wrap around in a formula: the general path makes them wider.
        computed = other in self.reads(own) and formula != other
        dtype = "dtype.kind == 'f'" if computed else "dtype is not OBJECT"
        array = f"(T is ndarray and {constant}.{dtype})"
        return f"T is float or T is int or T is float64 or {array}"

    def complex_check(self, names: str, pad: str) -> list[str]:
        if self.p.complex is None:
            return []
        test = " or ".join(f"{a}.dtype.kind == 'c'" for a in names)
        return [f"{pad}if {test}:", f"{pad}    return P.complex({', '.join(names)})"]

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

    def unary(self, kind: str) -> list[str]:
        return [
            "def op(u):",
            *self.complex_check("u", "    "),
            "    x = u.primal",
            "    L = u.level",
            *self.body(kind, "x", "    "),
        ]

    def twice(self, kind: str, pad: str) -> list[str]:
        """An operand combined with itself, where another primitive does that with less work."""
        if self.p.twice is None:
            return []
        self.rules["twice"] = Later(lambda: self.made(self.p.twice, kind)[0])  # type: ignore[arg-type]
        return [f"{pad}if u is v:", f"{pad}    return twice(u)"]

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

    def source(self, kind: str) -> str:
        lines = [x for p in self.patterns() for x in self.pull(p)] if kind == "Recorded" else []
        lines += self.unary(kind) if self.arity == 1 else self.binary(kind)
        return "\n".join(lines)
