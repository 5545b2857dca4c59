"""Rewriting by rules: each looks at one operation, and at what its operands come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from ...engine.staging.operations import Guard, Operation, Variable
from ..loop import variables_of
from ..program import Output, Program

__all__ = ["Known", "Made", "Rule", "Rules", "outputs_by", "renamed", "rewritten"]


class Known(NamedTuple):
    """What stands in place of a result: another variable, or a constant."""

    value: Any


class Made(dict[Variable, Operation]):
    """The operation that made each variable, and how often each was read in the beginning."""

    def __init__(self, program: Program):
        super().__init__()
        self.uses = Counter(program.results())
        for s in program.steps:
            self.uses.update(variables_of(s))


#: An operation, and what made each variable: nothing, another operation with the same result,
#: several of which the last has that result, or what is known in its place.
Rule = Callable[[Operation, Made], Operation | list[Operation] | Known | None]


class Rules(NamedTuple):
    """Rules by the name of the primitive that they look at; "" stands for all of them."""

    by_name: dict[str, tuple[Rule, ...]]
    #: what an operation must be before they are asked
    applies: Callable[[Operation], bool] = lambda operation: True

    def of(self, operation: Operation) -> tuple[Rule, ...]:
        """The rules that may have something to say about an operation."""
        found = self.by_name.get(operation.primitive.name) or self.by_name.get("", ())
        return found if found and self.applies(operation) else ()


def rewritten(program: Program, *rules: Rules) -> Program:
    """The program after the rules, each applied as long as it finds something."""
    same: dict[Variable, Any] = {}
    made = Made(program)
    steps: list[Operation | Guard] = []
    kept = {v for _, v in program.writes}
    for s in program.steps:
        if isinstance(s, Guard):
            known = same.get(s.variable, s.variable)
            if type(known) is Variable:  # a constant answers as it did
                steps.append(s._replace(variable=known))
            continue
        assert isinstance(s, Operation)  # loops go through the passes part by part
        todo = [renamed(s, same)]
        while todo:
            operation = todo.pop(0)
            new = _applied(rules, operation, made)
            if type(new) is Known and (type(new.value) is Variable or s.results[0] not in kept):
                same[operation.results[0]] = new.value
                todo = [renamed(o, same) for o in todo]
            elif type(new) is list:
                todo = [*new, *todo]
            else:
                operation = new if type(new) is Operation else operation
                steps.append(operation)
                made.update(dict.fromkeys(operation.results, operation))
    writes = tuple([(k, same.get(v, v)) for k, v in program.writes])
    return Program(
        program.inputs, tuple(steps), outputs_by(program, same), program.tree, writes,
        program.notes,
    )  # fmt: skip


def _applied(rules: tuple[Rules, ...], operation: Operation, made: Made) -> Any:
    """The last of what the rules make of an operation."""
    found: Any = None
    while len(operation.results) == 1:
        new = next(_findings(rules, operation, made), None)
        if new is None:
            break
        found = new
        if type(new) is not Operation:
            break
        operation = new
    return found


def _findings(rules: tuple[Rules, ...], operation: Operation, made: Made) -> Iterator[Any]:
    for table in rules:
        for rule in table.of(operation):
            if (new := rule(operation, made)) is not None:
                yield new


def outputs_by(program: Program, same: dict[Variable, Any]) -> tuple[Output, ...]:
    """The outputs under other names."""
    return tuple(
        [
            replace(o, value=same.get(o.value, o.value)) if type(o.value) is Variable else o
            for o in program.outputs
        ]
    )


def renamed(operation: Operation, names: dict[Variable, Any]) -> Operation:
    """The operation on other variables."""
    if not names:
        return operation

    def new(x: Any) -> Any:
        if type(x) is Variable:
            return names.get(x, x)
        if type(x) is slice:
            return slice(new(x.start), new(x.stop), new(x.step))
        return type(x)([new(v) for v in x]) if type(x) in (tuple, list) else x

    aliases = new(operation.aliases)
    return operation._replace(
        operands=new(operation.operands),
        params={k: new(v) for k, v in operation.params.items()},
        aliases=tuple([a for a in aliases if type(a) is Variable]),
    )
