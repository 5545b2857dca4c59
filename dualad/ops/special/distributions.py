"""Distribution functions and their inverses: binomial, beta, F, t, gamma, chi square, Poisson.

Each is an incomplete gamma or beta function. An inverse has the slopes of its function at the
result, by the implicit function theorem. Where SciPy rounds a count down the function is
piecewise constant in it; where it asks for an integer a derivative is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import beta

from .incomplete_beta import beta_density, betainc_in_shapes
from .table import NAMESPACE, formula, special, whole_number

__all__: list[str] = []

SQRT_2PI = float(np.sqrt(2 * np.pi))
NAMESPACE["SQRT_2PI"] = SQRT_2PI
N, K = whole_number("n"), whole_number("k")


# --- binomial ------------------------------------------------------------------------------------


@formula
def binomial_in_k(k: Any, n: Any, p: Any) -> Any:
    """d/dk of I_q(n - k, k + 1)."""
    shapes = n - k, k + 1, 1 - p, p
    return betainc_in_shapes(0, 1)(*shapes) - betainc_in_shapes(1, 0)(*shapes)


# --- F: I_u(m / 2, n / 2) with u = m x / (n + m x) -----------------------------------------------


def _shares(m: Any, n: Any, x: Any) -> tuple[Any, Any, Any]:
    """Half the degrees of freedom, and u with 1 - u."""
    whole = n + m * x
    return 0.5 * m, 0.5 * n, (m * x / whole, n / whole)


@formula
def f_density(m: Any, n: Any, x: Any) -> Any:
    a, b, u = _shares(m, n, x)
    return beta_density(a, b, *u) * m * n / (n + m * x) ** 2


@formula
def f_in_m(m: Any, n: Any, x: Any) -> Any:
    a, b, u = _shares(m, n, x)
    moved = beta_density(a, b, *u) * n * x / (n + m * x) ** 2
    return 0.5 * betainc_in_shapes(1, 0)(a, b, *u) + moved


@formula
def f_in_n(m: Any, n: Any, x: Any) -> Any:
    a, b, u = _shares(m, n, x)
    moved = beta_density(a, b, *u) * m * x / (n + m * x) ** 2
    return 0.5 * betainc_in_shapes(0, 1)(a, b, *u) - moved


# --- Student's t: for t < 0 half of I_w(n / 2, 1/2) with w = n / (n + t**2) ----------------------


@formula
def t_density(n: Any, t: Any) -> Any:
    power = -0.5 * (n + 1) * np.log1p(t * t / n)
    return np.exp(power) / (np.sqrt(n) * beta(0.5, 0.5 * n))


@formula
def t_in_n(n: Any, t: Any) -> Any:
    whole = n + t * t
    shape = betainc_in_shapes(1, 0)(0.5 * n, 0.5, n / whole, t * t / whole)
    return -0.25 * np.sign(t) * shape - 0.5 * t * t_density(n, t) / n


# fmt: off
# --- binomial and negative binomial: bdtr is I_q(n - k, k + 1), nbdtr is I_p(n, k + 1)
special("bdtr",   None, N, "-beta_density(floor(x) + 1, y - floor(x), z, 1 - z)")
special("bdtrc",  None, N, "beta_density(floor(x) + 1, y - floor(x), z, 1 - z)")
special("bdtri",  None, N, "-1 / beta_density(floor(x) + 1, y - floor(x), out, 1 - out)")
special("bdtrik", "1 / binomial_in_k(out, y, z)",
                  "-betainc_in_a(y - out, out + 1, 1 - z, z) / binomial_in_k(out, y, z)",
                  "beta_density(out + 1, y - out, z, 1 - z) / binomial_in_k(out, y, z)")
special("bdtrin", "-binomial_in_k(x, out, z) / betainc_in_a(out - x, x + 1, 1 - z, z)",
                  "1 / betainc_in_a(out - x, x + 1, 1 - z, z)",
                  "beta_density(x + 1, out - x, z, 1 - z) / betainc_in_a(out - x, x + 1, 1 - z, "
                  "z)")
special("nbdtr",  K, N, "beta_density(y, x + 1, z, 1 - z)")
special("nbdtrc", K, N, "-beta_density(y, x + 1, z, 1 - z)")
special("nbdtri", K, N, "1 / beta_density(y, x + 1, out, 1 - out)")
special("nbdtrik", "1 / betainc_in_b(y, out + 1, z, 1 - z)",
                   "-betainc_in_a(y, out + 1, z, 1 - z) / betainc_in_b(y, out + 1, z, 1 - z)",
                   "-beta_density(y, out + 1, z, 1 - z) / betainc_in_b(y, out + 1, z, 1 - z)")
special("nbdtrin", "-betainc_in_b(out, x + 1, z, 1 - z) / betainc_in_a(out, x + 1, z, 1 - z)",
                   "1 / betainc_in_a(out, x + 1, z, 1 - z)",
                   "-beta_density(out, x + 1, z, 1 - z) / betainc_in_a(out, x + 1, z, 1 - z)")

# --- beta, F and t
special("btdtria", "1 / betainc_in_a(out, y, z, 1 - z)",
                   "-betainc_in_b(out, y, z, 1 - z) / betainc_in_a(out, y, z, 1 - z)",
                   "-beta_density(out, y, z, 1 - z) / betainc_in_a(out, y, z, 1 - z)")
special("btdtrib", "-betainc_in_a(x, out, z, 1 - z) / betainc_in_b(x, out, z, 1 - z)",
                   "1 / betainc_in_b(x, out, z, 1 - z)",
                   "-beta_density(x, out, z, 1 - z) / betainc_in_b(x, out, z, 1 - z)")
special("fdtr",  "f_in_m(x, y, z)",  "f_in_n(x, y, z)",  "f_density(x, y, z)")
special("fdtrc", "-f_in_m(x, y, z)", "-f_in_n(x, y, z)", "-f_density(x, y, z)")
special("fdtri", "-f_in_m(x, y, out) / f_density(x, y, out)",
                 "-f_in_n(x, y, out) / f_density(x, y, out)", "1 / f_density(x, y, out)")
special("fdtridfd", "-f_in_m(x, out, z) / f_in_n(x, out, z)", "1 / f_in_n(x, out, z)",
                    "-f_density(x, out, z) / f_in_n(x, out, z)")
special("stdtr",    "t_in_n(x, y)", "t_density(x, y)")
special("stdtrit",  "-t_in_n(x, out) / t_density(x, out)", "1 / t_density(x, out)")
special("stdtridf", "1 / t_in_n(out, y)", "-t_density(out, y) / t_in_n(out, y)")

# --- gamma, chi square, Poisson: P(b, a x), P(v / 2, x / 2), Q(k + 1, m)
special("gdtr",   "z * gamma_density(y, x * z)", "gammainc_in_shape(y, x * z)",
                  "x * gamma_density(y, x * z)")
special("gdtrc",  "-z * gamma_density(y, x * z)", "-gammainc_in_shape(y, x * z)",
                  "-x * gamma_density(y, x * z)")
special("gdtria", "1 / (z * gamma_density(y, out * z))",
                  "-gammainc_in_shape(y, out * z) / (z * gamma_density(y, out * z))", "-out / z")
special("gdtrib", "-z * gamma_density(out, x * z) / gammainc_in_shape(out, x * z)",
                  "1 / gammainc_in_shape(out, x * z)",
                  "-x * gamma_density(out, x * z) / gammainc_in_shape(out, x * z)")
special("gdtrix", "-out / x", "-gammainc_in_shape(y, x * out) / (x * gamma_density(y, x * out))",
                  "1 / (x * gamma_density(y, x * out))")
special("chdtr",  "0.5 * gammainc_in_shape(x / 2, y / 2)",  "0.5 * gamma_density(x / 2, y / 2)")
special("chdtrc", "-0.5 * gammainc_in_shape(x / 2, y / 2)", "-0.5 * gamma_density(x / 2, y / 2)")
special("chdtri", "-gammainc_in_shape(x / 2, out / 2) / gamma_density(x / 2, out / 2)",
                  "-2 / gamma_density(x / 2, out / 2)")
special("chdtriv", "2 / gammainc_in_shape(out / 2, y / 2)",
                   "-gamma_density(out / 2, y / 2) / gammainc_in_shape(out / 2, y / 2)")
special("pdtr",   None, "-gamma_density(floor(x) + 1, y)")
special("pdtrc",  None, "gamma_density(floor(x) + 1, y)")
special("pdtri",  K, "-1 / gamma_density(x + 1, out)")
special("pdtrik", "-1 / gammainc_in_shape(out + 1, y)",
                  "-gamma_density(out + 1, y) / gammainc_in_shape(out + 1, y)")

# --- normal: the mean and the deviation that give a probability; ndtri((x - mean) / deviation)
special("nrdtrimn", "-y * SQRT_2PI * exp(0.5 * ((z - out) / y) ** 2)", "-(z - out) / y", "1")
special("nrdtrisd", "-out / (z - x)",
                    "-out * out / (z - x) * SQRT_2PI * exp(0.5 * ((z - x) / out) ** 2)",
                    "out / (z - x)")
# fmt: on
