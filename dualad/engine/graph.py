"""The lowest level, always open: values that require grad, and the sweep over their graph.

An entry is the same tuple as on a tape, but its parents are nodes, linked by reference and
ordered by serial number. What a rule reads is kept as graph values: a plain sweep reads the plain
values under them, a sweep under create_graph the values themselves, so that it is recorded.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import LevelError
from .dual import Dual, make_dual
from .guard import has_nan, quiet
from .level import Level
from .recorded import entry_for
from .storage import owner, version
from .tape import pull_custom, pull_part
from .traced import Spec, TracedArray, buffer, settled

__all__ = [
    "GRAPH",
    "GraphValue",
    "Node",
    "free",
    "graph_value",
    "part",
    "reachable",
    "rebased",
    "sweep_graph",
    "without_graph",
]

GRAPH = Level("requires_grad")
GRAPH.rank = 0.5  # type: ignore[assignment]

_serial = itertools.count(1)


class Node:
    """One recorded operation of the graph, or a leaf that collects a gradient."""

    __slots__ = ("__weakref__", "entry", "freed", "hooks", "leaf", "name", "reads", "serial")

    def __init__(self, name: str, entry: tuple | None, reads: tuple = ()):
        self.name, self.entry, self.reads = name, entry, reads
        self.serial = next(_serial)
        self.freed = False
        self.leaf: Callable[[], Any] | None = None
        self.hooks: list[Callable[..., Any]] | None = None

    @property
    def parents(self) -> tuple:
        if self.entry is None:
            return ()
        if self.entry[0] is pull_part:
            return (self.entry[1],)
        return tuple(i for i in self.entry[1] if i is not None)

    @property
    def next_functions(self) -> tuple[tuple[Node, int], ...]:
        """The nodes that this one passes its gradient to, as in PyTorch."""
        return tuple((p, 0) for p in self.parents)

    def __repr__(self) -> str:
        return f"<{self.name}>"


class GraphValue(TracedArray):
    """A plain value with the node that made it."""

    __slots__ = ()
    kind = "graph"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        mine = [type(a) is GraphValue for a in args]
        primals = tuple([a.primal if m else settled(a) for a, m in zip(args, mine, strict=True)])
        out = primitive(*primals, **params)
        # A tensor owns memory, also a 0-d one.
        out = np.asarray(out) if isinstance(out, np.generic) else out
        parents = tuple([a.tangent if m else None for a, m in zip(args, mine, strict=True)])
        entry = entry_for(primitive, args, parents, out, params)
        return attach(primitive.name, entry, out, args)


def attach(name: str, entry: tuple | None, out: Any, args: tuple = ()) -> Any:
    """The output of an operation with its node; of several outputs each gets one of its own."""
    if entry is None:
        return tuple(map(buffer, out)) if isinstance(out, tuple) else buffer(out)
    node = Node(name, entry, reads_of(entry, args))
    if not isinstance(out, tuple):
        return graph_value(out, node)
    return tuple(
        part(o, node, j, len(out)) if np.dtype(o.dtype).kind in "fc" else o
        for j, o in enumerate(out)
    )


def part(value: Any, node: Node, j: int, n: int) -> GraphValue:
    """Output j of the n outputs of a node."""
    return graph_value(value, Node(node.name, (pull_part, node, j, n)))


def reads_of(entry: tuple, args: tuple) -> tuple:
    """(what, memory, version) of each array that the rule of an entry will read."""
    reads = []
    if args:
        pairs = [
            (f"argument {k}", a) for k, a in enumerate(args) if not isinstance(entry[3][k], Spec)
        ]
        outs = entry[5] if isinstance(entry[5], tuple) else (entry[5],)
        pairs += [("its result", o) for o in outs if not isinstance(o, Spec)]
        for what, a in pairs:
            a = a.primal if type(a) is GraphValue else a
            if type(a) is np.ndarray:
                reads.append((what, owner(a), version(a)))
    return tuple(reads)


def check_versions(node: Node) -> None:
    """Refuse to read an array that was written in place after it was saved."""
    for what, memory, saved in node.reads:
        now = version(memory)
        if now != saved:
            raise LevelError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation: {what} of {node.name}, of shape {memory.shape}, is at "
                f"version {now}, but its derivative needs version {saved}. Use the out-of-place "
                "operation, or clone() the tensor before the in-place one."
            )


def graph_value(primal: Any, node: Node) -> GraphValue:
    """A value of the lowest level, made by a node."""
    g = object.__new__(GraphValue)
    g.level, g.primal, g.tangent = GRAPH, primal, node
    return g


def without_graph(value: Any) -> Any:
    """A value as no_grad sees it: without its recorded history."""
    if type(value) is GraphValue:
        return value.primal
    if type(value) is Dual:
        return make_dual(value.level, without_graph(value.primal), without_graph(value.tangent))
    return value


def rebased(value: Any, memory: np.ndarray) -> Any:
    """The same value and derivatives, with its plain values in the given memory."""
    if type(value) is GraphValue:
        return graph_value(memory, value.tangent)
    if type(value) is Dual:
        return make_dual(value.level, rebased(value.primal, memory), value.tangent)
    return memory


class _Cotangents(dict):
    def __missing__(self, node: Node) -> None:
        return None


def sweep_graph(
    seeds: list[tuple[Node, Any]],
    create_graph: bool = False,
    retain_graph: bool = False,
    wanted: Iterable[Node] | None = None,
) -> dict[Node, Any]:
    """Cotangents of the leaves that the seeds depend on, and of the nodes in `wanted`."""
    order = reachable(node for node, _ in seeds)
    keep = set(wanted or ())
    for node in order:
        if node.freed:
            raise LevelError(
                "backward through the graph a second time: what its rules read has been freed. "
                "Pass retain_graph=True to the first backward or grad."
            )
    out = _sweep(order, seeds, create_graph, keep, False)
    if any(has_nan(c) for c in out.values()):
        with quiet():
            out = _sweep(order, seeds, create_graph, keep, True)
    if not retain_graph:
        free(order)
    return out


def free(nodes: Iterable[Node]) -> None:
    """Forget what the rules of these nodes would read."""
    for node in nodes:
        if node.entry is not None:
            release = getattr(node.entry[2], "release", None)
            if release is not None:
                release()
            node.entry, node.freed = None, True


def reachable(roots: Iterable[Node]) -> list[Node]:
    """All nodes under the roots, latest first, found without recursion."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.parents)
    return sorted(seen, key=lambda n: -n.serial)


def _sweep(order: list[Node], seeds: list, create_graph: bool, keep: set, guarded: bool) -> dict:
    g = _Cotangents()
    for node, ct in seeds:
        g[node] = ct if g[node] is None else g[node] + ct
    found = {}
    reached = {node for node, _ in seeds}
    for node in order:
        ct = g.pop(node, None)
        if ct is not None:
            for hook in node.hooks or ():
                ct = hook(ct)
            if node in keep or node.entry is None:
                found[node] = ct
        elif node not in reached:
            continue
        if node.entry is None:
            continue
        reached.update(node.parents)
        if ct is None and node.entry[0] is not pull_custom:
            continue
        check_versions(node)
        entry = with_output(node.entry, node) if create_graph else plain(node.entry)
        pull = entry[0]
        pull = getattr(pull, "guarded", pull) if guarded else pull
        # A custom function hears of an undefined cotangent too.
        ct = [None] * len(entry[5]) if ct is None else ct
        pull(ct, entry, g, _NEVER if create_graph else set())
    return found


class _Never(set):
    """No cotangent is owned: under create_graph nothing is added to in place."""

    def __contains__(self, x: object) -> bool:
        return False

    def add(self, x: Any) -> None:
        pass


_NEVER = _Never()


def plain(entry: tuple) -> tuple:
    """The entry with the plain values under its graph values."""
    if entry[0] is pull_part or entry[3] is None:
        return entry
    args = tuple([a.primal if type(a) is GraphValue else a for a in entry[3]])
    return (*entry[:3], args, *entry[4:])


def with_output(entry: tuple, node: Node) -> tuple:
    """The entry with its saved output as a value of the graph again."""
    if entry[0] is pull_part or len(entry) < 6:
        return entry
    out = entry[5]
    if isinstance(out, tuple):
        out = tuple(
            o if isinstance(o, Spec) else part(o, node, j, len(out)) for j, o in enumerate(out)
        )
    elif out is not None and not isinstance(out, Spec):
        out = graph_value(out, node)
    return (*entry[:5], out, *entry[6:])
