"""Functions run once on recorded tangents: what is pulled back, or applied, afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.kinds.duck import duck_under
from ..engine.kinds.recorded import Recorded, recorded
from ..engine.levels.level import Level
from ..engine.levels.spec import spec_of
from ..engine.levels.tree import LEAF_TREE
from ..engine.primitives.shape import fit
from ..engine.programs.tape import sweep
from ..engine.put_off.late import Late
from ..engine.requires_grad.grad_mode import recording
from ..errors import DirectionNeededError
from .argnums import names_of
from .boundary import Input, inputs_of, outputs_of, own, rebuild, restore, separated
from .forward import basis, push_many, split_aux, split_columns, strip, zero_like
from .lasting import Deferred, apart

__all__ = ["Recording", "let_go", "number_that_waits"]


class Recording:
    """A function run once on recorded tangents: its outputs, its tape, how they are wrapped."""

    __slots__ = (
        "aux",
        "deferred",
        "f",
        "faces",
        "has_aux",
        "inputs",
        "large",
        "lasting",
        "late",
        "out",
        "out_tree",
        "tape",
        "total",
        "trees",
        "variables",
    )

    def __init__(
        self,
        name: str,
        f: Callable[..., Any],
        args: Sequence[Any],
        names: Sequence[str],
        has_aux: bool,
        lasting: bool = False,
        once: bool = False,
    ):
        """With lasting=True the recording outlives later writes into arguments and results.

        With once=True it is pulled once, at once: what the sweep can compute is left to it.
        """
        self._begin(f, args, names, has_aux)
        self.deferred = self._defer() if lasting else []
        with recording(), Level(name) as level:
            if once:
                level.given = [i.value for i in self.inputs], f
            self.tape = level.tape = [spec_of(i.value) for i in self.inputs]
            leaves = [i.wrap(recorded(level, i.value, k)) for k, i in enumerate(self.inputs)]
            for _, d in self.deferred:
                d.before = d.references()
            self._end(level, f(*rebuild(self.trees, leaves)), lasting)
        for i, d in self.deferred:
            i.value = d.settle(self.tape, len(self.inputs))

    @classmethod
    def of_plain(
        cls, f: Callable[..., Any], args: Sequence[Any], nums: Sequence[int], tape: list
    ) -> Recording:
        """What f of the arguments numbered nums has recorded on a tape, apart from its result."""
        run = cls.__new__(cls)
        run._begin(f, args, names_of(nums), False)
        run.tape, run.deferred = tape, []
        return run

    def _begin(
        self, f: Callable[..., Any], args: Sequence[Any], names: Sequence[str], has_aux: bool
    ) -> None:
        self.f, self.has_aux = f, has_aux
        self.inputs, self.trees = inputs_of(args, names)

    def _end(self, level: Level, result: Any, lasting: bool = False) -> None:
        """Take what f returned apart."""
        self.large, self.late, self.lasting = level.pool is not None, level.later, lasting
        self.total = number_that_waits(level, result)
        if self.total is not None and not self.has_aux:
            self.variables, self.out = [result.tangent], [np.float64(np.nan)]
            self.out_tree, self.faces, self.aux = LEAF_TREE, [None], None
            return
        result, aux = split_aux(result, self.has_aux)
        values, self.out_tree, self.faces = outputs_of(result)
        mine = [type(v) is Recorded and v.level is level for v in values]
        self.variables = [v.tangent if m else None for v, m in zip(values, mine, strict=True)]
        self.out = [v.primal if m else v for v, m in zip(values, mine, strict=True)]
        self.aux = strip(level, aux, apart if lasting else lambda v: v)
        self.large = level.pool is not None

    def _defer(self) -> list[tuple[Input, Deferred]]:
        """Copy the arguments, or put off copying large ones until it is known who reads them."""
        deferred = []
        for i in self.inputs:
            if Deferred.suits(i.value):
                d = Deferred(i.value)
                i.value = d.view
                deferred.append((i, d))
            else:
                i.value = apart(i.value)
        return deferred

    def check(self) -> None:
        """Refuse to go on where an argument that may be read was written to."""
        for i, d in self.deferred:
            d.check(i.name)

    def primal(self) -> Any:
        """The outputs; where the recording lasts, in memory of their own."""
        out = map(apart, self.out) if self.lasting else self.out
        return self.out_tree.unflatten(
            [restore(v, type(v), f) for v, f in zip(out, self.faces, strict=True)]
        )

    def pull(self, cotangents: Sequence[Any], free: bool = False) -> list[Any]:
        """One cotangent per input leaf, restored to the input's kind."""
        self.check()
        seeds = [
            (k, laid_out(ct, v))
            for k, ct, v in zip(self.variables, cotangents, self.out, strict=True)
            if k is not None and ct is not None
        ]
        tape, count, late = self.tape, len(self.inputs), self.late
        try:
            try:
                shares = sweep(tape, count, seeds, free, False, self.large, late)
            except DirectionNeededError:
                shares = self.by_forward_mode(cotangents)
        except BaseException as failure:
            let_go(late, failure)
            raise
        if self.late:
            self.late.finish()
            if self.total is not None:
                self.out = [self.total.found()]
        shares = [
            zero_like(i) if s is None else own(s, cotangents)
            for i, s in zip(self.inputs, shares, strict=True)
        ]
        return [i.restore(s) for i, s in zip(self.inputs, separated(shares), strict=True)]

    def push(self, tangents: Sequence[Any]) -> list[Any]:
        """One tangent per output leaf, by running the function again in forward mode."""
        blocks = [np.expand_dims(t, 0) for t in tangents]
        _, out, *_ = push_many(self.f, self.inputs, self.trees, blocks, 1, self.has_aux)
        return [t[0] for t in out]

    def jacobian(self) -> list[list[Any]]:
        """The forward Jacobian: for each output leaf one block per input leaf."""
        n = sum(math.prod(i.shape) for i in self.inputs)
        blocks = basis(self.inputs, 0, n)
        _, tangents, *_ = push_many(self.f, self.inputs, self.trees, blocks, n, self.has_aux)
        return [split_columns(t, self.inputs) for t in tangents]

    def by_forward_mode(self, cotangents: Sequence[Any]) -> list[Any]:
        """The same cotangents from a forward Jacobian: at points where each direction counts."""
        sizes = [math.prod(i.shape) for i in self.inputs]
        shares = self._contracted(cotangents, 1.0, sum(sizes))
        if any(i.dtype.kind == "c" for i in self.inputs):
            shares = shares + 1j * self._contracted(cotangents, 1j, sum(sizes))
        ends = np.cumsum(sizes).tolist()
        return [
            fit(np.reshape(shares[end - size : end], i.shape), spec_of(i.value))
            for end, size, i in zip(ends, sizes, self.inputs, strict=True)
        ]

    def _contracted(self, cotangents: Sequence[Any], unit: Any, n: int) -> Any:
        """Re<cotangent, derivative along unit times each basis vector>."""
        blocks = basis(self.inputs, 0, n)
        blocks = [b * unit if b.dtype.kind == "c" else b * np.real(unit) for b in blocks]
        _, tangents, *_ = push_many(self.f, self.inputs, self.trees, blocks, n, self.has_aux)
        total = 0.0
        for ct, t in zip(cotangents, tangents, strict=True):
            if ct is not None:
                axes = tuple(range(1, t.ndim))
                total = total + np.sum(np.real(np.conj(ct) * t), axis=axes)
        return total * np.ones(n)


def let_go(late: Any, failure: BaseException) -> None:
    """A sweep has failed: what was put off would wait for the garbage collector."""
    if late:
        late.finish(failure)


def number_that_waits(level: Level, result: Any) -> Any:
    """What the result of a function is that is a number which waits; None where it is none."""
    return result.content if isinstance(result, Late) and result.level is level else None


def laid_out(cotangent: Any, value: Any) -> Any:
    """A cotangent in the library that its value is an array of."""
    model = duck_under(value)
    return cotangent if model is None else model.alike(cotangent)
