"""One rule, read in both directions: a custom Function that has a jvp and no backward.

Its derivative is a linear program. Printed, that is forward mode; transposed, reverse mode. Both
are NumPy source that runs. SymPy, which knows nothing of the rule, confirms the gradient.
"""

import itertools

import numpy as np

import dualad
from dualad.autograd import Function


class Softplus(Function):
    """log(1 + exp(x)) without overflow; its slope is the logistic function."""

    @staticmethod
    def forward(x):
        return np.logaddexp(0.0, x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, dx):
        (x,) = ctx.saved_tensors
        return dx / (1.0 + np.exp(-x))


def model(x):
    return np.sum(Softplus.apply(x[:-1] * x[1:]) * x[0])


def sympy_gradient(point):
    import sympy

    symbols = sympy.symbols(f"x:{len(point)}")
    terms = [sympy.log(1 + sympy.exp(a * b)) for a, b in itertools.pairwise(symbols)]
    expression = symbols[0] * sum(terms)
    values = dict(zip(symbols, map(sympy.Float, point.tolist(), [50] * len(point)), strict=True))
    return np.array([float(expression.diff(s).evalf(50, values)) for s in symbols])


if __name__ == "__main__":
    x = np.array([0.5, -1.0, 2.0, 0.25])
    value, f_lin = dualad.linearize(model, x)
    program = f_lin.program

    print("The derivative of the model at x, a linear program:\n")
    print(program.source("forward"))
    print("Its transpose, which is reverse mode:\n")
    print(program.source("reverse", transpose=True))

    gradient = dualad.grad(model)(x)
    (by_source,) = program.transpose().function()(np.float64(1.0))
    expected = sympy_gradient(x)
    print("gradient       ", gradient)
    print("from the source", by_source)
    print("SymPy          ", expected)
    print(f"largest difference from SymPy: {np.max(np.abs(gradient - expected)):.1e}")
    assert np.allclose(gradient, expected, rtol=1e-14)
    assert np.allclose(by_source, expected, rtol=1e-14)
