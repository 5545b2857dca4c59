"""Linear functions: the derivative at one point as one, and the transpose of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..engine.levels.level import Level
from ..engine.levels.spec import spec_of
from ..engine.levels.tree import flatten, flatten_like
from ..engine.programs.compilable import Compilable
from ..engine.programs.entries import pull_custom
from ..engine.programs.linear import LinearProgram, output, pull_composite
from ..engine.programs.tape import push_tape
from ..engine.programs.variable import variable
from ..errors import ArgumentError, DirectionNeededError
from .boundary import match, outputs_of, own, rebuild, restore, separated, tangents_for
from .forward import zero_like
from .recording import Recording
from .reverse import floating, program

__all__ = ["Linearized", "linear_transpose", "linearize"]

#: How often a linearized function is applied by its tape, before its program is written.
FEW = 4


def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """The value of f and its derivative at primals as a linear function, found in one run.

    Returns:
        (output, f_lin): f_lin(*tangents) is the derivative along the tangents, without running f
        again; f_lin.program is the `LinearProgram`, which can be printed, transposed and run.

    >>> import numpy as np, dualad
    >>> y, f_lin = dualad.linearize(lambda x: np.sin(x) * x, 0.0)
    >>> float(f_lin(1.0))
    0.0
    """
    names = [f"primal {k}" for k in range(len(primals))]
    run = Recording("linearize", f, primals, names, has_aux, lasting=True)
    f_lin = Linearized(run)
    return (run.primal(), f_lin, run.aux) if has_aux else (run.primal(), f_lin)


class Linearized(Compilable):
    """The derivative of a function at one point, as a function of tangents; see `linearize`."""

    def __init__(self, run: Recording):
        self._run = run
        self._uses = 0
        if any(entry[0] in (pull_composite, pull_custom) for entry in run.tape[len(run.inputs) :]):
            self._uses = FEW  # run on linear variables: that is what shows whether it is linear

    @cached_property
    def program(self) -> LinearProgram:
        """The derivative as a linear program."""
        return program(self._run)

    def as_linear_operator(self) -> Any:
        """The derivative as a `scipy.sparse.linalg.LinearOperator`, with its adjoint.

        All arguments of the function are one vector, in order, and so are all results.

        >>> import numpy as np, dualad
        >>> from scipy.sparse.linalg import cg
        >>> y, f_lin = dualad.linearize(lambda x: x + x[::-1] / 2, np.zeros(4))
        >>> cg(f_lin.as_linear_operator(), np.array([3.0, 0.0, 0.0, 0.0]))[0].round(6)
        array([ 4.,  0.,  0., -2.])
        """
        from .operator import linear_operator

        return linear_operator(self.program)

    def _push(self, moves: list[Any]) -> Sequence[Any]:
        """By the tape the first times: writing the program costs as much as a few of them."""
        if self._uses >= FEW:
            return self.program(*moves)
        self._uses += 1
        run = self._run
        out = push_tape(run.tape, moves, run.variables)
        return [
            np.zeros(v.shape, floating(v).dtype)[()] if t is None else t
            for t, v in zip(out, run.out, strict=True)
        ]

    def __call__(self, *tangents: Any) -> Any:
        run = self._run
        if len(tangents) != len(run.trees):
            raise ArgumentError(
                f"the linearized function takes {len(run.trees)} tangents, got {len(tangents)}"
            )
        moves = tangents_for(run.inputs, run.trees, tangents, "tangent")
        run.check()
        try:
            out = separated([own(t, moves) for t in self._push(moves)])
        except DirectionNeededError:
            out = run.push(moves)
        return run.out_tree.unflatten(
            [restore(t, type(t), f) for t, f in zip(out, run.faces, strict=True)]
        )


def linear_transpose(f: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple]:
    """The transpose of a linear function: f is run once, on linear variables without a value.

    The transpose is the adjoint under the real inner product Re<a, b>; for real arrays that is
    the ordinary transpose, for complex ones the conjugate transpose (JAX's is unconjugated).

    Args:
        f: a linear function; what is not linear in it is an error that names the operation.
        primals: examples of the arguments, of which only shape and dtype are read.

    >>> import numpy as np, dualad
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> dualad.linear_transpose(lambda x: A @ x, np.zeros(2))(np.array([1.0, 0.0]))[0]
    array([1., 2.])
    """
    leaves, trees, faces = [], [], []
    for primal in primals:
        part, tree = flatten(primal)
        leaves += part
        trees.append(tree)
        faces += [getattr(x, "__dualad_face__", None) for x in part]
    inputs = [floating(spec_of(x)) for x in leaves]
    with Level("linear_transpose") as level:
        level.tape = [None] * len(inputs)
        variables = [variable(level, s, k) for k, s in enumerate(inputs)]
        wrapped = [v if f is None else f.wrap(v) for v, f in zip(variables, faces, strict=True)]
        values, out_tree, _ = outputs_of(f(*rebuild(trees, wrapped)))
        outputs = [output(level, v, floating(v)) for v in values]
        program = LinearProgram(level.tape, inputs, outputs)

    def transposed(cotangent: Any) -> tuple:
        cts = flatten_like(out_tree, cotangent, "the cotangent", "the output")
        checked = [
            match(ct, spec, f"the cotangent of output leaf {k}")
            for k, (ct, spec) in enumerate(zip(cts, program.outputs, strict=True))
        ]
        shares = [
            zero_like(s) if g is None else own(g, checked)
            for g, s in zip(program.pull(checked), inputs, strict=True)
        ]
        given = zip(shares, leaves, faces, strict=True)
        return tuple(rebuild(trees, [restore(g, type(x), f) for g, x, f in given]))

    transposed.program = program.transpose()  # type: ignore[attr-defined]
    return transposed
