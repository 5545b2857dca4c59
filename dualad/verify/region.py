"""Symbols, what is assumed of them, and points of the region that this leaves."""

from __future__ import annotations

import ast
import copy
import random
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from sympy import Rational
from sympy.core.facts import InconsistentAssumptions

from ..errors import ArgumentError
from .assumptions import PROPERTIES, statements

__all__ = ["Region", "Variable"]

#: The numbers that counterexamples are made of, the simplest first.
SIMPLE = tuple(map(Rational, "0 1 -1 2 -2 1/2 -1/2 3 -3 1/3 -1/3 3/2 -3/2 1/4 3/4 4 5".split()))


#: Words for whole numbers.
WHOLE = {"integer", "even", "odd"}


class Variable:
    """One argument: an array of symbols.

    Attributes:
        name: the name of the argument.
        array: what the function is given: an object array of expressions.
        parts: (entry, label, [(real symbol, 1 or I)]) for each entry.
        integer: whether it has no derivative.
    """

    def __init__(self, name: str, shape: tuple[int, ...], words: set[str]):
        self.name, self.shape = name, shape
        self.integer = bool(words & WHOLE)
        self.array = np.empty(shape, object)
        self.parts: list[tuple[str, list[tuple[Any, Any]]]] = []
        facts = dict.fromkeys(words - {"complex", "real"}, True)
        for at in np.ndindex(shape):
            label = name + (f"[{', '.join(map(str, at))}]" if at else "")
            if "complex" in words:
                re_, im = (sympy.Symbol(f"{p}({label})", real=True) for p in ("re", "im"))
                self.array[at] = re_ + sympy.I * im
                self.parts.append((label, [(re_, sympy.Integer(1)), (im, sympy.I)]))
            else:
                s = sympy.Symbol(label, real=True, **facts)
                self.array[at] = s
                self.parts.append((label, [(s, sympy.Integer(1))]))

    @property
    def symbols(self) -> list[Any]:
        return [s for _, parts in self.parts for s, _ in parts]


class Region:
    """The variables and the inequalities between them.

    Args:
        shapes: name -> shape of each argument.
        assume: statements such as "x > 0", "0 < p < 1", "n integer", "z complex", "a != b", in
            any of the forms of `statements`.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]], assume: Any = ()):
        self.assume = statements(assume)
        words: dict[str, set[str]] = {n: set() for n in shapes}
        comparisons: list[str] = []
        for text in self.assume:
            match = re.fullmatch(r"\s*(\w+)\s+(?:is\s+)?(\w+)\s*", text)
            if match and match[2] in PROPERTIES:
                self._known(match[1], words, text)
                words[match[1]].add(match[2])
            else:
                comparisons.append(text)
        for text in comparisons:
            for name, fact in _facts(text, words):
                if name in words:
                    words[name].add(fact)
        try:
            self.variables = [Variable(n, s, words[n]) for n, s in shapes.items()]
        except InconsistentAssumptions:
            raise ArgumentError(
                f"nothing is {', '.join(self.assume)}: the assumptions contradict each other"
            ) from None
        #: expressions that are positive in the region
        self.positive: list[Any] = []
        #: pairs of expressions that differ
        self.different: list[Any] = []
        #: symbols that have one value only
        self.given: dict[Any, Any] = {}
        for text in comparisons:
            self._compare(text)

    def _known(self, name: str, words: Mapping[str, Any], text: str) -> None:
        if name not in words:
            raise ArgumentError(
                f"the assumption {text!r} is about {name!r}, but the arguments are "
                f"{', '.join(words)}"
            )

    def _compare(self, text: str) -> None:
        names = {v.name for v in self.variables}
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except SyntaxError:
            tree = ast.Constant(None)
        if not isinstance(tree, ast.Compare):
            raise ArgumentError(
                f"the assumption {text!r} is neither a comparison such as 'x > 0' nor one of the "
                f"words {', '.join(PROPERTIES)} behind a name"
            )
        for n in ast.walk(tree):
            if isinstance(n, ast.Name) and n.id not in {*names, "pi", "sqrt", "abs", "exp"}:
                self._known(n.id, dict.fromkeys(names), text)
        sides = [self._side(s) for s in (tree.left, *tree.comparators)]
        for left, op, right in zip(sides, tree.ops, sides[1:], strict=False):
            for a, b in zip(*map(np.ravel, np.broadcast_arrays(left, right)), strict=True):
                if isinstance(op, (ast.Gt, ast.Lt)):
                    self.positive += _both_sides(a - b if isinstance(op, ast.Gt) else b - a)
                elif isinstance(op, (ast.GtE, ast.LtE)):
                    self.positive += _both_sides(
                        _at_least(a - b if isinstance(op, ast.GtE) else b - a)
                    )
                elif isinstance(op, ast.NotEq):
                    self.different.append(sympy.sympify(a - b))
                else:
                    raise ArgumentError(
                        f"the assumption {text!r} uses a comparison other than <, >"
                    )

    def _side(self, node: ast.expr) -> Any:
        scope: dict[str, Any] = {v.name: v.array for v in self.variables}
        known = {"sqrt": sympy.sqrt, "abs": sympy.Abs, "exp": sympy.exp}
        scope |= {"pi": sympy.pi, **{n: np.frompyfunc(f, 1, 1) for n, f in known.items()}}
        text = re.sub(r"(?<![\w.])(\d+\.?\d*(?:e-?\d+)?)", r"Number('\1')", ast.unparse(node))
        return eval(text, {"__builtins__": {}, "Number": Rational}, scope)

    @property
    def symbols(self) -> list[Any]:
        return [s for v in self.variables for s in v.symbols]

    def within(self, positive: list[Any]) -> Region:
        """The part of the region in which these expressions are positive, too."""
        part = copy.copy(self)
        part.positive = [*self.positive, *positive]
        return part

    def at(self, values: Mapping[Any, Any]) -> Region:
        """The part of the region in which some symbols have these values."""
        part = copy.copy(self)
        part.given = {**self.given, **values}
        return part

    def allows(self, values: Mapping[Any, Any]) -> bool:
        """Whether some symbols may have these values, as far as each fact tells by itself."""
        if not all(_may_be(s, v) for s, v in values.items()):
            return False
        known = [p.subs(dict(values)) for p in self.positive if p.free_symbols <= set(values)]
        return not any(p.is_nonpositive for p in known)

    def has(self, point: Mapping[Any, Any]) -> bool:
        """Whether a point lies in the region."""
        for s, v in point.items():
            if self.given.get(s, v) != v or not _may_be(s, v):
                return False
        at = dict(point)
        return all(_above_zero(p.subs(at)) for p in self.positive) and not any(
            bool(sympy.Eq(d.subs(at), 0)) for d in self.different
        )

    def points(self, symbols: list[Any], seed: int, tries: int = 4000) -> Iterator[dict[Any, Any]]:
        """Random points of the region with simple rational coordinates."""
        rng = random.Random(seed)
        bounds = {s: self.bounds(s) for s in symbols}
        for _ in range(tries):
            point = {
                s: self.given[s] if s in self.given else _coordinate(rng, s, *bounds[s])
                for s in symbols
            }
            if self.has(point):
                yield point

    def bounds(self, s: Any) -> tuple[Any, Any]:
        """The interval in which a symbol lies by the inequalities about it alone."""
        low, high = -sympy.oo, sympy.oo
        if s.is_nonnegative:
            low = sympy.Integer(0)
        if s.is_nonpositive:
            high = sympy.Integer(0)
        for p in self.positive:
            if p.free_symbols != {s} or not p.is_polynomial(s) or sympy.degree(p, s) != 1:
                continue
            slope, rest = p.coeff(s, 1), p.coeff(s, 0)
            edge = -rest / slope
            low, high = (sympy.Max(low, edge), high) if slope > 0 else (low, sympy.Min(high, edge))
        return low, high

    def describe(self) -> str:
        return ", ".join(self.assume) or "all real numbers"


def _both_sides(e: Any) -> list[Any]:
    """What is positive where e is: of c - |u|, both c - u and c + u."""
    e = sympy.sympify(e)
    for size in e.atoms(sympy.Abs):
        (u,) = size.args
        rest = e + size
        if u.is_extended_real and not rest.has(size):
            return [rest - u, rest + u]
    return [e]


def _above_zero(value: Any) -> bool:
    """What is no real number is not above zero."""
    return bool(value.is_extended_real and value > 0)


def _may_be(s: Any, v: Any) -> bool:
    """Whether a symbol with its properties may have a value."""
    if s.is_integer and not v.is_integer:
        return False
    if (s.is_positive and v <= 0) or (s.is_negative and v >= 0):
        return False
    if (s.is_nonnegative and v < 0) or (s.is_nonpositive and v > 0):
        return False
    return not ((s.is_nonzero and v == 0) or (s.is_even and v % 2) or (s.is_odd and not v % 2))


def _at_least(e: Any) -> Any:
    """What is positive where e is not negative.

    Of whole numbers the boundary is a part; of real ones it has no volume, and is left out.
    """
    e = sympy.sympify(e)
    whole = bool(e.free_symbols) and all(s.is_integer for s in e.free_symbols)
    if not whole or not e.is_polynomial():
        return e
    e = sympy.expand(e)
    shared = sympy.ilcm(*(c.q for c in e.as_coefficients_dict().values() if c.is_Rational), 1)
    whole = sympy.expand(e * shared)
    return whole + 1 if whole.is_integer else e


def _facts(text: str, words: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """What a comparison of a name with a number says of its sign."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return
    if not isinstance(tree, ast.Compare):
        return
    sides = [tree.left, *tree.comparators]
    for a, op, b in zip(sides, tree.ops, sides[1:], strict=False):
        for x, y, flip in ((a, b, False), (b, a, True)):
            if not isinstance(x, ast.Name):
                continue
            try:
                bound = float(ast.literal_eval(y))
            except ValueError:
                continue
            above = isinstance(op, (ast.Lt, ast.LtE) if flip else (ast.Gt, ast.GtE))
            below = isinstance(op, (ast.Gt, ast.GtE) if flip else (ast.Lt, ast.LtE))
            # A whole number may be 0 where it may equal 0; of real ones the boundary is left out.
            whole = bool(words.get(x.id, set()) & WHOLE) and isinstance(op, (ast.GtE, ast.LtE))
            if above and bound >= 0:
                yield x.id, "nonnegative" if whole and bound == 0 else "positive"
            elif below and bound <= 0:
                yield x.id, "nonpositive" if whole and bound == 0 else "negative"
            elif isinstance(op, ast.NotEq) and bound == 0:
                yield x.id, "nonzero"


def _coordinate(rng: random.Random, s: Any, low: Any, high: Any) -> Any:
    if s.is_integer:
        first = int(sympy.ceiling(low)) if low.is_finite else -4
        last = int(sympy.floor(high)) if high.is_finite else first + 9
        return sympy.Integer(rng.randint(first, max(first, last)))
    if low.is_finite and high.is_finite:
        return _near(low) + _near(high - low) * Rational(rng.randint(1, 60), 61)
    away = Rational(rng.randint(1, 60), rng.choice((7, 11, 13, 16)))
    if low.is_finite:
        return _near(low) + away
    return _near(high) - away if high.is_finite else away * rng.choice((-1, 1))


def _near(bound: Any) -> Any:
    """A bound as a rational number, if it is none close to it."""
    return bound if bound.is_Rational else Rational(Fraction(float(bound)).limit_denominator(999))
