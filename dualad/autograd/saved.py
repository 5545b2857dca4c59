"""Saved tensors: what each of them is, at which version it was saved, and for whom it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..engine.arrays.storage import version
from ..engine.kinds.dual import Dual
from ..engine.requires_grad.graph import SAVING, Node
from ..tensor import Tensor
from .frozen import made_since

__all__ = ["Scene", "Slot", "saved_name", "slot_of"]


class Scene(NamedTuple):
    """For whom the saved tensors are read: a rule ("forward" or "backward") at one level."""

    rule: str
    #: tensors; None where nothing reads them
    inputs: Sequence[Tensor | None]
    #: engine values
    outputs: list[Any]
    #: of the requires_grad graph: the nodes of the inputs, and that of the call
    sources: tuple[Node, ...] = ()
    node: Callable[[], Node | None] = lambda: None


class Slot(NamedTuple):
    """One saved tensor: input or output number `at`, one that forward made, or another one."""

    role: str
    at: int
    name: str
    tensor: Tensor | None
    version: int
    #: (unpack, what the pack hook made of it)
    packed: tuple[Callable, Any] | None = None


def saved_name(rule: str, k: int) -> str:
    """What errors call a saved tensor."""
    return f"saved tensor {k} (of save_for_{rule})"


def slot_of(
    t: Tensor | None, known: list[tuple[str, int, Tensor]], began: float, name: str, pack: bool
) -> Slot:
    """What a saved tensor is among the known ones; pack: hooks may pack it."""
    if t is None:
        return Slot("none", 0, name, None, 0)
    other = "made" if made_since(t, began) else "other"
    role, at = next(((r, k) for r, k, u in known if u is t), (other, 0))
    hooks = SAVING.get()
    packed = None
    if pack and hooks is not None:
        packed = (hooks[1], hooks[0](_without_duals(t._full())))
    # An output is kept by its value alone, so that the graph holds no cycle.
    kept = t if role in ("made", "other") and packed is None else None
    return Slot(role, at, name, kept, version(t._value), packed)


def _without_duals(value: Any) -> Any:
    return _without_duals(value.primal) if type(value) is Dual else value
