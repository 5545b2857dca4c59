"""Reverse mode: the recorded tangent program of a function, applied (linearize) or transposed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..engine.kinds.duck import duck_under
from ..engine.kinds.recorded import Recorded, recorded, value_of
from ..engine.levels.level import Level
from ..engine.levels.spec import Spec, spec_of
from ..engine.levels.tree import LEAF_TREE, flatten, flatten_like
from ..engine.primitives.shape import fit
from ..engine.programs.compilable import Compilable
from ..engine.programs.entries import pull_custom
from ..engine.programs.linear import LinearProgram, output, program_of_tape, pull_composite
from ..engine.programs.tape import push_tape, sweep
from ..engine.programs.variable import variable
from ..engine.put_off.late import Late
from ..engine.requires_grad.grad_mode import recording
from ..errors import ArgumentError, DirectionNeededError, ShapeError
from .boundary import (
    Input,
    inputs_of,
    match,
    outputs_of,
    own,
    rebuild,
    restore,
    separated,
    tangents_for,
)
from .forward import basis, push_many, split_aux, split_columns, strip, zero_like
from .lasting import Deferred, apart
from .plain import PlainLeaves, is_number, plain_value

__all__ = [
    "Gradient",
    "Linearized",
    "Pullback",
    "ValueAndGradient",
    "grad",
    "linear_transpose",
    "linearize",
    "value_and_grad",
    "vjp",
]

ONE = np.float64(1.0)
#: All of n arguments, by number, where there are few.
EVERY = {n: tuple(range(n)) for n in range(8)}


#: How often a linearized function is applied by its tape, before its program is written.
FEW = 4


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
                level.given = [i.value for i in self.inputs]
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
        try:
            shares = sweep(self.tape, len(self.inputs), seeds, free, False, self.large, self.late)
        except DirectionNeededError:
            shares = self.by_forward_mode(cotangents)
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


def number_that_waits(level: Level, result: Any) -> Any:
    """What the result of a function is that is a number which waits; None where it is none."""
    return result.content if isinstance(result, Late) and result.level is level else None


def laid_out(cotangent: Any, value: Any) -> Any:
    """A cotangent in the library that its value is an array of."""
    model = duck_under(value)
    return cotangent if model is None else model.alike(cotangent)


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
            match(ct, _floating(v), f"the cotangent of output leaf {k}")
            for k, (ct, v) in enumerate(zip(leaves, run.out, strict=True))
        ]
        return tuple(rebuild(run.trees, run.pull(cts)))

    @property
    def program(self) -> LinearProgram:
        """The linear program that the pullback transposes."""
        return program(self._run)


def _floating(value: Any) -> Any:
    dtype = np.dtype(value.dtype)
    return value if dtype.kind in "fc" else Spec(value.shape, np.dtype(np.float64))


def program(run: Recording) -> LinearProgram:
    inputs = [spec_of(i.value) for i in run.inputs]
    outputs = [(k, spec_of(_floating(v))) for k, v in zip(run.variables, run.out, strict=True)]
    return program_of_tape(run.tape, inputs, outputs)


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

    def _push(self, moves: list[Any]) -> Sequence[Any]:
        """By the tape the first times: writing the program costs as much as a few of them."""
        if self._uses >= FEW:
            return self.program(*moves)
        self._uses += 1
        run = self._run
        out = push_tape(run.tape, moves, run.variables)
        return [
            np.zeros(v.shape, _floating(v).dtype)[()] if t is None else t
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
    inputs = [_floating(spec_of(x)) for x in leaves]
    with Level("linear_transpose") as level:
        level.tape = [None] * len(inputs)
        variables = [variable(level, s, k) for k, s in enumerate(inputs)]
        wrapped = [v if f is None else f.wrap(v) for v, f in zip(variables, faces, strict=True)]
        values, out_tree, _ = outputs_of(f(*rebuild(trees, wrapped)))
        outputs = [output(level, v, _floating(v)) for v in values]
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


class _Differentiator:
    """A picklable function object: grad(f) and its kin are picklable where f is."""

    def __init__(self, f: Callable[..., Any], argnums: Any = 0, has_aux: bool = False):
        if not callable(f):
            raise ArgumentError(f"the first argument must be a function, got {type(f).__name__}")
        self.f, self.argnums, self.has_aux = f, argnums, has_aux

    @property
    def __name__(self) -> str:
        """Made when it is asked for: hvp makes one of these at each call."""
        name = f"{type(self).__qualname__.lower()} of {getattr(self.f, '__name__', self.f)}"
        return self.__dict__.get("_name", name)

    @__name__.setter
    def __name__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


def selected(argnums: Any, n: int) -> tuple[int, ...]:
    """argnums as a tuple of positions among n arguments."""
    if type(argnums) is int and 0 <= argnums < n:
        return (argnums,)
    nums = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    for k in nums:
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool):
            raise ArgumentError(
                f"argnums must be an integer or a tuple of integers, got {argnums!r}"
            )
        if not -n <= k < n:
            raise ArgumentError(
                f"argnums={argnums!r}, but the function was called with {n} arguments"
            )
    out = tuple(int(k) % n for k in nums)
    if len(set(out)) != len(out):
        raise ArgumentError(f"argnums={argnums!r} names an argument twice")
    return out


def fixing(
    f: Callable[..., Any], args: tuple, nums: tuple[int, ...], kwargs: dict
) -> Callable[..., Any]:
    """f as a function of the arguments numbered nums alone."""
    if not kwargs and nums == EVERY.get(len(args)):
        return f

    def call(*moving: Any) -> Any:
        full = list(args)
        for k, x in zip(nums, moving, strict=True):
            full[k] = x
        return f(*full, **kwargs)

    return call


def names_of(nums: Sequence[int]) -> list[str]:
    """What errors call the arguments of these numbers."""
    return [f"argument {k}" for k in nums]


class ValueAndGradient(_Differentiator):
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
                return self._by_one(f, args[nums[0]], x, nums)
        given = [args[k] for k in nums]
        plain = None if self.has_aux else PlainLeaves.of(given)
        if plain is not None:
            value, parts, aux = self._by_many(f, given, plain, nums)
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
        self, f: Callable[..., Any], arg: Any, x: Any, nums: Sequence[int]
    ) -> tuple[Any, Any, None]:
        """The same by one argument, which is float64 and has the value x; None for no value."""
        with recording(), Level("grad") as level:
            tape = level.tape = [spec_of(value_of(x))]
            level.given = (x,)
            y = f(recorded(level, x, 0))
            total = None
            if type(y) is not Recorded or y.level is not level or not is_number(y.primal):
                total = number_that_waits(level, y)
                if total is None:
                    run = Recording.of_plain(f, (arg,), nums, tape)
                    run._end(level, y)
                    return run.primal(), run.pull([one(run)], free=True)[0], None
            large, late = level.pool is not None, level.later
        value, (ct,) = self._swept(f, (arg,), nums, tape, 1, (y, total), large, late)
        return value, restore(np.zeros(x.shape) if ct is None else own(ct, ()), type(arg)), None

    def _by_many(
        self, f: Callable[..., Any], given: Sequence[Any], plain: PlainLeaves, nums: Sequence[int]
    ) -> tuple[Any, list[Any], None]:
        """The same by several arguments, or leaves of them: a list of gradients."""
        values = plain.values
        with recording(), Level("grad") as level:
            tape = level.tape = list(map(spec_of, map(value_of, values)))
            leaves = [recorded(level, x, k) for k, x in enumerate(values)]
            level.given = values
            y, total = f(*rebuild(plain.trees, leaves)), None
            if type(y) is not Recorded or y.level is not level or not is_number(y.primal):
                total = number_that_waits(level, y)
                if total is None:
                    run = Recording.of_plain(f, given, nums, tape)
                    run._end(level, y)
                    found = rebuild(run.trees, run.pull([one(run)], free=True))
                    return run.primal(), found, None
            large, late = level.pool is not None, level.later
        n = len(values)
        value, shares = self._swept(f, given, nums, tape, n, (y, total), large, late)
        parts: list[Any] = []
        for x, ct in zip(values, shares, strict=True):
            parts.append(np.zeros(x.shape) if ct is None else own(ct, ()))
        parts = [restore(p, t) for p, t in zip(separated(parts), plain.types, strict=True)]
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
    ) -> tuple[Any, list[Any]]:
        """The value, and the cotangents of the inputs of a tape, `count` leaves.

        result: the recorded number, and what it is made of where it waits.
        """
        y, total = result
        seeds = [(y.tangent, ONE)]
        try:
            shares = sweep(tape, count, seeds, True, False, large, late)
        except DirectionNeededError:
            shares = Recording.of_plain(f, given, nums, tape).by_forward_mode([ONE])
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
