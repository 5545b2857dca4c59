"""A rule of your own, read in both directions: one `jvp` gives the reverse mode, by transposition.

The function is a layer of softplus units, f(W, x) = log(1 + exp(W x)). It states how a change of
W and x moves its value, and nothing else. Below, that statement is printed as a linear program at
one point, as NumPy source; then its transpose, which is the reverse mode; then the gradient that
this gives, beside the derivative that SymPy finds of the same formula.
"""

import numpy as np

import dualad


class Softplus(dualad.autograd.Function):
    """log(1 + exp(W x)), entry by entry, without overflow."""

    @staticmethod
    def forward(W, x):
        return np.logaddexp(0.0, W @ x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)

    @staticmethod
    def jvp(ctx, dW, dx):
        W, x = ctx.saved_tensors
        slope = 1.0 / (1.0 + np.exp(-(W @ x)))
        return slope * (dW @ x + W @ dx)


W = np.array([[1.0, -2.0], [0.5, 0.25], [-1.5, 3.0]])
X = np.array([0.75, -0.5])


def loss(x):
    """The sum of squares of the layer's output."""
    return np.sum(Softplus.apply(W, x) ** 2)


def symbolic_gradient():
    """The gradient of the same loss at the same point by SymPy, to 30 digits."""
    import sympy as sp

    x = sp.symbols("x0:2")
    layer = (sp.Matrix(W.tolist()).applyfunc(sp.Rational) * sp.Matrix(x)).applyfunc(
        lambda z: sp.log(1 + sp.exp(z))
    )
    formula = sum(unit**2 for unit in layer)
    point = {v: sp.Rational(value) for v, value in zip(x, X, strict=True)}
    return [sp.diff(formula, v).subs(point).evalf(30) for v in x]


def main():
    value, f_lin = dualad.linearize(lambda x: Softplus.apply(W, x), X)
    print("f(x) = log(1 + exp(W x)) at x =", X, "is", value)
    print("\nIts derivative there, a linear program: tangent of x -> tangent of f\n")
    print(f_lin.program.source("forward"))
    print("Its transpose, the reverse mode: cotangent of f -> cotangent of x\n")
    print(f_lin.program.source("reverse", transpose=True))

    gradient = dualad.grad(loss)(X)
    print("The gradient of sum(f(x)**2), and SymPy's derivative of the same formula\n")
    confirmed = True
    for k, (ours, exact) in enumerate(zip(gradient, symbolic_gradient(), strict=True)):
        agrees = bool(abs(ours - exact) <= 1e-14 * abs(exact))
        confirmed &= agrees
        verdict = "confirmed" if agrees else "REFUTED"
        print(f"  d/dx{k}  dualad {ours:.16g}  SymPy {exact}  {verdict}")
    return 0 if confirmed else 1


if __name__ == "__main__":
    raise SystemExit(main())
