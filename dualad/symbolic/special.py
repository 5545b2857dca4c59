"""What the ufuncs of scipy.special are on SymPy expressions: one line each, by SciPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from sympy import Piecewise, exp, log, pi, sqrt

from .errors import NotSymbolicError

__all__ = ["SEVERAL", "SPECIAL"]


def zero_at_zero(x: Any, value: Any) -> Any:
    return value if x.is_nonzero else Piecewise((0, sympy.Eq(x, 0)), (value, True))


def log_normal(x: Any) -> Any:
    return log(sympy.erfc(-x / sqrt(2)) / 2)


def incomplete_gamma(a: Any, x: Any) -> Any:
    return sympy.lowergamma(a, x) / sympy.gamma(a)


def incomplete_beta(a: Any, b: Any, x: Any) -> Any:
    return sympy.betainc(a, b, 0, x) * sympy.gamma(a + b) / (sympy.gamma(a) * sympy.gamma(b))


def bessel_k(v: Any, x: Any) -> Any:
    """K, which is the same for the orders v and -v."""
    return sympy.besselk(-v if sympy.sympify(v).could_extract_minus_sign() else v, x)


def elliptic_rd(x: Any, y: Any, z: Any) -> Any:
    """Carlson's R_D where the complete integrals give it (DLMF 19.25.1)."""
    if x == 0 and y == 1:
        m = 1 - z
        return 3 * (sympy.elliptic_e(m) - z * sympy.elliptic_k(m)) / (z * m)
    if x == 0 and z == 1:
        m = 1 - y
        return 3 * (sympy.elliptic_k(m) - sympy.elliptic_e(m)) / m
    raise NotSymbolicError(f"SymPy has no counterpart of elliprd({x}, {y}, {z})")


# fmt: off
SPECIAL: dict[str, Callable[..., Any]] = {
    "erf":          sympy.erf,
    "erfc":         sympy.erfc,
    "erfcx":        lambda x: exp(x**2) * sympy.erfc(x),
    "erfi":         sympy.erfi,
    "erfinv":       sympy.erfinv,
    "ndtr":         lambda x: sympy.erfc(-x / sqrt(2)) / 2,
    "log_ndtr":     log_normal,
    "gamma":        sympy.gamma,
    "gammaln":      sympy.loggamma,
    "loggamma":     sympy.loggamma,
    "rgamma":       lambda x: 1 / sympy.gamma(x),
    "psi":          sympy.digamma,
    "beta":         lambda a, b: sympy.gamma(a) * sympy.gamma(b) / sympy.gamma(a + b),
    "betaln":       lambda a, b: sympy.loggamma(a) + sympy.loggamma(b) - sympy.loggamma(a + b),
    "poch":         lambda a, n: sympy.gamma(a + n) / sympy.gamma(a),
    "expit":        lambda x: 1 / (1 + exp(-x)),
    "logit":        lambda x: log(x / (1 - x)),
    "log_expit":    lambda x: -log(1 + exp(-x)),
    "xlogy":        lambda x, y: zero_at_zero(x, x * log(y)),
    "xlog1py":      lambda x, y: zero_at_zero(x, x * log(1 + y)),
    "entr":         lambda x: Piecewise((0, sympy.Eq(x, 0)), (-x * log(x), x > 0),
                                        (-sympy.oo, True)),
    "rel_entr":     lambda x, y: zero_at_zero(x, x * log(x / y)),
    "kl_div":       lambda x, y: zero_at_zero(x, x * log(x / y)) - x + y,
    "huber":        lambda d, r: Piecewise((r**2 / 2, sympy.Abs(r) <= d),
                                           (d * (sympy.Abs(r) - d / 2), True)),
    "pseudo_huber": lambda d, r: d**2 * (sqrt(1 + (r / d) ** 2) - 1),
    "boxcox":       lambda x, a: (x**a - 1) / a,
    "boxcox1p":     lambda x, a: ((1 + x) ** a - 1) / a,
    "inv_boxcox":   lambda y, a: (a * y + 1) ** (1 / a),
    "j0":           lambda x: sympy.besselj(0, x),
    "j1":           lambda x: sympy.besselj(1, x),
    "y0":           lambda x: sympy.bessely(0, x),
    "y1":           lambda x: sympy.bessely(1, x),
    "i0":           lambda x: sympy.besseli(0, x),
    "i1":           lambda x: sympy.besseli(1, x),
    "k0":           lambda x: sympy.besselk(0, x),
    "k1":           lambda x: sympy.besselk(1, x),
    "jv":           sympy.besselj,
    "yv":           sympy.bessely,
    "iv":           sympy.besseli,
    "kv":           bessel_k,
    "exp1":         lambda x: sympy.expint(1, x),
    "expi":         sympy.Ei,
    "expn":         sympy.expint,
    "ellipk":       sympy.elliptic_k,
    "ellipe":       sympy.elliptic_e,
    "ellipkm1":     lambda p: sympy.elliptic_k(1 - p),
    "gammainc":     lambda a, x: sympy.lowergamma(a, x) / sympy.gamma(a),
    "gammaincc":    lambda a, x: sympy.uppergamma(a, x) / sympy.gamma(a),
    "exprel":       lambda x: Piecewise((1, sympy.Eq(x, 0)), ((exp(x) - 1) / x, True)),
    "cosm1":        lambda x: sympy.cos(x) - 1,
    "exp10":        lambda x: 10**x,
    "sindg":        lambda x: sympy.sin(pi * x / 180),
    "cosdg":        lambda x: sympy.cos(pi * x / 180),
    "tandg":        lambda x: sympy.tan(pi * x / 180),
    "cotdg":        lambda x: sympy.cot(pi * x / 180),
    "radian":       lambda d, m, s: (d + m / 60 + s / 3600) * pi / 180,
    # error functions and the normal distribution
    "erfcinv":      sympy.erfcinv,
    "ndtri":        lambda p: sqrt(2) * sympy.erfinv(2 * p - 1),
    "dawsn":        lambda x: sqrt(pi) / 2 * exp(-x**2) * sympy.erfi(x),
    # gamma, beta and distributions made of them
    "binom":        lambda n, k: (sympy.gamma(n + 1)
                                  / (sympy.gamma(k + 1) * sympy.gamma(n - k + 1))),
    "betainc":      incomplete_beta,
    "betaincc":     lambda a, b, x: 1 - incomplete_beta(a, b, x),
    "gdtr":         lambda a, b, x: incomplete_gamma(b, a * x),
    "gdtrc":        lambda a, b, x: 1 - incomplete_gamma(b, a * x),
    "chdtr":        lambda v, x: incomplete_gamma(v / 2, x / 2),
    "chdtrc":       lambda v, x: 1 - incomplete_gamma(v / 2, x / 2),
    "_zeta":        sympy.zeta,
    "_riemann_zeta": sympy.zeta,
    "spence":       lambda x: sympy.polylog(2, 1 - x),
    "powm1":        lambda x, y: x**y - 1,
    "inv_boxcox1p": lambda y, a: (a * y + 1) ** (1 / a) - 1,
    "_lambertw":    lambda x, k, tolerance: sympy.LambertW(x),
    "wrightomega":  lambda x: sympy.LambertW(exp(x)),
    # what the library's own formulas are made of
    "psi_difference": lambda x, y: sympy.digamma(x + y) - sympy.digamma(x),
    "bell":         lambda x: exp(-(x**2)),
    "density":      lambda x: exp(-(x**2) / 2) / sqrt(2 * pi),
    "gamma_density": lambda a, x: x ** (a - 1) * exp(-x) / sympy.gamma(a),
    "beta_density": lambda a, b, x, y: (x ** (a - 1) * y ** (b - 1) * sympy.gamma(a + b)
                                        / (sympy.gamma(a) * sympy.gamma(b))),
    # Bessel functions, scaled ones too
    "jn":           sympy.besselj,
    "yn":           sympy.bessely,
    "kn":           bessel_k,
    "jve":          sympy.besselj,
    "yve":          sympy.bessely,
    "ive":          lambda v, x: exp(-sympy.Abs(x)) * sympy.besseli(v, x),
    "kve":          lambda v, x: exp(x) * bessel_k(v, x),
    "i0e":          lambda x: exp(-sympy.Abs(x)) * sympy.besseli(0, x),
    "i1e":          lambda x: exp(-sympy.Abs(x)) * sympy.besseli(1, x),
    "k0e":          lambda x: exp(x) * sympy.besselk(0, x),
    "k1e":          lambda x: exp(x) * sympy.besselk(1, x),
    "_spherical_jn": sympy.jn,
    "_spherical_yn": sympy.yn,
    # elliptic integrals
    "elliprd":      elliptic_rd,
    "ellipkinc":    sympy.elliptic_f,
    "ellipeinc":    sympy.elliptic_e,
    # hypergeometric functions
    "hyp0f1":       lambda b, z: sympy.hyper((), (b,), z),
    "hyp1f1":       lambda a, b, z: sympy.hyper((a,), (b,), z),
    "hyp2f1":       lambda a, b, c, z: sympy.hyper((a, b), (c,), z),
    # orthogonal polynomials
    "eval_chebyt":  sympy.chebyshevt,
    "eval_chebyu":  sympy.chebyshevu,
    "eval_chebyc":  lambda n, x: 2 * sympy.chebyshevt(n, x / 2),
    "eval_chebys":  lambda n, x: sympy.chebyshevu(n, x / 2),
    "eval_sh_chebyt": lambda n, x: sympy.chebyshevt(n, 2 * x - 1),
    "eval_sh_chebyu": lambda n, x: sympy.chebyshevu(n, 2 * x - 1),
    "eval_legendre": sympy.legendre,
    "eval_sh_legendre": lambda n, x: sympy.legendre(n, 2 * x - 1),
    "eval_gegenbauer": sympy.gegenbauer,
    "eval_jacobi":  sympy.jacobi,
    "eval_laguerre": sympy.laguerre,
    "eval_genlaguerre": sympy.assoc_laguerre,
    "eval_hermite": sympy.hermite,
    "eval_hermitenorm": sympy.hermite_prob,
}

#: Those with several results.
SEVERAL: dict[str, tuple[Callable[..., Any], ...]] = {
    "airy":    (sympy.airyai, sympy.airyaiprime, sympy.airybi, sympy.airybiprime),
    "sici":    (sympy.Si, sympy.Ci),
    "shichi":  (sympy.Shi, sympy.Chi),
    "fresnel": (sympy.fresnels, sympy.fresnelc),
}
# fmt: on
