"""Custom functions with PyTorch's contract: forward, setup_context, jvp, backward, vmap.

`forward` runs once, on plain values. Each level then gets a context of its own, in which what was
saved reads as that level's values. Either rule gives the other: `jvp` is transposed for reverse
mode, `backward` for forward mode, by running it on linear variables.
"""

from __future__ import annotations

import functools
import inspect
import warnings
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.batched import Batched, batched
from ..engine.dual import Dual, make_dual
from ..engine.grad_mode import is_grad_enabled, no_grad
from ..engine.graph import GRAPH, GraphValue, attach as attach_node
from ..engine.level import Level
from ..engine.linear import LinearVariable
from ..engine.recorded import Recorded
from ..engine.tape import pull_custom
from ..engine.traced import TracedArray, raw, spec_of
from ..errors import ArgumentError, LinearityError
from ..tensor import Tensor, as_tensor, unwrap, wrap
from .context import FunctionCtx, FunctionError
from .rule import Rule, differentiable

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "VmapInfo", "once_differentiable"]


class VmapInfo(NamedTuple):
    """What a `vmap` method is told: the length of the batch, and vmap's randomness option."""

    batch_size: int
    randomness: str


class Function:
    """A differentiable function with rules of its own; subclass it and call `apply`.

    Define `forward(ctx, *args)`, or `forward(*args)` with `setup_context(ctx, inputs, output)`;
    and `jvp(ctx, *tangents)` or `backward(ctx, *cotangents)` (also named `vjp`), or both.
    One of the two rules suffices: the other is its transpose.

    >>> import dualad
    >>> class Cube(dualad.autograd.Function):
    ...     @staticmethod
    ...     def forward(x):
    ...         return x**3
    ...     @staticmethod
    ...     def setup_context(ctx, inputs, output):
    ...         ctx.save_for_forward(*inputs)
    ...     @staticmethod
    ...     def jvp(ctx, dx):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * dx
    >>> dualad.grad(Cube.apply)(2.0)
    12.0
    """

    #: Batch this function under vmap one entry after the other, by its other methods.
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any):
        warnings.warn(
            f"{type(self).__name__} should not be instantiated: call {type(self).__name__}.apply, "
            "a method of the class",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise FunctionError(
            f"a custom Function is not called as an instance: use {type(self).__name__}.apply(...)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The value of the function on tensors; override it."""
        raise NotImplementedError(
            "you must implement the forward function of a custom autograd.Function: forward(ctx, "
            "*args), or forward(*args) together with setup_context"
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        """Prepare ctx from the inputs and the output; override it to give forward no ctx."""
        raise NotImplementedError("setup_context is not implemented")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """One cotangent (or None) per input from one per output; override it."""
        raise NotImplementedError(
            "you must implement backward or vjp (or jvp) of the custom Function"
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """One tangent (or None) per output from one per input; override it."""
        raise NotImplementedError("you must implement jvp (or backward) of the custom Function")

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple, *args: Any) -> Any:
        """(output, out_dims) for batched inputs; override it, or set generate_vmap_rule."""
        raise NotImplementedError("vmap is not implemented")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function: on tensors it gives tensors, on arrays arrays."""
        if cls.forward is Function.forward:
            cls.forward()
        return Call(cls, positional(cls, args, kwargs)).result()


class InplaceFunction(Function):
    """PyTorch keeps this name for compatibility; all that holds for `Function` holds for it."""

    def __init__(self, inplace: bool = False):
        super().__init__()
        self.inplace = inplace


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated: a second derivative is an error."""

    @functools.wraps(backward)
    def once(*args: Any) -> Any:
        with no_grad():
            return backward(*args)

    once.once = True  # type: ignore[attr-defined]
    return once


def is_split(cls: type[Function]) -> bool:
    """Whether the class has setup_context, so that forward takes no ctx."""
    return cls.setup_context is not Function.setup_context


def positional(cls: type[Function], args: tuple, kwargs: dict) -> tuple:
    """The arguments in order, keywords at their positions and defaults filled in."""
    offset = () if is_split(cls) else (None,)
    signature = inspect.signature(cls.forward)
    try:
        bound = signature.bind(*offset, *args, **kwargs)
    except TypeError as e:
        raise ArgumentError(f"{cls.__name__}.apply: {e}") from None
    bound.apply_defaults()
    if bound.kwargs:
        raise ArgumentError(
            f"{cls.__name__}.apply: keyword-only parameters of forward ({sorted(bound.kwargs)}) "
            "cannot be passed through apply"
        )
    return bound.args[len(offset) :]


def rules_of(cls: type[Function]) -> tuple[Callable | None, Callable | None]:
    """(jvp, backward) of a class, None for what it does not define."""
    own_backward, own_vjp = cls.backward is not Function.backward, cls.vjp is not Function.vjp
    if own_backward and own_vjp:
        raise FunctionError(
            f"implementing both 'backward' and 'vjp' for the custom Function {cls.__name__} is "
            "not allowed: they are one rule, define one of them"
        )
    back = cls.backward if own_backward else cls.vjp if own_vjp else None
    return (cls.jvp if cls.jvp is not Function.jvp else None), back


class Call:
    """One call of `apply`: which arguments are tensors, and what each level sees."""

    def __init__(self, cls: type[Function], args: tuple):
        self.cls, self.args = cls, args
        self.jvp, self.back = rules_of(cls)
        self.at = [k for k, a in enumerate(args) if is_tensor(a)]
        self.face = any(isinstance(args[k], Tensor) for k in self.at)
        self.tensors = [as_tensor(args[k]) for k in self.at]
        self.values = [unwrap(t) for t in self.tensors]
        self.needs = tuple(
            k in self.at and _needs_grad(self.values[self.at.index(k)]) for k in range(len(args))
        )
        self.is_tuple = False
        self.out: list[Any] = []
        self.out_at: list[int] = []
        #: (output, input it shares memory with, whether that input is dirty)
        self.aliases: list[tuple[int, int, bool]] = []
        #: the output tensors that setup_context has seen, which the caller gets
        self.final: dict[int, Tensor] = {}

    def result(self) -> Any:
        values, _ = self.run(self.values)
        out = list(self.out)
        dirty = {j: k for j, k, is_dirty in self.aliases if is_dirty}
        for j, (k, v) in enumerate(zip(self.out_at, values, strict=True)):
            out[k] = self._rewire(dirty[j], v) if j in dirty else self._give(j, v)
        return tuple(out) if self.is_tuple else out[0]

    def _give(self, j: int, value: Any) -> Any:
        if not self.face:
            return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
        made = self.final.get(j)
        out = wrap(value) if made is None else made
        out._value = wrap(value)._value
        if any(j == a for a, _, _ in self.aliases) and type(out._value) is GraphValue:
            out._locked = (
                f"output {j} of {self.cls.__name__} is a view of an input and is being modified "
                "in-place; the function's backward would be bypassed: clone() the output first"
            )
        return out

    def _rewire(self, k: int, value: Any) -> Any:
        """A dirty input: the same object, with the function as its history."""
        target = self.args[self.at[k]]
        if not isinstance(target, Tensor):
            from ..engine.inplace import write

            write(target, value)
            return target
        return target._write(value)

    # --- levels ----------------------------------------------------------------------------------

    def run(self, values: list[Any]) -> tuple[list[Any], FunctionCtx]:
        """The outputs for engine values, one level at a time, and the context with them."""
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
        mine = [type(v) is kind and v.level is level for v in values]
        if kind is Batched:
            return self.vectorize(level, values, mine, top.tangent)
        if kind is LinearVariable:
            raise LinearityError(
                f"a derivative rule is not linear in its tangent: {self.cls.__name__} was applied "
                "to it"
            )
        primals = [v.primal if m else v for v, m in zip(values, mine, strict=True)]
        moves = [v.tangent if m else None for v, m in zip(values, mine, strict=True)]
        outs, ctx = self.run(primals)
        ctx = self.context(ctx, kind, values if kind is GraphValue else primals, outs)
        if kind is Dual:
            return self.lift_dual(level, ctx, moves, outs, primals), ctx
        return self.lift_recorded(kind, level, ctx, moves, outs, primals), ctx

    def bottom(self, values: list[Any]) -> tuple[list[Any], FunctionCtx]:
        """Run forward on plain values."""
        functional = any(_functional(v) for v in self.values)
        values = [np.array(v) if functional else np.asarray(v) for v in values]
        ctx = FunctionCtx()
        ctx.needs_input_grad = self.needs
        ctx._inputs = [wrap(v) for v in values]
        args = self.arguments(ctx._inputs)
        with no_grad():
            out = self.cls.forward(*args) if is_split(self.cls) else self.cls.forward(ctx, *args)
        self.is_tuple = isinstance(out, tuple)
        self.out = list(out) if self.is_tuple else [out]
        if not self.face:
            self.out = [
                wrap(o) if isinstance(o, (np.ndarray, np.floating)) else o for o in self.out
            ]
        self.out_at = [k for k, o in enumerate(self.out) if isinstance(o, Tensor)]
        ctx._outputs = [self.out[k] for k in self.out_at]
        if is_split(self.cls):
            self.set_up(ctx, self._originals(ctx), ctx._outputs)
            ctx._inputs = self._originals(ctx)
            self.final = dict(enumerate(ctx._outputs))
        self.check_marks(ctx)
        ctx.settle(any(self.needs))
        return [raw(unwrap(t)) for t in ctx._outputs], ctx

    def _originals(self, ctx: FunctionCtx) -> list[Tensor]:
        """The tensors the caller passed, where the call has no level but the graph's."""
        if self.face and not any(_functional(v) or type(v) is Dual for v in self.values):
            return self.tensors
        return ctx._inputs

    def set_up(self, ctx: FunctionCtx, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        before = ctx._inputs
        ctx._inputs, ctx._outputs = inputs, outputs
        with no_grad():
            self.cls.setup_context(ctx, tuple(self.arguments(inputs)), self.assemble(outputs))
        ctx._inputs = inputs or before

    def check_marks(self, ctx: FunctionCtx) -> None:
        """The rules of mark_dirty and set_output_grad_dtype."""
        ctx.warn_of_foreign_marks()
        dirty = [k for k, t in enumerate(ctx._inputs) if any(t is d for d in ctx._dirty)]
        self.aliases = []
        for j, o in enumerate(ctx._outputs):
            for k, t in enumerate(ctx._inputs):
                same = o is t or (k in dirty and raw(o._value) is raw(t._value))
                if same or np.may_share_memory(
                    np.asarray(raw(o._value)), np.asarray(raw(t._value))
                ):
                    self.aliases.append((j, k, same and k in dirty))
                    break
        returned = {k for _, k, is_dirty in self.aliases if is_dirty}
        if any(k not in returned for k in dirty):
            raise FunctionError(
                f"{self.cls.__name__}: some elements marked as dirty during the forward method "
                "were not returned as output; the inputs that are modified inplace must all be "
                "outputs"
            )
        if (
            dirty
            and len(self.out_at) > 1
            and any(
                isinstance(self.args[self.at[k]], Tensor)
                and self.args[self.at[k]]._base is not None
                for k in dirty
            )
        ):
            raise FunctionError(
                f"{self.cls.__name__} modifies a view in place (mark_dirty) and has several "
                "tensor outputs: it may return that view only"
            )
        for k in dirty:
            target = self.args[self.at[k]]
            if isinstance(target, Tensor):
                target._may_write(None)
        self._check_grad_dtypes(ctx)

    def _check_grad_dtypes(self, ctx: FunctionCtx) -> None:
        declared = ctx._grad_dtypes
        if declared is None:
            return
        if len(declared) != len(self.out):
            raise FunctionError(
                f"set_output_grad_dtype: the number of dtypes ({len(declared)}) must be the "
                f"number of outputs ({len(self.out)})"
            )
        keep = dict(
            zip(self.out_at, differentiable(ctx, [o._value for o in ctx._outputs]), strict=True)
        )
        for k, d in enumerate(declared):
            if d is not None and not keep.get(k, False):
                raise FunctionError(
                    f"set_output_grad_dtype: output {k} is not a differentiable tensor, so only "
                    "None is valid"
                )

    def arguments(self, tensors: list[Tensor]) -> list[Any]:
        """The call's arguments with its tensors replaced."""
        args = list(self.args)
        for k, t in zip(self.at, tensors, strict=True):
            args[k] = t
        return args

    def assemble(self, outputs: list[Tensor]) -> Any:
        """What forward returned with its tensors replaced."""
        out = list(self.out)
        for k, t in zip(self.out_at, outputs, strict=True):
            out[k] = t
        return tuple(out) if self.is_tuple else out[0]

    def context(
        self, ctx: FunctionCtx, kind: Any, inputs: list[Any], outs: list[Any]
    ) -> FunctionCtx:
        """The context of a level, whose saved inputs and outputs are that level's values."""
        if kind is GraphValue and is_split(self.cls) and ctx._inputs is self.tensors:
            return ctx
        ins, out_tensors = [wrap(v) for v in inputs], [wrap(o) for o in outs]
        if is_split(self.cls) and kind is not GraphValue:
            new = FunctionCtx()
            new.needs_input_grad = self.needs
            self.set_up(new, ins, out_tensors)
            new.settle(False)
        elif ctx.has_other_tensors() and any(_functional(v) for v in inputs):
            new = self._rerun(ins, out_tensors)
        else:
            new = ctx.view(ins, out_tensors)
        new._non_differentiable = _same_places(ctx._non_differentiable, ctx._outputs, out_tensors)
        return new

    def _rerun(self, ins: list[Tensor], outs: list[Tensor]) -> FunctionCtx:
        """Combined style at an outer level: forward again on its values, for its context."""
        new = FunctionCtx()
        new.needs_input_grad = self.needs
        new._inputs = ins
        out = self.cls.forward(new, *self.arguments(ins))
        parts = out if isinstance(out, tuple) else (out,)
        new._outputs = [o for o in parts if isinstance(o, Tensor)]
        new.settle(False)
        return new.view(ins, outs)

    def lift_dual(
        self, level: Level, ctx: FunctionCtx, moves: list, outs: list, primals: list
    ) -> list[Any]:
        rule = Rule(
            self, ctx, [spec_of(p) for p in primals], outs, moves, differentiable(ctx, outs)
        )
        tangents = rule.push(moves)
        return [
            o if t is None else make_dual(level, o, t) for o, t in zip(outs, tangents, strict=True)
        ]

    def lift_recorded(
        self, kind: Any, level: Level, ctx: FunctionCtx, parents: list, outs: list, primals: list
    ) -> list[Any]:
        live = [
            p if np.dtype(v.dtype).kind in "fc" else None
            for p, v in zip(parents, primals, strict=True)
        ]
        keep = differentiable(ctx, outs)
        if all(p is None for p in live) or not any(keep):
            return outs
        ins = [spec_of(p) for p in primals]
        rule = Rule(self, ctx, ins, outs, live, keep)
        like = tuple(None if p is None else s for p, s in zip(live, ins, strict=True))
        entry = (pull_custom, tuple(live), rule, None, None, tuple(map(spec_of, outs)), like)
        if kind is GraphValue:
            made = attach_node(f"{self.cls.__name__}Backward", entry, tuple(outs))
            first = next(m for m, d in zip(made, keep, strict=True) if d)
            ctx._node = weakref.ref(first.tangent.entry[1])
        else:
            k = len(level.tape)
            level.tape.append(entry)
            made = tuple(Recorded._part(level, k, j, o, len(outs)) for j, o in enumerate(outs))
        return [m if d else o for m, o, d in zip(made, outs, keep, strict=True)]

    # --- vmap ------------------------------------------------------------------------------------

    def vectorize(
        self, level: Level, values: list[Any], mine: list[bool], n: int
    ) -> tuple[list, FunctionCtx]:
        """Under vmap: the class's own rule, or one entry of the batch after the other."""
        own = self.cls.vmap is not Function.vmap
        if own and self.cls.generate_vmap_rule:
            raise FunctionError(
                f"{self.cls.__name__} has both a vmap method and generate_vmap_rule=True: choose "
                "one"
            )
        if own:
            return self._own_vmap(level, values, mine, n), FunctionCtx()
        if not self.cls.generate_vmap_rule and self.face:
            raise FunctionError(
                f"{self.cls.__name__} was called under vmap, but has no rule for that: give it a "
                "vmap static method, or set generate_vmap_rule = True"
            )
        rows, ctx = [], FunctionCtx()
        for k in range(max(n, 1)):
            row, ctx = self.run(
                [v.primal[k] if m else v for v, m in zip(values, mine, strict=True)]
            )
            rows.append(row)
        stacked = [np.stack(column)[:n] for column in zip(*rows, strict=True)]
        return [batched(level, s, n) for s in stacked], ctx

    def _own_vmap(self, level: Level, values: list[Any], mine: list[bool], n: int) -> list[Any]:
        given: list[Any] = list(self.args)
        dims: list[int | None] = [None] * len(self.args)
        options = level.tape if isinstance(level.tape, dict) else {}
        for k, v, m in zip(self.at, values, mine, strict=True):
            whole, axis = options.get("origins", {}).get(id(v), (v.primal, 0)) if m else (v, None)
            given[k], dims[k] = wrap(whole), axis
        info = VmapInfo(n, options.get("randomness", "error"))
        result = self.cls.vmap(info, tuple(dims), *given)
        if not (isinstance(result, tuple) and len(result) == 2):
            raise FunctionError(
                f"{self.cls.__name__}.vmap must return a tuple (output, out_dims), got "
                f"{type(result).__name__}"
            )
        out, out_dims = result
        self.is_tuple = isinstance(out, tuple)
        self.out = list(out) if self.is_tuple else [out]
        where = list(out_dims) if isinstance(out_dims, tuple) else [out_dims] * len(self.out)
        if len(where) != len(self.out) or isinstance(out_dims, tuple) != self.is_tuple:
            raise FunctionError(
                f"{self.cls.__name__}.vmap returned out_dims {out_dims!r}, which do not have the "
                "structure of the output"
            )
        self.out_at = [k for k, o in enumerate(self.out) if isinstance(o, Tensor)]
        placed = []
        for k in self.out_at:
            value, dim = unwrap(self.out[k]), where[k]
            placed.append(value if dim is None else batched(level, np.moveaxis(value, dim, 0), n))
        return placed


def _same_places(marked: tuple, before: list, now: list) -> tuple:
    return tuple(n for b, n in zip(before, now, strict=True) if any(b is m for m in marked))


def is_tensor(a: Any) -> bool:
    """Whether an argument of apply takes part: tensors, arrays, traced arrays, NumPy floats."""
    return isinstance(a, (Tensor, TracedArray, np.ndarray)) or isinstance(
        a, (np.floating, np.complexfloating)
    )


def _needs_grad(value: Any) -> bool:
    if not is_grad_enabled():
        return False
    while isinstance(value, TracedArray):
        if value.kind in ("recorded", "graph"):
            return True
        value = value.primal if value.kind != "linear" else None
    return False


def _functional(value: Any) -> bool:
    """Whether a value belongs to a functional transformation, not just a dual_level or graph."""
    while type(value) is Dual and value.level.name == "dual_level":
        value = value.primal
    return isinstance(value, TracedArray) and value.level.rank > GRAPH.rank
