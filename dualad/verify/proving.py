"""`prove`: is this derivative formula right, for all arguments?"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.function import Function
from ..errors import ArgumentError
from ..symbolic.errors import REMEDY, NotSymbolicError
from ..symbolic.extra import symbolic_extra
from ..transforms.custom import custom_jvp
from .proof import Proof

if TYPE_CHECKING:
    from .claims import Values
    from .decide import Claim
    from .region import Region

__all__ = ["prove"]

#: How long a function may take to run on symbols, in units of the limit for one entry.
RUNNING = 6


def prove(
    subject: Any,
    derivative: Any = None,
    *,
    gradient: Any = None,
    jacobian: Any = None,
    hessian: Any = None,
    equals: Any = None,
    forward: Any = None,
    shapes: Mapping[str, tuple[int, ...] | int] | None = None,
    fixed: Mapping[str, Any] | None = None,
    wrt: str | Sequence[str] | None = None,
    assume: str | Iterable[str] = (),
    limit: float = 10.0,
    seed: int = 0,
    name: str | None = None,
) -> Proof:
    """Prove a derivative formula on symbols, or refute it by a counterexample.

    The code itself is run on SymPy symbols, so nothing is typed a second time. Each entry of the
    claim is compared with SymPy's derivative of the forward function, on every piece that the
    branches (np.where, abs, maximum, ...) make, and gets one of three verdicts: *proved*, if the
    difference simplifies to zero; *refuted*, with an exact rational point at which it is not
    zero; *undecided*, with what a check in 50-digit arithmetic at random points has seen.

    Args:
        subject: a `custom_jvp` function; a `Function` class with jvp, backward or both; a
            function or SymPy expression with one of the claims below; a pair (f, jac).
        derivative: the claimed gradient or Jacobian of f: a function of the same arguments, or a
            SymPy expression or Matrix. Its axes are those of the output, then of the input.
        gradient, jacobian: the same by name.
        hessian: the claimed second derivative of a function of one argument.
        equals: a function or expression that is claimed to have the same values.
        forward: what a custom rule is compared with, where its own forward cannot run on symbols:
            a function or a SymPy expression in the names of the arguments.
        shapes: name of an argument -> its shape; arguments are single numbers otherwise.
        fixed: name of an argument -> the value it has; no derivative is asked of it.
        wrt: the arguments by which a gradient, Jacobian or Hessian is claimed; default all.
        assume: statements about the arguments: "x > 0", "0 < p < 1", "n integer", "z complex",
            "a != b". Nothing is claimed on the boundary of what they describe.
        limit: seconds for one entry; when they are over it is undecided.
        seed: of the random points.
        name: what the report calls the subject.

    Returns:
        A `Proof`, true only if every entry is proved.

    Raises:
        NotSymbolicError: the code uses something that cannot be done on symbols.
        ArgumentError: there is nothing to prove, or a claim or assumption does not fit.
        MissingExtraError: SymPy is not installed.

    >>> import numpy as np
    >>> proof = prove(lambda x: np.log1p(np.exp(x)), lambda x: 1 / (1 + np.exp(-x)))
    >>> proof.verdict
    'proved'
    >>> wrong = prove(lambda v: np.mean(v**2), lambda v: 2 * v, shapes={"v": 2})
    >>> wrong.verdict, wrong.counterexample.point
    ('refuted', {'v[0]': '1'})
    """
    symbolic_extra()
    from ..symbolic.numerals import noted
    from .deadline import Deadline, OutOfTime
    from .decide import decide
    from .kinks import kinks_of
    from .region import Region

    if isinstance(subject, tuple) and len(subject) == 2:
        subject, derivative = subject
    claimed = _the_claim(subject, derivative, gradient, jacobian, hessian, equals)
    names = _argument_names(subject, shapes or {}, fixed or {})
    sizes = {n: _shape((shapes or {}).get(n, ())) for n in names if n not in (fixed or {})}
    region = Region(sizes, (assume,) if isinstance(assume, str) else assume)
    problem = _Problem(subject, names, region, fixed or {}, wrt, forward)
    try:
        with Deadline(RUNNING * limit), noted() as readings, _on_symbols():
            values = problem.values()
            claims = list(problem.claims(values, *claimed))
    except OutOfTime:
        raise NotSymbolicError(
            f"running the function on symbols took more than {RUNNING * limit:g} s: take smaller "
            f"shapes; or {REMEDY}"
        ) from None
    entries = tuple(decide(c, region, limit, seed) for c in claims)
    kinks = kinks_of((e for v in values.values() for e in v.ravel()), region)
    return Proof(name or _name(subject), entries, kinks, region.assume, readings)


def _the_claim(subject: Any, *claims: Any) -> tuple[str, Any]:
    kinds = ("derivative", "derivative", "derivative", "hessian", "equals")
    given = [(k, c) for k, c in zip(kinds, claims, strict=True) if c is not None]
    if len(given) > 1:
        raise ArgumentError("prove takes one claim at a time: a derivative, hessian= or equals=")
    if given:
        return given[0]
    if isinstance(subject, custom_jvp) or _is_function_class(subject):
        return "rule", None
    raise ArgumentError(
        f"there is nothing to prove about {_name(subject)}: give its claimed derivative, "
        "hessian= or equals=, or pass a custom_jvp function or a Function class"
    )


def _is_function_class(subject: Any) -> bool:
    return isinstance(subject, type) and issubclass(subject, Function)


def _is_split(cls: type[Function]) -> bool:
    """Whether forward takes no ctx, because setup_context does."""
    return cls.setup_context is not Function.setup_context


def _rules_of(cls: type[Function]) -> tuple[Any, Any]:
    """(jvp, backward), None for what the class does not define."""
    jvp = cls.jvp if cls.jvp is not Function.jvp else None
    back = next((f for f in (cls.backward, cls.vjp) if f is not Function.backward), None)
    return jvp, back


def _name(subject: Any) -> str:
    return getattr(subject, "__name__", None) or str(subject)


def _shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def _is_expression(x: Any) -> bool:
    import sympy

    return isinstance(x, (sympy.Basic, sympy.MatrixBase))


def _argument_names(subject: Any, shapes: Mapping, fixed: Mapping) -> list[str]:
    """The names of the arguments that are given: the required ones, and those spoken of."""
    if _is_expression(subject):
        return sorted(s.name for s in subject.free_symbols)
    target, skipped = subject, 0
    if _is_function_class(subject):
        target, skipped = subject.forward, 0 if _is_split(subject) else 1
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
            f"the arguments of {_name(subject)} cannot be read: name them in shapes=, "
            'such as shapes={"x": 3}'
        )
    if unknown := sorted(spoken - set(names)):
        raise ArgumentError(
            f"{', '.join(unknown)}: no argument of {_name(subject)}, which takes "
            f"{', '.join(names)}"
        )
    return names


@contextlib.contextmanager
def _on_symbols() -> Iterator[None]:
    """Say what went wrong where code met a symbolic array and knew nothing of it."""
    try:
        yield
    except (AttributeError, TypeError) as e:
        if isinstance(e, NotSymbolicError) or "Symbolic" not in str(e):
            raise
        raise NotSymbolicError(f"on symbols this cannot be done ({e}): {REMEDY}") from e


class _Problem:
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
        self.by_name = {v.name: v for v in region.variables}
        wanted = list(self.by_name) if wrt is None else [wrt] if isinstance(wrt, str) else wrt
        if unknown := [n for n in wanted if n not in self.by_name]:
            raise ArgumentError(f"wrt: there is no argument {unknown[0]!r} among {names}")
        self.wrt = [self.by_name[n] for n in wanted if not self.by_name[n].integer]

    def arguments(self) -> list[Any]:
        """The arguments, in order: symbolic arrays of their own, and the fixed values."""
        from .claims import fresh

        return [
            self.fixed[n] if n in self.fixed else fresh(self.by_name[n].array) for n in self.names
        ]

    def call(self, f: Any) -> Any:
        """f of the symbols; an expression with its symbols replaced by those of that name."""
        if _is_expression(f):
            ours = {s.name: s for v in self.region.variables for s in v.symbols}
            return f.xreplace({s: ours[s.name] for s in f.free_symbols if s.name in ours})
        if isinstance(f, custom_jvp):
            f = f.f
        return f(*self.arguments()) if callable(f) else f

    def values(self) -> Values:
        from .claims import outputs

        if _is_function_class(self.forward):
            return self._run_function()[0]
        return outputs(self.call(self.forward))

    def claims(self, values: Values, kind: str, claimed: Any) -> Iterator[Claim]:
        from . import claims

        if kind == "equals":
            yield from claims.equality_claims(claims.outputs(self.call(claimed)), values)
        elif kind == "hessian":
            self._one_argument("a Hessian")
            yield from claims.derivative_claims(self.wrt, values, [self.call(claimed)], 2)
        elif kind == "derivative":
            parts = _one_for_each(self.call(claimed), self.wrt)
            yield from claims.derivative_claims(self.wrt, values, parts)
        elif isinstance(self.subject, custom_jvp):
            yield from self._custom_jvp(values)
        else:
            yield from self._function(values)

    def _one_argument(self, what: str) -> None:
        if len(self.wrt) != 1:
            raise ArgumentError(f"{what} is claimed of one argument: say which with wrt=")

    # --- custom_jvp ------------------------------------------------------------------------------

    def _custom_jvp(self, values: Values) -> Iterator[Claim]:
        from . import claims

        rule = self.subject._rule
        if rule is None:
            raise ArgumentError(f"{_name(self.subject)} has no rule: define one with defjvp")
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

    # --- Function --------------------------------------------------------------------------------

    def _run_function(self) -> tuple[Values, Any, list[Any]]:
        """(the outputs, ctx, the outputs as forward gave them)."""
        from ..symbolic.value import Symbolic
        from .claims import outputs
        from .context import SymbolicContext

        cls, args = self.subject, self.arguments()
        ctx = SymbolicContext(tuple(isinstance(a, Symbolic) for a in args))
        out = cls.forward(*args) if _is_split(cls) else cls.forward(ctx, *args)
        if _is_split(cls):
            cls.setup_context(ctx, tuple(args), out)
        return outputs(out), ctx, list(out) if isinstance(out, tuple) else [out]

    def _function(self, values: Values) -> Iterator[Claim]:
        from . import claims

        jvp, back = _rules_of(self.subject)
        if jvp is None and back is None:
            raise ArgumentError(f"{_name(self.subject)} has neither jvp nor backward to prove")
        if jvp is not None:
            yield from claims.jvp_claims(
                self.region.variables, values, lambda t: self._jvp(jvp, values, t)
            )
        if back is not None:
            both = jvp is not None
            for c in claims.vjp_claims(
                self.region.variables, values, lambda c: self._backward(back, c)
            ):
                label = f"{c.output} (backward)" if both else c.output
                yield type(c)(label, c.input, c.claimed, c.exact)

    def _jvp(self, jvp: Callable[..., Any], values: Values, tangents: list[np.ndarray]) -> Values:
        from .claims import outputs

        _, ctx, _ = self._run_function()
        ctx.rule = "forward"
        result = jvp(ctx, *self._moves(tangents))
        parts = result if isinstance(result, tuple) else (result,)
        zeros = [0 * v for v in values.values()]
        moved = [z if p is None else p for p, z in zip(parts, zeros, strict=True)]
        return outputs(tuple(moved) if len(values) > 1 or "out" not in values else moved[0])

    def _backward(self, back: Callable[..., Any], cotangents: list[np.ndarray]) -> list[Any]:
        from .claims import fresh

        _, ctx, _ = self._run_function()
        ctx.rule = "backward"
        result = back(ctx, *map(fresh, cotangents))
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
