"""The arrays that a trace reads beside its variables: read anew, or as they were."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.bits import same_bits
from ..arrays.guard import error_state
from .operations import Guard, Operation, Untraceable
from .shown import Shown

__all__ = ["Constants", "settled_constants"]


class Constants:
    """The arrays that a trace reads beside its variables.

    An array is kept itself, so that a program sees what is written into it between two calls; but
    a copy of it is kept where the function itself writes into it while it runs.
    """

    __slots__ = ("_known", "_quiet", "_state", "copies", "shown")

    def __init__(self) -> None:
        #: NumPy's error state where the trace began, and others with what they mean
        self._state = (error_state(), np.geterr())
        self._quiet: tuple[Any, bool] = (self._state[0], False)
        self._known: dict[int, list[tuple[Constant, np.ndarray]]] = {}
        #: copies that derivative rules keep of arrays, and these
        self.copies: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        #: what the function has in place of some scalars
        self.shown = Shown()

    def constant(self, array: np.ndarray) -> Any:
        """The array as an operand of a step, as it is now."""
        if not array.flags.writeable and array.base is None:
            return array
        known = self._known.setdefault(id(array), [])
        if not known or not same_bits(known[-1][1], array):
            known.append((Constant(array), array.copy("K")))
        return known[-1][0]

    def is_quiet(self) -> bool:
        """Whether NumPy gives fewer warnings here than where the trace began."""
        state = error_state()
        if state is not self._quiet[0]:
            self._quiet = (state, self._decide())
        return self._quiet[1]

    def _decide(self) -> bool:
        now = np.geterr()
        if error_state() is self._state[0] or now == self._state[1]:
            return False
        if not {"raise", "call", "log", "print"}.isdisjoint(now.values()):
            raise Untraceable("it tells NumPy itself what to do at an error (np.errstate)", True)
        return "ignore" in now.values()

    def close(self) -> None:
        """Decide for each constant, at the end of the trace, what the program reads."""
        for versions in self._known.values():
            for constant, copy in versions:
                changed = len(versions) > 1 or not same_bits(constant.array, copy)
                constant.value = copy if changed else self._original(constant.array)

    def _original(self, array: np.ndarray) -> np.ndarray:
        """What an array, or the one that it is a view of, was copied from, if it is that still."""
        root = array
        while isinstance(root.base, np.ndarray) and id(root) not in self.copies:
            root = root.base
        copy, original = self.copies.get(id(root), (None, None))
        if copy is None or original is None or copy.strides != original.strides:
            return array
        if not same_bits(copy, original):
            return array
        if array is copy:
            return original
        start = _address(array) - _address(copy)
        low, high = np.lib.array_utils.byte_bounds(copy)
        first, last = np.lib.array_utils.byte_bounds(array)
        whole = original.flags.c_contiguous or original.flags.f_contiguous
        if not whole or first < low or last > high or array.dtype != original.dtype:
            return array
        flat = original.T if not original.flags.c_contiguous else original
        return np.ndarray(array.shape, array.dtype, flat, start, array.strides)


def _address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


class Constant:
    """An array beside the variables, whose value is known at the end of a trace."""

    __slots__ = ("array", "value")

    def __init__(self, array: np.ndarray):
        self.array, self.value = array, array


def settled_constants(step: Operation | Guard) -> Operation | Guard:
    """A step with its constants, after the trace."""
    if isinstance(step, Guard):
        return step

    def new(x: Any) -> Any:
        if type(x) is Constant:
            return x.value
        return type(x)([new(v) for v in x]) if type(x) in (tuple, list) else x

    if any(type(x) is Constant for x in step.operands):
        step = step._replace(operands=new(step.operands))
    return (
        step._replace(params={k: new(v) for k, v in step.params.items()}) if step.params else step
    )
