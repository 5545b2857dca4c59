"""Primitives: the three families, what each states of its derivative, and dispatch by level.

- `Elementwise` states one partial derivative per argument, a formula of (out, *inputs).
- `Linear` states its transpose in each argument; it is its own derivative.
- `Composite` states a forward rule per argument in terms of the first two families.

No reverse formula exists but the transposes of linear operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..arrays.guard import has_nan, quiet
from ..arrays.memory import F64, LARGE, large_result
from ..arrays.spent import is_spent
from ..levels.rules import Table
from ..levels.traced import Spec, TracedArray, spec_of
from .chain import Cases, Chain
from .shape import BOUND, fit, zeros_like
from .terms import names_in, words_in

__all__ = ["PRIMITIVES", "Composite", "Elementwise", "Linear", "Opaque", "Partial", "Primitive"]

#: Every built-in primitive, by name: what the registry sweeps of the tests walk.
PRIMITIVES = Table()

INPUTS = ("x", "y", "z", "w")
OPERANDS = frozenset(("out", *INPUTS))
#: The kinds of rules that may be transposed without being traced.
CHAINED = Chain, Cases


class Primitive:
    """An operation with a derivative; a call goes to the highest level among its arguments."""

    family = "primitive"
    #: (argument, **params) -> whether it is the sum of all entries of its one argument
    is_total: Callable[..., bool] | None = None

    def __init__(self, impl: Callable[..., Any], name: str | None = None, builtin: bool = True):
        self.impl = impl
        self.name = name or impl.__name__
        self.__name__ = self.name
        if builtin:
            if self.name in PRIMITIVES:
                raise ValueError(f"a primitive named {self.name!r} exists already")
            PRIMITIVES[self.name] = self

    def __call__(self, *args: Any, **params: Any) -> Any:
        if len(args) == 1:
            top = args[0]
            if not isinstance(top, TracedArray):
                return self.impl(top, **params)
            return type(top).bind(self, top.level, args, params)
        top = None
        for a in args:
            if isinstance(a, TracedArray) and (top is None or a.level.rank > top.level.rank):
                top = a
        if top is None:
            return self.impl(*args, **params)
        return type(top).bind(self, top.level, args, params)

    def __repr__(self) -> str:
        return f"<{self.family} primitive {self.name}>"

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        """The tangent of out; None where it is known to be zero."""
        raise NotImplementedError

    def out_spec(self, args: tuple, params: dict) -> Spec:
        """The shape and dtype of the result on arguments of which only the Spec may be known."""
        known = (
            np.broadcast_to(np.zeros((), a.dtype), a.shape) if isinstance(a, Spec) else a
            for a in args
        )
        return spec_of(self.impl(*known, **params))

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        """Apply to arguments of which those marked carry a leading batch axis: loop and stack."""
        from ..levels.traced import FUNCTIONS

        n = next(a.shape[0] for a, m in zip(args, mine, strict=True) if m)
        rows = [
            self(*(a[k] if m else a for a, m in zip(args, mine, strict=True)), **params)
            for k in range(max(n, 1))
        ]
        stack = FUNCTIONS[np.stack]
        if isinstance(rows[0], tuple):
            return tuple(stack(column)[:n] for column in zip(*rows, strict=True))
        return stack(rows)[:n]


class Opaque(Primitive):
    """An operation whose result carries no derivative: predicates, indices, step functions."""

    family = "constant"

    def __init__(
        self,
        impl: Callable[..., Any],
        name: str | None = None,
        elementwise: bool = False,
        batch: Callable[..., Any] | None = None,
        builtin: bool = True,
    ):
        super().__init__(impl, name, builtin)
        self.elementwise = elementwise
        self._batch = batch

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        if self.elementwise:
            return self(*align(args, mine), **params)
        if self._batch is not None:
            return self._batch(args, mine, **params)
        return super().batch(args, mine, params)

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        return None


class Partial:
    """One partial derivative: a formula of (out, *inputs), as text or as a callable.

    Text is compiled when `constant`, `names` or `value` of it is first asked for.
    """

    __slots__ = ("constant", "names", "namespace", "text", "value")

    #: The number that the partial is, or None.
    constant: float | None
    #: Which of out and the inputs it reads.
    names: frozenset[str]
    #: The formula as a function.
    value: Callable[..., Any]

    def __init__(self, formula: str | Callable[..., Any] | None, namespace: dict[str, Any]):
        self.text = formula if isinstance(formula, str) else None
        self.namespace = namespace
        if formula is None:
            self.constant, self.names = 0.0, frozenset[str]()
            self.value = lambda out, *inputs: 0.0
        elif not isinstance(formula, str):
            self.constant, self.names = None, OPERANDS
            self.value = formula

    def __getattr__(self, name: str) -> Any:
        if name == "value":
            self._compile()
        elif name in ("constant", "names"):
            self._read()
        else:
            raise AttributeError(f"a partial derivative has no attribute {name!r}")
        return getattr(self, name)

    def compile(self) -> None:
        """Compile the formula, so that an error in it shows."""
        if self.text is not None:
            self._read()
            self._compile()

    def _read(self) -> None:
        """See what the formula reads."""
        text = self.text
        assert text is not None
        self.names = OPERANDS.intersection(words_in(text))
        self.constant = None if text[:1].isalpha() or names_in(text) else float(eval(text))

    def _compile(self) -> None:
        """Make the formula a function."""
        formula, namespace = self.text, self.namespace
        assert formula is not None
        head = ", ".join(("out", *(f"{n}=None" for n in INPUTS)))
        if formula.startswith("1 /"):
            formula, namespace = f"unit(out){formula[1:]}", {**namespace, "unit": unit}
        self.value = eval(f"lambda {head}: {formula}", namespace)

    def term(
        self, t: Any, out: Any, args: tuple, product: Callable[..., Any] | None = None
    ) -> Any:
        """This argument's share of the tangent: t times the partial."""
        if self.constant == 1.0:
            return t
        if self.constant == -1.0:
            return -t
        d = self.value(out, *args)
        return t * d if product is None else product(t, d)


def unit(out: Any) -> Any:
    """1 in the dtype of the result: 1 / x has its precision, also where that of x is less."""
    return np.float64(1.0) if out is None else np.dtype(out.dtype).type(1)


class Elementwise(Primitive):
    """One partial derivative per argument.

    singular: a slope may be infinite, NaN or overflow where the value does not: it gives no
              NumPy warning, and a zero tangent stays zero.
    chooses:  a slope of zero belongs to an argument that was not chosen: it wins over an
              infinite tangent.
    linear:   positions of the arguments in which it is linear; joint: in all of them together.
    complex:  what takes over for complex arguments.
    constant: a condition on a Python number v as second argument, and the primitive for that case.
    twice:    the primitive of one argument that this one is where both are the same object.
    large:    a Python number as second argument, and the primitive of one argument that gives the
              same on arrays of float64.
    call:     the operation as an expression of x and y, where that is quicker than to call it.
    """

    family = "elementwise"

    def __init__(
        self,
        ufunc: Callable[..., Any],
        *partials: str | Callable[..., Any] | None,
        namespace: dict[str, Any],
        name: str | None = None,
        operator: str | None = None,
        singular: bool = False,
        chooses: bool = False,
        linear: Iterable[int] = (),
        joint: bool = False,
        complex: Callable[..., Any] | None = None,
        constant: tuple[str, Elementwise] | None = None,
        twice: Elementwise | None = None,
        large: tuple[float, Elementwise] | None = None,
        call: str | None = None,
        builtin: bool = True,
    ):
        super().__init__(ufunc, name, builtin)
        self.partials = tuple(Partial(p, namespace) for p in partials)
        for p in self.partials if not builtin else ():
            p.compile()
        self.namespace = namespace
        #: the operation as a formula of ufuncs, where it is no ufunc itself
        self.text: str | None = getattr(ufunc, "text", None)
        self.operator = operator
        self.call = call
        self.singular = singular or chooses
        self.chooses = chooses
        self.linear = frozenset(linear)
        self.joint = joint
        self.complex = complex
        self.constant = constant
        self.twice = twice
        self.large = large

    def __call__(self, *args: Any, **params: Any) -> Any:
        if self.complex is not None and any(map(is_complex, args)):
            return self.complex(*args)
        return Primitive.__call__(self, *args, **params)

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        total = self._sum(tangents, out, args, None)
        if total is None:
            return None
        if self.singular and has_nan(total):
            from .shape import zero_wins

            product = (lambda t, d: zero_wins(d, t)) if self.chooses else zero_wins
            total = self._sum(tangents, out, args, product)
        return fit(total, out)

    def _sum(self, tangents: tuple, out: Any, args: tuple, product: Any) -> Any:
        args = tuple(map(wide, args))
        if product is not None or self.singular:
            with quiet():
                return self._terms(tangents, out, with_numpy_zero(args), product)
        return self._terms(tangents, out, args, product)

    def _terms(self, tangents: tuple, out: Any, args: tuple, product: Any) -> Any:
        total = None
        for t, p in zip(tangents, self.partials, strict=True):
            if t is not None and p.constant != 0.0:
                term = p.term(t, out, args, product)
                total = term if total is None else total + term
        return total

    def coefficient(self, k: int, out: Any, args: tuple) -> Any:
        """The partial derivative in argument k; None stands for one."""
        p = self.partials[k]
        if p.constant is not None:
            return None if p.constant == 1.0 else p.constant
        args = tuple(map(wide, args))
        if self.singular:
            with quiet():
                return p.value(out, *with_numpy_zero(args))
        return p.value(out, *args)

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        return self(*align(args, mine))

    def out_spec(self, args: tuple, params: dict) -> Spec:
        first = args[0]
        if type(first) is Spec and all(
            type(a) is Spec and a.shape == first.shape and a.dtype == first.dtype for a in args[1:]
        ):
            return first
        shape = np.broadcast_shapes(
            *(np.shape(a) if not hasattr(a, "shape") else a.shape for a in args)
        )
        dtype = np.result_type(*(a.dtype if hasattr(a, "dtype") else a for a in args))
        return Spec(shape, dtype)


def is_complex(a: Any) -> bool:
    """Whether an operand, traced or constant, is complex."""
    return type(a) is complex or (hasattr(a, "dtype") and a.dtype.kind == "c")


def wide(a: Any) -> Any:
    """A constant of few bits in as many as formulas need: -x and x - 1 of a uint8 wrap around."""
    if type(a) is np.float64 or (type(a) is np.ndarray and a.dtype is F64):  # what most are
        return a
    if isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind in "biu" and a.dtype != np.int64:
        return a.astype(np.float64 if a.dtype == np.uint64 else np.int64)
    return a


def with_numpy_zero(args: tuple) -> tuple:
    """The arguments with NumPy's zero for Python's, whose division would raise.

    So is an integer beyond 64 bits, which formulas could not store in an array.
    """
    return tuple(
        [
            np.float64(a) if type(a) in (int, float) and (a == 0 or abs(a) >= 2**63) else a
            for a in args
        ]
    )


class Linear(Primitive):
    """Linear in each argument that has a transpose; with joint=True in all of them together.

    transposes: for each positional argument a function (cotangent, *args, **params), where the
    linear arguments may be given as their Spec; None for an argument that has no derivative.
    rules:      for each argument in which the operation is not linear (the matrix of a solve) its
                forward rule, as of a Composite; None elsewhere, and not combined with joint.
    batch:      (args, mine, params) -> result, batch axes leading; default: loop and stack.
    spec:       (*args, **params) -> Spec; default: the operation on zeros.
    show:       (*names, **params) -> NumPy expression, for printing.
    add_into:   (array, cotangent, **params): add the transpose into an owned array in place.
    add_share:  (k, array, cotangent, *args, **params): add the transpose in argument k into an
                large array that nobody else holds, up to rounding; whether that was done.
    transpose_all: (cotangent, parents, *args, **params): pairs (k, transpose in argument k) for
                the parents that are not None, where one pass over many arguments gives them all.
    quick:      (*args, **params): the operation up to rounding on arguments of which one is a
                plain tangent, where that or the result is large, and it is quicker than what the
                value of the function is computed by; else None.
    is_total:   (argument, **params): whether it is the sum of all entries as NumPy adds them.
    """

    family = "linear"

    def __init__(
        self,
        impl: Callable[..., Any],
        *transposes: Callable[..., Any] | None,
        rules: tuple[Callable[..., Any] | None, ...] = (),
        joint: bool = False,
        variadic: bool = False,
        batch: Callable[..., Any] | None = None,
        spec: Callable[..., Spec] | None = None,
        show: Callable[..., str] | None = None,
        add_into: Callable[..., None] | None = None,
        add_share: Callable[..., bool] | None = None,
        transpose_all: Callable[..., Iterable[tuple[int, Any]]] | None = None,
        quick: Callable[..., Any] | None = None,
        is_total: Callable[..., bool] | None = None,
        name: str | None = None,
    ):
        super().__init__(impl, name)
        self.transposes = transposes
        self.rules = rules
        self.is_chained = any(type(rule) in CHAINED for rule in rules)
        self.joint = joint
        self.variadic = variadic
        self._batch = batch
        self._spec = spec
        self.show = show
        self.add_into = add_into
        self.add_share = add_share
        self.transpose_all = transpose_all
        self.quick = quick
        self.is_total = is_total

    def movable(self, n: int) -> list[bool]:
        """For each of n arguments whether the operation has a transpose in it."""
        return [True] * n if self.variadic else [t is not None for t in self.transposes]

    def transpose_in(self, k: int) -> Callable[..., Any] | None:
        if self.variadic:
            transpose = self.transposes[0]
            assert transpose is not None
            return lambda ct, *args, **params: transpose(ct, k, *args, **params)
        return self.transposes[k]

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        if self.joint:
            moved = [
                t if t is not None else zeros_like(a) if moves else a
                for t, a, moves in zip(tangents, args, self.movable(len(args)), strict=True)
            ]
            return fit(self(*moved, **params), out)
        if len(args) == 1 and tangents[0] is not None:
            t = None if self.quick is None else self.quick(tangents[0], **params)
            return fit(self(tangents[0], **params) if t is None else t, out)
        total = self.rule(tangents, out, args, params)
        return None if total is None else fit(total, out)

    def rule(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        """The tangent of out, before it is brought to its shape and dtype."""
        total: list[Any] = []
        for k, t in enumerate(tangents):
            if t is None:
                continue
            if self.variadic or self.transposes[k] is not None:
                moved, share = (*args[:k], t, *args[k + 1 :]), None
                if self.quick is not None and type(t) is np.ndarray and is_large(t, out):
                    share = self.quick(*moved, **params)
                if share is None:
                    share = self(*moved, **params)
            elif self.rules and (rule := self.rules[k]) is not None:
                share = rule(t, out, *args, **params)
            else:
                continue
            add_up(total, share)
        return total[0] if total else None

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        if self._batch is None:
            return super().batch(args, mine, params)
        return self._batch(args, mine, **params)

    def out_spec(self, args: tuple, params: dict) -> Spec:
        if self._spec is not None:
            return self._spec(*args, **params)
        return super().out_spec(args, params)


class Composite(Primitive):
    """A forward rule per argument, (tangent, out, *args, **params) -> tangent of out.

    None for an argument without derivative. With whole=True the one rule takes all tangents
    as a tuple, None standing for zero. What a rule does not read the values of is not kept for it:
    with reads="out" it gets the Specs of the arguments, with reads="args" that of the result.
    """

    family = "composite"

    def __init__(
        self,
        impl: Callable[..., Any],
        *rules: Callable[..., Any] | None,
        whole: bool = False,
        reads: str = "both",
        name: str | None = None,
        batch: Callable[..., Any] | None = None,
        builtin: bool = True,
    ):
        super().__init__(impl, name, builtin)
        self.rules = rules
        self.is_chained = any(type(rule) in CHAINED for rule in rules)
        self.whole = whole
        self.reads = reads
        self._batch = batch

    def jvp(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        return fit_all(self.rule(tangents, out, args, params), out)

    def rule(self, tangents: tuple, out: Any, args: tuple, params: dict) -> Any:
        if self.whole:
            assert self.rules[0] is not None
            return self.rules[0](tangents, out, *args, **params)
        total = None
        for t, rule in zip(tangents, self.rules, strict=True):
            if t is not None and rule is not None:
                total = add_all(total, rule(t, out, *args, **params))
        return total

    def batch(self, args: tuple, mine: tuple[bool, ...], params: dict) -> Any:
        if self._batch is None:
            return super().batch(args, mine, params)
        return self._batch(args, mine, **params)


def is_large(t: np.ndarray, out: Any) -> bool:
    """Whether a tangent or a result is large."""
    return t.size >= LARGE or (type(out) is np.ndarray and out.size >= LARGE)


def add_all(a: Any, b: Any) -> Any:
    """a + b for tangents that may be symbolic zeros or tuples of tangents."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple):
        return tuple(add_all(p, q) for p, q in zip(a, b, strict=True))
    if type(a) is np.ndarray and a.size >= LARGE:
        return large_result(np.add, a, b)
    return a + b


def add_up(total: list[Any], share: Any) -> None:
    """Add to the tangent that is in a list, if any is; in place where nobody else has it."""
    if not total:
        total.append(share)
        return
    so_far = type(total[0])
    if so_far is np.ndarray is type(share) and share.size >= LARGE and is_spent(total, 0):
        if total[0].shape == share.shape and total[0].dtype is F64 is share.dtype:
            total[0] += share
            return
    total[0] = add_all(total[0], share)


def fit_all(t: Any, out: Any) -> Any:
    if t is None:
        return None
    if isinstance(out, tuple):
        return tuple(None if p is None else fit(p, o) for p, o in zip(t, out, strict=True))
    return fit(t, out)


def align(args: tuple, mine: tuple[bool, ...]) -> list[Any]:
    """Give the batched arguments of an elementwise operation one rank after the batch axis."""
    rank = max([getattr(a, "ndim", 0) - m for a, m in zip(args, mine, strict=True)])
    return [lifted(a, rank + 1) if m else a for a, m in zip(args, mine, strict=True)]


def lifted(a: Any, ndim: int) -> Any:
    """A batched value with axes of length one behind the batch axis, until it has ndim axes."""
    shape = a.shape
    if len(shape) >= ndim:
        return a
    shape = (shape[0],) + (1,) * (ndim - len(shape)) + shape[1:]
    return a.reshape(shape) if type(a) is np.ndarray else BOUND["reshape"](a, shape=shape)
