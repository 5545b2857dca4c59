"""Loops as source: rows that are read in step, carried values, lists of what is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.levels.tree import LEAF_TREE
from ..engine.staging.operations import Guard, Operation, Variable
from .block_loop import BlockLoop
from .group import Group, shape_of_group
from .lifetime import Lifetimes
from .loop import Carry, Loop, Stream
from .passes.reads_first import WRITES
from .program import Output, Program
from .schedule import Piece, scheduled
from .statements import statements

if TYPE_CHECKING:
    from .numpy_source import NumpySource

__all__ = ["LoopSource"]


class LoopSource:
    """Writes one loop into a source."""

    def __init__(self, source: NumpySource, loop: Loop):
        self.source, self.loop = source, loop
        self.outer = source.life
        self.makers = {r: s for s in loop.body if isinstance(s, Operation) for r in s.results}

    def write(self) -> None:
        """The lines of the loop."""
        source, loop = self.source, self.loop
        writable = [c for c in loop.carries if self._is_written(c)]
        for c in loop.carries:
            first = source.value(c.initial)
            name = source.new_name(c.inside)
            own = "np.array({})" if c in writable else "{}"
            source.line(f"{name} = {own.format(first)}")
        saved = [f"s{source.count_row()}" for _ in loop.saves]
        for row in saved:
            source.line(f"{row} = []")
        source.line(self._head())
        source.depth += 1
        program = self._turn(writable)
        pieces: list[Piece] = list(loop.body)
        if any(shape_of_group(s) is not None for s in loop.body):
            pieces = scheduled(program)  # large arrays by blocks
        source.life = Lifetimes(program, pieces)
        inner = len(source.lines)
        for k, step in enumerate(pieces):
            self._step(step, k)
        if not loop.quiet:
            source.mode(False)
        for row, s in zip(saved, loop.saves, strict=True):
            source.line(f"{row}.append({source.names[s.inside]})")
            source.rows[row] = s.outside
            source.names.update({v: f"{row}[{t}]" for t, v in enumerate(s.outside)})
        pairs = [(source.names[c.inside], source.names[c.update]) for c in loop.carries]
        pairs = [(a, b) for a, b in pairs if a != b]
        if pairs:
            left, right = (", ".join(side) for side in zip(*pairs, strict=True))
            source.line(f"{left} = {right}")
        if len(source.lines) == inner:
            source.line("pass")
        source.depth -= 1
        source.life = self.outer
        for v, inside in loop.finals:
            source.rename(v, inside)

    def _step(self, step: Piece, k: int) -> None:
        source = self.source
        if isinstance(step, Guard):
            source.line(source.guard(step))
            return
        if not self.loop.quiet:
            source.mode(step.quiet)
        if isinstance(step, Group):
            lines = BlockLoop(source, step).lines
        else:
            assert isinstance(step, Operation)
            lines = statements(source, step, k)
        for text in lines:
            source.line(text)

    # --- rows ------------------------------------------------------------------------------------

    def _head(self) -> str:
        source, loop = self.source, self.loop
        names = [source.new_name(s.inside) for s in loop.streams]
        rows = [self._row(s) for s in loop.streams]
        if not rows:
            return f"for _ in range({loop.turns}):"
        if len(rows) == 1:
            return f"for {names[0]} in {rows[0]}:"
        return f"for {', '.join(names)} in zip({', '.join(rows)}):"

    def _row(self, stream: Stream) -> str:
        line = stream.line
        if line is not None and line[1]:
            start, step = line
            end = start + step * len(stream.values)
            return f"range({start}, {end})" if step == 1 else f"range({start}, {end}, {step})"
        if not any(type(v) is Variable for v in stream.values):
            return self.source.named(stream.values)
        parts = self._parts(stream.values)
        return parts[0][1:] if len(parts) == 1 and parts[0][0] == "*" else f"[{', '.join(parts)}]"

    def _parts(self, values: tuple) -> list[str]:
        """Values as parts of a list: what lies side by side in a saved list as one."""
        places = {
            v: (row, t) for row, outside in self.source.rows.items() for t, v in enumerate(outside)
        }
        parts: list[str] = []
        k = 0
        while k < len(values):
            n, text = 1, self.source.value(values[k])
            place = places.get(values[k]) if type(values[k]) is Variable else None
            if place is not None:
                for step in (1, -1):
                    m = k
                    row, t = place
                    while m < len(values) and places.get(values[m]) == (row, t + step * (m - k)):
                        m += 1
                    if m - k > max(n, 2):
                        n, text = m - k, f"*{self._slice(row, t, step, m - k)}"
            parts.append(text)
            k += n
        return parts

    def _slice(self, row: str, start: int, step: int, n: int) -> str:
        """A stretch of a saved list, forwards or backwards."""
        if n == len(self.source.rows[row]):
            return row if step == 1 else f"{row}[::-1]"
        end = start + step * n
        return (
            f"{row}[{start}:{end}]"
            if step == 1
            else (f"{row}[{start}:{end if end >= 0 else ''}:-1]")
        )

    # --- memory ----------------------------------------------------------------------------------

    def _is_written(self, carry: Carry) -> bool:
        """Whether a carried array may be written in place: nobody else holds what it is."""
        if not carry.inside.is_array:
            return False
        written = [carry.update]
        while written[-1] is not carry.inside:
            maker = self.makers.get(written[-1])
            if maker is None or maker.primitive.name not in WRITES:
                return False
            written.append(maker.operands[0])
        held = [s.inside for s in self.loop.saves]
        held += [c.update for c in self.loop.carries if c is not carry]
        return len(written) > 1 and not self._memory_of(held).intersection(written)

    def _memory_of(self, values: list[Variable]) -> set[Variable]:
        """Values, and those in whose memory they may lie: a view holds on to what it is of."""
        found, todo = set(values), list(values)
        while todo:
            maker = self.makers.get(todo.pop())
            new = [v for v in (maker.aliases if maker is not None else ()) if v not in found]
            found.update(new)
            todo += new
        return found

    def _turn(self, writable: list[Carry]) -> Program:
        """A turn as a program."""
        loop = self.loop
        own = {c.inside for c in writable}
        outside = set(loop.reads()) | {s.inside for s in loop.streams}
        inputs = tuple(outside | {c.inside for c in loop.carries if c.inside not in own})
        kept = [c.update for c in loop.carries if c not in writable]
        kept += [s.inside for s in loop.saves] + [v for _, v in loop.finals]
        outputs = tuple([Output(v) for v in kept])
        return Program(inputs, loop.body, outputs, LEAF_TREE)
