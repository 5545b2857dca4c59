"""Models whose solution and sensitivities are known in closed form."""

import numpy as np

ROBERTSON = {"k1": 0.04, "k2": 1e4, "k3": 3e7}


def robertson(t, y, p):
    return np.array(
        [
            -p.k1 * y[0] + p.k2 * y[1] * y[2],
            p.k1 * y[0] - p.k2 * y[1] * y[2] - p.k3 * y[1] ** 2,
            p.k3 * y[1] ** 2,
        ]
    )


def decay(t, y, p):
    """y = exp(-k t) y0, so dy/dk = -t y."""
    return -p.k * y


def chain(t, y, p):
    """A -> B -> nothing; see `chain_solution`."""
    return [-p.a * y[0], p.a * y[0] - p.b * y[1]]


def chain_solution(t, a, b):
    """States (nt, 2) and sensitivities (nt, 2, 2) by a and b, from y(0) = (1, 0).

    y1 = exp(-a t), y2 = a / (b - a) (exp(-a t) - exp(-b t)), differentiated by hand.
    """
    ea, eb, d = np.exp(-a * t), np.exp(-b * t), b - a
    y = np.stack([ea, a / d * (ea - eb)], axis=1)
    by_a = np.stack([-t * ea, b / d**2 * (ea - eb) - a / d * t * ea], axis=1)
    by_b = np.stack([0 * t, -a / d**2 * (ea - eb) + a / d * t * eb], axis=1)
    return y, np.stack([by_a, by_b], axis=2)


def exchange(x, p):
    """A <-> B: at rest A = m T / (k + m), where T is the total at the start."""
    v = p.k * x[0] - p.m * x[1]
    return [-v, v]


def square_root(x, p):
    """x = a^(1/2)."""
    return x**2 - p.a


def proportional(p, x):
    """y = a x."""
    return p.a * x


def diagonal(p):
    """Its inverse is 1/a."""
    return p.a * np.eye(2)


def halved(x, p):
    """Its fixed point is 1/(1 - a)."""
    return p.a * x + 1.0
