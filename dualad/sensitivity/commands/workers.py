"""Who runs the members: this process, several of this machine, or a dask cluster."""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import copy
import multiprocessing
from collections.abc import Iterator
from typing import Any

from ...extras import required
from ..ensembles.problem import Problem
from ..errors import SensitivityError
from ..model_file import ModelFile, load

__all__ = ["workers"]


@contextlib.contextmanager
def workers(
    model: ModelFile, work: Problem, args: argparse.Namespace
) -> Iterator[tuple[Problem, Any]]:
    """The problem as workers take it, and an executor for `ensemble`, closed afterwards.

    Raises:
        SensitivityError: the cluster does not answer.
        MissingExtraError: dask is not installed.
    """
    if args.scheduler is not None:
        with _client(args.scheduler) as client:
            yield Portable.of(work, model), client
    elif args.jobs > 1:
        yield from _processes(model, work, args)
    else:
        yield work, None


def _processes(
    model: ModelFile, work: Problem, args: argparse.Namespace
) -> Iterator[tuple[Problem, Any]]:
    """By loky, if installed; else by the standard library, where no lambda can be sent."""
    try:
        import loky
    except ImportError:
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(
            args.jobs, context, load, (args.model,)
        ) as pool:
            yield work, pool
        return
    pool = loky.ProcessPoolExecutor(args.jobs)
    try:
        yield Portable.of(work, model), pool
    finally:
        pool.shutdown(wait=True)


@contextlib.contextmanager
def _client(address: str) -> Iterator[Any]:
    distributed = required("distributed", "--scheduler", "pip install dualad[dask]")
    try:
        client = distributed.Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise SensitivityError(f"no dask scheduler answers at {address}: {error}") from error
    with client:
        yield client


class Portable(Problem):
    """A problem that carries the code of its model file along: a worker cannot import that file.

    What a worker unpacks is a plain `Problem`.
    """

    packed: bytes

    @classmethod
    def of(cls, work: Problem, model: ModelFile) -> Portable:
        """The same problem, packed."""
        cloudpickle = required("cloudpickle", "sending a model", "pip install cloudpickle")
        cloudpickle.register_pickle_by_value(model.module)
        try:
            packed = cloudpickle.dumps(work)
        finally:
            cloudpickle.unregister_pickle_by_value(model.module)
        out = copy.copy(work)
        out.__class__ = cls
        assert isinstance(out, Portable)
        out.packed = packed
        return out

    def __reduce__(self) -> Any:
        return required("cloudpickle", "a worker", "pip install cloudpickle").loads, (self.packed,)
