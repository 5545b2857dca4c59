"""What a rule, a gradient or a Jacobian claims, entry by entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from ..engine.levels.tree import Tree, flatten
from ..errors import ArgumentError, ShapeError
from ..symbolic.calculus import derivative
from ..symbolic.entries import is_complex, number, real_and_imaginary
from ..symbolic.value import Symbolic, entries_of, symbolic
from .decide import Claim
from .region import Variable

__all__ = [
    "Values",
    "derivative_claims",
    "equality_claims",
    "joined",
    "jvp_claims",
    "outputs",
    "vjp_claims",
]

#: Name of an output -> its entries.
Values = dict[str, np.ndarray]


def outputs(result: Any) -> Values:
    """What a function gave: one array, or a container of them."""
    leaves, tree = flatten(result)
    if not leaves:
        raise ArgumentError("the function gives no value")
    named = dict(zip(_names(tree), map(entries_of, leaves), strict=True))
    return {n: named[n] for n in sorted(named)} if any("[" in n for n in named) else named


def container(like: Any, values: Mapping[str, Any]) -> Any:
    """A container like another one, of values by the names that `outputs` gives."""
    tree = flatten(like)[1]
    return tree.unflatten([values[name] for name in _names(tree)])


def _names(tree: Tree) -> list[str]:
    """The names of the leaves of a container: by number, or by path where there are mappings."""
    paths = list(_paths(tree))
    if not tree.children:
        return ["out"] * tree.size
    if not any(c.isalpha() for path in paths for c in path):
        return [f"out{k}" for k in range(len(paths))]
    return [f"out{path}" for path in paths]


def _paths(tree: Tree) -> Iterator[str]:
    """Where each leaf of a container is, in the order of the leaves.

    Keys, not their order, tell what belongs together.
    """
    if not tree.children:
        yield from [""] * tree.size
        return
    keys = [f'"{k}"' if isinstance(k, str) else f"key {k}" for k in tree.keys]
    for key, child in zip(keys or map(str, range(len(tree.children))), tree.children, strict=True):
        yield from (f"[{key}]{rest}" for rest in _paths(child))


def fresh(x: Any) -> Symbolic:
    """A symbolic array that the user's code may write to."""
    return Symbolic(np.array(entries_of(x), dtype=object))


def cells(values: Values) -> Iterator[tuple[str, Any]]:
    """(label, expression) of every entry."""
    for name, array in values.items():
        for at in np.ndindex(array.shape):
            yield name + (f"[{', '.join(map(str, at))}]" if at else ""), number(array[at])


def equality_claims(found: Values, wanted: Values, what: str = "value of ") -> Iterator[Claim]:
    """That two functions have equal values."""
    check_shapes(found, wanted)
    for (label, a), (_, b) in zip(cells(found), cells(wanted), strict=True):
        yield Claim(f"{what}{label}", "", a, b)


def check_shapes(found: Values, wanted: Values) -> None:
    if set(found) != set(wanted) and len(found) == len(wanted):
        raise ShapeError(
            f"the claim is made of {', '.join(found)}, the function of {', '.join(wanted)}"
        )
    shapes = [[v.shape for v in values.values()] for values in (found, wanted)]
    if shapes[0] != shapes[1]:
        raise ShapeError(f"the claim has the shapes {shapes[0]}, the function {shapes[1]}")


def differentiable(variables: Sequence[Variable]) -> list[Variable]:
    return [v for v in variables if not v.integer]


# --- rules: linear in tangents, or in cotangents -------------------------------------------------


def twin(array: np.ndarray, letter: str, name: str) -> tuple[np.ndarray, dict[Any, Any]]:
    """Symbols for tangents or cotangents of an array: the array, and symbol -> 1 or I."""
    out = np.empty(array.shape, object)
    parts: dict[Any, Any] = {}
    for at in np.ndindex(array.shape):
        label = f"{letter}{name}" + (f"[{', '.join(map(str, at))}]" if at else "")
        real = sympy.Symbol(label, real=True)
        parts[real] = sympy.Integer(1)
        out[at] = real
        if is_complex(array[at]):
            imaginary = sympy.Symbol(f"i {label}", real=True)
            parts[imaginary] = sympy.I
            out[at] = real + sympy.I * imaginary
    return out, parts


def jvp_claims(
    variables: Sequence[Variable], values: Values, rule: Callable[[list[np.ndarray]], Values]
) -> Iterator[Claim]:
    """That a forward rule gives the derivative times the tangent."""
    tangents: list[np.ndarray] = []
    names: list[tuple[Any, Any]] = []
    for v in differentiable(variables):
        array, parts = twin(v.array, "d", v.name)
        tangents.append(array)
        names += zip(v.symbols, parts, strict=True)
    found = rule(tangents)
    check_shapes(found, values)
    none = {t: sympy.Integer(0) for _, t in names}
    for (label, move), (_, value) in zip(cells(found), cells(values), strict=True):
        for s, t in names:
            yield Claim(label, str(s), derivative(move, t), derivative(value, s))
        if (constant := move.subs(none)) != 0:
            yield Claim(f"{label} without any tangent", "", constant, sympy.Integer(0))


def vjp_claims(
    variables: Sequence[Variable], values: Values, rule: Callable[[list[np.ndarray]], list[Any]]
) -> Iterator[Claim]:
    """That a reverse rule gives the adjoint of the derivative under Re<., .>."""
    pairs = [twin(a, "c", name) for name, a in values.items()]
    shares = rule([array for array, _ in pairs])
    flat_values = list(cells(values))
    symbols = [list(parts) for _, parts in pairs]
    none = {c: sympy.Integer(0) for parts in symbols for c in parts}
    owners = _owners(flat_values, none)
    for v, share in zip(differentiable(variables), shares, strict=True):
        g = np.full(v.shape, sympy.Integer(0), object) if share is None else entries_of(share)
        if g.shape != v.shape:
            raise ShapeError(
                f"backward gives the shape {g.shape} for {v.name}, of shape {v.shape}"
            )
        for (_, parts), cell in zip(v.parts, g.ravel(), strict=True):
            for s, unit in parts:
                part = _part(cell, unit)
                for c, (label, value) in owners.items():
                    yield Claim(label, str(s), derivative(part, c), derivative(value, s))
                if (constant := part.subs(none)) != 0:
                    yield Claim(f"{s} without any cotangent", "", constant, sympy.Integer(0))


def _owners(flat_values: list[tuple[str, Any]], cotangents: Any) -> dict[Any, tuple[str, Any]]:
    """Cotangent symbol -> the real or imaginary part of the output that it belongs to."""
    out, left = {}, iter(cotangents)
    for label, value in flat_values:
        if is_complex(value):
            out[next(left)] = (f"re {label}", _part(value, sympy.Integer(1)))
            out[next(left)] = (f"im {label}", _part(value, sympy.I))
        else:
            out[next(left)] = (label, value)
    return out


def _part(e: Any, unit: Any) -> Any:
    """The real part, or for the unit I the imaginary part."""
    return real_and_imaginary(e)[unit == sympy.I]


# --- closed forms --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Joint:
    """Several arguments as one vector, in the order of their entries."""

    name: str
    array: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


def joined(variables: Sequence[Variable]) -> Variable | Joint:
    """The one argument, or several as one vector."""
    if len(variables) == 1:
        return variables[0]
    array = np.concatenate([v.array.ravel() for v in variables])
    return Joint(", ".join(v.name for v in variables), array)


def one_output(values: Values) -> tuple[str, np.ndarray]:
    """The one output; a list or tuple of outputs of one shape is an array of them."""
    shapes = {v.shape for v in values.values()}
    if len(shapes) != 1:
        raise ArgumentError("a gradient or Jacobian is claimed of a function with one output")
    ((name, value), *more) = values.items()
    return ("out", np.stack(list(values.values()))) if more else (name, value)


def derivative_claims(
    variables: Sequence[Variable | Joint], values: Values, claimed: Sequence[Any], order: int = 1
) -> Iterator[Claim]:
    """That arrays are the derivatives of one output: its axes first, then those of the input."""
    name, value = one_output(values)
    if len(claimed) != len(variables):
        raise ArgumentError(
            f"{len(claimed)} derivatives are claimed by {len(variables)} arguments "
            f"({', '.join(v.name for v in variables)}): give a tuple with one for each"
        )
    for v, given in zip(variables, claimed, strict=True):
        g = symbolic(given).entries
        axes = value.shape + v.shape * order
        if g.shape != axes and g.size != np.prod(axes, dtype=int):
            raise ShapeError(
                f"the derivative by {v.name} has shape {g.shape}, it should be {axes}"
            )
        exact = value
        labels = np.reshape([label for label, _ in cells({name: value})], value.shape)
        inputs = np.reshape([str(s) for s in v.array.ravel()], v.shape)
        for _ in range(order):
            exact = np.frompyfunc(derivative, 2, 1).outer(exact, v.array)
        names = [
            (str(labels[at[: value.ndim]]), _joined(inputs, at[value.ndim :], order))
            for at in np.ndindex(axes)
        ]
        flat = np.asarray(exact, dtype=object).ravel()
        for (label, by), a, b in zip(names, g.ravel(), flat, strict=True):
            yield Claim(label, by, number(a), b)


def _joined(inputs: np.ndarray, at: tuple[int, ...], order: int) -> str:
    n = len(at) // order
    return " d ".join(str(inputs[at[k * n : (k + 1) * n]]) for k in range(order))
