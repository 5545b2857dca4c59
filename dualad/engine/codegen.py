"""The fast paths: functions generated once for each elementwise primitive and kind.

They handle what nearly every call is: operands of one level or constants, equal shapes, float64.
All else goes to the general path (`bind`), which they agree with by construction: both are made
from the same partials. Code is generated on first use.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .batched import Batched
from .blocks import blockwise, blockwise_pull, result_at
from .dual import Dual
from .duck import as_duck
from .guard import has_nan, ignore, restore
from .keywords import call_with_keywords
from .memory import LARGE
from .primitive import Elementwise, lifted
from .recorded import Recorded
from .shape import fit
from .tape import kept, pull_elementwise
from .traced import FOREIGN, OBJECT, UFUNCS, Buffer, TracedArray, as_operand, plain_rule

__all__ = ["define", "install", "operator_method", "rewire"]

float64 = np.float64
F64 = np.dtype(np.float64)


#: What an operator takes beside a traced array.
OPERANDS = (np.ndarray, np.generic, int, float, complex, list, tuple, range)


def mixed(primitive: Any, x: Any, y: Any) -> Any:
    """The general path of an operator; a buffer beside a value of a level is a constant."""
    if isinstance(primitive, Elementwise):
        if type(y) is Buffer and type(x) in KINDS:
            return fast(primitive, type(x).__name__)[0](x, y.primal)
        if type(x) is Buffer and type(y) in KINDS:
            return fast(primitive, type(y).__name__)[1](y, x.primal)  # type: ignore[misc]
    other = y if isinstance(x, TracedArray) else x
    if not isinstance(other, TracedArray):
        if hasattr(other, "__dualad_face__"):
            return NotImplemented
        if not isinstance(other, OPERANDS) and as_duck(other) is None:
            for ask in FOREIGN:
                ask(other, True)
            return NotImplemented
    return primitive(as_operand(x), as_operand(y))


#: names the generated code refers to beside those of its formulas
SCOPE: dict[str, Any] = {
    "LARGE": LARGE,
    "Batched": Batched,
    "Dual": Dual,
    "F64": F64,
    "OBJECT": OBJECT,
    "Recorded": Recorded,
    "fit": fit,
    "float64": float64,
    "has_nan": has_nan,
    "ignore": ignore,
    "kept": kept,
    "result_at": result_at,
    "lifted": lifted,
    "mixed": mixed,
    "ndarray": np.ndarray,
    "restore": restore,
}


def scaled(t: str, text: str) -> tuple[str, str]:
    """Sign and source of t times a partial: 1 / d is one division, a leading minus the sign.

    The product is left as one expression, so that NumPy reuses the memory of its temporaries.
    """
    if text in ("1", "-1"):
        return ("-" if text == "-1" else "+"), t
    body = ast.parse(text, mode="eval").body
    sign, body = _without_minus(body)
    if isinstance(body, ast.BinOp) and isinstance(body.op, ast.Div) and _is_one(body.left):
        return sign, f"{t} / ({ast.unparse(body.right)})"
    return sign, f"{t} * ({ast.unparse(body)})"


def summed(pairs: list[tuple[str, str]]) -> str:
    """Source of the sum of tangents times partials; with a common denominator one division."""
    bodies = [_without_minus(ast.parse(text, mode="eval").body) for _, text in pairs]
    dens = {_divisor(b) for _, b in bodies}
    if len(pairs) == 2 and len(dens) == 1 and None not in dens:
        terms = [
            (sign, t if _is_one(b.left) else f"{t} * ({ast.unparse(b.left)})")  # type: ignore[attr-defined]
            for (t, _), (sign, b) in zip(pairs, bodies, strict=True)
        ]
        return f"({_joined(terms)}) / ({dens.pop()})"
    return _joined([scaled(t, text) for t, text in pairs])


def _divisor(node: ast.expr) -> str | None:
    """The name a formula is divided by, None for another form."""
    quotient = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    return node.right.id if quotient and isinstance(node.right, ast.Name) else None  # type: ignore[attr-defined]


def _joined(terms: list[tuple[str, str]]) -> str:
    (sign, first), *rest = terms
    head = first if sign == "+" else f"-({first})"
    return " ".join([head, *(f"{s} {term}" for s, term in rest)])


def ast_names(formula: str) -> set[str]:
    """The names that a formula reads."""
    return {n.id for n in ast.walk(ast.parse(formula, mode="eval")) if isinstance(n, ast.Name)}


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _without_minus(node: ast.expr) -> tuple[str, ast.expr]:
    """A product without the minus in front of its first factor."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "-", node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        sign, left = _without_minus(node.left)
        return sign, ast.BinOp(left, node.op, node.right)
    return "+", node


class Shares(NamedTuple):
    """What a generated pull adds to each parent, by sign and formula, and what these read."""

    reads: tuple[str, ...]
    terms: tuple[tuple[str, str], ...]
    namespace: dict[str, Any]


class _Writer:
    """Writes the functions of one primitive for one kind."""

    def __init__(self, primitive: Elementwise):
        self.p = primitive
        self.arity = len(primitive.partials)
        #: the block-by-block rules that the written code calls, by name
        self.rules: dict[str, Callable[..., Any]] = {}
        #: what each pull states: see `Shares`
        self.shares: dict[str, Shares] = {}
        arguments = ", ".join(("out", *"xy"[: self.arity]))
        self.formulas = [
            "0" if p.constant == 0.0 else p.text or f"partial{k}({arguments})"
            for k, p in enumerate(primitive.partials)
        ]

    @property
    def call(self) -> str:
        if self.p.operator is None:
            return f"F({', '.join('xy'[: self.arity])})"
        return f"{self.p.operator}x" if self.arity == 1 else f"x {self.p.operator} y"

    def dual(self, active: str, pad: str) -> list[str]:
        """Body that makes the dual of `out` from primals x, y and the operands u, v."""
        tangents = dict(zip("xy", ("u.tangent", "v.tangent"), strict=True))
        live = [a for a in active if self.formulas["xy".index(a)] != "0"]
        total = summed([(tangents[a], self.formulas["xy".index(a)]) for a in live])
        owner = "u" if "x" in active else "v"
        lines = [*self.blocks(active, total), f"out = {self.call}"]
        if not self.p.singular:
            lines += [f"t = {total}"]
        else:
            lines += [
                "token = ignore()",
                "try:",
                f"    t = {total}",
                "finally:",
                "    restore(token)",
            ]
            args = ", ".join("xy"[: self.arity])
            given = ", ".join(tangents[a] if a in active else "None" for a in "xy"[: self.arity])
            lines += [
                "if (t != t) if type(t) is float64 else has_nan(t):",
                f"    t = P.jvp(({given},), out, ({args},), {{}})",
            ]
        lines += [
            "if type(t) is not float64 or type(out) is not float64:",
            "    if t.shape != out.shape or not (t.dtype is F64 is out.dtype):",
            "        t = fit(t, out)",
            f"L = {owner}.level",
            "r = L.new(Dual)",
            "r.level = L",
            "r.primal = out",
            "r.tangent = t",
            "return r",
        ]
        return [pad + line for line in lines]

    def blocks(self, active: str, total: str) -> list[str]:
        """The branch for large arrays; it falls through where they are not plain or hold a NaN."""
        names = "xy"[: self.arity]
        moved = total.replace("u.tangent", "dx").replace("v.tangent", "dy")
        arrays = [*active, *(f"d{a}" for a in active)]
        constants = [a for a in names if a not in active]
        owner, first = ("u", "x") if "x" in active else ("v", "y")
        given = [*active, *("uv"["xy".index(a)] + ".tangent" for a in active), *constants]
        namespace = {**self.p.namespace, "F": self.p.impl}
        forms = [("number", arrays, constants)]
        if constants:
            forms.append(("array", [*arrays, *constants], []))
        lines = []
        for form, blocked, numbers in forms:
            rule = blockwise(namespace, self.call, moved, blocked, numbers, self.p.singular)
            if rule is None:
                continue
            name = f"blocks_{active}_{form}"
            self.rules[name] = rule
            large = f"{first}.size >= LARGE"
            if len(active) == 2 or form == "array":
                large = f"({large} or {'y' if first == 'x' else 'x'}.size >= LARGE)"
            kind = "" if not constants else f"T is {'not ' if numbers else ''}ndarray and "
            lines += [
                f"if {kind}type({first}) is ndarray and {large}:",
                f"    L = {owner}.level",
                f"    pair = {name}(L, {', '.join(given)})",
                "    if pair is not None:",
                "        r = L.new(Dual)",
                "        r.level = L",
                "        r.primal, r.tangent = pair",
                "        return r",
            ]
        return lines

    def value(self, active: str, scalars: str, arrays: str) -> list[str]:
        """Lines that compute the result, and whether all is float64 of one shape.

        A large result is computed in memory of the pool. Of plain arrays the operands tell what
        the result will be.
        """
        first, names = active[0], "xy"[: self.arity]
        general = [
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
        if len(active) == 2:
            plain += " and type(y) is ndarray"
            alike = " is y.dtype and x.shape == y.shape"
            large += " or y.size >= LARGE"
        lines = [
            f"if type({first}) is float64:",
            f"    out = {self.call}",
            f"    same = type(out) is float64{' and type(y) is float64' * (len(active) == 2)}",
            f"elif {number}{plain}:",
            f"    same = {first}.dtype is F64{alike}",
            f"    out = {pooled} if {large} else {self.call}",
        ]
        if number:
            lines += [
                f"elif T is ndarray is type({first}) and (x.size >= LARGE or y.size >= LARGE):",
                f"    out = {pooled}",
                f"    same = out.dtype is F64 and {arrays}",
            ]
        return [*lines, "else:", *general]

    def reads(self, active: str) -> list[str]:
        names: set[str] = set()
        for a in active:
            names |= self.p.partials["xy".index(a)].names
        return [n for n in ("out", "x", "y") if n in names and n in ("out", *"xy"[: self.arity])]

    def recorded(self, active: str, pad: str) -> list[str]:
        """Body that records the operation if it is of one shape and float64."""
        owner = "u" if "x" in active else "v"
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
            f"L = {owner}.level",
            *self.value(active, scalars, arrays),
            "if same:",
            "    r = L.new(Recorded)",
            "    r.level = L",
            "    r.primal = out",
            "    tape = L.tape",
            "    r.tangent = len(tape)",
            f"    tape.append(({entry}))",
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
            f"L = {owner}.level",
            "r = L.new(Batched)",
            "r.level = L",
            "r.primal = out",
            f"r.tangent = {owner}.tangent",
            "return r",
        ]
        return [pad + line for line in lines]

    def body(self, kind: str, active: str, pad: str) -> list[str]:
        write = {"Dual": self.dual, "Recorded": self.recorded, "Batched": self.batched}[kind]
        return write(active, pad)

    def pull(self, active: str) -> list[str]:
        """The pull of the recorded entry and its twins: guarded, and on linear variables."""
        parents = [f"i{a}" for a in active]
        head = f"    _, {', '.join([*parents, *self.reads(active)])} = e"
        lines = [f"def pull_{active}(c, e, g, own):", head]
        terms = [scaled("c", self.formulas["xy".index(a)]) for a in active]
        self.shares[active] = Shares(tuple(self.reads(active)), tuple(terms), self.p.namespace)
        for a, (sign, term) in zip(active, terms, strict=True):
            first = term if sign == "+" else f"-({term})"
            plain = f"g[i{a}] = {first} if s is None else s {sign} {term}"
            lines += [f"    s = g[i{a}]", *self.large_pull(active, a, sign, term, plain)]
        lines += [f"def unpack_{active}(e):", head]
        values = {n: n if n in self.reads(active) else "None" for n in ("out", "x", "y")}
        args = ", ".join(values[n] for n in "xy"[: self.arity])
        given = ", ".join(f"i{a}" if a in active else "None" for a in "xy"[: self.arity])
        lines += [f"    return ({given},), {values['out']}, ({args},)"]
        return lines

    def large_pull(self, active: str, a: str, sign: str, term: str, plain: str) -> list[str]:
        """The share of one parent: by blocks for large arrays, where that can be, else plainly."""
        reads = [n for n in self.reads(active) if n in ast_names(term)]
        constants = [n for n in reads if n not in ("out", *active)]
        namespace = {**self.p.namespace, "F": self.p.impl}
        forms = {"number": [n for n in reads if n not in constants]}
        if constants:
            forms["array"] = reads
        lines, word = [], "if"
        for form, arrays in forms.items():
            numbers = [n for n in reads if n not in arrays]
            rule = blockwise_pull(namespace, term, sign, arrays, numbers)
            if rule is None:
                continue
            name = f"pull_blocks_{active}_{a}_{form}"
            self.rules[name] = rule
            scalar = "".join(f" and type({n}) is not ndarray" for n in numbers)
            lines += [
                f"    {word} type(c) is ndarray and c.size >= LARGE{scalar}:",
                f"        n = {name}({', '.join(['c', 's', *arrays, *numbers])})",
                "        if n is None:",
                f"            {plain}",
                "        else:",
                f"            g[i{a}] = n",
            ]
            word = "elif"
        return [*lines, "    else:", f"        {plain}"] if lines else [f"    {plain}"]

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
            *self.body(kind, "x", "    "),
        ]

    def twice(self, kind: str, pad: str) -> list[str]:
        """An operand combined with itself, where another primitive does that with less work."""
        if self.p.twice is None:
            return []
        return [f"{pad}if u is v:", f"{pad}    return fast(P.twice, {kind!r})[0](u)"]

    def binary(self, kind: str) -> list[str]:
        patterns = self.patterns()
        general = "return mixed(P, u, v)"
        lines = ["def op(u, v):", "    T = type(v)"]
        if self.p.constant is not None:
            condition, _ = self.p.constant
            lines += [
                f"    if (T is int or T is float) and {condition}:",
                f"        return fast(P.constant[1], {kind!r})[0](u, v)",
            ]
        if "xy" in patterns and self.p.complex is None:
            lines += [
                f"    if T is {kind} and v.level is u.level:",
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
        lines += [f"    {general}", "def rop(v, u):", "    T = type(u)"]
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


def generate(primitive: Elementwise, kind: str) -> Pair:
    """The functions (u op v) and (x op v) of a primitive for one kind of traced array."""
    writer = _Writer(primitive)
    scope = {**primitive.namespace, **SCOPE, "P": primitive, "F": primitive.impl}
    scope["fast"] = fast
    scope.update({f"partial{k}": p.value for k, p in enumerate(primitive.partials)})
    text = writer.source(kind)
    scope.update(writer.rules)
    exec(compile(text, f"<{kind} {primitive.name}>", "exec"), scope)
    if kind == "Recorded":
        for p in writer.patterns():
            scope[f"pull_{p}"].shares = writer.shares[p]
            _finish_pull(primitive, scope[f"pull_{p}"], scope[f"unpack_{p}"])
    return scope["op"], scope.get("rop")


def _finish_pull(primitive: Elementwise, pull: Any, unpack: Callable) -> None:
    """Give a generated pull its twins by way of the general one."""

    def general(entry: tuple) -> tuple:
        parents, out, args = unpack(entry)
        return (pull_elementwise, parents, primitive, args, {}, out, None)

    # These entries are of one shape and dtype, so any tangent or cotangent serves as their Spec.
    def guarded(ct: Any, entry: tuple, g: Any, own: set) -> None:
        like = (ct,) * len(primitive.partials)
        pull_elementwise.guarded(ct, (*general(entry)[:6], like), g, own)  # type: ignore[attr-defined]

    def push(entry: tuple, v: Any, twin: str = "push") -> Any:
        e = general(entry)
        t = next(v[i] for i in e[1] if i is not None)
        return getattr(pull_elementwise, twin)((*e[:5], t if e[5] is None else e[5], None), v)

    pull.guarded = guarded
    pull.push = push
    pull.guarded_push = lambda entry, v: push(entry, v, "guarded_push")


#: the kinds with generated code
KINDS: tuple[type[TracedArray], ...] = (Dual, Recorded, Batched)

Pair = tuple[Callable, Callable | None]

#: (kind, primitive) -> (op, rop): as they were generated, and as they are in use
_generated: dict[tuple[str, Elementwise], Pair] = {}
_in_use: dict[tuple[str, Elementwise], Pair] = {}
#: Held while functions are put into use.
_wiring = threading.RLock()
#: What all of them pass through on their way into use, while somebody watches.
_wrap: Callable[[Elementwise, Pair], Pair] | None = None


def fast(primitive: Elementwise, kind: str) -> Pair:
    key = (kind, primitive)
    pair = _in_use.get(key)
    if pair is None:
        with _wiring:
            if key not in _generated:
                _generated[key] = generate(primitive, kind)
            pair = _generated[key] if _wrap is None else _wrap(primitive, _generated[key])
            _in_use[key] = pair
    return pair


def rewire(wrap: Callable[[Elementwise, Pair], Pair] | None) -> None:
    """Pass all generated functions through `wrap` from now on; None: use them as they are."""
    global _wrap
    with _wiring:
        _wrap = wrap
        _in_use.clear()
        for table in _tables:
            table.clear()
        for lazy in _operators:
            setattr(lazy.cls, lazy.name, lazy)


class _Lazy:
    """An operator that is generated when it is first used, and then replaces itself."""

    def __init__(self, cls: type, primitive: Elementwise, reflected: bool):
        self.cls, self.primitive, self.reflected = cls, primitive, reflected

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        with _wiring:
            f = fast(self.primitive, self.cls.__name__)[self.reflected]
            setattr(self.cls, self.name, f)
        return self if instance is None else f.__get__(instance, owner)  # type: ignore[union-attr]


#: The operators of the kinds with generated code, to take them back to where they started.
_operators: list[_Lazy] = []


def operator_method(primitive: Elementwise, reflected: bool = False) -> Callable[..., Any]:
    """An operator method for the kinds without generated code."""
    if len(primitive.partials) == 1:
        return lambda u: primitive(u)
    if reflected:
        return lambda v, u: mixed(primitive, u, v)
    return lambda u, v: mixed(primitive, u, v)


def install(primitive: Elementwise, name: str, reflected: str | None = None) -> None:
    """Make `name` (and its reflection) the operator of a primitive on all traced arrays."""
    setattr(TracedArray, name, operator_method(primitive))
    if reflected is not None:
        setattr(TracedArray, reflected, operator_method(primitive, True))
    for cls in KINDS:
        for method, swap in ((name, False), (reflected, True)):
            if method is not None:
                lazy = _Lazy(cls, primitive, swap)
                lazy.name = method
                setattr(cls, method, lazy)
                _operators.append(lazy)


class _Table(dict):
    """ufunc -> the generated functions of one kind; None where there are none."""

    def __init__(self, kind: str):
        self.kind = kind

    def __missing__(self, ufunc: Any) -> Any:
        rule = plain_rule(ufunc)
        plain = isinstance(rule, Elementwise) and len(rule.partials) <= 2
        with _wiring:
            self[ufunc] = out = fast(rule, self.kind) if plain else None  # type: ignore[arg-type]
        return out


_tables: list[_Table] = []


def define(ufunc: np.ufunc, primitive: Elementwise) -> None:
    """Let a primitive handle a ufunc from now on, also where another one did before."""
    UFUNCS[ufunc] = primitive
    for table in _tables:
        table.pop(ufunc, None)


def protocol(cls: type) -> Callable[..., Any]:
    """The `__array_ufunc__` of a kind with generated code."""
    table = _Table(cls.__name__)
    _tables.append(table)
    general = TracedArray.__array_ufunc__

    def __array_ufunc__(self: Any, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and method == "__call__":
            f = table[ufunc]
            if f is not None:
                if len(inputs) == 1:
                    return f[0](inputs[0])
                x, y = inputs
                if type(x) is cls:
                    return f[0](x, y)
                if type(y) is cls:
                    return f[1](y, x)
        return general(self, ufunc, method, *inputs, **kwargs)

    return __array_ufunc__


TracedArray.with_keywords = staticmethod(call_with_keywords)
for _kind in KINDS:
    _kind.__array_ufunc__ = protocol(_kind)  # type: ignore[method-assign]
