"""The source of the fast paths of one primitive, written from its partial derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ..primitives.blocks import Later, blockwise, blockwise_pull
from ..primitives.formulas import Formulas
from ..primitives.primitive import Elementwise
from ..primitives.terms import names_in, scaled

__all__ = ["Writer"]


#: From this many entries on a sum is added in place, which takes one array less; that there are
#: so many takes a look, which is more than it would save for few.
MIDDLE = 500


class Shares(NamedTuple):
    """What a written pull adds to each parent, by sign and formula, and what these read."""

    reads: tuple[str, ...]
    terms: tuple[tuple[str, str], ...]
    namespace: dict[str, Any]


@functools.cache
def code_of(text: str) -> CodeType:
    """The code of a function without defaults: what names of a scope mean is no part of it."""
    return compile(text, "<written>", "exec").co_consts[0]


def quick(text: str) -> str:
    """A formula as it is written where no array is large; see `doubled`."""
    return text.replace("x + x", "(x + x if type(x) is float64 else doubled(x))")


class Writer(Formulas):
    """Writes the functions of one primitive for one kind."""

    def __init__(
        self,
        primitive: Elementwise,
        scope: dict[str, Any],
        made: Callable[[Elementwise, str], tuple[Callable, Callable | None]],
    ):
        """scope: what all written code refers to; made: the functions of a primitive and kind."""
        super().__init__(primitive)
        self.made = made
        #: the block-by-block rules that the written code calls, by name
        self.rules: dict[str, Callable[..., Any]] = {}
        #: what the written code refers to
        self.scope = {**primitive.namespace, **scope, "P": primitive, "F": primitive.impl}
        self.scope.update(self.functions)

    def execute(self, text: str, name: str) -> None:
        """Run what was written, with the rules that it calls."""
        for key, rule in self.rules.items():
            self.scope[key] = rule
            if isinstance(rule, Later):
                rule.scope, rule.name = self.scope, key
        self.rules.clear()
        for piece in text.split("\ndef "):
            code = code_of(piece if piece.startswith("def ") else f"def {piece}")
            code = code.replace(co_filename=f"<{name}>")
            self.scope[code.co_name] = FunctionType(code, self.scope)

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
        live, total = self.live(active), self.total(active, tangents)
        first = "x" if "x" in active else "y"
        guarded = []
        if self.p.singular:
            args = ", ".join(self.names)
            given = ", ".join(tangents[a] if a in active else "None" for a in self.names)
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
            *(self.added_within(live) or self.summed_up(quick(total))),
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

    def batched_dual(self, active: str, pad: str) -> list[str]:
        """Body that makes the value and, from the same formula, all its tangents."""
        live, total = self.live(active), self.total(active, {"x": "dx", "y": "dy"})
        own = dict(zip("xy", "uv", strict=True))
        moves = [f"d{a} = {own[a]}.tangent" for a in live]
        given = ", ".join(f"{own[a]}.tangent" if a in active else "None" for a in self.names)
        finish = f"return completed(P, L, ({given},), out, ({', '.join(self.names)},))"
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

    def added_within(self, live: list[str]) -> list[str]:
        """Lines that add one product of a tangent to another, without a third array.

        None where the first may be no new array, or smaller than the sum.
        """
        products = self.two_products(live, {"x": "u.tangent", "y": "v.tangent"})
        if products is None:
            return []
        first, (sign, second) = products
        return [
            f"t = {quick(first)}",
            f"d = {quick(second)}",
            f"if type(t) is ndarray is type(d) and t.size > {MIDDLE}"
            " and t.shape == d.shape and t.dtype is d.dtype:",
            f"    t {sign}= d",
            "else:",
            f"    t = t {sign} d",
        ]

    def added_in_place(self, live: list[str]) -> list[str]:
        """The same where what there is to add is known to be arrays of one shape."""
        products = self.two_products(live, {"x": "dx", "y": "dy"})
        if products is None:
            return []
        first, (sign, second) = products
        return [f"t = {first}", f"t {sign}= {second}"]

    def two_products(
        self, live: list[str], tangents: dict[str, str]
    ) -> tuple[str, tuple[str, str]] | None:
        """The first of two products that make the tangent, sign and source of the second.

        None where the first may be no new array, or smaller than the sum.
        """
        partials = [self.p.partials["xy".index(a)] for a in live]
        if len(live) < 2 or self.p.singular or any(p.text is None for p in partials):
            return None
        if any(
            p.constant is not None or not self.spans([a])
            for a, p in zip(live, partials, strict=True)
        ):
            return None
        pairs = [(tangents[a], p.text) for a, p in zip(live, partials, strict=True)]
        (sign, first), second = [scaled(*pair) for pair in pairs]
        return first if sign == "+" else f"-({first})", second

    def blocks(self, active: str, total: str) -> list[str]:
        """The branch for large arrays; it falls through where they are not plain or hold a NaN."""
        first = active[0]
        owners = ["uv"["xy".index(a)] for a in active]
        given = [*owners, *self.names, *(f"{u}.tangent" for u in owners)]
        self.rules[f"large_{active}"] = Later(lambda: self.large(active, total))
        large, other = f"{first}.size >= LARGE", "y" if first == "x" else "x"
        if len(active) == 2:
            large = f"{large} or y.size >= LARGE"
        elif self.arity == 2:
            large = f"{large} or T is ndarray and {other}.size >= LARGE"
        lines = [
            f"if type({first}) is ndarray:",
            f"    if {large}:",
            f"        done = large_{active}({', '.join(given)})",
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
        names = self.names
        moved = total.replace("u.tangent", "dx").replace("v.tangent", "dy")
        arrays = [*active, *(f"d{a}" for a in active)]
        constants = [a for a in names if a not in active]
        namespace = {**self.p.namespace, "F": self.p.impl}
        forms = [("number", arrays, constants)]
        if constants:
            forms.append(("array", [*arrays, *constants], []))
        name = f"large_{active}"
        owners = ", ".join(["uv"["xy".index(a)] for a in active])
        is_late = " or ".join([f"{a}.size >= LATE" for a in active])
        given = ", ".join([*names, *(f"d{a}" for a in active)])
        fixed = "".join(f"{a}, " for a in constants)
        lines = [
            f"def {name}({owners}, {given}):",
            f"    L = {owners[0]}.level",
            f"    if L.later is not False and ({is_late}):",
            f"        r = put_off(P, '{active}', ({owners},), ({fixed}))",
            "        if r is not None:",
            "            return r",
        ]
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
            "if L.later is not False:",
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

    def plain(self, constant: str) -> str:
        """The condition that an operand of type T is a constant of the common kinds."""
        computed = self.computes_with_constant("x" if constant == "v" else "y")
        dtype = "dtype.kind == 'f'" if computed else "dtype is not OBJECT"
        array = f"(T is ndarray and {constant}.{dtype})"
        return f"T is float or T is int or T is float64 or {array}"

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
