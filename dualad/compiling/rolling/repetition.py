"""Where a sequence of numbers repeats itself: the longest runs of equal pieces side by side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

__all__ = ["Run", "runs"]

#: How many distances are tried, and how many the longest may be in steps.
CANDIDATES = 24


class Run(tuple[int, int, int]):
    """Start, period and number of turns."""

    __slots__ = ()

    @property
    def start(self) -> int:
        return self[0]

    @property
    def period(self) -> int:
        return self[1]

    @property
    def turns(self) -> int:
        return self[2]


def runs(kinds: np.ndarray, least: int) -> Iterator[Run]:
    """Runs that repeat, by the number of steps that a loop saves; the best first."""
    found = []
    for p in _distances(kinds):
        equal = kinds[:-p] == kinds[p:]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], equal.view(np.int8), [0]))))
        for a, b in edges.reshape(-1, 2):
            turns = 1 + (b - a) // p
            if turns >= least:
                found.append(((turns - 1) * p, -p, Run((int(a), p, int(turns)))))
    found.sort(reverse=True)
    return (run for _, _, run in found)


def _distances(kinds: np.ndarray) -> list[int]:
    """The most frequent distances from a step to the next one of its kind."""
    order = np.argsort(kinds, kind="stable")
    ranked = kinds[order]
    gaps = np.diff(order)[ranked[1:] == ranked[:-1]]
    if not gaps.size:
        return []
    # a kind that occurs several times in a turn: the sums of neighbouring gaps count as well
    values, counts = np.unique(gaps, return_counts=True)
    best = values[np.argsort(-counts * np.sqrt(values), kind="stable")][:CANDIDATES]
    return sorted({*map(int, best), *_of_rare(kinds)})


def _of_rare(kinds: np.ndarray) -> set[int]:
    """The gaps between steps of kinds that occur as seldom as a loop turns."""
    _, inverse, counts = np.unique(kinds, return_inverse=True, return_counts=True)
    found: set[int] = set()
    for n in np.unique(counts[counts >= 3])[:CANDIDATES]:
        kind = int(np.flatnonzero(counts == n)[0])
        at = np.flatnonzero(inverse == kind)
        gaps, often = np.unique(np.diff(at), return_counts=True)
        found.add(int(gaps[np.argmax(often)]))
    return found
