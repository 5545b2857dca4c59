"""The history of a tensor: requires_grad, grad, backward, hooks, detach."""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..engine.kinds.batched_dual import general
from ..engine.kinds.dual import Dual, make_dual
from ..engine.kinds.recorded import Recorded
from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray, raw
from ..engine.requires_grad.grad_mode import is_grad_enabled
from ..engine.requires_grad.graph import Node, graph_value
from ..engine.requires_grad.visible import is_functional
from ..errors import ArgumentError, LevelError, NotDifferentiableError, ShapeError
from ..transforms.custom import stop_gradient
from .face import State, unwrap, wrap
from .hooks import RemovableHandle, borrowed, checked
from .view import DetachedView, is_recorded, node_of

__all__ = ["History"]

#: Held while something is added to a .grad: several threads may sweep graphs that share a leaf.
_ADDING = threading.RLock()


class History(State):
    """The methods of a tensor that concern its derivatives."""

    __slots__ = ()

    def _node(self) -> Node | None:
        """The node of the tensor in the requires_grad graph."""
        return node_of(self._full())

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded for backward."""
        return is_recorded(self._full())

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    def requires_grad_(self, flag: bool = True) -> Any:
        """Make this tensor a leaf that collects a gradient (or an ordinary one again)."""
        if flag == self.requires_grad:
            return self
        full = self._full()
        if not flag:
            if not self.is_leaf or is_functional(full):
                raise LevelError(
                    "you can only change requires_grad flags of leaf variables: use detach() to "
                    "get a tensor without history"
                )
            self._value = _under_duals(lambda v: v.primal, full)
            return self
        if np.dtype(full.dtype).kind not in "fc":
            raise NotDifferentiableError(
                f"only Tensors of floating point and complex dtype can require gradients, not "
                f"{full.dtype}"
            )
        if is_functional(full):
            raise ArgumentError(
                "requires_grad_() inside a transformation: use dualad.grad or vjp there"
            )
        node = Node("AccumulateGrad", None)
        node.leaf = weakref.ref(self)
        # From now on it is a leaf of its own, though it shares memory with its former base.
        self._value = _under_duals(lambda v: graph_value(v, node), full)
        self._view = None
        return self

    @property
    def grad(self) -> Any:
        """The gradient that backward has collected for this leaf."""
        if self._grad is None and not self._retains and self.grad_fn is not None:
            warnings.warn(
                "the .grad of a Tensor that is not a leaf is read: backward() does not fill it, "
                "unless retain_grad() is called on the Tensor before",
                UserWarning,
                stacklevel=2,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            if not isinstance(value, State):
                raise ArgumentError(f"grad must be a Tensor or None, not {type(value).__name__}")
            if value._value.shape != self._value.shape:
                raise ShapeError(
                    f"a gradient of shape {value._value.shape} was assigned to a tensor of shape "
                    f"{self._value.shape}"
                )
            if value._value.dtype != self._value.dtype:
                raise ShapeError(
                    f"a gradient of dtype {value._value.dtype} was assigned to a tensor of dtype "
                    f"{self._value.dtype}"
                )
        self._grad = value

    def _accumulate(self, gradient: Any) -> None:
        """Add to .grad: in place, unless the gradient itself is recorded."""
        with _ADDING:
            if self._grad is None:
                plain = isinstance(gradient, np.ndarray | np.generic)
                self._grad = wrap(np.array(gradient, self._value.dtype) if plain else gradient)
            elif is_grad_enabled():
                self._grad = wrap(unwrap(self._grad) + gradient)
            else:
                self._grad._write(unwrap(self._grad) + gradient)
        for hook in getattr(self, "_after", ()):
            hook(self)

    @property
    def grad_fn(self) -> Node | None:
        """The recorded operation that made this tensor; None for a leaf."""
        node = self._node()
        return None if node is None or node.leaf is not None else node.whole or node

    @property
    def output_nr(self) -> int:
        """Which output of its grad_fn this tensor is; 0 for a leaf."""
        node = self._node()
        return 0 if node is None else node.output_nr

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was made by the user rather than by a recorded operation."""
        full = self._full()
        while isinstance(full, TracedArray):
            if type(full) is Recorded:
                return full.level.is_open and isinstance(full.level.tape[full.tangent], Spec)
            full = full.primal
        return self.grad_fn is None

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to .grad of the leaves it depends on.

        >>> import dualad
        >>> x = dualad.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        from ..autograd.backward import backward

        backward(self, gradient, retain_graph, create_graph, inputs)

    # --- hooks -------------------------------------------------------------------------------

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in .grad too, though it is not a leaf."""
        node = self._node()
        if node is None:
            raise LevelError("can't retain_grad on Tensor that has requires_grad=False")
        if node.leaf is None:
            self._retains = True
            node.retained = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether this tensor is no leaf and keeps its gradient in .grad."""
        return self._retains

    def _retain(self, node: Node, gradient: Any) -> None:
        """Add to .grad of a tensor that retains it; node: of the value whose gradient it is."""
        if node is not self._node():
            return  # A view that nobody has read since its base was written to.
        with _ADDING:
            if self._grad is not None:
                gradient = unwrap(self._grad) + gradient
            plain = isinstance(gradient, np.ndarray)
            self._grad = wrap(np.array(gradient) if plain else gradient)

    def _move_retained(self, before: Node | None) -> None:
        """After the history changed: the gradient that is kept is that of the present value."""
        if self._retains:
            if before is not None:
                before.retained = None
            node = self._node()
            if node is not None:
                node.retained = weakref.ref(self)

    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call hook with the gradient of this tensor; what it returns replaces that."""
        node = self._node()
        if node is None:
            raise LevelError("cannot register a hook on a tensor that doesn't require gradient")

        def call(ct: Any) -> Any:
            given = wrap(borrowed(ct))
            shown = given._value
            out = hook(given)
            if out is None:
                # It may have written to what it was given.
                return ct if given._value is shown else unwrap(given)
            return checked(hook, out, ct)

        return RemovableHandle(node.hooked(), "of_value", call)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call hook with this leaf each time backward has added to its .grad."""
        if not self.requires_grad or not self.is_leaf:
            raise LevelError(
                "post accumulate grad hooks can be registered on leaf tensors that require grad "
                "only: on others use register_hook"
            )
        if not hasattr(self, "_after"):
            self._after: list[Callable[[Any], Any]] = []
        # Each time another object: the same hook may be registered twice.
        return RemovableHandle(self, "_after", partial(hook))

    # --- leaving the history -------------------------------------------------------------------

    def detach(self) -> Any:
        """The same values, sharing memory, without any derivative."""
        full = self._full()
        out = wrap(stop_gradient(full))
        if is_functional(full):
            out._view = DetachedView(self, stop_gradient, lambda old, new: new)
        return out

    def detach_(self) -> Any:
        """Make this tensor one without any derivative."""
        if self._view is not None and is_recorded(self._full()):
            raise LevelError("a view cannot be detached in place: use detach()")
        if is_functional(self._full()):
            raise LevelError("detach_() inside a transformation: use detach()")
        self._value = raw(self._full())
        self._clock += 1
        return self

    @property
    def data(self) -> Any:
        """The same as detach(); what is assigned to it becomes the memory of this tensor."""
        return self.detach()

    @data.setter
    def data(self, new: Any) -> None:
        node = self._node()
        value = raw(unwrap(new))
        self._value, self._view = value if node is None else graph_value(value, node), None
        self._clock += 1


def _under_duals(f: Callable[[Any], Any], value: Any) -> Any:
    """f of the value under all dual levels."""
    value = general(value)
    if type(value) is Dual:
        return make_dual(value.level, _under_duals(f, value.primal), value.tangent)
    return f(value)
