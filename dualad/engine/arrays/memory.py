"""The memory of large arrays that have died, for those that come.

A fresh array of a few megabytes costs more than what is written into it: the kernel gives its
pages one fault at a time. So the memory of large values, tangents and cotangents goes back to a
pool when the last array on it is gone, and the next of that size gets it. While a level is open
the pool keeps whatever comes back; between calls it keeps `LIMIT` bytes at most.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from .rows import in_long_rows

__all__ = [
    "LARGE",
    "LIMIT",
    "POOL",
    "Pool",
    "aligned",
    "copied",
    "has_own_memory",
    "large_copy",
    "large_product",
    "large_result",
    "originals",
    "workspace",
    "zeros",
]

#: From this many entries on, 256 kB, arrays are large.
LARGE = 1 << 15
#: How many bytes the pool keeps between calls. It is of the order of what the allocators of C
#: libraries keep.
LIMIT = 1 << 25
#: How many arrays of one size the pool keeps while a level is open.
KEPT = 12
#: How many that have come back may wait to be put where they belong, and up to which size.
WAITING = 16

# Arrays that are not large come from the C library. The GNU one gives the end of its heap back to
# the kernel as soon as 128 kB are free there, so that a gradient of arrays of 80 kB faults the
# same pages in at every call, which doubles its time, until the program has once freed a block of
# its own mapping: from then on twice the size of that stays. Here is one of 1 MB, never touched.
np.empty(1 << 17)

F64 = np.dtype(np.float64)
NUMBERS = (float, int, np.float64)


def aligned(n: int) -> np.ndarray:
    """Fresh float64 memory that begins where a line of the cache does: loops are faster on it."""
    memory = np.empty(n + 7)
    start = -(memory.__array_interface__["data"][0] // 8) % 8
    return memory[start : start + n]


class Pool:
    """The memory of arrays that have died, by how many entries it has.

    An exception in code that runs because an object has died is lost: Python prints it and goes
    on. That would be so for a KeyboardInterrupt that comes at that moment, and where arrays are of
    256 kB it comes there often. So no Python code runs when an array dies: C code notes its memory
    in `returned`, and who lends next puts it where it belongs. Only memory of which `WAITING`
    pieces would be more than the limit is put there at once.
    """

    __slots__ = ("_lock", "free", "kept", "limit", "returned", "users")

    def __init__(self, limit: int = LIMIT, kept: int = KEPT) -> None:
        # Not read from the module, of which nothing is left when the interpreter shuts down.
        self.limit, self.kept = limit, kept
        self.free: dict[int, list[_Memory]] = {}
        self.returned: deque[_Return] = deque(maxlen=WAITING)
        #: the levels that are open and have large values
        self.users: set[weakref.ref[_User]] = set()
        self._lock = threading.RLock()

    def lend(self, shape: tuple[int, ...]) -> np.ndarray:
        """An array of float64 with any content."""
        n = 1
        for k in shape:
            n *= k
        if self.returned:
            self.sort()
            if not self.users:
                self.shrink(self.limit)
        stack = self.free.get(n)
        try:
            memory = stack.pop() if stack else _Memory(n)
        except IndexError:  # another thread was quicker
            memory = _Memory(n)
        small = 8 * n * WAITING <= self.limit
        return np.asarray(_Loan(memory, shape, self.returned.append if small else self.take_back))

    def take_back(self, returned: _Return) -> None:
        """Take the memory of an array that has died."""
        self.put(returned.memory)
        if not self.users:
            self.shrink(self.limit)

    def put(self, memory: _Memory) -> None:
        """Put memory where the next array of its size finds it."""
        stack = self.free.setdefault(memory.size, [])
        if len(stack) < self.kept:
            stack.append(memory)

    def sort(self) -> None:
        """Put all that has come back where it belongs."""
        while self.returned:
            try:
                returned = self.returned.pop()
            except IndexError:  # another thread was quicker
                return
            self.put(returned.memory)

    def enter(self) -> _User:
        """Who has large values: while there is one, what comes back is kept."""
        return _User(self)

    def held(self) -> int:
        """How many bytes are free."""
        self.sort()
        return sum(8 * n * len(stack) for n, stack in list(self.free.items()))

    def shrink(self, limit: int = 0) -> None:
        """Give memory back until so many bytes are left, that of the oldest sizes first."""
        with self._lock:
            excess = self.held() - limit
            for n in list(self.free) if excess > 0 else ():
                stack = self.free[n]
                while stack and excess > 0:
                    stack.pop()
                    excess -= 8 * n
                if not stack:
                    del self.free[n]


class _User:
    """One who has large values, until it is closed, or gone because an interrupt came first."""

    __slots__ = ("__weakref__", "_known", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool, self._known = pool, weakref.ref(self, pool.users.discard)
        pool.users.add(self._known)

    def close(self) -> None:
        """It has no large values any more."""
        pool = self._pool
        pool.users.discard(self._known)
        if not pool.users:
            pool.shrink(pool.limit)


class _Memory:
    """A piece of memory, and how NumPy is told of it."""

    __slots__ = ("array", "interface", "size")

    def __init__(self, n: int):
        self.array, self.size = aligned(n), n
        self.interface = self.array.__array_interface__


class _Loan:
    """Memory that returns to its pool when the last array on it is gone."""

    __slots__ = ("__array_interface__", "__weakref__", "_returned")

    def __init__(
        self, memory: _Memory, shape: tuple[int, ...], take_back: Callable[[_Return], None]
    ):
        # Held by what it watches, it is still there when that dies.
        self._returned = returned = _Return(self, take_back)
        returned.memory = memory
        self.__array_interface__ = interface = memory.interface
        interface["shape"] = shape


class _Return(weakref.ref["_Loan"]):
    """Memory on its way back from an array that has died."""

    __slots__ = ("memory",)
    memory: _Memory


#: The one pool of the process.
POOL = Pool()


def has_own_memory(array: np.ndarray) -> bool:
    """Whether an array is no view of another one."""
    return array.base is None or isinstance(array.base, _Loan)


class _Originals(threading.local):
    """For the copies that recorded operations keep of constants, what they are copies of.

    It is None but while a function is traced, by the thread that traces it.
    """

    known: dict[int, tuple[np.ndarray, np.ndarray]] | None = None


originals = _Originals()


def large_copy(array: np.ndarray) -> np.ndarray:
    """A copy of an array, in memory of the pool where it is large."""
    if array.size < LARGE or array.dtype is not F64 or not array.flags.c_contiguous:
        return array.copy(order="K")
    out = POOL.lend(array.shape)
    out[...] = array
    return out


def large_result(ufunc: Callable[..., Any], *operands: Any) -> Any:
    """A ufunc of arrays and numbers, its result in memory of the pool where that is float64."""
    shape: tuple[int, ...] = ()
    alike = True
    for a in operands:
        if type(a) is np.ndarray:
            if a.dtype is not F64:
                return ufunc(*operands)
            if not a.flags.c_contiguous:
                if 0 not in a.strides:  # an order that the result should have
                    return ufunc(*operands)
                alike = False
            if a.shape != shape:
                alike, shape = alike and not shape, a.shape
        elif type(a) not in NUMBERS:
            return ufunc(*operands)
    if alike:
        return ufunc(*operands, out=POOL.lend(shape))
    out = POOL.lend(np.broadcast(*operands).shape)
    return in_long_rows(ufunc, *operands, out=out)


def large_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b, the result in memory of the pool where it is large."""
    if not (type(a) is np.ndarray is type(b) and a.dtype is F64 is b.dtype):
        return np.matmul(a, b)
    if a.ndim < 2 or b.ndim < 2:
        return np.matmul(a, b)
    shape = (*a.shape[:-1], b.shape[-1])
    if a.shape[:-2] != b.shape[:-2]:
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *shape[-2:])
    if math.prod(shape) < LARGE:
        return np.matmul(a, b)
    return np.matmul(a, b, POOL.lend(shape))


def workspace(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array with any content, in memory of the pool where it is large and of float64."""
    if np.dtype(dtype) is F64 and math.prod(shape) >= LARGE:
        return POOL.lend(shape)
    return np.empty(shape, dtype)


def zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of zeros, as `workspace`."""
    if np.dtype(dtype) is not F64 or math.prod(shape) < LARGE:
        return np.zeros(shape, dtype)
    out = POOL.lend(shape)
    out[...] = 0
    return out


def copied(x: Any) -> np.ndarray:
    """A copy of an array in order C, as `workspace`."""
    out = workspace(x.shape, x.dtype)
    out[...] = x
    return out
