"""Threads that share long loops: they wait for work outside of Python, and never run any of it.

A call hands its loop to workers that are idle and does its own share; who is free takes the next
range. A call that finds all workers busy (there are several at once, in threads of the user) runs
its ranges by itself, and so does one that is done before a worker has woken up: it takes the work
back. So nobody ever waits for a worker that has not begun.

Threads, and the locks that they sleep at, are CPython's own, which needs neither its lock nor a
state of its own for them. They end with the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Iterator

import numpy as np

from ..cores import MOST
from .workers import code

__all__ = ["Pool", "pool"]

#: Bytes of a worker's place: a line of the cache, and the one that is fetched along.
LINE = 128
#: Words at the start of the pool: number of workers, and of those that were asked for.
COUNT, WANTED, ACQUIRE, RELEASE = range(4)
#: Words of a worker: locks that it waits at and that others wait at, its work, whether it is busy.
WAKE, DONE, JOB, BUSY, HOME = range(5)
FUNCTIONS = {ACQUIRE: "PyThread_acquire_lock", RELEASE: "PyThread_release_lock"}


class Pool:
    """The workers of this process, in memory that their code reads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        # What a worker may still read after a fork, in a parent, is never freed.
        self.words = np.zeros((MOST + 1, LINE // 8), np.uintp)
        for place, name in FUNCTIONS.items():
            function = getattr(ctypes.pythonapi, name)
            self.words[0, place] = ctypes.cast(function, ctypes.c_void_p).value or 0

    @property
    def address(self) -> int:
        """Where the pool lies."""
        return self.words.ctypes.data

    @property
    def size(self) -> int:
        """How many workers there are."""
        return int(self.words[0, COUNT])

    def grow(self, workers: int) -> None:
        """Start as many workers as are asked for; where the system refuses, fewer."""
        with self._lock:
            self.words[0, WANTED] = max(int(self.words[0, WANTED]), workers)
            with contextlib.suppress(RuntimeError):
                while self.size < workers:
                    self._start()

    def _start(self) -> None:
        row = self.words[self.size + 1]
        row[WAKE], row[DONE], row[HOME] = _new_lock(), _new_lock(), self.address
        start = ctypes.pythonapi.PyThread_start_new_thread
        start.restype, start.argtypes = ctypes.c_ulong, (ctypes.c_void_p, ctypes.c_void_p)
        with _without_signals():
            found = start(code("worker"), row.ctypes.data)
        if found == ctypes.c_ulong(-1).value:
            raise RuntimeError("no new thread")
        self.words[0, COUNT] += 1

    def forget(self) -> None:
        """After a fork: no thread but the one that forked is there any more."""
        self._lock = threading.Lock()
        # The address stays: programs know it.
        self.words[0, [COUNT, WANTED]] = 0
        self.words[1:] = 0


def _new_lock() -> int:
    """A lock that is held."""
    new, take = ctypes.pythonapi.PyThread_allocate_lock, ctypes.pythonapi.PyThread_acquire_lock
    new.restype, new.argtypes = ctypes.c_void_p, ()
    take.restype, take.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_int)
    lock = new()
    if not lock:
        raise RuntimeError("no new lock")
    take(lock, 1)
    return lock


@contextlib.contextmanager
def _without_signals() -> Iterator[None]:
    """A thread that is started here gets no signals: they are the main thread's."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_pool: Pool | None = None
_lock = threading.Lock()


def pool() -> Pool:
    """The one pool of this process; it has no workers before they are asked for."""
    global _pool
    with _lock:
        if _pool is None:
            _pool = Pool()
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_after_fork)
        return _pool


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    if _pool is not None:
        _pool.forget()
