"""Linear primitives: the transpose in each argument; each is its own derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..arrays.memory import F64, LARGE
from ..arrays.spent import is_spent
from ..levels.spec import Spec
from .chain import CHAINED
from .composite import add_all
from .primitive import Primitive
from .shape import fit, zeros_like

__all__ = ["Linear"]


class Linear(Primitive):
    """Linear in each argument that has a transpose; with joint=True in all of them together.

    transposes: for each positional argument a function (cotangent, *args, **params), where the
    linear arguments may be given as their Spec; None for an argument that has no derivative.
    rules:      for each argument in which the operation is not linear (the matrix of a solve) its
                forward rule, as of a Composite; None elsewhere, and not combined with joint.
    batch:      (args, mine, params) -> result, batch axes leading; default: loop and stack.
    spec:       (*args, **params) -> Spec; default: the operation on zeros.
    show:       (*names, **params) -> NumPy expression, for printing.
    add_into:   (array, cotangent, **params): add the transpose into an owned array in place.
    add_share:  (k, array, cotangent, *args, **params): add the transpose in argument k into an
                large array that nobody else holds, up to rounding; whether that was done.
    in_stack:   (k, *args): where each entry along the first axis is an operation of its own, the
                transpose in argument k of some of them, as a function (cotangent, operand, out)
                on arrays, up to rounding, its operand, and along which axes of the cotangent it
                treats all entries alike; else None.
    transpose_all: (cotangent, parents, *args, **params): pairs (k, transpose in argument k) for
                the parents that are not None, where one pass over many arguments gives them all.
    quick:      (*args, **params): the operation up to rounding on arguments of which one is a
                plain tangent, where that or the result is large, and it is quicker than what the
                value of the function is computed by; else None.
    is_total:   (argument, **params): whether it is the sum of all entries as NumPy adds them.
    """

    family = "linear"

    def __init__(
        self,
        impl: Callable[..., Any],
        *transposes: Callable[..., Any] | None,
        rules: tuple[Callable[..., Any] | None, ...] = (),
        joint: bool = False,
        variadic: bool = False,
        batch: Callable[..., Any] | None = None,
        spec: Callable[..., Spec] | None = None,
        show: Callable[..., str] | None = None,
        add_into: Callable[..., None] | None = None,
        add_share: Callable[..., bool] | None = None,
        in_stack: Callable[..., Any] | None = None,
        transpose_all: Callable[..., Iterable[tuple[int, Any]]] | None = None,
        quick: Callable[..., Any] | None = None,
        is_total: Callable[..., bool] | None = None,
        name: str | None = None,
    ):
        super().__init__(impl, name)
        self.transposes = transposes
        self.rules = rules
        self.is_chained = any(type(rule) in CHAINED for rule in rules)
        self.joint = joint
        self.variadic = variadic
        self._batch = batch
        self._spec = spec
        self.show = show
        self.add_into = add_into
        self.add_share = add_share
        self.in_stack = in_stack
        self.transpose_all = transpose_all
        self.quick = quick
        self.is_total = is_total

    def movable(self, n: int) -> list[bool]:
        """For each of n arguments whether the operation has a transpose in it."""
        return [True] * n if self.variadic else [t is not None for t in self.transposes]

    def transpose_in(self, k: int) -> Callable[..., Any] | None:
        if self.variadic:
            transpose = self.transposes[0]
            assert transpose is not None
            return lambda ct, *args, **params: transpose(ct, k, *args, **params)
        return self.transposes[k]

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        if self.joint:
            moved = [
                t if t is not None else zeros_like(a) if moves else a
                for t, a, moves in zip(tangents, args, self.movable(len(args)), strict=True)
            ]
            return fit(self(*moved, **params), out)
        if len(args) == 1 and tangents[0] is not None:
            t = None if self.quick is None else self.quick(tangents[0], **params)
            return fit(self(tangents[0], **params) if t is None else t, out)
        total = self.rule(tangents, out, args, params)
        return None if total is None else fit(total, out)

    def rule(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        """The tangent of out, before it is brought to its shape and dtype."""
        total: list[Any] = []
        for k, t in enumerate(tangents):
            if t is None:
                continue
            if self.variadic or self.transposes[k] is not None:
                moved, share = (*args[:k], t, *args[k + 1 :]), None
                if self.quick is not None and type(t) is np.ndarray and is_large(t, out):
                    share = self.quick(*moved, **params)
                if share is None:
                    share = self(*moved, **params)
            elif self.rules and (rule := self.rules[k]) is not None:
                share = rule(t, out, *args, **params)
            else:
                continue
            add_up(total, share)
        return total[0] if total else None

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        if self._batch is None:
            return super().batch(args, mine, params)
        return self._batch(args, mine, **params)

    def out_spec(self, args: tuple, params: dict) -> Spec:
        if self._spec is not None:
            return self._spec(*args, **params)
        return super().out_spec(args, params)


def is_large(t: np.ndarray, out: Any) -> bool:
    """Whether a tangent or a result is large."""
    return t.size >= LARGE or (type(out) is np.ndarray and out.size >= LARGE)


def add_up(total: list[Any], share: Any) -> None:
    """Add to the tangent that is in a list, if any is; in place where nobody else has it."""
    if not total:
        total.append(share)
        return
    so_far = type(total[0])
    if so_far is np.ndarray is type(share) and share.size >= LARGE and is_spent(total, 0):
        if total[0].shape == share.shape and total[0].dtype is F64 is share.dtype:
            total[0] += share
            return
    total[0] = add_all(total[0], share)
