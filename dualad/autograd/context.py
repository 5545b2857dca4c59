"""The context of a custom function: what forward and setup_context leave for jvp and backward."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.grad_mode import is_grad_enabled
from ..engine.graph import GraphValue, Node, graph_value, part
from ..engine.storage import version
from ..engine.traced import TracedArray, raw
from ..errors import DualADError
from ..tensor import Tensor, unwrap, wrap
from .graph import current_hooks

__all__ = ["FunctionCtx", "FunctionError", "FunctionTypeError", "poisoned"]


class FunctionError(DualADError, RuntimeError):
    """A custom function does not keep its contract."""


class FunctionTypeError(FunctionError, TypeError):
    """A custom function handed over something that is not a tensor."""


class _Saved:
    """One saved tensor and its version: an input, an output, or something made in forward."""

    __slots__ = ("at", "packed", "role", "tensor", "version")

    def __init__(self, tensor: Any, role: str, at: int):
        self.tensor, self.role, self.at = tensor, role, at
        self.version = 0 if tensor is None else version(tensor._value)
        self.packed: tuple[Callable, Any] | None = None


class FunctionCtx:
    """What `forward` or `setup_context` leaves for `jvp` and `backward`.

    Any attribute may be set on it; tensors are saved by the two methods, which keeps them
    differentiable and checks that they are not changed in place.
    """

    def __init__(self) -> None:
        self.needs_input_grad: tuple[bool, ...] = ()
        self._for: dict[str, tuple] = {}
        self._slots: dict[str, list[_Saved]] | None = None
        self._dirty: tuple = ()
        self._non_differentiable: tuple = ()
        self._materialize = True
        self._grad_dtypes: tuple | None = None
        self._inputs: list[Tensor] = []
        self._outputs: list[Tensor] = []
        self._shared: dict[str, Any] = {"freed": False}
        self._rule = "backward"
        #: the node of the call in the requires_grad graph
        self._node: Callable[[], Node | None] = lambda: None

    # --- what user code calls --------------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors (or None) that `backward` reads as `saved_tensors`."""
        self._for["backward"] = only_tensors(tensors, "save_for_backward")

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors (or None) that `jvp` reads as `saved_tensors`."""
        self._for["forward"] = only_tensors(tensors, "save_for_forward")

    def mark_dirty(self, *inputs: Tensor) -> None:
        """Say which inputs were changed in place; each must be among the outputs."""
        self._dirty = only_tensors(inputs, "mark_dirty", none=False)

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Say which outputs have no derivative; backward still gets zeros for them."""
        self._non_differentiable = only_tensors(outputs, "mark_non_differentiable", none=False)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether zero tangents and cotangents arrive as zeros (the default) or as None."""
        self._materialize = bool(value)

    def set_output_grad_dtype(self, *dtypes: Any) -> None:
        """The dtype in which backward gets the gradient of each output; None: as it comes."""
        if self._grad_dtypes is not None:
            raise FunctionError("set_output_grad_dtype may be called only once in a forward pass")
        for d in dtypes:
            if d is not None and not isinstance(d, np.dtype):
                raise FunctionTypeError(
                    "set_output_grad_dtype takes a dtype such as dualad.float32, or None, for "
                    f"each output, got {d!r}"
                )
            if d is not None and d.kind not in "fc":
                raise FunctionError(f"a gradient dtype must be floating point or complex, not {d}")
        self._grad_dtypes = dtypes

    @property
    def saved_tensors(self) -> tuple:
        """What was saved for the rule that is running."""
        if self._shared["freed"] and self._rule == "backward":
            raise FunctionError(
                "trying to backward through the graph a second time, or to read saved tensors "
                "after they have been freed: pass retain_graph=True to the first backward or grad"
            )
        if self._slots is None:
            return self._for.get(self._rule, ())
        return tuple(self._read(s) for s in self._slots.get(self._rule, ()))

    # --- what the engine does with it ------------------------------------------------------------

    def settle(self, pack: bool) -> None:
        """After forward: note what each saved tensor is, its version, and pack it."""
        known = [("input", k, t) for k, t in enumerate(self._inputs)]
        known = [("output", k, t) for k, t in enumerate(self._outputs)] + known
        self._slots = {}
        for rule, tensors in self._for.items():
            slots = []
            for t in tensors:
                role, at = next(((r, k) for r, k, u in known if u is t), ("frozen", 0))
                slots.append(_Saved(t, role, at))
            self._slots[rule] = slots
        hooks = current_hooks()
        if pack and hooks is not None:
            for s in self._slots.get("backward", ()):
                if s.tensor is not None:
                    s.packed = (hooks[1], hooks[0](s.tensor.detach()))

    def view(self, inputs: list[Tensor], outputs: list[Tensor]) -> FunctionCtx:
        """The same context with inputs and outputs read as another level's values."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._inputs, new._outputs = inputs, outputs
        return new

    def _read(self, s: _Saved) -> Any:
        if s.tensor is None:
            return None
        if s.packed is not None:
            unpack, kept = s.packed
            return unpack(kept)
        if s.role == "frozen":
            self._check(s, s.tensor)
            return self._frozen(s.tensor)
        table = self._inputs if s.role == "input" else self._outputs
        self._check(s, table[s.at])
        node = self._node()
        if s.role == "output" and node is not None and is_grad_enabled():
            return wrap(part(raw(table[s.at]._value), node, s.at, len(table)))
        return table[s.at]

    def _check(self, s: _Saved, tensor: Tensor) -> None:
        plain = raw(tensor._value)
        if isinstance(plain, np.ndarray) and np.may_share_memory(plain, raw(s.tensor._value)):
            now = version(s.tensor._value)
            if now != s.version:
                raise FunctionError(
                    "one of the variables needed for gradient computation has been modified by "
                    f"an inplace operation: a saved tensor of shape {s.tensor.shape} is at "
                    f"version {now}, but it was saved at version {s.version}"
                )

    def _frozen(self, tensor: Tensor) -> Tensor:
        """An intermediate of forward: readable, but differentiating through it is an error."""
        if self._rule != "backward" or not is_grad_enabled() or tensor.dtype.kind not in "fc":
            return tensor
        value = unwrap(tensor)
        return tensor if isinstance(value, TracedArray) else wrap(poisoned(value, FROZEN))

    def has_other_tensors(self) -> bool:
        """Whether tensors beside inputs and outputs were kept, which have no outer levels."""
        known = {id(t) for t in [*self._inputs, *self._outputs]}
        kept = [t for saved in self._for.values() for t in saved]
        kept += [v for k, v in self.__dict__.items() if not k.startswith("_")]
        return any(isinstance(t, Tensor) and id(t) not in known for t in _flat(kept))

    def release(self) -> None:
        """Forget what was saved for backward."""
        self._shared["freed"] = True

    def warn_of_foreign_marks(self) -> None:
        known = {id(t) for t in self._inputs}
        if any(id(t) not in known for t in self._dirty):
            warnings.warn(
                "mark_dirty was given a tensor that is not an input of the function, which has no "
                "effect",
                UserWarning,
                stacklevel=4,
            )


FROZEN = (
    "a tensor computed in forward and saved for backward is not an input or output of the "
    "function, so the second derivative through it is unknown: save the inputs and compute it in "
    "backward, or return it as an output as well"
)


def poisoned(value: Any, why: str) -> GraphValue:
    """A value through which no derivative may be taken."""

    def pull(ct: Any, entry: tuple, g: Any, own: set) -> None:
        raise FunctionError(why)

    return graph_value(value, Node("error", (pull, (), None, None, None, None, None)))


def only_tensors(tensors: tuple, what: str, none: bool = True) -> tuple:
    for t in tensors:
        if not isinstance(t, Tensor) and not (none and t is None):
            allowed = "tensors (or None)" if none else "tensors"
            raise FunctionTypeError(
                f"{what} takes {allowed}, got {type(t).__name__}: set other values as attributes "
                "of ctx"
            )
    return tensors


def _flat(xs: Any) -> list[Any]:
    out: list[Any] = []
    for x in xs:
        inner = x.values() if isinstance(x, dict) else x
        out += _flat(inner) if isinstance(x, (list, tuple, dict)) else [x]
    return out
