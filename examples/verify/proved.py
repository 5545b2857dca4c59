"""Rules that are right: `dualad verify examples/verify/proved.py` proves them."""

import numpy as np

import dualad
from dualad.autograd import Function
from dualad.verify import Case


@dualad.custom_jvp
def logsumexp(v):
    """log(sum(exp(v))), shifted by the largest entry so that nothing overflows."""
    largest = np.max(v)
    return largest + np.log(np.sum(np.exp(v - largest)))


@logsumexp.defjvp
def logsumexp_rule(primals, tangents):
    (v,), (dv,) = primals, tangents
    out = logsumexp(v)
    return out, np.sum(np.exp(v - out) * dv)


class Normalize(Function):
    """A vector over its length, as a layer with a backward of its own."""

    @staticmethod
    def forward(ctx, x):
        length = x.norm()
        unit = x / length
        ctx.save_for_backward(unit, length)
        return unit

    @staticmethod
    def backward(ctx, g):
        unit, length = ctx.saved_tensors
        return (g - unit * (unit * g).sum()) / length


class Solve(Function):
    """The solution of a linear system; its backward solves with the transposed matrix."""

    @staticmethod
    def forward(ctx, a, b):
        x = np.linalg.solve(a, b)
        ctx.save_for_backward(a, x)
        return x

    @staticmethod
    def backward(ctx, g):
        a, x = ctx.saved_tensors
        in_b = np.linalg.solve(a.t(), g)
        return -np.outer(in_b, x), in_b


def rosenbrock(v):
    return 100 * (v[1] - v[0] ** 2) ** 2 + (1 - v[0]) ** 2


def rosenbrock_gradient(v):
    rise = v[1] - v[0] ** 2
    return np.stack([-400 * v[0] * rise - 2 * (1 - v[0]), 200 * rise])


def michaelis_menten(s, v, k):
    return v * s / (k + s)


def michaelis_menten_slopes(s, v, k):
    return v * k / (k + s) ** 2, s / (k + s), -v * s / (k + s) ** 2


VERIFY = [
    Case(logsumexp, shapes={"v": 3}),
    Case(Normalize, shapes={"x": 2}, assume="x > 0"),
    Case(Solve, shapes={"a": (2, 2), "b": 2}, by="prove"),
    Case((rosenbrock, rosenbrock_gradient), shapes={"v": 2}),
    Case((michaelis_menten, michaelis_menten_slopes), assume="s, v, k > 0"),
]

if __name__ == "__main__":
    from dualad.verify import prove

    print(prove(logsumexp, shapes={"v": 2}))
    print(prove(michaelis_menten, michaelis_menten_slopes, assume="s, v, k > 0"))
