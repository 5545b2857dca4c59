"""Minimise the Rosenbrock function with SciPy: what exact derivatives save.

Run it with a file name to get a picture of the paths as well:  python rosenbrock.py paths.png
"""

import sys

import numpy as np
from scipy.optimize import minimize

import dualad


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def hessian_product(x, v):
    return dualad.hvp(rosenbrock, (x,), (v,))


METHODS = {
    "BFGS, differences": {"method": "BFGS"},
    "BFGS, dualad.grad": {"method": "BFGS", "jac": dualad.grad(rosenbrock)},
    "Newton-CG, dualad.hvp": {
        "method": "Newton-CG",
        "jac": dualad.grad(rosenbrock),
        "hessp": hessian_product,
        "options": {"xtol": 1e-8},
    },
    "trust-exact, dualad.hessian": {
        "method": "trust-exact",
        "jac": dualad.grad(rosenbrock),
        "hess": dualad.hessian(rosenbrock),
    },
}


def solve(options, start):
    """The result of a method, and the points it visited."""
    path = [start]
    result = minimize(rosenbrock, start, callback=lambda x: path.append(np.copy(x)), **options)
    return result, np.array(path)


def table(n):
    start = np.tile([1.3, 0.7, 0.8, 1.9, 1.2], n // 5)
    print(f"Rosenbrock function of {n} variables; the minimum is 0 at (1, ..., 1)\n")
    print(f"{'method':<30}{'steps':>6}{'f':>7}{'grad':>6}{'max |x - 1|':>14}")
    for name, options in METHODS.items():
        result, _ = solve(options, start)
        error = np.max(np.abs(result.x - 1.0))
        print(f"{name:<30}{result.nit:>6}{result.nfev:>7}{result.get('njev', 0):>6}{error:>14.1e}")


def picture(file):
    import matplotlib.pyplot as plt

    x, y = np.meshgrid(np.linspace(-1.6, 1.6, 200), np.linspace(-0.6, 1.6, 200))
    levels = np.logspace(-1, 3, 12)
    plt.contour(x, y, 100 * (y - x**2) ** 2 + (1 - x) ** 2, levels, colors="0.8", linewidths=0.7)
    for name, options in METHODS.items():
        _, path = solve(options, np.array([-1.2, 1.0]))
        plt.plot(*path.T, ".-", label=name, linewidth=0.8)
    plt.legend()
    plt.savefig(file, dpi=150)
    print(f"\nthe paths in two dimensions: {file}")


if __name__ == "__main__":
    table(10)
    for file in sys.argv[1:]:
        picture(file)
