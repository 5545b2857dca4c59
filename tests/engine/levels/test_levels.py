"""Levels: nesting, exceptions, threads, contexts, and values that outlive their level."""

import asyncio
import contextvars
import itertools
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dualad
from dualad.engine.levels.level import Level
from dualad.errors import LeakError, LevelError

TRANSFORMATIONS = {
    "jvp": lambda f: dualad.jvp(f, (1.5,), (1.0,)),
    "grad": lambda f: dualad.grad(f)(1.5),
    "value_and_grad": lambda f: dualad.value_and_grad(f)(1.5),
    "vjp": lambda f: dualad.vjp(f, 1.5),
    "linearize": lambda f: dualad.linearize(f, 1.5),
    "vmap": lambda f: dualad.vmap(f)(np.array([1.5, 2.0])),
    "jacfwd": lambda f: dualad.jacfwd(f)(1.5),
    "jacrev": lambda f: dualad.jacrev(f)(1.5),
    "hessian": lambda f: dualad.hessian(f)(1.5),
}
each_transformation = pytest.mark.parametrize(
    "transform", TRANSFORMATIONS.values(), ids=TRANSFORMATIONS
)

USES = {
    "operator": lambda v: v + 1.0,
    "reflected operator": lambda v: 2.0 / v,
    "with itself": lambda v: v * v,
    "negation": lambda v: -v,
    "ufunc": lambda v: np.sin(v),
    "power": lambda v: v**3,
    "array": lambda v: np.ones(3) * v,
    "general path": lambda v: np.float32(2.0) * v,
    "function": lambda v: np.reshape(v, (1, 1)),
    "output of jvp": lambda v: dualad.jvp(lambda x: v, (1.0,), (1.0,)),
    "output of grad": lambda v: dualad.grad(lambda x: v)(1.0),
    "closure of jvp": lambda v: dualad.jvp(lambda x: x * v, (1.0,), (1.0,)),
    "closure of grad": lambda v: dualad.grad(lambda x: v * x)(1.0),
    "closure of vmap": lambda v: dualad.vmap(lambda x: v * x)(np.ones(2)),
    "primal": lambda v: dualad.jvp(np.sin, (v,), (1.0,)),
}


def leak(transform):
    """A value of a finished transformation."""
    kept = []

    def f(x):
        kept.append(x * 2.0)
        return x * 1.0

    transform(f)
    return kept[0]


@each_transformation
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_value_that_leaked_out_is_refused(transform, use):
    """Never a wrong number: whatever is computed with it afterwards raises LeakError."""
    value = leak(transform)
    with pytest.raises(LeakError, match="outside of it"):
        use(value)


@each_transformation
def test_a_leak_is_refused_inside_a_later_run_of_the_same_transformation(transform):
    kept = []

    def f(x):
        kept.append(x)
        return kept[0] * x

    transform(f) if len(kept) else None
    kept.clear()
    transform(lambda x: (kept.append(x), x)[1])
    with pytest.raises(LeakError):
        transform(f)


def test_the_message_names_the_transformation_and_the_remedy():
    with pytest.raises(LeakError, match=r"finished grad.*has_aux=True.*stop_gradient"):
        leak(TRANSFORMATIONS["grad"]) + 1
    assert issubclass(LeakError, LevelError) and issubclass(LeakError, RuntimeError)


def test_what_was_stopped_before_may_leave():
    kept = []
    dualad.grad(lambda x: (kept.append(dualad.stop_gradient(x * 2.0)), x)[1])(1.5)
    assert kept[0] + 1.0 == 4.0


def test_auxiliary_results_are_plain():
    _, _, aux = dualad.jvp(lambda x: (x, {"square": x * x}), (3.0,), (1.0,), has_aux=True)
    assert aux["square"] + 1.0 == 10.0
    _, aux = dualad.grad(lambda x: (x, [x * x]), has_aux=True)(3.0)
    assert aux[0] + 1.0 == 10.0


def test_a_leaked_value_cannot_be_pickled():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(leak(TRANSFORMATIONS["jvp"]))


# --- ranks and nesting -----------------------------------------------------------------------


def test_ranks_are_never_used_again():
    ranks = []
    for _ in range(3):
        with Level("first") as a, Level("second") as b:
            ranks += [a.rank, b.rank]
    assert ranks == sorted(set(ranks))


@pytest.mark.parametrize("depth", [1, 5, 10])
def test_nesting_to_any_depth(depth):
    f = np.exp
    for _ in range(depth):
        f = (lambda g: lambda x: dualad.jvp(g, (x,), (1.0,))[1])(f)
    np.testing.assert_allclose(f(0.25), np.exp(0.25))


def test_the_highest_level_handles_an_operation_whatever_the_order_of_arguments():
    def f(x):
        def g(y):
            return x * y, y * x, np.multiply(x, y), x + y, x - y, y / x

        return dualad.jvp(g, (2.0,), (1.0,))[1]

    np.testing.assert_allclose(f(5.0), [5, 5, 5, 1, -1, 0.2])
    slopes = dualad.jvp(f, (5.0,), (1.0,))[1]
    np.testing.assert_allclose(slopes, [1, 1, 1, 0, 0, -1 / 25])


# --- exceptions ------------------------------------------------------------------------------


@each_transformation
def test_an_exception_closes_the_level(transform):
    kept = []

    def f(x):
        kept.append(x)
        raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        transform(f)
    with pytest.raises(LeakError):
        kept[0] + 1.0
    assert dualad.grad(lambda x: x**2)(3.0) == 6.0


def test_an_exception_that_is_caught_inside_leaves_the_outer_level_open():
    def f(x):
        try:
            dualad.grad(lambda y: x * y / {}["missing"])(1.0)
        except KeyError:
            pass
        return x**2

    assert dualad.grad(f)(3.0) == 6.0
    assert dualad.jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)


def test_a_failed_operation_leaves_no_trace():
    def f(x):
        with pytest.raises(ValueError):
            x + np.ones(4)
        return x[0] * x[1]

    np.testing.assert_array_equal(dualad.grad(f)(np.array([2.0, 3.0])), [3.0, 2.0])


# --- generators, threads, contexts -----------------------------------------------------------


def test_a_generator_that_outlives_its_level_is_refused():
    def powers(x):
        y = x
        while True:
            yield y
            y = y * x

    kept = []

    def f(x):
        g = powers(x)
        kept.append(g)
        return next(g) + next(g)

    assert dualad.jvp(f, (3.0,), (1.0,)) == (12.0, 7.0)
    with pytest.raises(LeakError):
        next(kept[0])


def test_generators_of_two_levels_in_turns():
    """Two derivatives under way at once, their operations interleaved."""

    def steps(x):
        y = x
        for _ in range(3):
            y = y * x
            yield y

    def f(x):
        def g(z):
            pairs = zip(steps(x), steps(z), strict=True)
            return sum(a * b for a, b in pairs)

        return dualad.jvp(g, (2.0,), (1.0,))[1]

    # sum x**k z**k for k = 2, 3, 4: d/dz at z = 2, then d/dx at x = 3
    assert f(3.0) == sum(3.0**k * k * 2.0 ** (k - 1) for k in (2, 3, 4))
    expected = sum(k * 3.0 ** (k - 1) * k * 2.0 ** (k - 1) for k in (2, 3, 4))
    assert dualad.grad(f)(3.0) == expected
    assert dualad.jvp(f, (3.0,), (1.0,))[1] == expected


def test_many_threads_at_once():
    def job(n):
        x = 0.1 + n / 100
        f = lambda v: dualad.grad(lambda u: np.sin(u * v) * n)(v)  # n v cos(v**2)
        slopes = [dualad.jvp(f, (x,), (1.0,))[1], dualad.grad(f)(x)]
        return slopes, n * (np.cos(x**2) - 2 * x**2 * np.sin(x**2))

    with ThreadPoolExecutor(8) as pool:
        for slopes, exact in pool.map(job, range(200)):
            np.testing.assert_allclose(slopes, exact, rtol=1e-12)


def test_a_value_may_be_used_in_another_thread_while_its_level_is_open():
    """Dispatch reads the levels of the values, not of the thread."""

    def f(x):
        with ThreadPoolExecutor(4) as pool:
            terms = list(pool.map(lambda k: dualad.grad(lambda y: y**2 * x**k)(3.0), range(1, 5)))
        return terms[0] + terms[1] + terms[2] + terms[3]

    exact = sum(6 * k * 2.0 ** (k - 1) for k in range(1, 5))
    assert dualad.jvp(f, (2.0,), (1.0,))[1] == exact
    assert dualad.grad(f)(2.0) == exact


def test_a_value_that_leaked_into_a_thread_is_refused_there():
    kept, errors, done = [], [], threading.Event()

    def late():
        done.wait()
        try:
            kept[0] * 2.0
        except LeakError as error:
            errors.append(error)

    thread = threading.Thread(target=late)
    thread.start()
    dualad.jvp(lambda x: (kept.append(x), x)[1], (1.0,), (1.0,))
    done.set()
    thread.join()
    assert len(errors) == 1


def test_tasks_that_take_turns():
    """Coroutines switch in the middle of their derivatives."""

    async def slope(n):
        kept = {}

        async def inside(x):
            y = x
            for _ in range(n):
                y = y * x
                await asyncio.sleep(0)
            kept["y"] = y
            return y

        with Level("jvp") as level:
            from dualad.engine.kinds.dual import make_dual

            x = make_dual(level, np.float64(2.0), np.float64(1.0))
            return (await inside(x)).tangent

    async def main():
        return await asyncio.gather(*(slope(n) for n in range(1, 6)))

    assert asyncio.run(main()) == [(n + 1) * 2.0**n for n in range(1, 6)]


def test_a_copied_context_computes_the_same():
    context = contextvars.copy_context()
    f = lambda x: context.run(lambda: np.sin(x) * x)
    np.testing.assert_allclose(dualad.grad(f)(0.5), np.cos(0.5) * 0.5 + np.sin(0.5))


# --- dual levels -----------------------------------------------------------------------------

fwd = pytest.importorskip("dualad.autograd.forward_ad") if hasattr(dualad, "autograd") else None
needs_dual_levels = pytest.mark.skipif(fwd is None, reason="dual levels are not there")


@needs_dual_levels
def test_a_dual_whose_level_has_closed_is_an_ordinary_tensor():
    with fwd.dual_level():
        d = fwd.make_dual(dualad.tensor([1.0, 2.0]), dualad.tensor([3.0, 4.0]))
        assert fwd.unpack_dual(d * 2).tangent.tolist() == [6.0, 8.0]
    assert fwd_result(d * 2) == ([2.0, 4.0], None)
    with fwd.dual_level():
        assert fwd_result(d * 2) == ([2.0, 4.0], None)
        other = fwd.make_dual(dualad.tensor([1.0, 1.0]), dualad.tensor([1.0, 0.0]))
        assert fwd_result(d * other) == ([1.0, 2.0], [1.0, 0.0])


def fwd_result(t):
    """(value, tangent) of a tensor, at the current dual level if there is one."""
    try:
        primal, tangent = fwd.unpack_dual(t)
    except RuntimeError:
        return t.tolist(), None
    return primal.tolist(), None if tangent is None else tangent.tolist()


@needs_dual_levels
def test_an_exception_restores_the_dual_level():
    with pytest.raises(ZeroDivisionError):
        with fwd.dual_level():
            raise ZeroDivisionError
    with pytest.raises(RuntimeError):
        fwd.make_dual(dualad.tensor(1.0), dualad.tensor(1.0))


@needs_dual_levels
def test_dual_levels_belong_to_their_thread():
    found = []

    def other():
        try:
            fwd.make_dual(dualad.tensor(1.0), dualad.tensor(1.0))
        except RuntimeError as error:
            found.append(error)

    with fwd.dual_level():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(found) == 1


@needs_dual_levels
@pytest.mark.parametrize("order", list(itertools.product(["jvp", "grad"], repeat=1)))
def test_transformations_inside_a_dual_level(order):
    """d/dx of the inner derivative x -> 3 x**2 along the dual's tangent."""
    (mode,) = order
    with fwd.dual_level():
        x = fwd.make_dual(dualad.tensor(2.0), dualad.tensor(1.0))
        if mode == "jvp":
            slope = dualad.jvp(lambda v: v**3, (x,), (dualad.tensor(1.0),))[1]
        else:
            slope = dualad.grad(lambda v: v**3)(x)
        assert fwd_result(slope) == (12.0, 12.0)
