"""dualad.compile: programs with guards, their cache, what they may not hide, transformations."""

import functools
import threading
import warnings

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError, CompileWarning

compiled = functools.partial(dualad.compile, backend="numpy")


def paths(f):
    return [len(p.known) for p in f._cache.values()]


def test_the_second_call_does_not_run_the_function():
    calls = []

    @compiled
    def f(x):
        calls.append(1)
        return np.sin(x) * 2.0

    x = np.array([0.3, 1.2])
    for k in range(3):
        np.testing.assert_array_equal(f(x + k), np.sin(x + k) * 2.0)
    assert len(calls) == 1


def test_shapes_dtypes_structure_and_static_arguments_are_told_apart():
    @compiled
    def f(x, power, names=("a",)):
        return dict.fromkeys(names, x**power)

    x = np.arange(1.0, 4.0)
    assert f(x, 2)["a"].tolist() == [1.0, 4.0, 9.0]
    assert f(x, 3)["a"].tolist() == [1.0, 8.0, 27.0]
    assert f(x[:2], 2)["a"].tolist() == [1.0, 4.0]
    assert f(x.astype(np.float32), 2)["a"].dtype == np.float32
    assert f(x, 2, names=("a", "b")).keys() == {"a", "b"}
    assert f(2.0, 2)["a"] == 4.0
    assert len(f._cache) == 6


def test_static_arguments_by_position_and_name():
    @functools.partial(dualad.compile, static=(1, "scale"), backend="numpy")
    def f(x, n, scale=1.0):
        assert type(n) is float and type(scale) is float
        return x * n * scale

    assert f(np.ones(2), 2.0, scale=3.0).tolist() == [6.0, 6.0]
    assert f(np.ones(2), 4.0, scale=3.0).tolist() == [12.0, 12.0]
    assert f(np.ones(2), 4.0, scale=5.0).tolist() == [20.0, 20.0]


def test_a_branch_on_a_value_is_a_guard():
    @compiled
    def f(x):
        return x**2 if x > 0 else -x

    assert [f(v) for v in (2.0, -3.0, 4.0, -5.0)] == [4.0, 3.0, 16.0, 5.0]
    assert paths(f) == [2]


def test_a_loop_that_ends_by_a_value():
    def root(a):
        x = a
        while abs(x * x - a) > 1e-13 * a:
            x = x - (x * x - a) / (2 * x)
        return x

    slope = compiled(dualad.grad(root))
    for a in (2.0, 3.0, 100.0, 0.3, 2.5, 1e6):
        np.testing.assert_allclose(slope(a), 0.5 / np.sqrt(a), rtol=1e-10)


def test_an_index_that_is_a_value():
    @compiled
    def f(x):
        n = int(np.argmax(x))
        return x[n] + x[np.argmin(x)]

    for x in ([1.0, 5.0, 2.0], [7.0, 5.0, 2.0], [1.0, 2.0, 9.0]):
        assert f(np.array(x)) == max(x) + min(x)


def test_entries_chosen_by_a_mask_of_values():
    f = compiled(dualad.grad(lambda x: np.sum(x[x > 0] ** 2)))
    for x in ([1.0, -5.0, 2.0], [-1.0, -5.0, 2.0], [1.0, -6.0, 3.0]):
        assert f(np.array(x)).tolist() == [2 * v if v > 0 else 0.0 for v in x]


def test_a_number_of_entries_that_is_a_value():
    @compiled
    def f(x):
        places = np.flatnonzero(x)
        return x.sum() / len(places)

    assert f(np.array([2.0, 0.0, 4.0])) == 3.0
    assert f(np.array([2.0, 0.0, 0.0])) == 2.0
    assert f(np.array([5.0, 0.0, 1.0])) == 3.0


@pytest.mark.parametrize(
    "convert",
    [float, lambda x: np.asarray(x) * 1.0, lambda x: np.array([x, x])[0]],
    ids=["float", "asarray", "array"],
)
def test_what_leaves_numpy_runs_as_it_is_and_says_where(convert):
    @compiled
    def f(x):
        return convert(x) * 2.0

    with pytest.warns(CompileWarning, match=r"without a program: .*test_compile\.py:\d+"):
        got = [f(float(v)) for v in range(8)]
    assert got == [2.0 * v for v in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(9.0) == 18.0


def test_too_many_paths_are_given_up_with_one_warning():
    @functools.partial(dualad.compile, max_paths=3, backend="numpy")
    def f(x):
        k = 0
        while x > k:
            k += 1
        return x + k

    with pytest.warns(CompileWarning, match="more than 3 paths"):
        assert [f(v + 0.5) for v in range(6)] == [2 * v + 1.5 for v in range(6)]


def test_errors_are_the_functions_own():
    inverse = compiled(lambda a: np.linalg.inv(a))
    inverse(np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        inverse(np.zeros((2, 2)))

    @compiled
    def refused(x):
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            refused(1.0)


def test_warnings_of_the_function_and_none_of_its_derivative():
    f = compiled(lambda x: np.log(x))
    with np.errstate(divide="ignore"):
        f(np.array([1.0, 0.0]))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        f(np.array([0.0, 1.0]))
    df = compiled(dualad.grad(lambda x: np.sum(np.sqrt(x))))
    df(np.ones(2))
    assert df(np.array([0.0, 4.0])).tolist() == [np.inf, 0.25]


def test_what_is_written_in_place():
    @compiled
    def f(x):
        y = np.zeros_like(x)
        for k in range(len(x)):
            y[k] = x[k] ** 2
        y[1:] += y[:-1]
        return y

    for x in ([1.0, 2.0, 3.0], [2.0, 0.0, 1.0]):
        x = np.array(x)
        want = x**2
        want[1:] += want[:-1].copy()
        np.testing.assert_array_equal(f(x), want)


def test_an_argument_that_is_written_to():
    @compiled
    def f(x):
        x[0] = 2 * x[1]
        return x.sum()

    for first in (1.0, 5.0):
        x = np.array([first, 3.0])
        assert f(x) == 9.0
        assert x.tolist() == [6.0, 3.0]


def test_results_have_memory_of_their_own_where_the_functions_results_do():
    f = compiled(lambda x: (x, x[1:], x.copy(), x * 1.0, np.full(2, 7.0)))
    x = np.arange(3.0)
    for _ in range(3):
        same, view, copy, product, constant = f(x)
        assert same is x and np.shares_memory(view, x)
        assert not np.shares_memory(copy, x) and not np.shares_memory(product, x)
        copy[:], product[:], constant[:] = -1.0, -2.0, -3.0
    assert f(x)[4].tolist() == [7.0, 7.0]


def test_results_that_are_computed_twice_are_two_arrays():
    a, b = (f := compiled(lambda x: (x + 1, x + 1)))(np.zeros(2)), f(np.zeros(2))
    for first, second in (a, b):
        first[:] = 9.0
        assert second.tolist() == [1.0, 1.0]


OUTSIDE = 2.0


def test_variables_that_are_captured(monkeypatch):
    inside = 10.0
    array = np.array([1.0, 2.0])

    @compiled
    def f(x):
        return x * OUTSIDE + inside + array

    assert f(1.0).tolist() == [13.0, 14.0]
    inside = 20.0
    assert f(1.0).tolist() == [23.0, 24.0]
    monkeypatch.setitem(globals(), "OUTSIDE", 3.0)
    assert f(1.0).tolist() == [24.0, 25.0]
    array[0] = 5.0
    assert f(1.0).tolist() == [28.0, 25.0]


def test_attributes_of_self():
    class Model:
        def __init__(self):
            self.rate = 2.0

        def value(self, x):
            return self.rate * x

    m = Model()
    f = compiled(m.value)
    assert f(1.0) == 2.0
    m.rate = 5.0
    assert f(1.0) == 5.0


def test_a_variable_that_changes_at_every_call():
    count = 0

    @compiled
    def f(x):
        return x + count

    with pytest.warns(CompileWarning, match="count"):
        for k in range(12):
            count = k * 1.5
            assert f(1.0) == 1.0 + count


@pytest.mark.parametrize(
    "impure",
    [
        lambda x: x * np.random.rand(),  # noqa: NPY002
        lambda x, rng=np.random.default_rng(1): x * rng.random(),
        lambda x: print("here") or x,
    ],
    ids=["np.random", "generator", "print"],
)
def test_impure_functions_run_as_they_are(impure, capsys):
    f = compiled(impure)
    with pytest.warns(CompileWarning, match="random|prints"):
        first = f(1.0)
    again = f(1.0)
    printed = capsys.readouterr().out
    assert first != again or printed == "here\nhere\n"


def test_a_work_array_that_is_filled_again_and_again():
    work = np.zeros(2)

    @compiled
    def f(x):
        total = 0.0
        for k in range(3):
            work[:] = k
            total = total + x * work
        return total

    for x in (1.0, 2.0):
        np.testing.assert_array_equal(f(x), [3.0 * x, 3.0 * x])


X = np.linspace(0.2, 0.9, 4)
V = np.array([1.0, -2.0, 0.5, 3.0])


def g(x):
    return np.sum(np.exp(x) * np.sin(x[::-1]) / x)


@pytest.mark.parametrize(
    "transformed",
    [
        lambda f: dualad.grad(f)(X),
        lambda f: dualad.value_and_grad(f)(X),
        lambda f: dualad.jvp(f, (X,), (V,)),
        lambda f: dualad.vjp(f, X)[1](2.0),
        lambda f: dualad.linearize(f, X)[1](V),
        lambda f: dualad.hessian(f)(X),
        lambda f: dualad.hvp(f, (X,), (V,)),
        lambda f: dualad.jacfwd(dualad.jacrev(f))(X),
        lambda f: dualad.jacrev(dualad.jacfwd(f))(X),
        lambda f: dualad.vmap(f)(np.stack([X, V])),
        lambda f: dualad.vmap(dualad.grad(f))(np.stack([X, 2 * X])),
        lambda f: dualad.grad(lambda x: dualad.grad(f)(x) @ V)(X),
    ],
)
def test_any_nesting_with_the_transformations(transformed):
    want = transformed(g)
    f = compiled(g)
    whole = compiled(lambda _: transformed(g))
    both = compiled(lambda _: transformed(f))
    for _ in range(3):
        for got in (transformed(f), whole(0.0), both(0.0)):
            for a, b in zip(leaves(got), leaves(want), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


def leaves(x):
    return x if isinstance(x, tuple) else (x,)


def test_several_results_under_transformations():
    def two(x, y):
        return {"s": np.sin(x) * y, "n": 3, "t": (x + y, x > y)}

    f = compiled(two)
    args, ts = (0.4, 1.5), (1.0, -2.0)
    for _ in range(2):
        value, move = dualad.jvp(f, args, ts)
        assert value["n"] == 3 and not value["t"][1]
        np.testing.assert_allclose(move["s"], np.cos(0.4) * 1.5 - 2 * np.sin(0.4), rtol=1e-14)
        assert dualad.grad(lambda x: f(x, 1.5)["t"][0] * f(x, 1.5)["s"])(0.4) == pytest.approx(
            np.sin(0.4) * 1.5 + 1.9 * np.cos(0.4) * 1.5, rel=1e-14
        )


def test_a_traced_value_from_outside_is_not_lost():
    def outer(a):
        return compiled(lambda x: x * a)(3.0) + compiled(lambda x: x * a)(a)

    assert dualad.grad(outer)(2.0) == 7.0
    assert dualad.jvp(outer, (2.0,), (1.0,))[1] == 7.0


def test_tensors_are_differentiated():
    x = dualad.tensor([1.0, 2.0], requires_grad=True)
    compiled(lambda x: (x * x).sum())(x).backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_source_before_and_after():
    f = compiled(lambda x: np.sin(x) + np.sin(x) * 2.0 + 0.0 * np.cos(x).sum())
    before, after = f.source(X, simplified=False), f.source()
    assert before.count("np.sin") == 2 and after.count("np.sin") == 1
    assert after.startswith("import numpy as np")


def test_source_runs_by_itself():
    def energy(x):
        y = np.zeros_like(x)
        for k in range(1, len(x)):
            y[k] = 0.5 * y[k - 1] + np.exp(x[k])
        return np.sum(y**2) if x[0] > 0 else np.sum(y)

    f = compiled(dualad.grad(energy))
    scope = {}
    exec(f.source(X), scope)
    np.testing.assert_array_equal(scope["program"](2 * X)[0], f(2 * X))
    with pytest.raises(AssertionError):
        scope["program"](-X)


def test_threads():
    f = compiled(dualad.grad(lambda x: np.sum(np.sin(x) ** 2)))
    failed = []

    def work(k):
        x = np.linspace(0, k, 5)
        for _ in range(50):
            if not np.allclose(f(x), np.sin(2 * x)):
                failed.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_as_a_method_and_as_a_decorator_with_options():
    class Model:
        @functools.partial(dualad.compile, backend="numpy")
        def value(self, x):
            return 2.0 * x

    m = Model()
    assert [m.value(1.0), m.value(3.0)] == [2.0, 6.0]


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="takes a function, got int"):
        dualad.compile(3)
    with pytest.raises(ArgumentError, match="backend is one of"):
        dualad.compile(g, backend="jit")
    with pytest.raises(ArgumentError, match="call it first"):
        compiled(g).source()
