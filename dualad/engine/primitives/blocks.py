"""Large arrays by blocks: value and tangent together, and the shares of a sweep with their sum.

On large arrays an operation costs what it moves: every pass over an array goes through main
memory, and a fresh result faults its pages in. Here one rule is computed on blocks that stay in
the cache, by the same ufuncs in the same order, so that the results are the same to the last bit.
In the sweep a cotangent that nobody else holds is added to in place, or written over (`spent`);
`fused` sweeps several entries so at once.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays.cutting import by_blocks, laid_out
from ..arrays.memory import F64, POOL, Pool, large_result
from ..arrays.spent import added, is_free, subtracted
from .block_rules import NotANumber, joint_rule, share_rule
from .steps import Steps

__all__ = ["Later", "blockwise", "blockwise_pull", "pool_of"]


def pool_of(level: Any) -> Pool:
    """The pool, which keeps what comes back until the level is closed."""
    if level.pool is None:
        level.pool = POOL.enter()
    return POOL


def result_at(level: Any, ufunc: Callable[..., Any], *operands: Any) -> Any:
    """A large result of an operation that is recorded at a level."""
    pool_of(level)
    return large_result(ufunc, *operands)


def blockwise(
    namespace: dict[str, Any],
    value: str,
    tangent: str,
    arrays: Sequence[str],
    numbers: Sequence[str],
    singular: bool = False,
) -> Callable[..., Any] | None:
    """A function of a level, arrays and numbers that gives value and tangent, from their formulas.

    It gives None where the arrays are not plain float64 of one shape in order, and where a
    singular rule gives a NaN. None instead of a function where the formulas are more than ufuncs,
    or give nothing to save.
    """
    names = [*arrays, *numbers]
    if not can_be_stored(
        namespace, set(numbers), value, *([] if tangent in arrays else [tangent])
    ):
        return None
    return Later(lambda: _value_and_tangent(
        joint_rule(
            namespace, value, tangent, names, set(numbers), singular and tangent not in arrays
        ),
        names.index(tangent) if tangent in arrays else None, len(arrays),
    ))  # fmt: skip


def can_be_stored(namespace: dict[str, Any], numbers: set[str], *formulas: str) -> bool:
    """Whether formulas are no more than ufuncs of blocks."""
    steps = Steps(namespace, numbers)
    return all(steps.store(formula, "out") for formula in formulas)


def _value_and_tangent(made: Any, shared: int | None, count: int) -> Callable[..., Any]:
    """A function of a level, arrays (so many) and numbers, from a rule on blocks.

    shared: which of the arrays is the tangent.
    """
    of_blocks, spares = made.function(), made.spares

    def rule(level: Any, *given: Any) -> tuple[Any, Any] | None:
        laid = laid_out(2 + spares, given[:count])
        if laid is None:
            return None
        pool = pool_of(level)
        if shared is None:
            tangent = written = pool.lend(laid.shape)
        else:
            tangent, written = given[shared], None
            if tangent.shape != laid.shape:
                return None
        values = pool.lend(laid.shape)
        try:
            by_blocks(of_blocks, spares, laid, (values, written), given[count:])
        except NotANumber:
            return None
        return values, tangent

    return rule


def blockwise_pull(
    namespace: dict[str, Any],
    share: str,
    sign: str,
    arrays: Sequence[str],
    numbers: Sequence[str],
) -> Callable[..., Any] | None:
    """A function of a cotangent c, what has come so far and (*arrays, *numbers): the sum so far.

    What has come is added to in place where nobody else holds it, and is None at first. With
    over=True nobody else holds c, which may be written over. It gives None where the arrays are
    not plain float64 of one shape in order.
    """
    if share == "c":
        return added if sign == "+" else subtracted
    if not can_be_stored(namespace, set(numbers), share):
        return None
    return Later(lambda: _pull(
        share_rule(namespace, share, sign, [*arrays, *numbers], set(numbers)), len(arrays)
    ))  # fmt: skip


def _pull(made: Any, count: int) -> Callable[..., Any]:
    """A function as of `blockwise_pull`, that reads so many arrays, from rules on blocks."""
    of_blocks, spares = made.function(), made.spares

    def rule(c: Any, s: Any, reads: Sequence[Any], over: bool = False) -> Any:
        laid = laid_out(1 + spares, (c, *reads[:count]))
        if laid is None or laid.shape != c.shape:
            return None
        if s is None:
            total = c if over else POOL.lend(laid.shape)
        elif type(s) is not np.ndarray or s.shape != laid.shape or s.dtype is not F64:
            return None
        elif is_free(s, sys.getrefcount(s)) and s.flags.c_contiguous:
            # Written through a reshape, which of an array in another order would be a copy.
            total = s
        else:
            total = POOL.lend(laid.shape)
        by_blocks(of_blocks, spares, laid, (total, s), (*reads[count:], total is c))
        return total

    return rule


#: Held while a rule is made.
_making = threading.RLock()


class Later:
    """A rule that is made when it is first called: few programs have arrays so large.

    It then takes its own place in the generated code that calls it, where it is `name` of `scope`.
    """

    def __init__(self, make: Callable[[], Callable[..., Any]]):
        self.make = make
        self.scope: dict[str, Any] = {}
        self.name = "rule"

    def __call__(self, *args: Any) -> Any:
        with _making:
            rule = self.scope.get(self.name, self)
            if rule is self:
                rule = self.scope[self.name] = self.make()
        return rule(*args)
