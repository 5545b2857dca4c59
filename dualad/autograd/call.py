"""One call of a custom function: forward on plain values, then the rule of each level in turn."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.kinds.batched import Batched
from ..engine.kinds.batched_dual import general
from ..engine.kinds.dual import Dual, make_dual
from ..engine.kinds.recorded import Recorded
from ..engine.levels.level import Level
from ..engine.levels.spec import Spec, spec_of
from ..engine.levels.traced import TracedArray, raw
from ..engine.programs.entries import pull_custom
from ..engine.programs.kept import kept
from ..engine.programs.variable import LinearVariable
from ..engine.put_off.postponed import stop
from ..engine.requires_grad.grad_mode import graph_recording, hidden_duals
from ..engine.requires_grad.graph import GRAPH, GraphValue, attach as attach_node
from ..engine.requires_grad.visible import is_functional
from ..tensor import Tensor, as_tensor, unwrap, wrap
from ..tensor.view import is_recorded, node_of
from .arguments import fits, is_array, misfit
from .context import FunctionCtx
from .errors import FunctionError
from .outputs import Outputs
from .rule import Rule, takes_any_dtype
from .vmap_rule import vectorized

if TYPE_CHECKING:
    from .function import Function

__all__ = ["Call"]


class Call:
    """One call of `apply`.

    Outside of functional transformations forward is given the caller's own tensors, of which it
    sees the plain values, and one ctx serves all levels. Inside, each level has tensors and a ctx
    of its own.
    """

    def __init__(self, cls: type[Function], args: tuple, kwargs: dict):
        self.cls, self.args, self.kwargs = cls, args, kwargs
        self.jvp, self.back = cls.rules()
        self.at = [k for k, a in enumerate(args) if is_array(a)]
        self.face = not self.at or any(isinstance(args[k], Tensor) for k in self.at)
        self.tensors = [as_tensor(args[k]) for k in self.at]
        self.values = [unwrap(t) for t in self.tensors]
        #: whether the tensors belong to transformations, if only where no_grad hides that
        self.traced = any(is_functional(t._full()) for t in self.tensors)
        self.direct = self.face and not self.traced
        if self.traced:
            # What the rules read is kept as it is now, whatever is written into it later.
            self.values = [_kept(v) for v in self.values]
        elif self.face and any(type(args[k]) is np.ndarray for k in self.at):
            # So are arrays beside tensors: NumPy's writes go unnoticed.
            self.tensors = [as_tensor(_kept(args[k])) for k in self.at]
            self.values = [unwrap(t) for t in self.tensors]
        self.outputs = Outputs(self)

    @property
    def out(self) -> list[Any]:
        """What forward returned, one after the other."""
        return self.outputs.all

    @property
    def out_at(self) -> list[int]:
        """Where the tensors are among the outputs."""
        return self.outputs.at

    @property
    def aliases(self) -> list[tuple[int, int, bool]]:
        """(output, input it shares memory with, whether that input is dirty)."""
        return self.outputs.aliases

    def result(self) -> Any:
        """The outputs as the caller gets them."""
        try:
            values, _ = self.run(self.values)
            return self.outputs.given(values)
        finally:
            self._forget()

    def _forget(self) -> None:
        """Drop all tensors: the rules of the graph need counts and positions alone."""
        self.args = (None,) * len(self.args)
        self.tensors = self.values = []
        self.outputs.forget()

    def forward(self, ctx: FunctionCtx, inputs: list[Tensor]) -> Any:
        """What forward gives for these tensors."""
        args = self.arguments(inputs)
        try:
            if self.cls.is_split():
                return self.cls.forward(*args, **self.kwargs)
            return self.cls.forward(ctx, *args, **self.kwargs)
        except TypeError as error:
            if fits(self.cls, args, self.kwargs):
                raise
            raise misfit(self.cls, error) from None

    def set_up(self, ctx: FunctionCtx, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        """Let setup_context prepare a context, if the class has one."""
        if self.cls.is_split():
            self.cls.setup_context(
                ctx, tuple(self.arguments(inputs)), self.outputs.assembled(outputs)
            )

    # --- levels --------------------------------------------------------------------------------

    def run(self, values: list[Any]) -> tuple[list[Any], FunctionCtx]:
        """The outputs for engine values, one level at a time, and their context."""
        values = [general(v) for v in values]
        top = max(
            (v for v in values if isinstance(v, TracedArray)),
            key=lambda v: v.level.rank,
            default=None,
        )
        if top is None or top.level.rank < GRAPH.rank:
            return self.bottom([raw(v) for v in values])
        kind, level = type(top), top.level
        if not level.is_open:
            level.new(kind)
        stop(level)  # The user's code may write to what it is given.
        mine = [type(v) is kind and v.level is level for v in values]
        if kind is Batched:
            return vectorized(self, level, values, mine, top.tangent)
        if kind is LinearVariable:
            from .on_linear import applied_to_linear

            return applied_to_linear(self, level, values, mine)
        primals = [v.primal if m else v for v, m in zip(values, mine, strict=True)]
        moves = [v.tangent if m else None for v, m in zip(values, mine, strict=True)]
        outs, ctx = self.run(primals)
        if kind is GraphValue and self.direct and ctx.changes_inputs():
            moves = self._past_hooks(moves)
        lifted = self.lift(kind, level, ctx, values, primals, moves, outs)
        if self.direct:
            self.outputs.assign(lifted)
        return lifted, ctx

    def _past_hooks(self, moves: list[Any]) -> list[Any]:
        """The nodes of the inputs, of views that are written to those without hooks."""
        for _, k, is_dirty in self.aliases:
            if is_dirty and moves[k] is not None and self.tensors[k]._leave_hooks():
                moves[k] = node_of(self.tensors[k]._full())
        return moves

    def bottom(self, values: list[Any]) -> tuple[list[Any], FunctionCtx]:
        """Run forward on plain values."""
        inputs = self.tensors
        if not self.direct:
            inputs = [wrap(np.array(v) if self.traced else np.asarray(v)) for v in values]
        full = [t._full() for t in self.tensors] if self.direct else values
        ctx = FunctionCtx(self.needs(full))
        with graph_recording(False), hidden_duals(0.0):
            self.outputs.take(self.forward(ctx, inputs))
            outs = self.outputs.plain()
            self.set_up(ctx, inputs, self.outputs.tensors)
            self.outputs.check(ctx, inputs, outs)
            ctx.settle(inputs, self.outputs.tensors, outs, self.outputs.began)
        return outs if self.face else [o[()] for o in outs], ctx

    def needs(self, values: list[Any]) -> tuple[bool, ...]:
        """For each argument whether it needs a gradient, by the values of the tensors."""
        recorded = {k for k, v in zip(self.at, values, strict=True) if is_recorded(v)}
        return tuple(k in recorded for k in range(len(self.args)))

    def arguments(self, tensors: list[Tensor]) -> list[Any]:
        """The call's arguments with its tensors replaced."""
        args = list(self.args)
        for k, t in zip(self.at, tensors, strict=True):
            args[k] = t
        return args

    # --- the derivative at one level -----------------------------------------------------------

    def lift(
        self,
        kind: type,
        level: Level,
        ctx: FunctionCtx,
        values: list[Any],
        primals: list[Any],
        moves: list[Any],
        outs: list[Any],
    ) -> list[Any]:
        """The outputs with what this level tracks of them."""
        numeric = [np.dtype(v.dtype).kind in "fc" for v in primals]
        live = [m if n else None for m, n in zip(moves, numeric, strict=True)]
        if all(m is None for m in live):
            return outs
        seen = values if kind is GraphValue else primals
        rule = self.rule_at(level, ctx, seen, live, outs)
        if not any(rule.keep):
            return outs
        if kind is Dual:
            tangents = zip(outs, rule.push(live), strict=True)
            return [o if t is None else make_dual(level, o, t) for o, t in tangents]
        return self.record(kind, level, rule, live, outs)

    def rule_at(
        self,
        level: Level,
        ctx: FunctionCtx,
        seen: list[Any],
        live: list[Any],
        outs: list[Any],
    ) -> Rule:
        """The rule of this call at one level, where the inputs read as `seen`."""
        inputs = self.tensors if self.direct else [wrap(v) for v in seen]
        if not (self.direct and level is GRAPH):
            ctx = self.context(ctx, level, seen, live, outs)
        keep = ctx.differentiable(outs)
        return Rule(self, level, ctx, inputs, outs, [m is not None for m in live], keep)

    def record(self, kind: type, level: Level, rule: Rule, live: list, outs: list) -> list[Any]:
        """The outputs recorded on a tape, or in the requires_grad graph."""
        like = tuple(
            None if p is None else Spec(s.shape, None) if takes_any_dtype(p) else s
            for p, s in zip(live, rule.ins, strict=True)
        )
        specs = tuple(map(spec_of, outs))
        entry = (pull_custom, tuple(live), rule, None, None, specs, like)
        if kind is GraphValue:
            made = attach_node(f"{self.cls.__name__}Backward", entry, tuple(outs))
            first = next(m for m, d in zip(made, rule.keep, strict=True) if d)
            whole = first.tangent.whole
            whole.context = rule.ctx
            rule.scene = rule.ctx._scene = rule.scene._replace(node=weakref.ref(whole))
            if self.direct:
                rule.ctx.freeze(self, self.tensors)
        else:
            k = len(level.tape)
            level.tape.append(entry)
            made = tuple(Recorded._part(level, k, j, o, len(outs)) for j, o in enumerate(outs))
        return [m if d else o for m, o, d in zip(made, outs, rule.keep, strict=True)]

    # --- the context of one level --------------------------------------------------------------

    def context(
        self, ctx: FunctionCtx, level: Level, seen: list[Any], moves: list[Any], outs: list[Any]
    ) -> FunctionCtx:
        """The context of a level, in which what was saved reads as that level's values."""
        nested = any(isinstance(v, TracedArray) for v in seen)
        if self.direct:
            known = [*self.args, *self.tensors, *self.out]
        else:
            known = [a for k, a in enumerate(self.args) if k not in self.at]
        again = nested and (ctx.is_partial() or ctx.keeps_more_than(known))
        if not again and (self.direct or not self.cls.is_split()):
            return ctx
        moving = {k for k, m in zip(self.at, moves, strict=True) if m is not None}
        new = FunctionCtx(tuple(k in moving for k in range(len(self.args))))
        with hidden_duals(level.rank):
            if self.cls.is_split():
                inputs, outputs = [wrap(v) for v in seen], [wrap(o) for o in outs]
                self.set_up(new, inputs, outputs)
            else:
                inputs, outputs = self._rerun(ctx, new, seen, outs)
        new.settle(inputs, outputs, outs)
        return new

    def _rerun(
        self, ctx: FunctionCtx, new: FunctionCtx, seen: list[Any], outs: list[Any]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Combined style: forward again on a level's values, for its context."""
        if ctx.changes_inputs():
            raise FunctionError(
                f"{self.cls.__name__} changes an input in place (mark_dirty) and keeps other "
                "values than its inputs and outputs, so it cannot be differentiated more than "
                "once: give it a setup_context"
            )
        inputs = [wrap(_copied(v)) for v in seen]
        out = self.forward(new, inputs)
        tensors = [o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, Tensor)]
        if len(tensors) != len(outs) or any(map(_differ, tensors, outs)):
            raise FunctionError(
                f"forward of {self.cls.__name__} gave another result when it was run again for an "
                f"outer level, so its derivative there is unknown: give it a setup_context"
            )
        return inputs, tensors


def _kept(x: Any) -> Any:
    return kept(x) if type(x) is np.ndarray else x


def _copied(value: Any) -> Any:
    """A value in memory of its own, which forward may write to."""
    if isinstance(value, TracedArray) and is_functional(value):
        return value
    return np.copy(value)


def _differ(tensor: Tensor, value: Any) -> bool:
    a, b = np.asarray(raw(unwrap(tensor))), np.asarray(raw(value))
    return a.shape != b.shape or not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
