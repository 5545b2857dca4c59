"""Programs: the operations of one run of a function, with the questions that Python asked."""

from __future__ import annotations

import collections
import functools
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Any

import numpy as np

from ..engine.arrays.memory import originals
from ..engine.levels.buffer import Buffer
from ..engine.levels.level import Level
from ..engine.levels.traced import TracedArray
from ..engine.levels.tree import Tree, flatten
from ..engine.primitives.primitive import PRIMITIVES
from ..engine.staging.constants import Constants, settled_constants
from ..engine.staging.operations import Guard, Operation, Untraceable, Variable
from ..engine.staging.staged import Staged, concrete, staged
from .kept import given_back
from .loop import Loop

__all__ = [
    "Handed",
    "Output",
    "Program",
    "Step",
    "is_basic",
    "overlapping",
    "trace",
]

Step = Operation | Guard | Loop
#: What callers may change of a result: a program would give the same object again.
CHANGEABLE = (set, bytearray, collections.deque)


@dataclass(frozen=True)
class Output:
    """One leaf of a result: a variable, or a constant."""

    value: Any
    #: the caller gets the memory of an argument itself, as the function hands it out
    is_view: bool = False
    #: the type in which the function gives a scalar: one of Python, or ndarray
    kind: type | None = None
    #: the caller gets the transpose, in Fortran's order, whose memory is that of the value
    turned: bool = False


@dataclass(frozen=True)
class Handed:
    """An argument that the function writes into, or a view of it, as a result."""

    argument: int
    #: how the view is read from the argument, step by step: indices, and functions of an array
    reads: tuple[Any, ...] = ()

    def of(self, array: np.ndarray) -> np.ndarray:
        """The result, for the argument that has been written into."""
        for read in self.reads:
            array = array[read] if type(read) is tuple else read(array)
        return array


@dataclass(frozen=True)
class Program:
    """Straight-line code: steps from inputs to outputs."""

    inputs: tuple[Variable, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Output, ...]
    tree: Tree
    #: (input, variable): what the function wrote into an argument
    writes: tuple[tuple[int, Variable], ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def operations(self) -> list[Operation]:
        """The steps without the guards."""
        return [s for s in self.steps if type(s) is Operation]

    @property
    def guards(self) -> list[Guard]:
        """What is asked while the program runs."""
        return [s for s in self.steps if isinstance(s, Guard)]

    def arrays(self) -> list[np.ndarray]:
        """The arrays beside its variables that the program reads."""
        return self._held(np.ndarray)

    def scalars(self) -> tuple[tuple[str, bytes], ...]:
        """NumPy's numbers in the program, and arrays of one entry: something was computed."""
        found = self._held((np.generic, np.ndarray))
        return tuple([(x.dtype.str, x.tobytes()) for x in found if _is_scalar(x)])

    def _held(self, kind: Any) -> list[Any]:
        """The objects of a kind beside its variables that the program reads."""
        found: list[Any] = []
        for s in self.operations:
            for x in (*s.operands, *s.params.values()):
                _collect_held(x, kind, found)
        for o in self.outputs:
            _collect_held(o.value, kind, found)
        return found

    def with_steps(self, steps: Sequence[Step]) -> Program:
        """The same program by other steps."""
        return replace(self, steps=tuple(steps))

    def results(self) -> list[Variable]:
        """The variables that somebody outside asks for."""
        wanted = [o.value for o in self.outputs if type(o.value) is Variable]
        return wanted + [v for _, v in self.writes]


def _collect_held(x: Any, kind: Any, found: list[Any]) -> None:
    if isinstance(x, kind):
        found.append(x)
    elif type(x) in (tuple, list):
        for v in x:
            _collect_held(v, kind, found)


def _is_scalar(x: Any) -> bool:
    """Whether it is a number; an array without axes is what the engine makes of one."""
    return isinstance(x, np.generic) or (x.size == 1 and x.ndim > 0)


def is_basic(index: tuple) -> bool:
    """Whether an index is of numbers and slices alone."""
    return all(
        k is None
        or k is Ellipsis
        or type(k) in (int, slice)
        or (type(k) is Variable and not k.is_array)
        for k in index
    )


def trace(
    f: Callable[..., Any],
    values: Sequence[Any],
    rebuild: Callable[[list], tuple[tuple, dict]],
    kinds: Sequence[type | None] = (),
) -> tuple[Program, Any, str | None]:
    """Run f on arguments rebuilt from values: the program of that run, and its result.

    The kinds are the types of Python's numbers among the arguments. The last of what it gives is
    a name under which the function has kept a value that depends on them, or None.
    """
    level = Level("compile")
    with level:
        program, result, known = _traced(level, f, values, rebuild, kinds)
    left = weakref.ref(level)
    del level
    return program, result, None if left() is None else given_back(left, *known)


def _traced(
    level: Level, f: Callable, values: Sequence, rebuild: Callable, kinds: Sequence[type | None]
) -> tuple[Program, Any, tuple[dict[int, type], dict[int, Any]]]:
    """The program, the result, and by identity what scalars and written arguments stand for."""
    inputs = [staged(level, v, Variable(v, k)) for k, v in enumerate(values)]
    variables = tuple([s.tangent for s in inputs])
    level.tape.extend(variables)
    level.pool = Constants()
    for s, kind in zip(inputs, kinds, strict=False):
        level.pool.shown.mark(s, kind)
    args, kwargs = rebuild(_each_once(inputs, values))
    given, before = flatten((args, kwargs), whole=True)
    outer, originals.known = originals.known, level.pool.copies
    try:
        result = f(*args, **kwargs)
    finally:
        originals.known = outer
    now, after = flatten((args, kwargs), whole=True)
    if before != after or not all(map(is_, given, now)):
        raise Untraceable("it changes a dict, a list or an object that it is given", True)
    writes = tuple(
        [
            (k, s.tangent)
            for k, (s, v) in enumerate(zip(inputs, variables, strict=True))
            if type(s) is Staged and s.tangent is not v
        ]
    )
    leaves, tree = flatten(result, whole=True)
    written = {id(inputs[k]): k for k, _ in writes}
    outputs = tuple([_output(level, inputs, written, x) for x in leaves])
    shown = level.pool.shown.kinds()
    level.pool.close()
    level.pool = None
    steps = tuple(map(settled_constants, level.tape[len(inputs) :]))
    program = Program(variables, steps, outputs, tree.hollow(), writes)
    if overlapping(program, values):
        raise Untraceable("it writes into an argument that is another one too")
    for k, _ in writes:
        np.copyto(values[k], concrete(inputs[k]), casting="unsafe")
    plain = [
        o.value.of(values[o.value.argument]) if type(o.value) is Handed else _plain(x, o)
        for x, o in zip(leaves, outputs, strict=True)
    ]
    return program, tree.unflatten(plain), (shown, {n: values[k] for n, k in written.items()})


def _each_once(inputs: list[Staged], values: Sequence[Any]) -> list[Staged]:
    """The staged values, the same one wherever the same array is given."""
    first: dict[int, Staged] = {}
    return [
        first.setdefault(id(v), s) if type(v) is np.ndarray else s
        for s, v in zip(inputs, values, strict=True)
    ]


def overlapping(program: Program, values: Sequence[Any]) -> bool:
    """Whether the program writes into memory that it reads by another name as well."""
    for k, _ in program.writes:
        for n, a in enumerate((*values, *program.arrays())):
            if n != k and isinstance(a, np.ndarray) and _overlap(values[k], a):
                return True
    return False


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=1000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _output(level: Level, inputs: list[Staged], written: dict[int, int], x: Any) -> Output:
    if type(x) is Staged:
        if x.level is not level:
            raise Untraceable("it returns a value of another trace")
        if written and id(_root(x)) in written:
            return Output(Handed(written[id(_root(x))], _reads(x)))
        kind = level.pool.shown.kind(x)
        return Output(x.tangent, any(_root(x) is s for s in inputs), kind)
    if isinstance(x, Buffer):
        return Output(x.primal)
    if isinstance(x, TracedArray) or hasattr(x, "__dualad_face__"):
        raise Untraceable("it returns a value that another transformation tracks")
    if hasattr(type(x), "__next__") or hasattr(type(x), "__await__"):
        if isinstance(x, types.CoroutineType):
            x.close()  # it warns of one that nobody waits for
        raise Untraceable(f"it returns a {type(x).__name__}, which computes later", True)
    if isinstance(x, CHANGEABLE):
        raise Untraceable(f"it returns a {type(x).__name__}, of which a program has one", True)
    return Output(x)


def _root(x: Any) -> Any:
    """The array that a view is a view of."""
    while getattr(x, "_base", None) is not None:
        x = x._base[0]
    return x


def _reads(x: Any) -> tuple[Any, ...]:
    """How a view is read from its root."""
    found: list[Any] = []
    while getattr(x, "_base", None) is not None:
        x, read, index = x._base
        is_index = isinstance(read, functools.partial) and read.func is PRIMITIVES["getitem"]
        if read is not None:
            found.append(read.keywords["index"] if is_index else read)
        else:
            found.append(index)
    return tuple(found[::-1])


def _plain(x: Any, o: Output) -> Any:
    if type(x) is Staged:
        value = concrete(x)
        if o.kind is not None:
            return np.array(value) if o.kind is np.ndarray else o.kind(value)
        return value if o.is_view or not isinstance(value, np.ndarray) else _owned(value)
    x = x.primal if isinstance(x, Buffer) else x
    return x.copy("K") if isinstance(x, np.ndarray) else x


def _owned(value: np.ndarray) -> np.ndarray:
    return value if value.base is None and value.flags.writeable else value.copy("K")
