"""What is checked: a function at a point, on raw arrays and under the transformations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...autograd.custom_vjp import custom_vjp
from ...autograd.function import Function
from ...engine.levels.tree import Tree, flatten, flatten_like
from ...errors import ArgumentError
from ...transforms.custom import custom_jvp
from .space import Leaf, Space, leaf_of, leaves_of, paths, plain

__all__ = ["Subject", "callable_of", "parameter_names"]

FIXED_NAMES = ("x", "y", "z")


def callable_of(subject: Any) -> Callable[..., Any]:
    """The function that a subject is."""
    if isinstance(subject, type) and issubclass(subject, Function):
        return subject.apply
    if not callable(subject):
        raise ArgumentError(
            f"check takes a function, a custom function, a Function class or a pair (f, jac), "
            f"not {type(subject).__name__}"
        )
    return subject


def is_rule(subject: Any) -> bool:
    """Whether it brings a derivative of its own."""
    own = isinstance(subject, type) and issubclass(subject, Function)
    return own or isinstance(subject, (custom_jvp, custom_vjp))


def parameter_names(subject: Any, n: int) -> list[str]:
    """What the n arguments are called: as in the signature, as far as it can be read."""
    target, skipped = subject, 0
    if isinstance(subject, type) and issubclass(subject, Function):
        target = subject.forward
        skipped = 0 if subject.setup_context is not Function.setup_context else 1
    if isinstance(subject, np.ufunc):
        return list(FIXED_NAMES[:n])
    try:
        parameters = list(inspect.signature(target).parameters.values())[skipped:]
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD][:n]
    several = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    for k in range(len(names), n):
        names.append(f"{several}[{k}]" if several else f"argument{k}")
    return names


class Subject:
    """A function of nested containers at a point, as a function of a real vector.

    Attributes:
        inputs: the space of the differentiated leaves of the arguments.
        outputs: the space of the outputs that are real or complex numbers.
        x, y: the point and the value there, as real vectors.

    Args:
        f: the function.
        args: its arguments; arrays, floats, Tensors, and containers of them are differentiated.
        names: what the arguments are called.
        wrt: names of those that are differentiated; default all.
        output: what the output is called.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        names: Sequence[str],
        wrt: Sequence[str] | None = None,
        output: str | None = None,
    ):
        self.f, self.names, self.wrt = f, list(names), wrt
        self.trees: list[Tree] = []
        self.leaves: list[Any] = []
        known: list[Leaf | None] = []
        for name, arg in zip(self.names, args, strict=True):
            values, leaves = leaves_of(arg, name)
            self.trees.append(flatten(arg)[1])
            self.leaves += values
            known += leaves if wrt is None or name in wrt else [None] * len(leaves)
        self.moving = [k for k, leaf in enumerate(known) if leaf is not None]
        self.inputs = Space([leaf for leaf in known if leaf is not None])
        if not self.inputs.size:
            raise ArgumentError(
                "there is nothing to differentiate: no argument holds a float or complex number "
                "(write 2.0 for 2)"
            )
        self.faces = [getattr(self.leaves[k], "__dualad_face__", None) for k in self.moving]
        self.kinds = [type(self.leaves[k]) for k in self.moving]
        self.given = [plain(self.leaves[k]) for k in self.moving]
        self.x = self.inputs.vector(self.given)
        self._shape_outputs(output)

    def _shape_outputs(self, output: str | None) -> None:
        with np.errstate(all="ignore"):
            out = self.f(*self.arguments(self.inputs.values(self.x)))
        leaves, self.out_tree = flatten(out)
        alone = len(leaves) == 1 and leaves[0] is out
        root = output or ("out" if alone else "outputs")
        known = [leaf_of(n, v) for n, v in zip(paths(out, root), leaves, strict=True)]
        self.out_at = [k for k, leaf in enumerate(known) if leaf is not None]
        self.out_all = leaves
        self.outputs = Space([leaf for leaf in known if leaf is not None])
        if not self.outputs.size:
            raise ArgumentError("there is nothing to check: the function gives no real number")
        self.y = self.out_vector(out)

    # --- the function ------------------------------------------------------------------------

    def arguments(self, values: Sequence[Any]) -> list[Any]:
        """The arguments with these values in the differentiated leaves, all of them copies."""
        leaves = [np.array(v) if isinstance(v, np.ndarray) else v for v in self.leaves]
        for k, face, kind, v in zip(self.moving, self.faces, self.kinds, values, strict=True):
            if face is not None and isinstance(v, (np.ndarray, np.generic)):
                v = face.wrap(np.asarray(v))
            elif kind in (float, complex) and isinstance(v, (float, complex)):
                v = complex(v) if isinstance(v, complex) else float(v)
            leaves[k] = v
        return self.rebuild(leaves)

    def rebuild(self, leaves: Sequence[Any]) -> list[Any]:
        """The arguments from all leaves."""
        out, k = [], 0
        for tree in self.trees:
            out.append(tree.unflatten(leaves[k : k + tree.size]))
            k += tree.size
        return out

    def out_vector(self, out: Any) -> np.ndarray:
        """What the function returned as a real vector."""
        return self.outputs.vector(self.out_leaves(out))

    def out_leaves(self, out: Any) -> list[Any]:
        """The real and complex leaves of an output, by its keys, not by their order."""
        leaves = flatten_like(self.out_tree, out, "an output", "the first one")
        return [leaves[k] for k in self.out_at]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The function of a real vector, on raw arrays in double precision."""
        return self.out_vector(self.f(*self.arguments(self.inputs.values(x))))

    def complex_vector(self, z: np.ndarray) -> np.ndarray:
        """The function of a complex vector (of real leaves, for the complex step)."""
        leaves = self.out_leaves(self.f(*self.arguments(self.inputs.values(z))))
        parts = [np.asarray(plain(v)).astype(complex).ravel() for v in leaves]
        return np.concatenate(parts) if parts else np.zeros(0, complex)

    def of_leaves(self, *values: Any) -> list[Any]:
        """The outputs as a function of the differentiated leaves: what is transformed."""
        leaves = list(self.leaves)
        for k, v in zip(self.moving, values, strict=True):
            leaves[k] = v
        return self.out_leaves(self.f(*self.rebuild(leaves)))

    def point(self, x: np.ndarray, space: Space | None = None) -> list[Any]:
        """The differentiated leaves at a vector in their own dtypes, or in those of a space."""
        values = (space or self.inputs).values(x, wide=False)
        return [
            v if face is None else face.wrap(np.asarray(v))
            for v, face in zip(values, self.faces, strict=True)
        ]

    def near(self, x: np.ndarray, eps: float, rng: np.random.Generator) -> np.ndarray:
        """A vector that differs from x by rounding."""
        return x * (1 + eps * rng.integers(-2, 3, x.shape))
