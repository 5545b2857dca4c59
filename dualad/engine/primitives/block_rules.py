"""Rules on blocks: the calls of ufuncs that operations, and shares of cotangents, are made of."""

from __future__ import annotations

import ast
import functools
import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from ..arrays.guard import ignore, restore, vdot
from .steps import Steps
from .terms import names_in

__all__ = ["BlockRule", "NotANumber", "ShareRules", "joint_rule", "renamed", "share_rule"]

#: A name that is read, not one that says which argument follows.
NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!=)")


class NotANumber(Exception):
    """A slope is infinite or none at all: the rule on blocks does not say what is right."""


#: What statements are made of beside what formulas call.
STATEMENTS: dict[str, Any] = {
    "copyto": np.copyto,
    "ignore": ignore,
    "restore": restore,
    "vdot": vdot,
    "is_none_at_all": isnan,
    "NotANumber": NotANumber,
}
UFUNCS = {name: f for name, f in vars(np).items() if isinstance(f, np.ufunc)}


class BlockRule:
    """Statements on the names of blocks and numbers, some that may warn, and quiet ones.

    They are also about spare0, spare1, ..., which are blocks to work in.
    """

    __slots__ = ("loud", "parameters", "quiet", "scope", "spares")

    def __init__(
        self,
        parameters: Sequence[str],
        loud: Sequence[str],
        quiet: Sequence[str],
        spares: int,
        namespace: Mapping[str, Any],
    ):
        self.parameters, self.spares = tuple(parameters), spares
        self.loud, self.quiet = tuple(loud), tuple(quiet)
        #: what their other names mean
        self.scope = ChainMap(STATEMENTS, namespace, UFUNCS)  # type: ignore[arg-type]

    def function(self) -> Callable[..., Any]:
        """The rule as a function of two blocks to write to, some to work in, and the others."""
        return compiled(
            [*self.parameters[:2], "work", *self.parameters[2:]],
            [*_from_work(self.spares), *self.loud, *quietly(self.quiet)],
            self.scope,
        )


class ShareRules(NamedTuple):
    """What a share does with a cotangent c, and what it reads, to a total.

    `added` is given also what has come so far, s, and `over` may write over c.
    """

    added: BlockRule
    first: BlockRule
    over: BlockRule

    @property
    def spares(self) -> int:
        return self.added.spares

    def function(self) -> Callable[..., Any]:
        """A function of (total, s, work, c, *reads), where s may be None, and over."""
        _, _, *given = self.added.parameters
        return compiled(
            ["total", "s", "work", *given, "over=False"],
            [
                *_from_work(self.spares),
                "if s is not None:",
                *indented(self.added.loud),
                "elif over:",
                *indented(self.over.loud),
                "else:",
                *indented(self.first.loud),
            ],
            self.added.scope,
        )


def joint_rule(
    namespace: dict[str, Any],
    value: str,
    tangent: str | None,
    names: Sequence[str],
    numbers: set[str],
    singular: bool,
) -> BlockRule | None:
    """The rule of (out, t, *names) that writes value and tangent of an operation.

    None where the value is more than ufuncs, or a slope a function that is not in the namespace.
    Of a tangent that is an operand's, or where there is none, nothing is written.
    """
    steps = Steps(namespace, numbers, as_it_is=(ast.BinOp,))  # a power, of which NumPy knows some
    if not steps.store(value, "out"):
        return None
    of_value, steps.lines = steps.lines, []
    steps.as_it_is = (ast.expr,)
    if tangent is not None and tangent not in names and not steps.store(str(tangent), "t"):
        return None
    if singular:
        steps.lines.append("if is_none_at_all(vdot(t, t)): raise NotANumber")
    return BlockRule(["out", "t", *names], of_value, steps.lines, steps.count, namespace)


def share_rule(
    namespace: dict[str, Any], share: str, sign: str, reads: Sequence[str], numbers: set[str]
) -> ShareRules | None:
    """The rules of a share; None where it is more than ufuncs."""
    add = {"+": "add", "-": "subtract"}[sign]
    negated = [] if sign == "+" else ["negative(total, total)"]
    if share == "c":
        first = ["copyto(total, c)"] if sign == "+" else ["negative(c, total)"]
        added, over, spares = [f"{add}(s, c, total)"], first, 0
    else:
        steps = Steps(namespace, set(numbers), up_to_rounding=True, as_it_is=(ast.expr,))
        if not steps.store(share, "last", "t"):
            return None
        spares = steps.count + 1
        inner = f"spare{steps.count}"
        added = [*_with(steps.lines, inner, inner), f"{add}(s, {inner}, total)"]
        first = [*_with(steps.lines, "total", "total"), *negated]
        over = [*_with(steps.lines, inner, "total"), *negated]
    return ShareRules(
        BlockRule(["total", "s", "c", *reads], added, (), spares, namespace),
        BlockRule(["total", "c", *reads], first, (), spares, namespace),
        BlockRule(["total", "c", *reads], over, (), spares, namespace),
    )


@functools.cache
def known_rules(pull: Any, kinds: tuple[bool, ...], of_number: bool = False) -> list[Any] | None:
    """The rules of the shares of a pull; None where one is more than ufuncs.

    kinds: which of its reads are arrays; of_number: the rules for a cotangent that is a number,
    its sign with it, None for shares that read no array.
    """
    stated = pull.shares
    reads: Sequence[str] = stated.reads
    numbers = {name for name, is_array in zip(reads, kinds, strict=True) if not is_array}
    if of_number:
        numbers.add("c")
    rules: list[ShareRules | None] = []
    for sign, term in stated.terms:
        if of_number and names_in(term).isdisjoint(set(reads) - numbers):
            rules.append(None)
            continue
        made = share_rule(stated.namespace, term, "+" if of_number else sign, reads, numbers)
        if made is None:
            return None
        rules.append(made)
    return rules


def of_one(rule: ShareRules, c: np.float64, reads: Sequence[Any]) -> np.float64:
    """The share of a cotangent that is a number, where all that it reads are numbers."""
    total, work = np.empty(1), np.empty((rule.spares, 1))
    _function(rule.first)(total, np.array([c]), work, *reads)
    return total[0]


@functools.cache
def _function(rule: BlockRule) -> Callable[..., Any]:
    return rule.function()


def _with(lines: Sequence[str], t: str, last: str) -> list[str]:
    """The lines of a share that computes within t and writes its result to last."""
    names = {"t": t, "last": last}
    return [renamed(line, lambda word: names.get(word, word)) for line in lines]


def renamed(line: str, name: Callable[[str], str]) -> str:
    """A statement with other names."""
    return NAME.sub(lambda found: name(found[0]), line)


def quietly(lines: Sequence[str]) -> list[str]:
    """Statements in which NumPy gives no warning."""
    if not lines:
        return []
    return ["token = ignore()", "try:", *indented(lines), "finally:", "    restore(token)"]


def indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _from_work(spares: int) -> list[str]:
    return [f"spare{k} = work[{k}]" for k in range(spares)]


def compiled(
    parameters: Sequence[str], lines: Sequence[str], scope: Mapping[str, Any]
) -> Callable[..., Any]:
    """A function of these statements."""
    within = dict(scope)
    exec("\n".join([f"def rule({', '.join(parameters)}):", *indented(lines)]), within)
    return within["rule"]
