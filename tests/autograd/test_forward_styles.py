"""Two ways to write forward, and what passes through apply."""

import numpy as np
import pytest
from tensors import same, t

import dualad
from dualad.autograd import Function
from dualad.autograd.errors import FunctionTypeError
from dualad.autograd.function import InplaceFunction


def test_combined_style_gets_the_context_first():
    class Scale(Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.k = k
            return k * x

        @staticmethod
        def backward(ctx, g):
            return ctx.k * g, None

    x = t(2.0, True)
    Scale.apply(x, 5).backward()
    same(x.grad, 5.0)


def test_split_style_sees_all_inputs_with_defaults_and_the_output():
    seen = []

    class Scale(Function):
        @staticmethod
        def forward(x, k=3):
            return k * x, "label"

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((inputs[1], output[1]))
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g, _):
            return ctx.k * g, None

    x = t(2.0, True)
    y, label = Scale.apply(x)
    y.backward()
    same(x.grad, 3.0)
    assert label == "label" and seen == [(3, "label")]


@pytest.mark.parametrize("base", [Function, InplaceFunction])
def test_forward_gets_the_callers_own_tensors_and_records_nothing(base):
    seen = []

    class Probe(base):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            seen.append((x, x.requires_grad, y.requires_grad, dualad.is_grad_enabled()))
            return y

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    x = t(1.0, True)
    y = Probe.apply(x)
    assert seen[0][0] is x and seen[0][1:] == (True, False, False)
    assert y.requires_grad and not y.is_leaf


def test_forward_may_differentiate_inside():
    """d(x^3)/dx by the graph inside of forward, under enable_grad."""

    class Slope(Function):
        @staticmethod
        def forward(ctx, x):
            with dualad.enable_grad():
                (g,) = dualad.autograd.grad(x**3, x)
            return g

        @staticmethod
        def backward(ctx, g):
            return g

    same(Slope.apply(t(2.0, True)), 12.0)


def test_tensors_in_containers_pass_through_without_a_derivative():
    class First(Function):
        @staticmethod
        def forward(ctx, pair, options):
            assert ctx.needs_input_grad == (False, False)
            return pair[0] * options["scale"]

        @staticmethod
        def backward(ctx, g):
            return None, None

    y = First.apply([t(3.0, True)], {"scale": t(2.0, True)})
    same(y, 6.0)
    assert not y.requires_grad


def test_a_keyword_takes_the_position_of_a_tensor():
    class Mul(Function):
        @staticmethod
        def forward(ctx, x, y, k=1):
            ctx.save_for_backward(x, y)
            ctx.k = k
            return k * x * y

        @staticmethod
        def backward(ctx, gz):
            x, y = ctx.saved_tensors
            return ctx.k * gz * y, ctx.k * gz * x

    x, y = t(2.0, True), t(3.0, True)
    Mul.apply(x, y=y, k=10).backward()
    same(x.grad, 30.0)
    same(y.grad, 20.0)


def test_a_tensor_for_a_keyword_only_parameter_is_refused():
    class Odd(Function):
        @staticmethod
        def forward(ctx, x, *, y):
            return x * y

    with pytest.raises(TypeError, match="keyword-only"):
        Odd.apply(t(1.0, True), y=t(2.0, True))


def test_wrong_arguments_name_the_function():
    class Twice(Function):
        @staticmethod
        def forward(x):
            return 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    with pytest.raises(TypeError, match=r"Twice\.apply"):
        Twice.apply(t(1.0), 2, 3)


def test_a_function_without_forward():
    class Nothing(Function):
        pass

    with pytest.raises(NotImplementedError, match="forward"):
        Nothing.apply(t(1.0))


def test_several_outputs_of_all_kinds():
    class Many(Function):
        @staticmethod
        def forward(ctx, x):
            return 2 * x, None, "text", 4, x > 0, 3 * x

        @staticmethod
        def backward(ctx, g, nothing, text, number, flag, h):
            assert nothing is None and text is None and number is None
            return 2 * g + 3 * h

    x = t([1.0, -1.0], True)
    out = Many.apply(x)
    assert out[1:4] == (None, "text", 4) and not out[4].requires_grad
    (out[0] + 10 * out[5]).sum().backward()
    same(x.grad, [32.0, 32.0])


def test_one_tensor_returned_twice_counts_twice():
    """y = 2x as both outputs: d(a + 3b) = 2 * (1 + 3)."""

    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            y = 2 * x
            return y, y

        @staticmethod
        def backward(ctx, g, h):
            return 2 * g + 2 * h

    x = t(1.0, True)
    a, b = Both.apply(x)
    (a + 3 * b).backward()
    same(x.grad, 8.0)


def test_arrays_in_arrays_out():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            assert isinstance(x, dualad.Tensor)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    y = Square.apply(np.array([1.0, 3.0]))
    assert type(y) is np.ndarray
    same(y, [1.0, 9.0])
    same(dualad.grad(lambda x: Square.apply(x).sum())(np.array([1.0, 3.0])), [2.0, 6.0])


def test_a_captured_value_of_a_transformation_is_refused_in_forward():
    """A derivative through a closure would be lost."""

    def f(x):
        class Captures(Function):
            @staticmethod
            def forward(ctx, y):
                return y * x

            @staticmethod
            def backward(ctx, g):
                return g

        return Captures.apply(t(2.0))

    with pytest.raises(TypeError, match="closure"):
        dualad.func.grad(f)(t(3.0))


def test_no_cycle_is_made_by_a_call():
    """Without a further reference the context goes with the output, without the collector."""
    import gc
    import weakref

    refs = []

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            refs.append(weakref.ref(ctx))
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            _, y = ctx.saved_tensors
            return y * g

    gc.disable()
    try:
        y = Exp.apply(t([1.0], True))
        del y
        assert refs[0]() is None
    finally:
        gc.enable()


def test_instances_are_not_used():
    with pytest.warns(DeprecationWarning, match="apply"):
        instance = InplaceFunction(inplace=True)
    assert instance.inplace is True
    with pytest.raises(RuntimeError, match="apply"):
        instance(t(1.0))


def test_a_python_float_from_forward_is_a_result_on_arrays():
    """Solvers and C libraries give floats: no derivative is lost by that."""

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return float(np.asarray(x).item() ** 3)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g

    assert dualad.grad(Cube.apply)(2.0) == 12.0
    assert dualad.jvp(Cube.apply, (2.0,), (0.5,)) == (8.0, 6.0)
    assert dualad.grad(lambda x: Cube.apply(x) * x)(2.0) == 32.0
    assert Cube.apply(np.float64(2.0)) == 8.0


@pytest.mark.parametrize("kind", [list, lambda y: {"y": y[0]}], ids=["list", "dict"])
def test_results_in_a_list_or_dict_alone_are_refused(kind):
    class Both(Function):
        @staticmethod
        def forward(ctx, x):
            return kind([x * x, x])

        @staticmethod
        def backward(ctx, *g):
            return g[0]

    with pytest.raises(FunctionTypeError, match=r"forward of Both .* return a tuple of tensors"):
        dualad.grad(lambda x: Both.apply(x)[0])(np.float64(3.0))
    with pytest.raises(FunctionTypeError, match="return a tuple"):
        Both.apply(t(3.0, requires_grad=True))


# --- a ctx too many, or too few ------------------------------------------------------------------


def function_of(forward, split):
    """A function with this forward, with or without setup_context."""
    members = {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: g)}
    if split:
        members["setup_context"] = staticmethod(lambda ctx, inputs, output: None)
    return type("Mine", (Function,), members)


@pytest.mark.parametrize(
    "forward", [lambda ctx, x: x * 2, lambda ctx, x=1: ctx * 2, lambda ctx, *xs: ctx * 2]
)
def test_with_setup_context_forward_may_not_take_ctx(forward):
    """Also where it would run: the first argument would be taken for ctx."""
    with pytest.raises(TypeError, match=r"Mine defines setup_context.*leave ctx out"):
        function_of(forward, split=True).apply(t(1.0, True))


def test_without_setup_context_forward_must_take_ctx():
    with pytest.raises(TypeError, match=r"Mine has no setup_context.*add ctx"):
        function_of(lambda x: x * 2, split=False).apply(t(1.0, True))


@pytest.mark.parametrize("split", [True, False])
def test_a_wrong_number_of_arguments_names_the_function(split):
    forward = (lambda x: x * 2) if split else (lambda ctx, x: x * 2)
    for arguments in ((), (t(1.0), t(2.0))):
        with pytest.raises(TypeError, match=r"^Mine\.apply: .*argument"):
            function_of(forward, split).apply(*arguments)


def test_a_type_error_inside_of_forward_is_the_users():
    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$"):
        function_of(lambda ctx, x: len(3), split=False).apply(t(1.0))
