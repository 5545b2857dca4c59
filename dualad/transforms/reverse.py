"""Reverse mode: the value of a function, and its recorded tangent program transposed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec, spec_of
from ..engine.levels.tree import flatten_like
from ..engine.programs.compilable import Compilable
from ..engine.programs.linear import LinearProgram, program_of_tape
from .boundary import match, rebuild
from .recording import Recording

__all__ = ["Pullback", "vjp"]


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of f and its pullback, from cotangents of the output to those of the primals.

    The pullback is the transpose of the recorded tangent program. It may be called many times.

    Args:
        f: a function of arrays, floats or nested containers of them, written in NumPy.
        primals: the arguments.
        has_aux: f returns (output, aux).

    Returns:
        (output, pullback), or (output, pullback, aux). pullback(cotangent) takes the structure of
        the output and gives a tuple with one entry per primal.

    >>> import numpy as np, dualad
    >>> y, pullback = dualad.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> pullback(1.0)
    (3.0, 2.0)
    """
    names = [f"primal {k}" for k in range(len(primals))]
    run = Recording("vjp", f, primals, names, has_aux, lasting=True)
    pullback = Pullback(run)
    return (run.primal(), pullback, run.aux) if has_aux else (run.primal(), pullback)


class Pullback(Compilable):
    """The transposed derivative of a function at one point; see `vjp`."""

    def __init__(self, run: Recording):
        self._run = run

    def __call__(self, cotangent: Any) -> tuple:
        run = self._run
        leaves = flatten_like(run.out_tree, cotangent, "the cotangent", "the output")
        cts = [
            match(ct, floating(v), f"the cotangent of output leaf {k}")
            for k, (ct, v) in enumerate(zip(leaves, run.out, strict=True))
        ]
        return tuple(rebuild(run.trees, run.pull(cts)))

    @property
    def program(self) -> LinearProgram:
        """The linear program that the pullback transposes."""
        return program(self._run)


def floating(value: Any) -> Any:
    """What a cotangent has to be like: a value whose dtype has no derivative, as float64."""
    dtype = np.dtype(value.dtype)
    return value if dtype.kind in "fc" else Spec(value.shape, np.dtype(np.float64))


def program(run: Recording) -> LinearProgram:
    """The linear program that was recorded."""
    inputs = [spec_of(i.value) for i in run.inputs]
    outputs = [(k, spec_of(floating(v))) for k, v in zip(run.variables, run.out, strict=True)]
    return program_of_tape(run.tape, inputs, outputs)
