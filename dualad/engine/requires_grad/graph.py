"""The lowest level, always open: values that require grad, and the graph of what made them.

An entry is the same tuple as on a tape, but its parents are nodes, linked by reference and
ordered by serial number. What a rule reads is kept as graph values: a plain sweep reads the plain
values under them, a sweep under create_graph the values themselves, so that it is recorded.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...errors import LevelError
from ..arrays.storage import owner, version_of
from ..kinds.batched_dual import general
from ..kinds.dual import Dual, make_dual
from ..kinds.recorded import entry_for
from ..levels.buffer import buffer, settled
from ..levels.level import Level
from ..levels.spec import Spec
from ..levels.traced import TracedArray, raw
from ..programs.entries import pull_part
from ..programs.kept import kept

__all__ = [
    "GRAPH",
    "SAVING",
    "GraphValue",
    "Hooks",
    "Node",
    "attach",
    "check_versions",
    "graph_value",
    "part",
    "readable",
    "rebased",
]

GRAPH = Level("requires_grad")
GRAPH.rank = 0.5  # type: ignore[assignment]

#: The pair (pack, unpack) of functions of values that saved_tensors_hooks has set, if any.
SAVING: ContextVar[tuple[Callable, Callable] | None] = ContextVar("dualad_saving", default=None)

_serial = itertools.count(1)

#: what users have noted of nodes
_METADATA: WeakKeyDictionary[Node, dict[Any, Any]] = WeakKeyDictionary()


class Hooks:
    """What a user has asked to be called when a sweep comes to a node."""

    __slots__ = ("after", "before", "of_value")

    def __init__(self) -> None:
        #: functions of the cotangent of the value, each of which gives the one to go on with
        self.of_value: list[Callable[[Any], Any]] = []
        #: functions of the cotangents of all outputs, before the rule runs
        self.before: list[Callable[[list[Any]], list[Any]]] = []
        #: functions of what the rule gave for its inputs, and of those
        self.after: list[Callable[[list[Any], list[Any]], list[Any]]] = []


class Node:
    """A recorded operation of the graph, one output of it, or a leaf that collects a gradient."""

    __slots__ = (
        "__weakref__", "context", "entry", "freed", "hooks", "label", "leaf", "parents", "reads",
        "retained", "serial", "whole",
    )  # fmt: skip

    def __init__(self, label: str, entry: tuple | None, reads: tuple = ()):
        self.label, self.entry, self.reads = label, entry, reads
        self.serial = next(_serial)
        self.freed = False
        #: the tensor whose .grad this node adds to; the one that keeps its gradient beside that
        self.leaf: Callable[[], Any] | None = None
        self.retained: Callable[[], Any] | None = None
        self.hooks: Hooks | None = None
        #: of one output of an operation, the node of that operation
        self.whole: Node | None = entry[1] if entry is not None and entry[0] is pull_part else None
        #: the nodes that this one passes its cotangent to
        self.parents: tuple[Node, ...] = ()
        if self.whole is not None:
            self.parents = (self.whole,)
        elif entry is not None:
            self.parents = tuple([i for i in entry[1] if i is not None])
        #: the context of a custom function
        self.context: Any = None

    def hooked(self) -> Hooks:
        """The hooks of this node, to which more may be added."""
        if self.hooks is None:
            self.hooks = Hooks()
        return self.hooks

    def holds_arrays(self) -> bool:
        """Whether the rule of this node reads arrays."""
        if self.entry is None or self.whole is not None or self.entry[3] is None:
            return False
        out = self.entry[5]
        reads = (*self.entry[3], *(out if isinstance(out, tuple) else (out,)))
        return any(isinstance(x, (TracedArray, np.ndarray, _Packed)) for x in reads)

    def free(self) -> None:
        """Forget what the rule reads; it cannot run any more."""
        self.entry, self.freed, self.reads = None, True, ()

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """(node, which of its outputs) of each argument, as in PyTorch; (None, 0) of a constant.

        Once the node is freed, constants are left out.
        """
        whole = self.whole or self
        places = whole.parents if whole.entry is None else whole.entry[1]
        return tuple((None, 0) if p is None else (p.whole or p, p.output_nr) for p in places)

    @property
    def output_nr(self) -> int:
        """Which output of its operation this is."""
        return 0 if self.whole is None or self.entry is None else self.entry[2]

    @property
    def variable(self) -> Any:
        """The leaf whose .grad this node adds to."""
        if self.leaf is None:
            raise AttributeError(f"{self!r} is not the node of a leaf")
        return self.leaf()

    @property
    def metadata(self) -> dict[Any, Any]:
        """What a user notes of this node."""
        return _METADATA.setdefault(self, {})

    def name(self) -> str:
        """What the operation is called."""
        return self.label

    def __getattr__(self, attribute: str) -> Any:
        """Of a custom function the attributes of its ctx, as in PyTorch."""
        if attribute.startswith("_") or self.context is None:
            raise AttributeError(f"{self!r} has no attribute {attribute!r}")
        return getattr(self.context, attribute)

    def __repr__(self) -> str:
        return f"<{self.label}>"


class GraphValue(TracedArray):
    """A plain value with the node that made it."""

    __slots__ = ()
    kind = "graph"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        primals: list[Any] = []
        parents: list[Node | None] = []
        for a in args:
            mine = type(a) is GraphValue
            primals.append(a.primal if mine else settled(a))
            parents.append(a.tangent if mine else None)
        # Nothing is below the graph: these are plain values.
        out = primitive.impl(*primals, **params)
        # A tensor owns memory, also a 0-d one.
        out = np.asarray(out) if isinstance(out, np.generic) else out
        entry = entry_for(primitive, args, tuple(parents), out, params)
        if entry is not None and primitive.name in COMPUTED_AGAIN and type(entry[5]) is np.ndarray:
            reads = [a if type(a) is GraphValue else kept(a) for a in args]
            entry = (*entry[:3], tuple(reads), entry[4], AGAIN, *entry[6:])
        return attach(primitive.name, entry, out, args)


#: Operations of which the arguments are kept and not the result, which their rule reads too: it
#: may be written to, as in PyTorch.
COMPUTED_AGAIN = frozenset({"divide", "fmod", "remainder", "sinc", "var"})
#: Stands for such a result.
AGAIN = object()


def graph_value(primal: Any, node: Node) -> GraphValue:
    """A plain value with its node."""
    g = object.__new__(GraphValue)
    g.level, g.primal, g.tangent = GRAPH, primal, node
    return g


def rebased(value: Any, memory: Any) -> Any:
    """The same value and derivatives, with its plain values in the given memory."""
    if type(value) is GraphValue:
        return graph_value(memory, value.tangent)
    value = general(value)
    if type(value) is Dual:
        return make_dual(value.level, rebased(value.primal, memory), value.tangent)
    return memory


def attach(name: str, entry: tuple | None, out: Any, args: tuple = ()) -> Any:
    """The output of an operation with its node; of several outputs each gets one of its own."""
    if entry is None:
        return tuple(map(buffer, out)) if isinstance(out, tuple) else buffer(out)
    hooks = SAVING.get()
    if hooks is not None and args:
        node = Node(name, _packed(entry, *hooks))
    else:
        node = Node(name, entry, tuple(_reads(entry, args)) if args else ())
    if not isinstance(out, tuple):
        return graph_value(out, node)
    return tuple(
        part(o, node, j, len(out)) if np.dtype(o.dtype).kind in "fc" else o
        for j, o in enumerate(out)
    )


def part(value: Any, node: Node, j: int, n: int) -> GraphValue:
    """Output j of the n outputs of a node."""
    return graph_value(value, Node(node.label, (pull_part, node, j, n)))


# --- what an entry reads -------------------------------------------------------------------------


def _reads(entry: tuple, args: tuple) -> Iterator[tuple]:
    """(argument or None for the result, memory, version) of each array that its rule reads."""
    for k, (a, read) in enumerate(zip(args, entry[3], strict=True)):
        if type(read) is not Spec:
            a = a.primal if type(a) is GraphValue else a
            if type(a) is np.ndarray:
                memory = a if a.base is None else owner(a)
                yield k, memory, version_of(memory)
    for out in entry[5] if isinstance(entry[5], tuple) else (entry[5],):
        if type(out) is np.ndarray:
            memory = out if out.base is None else owner(out)
            yield None, memory, version_of(memory)


def check_versions(node: Node) -> None:
    """Refuse to read an array that was written in place after it was saved."""
    for k, memory, saved in node.reads:
        now = version_of(memory)
        if now != saved:
            what = "its result" if k is None else f"argument {k}"
            raise LevelError(
                f"one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: {what} of {node.label}, of shape {memory.shape}, is at "
                f"version {now}, but its derivative needs version {saved}. Use the out-of-place "
                f"operation, or clone() the tensor before the in-place one."
            )


class _Packed:
    """What a pack hook made of a value, how to get that back, and its node."""

    __slots__ = ("kept", "node", "unpack")

    def __init__(self, unpack: Callable[[Any], Any], kept: Any, node: Node | None):
        self.unpack, self.kept, self.node = unpack, kept, node


def _packed(entry: tuple, pack: Callable, unpack: Callable) -> tuple:
    def kept(x: Any) -> Any:
        if type(x) is GraphValue:
            return _Packed(unpack, pack(x), x.tangent)
        return _Packed(unpack, pack(x), None) if type(x) is np.ndarray else x

    args = tuple(map(kept, entry[3]))
    out = tuple(map(kept, entry[5])) if isinstance(entry[5], tuple) else kept(entry[5])
    return (*entry[:3], args, entry[4], out, *entry[6:])


def readable(node: Node, create_graph: bool) -> tuple:
    """The entry of a node with what a sweep reads: plain values, or those of the graph."""
    entry = node.entry
    assert entry is not None
    if entry[0] is pull_part or entry[3] is None:
        return entry
    args = tuple([_read(a, create_graph) for a in entry[3]])
    out = entry[5]
    if out is AGAIN:
        out = np.asarray(entry[2].impl(*map(raw, args), **entry[4]))
    if isinstance(out, tuple):
        outs = enumerate(map(_unpacked, out))
        out = tuple(_output(o, node, create_graph, (j, len(out))) for j, o in outs)
    else:
        out = _output(_unpacked(out), node, create_graph, None)
    return (*entry[:3], args, entry[4], out, *entry[6:])


def _unpacked(x: Any) -> Any:
    if type(x) is not _Packed:
        return x
    value = raw(x.unpack(x.kept))
    return value if x.node is None else graph_value(value, x.node)


def _read(x: Any, create_graph: bool) -> Any:
    x = _unpacked(x)
    return x.primal if type(x) is GraphValue and not create_graph else x


def _output(x: Any, node: Node, create_graph: bool, place: tuple[int, int] | None) -> Any:
    """A saved output; in a recorded sweep a value of the graph again."""
    if not create_graph or type(x) is not np.ndarray:
        return x
    return graph_value(x, node) if place is None else part(x, node, *place)
