"""The memory of a kernel: who shares it, who has it when calls run at one time, when it goes."""

import ctypes
import gc
import itertools
import threading

import numpy as np
import pytest
from llvmlite import ir
from native_programs import native, program_of

from dualad.compiling.native.kernel import Kernel
from dualad.compiling.native.rooms import Block, size_of
from dualad.compiling.native.wrapper import Wrapper

rng = np.random.default_rng(4)
N = 300


def chain(x):
    """Each array is read by the next alone, after a sum of it, so that one loop does not do."""
    x = np.exp(x - np.max(x, axis=1, keepdims=True))
    x = x / np.sum(x, axis=0)
    x = np.tanh(x * np.sum(x, axis=1, keepdims=True))
    x = np.sin(x + np.max(x, axis=0))
    return x - np.sum(x, axis=1, keepdims=True)


def kernel_of(f, *args):
    return Kernel(program_of(f, *args)[0], ir.Module("rooms"))


def test_values_that_are_not_there_at_one_time_share_memory():
    kernel = kernel_of(chain, rng.normal(size=(N, N)))
    large = [g for g in kernel.rooms if size_of(g[0]) == 8 * N * N]
    assert len(large) <= 2 < sum(len(g) for g in large)


@pytest.mark.parametrize("f", [chain, lambda x: (chain(x), chain(x + 1.0).T, x @ chain(x))])
def test_no_value_is_overwritten_that_is_still_read(f):
    x = rng.normal(size=(N, N))
    kernel = kernel_of(f, x)
    plan = kernel.plan
    for group in kernel.rooms:
        assert size_of(group[0]) == max(map(size_of, group))
        lives = sorted((plan.level.get(v, -1), plan.free.get(v, np.inf)) for v in group)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(lives))
    run, _ = native(f, x)
    want = f(x)
    for got, w in zip(run(x), want if isinstance(want, tuple) else (want,), strict=True):
        np.testing.assert_allclose(got, w, rtol=1e-10, atol=1e-10)


def test_a_value_of_which_a_view_is_returned_keeps_its_memory():
    x = rng.normal(size=(N, N))
    f = lambda x: (np.exp(x - np.sum(x, axis=0))[::2, ::3].T, chain(x))
    run, _ = native(f, x)
    for got, want in zip(run(x), f(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def test_calls_at_one_time_have_a_block_each():
    run, _ = native(chain, rng.normal(size=(N, N)))
    inputs = [rng.normal(size=(N, N)) for _ in range(4)]
    wants = [chain(x) for x in inputs]
    wrong = []

    def work(k):
        for _ in range(5):
            if not np.allclose(run(inputs[k])[0], wants[k], rtol=1e-12):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_block_stays_from_call_to_call_and_goes_with_the_program():
    x = rng.normal(size=(N, N))
    run, _ = native(chain, x)
    (block,) = [o for o in run.__self__[1] if type(o) is Block]
    assert block[0] == 0, "nothing before the first call"
    run(x)
    place = int(block[0])
    run(x)
    assert place == block[0] != 0
    freed = []
    ctypes.pythonapi.PyMem_RawFree.argtypes = None
    block.__del__(lambda p: freed.append(p.value))
    assert freed == [place] and block[0] == 0
    ctypes.pythonapi.PyMem_RawFree(ctypes.c_void_p(place))
    del run
    gc.collect()


def test_little_memory_is_on_the_stack():
    wrapper = Wrapper(program_of(chain, rng.normal(size=(9, 9)))[0])
    assert not any(type(o) is Block for o in wrapper.kept)
