"""Many rules on blocks as one function, written for the slots that they read and write.

It is called once for all blocks. What an operation costs for each block is then the calls of its
ufuncs, and programs of one form have the function in common.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .block_rules import STATEMENTS, UFUNCS, BlockRule, compiled, indented, quietly, renamed

__all__ = ["Call", "Program"]


KNOWN = {**UFUNCS, **STATEMENTS, "add_up": np.add.reduce}


class Call(NamedTuple):
    """A rule, the slots of its parameters, and whether it has warned already."""

    rule: BlockRule
    given: tuple[int, ...]
    is_quiet: bool = False


class Program(NamedTuple):
    """Calls in their order, and the slots that hold another block each time.

    Of the slots in `sums` all blocks are added up, each for itself, after `before` calls; those in
    `looks` are looked at in the end: whether they hold a NaN.
    """

    calls: tuple[Call, ...]
    blocks: frozenset[int]
    sums: tuple[int, ...] = ()
    before: int = 0
    looks: tuple[int, ...] = ()

    @property
    def spares(self) -> int:
        """How many blocks to work in it needs."""
        return max(call.rule.spares for call in self.calls)

    def carry_out(
        self, slots: list[Any], blocks: Iterator[tuple[list[Any], list[Any]]]
    ) -> tuple[list[list[Any]], float]:
        """The sums of the blocks, and a number that is NaN where what is looked at holds one.

        blocks: all slots, and blocks to work in, for one part after the other.
        """
        found: list[list[Any]] = [[] for _ in self.sums]
        return found, written(self)(slots, blocks, *[sums.append for sums in found])


@functools.lru_cache(maxsize=128)
def written(program: Program) -> Callable[..., Any]:
    """The function of a program."""
    return Writer(program).function()


class Writer:
    """The statements of a program."""

    def __init__(self, program: Program):
        self.program = program
        self.scope = {**KNOWN}
        #: statements that may warn, and such that do not, in turn
        self.sections: list[tuple[bool, list[str]]] = []

    def function(self) -> Callable[..., Any]:
        calls, sums = self.program.calls, self.program.sums
        for call in calls[: self.program.before]:
            self.call(call)
        self.add(True, [f"note{k}(add_up(b{i}))" for k, i in enumerate(sums)])
        for call in calls[self.program.before :]:
            self.call(call)
        self.add(True, [f"q += vdot(b{i}, b{i})" for i in self.program.looks])
        read = {i for call in calls for i in call.given}.union(sums, self.program.looks)
        lines = [
            *[f"b{i} = now[{i}]" for i in sorted(read & self.program.blocks)],
            *[f"spare{k} = work[{k}]" for k in range(self.program.spares)],
        ]
        for is_quiet, statements in self.sections:
            lines += quietly(statements) if is_quiet else statements
        return compiled(
            ["now", "blocks", *[f"note{k}" for k in range(len(sums))]],
            [
                "q = 0.0",
                *[f"b{i} = now[{i}]" for i in sorted(read - self.program.blocks)],
                "for now, work in blocks:",
                *indented(lines),
                "return q",
            ],
            self.scope,
        )

    def call(self, call: Call) -> None:
        """Add the statements of a rule, on slots."""
        rule = call.rule
        slots = {name: f"b{i}" for name, i in zip(rule.parameters, call.given, strict=True)}

        def name(word: str) -> str:
            return slots.get(word) or self.named(word, rule.scope)

        self.add(call.is_quiet, [renamed(line, name) for line in rule.loud])
        self.add(True, [renamed(line, name) for line in rule.quiet])

    def add(self, is_quiet: bool, statements: list[str]) -> None:
        if statements and self.sections and self.sections[-1][0] == is_quiet:
            self.sections[-1][1].extend(statements)
        elif statements:
            self.sections.append((is_quiet, statements))

    def named(self, word: str, scope: Mapping[str, Any]) -> str:
        """What a word of a rule is called here, where other rules may mean other things by it."""
        if word not in scope:
            return word
        meant = scope[word]
        name = word if KNOWN.get(word) is meant else f"{word}_"  # which no slot is called
        while self.scope.setdefault(name, meant) is not meant:
            name += "_"
        return name
