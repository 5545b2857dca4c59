"""Large arrays that nobody else holds are written over; what anybody else holds is not."""

import numpy as np
import pytest

import dualad
from dualad.engine.arrays.cutting import add_products
from dualad.engine.arrays.memory import LARGE, POOL
from dualad.engine.arrays.spent import is_spent
from dualad.engine.late_sweep import fused
from dualad.engine.primitives.linear import add_up
from dualad.engine.primitives.primitive import PRIMITIVES
from dualad.engine.primitives.steps import Steps
from dualad.engine.programs import tape
from dualad.ops import products

N, M = 200, 256
A = np.cos(np.arange(N * M, dtype=float)).reshape(N, M) / 16
B = np.sin(np.arange(N * M, dtype=float)).reshape(N, M) / 16
#: products with it are the cotangents that the sweep alone holds
E = np.cos(0.7 * np.arange(M * M, dtype=float)).reshape(M, M) / 16
W = np.sin(0.3 * np.arange(N * M, dtype=float)).reshape(N, M)
CT = W @ E.T


@pytest.fixture
def overwritten(monkeypatch):
    """For each large entry pulled by itself whether a parent got the memory of its cotangent.

    The first is the product with the weights.
    """
    found = []
    pull_one = fused.pull_one

    def looked_at(entry, g, k, own):
        place = g[k].__array_interface__["data"][0]
        pull_one(entry, g, k, own)
        parents = entry[1 : 1 + len(entry[0].shares.terms)]
        found.append(place in [g[i].__array_interface__["data"][0] for i in parents])

    monkeypatch.setattr(fused, "pull_one", looked_at)
    return found


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


def test_spent_is_what_only_the_list_has():
    one = [np.zeros(4)]
    assert is_spent(one, 0) and is_spent([POOL.lend((LARGE,))], 0)
    view = one[0][1:]
    assert not is_spent(one, 0)
    del view
    assert is_spent(one, 0)
    held = one[0]
    assert not is_spent([held], 0) and not is_spent([held, held], 0)
    held.flags.writeable = False
    del held
    assert not is_spent(one, 0)
    assert not is_spent([np.zeros((3, 4)).T], 0) and not is_spent([np.zeros(4)[1:]], 0)


def test_one_share_is_written_over_its_cotangent(overwritten):
    f = lambda a: np.sum((np.tanh(a @ E) @ E) * W)
    close(dualad.grad(f)(A), (CT / np.cosh(A @ E) ** 2) @ E.T)
    assert overwritten[1:] == [True]


def test_a_slope_that_is_a_quotient_is_one_division_in_reverse():
    """The slope of tanh is exact in its tails, and no warning is given where cosh overflows."""
    steps = Steps(PRIMITIVES["tanh"].namespace, set(), up_to_rounding=True)
    assert steps.store("c * (tanh_slope(x))", "out", "t")
    assert steps.lines == ["cosh(x, t)", "square(t, t)", "divide(c, t, out)"]
    x = np.linspace(-400.0, 400.0, LARGE + 8)
    want = (2 * np.exp(-np.abs(x)) / (1 + np.exp(-2 * np.abs(x)))) ** 2
    got = dualad.grad(lambda x: np.sum(np.tanh(x) * 3.0))(x)
    np.testing.assert_allclose(got, 3 * want, rtol=1e-12, atol=1e-300)


def test_a_run_writes_over_the_cotangents_it_has_read():
    f = lambda a: np.sum(((np.exp(np.sin(a @ E)) * 3.0) @ E) * W)
    inner = A @ E
    close(dualad.grad(f)(A), (3 * CT * np.exp(np.sin(inner)) * np.cos(inner)) @ E.T)
    g = lambda a, b: np.sum(((np.sin(a @ E) * np.cos(b @ E)) @ E) * W)
    x, y = A @ E, B @ E
    for got, want in zip(
        dualad.grad(g, argnums=(0, 1))(A, B),
        (CT * np.cos(x) * np.cos(y), -CT * np.sin(x) * np.sin(y)),
        strict=True,
    ):
        close(got, want @ E.T)


def test_a_cotangent_that_is_handed_on_is_not_written_over():
    """A sum gives the one array to both operands: the result for b is that array."""
    f = lambda a, b: np.sum(((np.tanh(a @ E) + b) @ E) * W)
    got = dualad.grad(f, argnums=(0, 1))(A, B)
    close(got[0], (CT / np.cosh(A @ E) ** 2) @ E.T)
    close(got[1], CT)
    assert not np.shares_memory(*got)


def test_a_difference_hands_it_on_and_negates_a_copy():
    f = lambda a, b: np.sum(((a @ E - b @ E) @ E) * W)
    got = dualad.grad(f, argnums=(0, 1))(A, B)
    close(got[0], CT @ E.T)
    close(got[1], -CT @ E.T)


def test_both_operands_the_same():
    f = lambda a: np.sum(((lambda u: u * u - u / (2 + u))(a @ E) @ E) * W)
    u = A @ E
    close(dualad.grad(f)(A), (CT * (2 * u - 2 / (2 + u) ** 2)) @ E.T)


def test_negatives_and_what_came_before(overwritten):
    f = lambda a: np.sum((np.cos(a @ E) @ E) * W)
    close(dualad.grad(f)(A), (-CT * np.sin(A @ E)) @ E.T)
    assert overwritten[1:] == [True]

    def twice(a):
        u = a @ E
        v = np.cos(u) @ E  # its cotangent comes last
        return np.sum(v * W) + np.sum((u @ E) * W)

    close(dualad.grad(twice)(A), (CT - CT * np.sin(A @ E)) @ E.T)


def test_what_the_user_gives_and_keeps_is_as_it_was():
    given = W.copy()
    _, pull = dualad.vjp(np.tanh, A)
    for _ in range(2):
        close(pull(given)[0], W / np.cosh(A) ** 2)
    assert np.array_equal(given, W)
    kept = []

    class Doubled(dualad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x

        @staticmethod
        def backward(ctx, ct):
            kept.append(2 * ct)
            return kept[-1]

    got = dualad.grad(lambda a: np.sum((Doubled.apply(np.tanh(a @ E)) @ E) * W))(A)
    close(got, (2 * CT / np.cosh(A @ E) ** 2) @ E.T)
    close(np.asarray(kept[0]), 2 * CT)


def test_tensors_that_retain_their_gradient_or_have_hooks():
    a = dualad.tensor(A, requires_grad=True)
    seen = []
    h = np.tanh(a @ dualad.tensor(E))
    h.retain_grad()
    h.register_hook(seen.append)
    ((h @ dualad.tensor(E)) * dualad.tensor(W)).sum().backward()
    close(h.grad.numpy(), CT)
    close(seen[0].numpy(), CT)
    close(a.grad.numpy(), (CT / np.cosh(A @ E) ** 2) @ E.T)


# --- the look for NaN ----------------------------------------------------------------------------

ROWS = np.vstack([np.zeros(10), np.cos(np.arange(30.0)).reshape(3, 10)])
WEIGHTS = np.sin(np.arange(10 * 9000, dtype=float)).reshape(10, -1)


@pytest.fixture
def looked_at(monkeypatch):
    """The sizes of all results that are looked at for a NaN."""
    sizes = []
    has_nan = tape.has_nan
    monkeypatch.setattr(tape, "has_nan", lambda x: sizes.append(x.size) or has_nan(x))
    return sizes


def test_of_a_larger_share_the_cotangent_is_looked_at(looked_at):
    f = lambda w: np.sum(np.sin(ROWS @ w) * 2.0)
    close(dualad.grad(f)(WEIGHTS), ROWS.T @ (2 * np.cos(ROWS @ WEIGHTS)))
    assert looked_at == []


def test_a_zero_wins_over_infinity_before_it():
    """The slope of the root is infinite where the square is 0, and its own slope is 0."""
    root = lambda z: np.sqrt(z * z)
    want = ROWS.T @ np.sign(ROWS @ WEIGHTS)
    close(dualad.grad(lambda w: np.sum(root(ROWS @ w)))(WEIGHTS), want)


@pytest.mark.parametrize("late", [True, False])
def test_so_it_does_where_another_share_holds_none(late, looked_at):
    def f(w):
        parts = [lambda: np.sum(np.sqrt(np.square(ROWS @ w))), lambda: np.sum(np.sin(ROWS @ w))]
        first, second = [part() for part in (parts if late else parts[::-1])]
        return first + second

    want = ROWS.T @ (np.sign(ROWS @ WEIGHTS) + np.cos(ROWS @ WEIGHTS))
    close(dualad.grad(f)(WEIGHTS), want)
    assert WEIGHTS.size in looked_at


# --- sums of products ----------------------------------------------------------------------------


def test_tangents_of_a_product_are_added_in_place_and_those_given_are_not_touched():
    x, dx = B @ E, np.cos(B)
    given = [W.copy(), E.copy()]
    _, t = dualad.jvp(lambda a, e: a @ e, (x, E), tuple(given))
    close(t, W @ E + x @ E)
    assert np.array_equal(given[0], W) and np.array_equal(given[1], E)
    total = []
    add_up(total, dx.copy())
    place = total[0].__array_interface__["data"][0]
    add_up(total, dx)
    assert total[0].__array_interface__["data"][0] == place
    held = total[0]
    add_up(total, dx)
    assert total[0] is not held
    close(held, 2 * dx)
    close(total[0], 3 * dx)


STACK = np.cos(np.arange(12 * 1100 * 8, dtype=float)).reshape(12, 1100, 8)
SMALL = np.sin(np.arange(12 * 8 * 8, dtype=float)).reshape(12, 8, 8)


@pytest.mark.parametrize("order", ["C", "transposed"])
def test_a_stack_of_products_is_added_to_what_has_come(order, monkeypatch):
    added = []
    known = products.add_products
    monkeypatch.setattr(
        products, "add_products", lambda *args: added.append(known(*args)) or added[-1]
    )
    small = SMALL if order == "C" else np.moveaxis(np.ascontiguousarray(SMALL.T), -1, 0)
    f = lambda a: np.sum(np.sin(a @ small)) + np.sum(np.cos(a) * a)
    want = np.cos(STACK @ small) @ np.swapaxes(small, 1, 2) + np.cos(STACK) - STACK * np.sin(STACK)
    close(dualad.grad(f)(STACK), want)
    assert added == [True]


def test_stacks_that_broadcast_or_are_small_are_left_to_the_product():
    f = lambda a, m: np.sum(np.sin(a @ m)) + np.sum(a * a)
    for a, m in (
        (STACK, SMALL[0]),
        (STACK[:1], SMALL),
        (STACK, SMALL[:1]),
        (STACK[:2], SMALL[:2]),
    ):
        got = dualad.grad(f, argnums=(0, 1))(a, m)
        ct = np.cos(a @ m)
        ct_a, ct_m = ct @ np.swapaxes(m, -1, -2), np.swapaxes(a, -1, -2) @ ct
        if a.shape[0] == 1:
            ct_a = ct_a.sum(0, keepdims=True)
        if m.ndim == 2 or m.shape[0] != ct.shape[0]:
            ct_m = ct_m.sum(0).reshape(m.shape)
        close(got[0], ct_a + 2 * a)
        np.testing.assert_allclose(got[1], ct_m, rtol=1e-9, atol=1e-9)
    assert not add_products(np.zeros((2, 3, 3)), np.zeros((2, 3, 3)), np.zeros((2, 3, 3)))


def test_a_large_constant_of_a_product_is_as_it_was_when_that_was_made():
    constant = B.copy()

    def f(e):
        y = constant @ e
        constant[...] = np.nan
        return np.sum(np.sin(y) * W)

    value, ct = dualad.value_and_grad(f)(E)
    assert value == np.sum(np.sin(B @ E) * W)
    close(ct, B.T @ (np.cos(B @ E) * W))
    assert constant.flags.writeable
