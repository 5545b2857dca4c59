"""Jacobians: all tangents, or all cotangents, in one pass along a batch axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.kinds.batched import batched, unbatch
from ..engine.kinds.batched_dual import BatchedDual
from ..engine.levels.level import Level
from ..engine.programs.tape import push_tape, sweep
from ..errors import ArgumentError, DirectionNeededError, ShapeError
from .argnums import Differentiator, fixing, selected
from .batching import MappingError
from .boundary import Input, inputs_of, rebuild, restore
from .forward import basis, push_many, pushed, split_columns
from .plain import moved_vectors
from .recording import Recording

__all__ = ["jacfwd", "jacobian", "jacrev", "value_and_jacobian"]


class _Jacobian(Differentiator):
    """What the Jacobian functions share: arguments, chunks, and the shape of the result."""

    with_value = False

    def __init__(
        self,
        f: Callable[..., Any],
        argnums: Any = 0,
        has_aux: bool = False,
        *,
        chunk_size: int | None = None,
        holomorphic: bool = False,
    ):
        super().__init__(f, argnums, has_aux)
        if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
            raise MappingError(
                f"chunk_size must be None or an integer greater than 0, got {chunk_size!r}"
            )
        self.chunk_size, self.holomorphic = chunk_size, holomorphic

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        nums = selected(self.argnums, len(args))
        g = fixing(self.f, args, nums, kwargs)
        primals, names = [args[k] for k in nums], [f"argument {k}" for k in nums]
        value, blocks, tree, faces, inputs, trees, aux = self._blocks(g, primals, names)
        self._check_dtypes(inputs)
        jac = tree.unflatten(
            [self._row(row, f, inputs, trees) for row, f in zip(blocks, faces, strict=True)]
        )
        out = (value, jac) if self.with_value else jac
        return (out, aux) if self.has_aux else out

    def _row(self, row: list[Any], face: Any, inputs: list[Input], trees: list) -> Any:
        """The derivative of one output, in the structure of the arguments."""
        leaves = [
            restore(b, np.ndarray if np.ndim(b) else i.kind, face or i.face)
            for b, i in zip(row, inputs, strict=True)
        ]
        parts = rebuild(trees, leaves)
        return tuple(parts) if isinstance(self.argnums, (tuple, list)) else parts[0]

    def _check_dtypes(self, inputs: list[Input]) -> None:
        if not self.holomorphic and any(i.value.dtype.kind == "c" for i in inputs):
            raise ShapeError(
                "a Jacobian with respect to a complex argument is defined for holomorphic "
                "functions: pass holomorphic=True, or differentiate with respect to real and "
                "imaginary part"
            )

    def _blocks(self, f: Callable[..., Any], primals: list, names: list) -> tuple:
        raise NotImplementedError

    def _chunks(self, n: int) -> list[tuple[int, int]]:
        if self.chunk_size is None:
            return [(0, n)]
        step = self.chunk_size or max(n, 1)
        return [(lo, min(lo + step, n)) for lo in range(0, n, step)] or [(0, 0)]


class ForwardJacobian(_Jacobian):
    """See `jacfwd`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.has_aux or self.chunk_size is not None:
            return super().__call__(*args, **kwargs)
        nums = selected(self.argnums, len(args))
        with Level("jacfwd") as lanes, Level("jacfwd") as level:
            level.lanes = lanes
            moving = moved_vectors(level, [args[k] for k in nums])
            if moving is not None:
                result = fixing(self.f, args, nums, kwargs)(*moving)
                if type(result) is BatchedDual and result.level is level:
                    return self._of_vectors(moving, result.tangent)
                return self._of_result(level, result, args, nums)
        return super().__call__(*args, **kwargs)

    def _of_vectors(self, inputs: list[Any], tangents: np.ndarray) -> Any:
        """The Jacobian of one array by vectors, from all its tangents."""
        out, start = [], 0
        moved = tangents.transpose((*range(1, tangents.ndim), 0))
        for x in inputs:
            stop = start + x.shape[0]
            out.append(moved[..., start:stop])
            start = stop
        return tuple(out) if isinstance(self.argnums, (tuple, list)) else out[0]

    def _of_result(self, level: Level, result: Any, args: tuple, nums: tuple[int, ...]) -> Any:
        """The Jacobian of any result that f has given for vectors."""
        inputs, trees = inputs_of([args[k] for k in nums], [f"argument {k}" for k in nums])
        n = sum(i.shape[0] for i in inputs)
        assert level.lanes is not None
        _, rows, tree, faces, _ = pushed(level.lanes, level, result, n)
        jac = [
            self._row(split_columns(r, inputs), face, inputs, trees)
            for r, face in zip(rows, faces, strict=True)
        ]
        return tree.unflatten(jac)

    def _blocks(self, f: Callable[..., Any], primals: list, names: list) -> tuple:
        inputs, trees = inputs_of(primals, names)
        n = sum(math.prod(i.shape) for i in inputs)
        columns: list[list[Any]] = []
        for lo, hi in self._chunks(n):
            value, tangents, tree, faces, aux = self._chunk(f, inputs, trees, lo, hi)
            columns.append(tangents)
        rows = [c[0] if len(c) == 1 else np.concatenate(c) for c in zip(*columns, strict=True)]
        blocks = [split_columns(r, inputs) for r in rows]
        return value, blocks, tree, faces, inputs, trees, aux

    def _chunk(self, f: Callable[..., Any], inputs: list, trees: list, lo: int, hi: int) -> tuple:
        blocks = basis(inputs, lo, hi)
        return push_many(f, inputs, trees, blocks, hi - lo, self.has_aux)


class ReverseJacobian(_Jacobian):
    """See `jacrev`."""

    def _blocks(self, f: Callable[..., Any], primals: list, names: list) -> tuple:
        run = Recording("jacrev", f, primals, names, self.has_aux)
        return self._finish(run, self._by_rows(run))

    def _by_rows(self, run: Recording) -> list[list[Any]]:
        """By reverse mode, unless at this point the answer depends on the direction."""
        try:
            return self._reverse(run)
        except DirectionNeededError:
            return run.jacobian()

    def _finish(self, run: Recording, blocks: list) -> tuple:
        return run.primal(), blocks, run.out_tree, run.faces, run.inputs, run.trees, run.aux

    def _reverse(self, run: Recording) -> list[list[Any]]:
        blocks = []
        for k, out in enumerate(run.out):
            n = math.prod(out.shape)
            if run.variables[k] is None:
                blocks.append([np.zeros((*out.shape, *i.shape), i.dtype) for i in run.inputs])
            elif out.shape == () and n == 1:
                blocks.append(self._pull(run, k, np.ones((), out.dtype)[()]))
            else:
                parts = [self._rows(run, k, out, lo, hi) for lo, hi in self._chunks(n)]
                whole = (
                    parts[0]
                    if len(parts) == 1
                    else [np.concatenate(p) for p in zip(*parts, strict=True)]
                )
                blocks.append(
                    [
                        np.reshape(b, (*out.shape, *i.shape))
                        for b, i in zip(whole, run.inputs, strict=True)
                    ]
                )
        return blocks

    def _rows(self, run: Recording, k: int, out: Any, lo: int, hi: int) -> list[Any]:
        with Level("jacrev") as level:
            (ct,) = basis([out], lo, hi)
            pulled = self._pull(run, k, batched(level, ct, hi - lo))
            return [unbatch(level, p, hi - lo) for p in pulled]

    def _pull(self, run: Recording, k: int, ct: Any) -> list[Any]:
        """Cotangents of the inputs; for holomorphic functions the rows are conjugated back."""
        variable = run.variables[k]
        assert variable is not None
        seeds = [(variable, ct)]
        shares = sweep(run.tape, len(run.inputs), seeds, False, False, run.large)
        out = [
            np.zeros(i.shape, i.dtype) if s is None else s
            for s, i in zip(shares, run.inputs, strict=True)
        ]
        return [
            np.conj(s) if i.dtype.kind == "c" else s for s, i in zip(out, run.inputs, strict=True)
        ]


class Jacobian(ReverseJacobian):
    """See `jacobian`."""

    def __init__(
        self,
        f: Callable[..., Any],
        argnums: Any = 0,
        has_aux: bool = False,
        *,
        mode: str = "auto",
        **options: Any,
    ):
        super().__init__(f, argnums, has_aux, **options)
        if mode not in ("auto", "forward", "reverse"):
            raise ArgumentError(f"mode must be 'auto', 'forward' or 'reverse', got {mode!r}")
        self.mode = mode
        self.last_mode: str | None = None

    def _blocks(self, f: Callable[..., Any], primals: list, names: list) -> tuple:
        run = Recording("jacobian", f, primals, names, self.has_aux)
        n_in = sum(math.prod(i.shape) for i in run.inputs)
        n_out = sum(math.prod(v.shape) for v in run.out)
        self.last_mode = cheaper(n_in, n_out) if self.mode == "auto" else self.mode
        if self.last_mode == "reverse":
            return self._finish(run, self._by_rows(run))
        try:
            return self._finish(run, self._forward(run, n_in))
        except DirectionNeededError:
            return self._finish(run, run.jacobian())

    def _forward(self, run: Recording, n: int) -> list[list[Any]]:
        """Push all basis tangents through the tape: the function is not run again."""
        columns = [self._columns(run, lo, hi) for lo, hi in self._chunks(n)]
        rows = [c[0] if len(c) == 1 else np.concatenate(c) for c in zip(*columns, strict=True)]
        return [split_columns(r, run.inputs) for r in rows]

    def _columns(self, run: Recording, lo: int, hi: int) -> list[Any]:
        with Level("jacobian") as level:
            blocks = basis(run.inputs, lo, hi)
            tangents = [batched(level, b, hi - lo) for b in blocks]
            v = push_tape(run.tape, tangents, run.variables)
            return [
                np.zeros((hi - lo, *o.shape), o.dtype) if t is None else unbatch(level, t, hi - lo)
                for t, o in zip(v, run.out, strict=True)
            ]


class ValueAndJacobian(Jacobian):
    """See `value_and_jacobian`."""

    with_value = True


def cheaper(n_in: int, n_out: int) -> str:
    """The mode that needs fewer passes; reverse costs a little more per pass."""
    return "forward" if n_in <= 2 * n_out else "reverse"


def jacfwd(
    f: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    holomorphic: bool = False,
) -> ForwardJacobian:
    """The Jacobian by forward mode: one tangent per input entry, all in one pass.

    Args:
        f: a function of arrays, floats or nested containers of them, written in NumPy.
        argnums: the argument, or tuple of arguments, to differentiate with respect to.
        has_aux: f returns (output, aux), the Jacobian function (Jacobian, aux).
        chunk_size: how many tangents at a time, to bound memory; default all.
        holomorphic: promise that f is holomorphic, for complex arguments.

    Returns:
        A function of the same arguments. For an output of shape (m,) and an argument of shape (n,)
        it gives (m, n); each output of a container holds the structure of the argument.

    >>> import numpy as np, dualad
    >>> dualad.jacfwd(lambda x: x * x[0])(np.array([2.0, 3.0]))
    array([[4., 0.],
           [3., 2.]])
    """
    return ForwardJacobian(f, argnums, has_aux, chunk_size=chunk_size, holomorphic=holomorphic)


def jacrev(
    f: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    holomorphic: bool = False,
) -> ReverseJacobian:
    """The Jacobian by reverse mode: f runs once, all cotangents go back in one pass. See `jacfwd`.

    >>> import numpy as np, dualad
    >>> dualad.jacrev(lambda x: x * x[0])(np.array([2.0, 3.0]))
    array([[4., 0.],
           [3., 2.]])
    """
    return ReverseJacobian(f, argnums, has_aux, chunk_size=chunk_size, holomorphic=holomorphic)


def jacobian(
    f: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    holomorphic: bool = False,
    mode: str = "auto",
) -> Jacobian:
    """The Jacobian by the cheaper mode: forward up to two inputs an output, else reverse.

    f runs once; `jacobian(f).last_mode` says which mode the last call took, mode="forward" or
    "reverse" chooses it. See `jacfwd` for the other arguments and the shape of the result.

    >>> import numpy as np, dualad
    >>> J = dualad.jacobian(lambda x: np.array([x[0] * x[1], x[0]]))
    >>> J(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    >>> J.last_mode
    'forward'
    """
    return Jacobian(f, argnums, has_aux, mode=mode, chunk_size=chunk_size, holomorphic=holomorphic)


def value_and_jacobian(
    f: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    holomorphic: bool = False,
    mode: str = "auto",
) -> ValueAndJacobian:
    """A function that gives (f(x), Jacobian of f at x) in one run; see `jacobian`.

    >>> import numpy as np, dualad
    >>> dualad.value_and_jacobian(lambda x: x**2)(np.array([1.0, 2.0]))
    (array([1., 4.]), array([[2., 0.],
           [0., 4.]]))
    """
    return ValueAndJacobian(
        f, argnums, has_aux, mode=mode, chunk_size=chunk_size, holomorphic=holomorphic
    )
