"""Custom functions under vmap: a rule of their own, a generated one, or an error."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad import func
from dualad.autograd import Function

TABLE = np.arange(1.0, 7.0).reshape(2, 3)


def ruled(forward, vmap, **body):
    """A function without derivatives, with a rule for vmap."""
    body = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(lambda *_: None),
        **body,
    }
    if vmap is not None:
        body["vmap"] = staticmethod(vmap)
    return type("Ruled", (Function,), body).apply


# --- the own rule ------------------------------------------------------------------------------


def test_it_gets_whole_tensors_and_where_the_batch_is():
    seen = []

    def rule(info, in_dims, x, k, y):
        seen.append((info.batch_size, info.randomness, in_dims, x.shape, k))
        return x.movedim(in_dims[0], 0) * k + y, 0

    f = ruled(lambda x, k, y: k * x + y, rule)
    out = dualad.vmap(lambda x, y: f(x, 3, y), in_dims=(1, None))(t(TABLE), t(0.5))
    same(out, 3 * TABLE.T + 0.5)
    assert seen == [(3, "error", (1, None, None), (2, 3), 3)]


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
def test_the_randomness_option(randomness):
    seen = []
    rule = lambda info, d, x: (seen.append(info.randomness), (2 * x, d[0]))[1]
    dualad.vmap(ruled(lambda x: 2 * x, rule), randomness=randomness)(t([1.0]))
    assert seen == [randomness]


def test_out_dims_say_where_the_batch_is():
    f = ruled(lambda x: 2 * x, lambda info, d, x: (2 * x.movedim(d[0], -1), 1))
    same(dualad.vmap(f)(t(TABLE)), 2 * TABLE)


def test_out_dims_have_the_structure_of_the_output():
    rule = lambda info, d, x: ((2 * x, x.sum() * 0 + 7, "text"), (d[0], None, None))
    f = ruled(lambda x: (2 * x, x * 0 + 7, "text"), rule)

    def g(x):
        a, b, text = f(x)
        assert text == "text"
        return a, b

    a, b = dualad.vmap(g)(t([1.0, 2.0]))
    same(a, [2.0, 4.0])
    same(b, [7.0, 7.0])


@pytest.mark.parametrize(
    "rule",
    [
        lambda info, d, x: 2 * x,
        lambda info, d, x: (2 * x, 0, 0),
        lambda info, d, x: ((2 * x, 3 * x), (0, 0, 0)),
        lambda info, d, x: (2 * x, (0,)),
    ],
)
def test_what_it_returns_is_checked(rule):
    with pytest.raises(RuntimeError, match="vmap"):
        dualad.vmap(ruled(lambda x: 2 * x, rule))(t([1.0, 2.0]))


def test_it_is_skipped_where_nothing_is_batched():
    def rule(info, d, x):
        raise AssertionError("must not run")

    y = t([5.0])
    f = ruled(lambda x: 2 * x, rule)
    same(dualad.vmap(lambda x: x + f(y))(t([1.0, 2.0])), [[11.0], [12.0]])


def test_nested_vmaps_call_it_for_the_inner_one_first():
    seen = []

    def rule(info, in_dims, x):
        seen.append((info.batch_size, x.shape))
        return f(x), in_dims[0]

    f = ruled(lambda x: 2 * x, rule)
    same(dualad.vmap(dualad.vmap(f))(t(TABLE)), 2 * TABLE)
    assert seen == [(3, (3,)), (2, (2, 3))]


def test_derivatives_through_it_are_those_of_what_it_does():
    """grad(vmap) goes through the rule's operations; vmap(grad) calls backward on the batch."""

    class Weigh(Function):
        @staticmethod
        def forward(x, k):
            return k * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return ctx.k * g, None

        @staticmethod
        def vmap(info, in_dims, x, k):
            return Weigh.apply(x, k), in_dims[0]

    f = lambda x: Weigh.apply(x, 4).sum()
    same(dualad.vmap(func.grad(f))(t(TABLE)), np.full((2, 3), 4.0))
    same(func.grad(lambda x: dualad.vmap(f)(x).sum())(t(TABLE)), np.full((2, 3), 4.0))


def test_a_rule_with_marked_outputs():
    """The page's sort: the indices are marked, also under vmap of grad."""

    class Sort(Function):
        @staticmethod
        def forward(x):
            order = x.argsort(dim=-1)
            return x.take_along_dim(order, -1), order

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(output[1])

        @staticmethod
        def backward(ctx, g, _):
            (order,) = ctx.saved_tensors
            return dualad.zeros_like(g).scatter(-1, order, g)

        @staticmethod
        def vmap(info, in_dims, x):
            return Sort.apply(x.movedim(in_dims[0], 0)), (0, 0)

    weights = t([1.0, 10.0, 100.0])
    f = lambda x: (Sort.apply(x)[0] * weights).sum()
    rows = t([[3.0, 1.0, 2.0], [5.0, 6.0, 4.0]])
    same(dualad.vmap(func.grad(f))(rows), [[100.0, 1.0, 10.0], [10.0, 100.0, 1.0]])


# --- the generated rule, and none --------------------------------------------------------------


def test_neither_is_an_error():
    with pytest.raises(RuntimeError, match="generate_vmap_rule"):
        dualad.vmap(ruled(lambda x: 2 * x, None))(t([1.0]))


def test_both_is_an_error():
    f = ruled(lambda x: 2 * x, lambda info, d, x: (2 * x, d[0]), generate_vmap_rule=True)
    with pytest.raises(RuntimeError, match="choose one"):
        dualad.vmap(f)(t([1.0]))


class Normed(Function):
    """x, k -> k * x, sum(x^2)."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, k):
        return k * x, (x * x).sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.k = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return ctx.k * g + 2 * x * h, None

    @staticmethod
    def jvp(ctx, dx, _):
        (x,) = ctx.saved_tensors
        return ctx.k * dx, 2 * (x * dx).sum()


def test_generated_forward_backward_and_jvp():
    a, b = dualad.vmap(lambda x: Normed.apply(x, 3))(t(TABLE))
    same(a, 3 * TABLE)
    same(b, (TABLE**2).sum(1))
    f = lambda x: Normed.apply(x, 3)[1]
    same(dualad.vmap(func.grad(f))(t(TABLE)), 2 * TABLE)
    same(func.grad(lambda x: dualad.vmap(f)(x).sum())(t(TABLE)), 2 * TABLE)
    same(dualad.vmap(func.jacrev(f))(t(TABLE)), 2 * TABLE)
    moved = func.jvp(lambda x: dualad.vmap(f)(x), (t(TABLE),), (t(np.ones((2, 3))),))[1]
    same(moved, 2 * TABLE.sum(1))
    same(dualad.vmap(func.hessian(f))(t(TABLE)), [2 * np.eye(3)] * 2)


def test_the_functions_own_formula_is_used():
    class Odd(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return 9 * g

    x = t([1.0, 2.0], True)
    dualad.vmap(Odd.apply)(x).sum().backward()
    same(x.grad, [9.0, 9.0])


def test_forward_runs_once_on_the_batch_where_it_can():
    calls = []

    class Counted(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            calls.append(x.shape)
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    same(dualad.vmap(Counted.apply)(t(TABLE)), TABLE**2)
    assert calls == [(3,)]


def test_forward_runs_for_each_entry_where_it_must():
    """A forward that asks for a number cannot see a batch."""

    class Choosy(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x if x.item() > 0 else -x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * dualad.tensor(np.where(x.numpy() > 0, 2 * x.numpy(), -1.0))

    same(dualad.vmap(Choosy.apply)(t([-3.0, 2.0])), [3.0, 4.0])
    x = t([-3.0, 2.0], True)
    dualad.vmap(Choosy.apply)(x).sum().backward()
    same(x.grad, [-1.0, 4.0])


def test_combined_style_under_vmap():
    class Cube(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            ctx.slope = 3 * x * x
            return x**3

        @staticmethod
        def backward(ctx, g):
            return ctx.slope * g

    same(dualad.vmap(func.grad(Cube.apply))(t([1.0, 2.0])), [3.0, 12.0])
    same(dualad.vmap(func.grad(func.grad(Cube.apply)))(t([1.0, 2.0])), [6.0, 12.0])


def test_arrays_need_no_mark():
    """The NumPy face batches a function by its entries, if need be."""

    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    same(dualad.vmap(Plain.apply)(np.array([1.0, 2.0])), [1.0, 4.0])
    same(dualad.vmap(dualad.grad(Plain.apply))(np.array([1.0, 2.0])), [2.0, 4.0])


def test_jacobians_with_chunks():
    f = lambda x: Normed.apply(x, 2)[0]
    same(func.jacrev(f, chunk_size=1)(t([1.0, 2.0, 3.0])), 2 * np.eye(3))
    same(func.jacfwd(f, chunk_size=2)(t([1.0, 2.0, 3.0])), 2 * np.eye(3))


# --- the arguments of vmap as PyTorch refuses and takes them -------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"in_dims": None},
        {"in_dims": (None,)},
        {"in_dims": (0, 0)},
        {"in_dims": "a"},
        {"out_dims": None},
        {"out_dims": (0, 0)},
        {"chunk_size": 0},
        {"chunk_size": -1},
        {"randomness": "some"},
    ],
)
def test_no_mapping(options):
    with pytest.raises(ValueError):
        dualad.vmap(lambda x: 2 * x, **options)(t([[1.0, 2.0], [3.0, 4.0]]))


def test_one_entry_of_out_dims_is_that_of_the_one_output():
    x = t([[1.0, 2.0], [3.0, 4.0]])
    same(dualad.vmap(lambda x: 2 * x, out_dims=(1,))(x), [[2.0, 6.0], [4.0, 8.0]])


@pytest.mark.parametrize("dim", [1, -1])
def test_a_rule_is_told_dimensions_counted_from_the_front(dim):
    seen = []

    class Double(Function):
        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            seen.append((info.batch_size, in_dims, x.shape))
            return 2 * x, in_dims[0]

    dualad.vmap(Double.apply, in_dims=dim)(t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert seen == [(3, (1,), (2, 3))]


@pytest.mark.parametrize("out_dim", [5, -3, "a", 1])
def test_an_output_without_the_axis_that_is_claimed(out_dim):
    class Wrong(Function):
        @staticmethod
        def forward(x):
            return x * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return x, out_dim

    with pytest.raises(RuntimeError, match=r"Wrong\.vmap returned .* no axis of the length"):
        dualad.vmap(Wrong.apply)(t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
