"""Gradients: the pullback of 1 from a scalar, the recording of which is used once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..engine.arrays.memory import F64
from ..engine.kinds.recorded import Recorded, recorded, value_of
from ..engine.levels.level import Level
from ..engine.levels.spec import Spec, spec_of
from ..engine.levels.tree import LEAF_TREE, Tree
from ..engine.programs.tape import sweep
from ..engine.requires_grad.grad_mode import recording
from ..errors import ArgumentError, DirectionNeededError, ShapeError
from .argnums import Differentiator, fixing, names_of, selected
from .boundary import own, rebuild, restore, separated
from .plain import PlainLeaves, is_number, plain_value
from .recording import Recording, let_go, number_that_waits

__all__ = ["Gradient", "ValueAndGradient", "grad", "value_and_grad"]

ONE = np.float64(1.0)


def input_spec(x: Any) -> Any:
    """The Spec of an input, which is plain or traced float64."""
    return Spec(x.shape, F64) if type(x) is np.ndarray else spec_of(value_of(x))


def specs_of(values: Sequence[Any]) -> list[Any]:
    """How a tape begins: the Specs of its inputs."""
    return list(map(input_spec, values))


def taped(f: Callable[..., Any], trees: Sequence[Tree], values: Sequence[Any]) -> list[Any]:
    """The tape of a function that writes into nothing, recorded once more."""
    with recording(), Level("grad") as level:
        tape = level.tape = specs_of(values)
        f(*rebuild(trees, [recorded(level, x, k) for k, x in enumerate(values)]))
    return tape


def is_pure(f: Callable[..., Any], args: tuple, options: dict[str, Any]) -> bool:
    """Whether a call is seen to write into nothing, asked where an array is large."""
    if not _asked:
        from .pure import writes_nothing

        _asked.append(writes_nothing)
    return _asked[0](f, args, options)


#: What tells that, once it was needed.
_asked: list[Callable[[Any, tuple, dict[str, Any]], bool]] = []


class ValueAndGradient(Differentiator):
    """See `value_and_grad`."""

    gives_value = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, gradient, aux = self._all(args, kwargs)
        return ((value, aux), gradient) if self.has_aux else (value, gradient)

    def _all(self, args: tuple, kwargs: dict) -> tuple[Any, Any, Any]:
        """Value, gradient, and auxiliary result."""
        nums = selected(self.argnums, len(args))
        f = fixing(self.f, args, nums, kwargs)
        if type(self.argnums) is int and not self.has_aux:
            x = plain_value(args[nums[0]])
            if x is not None:
                return self._by_one(f, args[nums[0]], x, nums, (is_pure, self.f, args, kwargs))
        given = [args[k] for k in nums]
        plain = None if self.has_aux else PlainLeaves.of(given)
        if plain is not None:
            about = is_pure, self.f, args, kwargs
            value, parts, aux = self._by_many(f, given, plain, nums, about)
        else:
            run = Recording("grad", f, given, names_of(nums), self.has_aux, once=True)
            if not run.inputs:
                raise ArgumentError(
                    f"there is nothing to differentiate: argument {self.argnums} of grad holds no "
                    "array or number"
                )
            parts = rebuild(run.trees, run.pull([one(run)], free=True))
            value, aux = run.primal(), run.aux
        gradient = tuple(parts) if isinstance(self.argnums, (tuple, list)) else parts[0]
        return value, gradient, aux

    def _by_one(
        self, f: Callable[..., Any], arg: Any, x: Any, nums: Sequence[int], about: tuple
    ) -> tuple[Any, Any, None]:
        """The same by one argument, which is float64 and has the value x; None for no value.

        about: what tells whether the call writes into arrays, see `Level.pure`.
        """
        with recording(), Level("grad") as level:
            tape = level.tape = [input_spec(x)]
            level.given, level.pure = ((x,), self.f), about
            y = f(recorded(level, x, 0))
            total = None
            if type(y) is not Recorded or y.level is not level or not is_number(y.primal):
                total = number_that_waits(level, y)
                if total is None:
                    run = Recording.of_plain(f, (arg,), nums, tape)
                    run._end(level, y)
                    return run.primal(), run.pull([one(run)], free=True)[0], None
            large, late = level.pool is not None, level.later
            again = partial(taped, f, [LEAF_TREE], (x,)) if level.pure is True else None
        value, (ct,) = self._swept(f, (arg,), nums, tape, 1, (y, total), large, late, again)
        return value, restore(np.zeros(x.shape) if ct is None else own(ct, ()), type(arg)), None

    def _by_many(
        self,
        f: Callable[..., Any],
        given: Sequence[Any],
        plain: PlainLeaves,
        nums: Sequence[int],
        about: tuple,
    ) -> tuple[Any, list[Any], None]:
        """The same by several arguments, or leaves of them: a list of gradients."""
        values = plain.values
        with recording(), Level("grad") as level:
            tape = level.tape = specs_of(values)
            leaves = [recorded(level, x, k) for k, x in enumerate(values)]
            level.given, level.pure = (values, self.f), about
            y, total = f(*rebuild(plain.trees, leaves)), None
            if type(y) is not Recorded or y.level is not level or not is_number(y.primal):
                total = number_that_waits(level, y)
                if total is None:
                    run = Recording.of_plain(f, given, nums, tape)
                    run._end(level, y)
                    found = rebuild(run.trees, run.pull([one(run)], free=True))
                    return run.primal(), found, None
            large, late = level.pool is not None, level.later
            again = partial(taped, f, plain.trees, values) if level.pure is True else None
        n = len(values)
        value, shares = self._swept(f, given, nums, tape, n, (y, total), large, late, again)
        parts: list[Any] = []
        for x, ct in zip(values, shares, strict=True):
            if type(ct) is not np.ndarray or not ct.flags.writeable:
                ct = np.zeros(x.shape) if ct is None else own(ct, ())
            parts.append(ct)
        parts = [
            p if type(p) is np.ndarray is t else restore(p, t)
            for p, t in zip(separated(parts), plain.types, strict=True)
        ]
        return value, rebuild(plain.trees, parts), None

    def _swept(
        self,
        f: Callable[..., Any],
        given: Sequence[Any],
        nums: Sequence[int],
        tape: list,
        count: int,
        result: tuple[Any, Any],
        large: bool,
        late: Any,
        again: Callable[[], list] | None,
    ) -> tuple[Any, list[Any]]:
        """The value, and the cotangents of the inputs of a tape, `count` leaves.

        result: the recorded number, and what it is made of where it waits; again: records the
        tape once more.
        """
        y, total = result
        seeds = [(y.tangent, ONE)]
        try:
            try:
                shares = sweep(tape, count, seeds, True, False, large, late, again)
            except DirectionNeededError:
                shares = Recording.of_plain(f, given, nums, tape).by_forward_mode([ONE])
        except BaseException as failure:
            let_go(late, failure)
            raise
        if late:
            late.finish()
        y = y.primal if total is None else total.found()
        return restore(y, np.float64) if self.gives_value else None, shares


class Gradient(ValueAndGradient):
    """See `grad`."""

    gives_value = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _, gradient, aux = self._all(args, kwargs)
        return (gradient, aux) if self.has_aux else gradient


def one(run: Recording) -> Any:
    """The cotangent 1 of a scalar real output."""
    if run.out_tree is LEAF_TREE and type(run.out[0]) is np.float64:
        return ONE
    if len(run.out) != 1 or run.out_tree.describe() != "*":
        raise ShapeError(
            f"grad needs a function with one scalar output, this one returned "
            f"{run.out_tree.describe()}: use jacobian or vjp, or has_aux=True for extra results"
        )
    out = run.out[0]
    if out.shape != ():
        raise ShapeError(
            f"grad needs a scalar output, this function returned an array of shape {out.shape}: "
            f"use jacobian, or vjp with a cotangent"
        )
    if np.dtype(out.dtype).kind == "c":
        raise ShapeError(
            "grad needs a real output, this function returned a complex number: take its real "
            "part or modulus, or use vjp with a cotangent"
        )
    if out.dtype == np.float64 or np.dtype(out.dtype).kind != "f":
        return ONE
    return np.ones((), out.dtype)[()]


def value_and_grad(
    f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> ValueAndGradient:
    """A function that gives (f(x), gradient of f at x) in one run; see `grad`.

    >>> import dualad
    >>> dualad.value_and_grad(lambda x: x**3)(2.0)
    (np.float64(8.0), 12.0)
    """
    return ValueAndGradient(f, argnums, has_aux)


def grad(f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Gradient:
    """The gradient of a function with a scalar real output, by reverse mode.

    Args:
        f: a function of arrays, floats or nested containers of them, written in NumPy.
        argnums: the argument, or tuple of arguments, to differentiate with respect to.
        has_aux: f returns (output, aux), the gradient function (gradient, aux).

    Returns:
        A function of the same arguments. The gradient has the structure, shapes and dtypes of the
        argument. For complex arguments it follows PyTorch's convention (the conjugate of JAX's).

    Raises:
        ShapeError: the output is not a real scalar.

    >>> import numpy as np, dualad
    >>> dualad.grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Gradient(f, argnums, has_aux)
