"""The source of operations on duals, which compute the tangent beside the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..primitives.blocks import Later, blockwise
from ..primitives.terms import scaled
from .written import Written, quick

__all__ = ["WrittenDuals"]

#: From this many entries on a sum is added in place, which takes one array less; that there are
#: so many takes a look, which is more than it would save for few.
MIDDLE = 500


class WrittenDuals(Written):
    """Writes the bodies that make duals, of one tangent and of many."""

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
