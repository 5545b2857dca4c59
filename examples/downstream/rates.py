"""A module of some package that has derivatives of its own: rates of enzymes."""

import numpy as np

import dualad


@dualad.custom_jvp
def softplus(x):
    """log(1 + exp(x)) without overflow."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


@softplus.defjvp
def softplus_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return softplus(x), dx / (1 + np.exp(-x))


def michaelis_menten(params, s):
    """The rate at each substrate concentration s, and the total."""
    rate = params["vmax"] * s / (params["km"] + s)
    return {"rate": rate, "total": np.sum(rate)}


def hill(s, k, n):
    return s**n / (k**n + s**n)


def hill_gradient(s, k, n):
    h = hill(s, k, n)
    slope = h * (1 - h)
    return n * slope / s, -n * slope / k, np.log(s / k) * slope


def decay(t, y, k):
    """A chain of two reactions, for scipy.integrate.solve_ivp."""
    return np.array([-k * y[0], k * y[0] - y[1] ** 2])


def decay_jac(t, y, k):
    return np.array([[-k, 0.0], [k, -2 * y[1]]])
