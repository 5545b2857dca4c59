"""What forward made and kept beside inputs and outputs: a number, whose derivative is unknown.

The first derivative may use it. To differentiate through it is an error, unless forward, run again
on duals, shows that it does not depend on the ones asked for: a mask, a table, a draw.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine.arrays.storage import version, written_at
from ..engine.kinds.dual import make_dual
from ..engine.levels.level import Level
from ..engine.levels.traced import TracedArray, raw
from ..engine.requires_grad.grad_mode import graph_recording, hidden_duals
from ..engine.requires_grad.graph import Node, graph_value
from ..engine.requires_grad.visible import levels_of
from ..tensor import Tensor, unwrap, wrap
from .errors import FunctionError

if TYPE_CHECKING:
    from .call import Call
    from .context import FunctionCtx

__all__ = ["Frozen", "made_since", "poisoned", "tensors_in"]


#: What long containers mostly hold, in which no tensor is looked for.
PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None)})


def poisoned(
    value: Any,
    why: str,
    sources: tuple[Node, ...],
    harmless: Callable[[tuple], bool] = lambda parents: False,
) -> Any:
    """A value through which no derivative with respect to the sources may be taken.

    harmless(parents) may find that it does not depend on those that are asked for.
    """
    if not sources:
        return value

    def pull(ct: Any, entry: tuple, g: Any, own: set) -> None:
        if not harmless(entry[1]):
            raise FunctionError(why)

    return graph_value(value, Node("error", (pull, sources, None, None, None, None, None)))


def made_since(tensor: Tensor, began: float) -> bool:
    """Whether a tensor was made, or its memory written to, after a time."""
    return tensor._born > began or written_at(tensor._value) > began


def tensors_in(x: Any, name: str, seen: set[int]) -> Iterator[tuple[str, Tensor]]:
    """All tensors in containers, records and closures, each with the expression that names it."""
    if isinstance(x, Tensor):
        yield name, x
        return
    parts = _parts(x)
    if parts is None or id(x) in seen:
        return
    seen.add(id(x))
    for step, part in parts:
        yield from tensors_in(part, name + step, seen)


def _parts(x: Any) -> list[tuple[str, Any]] | None:
    if isinstance(x, (list, tuple, set, frozenset)):
        if PLAIN.issuperset(map(type, x)):
            return None
        return [(f"[{k}]", v) for k, v in enumerate(x) if type(v) not in PLAIN]
    if isinstance(x, dict):
        return [(f"[{k!r}]", v) for k, v in x.items() if type(v) not in PLAIN]
    if isinstance(x, types.SimpleNamespace) or (
        dataclasses.is_dataclass(x) and not isinstance(x, type)
    ):
        return [(f".{k}", v) for k, v in vars(x).items()] if hasattr(x, "__dict__") else None
    if isinstance(x, functools.partial):
        return [(" (of partial)", (x.func, x.args, x.keywords))]
    if isinstance(x, types.FunctionType) and x.__closure__:
        names = x.__code__.co_freevars
        return [
            (f" ({n})", c.cell_contents)
            for n, c in zip(names, x.__closure__, strict=True)
            if _is_filled(c)
        ]
    return None


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


class Frozen:
    """What one call of forward made and kept, in the requires_grad graph."""

    def __init__(self, again: Again, attributes: dict[str, Tensor], inputs: list[Tensor]):
        #: which inputs are in the graph
        nodes = [(k, t._node()) for k, t in enumerate(inputs)]
        self.at = [k for k, node in nodes if node is not None]
        self.sources = tuple([node for _, node in nodes if node is not None])
        self.attributes = attributes
        self._again = again
        self._running = 0
        self._restore: list[tuple[Tensor, Any]] = []

    @classmethod
    def of(cls, call: Call, ctx: FunctionCtx, inputs: list[Tensor], saved: bool) -> Frozen | None:
        """What ctx keeps of a call; saved: whether what it saved belongs to that."""
        known = [*inputs, *call.outputs.tensors]
        attributes = {
            name: t
            for name, t in ctx.attributes()
            if not any(t is k for k in known) and made_since(t, call.outputs.began)
        }
        if not attributes and not saved:
            return None
        return cls(Again(call, ctx, inputs), attributes, inputs)

    def forget(self) -> None:
        """Drop what forward could be run again on."""
        self._again.forget()

    def poison(self, value: Any, name: str) -> Any:
        """The value of what is called `name` as a derivative of second order may read it."""
        if isinstance(value, TracedArray) or np.dtype(value.dtype).kind not in "fc":
            return value
        return poisoned(value, WHY.format(name), self.sources, functools.partial(self._off, name))

    def _off(self, name: str, parents: tuple) -> bool:
        asked = [k for k, p in zip(self.at, parents, strict=True) if p is not None]
        return not any(self._again.depends(name, k) for k in asked)

    # --- while a rule runs that is itself recorded -------------------------------------------

    def __enter__(self) -> None:
        self._running += 1
        if self._running == 1:
            for name, t in self.attributes.items():
                before = t._full()
                t._value = self.poison(before, name)
                self._restore.append((t, before))

    def __exit__(self, *exc: object) -> None:
        self._running -= 1
        if self._running == 0:
            for t, before in self._restore:
                t._value = before
            self._restore = []


WHY = (
    "{} is a tensor computed in forward that is not an input or output of the function, so the "
    "second derivative through it is unknown: save the inputs and compute it in backward, or "
    "return it as an output as well"
)


class Again:
    """Forward once more, on duals: does what it keeps depend on an input?

    Duals rather than recorded values, because no_grad in forward does not hide them.
    """

    def __init__(self, call: Call, ctx: FunctionCtx, inputs: list[Tensor]):
        self.cls, self.kwargs, self.at = call.cls, call.kwargs, call.at
        self.args = [None if k in call.at else a for k, a in enumerate(call.args)]
        self.inputs: list[Any] = [raw(t._full()) for t in inputs]
        self.versions = [version(v) for v in self.inputs]
        self.split, self.is_tuple = call.cls.is_split(), call.outputs.is_tuple
        self.outputs: list[Any] = []
        if self.split:
            self.outputs = [raw(unwrap(o)) if isinstance(o, Tensor) else o for o in call.out]
        self.possible = self.split or not ctx.changes_inputs()
        self._found: dict[int, dict[str, bool]] = {}

    def forget(self) -> None:
        """Drop inputs and outputs; what was found stays."""
        self.possible, self.args, self.inputs, self.outputs = False, [], [], []

    def depends(self, name: str, k: int) -> bool:
        """Whether the tensor kept under a name depends on input k, as far as is known."""
        if k not in self._found:
            same = [version(v) for v in self.inputs] == self.versions
            try:
                self._found[k] = self._run(k) if self.possible and same else {}
            except Exception:  # whatever it is, it says that the dependence cannot be known
                self._found[k] = {}
        return self._found[k].get(name, True)

    def _run(self, moving: int) -> dict[str, bool]:
        from .context import FunctionCtx

        ctx = FunctionCtx(tuple(k in self.at for k in range(len(self.args))))
        with graph_recording(False), hidden_duals(0.0), Level("jvp") as level:
            args = list(self.args)
            for j, (k, v) in enumerate(zip(self.at, self.inputs, strict=True)):
                args[k] = _dual(level, v) if j == moving else wrap(np.array(v))
            if self.split:
                outs = [_dual(level, v) if isinstance(v, np.ndarray) else v for v in self.outputs]
                self.cls.setup_context(ctx, tuple(args), tuple(outs) if self.is_tuple else outs[0])
            else:
                self.cls.forward(ctx, *args, **self.kwargs)
            kept = [*ctx.attributes(), *ctx.to_save()]
            return {name: level in levels_of(unwrap(t)) for name, t in kept}


def _dual(level: Level, value: Any) -> Tensor:
    """A tensor with a tangent at a level, if it can have one."""
    floats = value.dtype.kind in "fc"
    return wrap(make_dual(level, np.array(value), np.ones_like(value)) if floats else value)
