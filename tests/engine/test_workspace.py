"""Memory that is lent: it comes back when nobody reads it any more, a few megabytes are kept."""

import gc
import threading

import numpy as np
import pytest

from dualad.engine.tape import add_cotangent
from dualad.engine.workspace import MOST, TOGETHER, _kept, copied, workspace, zeros


@pytest.fixture(autouse=True)
def nothing_kept():
    _kept.free.clear()
    yield
    _kept.free.clear()


def place(x):
    return x.__array_interface__["data"][0]


def test_memory_comes_back_when_the_last_view_is_gone():
    a = workspace((200, 200), float)
    view, where = a[:10].T, place(a)
    del a
    b = workspace((200, 200), float)
    assert place(b) != where
    del view
    assert place(workspace((100, 400), float)) == where
    assert b.shape == (200, 200) and b.dtype == float and b.flags.c_contiguous
    assert b.flags.writeable


def test_two_that_are_alive_never_share():
    arrays = [zeros((150, 150), float) for _ in range(4)]
    for k, a in enumerate(arrays):
        a += k
    assert [float(a.max()) for a in arrays] == [0.0, 1.0, 2.0, 3.0]


def test_a_thread_keeps_a_few_megabytes_at_most():
    n = int((MOST / 8) ** 0.5) - 1
    many = [workspace((n, n), float) for _ in range(5)]
    del many
    assert 0 < sum(m.nbytes for m in _kept.free) <= TOGETHER
    seen = []
    thread = threading.Thread(target=lambda: seen.append(len(_kept.free)))
    thread.start()
    thread.join()
    assert seen == [0]


@pytest.mark.parametrize("dtype", [np.float32, complex, object, int])
def test_every_dtype(dtype):
    x = np.arange(40000).reshape(200, 200).astype(dtype)
    for _ in range(2):
        y = copied(x.T)
        assert np.array_equal(y, x.T) and y.dtype == x.dtype and y.flags.c_contiguous
        del y
        gc.collect()
    assert not zeros((2, 3), dtype).any()


def test_a_cotangent_on_lent_memory_is_added_to_in_place_where_nobody_else_reads_it():
    g = [zeros((200, 200), float)]
    where = place(g[0])
    add_cotangent(g, 0, np.ones((200, 200)))
    assert place(g[0]) == where and g[0].min() == g[0].max() == 1
    for hold in (lambda x: x, lambda x: x[3:], lambda x: x.reshape(-1)):
        held = hold(g[0])
        before = held.copy()
        add_cotangent(g, 0, np.ones((200, 200)))
        assert place(g[0]) != where and np.array_equal(held, before)
        g, held = [zeros((200, 200), float)], None
        where = place(g[0])
