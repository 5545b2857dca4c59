"""Rules that are subtly wrong: each is refuted by a counterexample that anybody can put in.

`dualad verify examples/verify/refuted.py` shows the points. Remove `expect="refuted"` and the
command fails, as it should for a mistake that nobody made on purpose.
"""

import numpy as np

from dualad.autograd import Function
from dualad.verify import Case


class Square(Function):
    """z**2 with a backward that is right for real z, and needs a conjugate for complex z."""

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        return 2 * z * g


class MeanSquare(Function):
    """The mean of squares, whose backward forgets the 1/n."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return ((x - y) ** 2).mean()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        slope = 2 * (x - y) * g
        return slope, -slope


def hinge(x):
    return np.where(x > 1, (x - 1) ** 2, 0.0)


def hinge_slope(x):
    """Its sign is wrong beyond the branch; on the flat side nobody sees it."""
    return np.where(x > 1, 2 * (1 - x), 0.0)


def logsumexp(v):
    largest = np.max(v)
    return largest + np.log(np.sum(np.exp(v - largest)))


def shifted_exponentials(v):
    """The shift was thought to cancel, as it does in the value; their sum is not 1."""
    return np.exp(v - np.max(v))


def density(x, s):
    """The normal density of width s."""
    return np.exp(-(x**2) / (2 * s**2)) / (s * np.sqrt(2 * np.pi))


def density_in_width(x, s):
    """As a paper prints it: without the term that comes from 1/s in front."""
    return density(x, s) * x**2 / s**3


VERIFY = [
    Case(Square, assume="z complex", expect="refuted", name="the missing conjugate"),
    Case(
        MeanSquare, shapes={"x": 3, "y": 3}, expect="refuted", name="the forgotten 1/n",
    ),
    Case((hinge, hinge_slope), expect="refuted", name="the wrong sign beyond a branch"),
    Case(
        (logsumexp, shifted_exponentials), shapes={"v": 2}, expect="refuted",
        name="log-sum-exp without the care that its shift needs",
    ),
    Case(
        (density, density_in_width), wrt="s", assume="s > 0", expect="refuted",
        name="a misprint",
    ),
]  # fmt: skip

if __name__ == "__main__":
    from dualad.verify import prove

    print(prove(hinge, hinge_slope))
    print(prove(density, density_in_width, wrt="s", assume="s > 0"))
