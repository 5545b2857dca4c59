"""In which order the steps of a program run: groups become large, and warnings switch seldom."""

from __future__ import annotations

import heapq
from collections import defaultdict

from ..engine.staging.operations import Guard, Operation, Variable
from .group import Group, belongs, read_by, shape_of_group
from .loop import Loop
from .program import Program

__all__ = ["Piece", "mode_of", "scheduled"]

Piece = Operation | Guard | Group | Loop
Step = Operation | Guard | Loop


def scheduled(program: Program) -> list[Piece]:
    """The steps in an order in which each has what it reads, grouped where blocks pay."""
    return _Schedule(program).run()


def followers(steps: tuple[Step, ...]) -> tuple[list[int], dict[int, list[int]]]:
    """For each step how many others it waits for, and which ones wait for it.

    All that comes behind a question about a value waits for its answer, behind one about a shape
    what reads that value. What may raise an error
    waits for the questions about NaN before it: the other path might not.
    """
    waits = [0] * len(steps)
    after: dict[int, list[int]] = defaultdict(list)
    maker: dict[Variable, int] = {}
    barrier: int | None = None
    since: list[int] = []
    shapes: dict[Variable, int] = {}
    for k, s in enumerate(steps):
        read = read_by(s)
        needs = {maker[v] for v in read if v in maker}
        needs.update([shapes[v] for v in read if v in shapes])
        if barrier is not None:
            needs.add(barrier)
        if isinstance(s, Guard):
            if s.question == "has_nan":
                since.append(k)
            elif s.question == "shape":
                shapes[s.variable] = k
            else:
                barrier, since = k, []
        elif isinstance(s, Loop):
            needs.update(since)  # and all that follows waits for the guards inside of it
            maker.update(dict.fromkeys(s.results, k))
            barrier, since = k, []
        else:
            if s.primitive.family not in ("elementwise", "linear"):
                needs.update(since)
            maker.update(dict.fromkeys(s.results, k))
        waits[k] = len(needs)
        for n in needs:
            after[n].append(k)
    return waits, after


#: Operations that give no warnings whatever the values are.
SILENT = frozenset("reshape transpose getitem broadcast_to concatenate stack".split())


def mode_of(piece: Piece) -> bool | None:
    """Whether a piece runs without warnings; None where that is all the same."""
    if isinstance(piece, Guard):
        return None
    if type(piece) is Operation and piece.primitive.name in SILENT:
        return None
    return piece.quiet


class _Schedule:
    def __init__(self, program: Program):
        self.program = program
        self.steps = program.steps
        self.waits, self.after = followers(self.steps)
        self.shapes = [shape_of_group(s) for s in self.steps]
        self.readers: dict[Variable, set[int]] = defaultdict(set)
        for k, s in enumerate(self.steps):
            for v in read_by(s):
                self.readers[v].add(k)
        #: steps that can run: those by themselves, by whether they are quiet, and those in groups
        self.alone: tuple[list[int], list[int]] = ([], [])
        self.large: list[int] = []
        self.quiet = False
        for k, n in enumerate(self.waits):
            if n == 0:
                self._ready(k)

    def _ready(self, k: int) -> None:
        s = self.steps[k]
        if self.shapes[k] is not None:
            heapq.heappush(self.large, k)
        else:
            quiet = mode_of(s)
            heapq.heappush(self.alone[self.quiet if quiet is None else quiet], k)

    def _done(self, k: int) -> list[int]:
        """The steps that waited for this one last."""
        ready: list[int] = []
        for n in self.after[k]:
            self.waits[n] -= 1
            if self.waits[n] == 0:
                ready.append(n)
        return ready

    def run(self) -> list[Piece]:
        pieces: list[Piece] = []
        while self.large or any(self.alone):
            if any(self.alone):
                if not self.alone[self.quiet]:
                    self.quiet = not self.quiet
                k = heapq.heappop(self.alone[self.quiet])
                pieces.append(self.steps[k])
                for n in self._done(k):
                    self._ready(n)
            else:
                pieces += self._group()
        return pieces

    def _group(self) -> list[Piece]:
        """All steps that can run in one group from here on, as few switches of mode as can be."""
        shape = self.shapes[self.large[0]]
        assert shape is not None
        members: list[int] = []
        known: set[Variable] = set()
        mine: tuple[list[int], list[int]] = ([], [])
        quiet = False
        ready, self.large = self.large, []
        while True:
            for k in ready:  # what it reads is there, so that this is decided for good
                if belongs(self.steps[k], shape, known):
                    mode = mode_of(self.steps[k])
                    heapq.heappush(mine[quiet if mode is None else mode], k)
                else:
                    self._ready(k)
            if not any(mine):
                break
            if not mine[quiet]:
                quiet = not quiet
            k = heapq.heappop(mine[quiet])
            s = self.steps[k]
            members.append(k)
            if type(s) is Operation and s.results[0].shape[:1] == shape[:1]:
                known.update(s.results)  # and not a sum over all rows
            ready = self._done(k)
        steps = [s for k in members if not isinstance(s := self.steps[k], Loop)]
        outside = set(self.program.results())
        inside = set(members)
        made = [r for s in steps if type(s) is Operation for r in s.results]
        results = tuple([r for r in made if r in outside or self.readers[r] - inside])
        group = Group(shape, tuple(steps), results)
        return [group] if group.pays else list(steps)
