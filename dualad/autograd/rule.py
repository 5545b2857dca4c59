"""The derivative of a call at one level: the function's own rule, or the other's transpose."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from ..engine.arrays.storage import overlap
from ..engine.levels.level import Level
from ..engine.levels.spec import Spec, spec_of
from ..engine.levels.traced import TracedArray
from ..engine.primitives.shape import fit, unfit
from ..engine.programs.linear import LinearProgram, trace_linear
from ..engine.requires_grad.grad_mode import hidden_duals, is_grad_enabled, no_grad
from ..engine.requires_grad.graph import GRAPH, Node
from ..engine.requires_grad.visible import levels_of
from ..errors import DualADError, ShapeError
from ..tensor import Tensor, borrowed, unwrap, wrap
from .context import FunctionCtx
from .errors import FunctionError, FunctionTypeError
from .frozen import poisoned
from .saved import Scene

__all__ = ["MissingCustomRuleError", "Rule"]


class MissingCustomRuleError(DualADError, NotImplementedError):
    """A custom function defines neither jvp nor backward."""


class Rule:
    """push: tangents of the outputs from those of the tensor inputs; pull: its transpose.

    Args:
        call: what was called.
        level: the level whose derivative this is.
        ctx: its context.
        inputs, outputs: tensors and values below this level, as which it is read.
        live: which inputs have a tangent at this level.
        keep: which outputs have a derivative.
    """

    def __init__(
        self,
        call: Any,
        level: Level,
        ctx: FunctionCtx,
        inputs: list[Tensor],
        outputs: list[Any],
        live: list[bool],
        keep: list[bool],
    ):
        self.call, self.level, self.ctx = call, level, ctx
        self.live, self.keep = live, keep
        self.ins = [spec_of(t._value) for t in inputs]
        self.outs = [spec_of(o) for o in outputs]
        self.name = call.cls.__name__
        sources = tuple(n for n in (t._node() for t in inputs) if n is not None)
        self.scene = Scene("backward", ctx.saved_of(inputs), outputs, sources)
        with hidden_duals(level.rank):
            self.is_second = any(_differentiated(unwrap(t)) for t in inputs)

    def push(self, tangents: list[Any]) -> list[Any]:
        """Tangents of the outputs, None for zero."""
        if self.call.jvp is not None:
            return self._jvp(tangents)
        if self.call.back is None:
            raise MissingCustomRuleError(
                f"the custom Function {self.name} has neither jvp nor backward: define one of them"
            )
        active = [t for t, live in zip(tangents, self.live, strict=True) if live]
        shares = self._program_of_backward().pull(active)
        if getattr(self.call.back, "once", False) and is_grad_enabled():
            sources = self.scene.sources
            shares = [s if s is None else poisoned(s, self._twice(), sources) for s in shares]
        return [s if k else None for s, k in zip(shares, self.keep, strict=True)]

    def pull(self, cotangents: list[Any]) -> list[Any]:
        """Cotangents of the tensor inputs, None for zero."""
        if self.call.back is not None:
            return self._backward(cotangents)
        if self.call.jvp is None:
            raise MissingCustomRuleError(
                "you must implement either the backward or vjp method for your custom "
                f"autograd.Function ({self.name}) to use it with backward mode, or a jvp, of "
                "which it is the transpose"
            )
        shares = iter(self._program_of_jvp().pull(cotangents))
        return [next(shares) if live else None for live in self.live]

    def release(self) -> None:
        """Forget what was saved for backward."""
        self.ctx.release()
        self.scene = self.scene._replace(inputs=self.ctx.saved_of(self.scene.inputs))

    # --- jvp -----------------------------------------------------------------------------------

    def _jvp(self, tangents: list[Any]) -> list[Any]:
        given: list[Any] = [None] * len(self.call.args)
        for k, t, spec in zip(self.call.at, tangents, self.ins, strict=True):
            if t is not None:
                given[k] = wrap(borrowed(t))
            elif self.ctx._materialize and np.dtype(spec.dtype).kind in "fc":
                given[k] = wrap(np.zeros(spec.shape, spec.dtype))
        with _Running(self, "forward", self.ctx.needs_input_grad):
            out = self.call.jvp(self.ctx, *given)
            out = out if isinstance(out, tuple) else (out,)
            n = len(self.call.out)
            if len(out) != n:
                raise FunctionError(
                    f"{self.name}.jvp returned an incorrect number of tangents: {len(out)}, "
                    f"expected {n}, one for each output of forward"
                )
            results = [out[k] for k in self.call.out_at]
            values = [self._tangent(j, t) for j, t in enumerate(results)]
        self._check_views(given, results)
        return values

    def _tangent(self, j: int, t: Any) -> Any:
        what, spec = f"{self.name}.jvp: the tangent of output {j}", self.outs[j]
        if t is None:
            return None
        value = self._value(t, what)
        if not self.keep[j]:
            raise FunctionError(
                f"{what} must be None: that output is marked non-differentiable or is not "
                "floating point"
            )
        if value.shape != spec.shape:
            raise ShapeError(
                f"{what} has the shape (size) {value.shape}, it should have {spec.shape}"
            )
        if np.dtype(value.dtype).kind not in "fc":
            raise ShapeError(f"{what} has the dtype {value.dtype}, it should have {spec.dtype}")
        return fit(value, spec)

    def _check_views(self, given: list[Any], results: list[Any]) -> None:
        """An output that is an input, or a view of one, needs a tangent that is likewise."""
        for j, source, dirty in self.call.aliases:
            t, move = results[j], given[self.call.at[source]]
            if move is None or not self.live[source]:
                continue
            if dirty and t is not move:
                raise FunctionError(
                    f"{self.name} is an in-place function (mark_dirty), so its jvp must change "
                    "the tangent of that input in-place as well and return it"
                )
            if (
                not dirty
                and _is_plain(t)
                and _is_plain(move)
                and not overlap(t._value, move._value)
            ):
                raise FunctionError(
                    f"{self.name} returns a view of an input, so its jvp must return the same "
                    "view of the tangent of that input"
                )

    # --- backward ------------------------------------------------------------------------------

    def _backward(self, cotangents: list[Any]) -> list[Any]:
        given = self._cotangents(cotangents)
        moving = {k for k, live in zip(self.call.at, self.live, strict=True) if live}
        needs = tuple(k in moving for k in range(len(self.call.args)))
        with _Running(self, "backward", needs):
            out = self._called(given)
            out = out if isinstance(out, tuple) else (out,)
            self._check_count(out)
            return [
                self._share(k, out[k] if k < len(out) else None, live, spec)
                for k, live, spec in zip(self.call.at, self.live, self.ins, strict=True)
            ]

    def _called(self, given: list[Any]) -> Any:
        once = getattr(self.call.back, "once", False)
        given = [given] if self.call.cls.boxed_grads_call else given
        return self._once(given) if once else self.call.back(self.ctx, *given)

    def _check_count(self, out: tuple) -> None:
        n = len(self.call.args)
        if len(out) < n or any(g is not None for g in out[n:]):
            raise FunctionError(
                f"function {self.name}Backward returned an incorrect number of gradients "
                f"(expected {n}, got {len(out)}): one for each argument of forward, None where "
                "there is none"
            )
        for k, g in enumerate(out[:n]):
            if g is not None and k not in self.call.at:
                raise FunctionError(
                    f"function {self.name}Backward returned a gradient different from None at "
                    f"position {k}, but the corresponding forward argument was not a tensor"
                )

    def _cotangents(self, cotangents: list[Any]) -> list[Any]:
        given: list[Any] = [None] * len(self.call.out)
        declared = self.ctx._grad_dtypes
        for j, (k, ct, spec) in enumerate(
            zip(self.call.out_at, cotangents, self.outs, strict=True)
        ):
            dtype = spec.dtype if declared is None else declared[k]
            if ct is not None and self.keep[j]:
                cast = dtype is not None and np.dtype(ct.dtype) != dtype
                given[k] = wrap(borrowed(ct.astype(dtype) if cast else ct))
            elif self.ctx._materialize:
                given[k] = wrap(np.zeros(spec.shape, spec.dtype if dtype is None else dtype))
        return given

    def _once(self, given: list[Any]) -> Any:
        """A backward that may not be differentiated: its results refuse a further derivative."""
        boxed = self.call.cls.boxed_grads_call
        moving = [t for t in (given[0] if boxed else given) if isinstance(t, Tensor)]
        if self.is_second or any(_differentiated(unwrap(t)) for t in moving):
            raise FunctionError(self._twice())
        recording = is_grad_enabled()
        with no_grad():
            out = self.call.back(self.ctx, *given)
        if not recording:
            return out
        parts = out if isinstance(out, tuple) else (out,)
        nodes = (t._node() for t in moving)
        sources = self.scene.sources + tuple(n for n in nodes if n is not None)
        return tuple(
            wrap(poisoned(g._value, self._twice(), sources)) if _is_plain(g) else g for g in parts
        )

    def _twice(self) -> str:
        return (
            "trying to differentiate twice a function that was marked with "
            f"@once_differentiable: the backward of {self.name}"
        )

    def _share(self, k: int, g: Any, live: bool, spec: Spec) -> Any:
        if g is None:
            return None
        value = self._value(g, f"{self.name}.backward: the gradient of argument {k}")
        if not live:
            return None
        if value.shape != spec.shape and not _sums_to(value.shape, spec.shape):
            raise ShapeError(
                f"function {self.name}Backward returned an invalid gradient at index {k}: got "
                f"shape {value.shape} but expected a shape compatible with {spec.shape}"
            )
        if any(t is not None and overlap(value, t._value) for t in self.scene.inputs):
            value = np.copy(value)
        # A gradient is of any precision where the function below asked for that, but real if the
        # argument is.
        fits = np.dtype(value.dtype).kind == np.dtype(spec.dtype).kind
        return value if fits else unfit(value, spec)

    def _value(self, x: Any, what: str) -> Any:
        if isinstance(x, Tensor):
            value = unwrap(x)
        elif isinstance(x, TracedArray) or (
            not self.call.face and isinstance(x, (np.ndarray, np.generic))
        ):
            value = x
        else:
            raise FunctionTypeError(f"{what} must be a tensor or None, got {type(x).__name__}")
        if self.level is not GRAPH and self.level in levels_of(value):
            raise FunctionError(
                f"{what} depends on a value of the level that is being differentiated, which "
                "reached the rule by a closure: give it to apply as an argument, or save it in "
                "forward"
            )
        return value

    # --- the other's transpose -----------------------------------------------------------------

    def _program_of_jvp(self) -> LinearProgram:
        active = [s for s, live in zip(self.ins, self.live, strict=True) if live]

        def run(*tangents: Any) -> list[Any]:
            moving = iter(tangents)
            return self._jvp([next(moving) if live else None for live in self.live])

        return trace_linear(run, active, self.outs, f"{self.name}.jvp")

    def _program_of_backward(self) -> LinearProgram:
        active = [s for s, live in zip(self.ins, self.live, strict=True) if live]

        def run(*cotangents: Any) -> list[Any]:
            shares = self._backward(list(cotangents))
            moving = [g for g, live in zip(shares, self.live, strict=True) if live]
            return [
                None if g is None else unfit(g, s) for g, s in zip(moving, active, strict=True)
            ]

        return trace_linear(run, self.outs, active, f"{self.name}.backward")


class _Running:
    """While user code of a rule runs: it sees the values of the rule's level."""

    __slots__ = ("_before", "_ctx", "_frozen", "_hidden", "_seen")

    def __init__(self, rule: Rule, name: str, needs: tuple[bool, ...]):
        self._ctx, self._hidden = rule.ctx, hidden_duals(rule.level.rank)
        in_graph = rule.level is GRAPH
        self._frozen = rule.ctx.recorded_reading() if in_graph else nullcontext()
        self._seen = rule.scene._replace(rule=name), needs

    def __enter__(self) -> None:
        ctx = self._ctx
        self._before = ctx._scene, ctx.needs_input_grad
        ctx._scene, ctx.needs_input_grad = self._seen
        self._hidden.__enter__()
        self._frozen.__enter__()

    def __exit__(self, *exc: object) -> None:
        self._frozen.__exit__(*exc)
        self._hidden.__exit__()
        self._ctx._scene, self._ctx.needs_input_grad = self._before


def takes_any_dtype(node: Any) -> bool:
    """Whether a node is an output of a custom function that declared None as gradient dtype."""
    if not isinstance(node, Node) or node.whole is None or node.entry is None:
        return False
    rule = node.whole.entry[2] if node.whole.entry is not None else None
    if not isinstance(rule, Rule) or rule.ctx._grad_dtypes is None:
        return False
    return rule.ctx._grad_dtypes[rule.call.out_at[node.entry[2]]] is None


def _is_plain(t: Any) -> bool:
    return isinstance(t, Tensor) and not isinstance(t._value, TracedArray)


def _sums_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether an array of the target shape can be broadcast to this one."""
    try:
        return np.broadcast_shapes(shape, target) == shape
    except ValueError:
        return False


def _differentiated(value: Any) -> bool:
    """Whether an enclosing transformation is differentiating with respect to this value."""
    while isinstance(value, TracedArray):
        if value.kind in ("dual", "recorded"):
            return True
        value = value.primal if value.kind in ("batched", "graph") else None
    return False
