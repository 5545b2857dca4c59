"""Who runs the members: this process, several of this machine, or a dask cluster."""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import multiprocessing
from collections.abc import Iterator
from typing import Any

from ...extras import required
from ..errors import SensitivityError
from ..model_file import ModelFile, load

__all__ = ["workers"]


@contextlib.contextmanager
def workers(model: ModelFile, args: argparse.Namespace) -> Iterator[Any]:
    """An executor for `ensemble`, closed afterwards; None for this process.

    Raises:
        SensitivityError: the cluster does not answer.
        MissingExtraError: dask is not installed.
    """
    if args.scheduler is not None:
        with _client(model, args.scheduler) as client:
            yield client
    elif args.jobs > 1:
        yield from _processes(model, args.jobs, args.model)
    else:
        yield None


def _processes(model: ModelFile, jobs: int, target: str) -> Iterator[Any]:
    """By loky, if installed; else by the standard library, where no lambda can be sent."""
    try:
        import loky
    except ImportError:
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(jobs, context, load, (target,)) as pool:
            yield pool
        return
    with by_value(model, "cloudpickle"):
        pool = loky.ProcessPoolExecutor(jobs)
        try:
            yield pool
        finally:
            pool.shutdown(wait=True)


@contextlib.contextmanager
def _client(model: ModelFile, address: str) -> Iterator[Any]:
    distributed = required("distributed", "--scheduler", "pip install dualad[dask]")
    try:
        client = distributed.Client(address, timeout="20s")
    except (OSError, ValueError) as error:
        raise SensitivityError(f"no dask scheduler answers at {address}: {error}") from error
    with client, by_value(model, "cloudpickle"):
        yield client


@contextlib.contextmanager
def by_value(model: ModelFile, module: str) -> Iterator[None]:
    """The functions of the model file are sent as code: a worker cannot import the file."""
    cloudpickle = required(module, "sending a model", f"pip install {module}")
    cloudpickle.register_pickle_by_value(model.module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(model.module)
