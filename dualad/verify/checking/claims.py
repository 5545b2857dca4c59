"""What is claimed, as a real matrix: by forward mode, by reverse mode, or by a given function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...engine.levels.tree import Tree, flatten, flatten_like
from ...errors import DualADError, ShapeError
from ...transforms.forward import jvp
from ...transforms.reverse import vjp
from .space import Leaf, Space, plain
from .subject import Subject

__all__ = ["Claim", "forward_matrix", "given_matrix", "reverse_matrix"]

#: (subject, vector, dtypes of the inputs) -> matrix.
Claim = Callable[[Subject, np.ndarray, Space], np.ndarray]


def forward_matrix(subject: Subject, x: np.ndarray, space: Space) -> np.ndarray:
    """The Jacobian by forward mode, a column for each coordinate."""
    leaves = subject.point(x, space)
    columns = []
    for k in range(space.size):
        unit = np.zeros(space.size)
        unit[k] = 1.0
        tangents = jvp(subject.of_leaves, leaves, subject.point(unit, space))[1]
        columns.append(subject.outputs.vector(tangents))
    return np.stack(columns, axis=-1)


def reverse_matrix(subject: Subject, x: np.ndarray, space: Space) -> np.ndarray:
    """The Jacobian by reverse mode, a row for each coordinate of the outputs."""
    y, pullback = vjp(subject.of_leaves, *subject.point(x, space))
    rows = []
    for k in range(subject.outputs.size):
        unit = np.zeros(subject.outputs.size)
        unit[k] = 1.0
        rows.append(space.vector(pullback(cotangents(subject, y, unit))))
    return np.stack(rows)


def cotangents(subject: Subject, y: Sequence[Any], vector: np.ndarray) -> list[Any]:
    """A vector of the outputs as cotangents, each of the kind and dtype of its output."""
    out = []
    for value, like in zip(subject.outputs.values(vector), y, strict=True):
        dtype = np.dtype(getattr(like, "dtype", None) or np.asarray(like).dtype)
        value = np.asarray(value).astype(dtype)[()]
        face = getattr(like, "__dualad_face__", None)
        out.append(value if face is None else face.wrap(np.asarray(value)))
    return out


def given_matrix(g: Any) -> Claim:
    """The claim of a function that gives a gradient or a Jacobian, or of an array."""

    def claim(subject: Subject, x: np.ndarray, space: Space) -> np.ndarray:
        result = g
        if callable(g):
            result = g(*subject.arguments(space.values(x, wide=False)))
        return as_matrix(result, subject)

    return claim


def as_matrix(result: Any, subject: Subject) -> np.ndarray:
    """A gradient or Jacobian in any of the usual forms as a real matrix, outputs by inputs.

    For a real output and a complex input, d out = Re(conj(g) d in), which is the convention of
    gradients here; for a complex output, d out = J d in.

    Raises:
        ShapeError: its shape is not that of a derivative of this function.
    """
    ins, outs = subject.inputs.leaves, subject.outputs.leaves
    blocks = _blocks(result, subject)
    rows = []
    for o, row in zip(outs, blocks, strict=True):
        rows.append(np.hstack([_real(b, o, i) for b, i in zip(row, ins, strict=True)]))
    return np.vstack(rows)


def _blocks(result: Any, subject: Subject) -> list[list[np.ndarray]]:
    """One array of (entries of output, entries of input) for each pair of leaves."""
    ins, outs = subject.inputs.leaves, subject.outputs.leaves
    result = _dense(result)
    whole = (sum(o.size for o in outs), sum(i.size for i in ins))
    if (
        not isinstance(result, (tuple, list, dict))
        and np.ndim(result)
        and len(ins) * len(outs) > 1
    ):
        result = np.asarray(result)
        if result.shape == whole or (1 in whole and result.shape == (whole[0] * whole[1],)):
            return _cut(result.reshape(whole), outs, ins)
    leaves = [np.asarray(_dense(v)) for v in _in_order(result, subject)]
    if len(leaves) != len(ins) * len(outs):
        numbers = all(v.ndim == 0 for v in leaves)
        if numbers and len(leaves) == whole[0] * whole[1]:  # a list of numbers, row by row
            return _cut(np.reshape(leaves, whole), outs, ins)
        stacked = _stacked(result)
        if stacked is not None and stacked.shape == whole:
            return _cut(stacked, outs, ins)
        raise ShapeError(
            f"the derivative has {len(leaves)} parts; {len(outs)} outputs by {len(ins)} inputs "
            f"make {len(ins) * len(outs)}"
        )
    grid = iter(leaves)
    return [[_shaped(next(grid), o, i) for i in ins] for o in outs]


def _dense(x: Any) -> Any:
    """What SciPy's sparse arrays, linear operators and Tensors hold."""
    x = plain(x)
    return x.toarray() if hasattr(x, "toarray") else x


def _stacked(result: Any) -> np.ndarray | None:
    try:
        return np.asarray(result)
    except ValueError:
        return None


def _in_order(result: Any, subject: Subject) -> list[Any]:
    """The leaves of a result that mirrors the outputs, and inside them the arguments."""
    trees = [
        tree for tree, name in zip(subject.trees, subject.names, strict=True)
        if subject.wrt is None or name in subject.wrt
    ]  # fmt: skip
    try:
        return list(_mirrored(result, subject.out_tree, trees))
    except (LookupError, TypeError, ValueError, DualADError):
        return flatten(result)[0]  # in another form: its leaves as they come


def _mirrored(result: Any, outputs: Tree, trees: list[Tree]) -> Iterator[Any]:
    if outputs.describe() == "*":
        parts = [result] if len(trees) == 1 else result
        for tree, part in zip(trees, parts, strict=True):
            yield from flatten_like(tree, part, "the derivative", "the argument")
        return
    for k, child in enumerate(outputs.children):
        yield from _mirrored(result[outputs.keys[k] if outputs.keys else k], child, trees)


def _cut(matrix: np.ndarray, outs: list[Leaf], ins: list[Leaf]) -> list[list[np.ndarray]]:
    rows = np.split(matrix, np.cumsum([o.size for o in outs])[:-1], axis=0)
    at = np.cumsum([i.size for i in ins])[:-1]
    return [np.split(row, at, axis=1) for row in rows]


def _shaped(block: np.ndarray, o: Leaf, i: Leaf) -> np.ndarray:
    """A block as a matrix; its axes are those of the output, then those of the input."""
    full, flat = (*o.shape, *i.shape), (o.size, i.size)
    squeezed = tuple(n for n in full if n != 1)
    fits = block.shape in (full, flat) or tuple(n for n in block.shape if n != 1) in (
        squeezed,
        tuple(n for n in flat if n != 1),
    )
    if not fits or block.dtype.kind not in "biufc":
        raise ShapeError(
            f"the derivative of {o.name} by {i.name} has shape {block.shape} (dtype "
            f"{block.dtype}), it should be {full}"
        )
    return block.reshape(flat)


def _real(block: np.ndarray, o: Leaf, i: Leaf) -> np.ndarray:
    """A complex block in real coordinates."""
    if not o.is_complex:
        if not i.is_complex:
            if np.iscomplexobj(block) and np.any(block.imag != 0):
                raise ShapeError(f"the derivative of {o.name} by {i.name}, both real, is complex")
            return block.real.astype(float)
        return np.hstack([block.real, block.imag]).astype(float)
    if not i.is_complex:
        return np.vstack([block.real, block.imag]).astype(float)
    return np.block([[block.real, -block.imag], [block.imag, block.real]]).astype(float)
