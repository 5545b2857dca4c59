"""Where the rules of the library are proved: domains, shapes of arrays; and what cannot be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["REASONS", "SETTINGS", "Setting"]


@dataclass(frozen=True)
class Setting:
    """Where and how a rule is proved: assumptions, shapes of its arrays, its parameters."""

    assume: tuple[str, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    params: dict[str, Any] = field(default_factory=dict)

    def domain(self) -> str:
        """In words."""
        if not self.shapes:
            return ", ".join(self.assume) or "all real numbers"
        shown = ", ".join("×".join(map(str, s)) for s in self.shapes)
        return f"shape {shown}" + (f", {', '.join(self.assume)}" if self.assume else "")


def on(*assume: str) -> Setting:
    return Setting(assume)


def of(*shapes: Any, assume: tuple[str, ...] = (), **params: Any) -> Setting:
    return Setting(assume, tuple((s,) if isinstance(s, int) else s for s in shapes), params)


# fmt: off
#: The setting of a rule that is not claimed for all real numbers, or takes arrays.
SETTINGS: dict[str, Setting] = {
    "divide":           on("y != 0"),
    "power":            on("x > 0"),
    "float_power":      on("x > 0"),
    "polynomial_power": on("y integer", "y >= 1"),
    "complex_power":    on("x > 0"),
    "reciprocal":       on("x != 0"),
    "sqrt":             on("x > 0"),
    "cbrt":             on("x != 0"),
    "remainder":        on("y != 0"),
    "fmod":             on("y != 0"),
    "log":              on("x > 0"),
    "log2":             on("x > 0"),
    "log10":            on("x > 0"),
    "log1p":            on("x > -1"),
    "arcsin":           on("-1 < x < 1"),
    "arccos":           on("-1 < x < 1"),
    "arccosh":          on("x > 1"),
    "arctanh":          on("-1 < x < 1"),
    "complex_arcsin":   on("-1 < x < 1"),
    "complex_arccos":   on("-1 < x < 1"),
    "complex_arccosh":  on("x > 1"),
    "copysign":         on("x != 0", "y != 0"),
    "sinc":             on("x > 3/10"),
    "ldexp":            on("y integer"),
    # composite rules, each on small arrays
    "det":              of((2, 2)),
    "slogdet":          of((2, 2)),
    "inv":              of((2, 2)),
    "inverse_again":    of((2, 2)),
    "gram":             of((2, 3)),
    "triangular_inverse": of((2, 2)),
    "cholesky":         of((2, 2), upper=False),
    "logaddexp.reduce": of(3, axis=0),
    "max":              of(2, axes=(0,)),
    "min":              of(2, axes=(0,)),
    "maximum.accumulate": of(2, axis=0),
    "minimum.accumulate": of(2, axis=0),
    "var":              of(3, axes=(0,), divisor=2),
    "length":           of(3, assume=("x > 0",), axes=(0,)),
    "p_norm":           of(2, assume=("x > 0",), axes=(0,), p=3.0),
}
# fmt: on

#: Why a rule cannot be asked for a proof on symbols.
REASONS = {
    "zero_wins": "it asks which factors are exactly zero",
    "either_zero_wins": "it asks which factors are exactly zero",
    "bessel_i": "the series is chosen by the value of the argument",
    "i0": "the series is chosen by the value of the argument",
    "fraction": "SymPy has no counterpart of modf",
    "mantissa": "SymPy has no counterpart of frexp",
    "nextafter": "SymPy has no counterpart of nextafter",
    "prod": "the rule is chosen by the size of the product",
    "cumprod": "the rule is chosen by the size of the products",
    "std": "the rule asks whether the spread is zero",
    "resolvent": "which eigenvalues are equal is decided by values",
    "spectral_move": "which eigenvalues are equal is decided by values",
    "spectral_cotangent": "which eigenvalues are equal is decided by values",
    "cholesky_tangent": "it works in place of numbers",
    "cholesky_cotangent": "it works in place of numbers",
    "eigh": "eigenvalues have no closed form",
    "eig": "eigenvalues have no closed form",
    "svd": "singular values have no closed form",
    "qr": "the reflections branch on values",
    "poly": "its function is not known on symbols",
    "roots": "the roots of a polynomial have no closed form",
    "pinv": "the rank is decided by values",
    "lstsq": "the rank is decided by values",
    "interp": "the interval is searched for by values",
}

#: Where rules of scipy.special are proved, by SciPy's names. Where a truncated series takes over
#: near a point, the domain is what lies beyond.
# fmt: off
SPECIAL_SETTINGS: dict[str, Setting] = {
    "gamma":        on("x > 0"),
    "gammaln":      on("x > 0"),
    "loggamma":     on("x > 0"),
    "rgamma":       on("x > 1/2"),
    "psi":          on("x > 0"),
    "logit":        on("0 < x < 1"),
    "log1p":        on("x > -1"),
    "cbrt":         on("x != 0"),
    "entr":         on("x > 0"),
    "xlogy":        on("x > 0", "y > 0"),
    "xlog1py":      on("x > 0", "y > 0"),
    "rel_entr":     on("x > 0", "y > 0"),
    "kl_div":       on("x > 0", "y > 0"),
    "huber":        on("x > 0"),
    "pseudo_huber": on("x > 0", "y > 0"),
    "erfinv":       on("-1 < x < 1"),
    "erfcinv":      on("0 < x < 2"),
    "ndtri":        on("0 < x < 1"),
    "erfcx":        on("-2 < x < 2"),
    "dawsn":        on("0 < x < 13/2"),
    "exprel":       on("x > 1"),
    "expn":         on("x integer", "x >= 2", "y > 0"),
    "exp1":         on("x > 0"),
    "expi":         on("x > 0"),
    "sici":         on("x > 1"),
    "shichi":       on("x > 1"),
    "spence":       on("x > 2"),
    "y0":           on("x > 0"),
    "y1":           on("x > 0"),
    "k0":           on("x > 0"),
    "k1":           on("x > 0"),
    "jn":           on("x integer", "y > 0"),
    "jv":           on("y > 0"),
    "yv":           on("y > 0"),
    "iv":           on("y > 0"),
    "kv":           on("y > 0"),
    "yn":           on("x integer", "y > 0"),
    "kn":           on("x integer", "y > 0"),
    "jve":          on("y > 0"),
    "yve":          on("y > 0"),
    "ive":          on("0 < y < 20"),
    "kve":          on("0 < y < 20"),
    "i0e":          on("0 < x < 20"),
    "i1e":          on("0 < x < 20"),
    "k0e":          on("0 < x < 20"),
    "k1e":          on("0 < x < 20"),
    "_spherical_jn": on("x integer", "x >= 1", "y > 1"),
    "_spherical_yn": on("x integer", "x >= 1", "y > 1"),
    "beta":         on("x > 0", "y > 0"),
    "betaln":       on("x > 0", "y > 0"),
    "poch":         on("x > 0", "y > 0"),
    "binom":        on("x > 0", "y > 0"),
    "gammainc":     on("x > 0", "y > 0"),
    "gammaincc":    on("x > 0", "y > 0"),
    "betainc":      on("x > 0", "y > 0", "0 < z < 1"),
    "betaincc":     on("x > 0", "y > 0", "0 < z < 1"),
    "gdtr":         on("x > 0", "y > 0", "z > 0"),
    "gdtrc":        on("x > 0", "y > 0", "z > 0"),
    "chdtr":        on("x > 0", "y > 0"),
    "chdtrc":       on("x > 0", "y > 0"),
    "_zeta":        on("x > 1", "y > 0"),
    "boxcox":       on("x > 3", "y > 1"),
    "boxcox1p":     on("x > 3", "y > 1"),
    "inv_boxcox":   on("x > 1", "y > 1"),
    "inv_boxcox1p": on("x > 1", "y > 1"),
    "powm1":        on("x > 0"),
    "_lambertw":    on("x > 0"),
    "ellipk":       on("0 < x < 1"),
    "ellipkm1":     on("0 < x < 1"),
    "ellipe":       on("0 < x < 1"),
    "ellipkinc":    on("0 < x < 1", "0 < y < 1"),
    "ellipeinc":    on("0 < x < 1", "0 < y < 1"),
    "hyp0f1":       on("x > 0"),
    "hyp1f1":       on("y > 0"),
    "hyp2f1":       on("z > 0", "-1 < w < 1"),
    "eval_chebyt":  on("x integer", "x >= 1", "-1 < y < 1"),
    "eval_chebyu":  on("x integer", "x >= 1", "-1 < y < 1"),
    "eval_chebyc":  on("x integer", "x >= 1", "-2 < y < 2"),
    "eval_chebys":  on("x integer", "x >= 1", "-2 < y < 2"),
    "eval_sh_chebyt": on("x integer", "x >= 1", "0 < y < 1"),
    "eval_sh_chebyu": on("x integer", "x >= 1", "0 < y < 1"),
    "eval_legendre": on("x integer", "x >= 1", "-1 < y < 1"),
    "eval_sh_legendre": on("x integer", "x >= 1", "0 < y < 1"),
    "eval_gegenbauer": on("x integer", "x >= 1", "y > 1/2", "-1 < z < 1"),
    "eval_jacobi":  on("x integer", "x >= 1", "y > 0", "z > 0", "-1 < w < 1"),
    "eval_laguerre": on("x integer", "x >= 1"),
    "eval_genlaguerre": on("x integer", "x >= 1", "y > 0"),
    "eval_hermite": on("x integer", "x >= 1"),
    "eval_hermitenorm": on("x integer", "x >= 1"),
}
# fmt: on
SETTINGS |= {f"scipy.special.{n.lstrip('_')}": s for n, s in SPECIAL_SETTINGS.items()}
