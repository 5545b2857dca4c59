"""Distribution functions and inverses: binomial, beta, gamma, chi square, Poisson, normal.

All but the last are incomplete gamma or beta functions. An inverse has the slopes of its function
at the result, by the implicit function theorem. Where SciPy rounds a count down the function is
piecewise constant in it; where it asks for an integer a derivative is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .incomplete_beta import betainc_in_shapes
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


# fmt: off
# --- binomial and negative binomial: bdtr is I_q(n - k, k + 1), nbdtr is I_p(n, k + 1)
special("bdtr",   None, N, "-beta_density(floor(x) + 1, trunc(y) - floor(x), z, 1 - z)")
special("bdtrc",  None, N, "beta_density(floor(x) + 1, trunc(y) - floor(x), z, 1 - z)")
special("bdtri",  None, N, "-1 / beta_density(floor(x) + 1, trunc(y) - floor(x), out, 1 - out)")
special("bdtrik", "1 / binomial_in_k(out, y, z)",
                  "-betainc_in_a(y - out, out + 1, 1 - z, z) / binomial_in_k(out, y, z)",
                  "beta_density(out + 1, y - out, z, 1 - z) / binomial_in_k(out, y, z)")
special("bdtrin", "-binomial_in_k(x, out, z) / betainc_in_a(out - x, x + 1, 1 - z, z)",
                  "1 / betainc_in_a(out - x, x + 1, 1 - z, z)",
                  "beta_density(x + 1, out - x, z, 1 - z) / betainc_in_a(out - x, x + 1, 1 - z, "
                  "z)")
special("nbdtr",  K, N, "beta_density(trunc(y), trunc(x) + 1, z, 1 - z)")
special("nbdtrc", K, N, "-beta_density(trunc(y), trunc(x) + 1, z, 1 - z)")
special("nbdtri", K, N, "1 / beta_density(trunc(y), trunc(x) + 1, out, 1 - out)")
special("nbdtrik", "1 / betainc_in_b(y, out + 1, z, 1 - z)",
                   "-betainc_in_a(y, out + 1, z, 1 - z) / betainc_in_b(y, out + 1, z, 1 - z)",
                   "-beta_density(y, out + 1, z, 1 - z) / betainc_in_b(y, out + 1, z, 1 - z)")
special("nbdtrin", "-betainc_in_b(out, x + 1, z, 1 - z) / betainc_in_a(out, x + 1, z, 1 - z)",
                   "1 / betainc_in_a(out, x + 1, z, 1 - z)",
                   "-beta_density(out, x + 1, z, 1 - z) / betainc_in_a(out, x + 1, z, 1 - z)")

# --- beta
special("btdtria", "1 / betainc_in_a(out, y, z, 1 - z)",
                   "-betainc_in_b(out, y, z, 1 - z) / betainc_in_a(out, y, z, 1 - z)",
                   "-beta_density(out, y, z, 1 - z) / betainc_in_a(out, y, z, 1 - z)")
special("btdtrib", "-betainc_in_a(x, out, z, 1 - z) / betainc_in_b(x, out, z, 1 - z)",
                   "1 / betainc_in_b(x, out, z, 1 - z)",
                   "-beta_density(x, out, z, 1 - z) / betainc_in_b(x, out, z, 1 - z)")
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
special("pdtri",  K, "-1 / gamma_density(trunc(x) + 1, out)")
special("pdtrik", "-1 / gammainc_in_shape(out + 1, y)",
                  "-gamma_density(out + 1, y) / gammainc_in_shape(out + 1, y)")

# --- normal: the mean and the deviation that give a probability; ndtri((x - mean) / deviation)
special("nrdtrimn", "-y * SQRT_2PI * exp(0.5 * ((z - out) / y) ** 2)", "-(z - out) / y", "1")
special("nrdtrisd", "-out / (z - x)",
                    "-out * out / (z - x) * SQRT_2PI * exp(0.5 * ((z - x) / out) ** 2)",
                    "out / (z - x)")
# fmt: on
