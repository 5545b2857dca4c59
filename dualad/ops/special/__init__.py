"""Derivatives of scipy.special: a file a family of functions, a line a function.

Loaded when the first ufunc of scipy.special meets a traced array. Where a formula is not
first-year calculus it names its section of the NIST Digital Library of Mathematical Functions
(DLMF, dlmf.nist.gov).
"""

from . import (
    airy,
    bessel,
    bessel_order,
    box_cox,
    carlson,
    distributions,
    elementary,
    elliptic,
    entropy,
    error_functions,
    exponential_integrals,
    gamma,
    hypergeometric,
    incomplete_beta,
    incomplete_gamma,
    kelvin,
    kolmogorov,
    lambert,
    legendre,
    noncentral,
    orthogonal,
    struve,
    waves,
    zeta,
)

__all__ = [
    "airy",
    "bessel",
    "bessel_order",
    "box_cox",
    "carlson",
    "distributions",
    "elementary",
    "elliptic",
    "entropy",
    "error_functions",
    "exponential_integrals",
    "gamma",
    "hypergeometric",
    "incomplete_beta",
    "incomplete_gamma",
    "kelvin",
    "kolmogorov",
    "lambert",
    "legendre",
    "noncentral",
    "orthogonal",
    "struve",
    "waves",
    "zeta",
]
