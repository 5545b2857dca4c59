"""Rules that users add: derivatives of their own ufuncs and functions, and where to stop."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.fast_paths.operators import define
from ..engine.levels.buffer import Buffer
from ..engine.levels.spec import spec_of
from ..engine.levels.traced import TracedArray
from ..engine.levels.tree import LEAF_TREE, Tree, flatten, flatten_like, tree_map
from ..engine.levels.values import as_operand, stack_objects
from ..engine.primitives.composite import Composite
from ..engine.primitives.elementwise import Elementwise
from ..engine.primitives.primitive import Opaque
from ..engine.put_off.postponed import stop
from ..errors import (
    ArgumentError,
    LostDerivativeError,
    MissingRuleError,
    NotDifferentiableError,
    ShapeError,
)
from ..ops.elementwise import NAMESPACE

__all__ = ["custom_jvp", "defelementwise", "stop_gradient"]


def defelementwise(ufunc: Any, *partials: str | Callable[..., Any] | None) -> None:
    """Give a ufunc of your own its partial derivatives: from then on it differentiates everywhere.

    Args:
        ufunc: a NumPy ufunc (from C, numba.vectorize, scipy.special, ...).
        partials: one per input: a NumPy formula as a callable (out, *inputs), or as text in terms
            of out, x, y, z; None where there is no derivative.

    >>> import numpy as np, dualad
    >>> double = np.frompyfunc(lambda a: 2.0 * a, 1, 1)
    >>> dualad.defelementwise(double, lambda out, x: 2.0)
    >>> dualad.grad(lambda x: double(x) ** 2)(3.0)
    24.0
    """
    if not isinstance(ufunc, np.ufunc):
        raise ArgumentError(
            f"defelementwise takes a NumPy ufunc, got {type(ufunc).__name__}: use "
            "@dualad.custom_jvp for a Python function"
        )
    if ufunc.nout != 1 or len(partials) != ufunc.nin:
        raise ArgumentError(
            f"{ufunc.__name__} has {ufunc.nin} inputs and {ufunc.nout} outputs: give one partial "
            f"per input, for a ufunc of one output (got {len(partials)})"
        )
    impl = ufunc if ufunc.types and "O" not in ufunc.types[0] else _object_ufunc(ufunc)
    primitive = Elementwise(
        impl, *partials, namespace=NAMESPACE, name=ufunc.__name__, singular=True, builtin=False
    )
    define(ufunc, primitive)


def _object_ufunc(ufunc: Any) -> Callable[..., Any]:
    """A ufunc of Python objects (np.frompyfunc) with a float result."""

    @functools.wraps(ufunc)
    def call(*inputs: Any) -> Any:
        out = ufunc(*inputs)
        if isinstance(out, TracedArray):  # a lower level took the call
            return out
        return out.astype(np.float64) if isinstance(out, np.ndarray) else np.float64(out)

    return call


class custom_jvp:
    """A function with a derivative rule of its own; the reverse mode follows from it.

    The rule is written in NumPy and linear in the tangents: reverse mode runs it on linear
    variables without a value, and transposes what it recorded.

    Args:
        f: a function of arrays or nested containers, returning an array or a tuple of arrays.
        nondiff_argnums: arguments that are no arrays or have no derivative.

    >>> import numpy as np, dualad
    >>> @dualad.custom_jvp
    ... def log1pexp(x):
    ...     return np.log1p(np.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (dx,) = primals, tangents
    ...     return log1pexp(x), dx / (1 + np.exp(-x))
    >>> dualad.grad(log1pexp)(0.0)
    0.5
    """

    def __init__(self, f: Callable[..., Any], nondiff_argnums: tuple[int, ...] = ()):
        functools.update_wrapper(self, f)
        self.f = f
        self.nondiff_argnums = tuple(nondiff_argnums)
        self._rule: Callable[..., Any] | None = None

    def defjvp(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """State the rule: rule(primals, tangents) -> (output, tangent of output)."""
        self._rule = rule
        return rule

    def defjvps(self, *rules: Callable[..., Any] | None) -> None:
        """State the rule as a sum: one function (tangent, output, *primals) per argument."""

        def rule(primals: tuple, tangents: tuple) -> tuple[Any, Any]:
            if len(rules) != len(tangents):
                raise ArgumentError(
                    f"{self.f.__name__}.defjvps was given {len(rules)} rules, but the function "
                    f"has {len(tangents)} arguments: give one for each, None for one without "
                    "a derivative"
                )
            out = self(*primals)
            terms = [
                r(t, out, *primals)
                for r, t in zip(rules, tangents, strict=True)
                if r is not None and t is not None
            ]
            return out, functools.reduce(lambda a, b: a + b, terms) if terms else None

        self._rule = rule

    def _positional(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """The arguments in order, with keywords at their positions and defaults filled in."""
        try:
            bound = inspect.signature(self.f).bind(*args, **kwargs)
        except ValueError:
            return args, kwargs
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._rule is None:
            raise MissingRuleError(
                f"{self.f.__name__} is a custom_jvp function without a rule: define one with "
                f"@{self.f.__name__}.defjvp"
            )
        args, kwargs = self._positional(args, kwargs)
        leaves, tree = flatten(args)
        faces = [getattr(x, "__dualad_face__", None) for x in leaves]
        face = next((f for f in faces if f is not None), None)
        values = [
            x if f is None else f.unwrap(x)
            for x, f in zip(map(as_operand, leaves), faces, strict=True)
        ]
        tracked = [v for v in values if isinstance(v, TracedArray) and v.kind != "duck"]
        if not tracked:
            return self.f(*args, **kwargs)
        for v in tracked:
            stop(v.level)  # The user's code may write to what it is given, and has given.
        lowest = min(map(_lowest, tracked))
        out_trees: list[Any] = []

        def impl(*parts: Any) -> Any:
            result = self.f(*_faced(tree, parts, faces), **kwargs)
            flat, out_tree = flatten(result)
            out_trees.append(out_tree)
            flat = [_value(x) if face is None else face.value(x) for x in flat]
            if any(isinstance(x, TracedArray) and x.level.rank >= lowest for x in flat):
                raise LostDerivativeError(
                    f"{self.f.__name__} has a derivative rule of its own, but also depends on a "
                    f"traced value that is not among its arguments: pass that as an argument, so "
                    f"that the rule can account for it"
                )
            return flat[0] if out_tree.describe() == "*" else tuple(flat)

        def rule(tangents: tuple, out: Any, *parts: Any) -> Any:
            assert self._rule is not None
            moves = [_tangent(t, p) for t, p in zip(tangents, parts, strict=True)]
            primals = _faced(tree, parts, faces)
            result = self._rule(primals, _faced(tree, moves, faces))
            if not (isinstance(result, tuple) and len(result) == 2):
                raise ArgumentError(
                    f"the jvp rule of {self.f.__name__} must return (output, tangent of output)"
                )
            if result[1] is None:
                return None
            flat = _moves(result[1], out_trees[-1], self.f.__name__)
            flat = [_value(x) if face is None else face.value(x) for x in flat]
            outs = out if isinstance(out, tuple) else (out,)
            for t, o in zip(flat, outs, strict=True):
                _check_tangent(t, o, self.f.__name__)
            return tuple(flat) if isinstance(out, tuple) else flat[0]

        primitive = Composite(impl, rule, whole=True, name=self.f.__name__, builtin=False)
        out = primitive(*values)
        flat = list(out) if isinstance(out, tuple) else [out]
        flat = flat if face is None else [face.wrap(x) for x in flat]
        return out_trees[-1].unflatten(flat)


def _value(x: Any) -> Any:
    """What a user's function gave, with Python's numbers (of a solver, say) as NumPy's."""
    return np.asarray(x)[()] if type(x) in (float, complex, int, bool) else stack_objects(x)


def _moves(move: Any, tree: Tree, name: str) -> list[Any]:
    """The leaves of a tangent in the order of those of the output; None in a sequence is zero."""
    if isinstance(move, (tuple, list)) and len(move) == len(tree.children):
        leaves = [child is LEAF_TREE for child in tree.children]
        move = [0.0 if m is None and f else m for m, f in zip(move, leaves, strict=True)]
    return flatten_like(tree, move, f"the tangent from the jvp rule of {name}", "its output")


def _check_tangent(tangent: Any, out: Any, name: str) -> None:
    have, want = spec_of(tangent).shape, spec_of(out).shape
    try:
        fits = np.broadcast_shapes(have, want) == want
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"the jvp rule of {name} gives a tangent of shape {have} for an output of shape {want}"
        )
    dtype = np.dtype(spec_of(out).dtype)
    if dtype.kind not in "fc" and (isinstance(tangent, TracedArray) or np.any(tangent)):
        raise NotDifferentiableError(
            f"the jvp rule of {name} gives a tangent for an output of dtype {dtype}, which has no "
            f"derivative: return a float (0.0 for 0, x.astype(float)), or None as its tangent"
        )


def _lowest(value: Any) -> float:
    """The lowest rank among the levels that a value belongs to."""
    rank = value.level.rank
    while isinstance(value, TracedArray) and value.kind != "duck" and not value.ends:
        rank = value.level.rank
        value = value.primal
    return rank


def _faced(tree: Any, leaves: Any, faces: list) -> tuple:
    wrapped = [x if f is None else f.wrap(x) for x, f in zip(leaves, faces, strict=True)]
    return tuple(tree.unflatten(wrapped))


def _tangent(t: Any, primal: Any) -> Any:
    """A tangent for the user's rule; a symbolic zero is materialised, what has none is None."""
    if t is not None:
        return t
    if not hasattr(primal, "dtype"):
        if isinstance(primal, (float, complex)):
            return np.zeros((), type(primal))[()]
        return None
    if np.dtype(primal.dtype).kind not in "fc":
        return None
    return np.zeros(primal.shape, primal.dtype)[()]


_stop = Opaque(lambda x: x, name="stop_gradient", elementwise=True)


def stop_gradient(x: Any) -> Any:
    """x as a constant: its value without any derivative, in every mode and at every level.

    Works on nested containers.

    >>> import dualad
    >>> dualad.grad(lambda x: x * dualad.stop_gradient(x))(3.0)
    3.0
    """
    return tree_map(_stopped, x)


def _stopped(x: Any) -> Any:
    face = getattr(x, "__dualad_face__", None)
    if face is not None:
        return face.stopped(x)
    if hasattr(x, "__dualad_value__"):  # a value of another kind, such as a symbolic one
        return x.stopped()
    held = getattr(getattr(x, "level", None), "later", None)
    while isinstance(x, TracedArray):
        if x.ends or x.kind == "batched":
            return _stop(x)
        out = x.primal if isinstance(x, Buffer) else _stop(x)
        if out is x:
            break
        x = out
    # What is put off may read this array later: the caller may write to another one.
    return x.copy() if held and type(x) is np.ndarray else x
