"""The context of a custom function: what forward and setup_context leave for jvp and backward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.arrays.storage import version
from ..engine.levels.traced import raw
from ..engine.requires_grad.grad_mode import is_grad_enabled
from ..engine.requires_grad.graph import GraphValue, graph_value, part
from ..tensor import Tensor, operand, unwrap, wrap
from .errors import FunctionError, FunctionTypeError
from .frozen import Frozen, made_since, tensors_in
from .saved import Scene, Slot, saved_name, slot_of

if TYPE_CHECKING:
    from .call import Call

__all__ = ["FunctionCtx"]


class FunctionCtx:
    """What `forward` or `setup_context` leaves for `jvp` and `backward`.

    Any attribute may be set on it; tensors are saved by the two methods, which keeps them
    differentiable and checks that they are not changed in place.
    """

    def __init__(self, needs: tuple[bool, ...] = ()) -> None:
        #: for each argument of apply, whether it needs a gradient
        self.needs_input_grad = needs
        self._to_save: dict[str, tuple] = {}
        self._slots: dict[str, list[Slot]] | None = None
        self._dirty: tuple = ()
        #: whether any input was marked as changed in place
        self._changes_inputs = False
        self._non_differentiable: tuple = ()
        self._materialize = True
        self._grad_dtypes: tuple | None = None
        self._freed = False
        #: whether each output was marked non-differentiable; None before forward has ended
        self._marked: list[bool] | None = None
        self._scene = Scene("backward", [], [])
        #: what forward made and kept, once that is in the requires_grad graph
        self._frozen: Frozen | None = None
        #: when the call began
        self._began = float("inf")

    # --- what user code calls ------------------------------------------------------------------

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors (or None) that `backward` reads as `saved_tensors`."""
        self._to_save["backward"] = only_tensors(tensors, "save_for_backward")

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors (or None) that `jvp` reads as `saved_tensors`."""
        self._to_save["forward"] = only_tensors(tensors, "save_for_forward")

    def mark_dirty(self, *inputs: Tensor) -> None:
        """Say which inputs were changed in place; each must be among the outputs."""
        self._dirty = only_tensors(inputs, "mark_dirty", none=False)

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Say which outputs have no derivative; backward still gets zeros for them."""
        self._non_differentiable = only_tensors(outputs, "mark_non_differentiable", none=False)

    def set_materialize_grads(self, value: bool) -> None:
        """Whether zero tangents and cotangents arrive as zeros (the default) or as None."""
        if not isinstance(value, bool):
            raise FunctionTypeError(
                f"set_materialize_grads takes a bool, not {type(value).__name__}"
            )
        self._materialize = value

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
        rule = self._scene.rule
        if self._freed and rule == "backward":
            raise FunctionError(
                "trying to backward through the graph a second time, or to read saved tensors "
                "after they have been freed: pass retain_graph=True to the first backward or "
                "grad"
            )
        if self._slots is None:
            return ()
        return tuple([self._read(s) for s in self._slots.get(rule, ())])

    # --- what the engine does with it --------------------------------------------------------

    def settle(
        self,
        inputs: list[Tensor],
        outputs: list[Tensor],
        values: list[Any],
        began: float = float("inf"),
    ) -> None:
        """After forward: note what each saved tensor is, its version, and pack it."""
        self._began = began
        self._marked = [any(t is m for m in self._non_differentiable) for t in outputs]
        known = [("output", j, t) for j, t in enumerate(outputs)]
        known += [("input", k, t) for k, t in enumerate(inputs)]
        self._slots = {
            rule: [
                slot_of(t, known, began, saved_name(rule, k), rule == "backward")
                for k, t in enumerate(tensors)
            ]
            for rule, tensors in self._to_save.items()
        }
        self._scene = Scene("backward", self.saved_of(inputs), values)
        self._changes_inputs = bool(self._dirty)
        # A marked tensor has this context in its history from now on: they would keep each other.
        self._to_save, self._dirty, self._non_differentiable = {}, (), ()

    def differentiable(self, outs: list[Any]) -> list[bool]:
        """Which outputs have a derivative: floating point and not marked."""
        marked = self._marked or [False] * len(outs)
        return [
            not m and np.dtype(o.dtype).kind in "fc" for m, o in zip(marked, outs, strict=True)
        ]

    def changes_inputs(self) -> bool:
        """Whether inputs were marked as changed in place."""
        return self._changes_inputs

    def is_partial(self) -> bool:
        """Whether forward has left it without what it saves, as a rule for vmap does."""
        return self._slots is None

    def _read(self, s: Slot) -> Any:
        if s.packed is not None:
            return self._unpacked(s)
        if s.role == "none":
            return None
        if s.role == "input":
            tensor = self._scene.inputs[s.at]
            assert tensor is not None, "what is saved is kept"
            self._check(s, tensor._value)
            return tensor
        if s.role == "output":
            return self._output(s)
        assert s.tensor is not None
        self._check(s, s.tensor._value)
        poison = self._poison(s)
        return s.tensor if poison is None else wrap(poison.poison(unwrap(s.tensor), s.name))

    def _output(self, s: Slot) -> Tensor:
        outputs = self._scene.outputs
        value, node = outputs[s.at], self._scene.node()
        self._check(s, value)
        return wrap(value if node is None else part(raw(value), node, s.at, len(outputs)))

    def _unpacked(self, s: Slot) -> Tensor:
        unpack, kept = s.packed or (None, None)
        assert unpack is not None
        value = unpack(kept)
        if s.role == "input":
            # Its history is still that of the input.
            history = operand(self._scene.inputs[s.at])
            if type(history) is GraphValue:
                value = graph_value(raw(value), history.tangent)
        node = self._scene.node()
        if s.role == "output" and node is not None:
            value = part(raw(value), node, s.at, len(self._scene.outputs))
        poison = self._poison(s)
        return wrap(value if poison is None else poison.poison(value, s.name))

    def _check(self, s: Slot, value: Any) -> None:
        now = version(value)
        if now != s.version and not isinstance(raw(value), np.generic):
            raise FunctionError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: a saved tensor of shape {value.shape} is at version {now}, "
                f"but it was saved at version {s.version}"
            )

    def _poison(self, s: Slot) -> Frozen | None:
        """What keeps a saved tensor from being differentiated through, where that is needed."""
        recorded = self._scene.node() is not None and is_grad_enabled()
        return self._frozen if s.role == "made" and recorded else None

    def freeze(self, call: Call, inputs: list[Tensor]) -> None:
        """In the requires_grad graph: what forward made may not be differentiated through."""
        made = any(s.role == "made" for row in (self._slots or {}).values() for s in row)
        self._frozen = Frozen.of(call, self, inputs, made)

    def is_differentiated(self) -> bool:
        """Whether the rule that runs is itself recorded and forward has left what it made."""
        return self._frozen is not None and is_grad_enabled()

    def recorded_reading(self) -> Any:
        """A context in which a rule runs that is itself recorded."""
        return self._frozen if self.is_differentiated() else nullcontext()

    def attributes(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors that user code has set as attributes, in containers too, by name."""
        seen: set[int] = set()
        for name, x in self.__dict__.items():
            if not name.startswith("_"):
                yield from tensors_in(x, f"ctx.{name}", seen)

    def to_save(self) -> Iterator[tuple[str, Tensor]]:
        """The tensors that are to be saved, by name."""
        for rule, tensors in self._to_save.items():
            for k, t in enumerate(tensors):
                if t is not None:
                    yield saved_name(rule, k), t

    def keeps_more_than(self, known: list[Any]) -> bool:
        """Whether it keeps anything of forward that is not known at every level."""
        mine = [v for k, v in self.__dict__.items() if not k.startswith("_")]
        kept = _flat(mine)
        slots = [s for row in (self._slots or {}).values() for s in row]
        return any(s.role == "made" for s in slots) or any(
            not _is_setting(v) and not any(v is x for x in known) and self._is_new(v) for v in kept
        )

    def _is_new(self, v: Any) -> bool:
        return not isinstance(v, Tensor) or made_since(v, self._began)

    def saved_of(self, inputs: Sequence[Tensor | None]) -> list[Tensor | None]:
        """The inputs, None for those that no rule will read."""
        slots = [s for row in (self._slots or {}).values() for s in row]
        read = {s.at for s in slots if s.role == "input"}
        return [t if k in read else None for k, t in enumerate(inputs)]

    def release(self) -> None:
        """Forget what was saved for backward."""
        self._freed = True
        if self._slots is not None:
            self._slots.pop("backward", None)
            self._scene = self._scene._replace(inputs=self.saved_of(self._scene.inputs))
        if self._frozen is not None:
            self._frozen.forget()


def _is_setting(v: Any) -> bool:
    """Whether a value is one of those by which a call is controlled, not a result of forward."""
    return v is None or isinstance(v, (bool, int, str, bytes, np.dtype, type)) or callable(v)


def only_tensors(tensors: tuple, what: str, none: bool = True) -> tuple:
    """The tensors, or an error that names what is not one."""
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
        if isinstance(x, (list, tuple, set, frozenset, dict)):
            out += _flat(x.values() if isinstance(x, dict) else x)
        else:
            out.append(x)
    return out
