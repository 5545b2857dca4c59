"""Linear programs: what recording yields. They can be applied, transposed, printed and run.

A linear variable has a shape and a dtype but no value. Linear operations on it record
themselves; anything else is an error that names the operation. Running a derivative rule on
linear variables thus gives its program, and sweeping that program gives its transpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...errors import ArgumentError, LinearityError, ShapeError
from ..arrays.guard import has_nan, quiet
from ..levels.level import Level
from ..levels.spec import Spec, spec_of
from ..levels.traced import TracedArray, raw
from ..primitives.chain import shares_of
from ..primitives.elementwise import Elementwise
from ..primitives.inplace import frozen
from ..primitives.linear import Linear
from ..primitives.shape import either_zero_wins, fit, unfit, zero_wins
from .compilable import Compilable
from .tape import add_cotangent, conjugate, kept, multiply, pull_linear, specs, sweep

__all__ = ["LinearProgram", "LinearVariable", "program_of_rule", "trace_linear"]


class _Passing(list):
    """The tape of a program that is used before anybody can write into the arrays it reads."""

    __slots__ = ()


def kept_on(tape: list, constant: Any) -> Any:
    """A known operand as a program keeps it: what is used at once need not be copied."""
    if type(tape) is _Passing and type(constant) is np.ndarray:
        return constant
    return kept(constant)


class LinearVariable(TracedArray):
    """A tangent without a value: `primal` is its Spec, `tangent` its number on the tape."""

    __slots__ = ()
    kind = "linear"

    @classmethod
    def bind(cls, primitive: Any, level: Level, args: tuple, params: dict) -> Any:
        numbers: list[Any] = []
        values: list[Any] = []
        for a in args:
            mine = type(a) is LinearVariable and a.level is level
            numbers.append(a.tangent if mine else None)
            values.append(a.primal if mine else frozen(a))
        parents, known = tuple(numbers), tuple(values)
        if isinstance(primitive, Elementwise):
            entry = scale_entry(level, primitive, known, parents, params)
        elif isinstance(primitive, Linear):
            entry = linear_entry(level, primitive, known, parents, params)
        else:
            raise not_linear(level, f"{primitive.name} was applied to it")
        k = len(level.tape)
        level.tape.append(entry)
        return variable(level, entry[5], k)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.primal.shape

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.primal.dtype)

    def _lost(self, what: str) -> Any:
        raise not_linear(
            self.level, f"{what} asks for a value, which a linear variable does not have"
        )

    def __bool__(self) -> bool:
        return self._lost("bool(x)")

    def __repr__(self) -> str:
        return f"LinearVariable({self.primal!r})"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)


def not_linear(level: Level, why: str) -> LinearityError:
    """The error for a rule, or a function given to linear_transpose, that is not linear."""
    if level.name == "linear_transpose":
        return LinearityError(f"the function given to linear_transpose is not linear: {why}.")
    return LinearityError(
        f"a derivative rule ({level.name}) is not linear in its tangent: {why}. A jvp rule must "
        "be a linear function of the tangents, a backward rule of the cotangents; values that the "
        "rule only reads, or decides by, are saved by ctx.save_for_forward or closed over."
    )


def variable(level: Level, spec: Spec, k: int) -> LinearVariable:
    v = level.new(LinearVariable)
    v.level, v.primal, v.tangent = level, spec, k
    return v


def scale_entry(level: Level, primitive: Any, args: tuple, parents: tuple, params: dict) -> tuple:
    """An elementwise operation on linear variables: each is scaled by a known coefficient."""
    active = [k for k, i in enumerate(parents) if i is not None]
    if primitive.joint:
        _require_zero(level, primitive, args, parents)
    elif len(active) > 1:
        raise not_linear(level, f"{primitive.name} combines two tangents")
    elif active[0] not in primitive.linear:
        raise not_linear(level, f"{primitive.name} was applied to it")
    out = primitive.out_spec(args, params)
    coefficients = tuple(
        [
            None if i is None else kept_on(level.tape, primitive.coefficient(k, out, args))
            for k, i in enumerate(parents)
        ]
    )
    return (pull_scale, parents, primitive, coefficients, params, out, specs(args, parents))


def linear_entry(level: Level, primitive: Any, args: tuple, parents: tuple, params: dict) -> tuple:
    linear = primitive.movable(len(args))
    if primitive.joint:
        _require_zero(level, primitive, args, parents, linear)
    elif len(parents) - parents.count(None) > 1:
        raise not_linear(level, f"{primitive.name} combines two tangents")
    if False in [ok or i is None for i, ok in zip(parents, linear, strict=True)]:
        raise not_linear(level, f"{primitive.name} takes it where only a known value is allowed")
    out = primitive.out_spec(args, params)
    tape, reads, like = level.tape, [], []
    for a, i in zip(args, parents, strict=True):  # a variable has come as its Spec
        reads.append(kept_on(tape, a) if i is None else a)
        like.append(None if i is None else a)
    return (pull_linear, parents, primitive, tuple(reads), params, out, tuple(like))


def _require_zero(
    level: Level, primitive: Any, args: tuple, parents: tuple, linear: Any = None
) -> None:
    """A constant beside a tangent is accepted only where it is exactly zero."""
    for k, (a, i) in enumerate(zip(args, parents, strict=True)):
        if i is None and (linear is None or linear[k]) and not isinstance(a, Spec):
            value = raw(a)
            if isinstance(value, Spec) or np.any(np.asarray(value) != 0):
                raise not_linear(level, f"{primitive.name} adds a constant that is not zero to it")


def pull_scale(
    ct: Any, entry: tuple, g: Any, own: set, product: Callable[..., Any] = multiply
) -> None:
    _, parents, _, coefficients, _, _, like = entry
    for k, i in enumerate(parents):
        if i is not None:
            d = coefficients[k]
            share = ct if d is None else product(ct, conjugate(d))
            add_cotangent(g, i, unfit(share, like[k]))


def push_scale(entry: tuple, v: Any, product: Callable[..., Any] = multiply) -> Any:
    _, parents, _, coefficients, _, out, _ = entry
    total = None
    for i, d in zip(parents, coefficients, strict=True):
        if i is not None:
            term = v[i] if d is None else product(v[i], d)
            total = term if total is None else total + term
    return fit(total, out)


pull_scale.push = push_scale  # type: ignore[attr-defined]
pull_scale.guarded = partial(pull_scale, product=either_zero_wins)  # type: ignore[attr-defined]
pull_scale.guarded_push = partial(push_scale, product=zero_wins)  # type: ignore[attr-defined]


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
        tape = level.tape = (_Passing if at_once else list)([None] * len(inputs))
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
