"""Linear programs: what recording yields. They can be applied, transposed, printed and run.

Running a derivative rule on linear variables gives its program, and sweeping that program gives
its transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import ArgumentError, ShapeError
from ..arrays.guard import has_nan, quiet
from ..levels.level import Level
from ..levels.spec import Spec, spec_of
from ..levels.traced import raw
from ..primitives.chain import shares_of
from ..primitives.shape import fit
from .compilable import Compilable
from .entries import add_cotangent
from .tape import sweep
from .variable import LinearVariable, Passing, not_linear, pull_scale, variable

__all__ = ["LinearProgram", "program_of_rule", "trace_linear"]


class LinearProgram(Compilable):
    """A linear map as a straight line of linear operations.

    `inputs` and `outputs` are Specs. Calling it applies it to tangents; `pull` applies its
    transpose to cotangents; `transpose()` is that transpose as a program; `source()` is NumPy.
    """

    def __init__(
        self, tape: list, inputs: Sequence[Spec], outputs: Sequence[tuple[int | None, Spec]]
    ):
        self.tape = tape
        self.inputs = tuple(inputs)
        self._outputs = tuple(outputs)

    @property
    def outputs(self) -> tuple[Spec, ...]:
        return tuple(spec for _, spec in self._outputs)

    def __len__(self) -> int:
        return len(self.tape) - len(self.inputs)

    def __repr__(self) -> str:
        return self.source()

    def __call__(self, *tangents: Any) -> tuple:
        """Apply the map to one tangent per input."""
        _check(tangents, self.inputs, "tangent")
        with quiet():
            out = self._push(tangents, False)
            if any(has_nan(t) for t in out):
                out = self._push(tangents, True)
        return out

    def _push(self, tangents: Sequence[Any], guarded: bool) -> tuple:
        v: list[Any] = [*tangents, *[None] * len(self)]
        for k in range(len(self.inputs), len(self.tape)):
            entry = self.tape[k]
            push = entry[0].push
            if guarded:
                push = getattr(entry[0], "guarded_push", push)
            v[k] = push(entry, v)
        return tuple(
            np.zeros(s.shape, s.dtype)[()] if i is None else v[i] for i, s in self._outputs
        )

    def pull(self, cotangents: Sequence[Any], within: bool = False) -> list[Any]:
        """The transpose applied to one cotangent per output (None for zero): None stays zero.

        Where it is a part of a sweep that looks for NaN itself, `within` leaves that to it.
        """
        seeds = [
            (i, ct)
            for (i, _), ct in zip(self._outputs, cotangents, strict=True)
            if i is not None and ct is not None
        ]
        return sweep(self.tape, len(self.inputs), seeds, within=within)

    def transpose(self) -> LinearProgram:
        """The adjoint under the real inner product, as a program of its own."""
        return trace_linear(lambda *cts: self.pull(cts), self.outputs, self.inputs)

    def source(self, name: str = "linear", transpose: bool = False) -> str:
        """The program (or its transpose) as the source of a NumPy function that runs.

        Constants of more than 32 entries are read from a mapping `constants`, which
        `self.constants()` gives.
        """
        from .source import source

        return source(self.transpose() if transpose else self, name)

    def constants(self) -> dict[str, np.ndarray]:
        """The larger constants that the source refers to by name."""
        from .source import constants

        return constants(self)

    def function(self) -> Callable[..., Any]:
        """The source, compiled: a plain NumPy function of the tangents."""
        from .source import compile_source

        return compile_source(self)


def _check(values: Sequence[Any], like: Sequence[Spec], what: str) -> None:
    if len(values) != len(like):
        raise ArgumentError(f"expected {len(like)} {what}s, got {len(values)}")
    for k, (v, s) in enumerate(zip(values, like, strict=True)):
        if np.shape(v) != s.shape if not hasattr(v, "shape") else v.shape != s.shape:
            raise ShapeError(f"{what} {k} has shape {np.shape(v)}, it should be {s.shape}")


def trace_linear(
    f: Callable[..., Any],
    inputs: Sequence[Spec],
    outputs: Sequence[Spec],
    name: str = "transposed rule",
    at_once: bool = False,
) -> LinearProgram:
    """The program of a linear function, found by running it on linear variables.

    A result of None is zero. What comes out is brought to the shape and dtype of `outputs`.
    A program that is used at once keeps no copies of the arrays that it reads.
    """
    with Level(name) as level:
        tape = level.tape = (Passing if at_once else list)([None] * len(inputs))
        results = f(*(variable(level, s, k) for k, s in enumerate(inputs)))
        out = [output(level, r, s) for r, s in zip(results, outputs, strict=True)]
    program = LinearProgram(tape, inputs, out)
    return program if at_once else prune(program)


def output(level: Level, result: Any, spec: Spec) -> tuple[int | None, Spec]:
    if result is None:
        return None, spec
    if type(result) is LinearVariable and result.level is level:
        return fit(result, spec).tangent, spec
    if np.any(np.asarray(raw(result)) != 0):
        raise not_linear(level, "it returned a constant that is not zero")
    return None, spec


def prune(program: LinearProgram) -> LinearProgram:
    """Drop the entries that no output depends on, and those that change nothing."""
    tape, n = program.tape, len(program.inputs)
    needed = {i for i, _ in program._outputs if i is not None}
    for k in range(len(tape) - 1, n - 1, -1):
        if k in needed:
            needed.update(i for i in tape[k][1] if i is not None)
    number: dict[int | None, int | None] = {None: None, **{k: k for k in range(n)}}
    entries = list(tape[:n])
    for k in range(n, len(tape)):
        if k in needed and _same_as(tape[k]) is not None:
            number[k] = number[_same_as(tape[k])]
        elif k in needed:
            number[k] = len(entries)
            entry = tape[k]
            entries.append((entry[0], tuple(number[i] for i in entry[1]), *entry[2:]))
    return LinearProgram(entries, program.inputs, [(number[i], s) for i, s in program._outputs])


def _same_as(entry: tuple) -> int | None:
    """The variable that an entry only repeats; None where it does something."""
    live = [k for k, i in enumerate(entry[1]) if i is not None]
    if entry[0] is not pull_scale or len(live) != 1 or entry[3][live[0]] is not None:
        return None
    like, out = entry[6][live[0]], entry[5]
    return entry[1][live[0]] if (out.shape, out.dtype) == (like.shape, like.dtype) else None


def program_of_tape(
    tape: list, inputs: Sequence[Spec], outputs: Sequence[tuple[int | None, Spec]]
) -> LinearProgram:
    """The linear program of a recorded tape: each entry's rule run on linear variables."""

    def run(*tangents: Any) -> list[Any]:
        v: list[Any] = [*tangents, *[None] * (len(tape) - len(inputs))]
        with quiet():
            for k in range(len(inputs), len(tape)):
                v[k] = tape[k][0].push(tape[k], v)
        return [None if i is None else v[i] for i, _ in outputs]

    return trace_linear(run, inputs, [s for _, s in outputs], "linearization")


def program_of_rule(entry: tuple) -> LinearProgram:
    """The linear program of a composite's forward rule at one point, to be used at once."""
    _, parents, primitive, args, params, out, like = entry
    active = [k for k, i in enumerate(parents) if i is not None]

    def run(*tangents: Any) -> Any:
        full: list[Any] = [None] * len(args)
        for k, t in zip(active, tangents, strict=True):
            full[k] = t
        t = primitive.rule(tuple(full), out, args, params)
        if isinstance(out, tuple):
            return t if t is not None else (None,) * len(out)
        return (t,)

    outs = out if isinstance(out, tuple) else (out,)
    return trace_linear(
        run, [like[k] for k in active], [spec_of(o) for o in outs], primitive.name, True
    )


def pull_composite(ct: Any, entry: tuple, g: Any, own: set, within: bool = True) -> None:
    shares: Any = shares_of(ct, entry, g) if entry[2].is_chained else None
    if shares is None:
        parents, program = entry[1], program_of_rule(entry)
        pulled = program.pull(ct if isinstance(ct, list) else [ct], within)
        shares = zip([i for i in parents if i is not None], pulled, strict=True)
    for i, share in shares:
        if share is not None:
            add_cotangent(g, i, share)


def push_composite(entry: tuple, v: Any) -> Any:
    _, parents, primitive, args, params, out, _ = entry
    tangents = tuple([None if i is None else v[i] for i in parents])
    return primitive.jvp(tangents, out, args, params)


pull_composite.push = push_composite  # type: ignore[attr-defined]
pull_composite.guarded = partial(pull_composite, within=False)  # type: ignore[attr-defined]
