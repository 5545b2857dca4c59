"""Run an analysis for many sets of parameters, here or on any executor."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, ParameterError, SensitivityError, unknown_name
from ..functions.sampling import ParameterSets, as_sets
from ..given import seed_sequence
from .bar import Bar
from .executors import Crew, Lost, require_picklable, results, workers_of
from .fingerprint import fingerprint
from .problem import Problem, as_problem
from .result import Ensemble
from .storage import with_suffix
from .vectorised import can_vectorise
from .worker import Batch, run_batch

__all__ = ["ensemble"]

#: A batch that is run in one pass holds at most so many members.
LARGEST = 4096
#: Writing the file takes at most this part of the time.
WRITING = 0.1


def ensemble(
    problem: Any,
    sets: Any,
    *,
    params: Any = None,
    executor: Any = None,
    batch: int | str = "auto",
    on_error: str = "keep",
    resume: str | Path | None = None,
    seed: int | None = None,
    progress: bool = True,
    **options: Any,
) -> Ensemble:
    """The values and derivatives of an analysis for each of many sets of parameters.

    A model that is a plain function runs many members in one pass, where that gives what they give
    one by one; all else runs a member at a time.

    Args:
        problem: what `problem(ode, ...)` gives, or model(p): a plain function, or one that returns
            the result of an analysis.
        sets: what `sample` gives; a DataFrame; a list of mappings; a mapping of columns; or an
            array (n, k) in the order of the parameters.
        params: for a model, the parameters that the sets leave out, with units and bounds.
        executor: None for here and now; a number of processes; or whatever has submit: a pool of
            concurrent.futures or loky, a dask Client, mpi4py.futures. It is not closed.
        batch: members a task; "auto" is 1, or more where they run in one pass.
        on_error: "keep" failures as such, or "raise" the first.
        resume: a file that is written as members finish; if it is there, only the members that it
            lacks are run.
        seed: gives each member random numbers of its own: a model gets them as rng, an analysis
            with an argument seed (`simulate`) as that.
        progress: show a bar on a terminal.
        options: for a model, arguments of `function`: wrt, outputs, args, units, mode.

    Raises:
        ParameterError: a column is unknown, missing or comes twice, or a value is no number.
        ModelError: all members failed.
        SensitivityError: the file is of another problem; the model cannot be sent to another
            process.

    >>> import numpy as np
    >>> e = ensemble(lambda p: p.a * p.b, {"a": [1.0, 2.0, 3.0], "b": [5.0, 5.0, 5.0]})
    >>> e.values, e.jacobian[:, 1]
    (array([ 5., 10., 15.]), array([1., 2., 3.]))
    """
    if on_error not in ("keep", "raise"):
        raise SensitivityError(f"on_error must be 'keep' or 'raise', got {on_error!r}")
    rows, work = _question(problem, sets, params, options)
    crew = Crew(executor)
    begun = time.perf_counter()
    try:
        require_picklable(crew.runner, work)
        out = _started(work, rows, seed, resume)
        Run(
            out, work, crew, batch=batch, on_error=on_error, resume=resume, seed=seed,
            progress=progress,
        )()  # fmt: skip
    finally:
        crew.close()
    out.stats |= {"wall": time.perf_counter() - begun, "members": len(out)}
    if len(out.failed) == len(out):
        raise ModelError(f"all {len(out)} members failed; the first: {out.failed[0].error}")
    return out


def _question(
    problem: Any, sets: Any, params: Any, options: dict[str, Any]
) -> tuple[ParameterSets, Problem]:
    """The sets and the problem, checked against each other."""
    known: tuple[str, ...] = ()
    if isinstance(problem, Problem):
        known = problem.parameters.names
    elif params is not None:
        known = tuple(params)
    rows = as_sets(sets, known)
    if not len(rows):
        raise SensitivityError("there are no sets of parameters to run")
    work = as_problem(problem, params, rows.names, options)
    for name in rows.names:
        if name not in work.parameters:
            raise ParameterError(
                f"a column of the sets: {unknown_name('parameter', name, work.parameters)}"
            )
    bad = np.argwhere(~np.isfinite(rows.values))
    for i, j in bad[:1]:
        raise ParameterError(f"set {i} has {rows.values[i, j]} for {rows.names[j]!r}")
    lower, upper = work.parameters.subset(rows.names).bounds
    for i, j in np.argwhere((rows.values < lower) | (rows.values > upper))[:1]:
        raise ParameterError(
            f"set {i} has {rows.values[i, j]} for {rows.names[j]!r}, outside of its bounds "
            f"[{lower[j]:g}, {upper[j]:g}]"
        )
    return rows, work


def _started(work: Problem, rows: ParameterSets, seed: Any, resume: Any) -> Ensemble:
    """A new ensemble, or the one that a file has begun."""
    if resume is None:
        return Ensemble(rows, base=work.parameters)
    mark = fingerprint(work, rows, seed)
    if not with_suffix(resume).exists():
        out = Ensemble(rows, mark=mark, base=work.parameters)
        out.save(resume)
        return out
    out = Ensemble.load(resume)
    if out.mark != mark:
        raise SensitivityError(
            f"{with_suffix(resume)} is of another problem: its model, its parameters or its sets "
            f"are not these; give another name, or delete it"
        )
    out._errors = {i: e for i, e in out._errors.items() if out.done[i]}
    return out


class Run:
    """A run of the members that are not done, which takes them in as they come."""

    def __init__(self, out: Ensemble, work: Problem, crew: Crew, **how: Any):
        self.out, self.work, self.crew = out, work, crew
        self.batch, self.on_error, self.resume = how["batch"], how["on_error"], how["resume"]
        self.seed, self.due, self.broken = how["seed"], 0.0, False
        self.bar = Bar(len(out), int(out.done.sum()), how["progress"])

    def __call__(self) -> None:
        workers = workers_of(self.crew.runner)
        one_pass = self.seed is None and self.batch != 1 and can_vectorise(self.work)
        todo = np.flatnonzero(~self.out.done)
        here = self.crew.runner is None
        size = _batch_size(self.batch, len(todo), 1 if here else workers, one_pass)
        try:
            self.members(todo, size, one_pass, 4 * workers)
            self.again()
        finally:
            self.bar.close()
            if self.resume is not None:
                self.out.save(self.resume)

    def again(self) -> None:
        """What was lost with a process that died, one by one: a member can lose itself alone."""
        self.broken = True
        for i in np.flatnonzero(~self.out.done):
            if self.broken:
                self.crew.renew()
            self.broken = False
            self.members(np.array([i]), 1, False, 1)

    def members(self, todo: np.ndarray, size: int, one_pass: bool, in_flight: int) -> None:
        """Run these members, size a task."""
        tasks = _tasks(self.work, self.out.sets, todo, size, self.seed, one_pass)
        for found in results(self.crew.runner, run_batch, tasks, in_flight):
            self.take(found)

    def take(self, found: Batch | Lost) -> None:
        """Take in what a task gave."""
        lost = isinstance(found, Lost)
        got = _lost(found) if isinstance(found, Lost) else found
        self.out.add(got)
        self.broken = lost
        if lost:
            self.out.done[got.indices] = False
        else:
            self.bar(len(got.indices), len(got.errors))
            if got.errors and self.on_error == "raise":
                _raise(self.out, got)
        self.out.stats["in_one_pass"] = self.out.stats.get("in_one_pass", 0) + got.passes
        begun = time.monotonic()
        if self.resume is not None and begun >= self.due:
            self.out.save(self.resume)
            now = time.monotonic()
            self.due = now + (now - begun) / WRITING


def _batch_size(batch: int | str, n: int, workers: int, one_pass: bool) -> int:
    if batch == "auto":
        return min(LARGEST, max(1, math.ceil(n / workers))) if one_pass else 1
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise SensitivityError(f"batch must be a positive integer or 'auto', got {batch!r}")
    return batch


def _tasks(
    work: Problem, sets: ParameterSets, todo: np.ndarray, size: int, seed: Any, one_pass: bool
) -> Iterator[tuple[Any, ...]]:
    """The arguments of `run_batch`, a batch at a time."""
    seeds = None if seed is None else seed_sequence("seed", seed).spawn(len(sets))
    for i in range(0, len(todo), size):
        indices = todo[i : i + size].tolist()
        own = None if seeds is None else [seeds[j] for j in indices]
        yield work, sets.names, sets.values[indices], indices, own, one_pass


def _lost(found: Lost) -> Batch:
    """The members of a task that never came back: they count as failed, and not as done."""
    indices = found.task[3]
    text = f"the executor lost it: {type(found.error).__name__}: {found.error}"
    return Batch(indices, errors=dict.fromkeys(indices, text))


def _raise(out: Ensemble, batch: Batch) -> None:
    i = min(batch.errors)
    values = ", ".join(f"{n} = {v:.6g}" for n, v in out.sets[i].items())
    raise ModelError(f"member {i} failed ({values}): {batch.errors[i]}")
