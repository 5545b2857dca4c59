"""A fit that never forms the Jacobian: Gauss-Newton on a linear program and its transpose.

`dualad.linearize` runs the model once and gives its derivative at that point as a program. Each
inner solve applies that program and its transpose a few times and does not run the model again.
"""

import numpy as np

import dualad

T = np.linspace(0.0, 4.0, 40)
TRUTH = {"height": 2.0, "rate": 1.5, "floor": 0.3}


def model(p):
    return p["height"] * np.exp(-p["rate"] * T) + p["floor"]


NAMES = tuple(TRUTH)
DATA = model(TRUTH) + 0.01 * np.random.default_rng(3).standard_normal(len(T))


def residual(x):
    return model(dict(zip(NAMES, x, strict=True))) - DATA


def least_squares(program, r, steps=3):
    """The step d that minimises |J d + r|, by conjugate gradients on the normal equations."""
    transpose = program.transpose()
    d = np.zeros(program.inputs[0].shape)
    (s,) = transpose(-r)
    p, size = s, s @ s
    for _ in range(steps):
        (q,) = program(p)
        length = size / (q @ q)
        d, r = d + length * p, r + length * q
        (s,) = transpose(-r)
        size, before = s @ s, size
        p = s + (size / before) * p
    return d


def fit(x, rounds=8):
    """The parameters after each round of Gauss-Newton."""
    path = [x]
    for _ in range(rounds):
        r, f_lin = dualad.linearize(residual, x)
        x = x + least_squares(f_lin.program, r)
        path.append(x)
    return path


def main():
    small = dualad.linearize(lambda x: x[0] * np.exp(-x[1] * T[:4]) + x[2], np.ones(3))[1].program
    print("The derivative of the model at four times, at (1, 1, 1):\n")
    print(small.source("forward"))
    print("Its transpose:\n")
    print(small.source("reverse", transpose=True))

    print("Gauss-Newton:\n")
    print("".join(f"{name:>12}" for name in NAMES), f"{'|residual|':>12}{'|gradient|':>12}")
    for x in (path := fit(np.ones(3))):
        r, pullback = dualad.vjp(residual, x)
        slope = np.linalg.norm(pullback(r)[0])
        print("".join(f"{v:>12.6f}" for v in x), f"{np.linalg.norm(r):>12.6f}{slope:>12.1e}")
    assert np.allclose(path[-1], list(TRUTH.values()), atol=0.05)
    assert slope < 1e-8


if __name__ == "__main__":
    main()
