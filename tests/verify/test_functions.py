"""Function classes as people write them for PyTorch: right ones are proved, wrong ones refuted."""

import numpy as np
import pytest

import dualad
from dualad.autograd import Function
from dualad.symbolic import to_sympy
from dualad.verify import prove


class Exp(Function):
    @staticmethod
    def forward(ctx, i):
        r = i.exp()
        ctx.save_for_backward(r)
        return r

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        return g * r


class LinearFunction(Function):
    @staticmethod
    def forward(input, weight, bias):
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, bias = inputs
        ctx.save_for_backward(input, weight, bias)

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return (grad_input, grad_weight, grad_bias)


class LinearWrong(LinearFunction):
    @staticmethod
    def backward(ctx, grad_output):
        input, weight, _bias = ctx.saved_tensors
        return (grad_output.mm(weight), input.t().mm(grad_output), grad_output.sum(0))


class ReLU(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gi = g.clone()
        gi[x < 0] = 0
        return gi


class ReLUWrong(ReLU):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gi = g.clone()
        gi[x > 0] = 0
        return gi


class MSE(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return ((x - y) ** 2).mean()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        d = 2 * (x - y) * g / x.numel()
        return (d, -d)


class MSEWrong(MSE):
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        d = 2 * (x - y) * g
        return (d, -d)


class Softmax(Function):
    @staticmethod
    def forward(ctx, x):
        s = x.softmax(0)
        ctx.save_for_backward(s)
        return s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return s * (g - (g * s).sum(0, keepdim=True))


class SoftmaxWrong(Softmax):
    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return s * (1 - s) * g


class LSE(Function):
    @staticmethod
    def forward(ctx, x):
        m = x.max()
        out = m + (x - m).exp().sum().log()
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, g):
        x, out = ctx.saved_tensors
        return g * (x - out).exp()


class LSEWrong(LSE):
    @staticmethod
    def backward(ctx, g):
        x, _out = ctx.saved_tensors
        return g * (x - x.max()).exp()


class LSEForgot(LSE):
    @staticmethod
    def backward(ctx, g):
        x, out = ctx.saved_tensors
        return g * (x.exp() / out)


class AbsC(Function):
    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z.abs()

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return g * z / z.abs()


class MulC(Function):
    @staticmethod
    def forward(ctx, z, w):
        ctx.save_for_backward(z, w)
        return z * w

    @staticmethod
    def backward(ctx, g):
        z, w = ctx.saved_tensors
        return (g * w.conj(), g * z.conj())


class MulCWrong(MulC):
    @staticmethod
    def backward(ctx, g):
        z, w = ctx.saved_tensors
        return (g * w.conj(), g * z)


class ExpC(Function):
    @staticmethod
    def forward(ctx, z):
        r = z.exp()
        ctx.save_for_backward(r)
        return r

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        return g * r.conj()


class ExpCWrong(ExpC):
    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        return g * r


class Inv(Function):
    @staticmethod
    def forward(ctx, a):
        r = np.linalg.inv(a)
        ctx.save_for_backward(r)
        return r

    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        return -(r.t() @ g @ r.t())


class InvWrong(Inv):
    @staticmethod
    def backward(ctx, g):
        (r,) = ctx.saved_tensors
        return -(r @ g @ r)


class Sort(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return np.sort(x)

    @staticmethod
    def backward(ctx, g):
        (_x,) = ctx.saved_tensors
        return g


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    @dualad.autograd.function.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos()


class Inpl(Function):
    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


class ND(Function):
    @staticmethod
    def forward(ctx, x):
        s = x.sign()
        ctx.mark_non_differentiable(s)
        ctx.save_for_backward(x)
        return (x * x, x.abs())

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return 2 * x * g + h * x.sign()


class ND2(Function):
    @staticmethod
    def forward(ctx, x):
        s = x * 3
        ctx.mark_non_differentiable(s)
        ctx.save_for_backward(x)
        return (x * x, s)

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return 2 * x * g


class MyCube(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return (x**3, 3 * x**2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        _y, d = output
        ctx.save_for_backward(x, d)

    @staticmethod
    def backward(ctx, g, gd):
        x, d = ctx.saved_tensors
        return g * d + gd * 6 * x


class Norm(Function):
    @staticmethod
    def forward(ctx, x, eps):
        n = (x.pow(2).mean() + eps).sqrt()
        ctx.save_for_backward(x, n)
        return x / n

    @staticmethod
    def backward(ctx, g):
        x, n = ctx.saved_tensors
        return (g / n - x * (g * x).mean() / n**3, -(g * x).sum() / (2 * n**3))


class NormWrong(Norm):
    @staticmethod
    def backward(ctx, g):
        x, n = ctx.saved_tensors
        return (g / n - x * (g * x).sum() / n**3, -(g * x).sum() / (2 * n**3))


class Zeros(Function):
    @staticmethod
    def forward(ctx, x):
        o = dualad.zeros_like(x)
        o[0] = x[1]
        o[1] = x[0] * x[1]
        ctx.save_for_backward(x)
        return o

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        r = dualad.zeros_like(x)
        r[0] = g[1] * x[1]
        r[1] = g[0] + g[1] * x[0]
        return r


CASES = [
    (Exp, "proved", {}),
    (LinearFunction, "proved", {"shapes": {"input": (1, 2), "weight": (2, 2), "bias": 2}}),
    (LinearWrong, "refuted", {"shapes": {"input": (2, 2), "weight": (2, 2), "bias": 2}}),
]
(
    (ReLU, "proved", {"shapes": {"x": 2}}),
    (ReLUWrong, "refuted", {"shapes": {"x": 2}}),
    (ReLU, "proved", {}),
    (MSE, "proved", {"shapes": {"x": 3, "y": 3}}),
    (MSEWrong, "refuted", {"shapes": {"x": 3, "y": 3}}),
)
(
    (Softmax, "proved", {"shapes": {"x": 3}}),
    (SoftmaxWrong, "refuted", {"shapes": {"x": 3}}),
    (LSE, "proved", {"shapes": {"x": 3}}),
    (LSEWrong, "refuted", {"shapes": {"x": 3}}),
    (LSEForgot, "refuted", {"shapes": {"x": 2}}),
)
(
    (AbsC, "proved", {"assume": "z complex"}),
    (MulC, "proved", {"assume": ["z complex", "w complex"]}),
    (MulCWrong, "refuted", {"assume": ["z complex", "w complex"]}),
    (ExpC, "proved", {"assume": "z complex"}),
    (ExpCWrong, "refuted", {"assume": "z complex"}),
)
(
    (Inv, "proved", {"shapes": {"a": (2, 2)}}),
    (InvWrong, "refuted", {"shapes": {"a": (2, 2)}}),
    (Sort, "refuted", {"shapes": {"x": 2}}),
    (Once, "proved", {}),
    (Inpl, "proved", {}),
    (ND, "proved", {}),
    (ND2, "proved", {}),
    (MyCube, "proved", {}),
)
(
    (Norm, "proved", {"shapes": {"x": 2}, "assume": "eps > 0"}),
    (NormWrong, "refuted", {"shapes": {"x": 2}, "assume": "eps > 0"}),
    (Zeros, "proved", {"shapes": {"x": 2}}),
)
(
    (
        LinearFunction,
        "proved",
        {"shapes": {"input": (1, 2), "weight": (2, 2)}, "fixed": {"bias": None}},
    ),
)


@pytest.mark.parametrize("cls, verdict, options", CASES)
def test_a_function_class(cls, verdict, options):
    proof = prove(cls, **options)
    assert proof.verdict == verdict, proof.table()


# --- complex numbers ---------------------------------------------------------------------------

#: name: (forward, right backward, wrong backward) of one complex argument
COMPLEX = {
    "abs": (np.abs, lambda g, z: g * z / np.abs(z), lambda g, z: g * z.conj() / np.abs(z)),
    "log": (np.log, lambda g, z: g / z.conj(), lambda g, z: g / z),
    "reciprocal": (lambda z: 1 / z, lambda g, z: -g / z.conj() ** 2, lambda g, z: -g / z**2),
    "sin": (np.sin, lambda g, z: g * np.cos(z).conj(), lambda g, z: g * np.cos(z)),
    "real": (np.real, lambda g, z: g + 0 * z, lambda g, z: 1j * g + 0 * z),
    "imag": (lambda z: z.imag**2, lambda g, z: 2j * z.imag * g, lambda g, z: -2j * z.imag * g),
    "angle": (np.angle, lambda g, z: g * 1j * z / np.abs(z) ** 2,
              lambda g, z: -g * 1j * z / np.abs(z) ** 2),
    "cube": (lambda z: z**3, lambda g, z: 3 * g * z.conj() ** 2, lambda g, z: 3 * g * z**2),
}  # fmt: skip


def with_backward(forward, backward):
    class Custom(Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return forward(z)

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return backward(g, z)

    return Custom


@pytest.mark.parametrize("name", COMPLEX)
def test_the_conjugates_of_a_complex_backward(name):
    forward, right, wrong = COMPLEX[name]
    proof = prove(with_backward(forward, right), assume="z complex", limit=30)
    assert proof.verdict == "proved", proof.table()
    assert prove(with_backward(forward, wrong), assume="z complex").verdict == "refuted"


# --- custom_vjp, apply, what is inside ----------------------------------------------------------


def product(second):
    @dualad.custom_vjp
    def f(x, y):
        return np.sin(x) * y

    f.defvjp(
        lambda x, y: (f(x, y), (x, y)), lambda r, g: (np.cos(r[0]) * r[1] * g, second(r[0]) * g)
    )
    return f


def test_a_custom_vjp_rule():
    assert prove(product(np.sin))
    assert prove(product(np.cos)).verdict == "refuted"


def test_a_custom_vjp_rule_of_containers_and_an_argument_that_does_not_move():
    @dualad.custom_vjp
    def power(x, n):
        return {"value": x**n}

    power.nondiff_argnums = (1,)
    power.defvjp(
        lambda x, n: ({"value": x**n}, x), lambda n, x, g: (n * x ** (n - 1) * g["value"],)
    )
    assert prove(power, fixed={"n": 3})


def test_apply_inside_of_a_function():
    f = lambda x: np.sin(Exp.apply(x))
    assert str(to_sympy(f)) == "sin(exp(x))"
    assert prove(f, lambda x: np.cos(np.exp(x)) * np.exp(x))
    assert prove(f, lambda x: np.cos(np.exp(x))).verdict == "refuted"


def test_apply_inside_of_another_class():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            out = Exp.apply(Exp.apply(x))
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx, g):
            x, out = ctx.saved_tensors
            return g * out * Exp.apply(x)

    assert prove(Twice)


def test_custom_functions_inside_of_a_function():
    f = product(np.sin)
    assert prove(lambda x: f(x, 2.0) ** 2, lambda x: 8 * np.sin(x) * np.cos(x))


# --- kinks -------------------------------------------------------------------------------------

KINKS = [
    (lambda x: np.where(x >= 0, 1.0, -1.0), "the claim gives 1 for d out / d x at x = 0, not 0"),
    (np.sign, "the claim agrees"),
]


@pytest.mark.parametrize("slope, says", KINKS)
def test_what_the_claim_gives_on_a_kink(slope, says):
    (kink,) = prove(np.abs, slope, shapes={"x": ()}).kinks
    assert kink.claim == says


def test_ties_share_evenly_and_the_claim_may_not():
    half = lambda x: (x > 1) + 0.5 * (x == 1)
    f = lambda x: np.maximum(x, 1)
    assert prove(f, half).kinks[0].claim == "the claim agrees"
    assert prove(f, lambda x: 1.0 * (x > 1)).kinks[0].claim.endswith("gives 0 for d out / d x at "
                                                                     "x = 1, not 1/2")  # fmt: skip
    assert dualad.grad(f)(1.0) == 0.5
