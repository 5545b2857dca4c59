"""What scipy.special's functions are on symbols, against SciPy's numbers."""

import numpy as np
import pytest
import sympy
from scipy import special
from scipy.special import _ufuncs as private

from dualad.symbolic import to_sympy
from dualad.symbolic.digits import MPMATH
from dualad.symbolic.special import SEVERAL, SPECIAL

#: Arguments at which a function is looked at; 0.3, 0.7, 1.4, 2.2 otherwise.
POINTS = {
    "expn": (2, 0.7), "jn": (2, 0.7), "yn": (2, 0.7), "kn": (2, 0.7), "_zeta": (2.5, 0.7),
    "_riemann_zeta": (2.5,), "_spherical_jn": (2, 0.7), "_spherical_yn": (2, 0.7),
    "hyp2f1": (0.3, 0.7, 1.4, 0.2), "eval_gegenbauer": (3, 0.7, 0.4), "boxcox": (1.3, 0.7),
    "eval_jacobi": (3, 0.7, 1.4, 0.2), "eval_genlaguerre": (3, 0.7, 0.4), "binom": (2.2, 0.7),
    "_lambertw": (0.7, 0, 1e-8), "betainc": (0.7, 1.4, 0.3), "betaincc": (0.7, 1.4, 0.3),
}  # fmt: skip
#: The library's own, which SciPy does not have, and what SymPy knows for two arguments only.
OURS = ("psi_difference", "gamma_density", "beta_density", "bell", "density", "elliprd")
UFUNCS = sorted(n for n in SPECIAL if n not in OURS)


def ufunc(name):
    found = getattr(special, name, None)
    return found if isinstance(found, np.ufunc) else getattr(private, name)


def number(e):
    f = sympy.lambdify([], e, modules=[MPMATH, "mpmath"])
    return complex(f()).real


@pytest.mark.parametrize("name", UFUNCS)
def test_a_function_on_numbers(name):
    f = ufunc(name)
    at = POINTS.get(name, (3, 0.4) if name.startswith("eval_") else (0.3, 0.7, 1.4, 2.2)[: f.nin])
    exact = to_sympy(f, *map(sympy.nsimplify, at))
    assert number(exact) == pytest.approx(complex(f(*at)).real, rel=1e-12)


@pytest.mark.parametrize("name", SEVERAL)
def test_a_function_with_several_results(name):
    exact = to_sympy(ufunc(name), sympy.Rational(7, 10))
    assert [number(e) for e in exact] == pytest.approx(ufunc(name)(0.7), rel=1e-12)


@pytest.mark.parametrize("at", [(0, 1, 0.3), (0, 0.3, 1)])
def test_the_complete_integrals_that_carlson_gives(at):
    exact = to_sympy(special.elliprd, *map(sympy.nsimplify, at))
    assert number(exact) == pytest.approx(special.elliprd(*at), rel=1e-12)


def test_the_library_s_own():
    from dualad.ops.special.table import NAMESPACE

    for name, at in (
        ("psi_difference", (0.7, 1.3)), ("gamma_density", (0.7, 1.3)), ("bell", (0.7,)),
        ("beta_density", (0.7, 1.3, 0.4, 0.6)), ("density", (0.7,)),
    ):  # fmt: skip
        exact = SPECIAL[name](*map(sympy.nsimplify, at))
        assert number(exact) == pytest.approx(float(NAMESPACE[name](*at)), rel=1e-12)
    assert np.isfinite(float(SPECIAL["bell"](sympy.Integer(1))))
