"""Nested containers (dict, list, tuple, namedtuple, dataclass, None) taken apart and rebuilt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import StructureError
from .containers import fields_of, new_dataclass, new_mapping, new_sequence, set_since

__all__ = ["LEAF_TREE", "LEAF_TYPES", "Tree", "flatten", "flatten_like", "tree_map"]


class Tree:
    """The structure of a container without its leaves."""

    __slots__ = ("children", "keys", "node", "since", "size")

    size: int

    def __init__(
        self,
        node: Any,
        keys: tuple = (),
        children: tuple[Tree, ...] = (),
        since: dict[str, Any] | None = None,
    ):
        """since: the attributes of the container that were set after it was made."""
        self.node, self.keys, self.children, self.since = node, keys, children, since
        self.size = 1 if node is LEAF else sum([c.size for c in children])

    def unflatten(self, leaves: Any) -> Any:
        """The container with these leaves."""
        return leaves[0] if self.node is LEAF else self._build(iter(leaves))

    def _build(self, leaves: Any) -> Any:
        if self.node is LEAF:
            return next(leaves)
        if self.node is None:
            return None
        kind, example = self.node
        parts = [c._build(leaves) for c in self.children]
        if kind == "sequence":
            new = new_sequence(example, parts)
        elif kind == "mapping":
            new = new_mapping(example, zip(self.keys, parts, strict=True))
        else:
            new = new_dataclass(example, dict(zip(self.keys, parts, strict=True)))
        for name, value in (self.since or {}).items():
            object.__setattr__(new, name, value)
        return new

    def settle(self, plain: Callable[[Any], Any]) -> None:
        """Take what was set in attributes as it is outside of a level: that is no entry."""
        if self.since:
            self.since = {name: plain(x) for name, x in self.since.items()}
        for c in self.children:
            c.settle(plain)

    def hollow(self) -> Tree:
        """The same structure, which holds no container that it was taken from."""
        if self.node is LEAF or self.node is None:
            return self
        kind, example = self.node
        if kind == "mapping" and type(example) is not dict:
            example = new_mapping(example, ())
        elif kind == "dataclass":
            import copy  # which few programs need

            example = copy.copy(example)
            for name in (*self.keys, *getattr(example, "__dict__", ())):
                object.__setattr__(example, name, None)
        children = tuple([c.hollow() for c in self.children])
        return Tree((kind, example), self.keys, children, self.since)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.describe() == other.describe()

    __hash__ = None  # type: ignore[assignment]

    def describe(self) -> str:
        """The structure in words, * standing for a leaf."""
        if self.node is LEAF:
            return "*"
        if self.node is None:
            return "None"
        kind, example = self.node
        if kind == "mapping":
            inner = ", ".join(
                f"{k!r}: {c.describe()}" for k, c in zip(self.keys, self.children, strict=True)
            )
            return f"{{{inner}}}"
        inner = ", ".join(c.describe() for c in self.children)
        if kind == "dataclass":
            return f"{type(example).__name__}({inner})"
        if hasattr(example, "_fields"):
            return f"{example.__name__}({inner})"
        return (
            f"[{inner}]"
            if issubclass(example, list)
            else f"({inner},)"
            if len(self.children) == 1
            else f"({inner})"
        )


LEAF = object()
#: The containers of Python itself, which have no attributes.
PLAIN = (list, tuple, dict)
#: What is known to be a leaf by its type alone.
LEAF_TYPES: set[type] = {float, np.ndarray, np.float64}
LEAF_TREE = Tree(LEAF)


def _split(x: Any, whole: bool = False) -> tuple[Any, tuple, list] | None:
    """(node, keys, children) of a container, None for a leaf."""
    if isinstance(x, (list, tuple)):
        return ("sequence", type(x)), (), list(x)
    if isinstance(x, dict):
        return ("mapping", {} if type(x) is dict else x), tuple(x), list(x.values())
    if hasattr(type(x), "__dataclass_fields__"):
        held = fields_of(x, whole)
        return ("dataclass", x), tuple(held), [getattr(x, n) for n in held]
    return None


def flatten(x: Any, whole: bool = False) -> tuple[list[Any], Tree]:
    """The leaves of a container in order, and its structure.

    Of a dataclass they are what it is made of; whole: also the fields that it has set by itself.
    """
    if type(x) in LEAF_TYPES:
        return [x], LEAF_TREE
    leaves: list[Any] = []
    return leaves, _flatten(x, leaves, whole)


def _flatten(x: Any, leaves: list, whole: bool) -> Tree:
    if type(x) in LEAF_TYPES:
        leaves.append(x)
        return LEAF_TREE
    if x is None:
        return Tree(None)
    parts = _split(x, whole)
    if parts is None:
        leaves.append(x)
        return LEAF_TREE
    node, keys, children = parts
    since = None if type(x) in PLAIN else set_since(x, node[0], keys)
    return Tree(node, keys, tuple([_flatten(c, leaves, whole) for c in children]), since)


def flatten_like(tree: Tree, x: Any, what: str, like: str) -> list[Any]:
    """The leaves of x in the order of `tree`; an error says where x differs from it."""
    if tree.node is LEAF and type(x) in LEAF_TYPES:
        return [x]
    leaves: list[Any] = []
    _match(tree, x, leaves, what, like)
    return leaves


def _match(tree: Tree, x: Any, leaves: list, what: str, like: str) -> None:
    if tree.node is LEAF:
        if type(x) in LEAF_TYPES:
            leaves.append(x)
            return
        if x is None or _split(x) is not None:
            raise StructureError(
                f"{what} is {_name(x)}, but {like} has an array or number there: the two must "
                f"have the same structure."
            )
        leaves.append(x)
        return
    if tree.node is None:
        if x is not None:
            raise StructureError(f"{what} is {_name(x)}, but {like} has None there.")
        return
    parts = _split(x)
    if parts is None or parts[0][0] != tree.node[0]:
        raise StructureError(
            f"{what} is {_name(x)}, but {like} has the structure {tree.describe()} there."
        )
    _, keys, children = parts
    if tree.node[0] == "mapping":
        missing, extra = set(tree.keys) - set(keys), set(keys) - set(tree.keys)
        if missing or extra:
            raise StructureError(
                f"{what} has the keys {sorted(map(repr, keys))}, but {like} has "
                f"{sorted(map(repr, tree.keys))}."
            )
        children = [x[k] for k in tree.keys]
    elif len(children) != len(tree.children):
        raise StructureError(
            f"{what} has {len(children)} entries, but {like} has {len(tree.children)}."
        )
    names = tree.keys or range(len(children))
    for name, subtree, child in zip(names, tree.children, children, strict=True):
        at = f".{name}" if tree.node[0] == "dataclass" else f"[{name!r}]"
        _match(subtree, child, leaves, what + at, like + at)


def _name(x: Any) -> str:
    return "None" if x is None else f"a {type(x).__name__}"


def tree_map(f: Callable[..., Any], x: Any) -> Any:
    """f of every leaf, in the same container."""
    leaves, tree = flatten(x)
    return tree.unflatten([f(v) for v in leaves])
