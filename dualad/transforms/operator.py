"""A linearized function as an operator of SciPy, for solvers that ask for products alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.programs.linear import LinearProgram
from ..errors import NotDifferentiableError
from ..extras import required

__all__ = ["linear_operator"]


def linear_operator(program: LinearProgram) -> Any:
    """A `scipy.sparse.linalg.LinearOperator` that applies a program and its adjoint.

    All inputs are one vector, in order, and so are all outputs.

    Raises:
        NotDifferentiableError: real and complex numbers are mixed, so that the map is not linear
            over either.
    """
    linalg = required("scipy.sparse.linalg", "a LinearOperator", "pip install scipy")
    kinds = {np.dtype(s.dtype).kind for s in (*program.inputs, *program.outputs)}
    if len(kinds) > 1:
        raise NotDifferentiableError(
            "a LinearOperator is linear over the real or over the complex numbers, but this map "
            "has some of both among its inputs and outputs: take real and imaginary parts apart"
        )

    def forward(v: np.ndarray) -> np.ndarray:
        return joined(program(*parts(v, program.inputs)), program.outputs)

    def adjoint(u: np.ndarray) -> np.ndarray:
        return joined(program.pull(parts(u, program.outputs)), program.inputs)

    dtype = np.result_type(*(s.dtype for s in (*program.inputs, *program.outputs)))
    shape = (size(program.outputs), size(program.inputs))
    return linalg.LinearOperator(shape, matvec=forward, rmatvec=adjoint, dtype=dtype)


def size(specs: Sequence[Any]) -> int:
    return sum(int(np.prod(s.shape)) for s in specs)


def parts(v: np.ndarray, specs: Sequence[Any]) -> list[Any]:
    """A vector (or a column of one) cut into arrays of these shapes and dtypes."""
    flat, out, start = np.ravel(v), [], 0
    for s in specs:
        end = start + int(np.prod(s.shape))
        out.append(flat[start:end].astype(s.dtype).reshape(s.shape)[()])
        start = end
    return out


def joined(arrays: Sequence[Any], specs: Sequence[Any]) -> np.ndarray:
    """The entries of all arrays as one vector; None stands for zeros."""
    flat = [
        np.zeros(size([s]), s.dtype) if a is None else np.ravel(a)
        for a, s in zip(arrays, specs, strict=True)
    ]
    return np.concatenate(flat)
