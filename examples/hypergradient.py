"""Hypergradients: how the validation error of a fitted model depends on how it was fitted.

A ridge regression is trained by gradient descent. The training itself uses dualad.grad, and the
whole of it is differentiated again with respect to the learning rate and the ridge strength:
by forward mode (two inputs), by reverse mode, and by central differences for comparison.
"""

import numpy as np

import dualad

STEPS = 60


def data(n, rng):
    x = np.linspace(-1.0, 1.0, n)
    features = x[:, None] ** np.arange(6)
    return features, np.sin(3.0 * x) + 0.1 * rng.standard_normal(n)


rng = np.random.default_rng(7)
TRAIN, VALID = data(20, rng), data(15, rng)


def error(w, features, target):
    residual = features @ w - target
    return np.mean(residual * residual)


def training_loss(w, ridge):
    return error(w, *TRAIN) + ridge * np.sum(w * w)


def validation_error(hyper):
    """The error on fresh data after training with (log rate, log ridge)."""
    rate, ridge = np.exp(hyper)
    w = np.zeros(6)
    for _ in range(STEPS):
        w = w - rate * dualad.grad(training_loss)(w, ridge)
    return error(w, *VALID)


def central(f, x, h=1e-5):
    steps = h * np.eye(len(x))
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in steps])


def tune(hyper, rounds=25, step=0.5):
    """Gradient descent on the hyperparameters themselves."""
    for _ in range(rounds):
        hyper = hyper - step * dualad.grad(validation_error)(hyper)
    return hyper


if __name__ == "__main__":
    hyper = np.log([0.1, 0.01])
    forward = dualad.jacfwd(validation_error)(hyper)
    reverse = dualad.grad(validation_error)(hyper)
    differences = central(validation_error, hyper)

    print(f"d(validation error) after {STEPS} training steps, with respect to the logarithm of\n")
    print(f"{'':<16}{'forward':>20}{'reverse':>20}{'differences':>20}")
    for k, name in enumerate(["learning rate", "ridge strength"]):
        print(f"{name:<16}{forward[k]:>20.14f}{reverse[k]:>20.14f}{differences[k]:>20.14f}")
    assert np.allclose(forward, reverse, rtol=1e-10)
    assert np.allclose(reverse, differences, rtol=1e-5, atol=1e-9)

    print(f"\n{'':<16}{'learning rate':>20}{'ridge strength':>20}{'validation error':>20}")
    for name, h in ("as given", hyper), ("tuned", tune(hyper)):
        print(f"{name:<16}{np.exp(h[0]):>20.4f}{np.exp(h[1]):>20.4f}{validation_error(h):>20.5f}")
