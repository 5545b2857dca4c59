"""The sweep back over the graph: cotangents of nodes from those of some outputs.

Only nodes from which a wanted one can be reached take part, in the order of serial numbers, found
without recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any, ClassVar

from ...errors import LevelError
from ..arrays.guard import has_nan, quiet
from ..levels.level import WATCH
from ..programs.entries import pull_custom, pull_part
from .graph import Node, check_versions, readable

__all__ = ["SWEEP", "Sweep", "free", "sweep_graph"]

#: The sweep that calls hooks now.
SWEEP: ContextVar[Sweep | None] = ContextVar("dualad_sweep", default=None)


def sweep_graph(
    seeds: list[tuple[Node, Any]],
    create_graph: bool = False,
    retain_graph: bool = False,
    wanted: Iterable[Node] | None = None,
    swept: set[Node] | None = None,
) -> dict[Node, Any]:
    """Cotangents of the nodes in `wanted`, or else of all leaves that the seeds depend on.

    Nodes whose rules have run are added to `swept`; without it they are freed, unless the graph is
    retained.
    """
    sweep = Sweep.kind(seeds, create_graph, None if wanted is None else set(wanted))
    watch = WATCH.get()
    if watch is None:
        sweep.guarded_run()
    else:
        from .blame import blame_graph

        watch.swept(sweep.guarded_run, lambda: blame_graph(watch, sweep))
    for tensor, node, ct in sweep.retained:
        tensor._retain(node, ct)
    if swept is not None:
        swept |= sweep.running
    elif not retain_graph:
        free(sweep.running)
    return sweep.found


def free(nodes: Iterable[Node]) -> None:
    """Forget what the rules of these nodes would read; those that read no array stay."""
    for node in nodes:
        if node.entry is not None and node.entry[0] is pull_custom:
            node.entry[2].release()
        elif node.holds_arrays():
            node.free()


class Sweep:
    """One sweep: the nodes it visits, and the cotangents it has found."""

    #: the class of all sweeps that begin now
    kind: ClassVar[type[Sweep]]
    #: whether zero wins in its products from the start
    is_guarded = False

    def __init__(self, seeds: list, create_graph: bool, wanted: set[Node] | None):
        self.seeds, self.create_graph, self.wanted = seeds, create_graph, wanted
        order = _reachable(node for node, _ in seeds)
        self.running = set(order) if wanted is None else _above(wanted, order)
        self.visited = self.running if wanted is None else self.running | wanted
        self.order = [n for n in order if n in self.visited]
        if any(node.freed for node in self.running):
            raise LevelError(
                "backward through the graph a second time: what its rules read has been freed. "
                "Pass retain_graph=True to the first backward or grad."
            )

    def guarded_run(self) -> dict[Node, Any]:
        """Visit the nodes; where a NaN comes out, again with products in which zero wins.

        Hooks are called once in a sweep: with hooks, zero wins from the start.
        """
        hooked = self.is_guarded or any(node.hooks is not None for node in self.order)
        with quiet():
            if hooked:
                self._run_with_hooks()
                return self.found
            self.run(guarded=False)
            if any(has_nan(c) for c in self.found.values()):
                self.run(guarded=True)
        return self.found

    def _run_with_hooks(self) -> None:
        #: of hooks that wait for several gradients, what is to be done when the sweep ends
        self.waiting: dict[Any, Callable[[], None]] = {}
        token = SWEEP.set(self)
        try:
            self.run(guarded=True)
            for finish in list(self.waiting.values()):
                finish()
        finally:
            SWEEP.reset(token)

    def cotangents(self) -> Any:
        """A dictionary for the cotangents of nodes."""
        return _Cotangents()

    def run(self, guarded: bool) -> None:
        """Visit the nodes, latest first; guarded: zero wins over infinity in products."""
        self.found: dict[Node, Any] = {}
        #: (tensor, node, gradient) for the tensors that keep theirs
        self.retained: list[tuple[Any, Node, Any]] = []
        g = self.cotangents()
        own: set = _Nothing() if self.create_graph else set()
        for node, ct in self.seeds:
            g[node] = ct if g[node] is None else g[node] + ct
        for node in self.order:
            ct = g.pop(node, None)
            if ct is not None:
                ct = self._arrived(node, ct)
            # A custom function hears of an undefined cotangent too.
            if node.entry is not None and (ct is not None or node.entry[0] is pull_custom):
                self._pull(node, ct, g, own, guarded)

    def _arrived(self, node: Node, ct: Any) -> Any:
        if node.hooks is not None:
            for hook in node.hooks.of_value:
                ct = hook(ct)
        tensor = None if node.retained is None else node.retained()
        if tensor is not None:
            self.retained.append((tensor, node, ct))
        if node.entry is None if self.wanted is None else node in self.wanted:
            # Of an operation with several outputs they are a list, which its rule may fill up.
            self.found[node] = list(ct) if type(ct) is list else ct
        return ct

    def _pull(self, node: Node, ct: Any, g: Any, own: set, guarded: bool) -> None:
        if node not in self.running:
            return
        check_versions(node)
        entry = readable(node, self.create_graph)
        if entry[0] is not pull_part:
            parents = tuple([p if p in self.visited else None for p in entry[1]])
            entry = (entry[0], parents, *entry[2:])
        ct = [None] * len(entry[5]) if ct is None else ct
        if node.hooks is not None and (node.hooks.before or node.hooks.after):
            self._pull_between(node, ct, entry, g, guarded)
        else:
            self.pull(node, ct, entry, g, own, guarded)

    def _pull_between(self, node: Node, ct: Any, entry: tuple, g: Any, guarded: bool) -> None:
        """Run the pull rule of a node between the hooks that are called before and after it."""
        assert node.hooks is not None
        given = ct if isinstance(ct, list) else [ct]
        for before in node.hooks.before:
            given = before(given)
        ct = given if isinstance(ct, list) else given[0]
        found = [None] * len(entry[1]) if ct is None else self.shares(node, ct, entry, guarded)
        for after in node.hooks.after:
            found = after(found, given)
        for parent, share in zip(entry[1], found, strict=True):
            if parent is not None and share is not None:
                g[parent] = share if g[parent] is None else g[parent] + share

    def shares(self, node: Node, ct: Any, entry: tuple, guarded: bool) -> list[Any]:
        """What the pull rule of a node gives to each argument, though several may be one node."""
        places = tuple([None if p is None else object() for p in entry[1]])
        apart: Any = _Cotangents()
        Sweep.pull(self, node, ct, (entry[0], places, *entry[2:]), apart, set(), guarded)
        return [None if p is None else apart[p] for p in places]

    def pull(self, node: Node, ct: Any, entry: tuple, g: Any, own: set, guarded: bool) -> None:
        """Run the pull rule of a node."""
        pull = getattr(entry[0], "guarded", entry[0]) if guarded else entry[0]
        pull(ct, entry, g, own)


Sweep.kind = Sweep


def _reachable(roots: Iterable[Node]) -> list[Node]:
    """All nodes under the roots, latest first."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.parents)
    return sorted(seen, key=lambda n: -n.serial)


def _above(wanted: set[Node], order: list[Node]) -> set[Node]:
    """The nodes from which a wanted one can be reached."""
    above: set[Node] = set()
    for node in reversed(order):
        if any(p in above or p in wanted for p in node.parents):
            above.add(node)
    return above


class _Cotangents(dict):
    def __missing__(self, node: Node) -> None:
        return None


class _Nothing(set):
    """No cotangent is owned: under create_graph nothing is added to in place."""

    def __contains__(self, x: object) -> bool:
        return False

    def add(self, x: Any) -> None:
        pass
