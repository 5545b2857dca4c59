"""Elementwise primitives: one partial derivative per argument, a formula of (out, *inputs)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..arrays.guard import has_nan, quiet
from ..arrays.memory import F64
from ..levels.spec import Spec
from .primitive import Primitive, align
from .shape import fit
from .terms import names_in, words_in

__all__ = ["Elementwise", "Partial"]


INPUTS = ("x", "y", "z", "w")
OPERANDS = frozenset(("out", *INPUTS))


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
