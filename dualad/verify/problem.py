"""What `prove` is asked about: a subject on symbols, its values, and what is claimed of them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.custom_vjp import custom_vjp
from ..autograd.function import Function
from ..errors import ArgumentError
from ..transforms.custom import custom_jvp
from .stand_in import as_symbols, standing_in

if TYPE_CHECKING:
    from .claims import Values
    from .decide import Claim
    from .region import Region

__all__ = ["Problem", "argument_names", "is_function_class", "name_of", "shape_of"]


#: Functions whose rules are decorators.
CUSTOM = (custom_jvp, custom_vjp)


def is_function_class(subject: Any) -> bool:
    """Whether it is a subclass of Function."""
    return isinstance(subject, type) and issubclass(subject, Function)


def name_of(subject: Any) -> str:
    """What a report calls it."""
    return getattr(subject, "__name__", None) or str(subject)


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape; a number is the length of a vector."""
    return (shape,) if isinstance(shape, int) else tuple(shape)


def is_expression(x: Any) -> bool:
    """Whether it is SymPy's."""
    sympy = sys.modules.get("sympy")  # before it is imported, nothing is
    return sympy is not None and isinstance(x, (sympy.Basic, sympy.MatrixBase))


def argument_names(subject: Any, shapes: Mapping, fixed: Mapping) -> list[str]:
    """The names of the arguments that are given: the required ones, and those spoken of."""
    if is_expression(subject):
        return sorted(s.name for s in subject.free_symbols)
    target, skipped = subject, 0
    if is_function_class(subject):
        target, skipped = subject.forward, 0 if subject.is_split() else 1
    try:
        parameters = list(inspect.signature(target).parameters.values())[skipped:]
    except (TypeError, ValueError):
        parameters = []
    spoken = {*shapes, *fixed}
    names = [
        p.name for p in parameters
        if p.kind <= p.POSITIONAL_OR_KEYWORD and (p.default is p.empty or p.name in spoken)
    ]  # fmt: skip
    foreign = isinstance(subject, np.ufunc) or str(subject.__module__).startswith("numpy")
    if spoken and (not names or foreign):  # what comes without names of its own gets ours
        names = [*shapes, *fixed]
    if not names:
        raise ArgumentError(
            f"the arguments of {name_of(subject)} cannot be read: name them in shapes=, "
            'such as shapes={"x": 3}'
        )
    if unknown := sorted(spoken - set(names)):
        raise ArgumentError(
            f"{', '.join(unknown)}: no argument of {name_of(subject)}, which takes "
            f"{', '.join(names)}"
        )
    return names


class Problem:
    """A subject on symbols: its values, and what is claimed of them."""

    def __init__(
        self,
        subject: Any,
        names: list[str],
        region: Region,
        fixed: Mapping[str, Any],
        wrt: str | Sequence[str] | None,
        forward: Any,
    ):
        self.subject, self.names, self.region, self.fixed = subject, names, region, fixed
        self.forward = subject if forward is None else forward
        #: numbers in place of the symbols, to run the code at a point
        self.point: dict[Any, Any] = {}
        self.by_name = {v.name: v for v in region.variables}
        wanted = list(self.by_name) if wrt is None else [wrt] if isinstance(wrt, str) else wrt
        if unknown := [n for n in wanted if n not in self.by_name]:
            raise ArgumentError(f"wrt: there is no argument {unknown[0]!r} among {names}")
        self.wrt = [self.by_name[n] for n in wanted if not self.by_name[n].integer]

    def arguments(self) -> list[Any]:
        """The arguments, in order: symbolic arrays of their own, and the fixed values."""
        from .claims import fresh

        def given(array: np.ndarray) -> np.ndarray:
            return np.frompyfunc(lambda e: e.xreplace(self.point), 1, 1)(array)

        return [
            self.fixed[n] if n in self.fixed else fresh(given(self.by_name[n].array))
            for n in self.names
        ]

    def call(self, f: Any) -> Any:
        """f of the symbols; an expression with its symbols replaced by those of that name."""
        if is_expression(f):
            return self._with_our_symbols(f)
        if isinstance(f, (list, tuple)):
            return type(f)(map(self.call, f))
        if isinstance(f, CUSTOM):
            f = f.f
        return f(*self.arguments()) if callable(f) else f

    def _with_our_symbols(self, e: Any) -> Any:
        ours = {s.name: s.xreplace(self.point) for v in self.region.variables for s in v.symbols}
        return e.xreplace({s: ours[s.name] for s in e.free_symbols if s.name in ours})

    def values(self) -> Values:
        """What the forward function gives."""
        from .claims import outputs

        if is_function_class(self.forward):
            return outputs(self._run_function()[0])
        given = self.call(self.forward)
        return outputs(as_symbols(given) if self.forward is not self.subject else given)

    def claims(self, values: Values, kind: str, claimed: Any) -> Iterator[Claim]:
        """What is claimed of them, entry by entry."""
        with standing_in(self):
            yield from self._claims(values, kind, claimed)

    def _claims(self, values: Values, kind: str, claimed: Any) -> Iterator[Claim]:
        from . import claims

        if kind == "equals":
            yield from claims.equality_claims(claims.outputs(self.call(claimed)), values)
        elif kind == "hessian":
            joint = [claims.joined(self.wrt)]
            yield from claims.derivative_claims(joint, values, [self.call(claimed)], 2)
        elif kind == "derivative":
            parts = _one_for_each(self.call(claimed), self.wrt)
            yield from claims.derivative_claims(self.wrt, values, parts)
        elif isinstance(self.subject, custom_jvp):
            yield from self._custom_jvp(values)
        elif isinstance(self.subject, custom_vjp):
            yield from self._custom_vjp(values)
        else:
            yield from self._function(values)

    # --- custom_jvp ------------------------------------------------------------------------------

    def _custom_jvp(self, values: Values) -> Iterator[Claim]:
        from . import claims

        rule = self.subject._rule
        if rule is None:
            raise ArgumentError(f"{name_of(self.subject)} has no rule: define one with defjvp")
        primal: list[Any] = []

        def tangent_of(tangents: list[np.ndarray]) -> Values:
            given = self._moves(tangents)
            result = rule(tuple(self.arguments()), tuple(given))
            if not (isinstance(result, tuple) and len(result) == 2):
                raise ArgumentError("a jvp rule returns (output, tangent of output)")
            primal.append(result[0])
            return claims.outputs(result[1])

        yield from claims.jvp_claims(self.region.variables, values, tangent_of)
        yield from claims.equality_claims(claims.outputs(primal[0]), values)

    def _moves(self, tangents: list[np.ndarray]) -> list[Any]:
        """One tangent for each argument, None for what has none."""
        from .claims import differentiable, fresh

        moving = {
            v.name: fresh(t)
            for v, t in zip(differentiable(self.region.variables), tangents, strict=True)
        }
        return [moving.get(n) for n in self.names]

    # --- custom_vjp ------------------------------------------------------------------------------

    def _custom_vjp(self, values: Values) -> Iterator[Claim]:
        from . import claims

        if self.subject._rule is None:
            raise ArgumentError(
                f"{name_of(self.subject)} has no rule: define one with defvjp(fwd, bwd)"
            )
        fwd, bwd = self.subject._rule
        args = self.arguments()
        still = [k % len(args) for k in self.subject.nondiff_argnums]
        result = fwd(*args)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise ArgumentError("a fwd rule returns (output, residuals)")
        out, residuals = result
        moving = [n for k, n in enumerate(self.names) if k not in still]

        def shares(cotangents: list[np.ndarray]) -> list[Any]:
            leaves = zip(values, map(claims.fresh, cotangents), strict=True)
            given = claims.container(out, dict(leaves))
            found = bwd(*(args[k] for k in still), residuals, given)
            if not isinstance(found, tuple) or len(found) != len(moving):
                raise ArgumentError(
                    f"a bwd rule returns a tuple with one gradient for each of {moving}"
                )
            by_name = dict(zip(moving, found, strict=True))
            return [by_name.get(v.name) for v in claims.differentiable(self.region.variables)]

        yield from claims.vjp_claims(self.region.variables, values, shares)
        yield from claims.equality_claims(claims.outputs(out), values)

    # --- Function --------------------------------------------------------------------------------

    def _run_function(self) -> tuple[Any, Any, tuple]:
        """(what forward gives, its context, the outputs one by one)."""
        from ..symbolic.custom import run_forward

        return run_forward(self.subject, tuple(self.arguments()), {})

    def _function(self, values: Values) -> Iterator[Claim]:
        from . import claims

        jvp, back = self.subject.rules()
        if jvp is None and back is None:
            raise ArgumentError(f"{name_of(self.subject)} has neither jvp nor backward to prove")
        fixed = self._fixed_outputs(values)
        if jvp is not None:
            for c in claims.jvp_claims(
                self.region.variables, values, lambda t: self._jvp(jvp, values, t)
            ):
                if c.output.partition("[")[0] not in fixed:
                    yield c
        if back is not None:
            both = jvp is not None
            for c in claims.vjp_claims(
                self.region.variables, values, lambda c: self._backward(back, c)
            ):
                label = f"{c.output} (backward)" if both else c.output
                if c.output.removeprefix("re ").removeprefix("im ").partition("[")[0] not in fixed:
                    yield type(c)(label, c.input, c.claimed, c.exact)

    def _fixed_outputs(self, values: Values) -> set[str]:
        """The names of the outputs that forward marked as without derivative."""
        _, ctx, outs = self._run_function()
        if len(outs) != len(values):
            return set()
        return {n for n, o in zip(values, outs, strict=True) if not ctx.differentiable(o)}

    def _jvp(self, jvp: Callable[..., Any], values: Values, tangents: list[np.ndarray]) -> Values:
        from ..symbolic.tensor_face import tensor_face
        from .claims import outputs

        _, ctx, _ = self._run_function()
        ctx.rule = "forward"
        result = jvp(ctx, *map(tensor_face, self._moves(tangents)))
        parts = result if isinstance(result, tuple) else (result,)
        zeros = [0 * v for v in values.values()]
        moved = [z if p is None else p for p, z in zip(parts, zeros, strict=True)]
        return outputs(tuple(moved) if len(values) > 1 or "out" not in values else moved[0])

    def _backward(self, back: Callable[..., Any], cotangents: list[np.ndarray]) -> list[Any]:
        from ..symbolic.tensor_face import tensor_face
        from .claims import fresh

        _, ctx, _ = self._run_function()
        ctx.rule = "backward"
        result = back(ctx, *(tensor_face(fresh(c)) for c in cotangents))
        parts = result if isinstance(result, tuple) else (result,)
        if len(parts) < len(self.names):
            raise ArgumentError(
                f"backward gives {len(parts)} gradients for {len(self.names)} arguments"
            )
        live = {v.name for v in self.region.variables if not v.integer}
        return [p for n, p in zip(self.names, parts, strict=False) if n in live]


def _one_for_each(claimed: Any, variables: Sequence[Any]) -> list[Any]:
    """One array for each argument from what a gradient or Jacobian function gave."""
    from ..symbolic.value import entries_of

    if len(variables) == 1:
        alone = isinstance(claimed, tuple) and len(claimed) == 1 and np.ndim(claimed[0]) > 0
        return [claimed[0] if alone else claimed]
    if isinstance(claimed, (tuple, list)) and len(claimed) == len(variables):
        return list(claimed)
    entries = entries_of(claimed)
    if entries.ndim == 2 and entries.shape[-1] == 1:
        entries = entries[:, 0]
    if entries.shape[-1:] == (len(variables),) and all(v.shape == () for v in variables):
        return [entries[..., k] for k in range(len(variables))]
    return [claimed]
