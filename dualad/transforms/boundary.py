"""The boundary: what goes into a traced function and what comes out of it.

Arrays, NumPy scalars and Python floats become engine values and come back as what they were.
Tensors stay Tensors: the function sees the face its caller uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.arrays.memory import F64
from ..engine.arrays.storage import owner
from ..engine.kinds.batched import Batched
from ..engine.kinds.batched_dual import BatchedDual
from ..engine.kinds.dual import Dual
from ..engine.kinds.duck import Duck, duck_under
from ..engine.kinds.recorded import Recorded
from ..engine.levels.buffer import Buffer, frozen
from ..engine.levels.level import entered
from ..engine.levels.traced import TracedArray
from ..engine.levels.tree import LEAF_TREE, LEAF_TYPES, Tree, flatten, flatten_like
from ..engine.levels.values import as_value
from ..engine.primitives.shape import fit
from ..engine.put_off.late import settle
from ..errors import NotDifferentiableError, ShapeError

__all__ = ["Input", "inputs_of", "outputs_of", "own", "restore", "separated", "tangents_for"]


#: The function itself, without the question whether an argument handles it.
may_share_memory = getattr(np.may_share_memory, "__wrapped__", np.may_share_memory)
LEAF_TYPES.update((Batched, BatchedDual, Dual, Recorded))


def face_of(x: Any) -> Any:
    """The face that a value has to the user; a traced array has none but itself."""
    return None if isinstance(x, TracedArray) else getattr(x, "__dualad_face__", None)


class Phrase:
    """Words for an error, which are put together when there is one."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Any):
        self.parts = parts

    def __str__(self) -> str:
        return "".join([p.describe() if isinstance(p, Tree) else str(p) for p in self.parts])


class Input:
    """One differentiable leaf of an argument: its engine value, and how to give it back."""

    __slots__ = ("face", "kind", "name", "value")

    def __init__(self, x: Any, name: Any):
        """name: what errors call it, as a string or a `Phrase`."""
        self.name = name
        if type(x) is np.ndarray and x.dtype is F64:  # what most are
            self.face, self.value = None, x
            self.kind: type = np.ndarray
            return
        self.face = face_of(x)
        self.kind = type(x) if not isinstance(x, TracedArray) else x.type_given()
        value = self.face.unwrap(x) if self.face is not None else as_value(x, name)
        if isinstance(value, TracedArray):
            value = value.primal if isinstance(value, Buffer) else frozen(value)
        self.value = value
        if np.dtype(self.value.dtype).kind not in "fc":
            raise NotDifferentiableError(
                f"{name} has dtype {self.value.dtype}, which has no derivative: convert it to a "
                f"float first (x.astype(float), or 4.0 for 4), or leave it out of the "
                f"differentiated arguments (argnums, a closure or functools.partial)."
            )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.value.dtype)

    def wrap(self, value: Any) -> Any:
        """A traced value as the user's function sees it."""
        return value if self.face is None else self.face.wrap(value)

    def restore(self, value: Any) -> Any:
        """A result that belongs to this input, as the kind of thing the input was."""
        model = duck_under(self.value)
        if model is not None:
            value = model.alike(value)
        return restore(value, self.kind, self.face)


def restore(value: Any, kind: type = np.ndarray, face: Any = None) -> Any:
    """A plain result as the caller's kind: a float for a float, a Tensor for a Tensor."""
    if face is not None:
        return face.wrap(value)
    if kind is type(value) and (kind is np.ndarray or kind is np.float64):  # what most are
        return value
    if isinstance(value, Buffer):
        value = value.primal
    if isinstance(value, TracedArray):
        if value.ends and not issubclass(kind, TracedArray):
            return value.as_number(kind)
        return value.primal.array if type(value) is Duck else frozen(value)
    if kind is float or kind is complex:
        return kind(value)
    if issubclass(kind, np.ndarray):
        return np.asarray(value)
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def own(value: Any, given: Sequence[Any]) -> Any:
    """A result the caller may write to: not read only, sharing no memory with what was given."""
    if type(value) is not np.ndarray:
        return value
    if not value.flags.writeable:
        return value.copy("K")
    for g in given:
        if isinstance(g, np.ndarray) and may_share_memory(value, g):
            return value.copy("K")
    return value


def separated(results: list[Any]) -> list[Any]:
    """The same results, so that who writes to one of them changes no other one."""
    if len(results) < 2:
        return results
    known: dict[int, list[np.ndarray]] = {}
    out = []
    for value in results:
        if type(value) is np.ndarray:
            key = id(owner(value))
            others = known.get(key)
            if others is None:
                known[key] = [value]
            elif any(may_share_memory(value, other) for other in others):
                value = value.copy("K")
            else:
                others.append(value)
        out.append(value)
    return out


def inputs_of(args: Sequence[Any], names: Sequence[str]) -> tuple[list[Input], list[Tree]]:
    """All leaves of the arguments as inputs, and the structure of each argument."""
    inputs: list[Input] = []
    trees: list[Tree] = []
    for arg, name in zip(args, names, strict=True):
        if type(arg) in LEAF_TYPES:
            inputs.append(Input(arg, name))
            trees.append(LEAF_TREE)
            continue
        leaves, tree = flatten(arg)
        many = not (len(leaves) == 1 and leaves[0] is arg)
        for k, x in enumerate(leaves):
            inputs.append(Input(x, Phrase(name, ", leaf ", k, " of ", tree) if many else name))
        trees.append(tree)
    return inputs, trees


def rebuild(trees: Sequence[Tree], leaves: Sequence[Any]) -> list[Any]:
    """The arguments again from all their leaves."""
    n = len(trees)
    if n == 1:
        return [trees[0].unflatten(leaves)]
    if n == len(leaves) and trees.count(LEAF_TREE) == n:
        return list(leaves)
    out, k = [], 0
    for tree in trees:
        if tree is LEAF_TREE:
            out.append(leaves[k])
            k += 1
            continue
        out.append(tree.unflatten(leaves[k : k + tree.size]))
        k += tree.size
    return out


def outputs_of(out: Any, what: str = "the output") -> tuple[list[Any], Tree, list[Any]]:
    """The leaves of what a function returned as engine values, the structure, and their faces."""
    if type(out) in LEAF_TYPES:
        if isinstance(out, TracedArray):
            return [_open(out)], LEAF_TREE, [None]
        if type(out) is np.float64:
            return [out], LEAF_TREE, [None]
    leaves, tree = flatten(out)
    tree.settle(_plain)
    faces, values = [], []
    for x in leaves:
        face = face_of(x)
        faces.append(face)
        values.append(_open(face.unwrap(x) if face is not None else as_value(x, what)))
    return values, tree, faces


def _plain(attribute: Any) -> Any:
    """An attribute of a container as it is outside of the transformation that is running."""
    value = _open(attribute)
    if not isinstance(value, TracedArray) or value.level is not entered():
        return value
    return value.primal.copy() if type(value.primal) is np.ndarray else value.primal


def _open(value: Any) -> Any:
    """Refuse a value of a closed level; a buffer gives its content."""
    if isinstance(value, Buffer):
        return value.primal
    if isinstance(value, TracedArray):
        if not value.level.is_open:
            value.level.new(type(value))
        return settle(value)
    return value


def tangents_for(
    inputs: Sequence[Input], trees: Sequence[Tree], given: Sequence[Any], what: str
) -> list[Any]:
    """One tangent per input, checked against it in structure, shape and dtype."""
    leaves: list[Any] = []
    for k, (tree, tangent) in enumerate(zip(trees, given, strict=True)):
        leaves += flatten_like(tree, tangent, f"{what} {k}", f"primal {k}")
    return [match(t, i, Phrase(what, " of ", i.name)) for t, i in zip(leaves, inputs, strict=True)]


def match(t: Any, like: Any, what: Any) -> Any:
    """A tangent or cotangent as an engine value of the shape and dtype of `like`."""
    if type(t) is np.ndarray and t.dtype is F64 and type(like) is Input:
        if type(like.value) is np.ndarray and like.value.dtype is F64:  # what most are
            if t.shape == like.value.shape:
                return t
    face = face_of(t)
    value = face.unwrap(t) if face is not None else as_value(t, what)
    if isinstance(value, Buffer):
        value = value.primal
    if value.shape != like.shape:
        raise ShapeError(f"{what} has shape {value.shape}, it should be {like.shape}")
    kind, target = np.dtype(value.dtype).kind, np.dtype(like.dtype)
    if kind not in "fc":
        raise ShapeError(f"{what} has dtype {value.dtype}, it should be {target}")
    if kind == "c" and target.kind != "c":
        raise ShapeError(f"{what} is complex ({value.dtype}), it should be {target}")
    if value.dtype != target:
        value = fit(value, like)
    model = duck_under(getattr(like, "value", like))
    return value if model is None else model.alike(value)
