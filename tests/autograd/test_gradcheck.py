"""gradcheck accepts right derivatives, rejects wrong ones, and says what is wrong with them."""

import inspect

import numpy as np
import pytest

import dualad
from dualad.autograd import Function, gradcheck, gradgradcheck
from dualad.autograd.function import once_differentiable
from dualad.autograd.gradcheck import GradcheckError, GradcheckInputError
from dualad.errors import DualADError

EVERYTHING = {
    "check_forward_ad": True,
    "check_batched_grad": True,
    "check_batched_forward_grad": True,
    "check_grad_dtypes": True,
}
SECOND = {"check_fwd_over_rev": True, "check_batched_grad": True, "check_grad_dtypes": True}


def t(values, grad=True):
    return dualad.tensor(np.array(values), requires_grad=grad)


def power(back=3.0, fwd=3.0):
    """x**3 with adjustable factors in its two rules; right are 3 and 3."""

    class Power(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return back * x * x * g

        @staticmethod
        def jvp(ctx, dx):
            (x,) = ctx.saved_tensors
            return fwd * x * x * dx

    return Power.apply


def custom(forward, backward, materialize=True):
    """A function with a backward that is given."""

    class Custom(Function):
        @staticmethod
        def forward(ctx, *args):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(*args)
            return forward(*args)

        @staticmethod
        def backward(ctx, *grads):
            return backward(*ctx.saved_tensors, *grads)

    return Custom.apply


def message(f, inputs, check=gradcheck, **options):
    with pytest.raises(GradcheckError) as caught:
        check(f, inputs, **options)
    assert check(f, inputs, raise_exception=False, **options) is False
    return str(caught.value)


# --- right derivatives are accepted ------------------------------------------------------------


def fill(x):
    y = dualad.zeros(3, dtype=np.float64)
    y[0] = x[1] * x[2]
    y[1:] = x[:2]
    return y


RIGHT = {
    "product that broadcasts": (lambda x, y: x * y, ([[1.0], [2.0]], [[3.0, 4.0, 5.0]])),
    "matrix product": (lambda x, y: x @ y, ([[1.0, 2.0], [0.5, 3.0]], [2.0, -1.0])),
    "several outputs": (lambda x, y: (x * y, (x + y).exp().sum()), ([0.1, 0.2], [1.0, 2.0])),
    "scalar": (lambda x: x.sin() * x, (0.3,)),
    "empty": (lambda x: x * 2, (np.zeros((0, 2)),)),
    "identity": (lambda x: x, ([1.0, 2.0],)),
    "view": (lambda x: x.t()[::2], (np.arange(6.0).reshape(2, 3),)),
    "unused input": (lambda x, y: x * 2, ([1.0, 2.0], [3.0])),
    "write into a buffer": (fill, ([1.0, 2.0, 4.0],)),
    "in place on a copy": (lambda x: x.clone().mul_(3).add_(x), ([1.0, 2.0],)),
    "custom function": (power(), ([1.0, 2.0],)),
    "complex product": (lambda x, y: x * y, ([1 + 2j, 3 - 1j], [0.5 - 1j, 2j])),
    "modulus": (lambda z: np.abs(z), ([1 + 2j, 3 - 1j],)),
    "neither real nor holomorphic": (lambda z: z.conj() * z * z, ([1 + 2j, 3 - 1j],)),
    "real to complex": (lambda x: np.exp(1j * x), ([0.3, 2.0],)),
    "real and complex": (lambda x, z: x * z * z, ([0.3, 2.0], [1 + 2j, 3 - 1j])),
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_first_derivatives_in_every_way(name, fast):
    f, values = RIGHT[name]
    assert gradcheck(f, [t(v) for v in values], fast_mode=fast, **EVERYTHING) is True


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_second_derivatives_in_every_way(name, fast):
    f, values = RIGHT[name]
    assert gradgradcheck(f, [t(v) for v in values], fast_mode=fast, **SECOND) is True


def test_one_mode_alone():
    x = t([1.0, 2.0])
    assert gradcheck(power(back=2.0), (x,), check_backward_ad=False, check_forward_ad=True)
    assert gradcheck(power(fwd=2.0), (x,))


@pytest.mark.parametrize("missing", ["jvp", "backward"])
def test_a_custom_function_with_one_rule_is_right_in_both_modes(missing):
    """The other rule is its transpose."""

    class Square(Function):
        @staticmethod
        def forward(x, k):
            return k * x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0])
            ctx.save_for_forward(inputs[0])
            ctx.k = inputs[1]

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * ctx.k * x * g, None

    def jvp(ctx, dx, _):
        (x,) = ctx.saved_tensors
        return 2 * ctx.k * x * dx

    rule = backward if missing == "jvp" else jvp
    setattr(Square, rule.__name__, staticmethod(rule))
    assert gradcheck(Square.apply, (t([1.0, 2.0]), 3), check_forward_ad=True)
    assert gradgradcheck(Square.apply, (t([1.0, 2.0]), 3), check_fwd_over_rev=True)


# --- wrong derivatives are rejected ------------------------------------------------------------

WRONG = {
    "factor": (lambda x: x**2, lambda x, g: x * g, [1.0, 2.0]),
    "sign": (lambda x: -x, lambda x, g: g, [1.0, 2.0]),
    "one entry": (lambda x: x * 1.0, lambda x, g: g * np.array([1.0, 1.0, 1.1]), [1.0, 2.0, 3.0]),
    "transposed": (
        lambda x: np.array([[1.0, 2.0], [3.0, 4.0]]) @ x,
        lambda x, g: np.array([[1.0, 2.0], [3.0, 4.0]]) @ g,
        [1.0, 2.0],
    ),
    "zero": (lambda x: x**2, lambda x, g: 0 * g, [1.0, 2.0]),
    "None": (lambda x: x**2, lambda x, g: None, [1.0, 2.0]),
    "not conjugated": (lambda z: z * z, lambda z, g: 2 * z * g, [1 + 2j, 1j]),
    "real part only": (lambda z: 3 * z, lambda z, g: np.real(3 * g) + 0j, [1 + 2j, 1j]),
    "a NaN": (lambda x: x**2, lambda x, g: g * np.nan, [1.0, 2.0]),
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_backward(name, fast):
    forward, backward, value = WRONG[name]
    f = custom(forward, backward)
    assert "Jacobian" in message(f, (t(value),), fast_mode=fast)


@pytest.mark.parametrize("fast", [False, True])
def test_a_wrong_jvp(fast):
    f = power(fwd=2.0)
    text = message(f, (t([1.0, 2.0]),), check_forward_ad=True, fast_mode=fast)
    assert "Jacobian" in text
    assert "forward mode" in text


def test_an_output_that_lost_its_derivative():
    """If no output requires grad, all must be constant."""
    assert "Jacobian" in message(lambda x: x.detach() * 2, (t([1.0]),))
    assert "Jacobian" in message(lambda x: x.detach().numpy() ** 2, (t([1.0]),))
    assert gradcheck(lambda x: dualad.ones(2, dtype=np.float64), (t([1.0]),))
    assert gradcheck(lambda x: x.argsort(), (t([1.0, 2.0]),))


def test_outputs_that_are_declared_constant_are_not_checked():
    assert gradcheck(lambda x: (x * 2, x.detach() * 3, None, 4), (t([1.0]),))


# --- the report --------------------------------------------------------------------------------


def test_the_error_names_output_input_entries_values_and_tolerance():
    """The gradient of x0 y1 with respect to y1 is x0 = 5, taken for 2 x0 = 10."""
    f = custom(
        lambda x, y: (x + y, x * y),
        lambda x, y, g, h: (g + y * h, g + x * h * np.array([1.0, 2.0])),
    )
    with pytest.raises(GradcheckError) as caught:
        gradcheck(f, (t([3.0, 5.0]), t([1.0, 4.0])))
    wrong = caught.value.mismatch
    assert (wrong.output, wrong.output_entry) == ("output 1", (1,))
    assert (wrong.input, wrong.input_entry) == ("input 1", (1,))
    assert wrong.analytic == 10.0
    assert wrong.numeric == pytest.approx(5.0, abs=1e-8)
    assert wrong.difference == pytest.approx(5.0, abs=1e-8)
    assert wrong.tolerance == pytest.approx(1e-5 + 1e-3 * 5.0)
    assert (wrong.wrong, wrong.entries) == (1, 4)
    text = str(caught.value)
    for part in (
        "output 1 with respect to input 1, by backward (reverse mode): 1 of 4 entries",
        "entry (1,) of output 1, entry (1,) of input 1",
        "analytical 10\n",
        "numerical  5",
        "difference 5, allowed 0.00501",
    ):
        assert part in text


def test_the_worst_entry_is_reported():
    f = custom(lambda x: x * 1.0, lambda x, g: g * np.array([[1.5, 1.0], [1.0, 4.0]]))
    with pytest.raises(GradcheckError) as caught:
        gradcheck(f, (t([[1.0, 2.0], [3.0, 4.0]]),))
    assert caught.value.mismatch.input_entry == (1, 1)
    assert caught.value.mismatch.wrong == 2


def test_every_wrong_jacobian_is_listed():
    f = custom(lambda x, y: x * y, lambda x, y, g: (g, g))
    text = message(f, (t([3.0]), t([2.0])))
    assert "Jacobian mismatch for output 0 with respect to input 0" in text
    assert "wrong too: output 0 with respect to input 1, by backward (reverse mode)" in text


def test_positions_count_all_arguments_and_results():
    f = custom(lambda x: x * 2, lambda x, g: g)
    text = message(lambda k, x: (k, x.detach(), f(x)), (3, t([3.0])))
    assert "output 2 with respect to input 1" in text


def test_the_part_of_a_complex_output_is_named():
    """d Im(2 x)/dx is 0 and d Re(2 x)/dx is 2; backward adds a part of its own."""
    f = custom(lambda x: x * (2 + 0j), lambda x, g: np.real(g) * 2 + np.imag(g))
    text = message(f, (t([3.0]),))
    assert "the imaginary part of output 0 with respect to input 0" in text
    assert "the real part" not in text


def test_the_gradient_of_a_complex_input_is_the_one_of_real_and_imaginary_part():
    """|z|^2 has the gradient 2 z."""
    f = custom(lambda z: np.real(z * z.conj()), lambda z, g: z * g)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(f, (t(3 + 4j),))
    assert caught.value.mismatch.analytic == 3 + 4j
    assert caught.value.mismatch.numeric == pytest.approx(6 + 8j, abs=1e-8)


def test_a_missing_conjugate_is_recognized():
    f = custom(lambda z: z * z, lambda z, g: 2 * z * g)
    assert "hint: analytic is the conjugate" in message(f, (t([1 + 2j]),))


def test_a_kink_is_recognized():
    f = custom(np.abs, lambda x, g: g)
    assert "kink" in message(f, (t([0.0]),))
    assert "kink" not in message(f, (t([-1.0]),))


def test_the_edge_of_a_domain_is_recognized():
    """sqrt is not real below 0, which the difference meets; this gives no NumPy warning."""
    assert "edge of its domain" in message(lambda x: x.sqrt(), (t([1e-9]),))


def test_a_function_that_is_not_deterministic_is_recognized():
    random = np.random.default_rng(0)
    text = message(lambda x: x * random.uniform(1.0, 2.0), (t([1.0]),))
    assert "func is not deterministic" in text


def test_coarse_precision_is_recognized():
    x = dualad.tensor([1.0, 2.0], requires_grad=True)
    f = custom(lambda x: x * 2, lambda x, g: g)
    with pytest.warns(UserWarning, match="input 0 .* float32, not in double precision"):
        with pytest.raises(GradcheckError, match="hint: input 0 is float32"):
            gradcheck(f, (x,))


# --- numeric derivatives -----------------------------------------------------------------------


@pytest.mark.parametrize("x", [1e-8, 1.0, 1e6, 1e10, -1e14, 1e100])
@pytest.mark.parametrize("fast", [False, True])
def test_entries_of_any_size(x, fast):
    """x**2 and 1/x have the relative condition 2 and 1: no magnitude is a reason to fail."""
    assert gradcheck(lambda x: x * x, (t([x]),), fast_mode=fast)
    assert gradcheck(lambda x: 1.0 / (1.0 + x * 1e-3), (t([x]),), fast_mode=fast)


def test_entries_of_different_size_each_have_their_step():
    x = t([1e-3, 1.0, 1e9])
    assert gradcheck(lambda x: x * x, (x,))
    assert gradcheck(lambda x: x * x, (x,), fast_mode=True)


def test_the_given_step_is_used():
    """|x| at 5e-4: a step of 1e-3 crosses the kink, where the difference is (1.5 - 0.5) / 2."""
    assert gradcheck(np.abs, (t([5e-4]),))
    with pytest.raises(GradcheckError) as caught:
        gradcheck(np.abs, (t([5e-4]),), eps=1e-3)
    assert caught.value.mismatch.numeric == pytest.approx(0.5)


def test_the_given_tolerances_are_used():
    f = custom(lambda x: x * 1.0, lambda x, g: g * 1.01)
    x = t([1.0])
    assert not gradcheck(f, (x,), raise_exception=False)
    assert gradcheck(f, (x,), rtol=0.02)
    assert gradcheck(f, (x,), atol=0.02)
    assert gradcheck(f, (x,), atol=0.02, fast_mode=True)
    assert not gradcheck(f, (x,), atol=0.0, rtol=0.0, raise_exception=False)


def test_inputs_are_put_back():
    values = np.array([0.1, 0.7, 1e10])
    x = dualad.as_tensor(values).requires_grad_()
    before = values.copy()
    assert gradcheck(lambda x: x * x, (x,), fast_mode=True)
    assert gradcheck(lambda x: x * x, (x,))
    assert (values == before).all()
    assert x.grad is None
    assert x._version == 0


def test_inputs_are_put_back_after_an_exception():
    values = np.array([0.1, 0.7])

    def f(x):
        if x[1].item() != 0.7:
            raise ZeroDivisionError
        return x * x

    with pytest.raises(ZeroDivisionError):
        gradcheck(f, (dualad.as_tensor(values).requires_grad_(),), raise_exception=False)
    assert values.tolist() == [0.1, 0.7]


def test_the_verdict_of_fast_mode_repeats_and_leaves_numpys_generator_alone():
    np.random.seed(7)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    f = custom(lambda x: x * 1.0, lambda x, g: g * 1.002)
    x = t(np.ones(5))
    verdicts = {gradcheck(f, (x,), fast_mode=True, raise_exception=False) for _ in range(3)}
    assert len(verdicts) == 1
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_fast_mode_calls_the_function_twice_an_input():
    calls = []

    def f(x, y):
        calls.append(1)
        return x * y

    assert gradcheck(f, (t(np.arange(1.0, 101.0)), t(np.ones(100))), fast_mode=True)
    assert len(calls) == 1 + 2 * 2


def test_fast_mode_reports_the_entry_too():
    f = custom(lambda x: x * 1.0, lambda x, g: g * np.array([1.0, 1.0, 3.0]))
    assert "entry (2,) of input 0" in message(f, (t([1.0, 2.0, 3.0]),), fast_mode=True)


def test_a_shape_that_depends_on_the_values_is_an_error():
    def f(x):
        return x[x.detach().numpy() > 1.0]

    assert "shape (1,), but in another call" in message(f, (t([1.0, 2.0]),))


# --- inputs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["backward", "forward"])
@pytest.mark.parametrize("fast", [False, True])
def test_memory_of_every_kind(fast, mode):
    options = {"fast_mode": fast, "check_forward_ad": mode == "forward"}
    base = dualad.tensor(np.arange(1.0, 7.0).reshape(2, 3))
    for x in (base.t(), base[:, ::2], base[0].expand(2, 3), base[0, 0].expand(3)):
        x = x.detach().requires_grad_()
        assert gradcheck(lambda v: (v**3).sum(), (x,), **options)
    frozen = np.arange(1.0, 4.0)
    frozen.flags.writeable = False
    assert gradcheck(lambda v: v**3, (dualad.as_tensor(frozen).requires_grad_(),), **options)


def test_one_tensor_at_two_places_has_its_whole_derivative_at_each():
    x = t([1.0, 2.0])
    assert gradcheck(lambda a, b: a * b, (x, x), check_forward_ad=True)


def test_two_inputs_that_share_memory_are_independent():
    values = np.arange(1.0, 4.0)
    x = dualad.as_tensor(values).requires_grad_()
    y = dualad.as_tensor(values[:2]).requires_grad_()
    assert gradcheck(lambda a, b: a[:2] * b, (x, y), check_forward_ad=True)


def test_an_input_that_is_not_a_leaf():
    x = t([1.0, 2.0])
    assert gradcheck(lambda y: y * y, (x * 3,), check_forward_ad=True)


def test_an_input_read_by_closure():
    x = t([1.0, 2.0])
    assert gradcheck(lambda _: x**2, (x,))


def test_other_arguments_pass_through():
    inputs = (t([1.0, 2.0]), 3, t([1, 0], grad=False), None)
    assert gradcheck(lambda x, n, mask, none: (x**n) * mask, inputs)


def test_a_tensor_and_a_list_of_inputs():
    x = t([1.0, 2.0])
    assert gradcheck(lambda x: x**2, x)
    assert gradcheck(lambda x: [x**2, x**3], [x])


def test_under_no_grad():
    with dualad.no_grad():
        assert gradcheck(lambda x: x**2, (t([1.0]),))
        assert gradgradcheck(lambda x: x**2, (t([1.0]),))


def test_nothing_requires_grad():
    with pytest.raises(ValueError, match="requires grad"):
        gradcheck(lambda x: x**2, (t([1.0], grad=False),), raise_exception=False)
    with pytest.raises(ValueError, match="requires grad"):
        gradcheck(lambda x: x**2, (np.ones(2),))


def test_a_function_that_writes_to_its_input():
    x = t([1.0, 2.0]) * 1
    with pytest.raises(GradcheckInputError, match=r"writes to input 0 in place.*clone\(\)"):
        gradcheck(lambda x: x.mul_(2), (x,))


def test_inside_of_a_transformation():
    x = t([1.0])
    with dualad.autograd.forward_ad.dual_level():
        dual = dualad.autograd.forward_ad.make_dual(x, t([1.0], grad=False))
        with pytest.raises(GradcheckInputError, match="call gradcheck outside"):
            gradcheck(lambda x: x**2, (dual,))


def test_errors_of_the_function_are_its_own():
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda x: 1 // 0, (t([1.0]),), raise_exception=False)
    with pytest.raises(TypeError, match="dict"):
        gradcheck(lambda x: {"y": x}, (t([1.0]),), raise_exception=False)


# --- properties beside the values --------------------------------------------------------------


def noisy(size):
    random = np.random.default_rng(0)
    return custom(lambda x: x * 2, lambda x, g: 2 * g + size * random.uniform(size=2))


@pytest.mark.parametrize("fast", [False, True])
def test_a_backward_that_is_not_deterministic(fast):
    x = t([1.0, 2.0])
    assert "not deterministic" in message(noisy(1e-8), (x,), fast_mode=fast)
    assert gradcheck(noisy(1e-8), (x,), nondet_tol=1e-6, fast_mode=fast)


@pytest.mark.parametrize(
    "backward", [lambda x, g: 0 * g + 2.0, lambda x, g: 2 * g * g, lambda x, g: 2 * np.abs(g)]
)
@pytest.mark.parametrize("fast", [False, True])
def test_a_backward_that_is_not_linear(backward, fast):
    """Each is right for the unit gradient 1 of a scalar output."""
    f = custom(lambda x: 2 * x, backward)
    assert "not linear in grad_output" in message(f, (t(1.0),), fast_mode=fast)


def test_a_jvp_that_is_not_linear():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, dx):
            return 2 * dx * dx

    options = {"check_forward_ad": True, "check_backward_ad": False}
    assert "not linear in its tangents" in message(Double.apply, (t(1.0),), **options)


def test_undefined_gradients():
    """Without materialized gradients backward gets None, and must take it for zero."""
    careless = custom(lambda x: x * 2, lambda x, g: 2 * g, materialize=False)
    careful = custom(lambda x: x * 2, lambda x, g: None if g is None else 2 * g, materialize=False)
    x = t([1.0, 2.0])
    assert "undefined gradients" in message(careless, (x,))
    assert gradcheck(careless, (x,), check_undefined_grad=False)
    assert gradcheck(careful, (x,))


def test_undefined_gradients_of_some_outputs():
    def backward(x, g, h, k):
        if g is None and h is not None and k is not None:
            return x * 7
        shares = [c * v for c, v in zip((2, 3, 5), (g, h, k), strict=True) if v is not None]
        return sum(shares) if shares else None

    f = custom(lambda x: (2 * x, 3 * x, 5 * x), backward, materialize=False)
    assert "undefined gradient of output 0" in message(f, (t([1.0, 2.0]),))
    assert gradcheck(f, (t([1.0, 2.0]),), check_undefined_grad=False)


def test_batched_gradients():
    """A backward that branches on its gradient's value cannot run on many at once."""
    f = custom(lambda x: x * 2, lambda x, g: 2 * g if g.sum() > 0 else g + g)
    x = t([1.0, 2.0])
    assert gradcheck(f, (x,))
    assert "batched" in message(f, (x,), check_batched_grad=True)


def test_batched_gradients_that_differ_from_a_loop():
    f = custom(
        lambda x: x * 2,
        lambda x, g: (3 if type(g._value).__name__ == "Batched" else 2) * g,
    )
    text = message(f, (t([1.0, 2.0]),), check_batched_grad=True)
    assert "backward of output 0 under vmap, differs from a loop at row 0: input 0" in text


def test_batched_tangents():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, dx):
            return 2 * dx if dx.sum() > 0 else dx + dx

    options = {"check_forward_ad": True, "check_backward_ad": False}
    x = t([1.0, 2.0])
    assert gradcheck(Double.apply, (x,), **options)
    text = message(Double.apply, (x,), check_batched_forward_grad=True, **options)
    assert "forward mode from input 0 under vmap" in text


def test_dtypes_of_gradients():
    """A gradient of another floating dtype is cast; a hook that changes the dtype is refused."""
    x = t([1.0, 2.0])
    f = custom(lambda x: 2 * x, lambda x, g: (2 * g).float())
    assert gradcheck(f, (x,), check_grad_dtypes=True)
    x.register_hook(lambda g: g.float())
    with pytest.raises(RuntimeError, match="float64 to float32"):
        gradcheck(lambda x: x * 2, (x,), check_grad_dtypes=True)


# --- second order ------------------------------------------------------------------------------


def detached():
    """x**3 with a backward that drops the derivative of x**2."""
    return custom(lambda x: x**3, lambda x, g: 3 * x.detach() ** 2 * g)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("mode", ["check_fwd_over_rev", "check_rev_over_rev"])
def test_a_wrong_second_derivative(mode, fast):
    """The gradient 3 x^2 g has the derivative 6 x g, here 0, and 3 x^2 with respect to g."""
    options = {"check_rev_over_rev": False, mode: True, "fast_mode": fast}
    x, g = t([0.5, -1.0]), t([1.0, 2.0])
    assert gradcheck(detached(), (x,))
    with pytest.raises(GradcheckError) as caught:
        gradgradcheck(detached(), (x,), (g,), **options)
    wrong = caught.value.mismatch
    assert (wrong.output, wrong.input) == ("the gradient of input 0", "input 0")
    assert (wrong.input_entry, wrong.analytic) == ((1,), 0.0)
    assert wrong.numeric == pytest.approx(-12.0, abs=1e-6)


def test_the_derivative_with_respect_to_the_gradient_is_checked():
    """The gradient 2 g has the right value, and with respect to g the derivative 0 for 2."""
    f = custom(lambda x: 2 * x, lambda x, g: 2 * g.detach())
    text = message(f, (t([1.0]),), gradgradcheck)
    assert "the gradient of input 0 with respect to grad_outputs[0]" in text


def test_a_backward_that_cannot_be_differentiated():
    """It is an error of its own, and False where no error is wanted."""

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = t([1.0, 2.0])
    assert gradcheck(Square.apply, (x,))
    with pytest.raises(DualADError, match="once_differentiable"):
        gradgradcheck(Square.apply, (x,))
    assert gradgradcheck(Square.apply, (x,), raise_exception=False) is False


def test_given_gradients_of_outputs():
    x = t([1.0, 2.0])
    f = lambda x: (x**2, (x**3).sum())
    assert gradgradcheck(f, (x,), (t([1.0, 3.0]), t(2.0)))
    assert gradgradcheck(f, (x,), (t([1.0, 3.0], grad=False), None))
    assert gradgradcheck(lambda x: x**2, (x,), t([1.0, 3.0]))
    assert gradgradcheck(f, (x,), gen_non_contig_grad_outputs=True)


def test_wrong_gradients_of_outputs():
    x = t([1.0, 2.0])
    for given, match in [
        ((t([1.0, 2.0]), t(1.0)), "has 2 entries"),
        ((t([1.0, 2.0, 3.0]),), r"grad_outputs\[0\] has shape \(3,\)"),
        ((None,), r"grad_outputs\[0\] is None"),
    ]:
        with pytest.raises(GradcheckInputError, match=match):
            gradgradcheck(lambda x: x**2, (x,), given, raise_exception=False)
    with pytest.raises(GradcheckInputError, match="output that requires grad"):
        gradgradcheck(lambda x: x.detach(), (x,), raise_exception=False)


# --- options -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("check", "options"),
    [
        (gradcheck, {"check_backward_ad": False}),
        (gradcheck, {"check_batched_forward_grad": True}),
        (
            gradcheck,
            {"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True},
        ),
        (gradcheck, {"eps": 0.0}),
        (gradcheck, {"eps": np.nan}),
        (gradgradcheck, {"check_rev_over_rev": False}),
    ],
)  # fmt: skip
def test_options_without_meaning(check, options):
    """PyTorch has assertions there, and NumPy users expect a ValueError."""
    for kind in (ValueError, AssertionError, GradcheckInputError):
        with pytest.raises(kind):
            check(lambda x: x, (t([1.0]),), raise_exception=False, **options)


def test_single_precision_passes_with_fitting_tolerances():
    x = dualad.tensor([0.5, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match="double precision"):
        assert gradcheck(lambda x: x * x, (x,), rtol=1e-2)


def test_signatures_are_pytorchs():
    common = {
        "eps": 1e-6, "atol": 1e-5, "rtol": 1e-3, "raise_exception": True, "nondet_tol": 0.0,
        "check_undefined_grad": True, "check_grad_dtypes": False, "check_batched_grad": False,
        "fast_mode": False,
    }  # fmt: skip
    first = common | {
        "check_batched_forward_grad": False, "check_forward_ad": False,
        "check_backward_ad": True, "masked": None,
    }  # fmt: skip
    second = common | {
        "gen_non_contig_grad_outputs": False, "check_fwd_over_rev": False,
        "check_rev_over_rev": True, "masked": False,
    }  # fmt: skip
    for f, expected, positional in (
        (gradcheck, first, ["func", "inputs"]),
        (gradgradcheck, second, ["func", "inputs", "grad_outputs"]),
    ):
        parameters = inspect.signature(f).parameters.values()
        keywords = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
        assert keywords == expected
        assert [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD] == positional


@pytest.mark.parametrize("nothing", [None, "text", (None, None), ()])
def test_a_function_that_gives_no_tensor_cannot_be_checked(nothing):
    with pytest.raises(ValueError, match="no tensor"):
        gradcheck(lambda x: nothing, (t([1.0]),))
