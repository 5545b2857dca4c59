"""One call of a custom function at one level: its own rule, or the other's transpose."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.grad_mode import is_grad_enabled, no_grad
from ..engine.linear import LinearProgram, trace_linear
from ..engine.traced import Spec, TracedArray, raw, spec_of
from ..errors import DualADError, ShapeError
from ..tensor import Tensor, unwrap, wrap
from .context import FunctionCtx, FunctionError, FunctionTypeError, poisoned

__all__ = ["MissingCustomRuleError", "Rule", "differentiable"]


class MissingCustomRuleError(DualADError, NotImplementedError):
    """A custom function defines neither jvp nor backward."""


def differentiable(ctx: FunctionCtx, outs: list[Any]) -> list[bool]:
    """Which outputs have a derivative: floating point and not marked."""
    marked = {id(t) for t in ctx._non_differentiable}
    return [
        id(t) not in marked and np.dtype(o.dtype).kind in "fc"
        for t, o in zip(ctx._outputs, outs, strict=True)
    ]


class Rule:
    """push: tangents of the outputs from those of the tensor inputs; pull: its transpose."""

    def __init__(
        self,
        call: Any,
        ctx: FunctionCtx,
        ins: list[Spec],
        outs: list[Any],
        moves: list,
        keep: list[bool],
    ):
        self.call, self.ctx, self.ins = call, ctx, ins
        self.outs = [spec_of(o) for o in outs]
        self.live = [m is not None for m in moves]
        self.keep = keep
        self.name = call.cls.__name__

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
        self.ctx.release()

    # --- jvp -------------------------------------------------------------------------------------

    def _jvp(self, tangents: list[Any]) -> list[Any]:
        given: list[Any] = [None] * len(self.call.args)
        for k, t, spec in zip(self.call.at, tangents, self.ins, strict=True):
            if t is not None:
                given[k] = wrap(t)
            elif self.ctx._materialize and np.dtype(spec.dtype).kind in "fc":
                given[k] = wrap(np.zeros(spec.shape, spec.dtype))
        self.ctx._rule = "forward"
        out = self.call.jvp(self.ctx, *given)
        out = out if isinstance(out, tuple) else (out,)
        n = len(self.call.out)
        if len(out) != n:
            raise FunctionError(
                f"{self.name}.jvp returned an incorrect number of tangents: {len(out)}, expected "
                f"{n}, one for each output of forward"
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
        return value

    def _check_views(self, given: list[Any], results: list[Any]) -> None:
        """An output that is an input, or a view of one, needs a tangent that is likewise."""
        for j, source, dirty in self.call.aliases:
            t, move = results[j], given[self.call.at[source]]
            if t is None or move is None or not self._plain(t) or not self._plain(move):
                continue
            if dirty and t is not move:
                raise FunctionError(
                    f"{self.name} is an in-place function (mark_dirty), so its jvp must change "
                    "the tangent of that input in-place as well and return it"
                )
            if not dirty and not np.may_share_memory(raw(t._value), raw(move._value)):
                raise FunctionError(
                    f"{self.name} returns a view of an input, so its jvp must return the same "
                    "view of the tangent of that input"
                )

    @staticmethod
    def _plain(t: Any) -> bool:
        return isinstance(t, Tensor) and not isinstance(t._value, TracedArray)

    # --- backward --------------------------------------------------------------------------------

    def _backward(self, cotangents: list[Any]) -> list[Any]:
        given = self._cotangents(cotangents)
        self.ctx._rule = "backward"
        if getattr(self.call.back, "once", False):
            out = self._once(given)
        else:
            out = self.call.back(self.ctx, *given)
        out = out if isinstance(out, tuple) else (out,)
        n = len(self.call.args)
        if len(out) > n and all(g is None for g in out[n:]):
            out = out[:n]
        if len(out) != n:
            raise FunctionError(
                f"function {self.name}Backward returned an incorrect number of gradients "
                f"(expected {n}, got {len(out)}): one for each argument of forward, None where "
                "there is none"
            )
        for k, g in enumerate(out):
            if g is not None and k not in self.call.at:
                raise FunctionError(
                    f"function {self.name}Backward returned a gradient different from None at "
                    f"position {k}, but the corresponding forward argument was not a tensor"
                )
        return [
            self._share(k, out[k], live, spec)
            for k, live, spec in zip(self.call.at, self.live, self.ins, strict=True)
        ]

    def _cotangents(self, cotangents: list[Any]) -> list[Any]:
        given: list[Any] = [None] * len(self.call.out)
        declared = self.ctx._grad_dtypes
        for j, (k, ct, spec) in enumerate(
            zip(self.call.out_at, cotangents, self.outs, strict=True)
        ):
            dtype = spec.dtype if declared is None else declared[k]
            if not self.keep[j]:
                ct = None
            if ct is not None:
                cast = dtype is not None and np.dtype(ct.dtype) != dtype
                given[k] = wrap(ct.astype(dtype) if cast else ct)
            elif self.ctx._materialize:
                given[k] = wrap(np.zeros(spec.shape, spec.dtype if dtype is None else dtype))
        return given

    def _once(self, given: list[Any]) -> Any:
        """A backward that may not be differentiated: its results refuse a further derivative."""
        why = (
            "trying to differentiate twice a function that was marked with @once_differentiable: "
            f"the backward of {self.name}"
        )
        watched = [*given, *self.ctx._inputs, *self.ctx._outputs]
        for t in watched:
            if isinstance(t, Tensor) and _differentiated(unwrap(t)):
                raise FunctionError(why)
        recording = is_grad_enabled()
        with no_grad():
            out = self.call.back(self.ctx, *given)
        if not recording:
            return out
        parts = out if isinstance(out, tuple) else (out,)
        return tuple(
            wrap(poisoned(g._value, why))
            if isinstance(g, Tensor) and not isinstance(g._value, TracedArray)
            else g
            for g in parts
        )

    def _share(self, k: int, g: Any, live: bool, spec: Spec) -> Any:
        if g is None:
            return None
        value = self._value(g, f"{self.name}.backward: the gradient of argument {k}")
        if not live:
            return None
        if value.shape != spec.shape:
            try:
                fits = np.broadcast_shapes(value.shape, spec.shape) == value.shape
            except ValueError:
                fits = False
            if not fits:
                raise ShapeError(
                    f"function {self.name}Backward returned an invalid gradient at index {k}: got "
                    f"shape {value.shape} but expected a shape compatible with {spec.shape}"
                )
        return value

    def _value(self, x: Any, what: str) -> Any:
        if isinstance(x, Tensor):
            return unwrap(x)
        if isinstance(x, TracedArray) or (
            not self.call.face and isinstance(x, (np.ndarray, np.generic))
        ):
            return x
        raise FunctionTypeError(f"{what} must be a tensor or None, got {type(x).__name__}")

    # --- the other's transpose -------------------------------------------------------------------

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
            return [g for g, live in zip(shares, self.live, strict=True) if live]

        return trace_linear(run, self.outs, active, f"{self.name}.backward")


def _differentiated(value: Any) -> bool:
    """Whether an enclosing transformation is differentiating with respect to this value."""
    while isinstance(value, TracedArray):
        if value.kind in ("dual", "recorded"):
            return True
        value = value.primal if value.kind in ("batched", "graph") else None
    return False
