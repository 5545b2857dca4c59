"""The outputs of a custom function: the marks on them, and whose memory they share."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.arrays.storage import bump, overlap
from ..engine.levels.level import newest_rank
from ..engine.levels.traced import TracedArray, raw
from ..engine.primitives.inplace import write
from ..engine.requires_grad.visible import is_functional
from ..errors import LostDerivativeError
from ..tensor import Tensor, unwrap, wrap
from ..tensor.face import stored
from ..tensor.view import ClosedView
from .context import FunctionCtx
from .errors import FunctionError

if TYPE_CHECKING:
    from .call import Call

__all__ = ["Outputs"]


class Outputs:
    """The outputs of one call."""

    def __init__(self, call: Call):
        self.call = call
        self.began = newest_rank()
        self.is_tuple = False
        #: all that forward returned, and where the tensors are in it
        self.all: list[Any] = []
        self.at: list[int] = []
        #: (output, input it shares memory with, whether that input is dirty)
        self.aliases: list[tuple[int, int, bool]] = []

    @property
    def tensors(self) -> list[Tensor]:
        """The outputs that are tensors."""
        return [self.all[k] for k in self.at]

    def take(self, out: Any) -> None:
        """Keep what forward (or the rule for vmap) returned."""
        self.is_tuple = isinstance(out, tuple)
        self.all = list(out) if self.is_tuple else [out]
        if not self.call.face:
            numbers = (np.ndarray, np.floating, np.complexfloating, TracedArray)
            self.all = [wrap(o) if isinstance(o, numbers) else o for o in self.all]
        self.at = [k for k, o in enumerate(self.all) if isinstance(o, Tensor)]

    def assembled(self, tensors: list[Tensor] | None = None) -> Any:
        """What forward returned, with its tensors replaced."""
        out = list(self.all)
        for k, t in zip(self.at, self.tensors if tensors is None else tensors, strict=True):
            out[k] = t
        return tuple(out) if self.is_tuple else out[0]

    # --- after forward -----------------------------------------------------------------------

    def plain(self) -> list[Any]:
        """The plain values of the output tensors."""
        values = [unwrap(t) for t in self.tensors]
        for k, v in zip(self.at, values, strict=True):
            if is_functional(v):
                raise LostDerivativeError(
                    f"forward of {self.call.cls.__name__} uses a value that is being "
                    f"differentiated ({v.kind}) by a closure, so output {k} would lose its "
                    "derivative: give it to apply as an argument"
                )
        return [np.asarray(raw(v)) for v in values]

    def check(self, ctx: FunctionCtx, inputs: list[Tensor], values: list[Any]) -> None:
        """Note whose memory the outputs share, and check the marks on them."""
        self._note_aliases(ctx, inputs, values)
        self._check_grad_dtypes(ctx, values)

    def _note_aliases(self, ctx: FunctionCtx, inputs: list[Tensor], values: list[Any]) -> None:
        if any(not any(t is d for t in inputs) for d in ctx._dirty):
            warnings.warn(
                "mark_dirty was given a tensor that is not an input of the function, which has "
                "no effect",
                UserWarning,
                stacklevel=6,
            )
        dirty = [k for k, t in enumerate(inputs) if any(t is d for d in ctx._dirty)]
        self.aliases = []
        for j, (o, v) in enumerate(zip(self.tensors, values, strict=True)):
            for k, t in enumerate(inputs):
                if o is t or overlap(v, t._value):
                    self.aliases.append((j, k, o is t and k in dirty))
                    break
        self._check_dirty(dirty, inputs)

    def _check_dirty(self, dirty: list[int], inputs: list[Tensor]) -> None:
        name = self.call.cls.__name__
        returned = [inputs[k] for _, k, is_dirty in self.aliases if is_dirty]
        if any(not any(inputs[k] is t for t in returned) for k in dirty):
            raise FunctionError(
                f"{name}: some elements marked as dirty during the forward method were not "
                "returned as output; the inputs that are modified inplace must all be outputs"
            )
        targets = [self.call.args[self.call.at[k]] for k in dirty]
        views = [t for t in targets if isinstance(t, Tensor) and t._is_view()]
        if views and len(self.at) > 1:
            raise FunctionError(
                f"{name} modifies a view in place (mark_dirty) and has several tensor outputs: "
                "it may return that view only"
            )
        for t in inputs if self.call.direct else ():
            if any(t is x for x in targets):
                bump(raw(t._value))

    def _check_grad_dtypes(self, ctx: FunctionCtx, values: list[Any]) -> None:
        declared = ctx._grad_dtypes
        if declared is None:
            return
        if len(declared) != len(self.all):
            raise FunctionError(
                f"set_output_grad_dtype: the number of dtypes ({len(declared)}) must be the "
                f"number of outputs ({len(self.all)})"
            )
        marked = [any(t is m for m in ctx._non_differentiable) for t in self.tensors]
        floats = [np.dtype(v.dtype).kind in "fc" for v in values]
        keep = {k for k, m, f in zip(self.at, marked, floats, strict=True) if f and not m}
        for k, d in enumerate(declared):
            if d is not None and k not in keep:
                raise FunctionError(
                    f"set_output_grad_dtype: output {k} is not a differentiable tensor, so only "
                    "None is valid"
                )

    def forget(self) -> None:
        """Drop the tensors and the call; the number of outputs and their positions stay."""
        self.all = [None] * len(self.all)
        del self.call

    # --- for the caller --------------------------------------------------------------------------

    def assign(self, values: list[Any]) -> None:
        """Let the tensors that forward made hold the values found so far."""
        for t, v in zip(self.tensors, values, strict=True):
            if self._is_new(t):
                t._value, t._view = stored(v), None

    def _is_new(self, t: Tensor) -> bool:
        """Whether forward made this tensor, and for this place alone."""
        return t._born > self.began and not any(t is x for x in self.call.tensors)

    def given(self, values: list[Any]) -> Any:
        """The outputs as the caller gets them, with these engine values."""
        dirty = {j: k for j, k, is_dirty in self.aliases if is_dirty}
        tensors: list[Any] = []
        for j, (t, v) in enumerate(zip(self.tensors, values, strict=True)):
            if j in dirty:
                tensors.append(self._rewired(dirty[j], v))
            elif self.call.face:
                tensors.append(self._tensor(j, t, v, tensors))
            else:
                tensors.append(v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v)
        return self.assembled(tensors)

    def _tensor(self, j: int, t: Tensor, value: Any, earlier: list[Any]) -> Tensor:
        """The tensor that forward made, with its value; another one for what it did not make."""
        if self.call.direct and self._is_new(t) and not any(t is e for e in earlier):
            t._value, t._view = stored(value), None
        else:
            t = wrap(value)
        source = next((k for i, k, _ in self.aliases if i == j), None)
        if source is not None and self.call.direct:
            name = f"{self.call.cls.__name__} (output {j})"
            t._view = ClosedView(self.call.tensors[source], t._value, name)
        return t

    def _rewired(self, k: int, value: Any) -> Any:
        """A dirty input: the same object, with the function as its history."""
        target = self.call.args[self.call.at[k]]
        if isinstance(target, Tensor):
            return target._write(value, written=self.call.direct)
        if isinstance(target, TracedArray):
            write(target, value)
        else:
            target[...] = raw(value)
        return target
