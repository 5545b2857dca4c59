"""Rules that load when they are needed, and errors that name a drop-in."""

import subprocess
import sys

import numpy as np
import pytest

import dualad
from dualad.errors import LostDerivativeError


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_dualad_does_not_import_scipy():
    loaded = run("import dualad, sys; print([m for m in sys.modules if m.startswith('scipy')])")
    assert loaded.strip() == "[]"


def test_importing_scipy_alone_loads_no_rule():
    program = (
        "import sys, dualad, scipy.special as sp, numpy as np\n"
        "dualad.grad(np.sin)(0.3)\n"
        "print('dualad.ops.special' in sys.modules)\n"
        "dualad.grad(sp.erf)(0.3)\n"
        "print('dualad.ops.special' in sys.modules)\n"
    )
    assert run(program).split() == ["False", "True"]


@pytest.mark.parametrize("mode", ["jvp(f, (0.3,), (1.0,))", "vjp(f, 0.3)", "vmap(f)(np.ones(2))"])
def test_the_first_call_may_be_in_any_mode(mode):
    program = f"import dualad, scipy.special as sp, numpy as np\nf = sp.gammaln\ndualad.{mode}"
    run(program)


def test_tensors_find_the_rules_too():
    program = (
        "import dualad, scipy.special as sp\n"
        "x = dualad.tensor(0.3, requires_grad=True)\n"
        "sp.erf(x).backward()\n"
        "print(round(float(x.grad), 4))\n"
    )
    assert run(program).strip() == "1.0313"


def test_ufuncs_that_nobody_knows_are_still_refused():
    from scipy.special._ufuncs import _cosine_cdf

    with pytest.raises(TypeError, match="_cosine_cdf has no derivative rule"):
        dualad.grad(_cosine_cdf)(0.3)


def test_a_conversion_in_the_users_own_function_has_the_usual_remedy():
    """The function that SciPy calls is the user's: no SciPy function is to blame."""
    import scipy.optimize

    def slope(x):
        def f(y):
            np.asarray(np.ones(2) * x)
            return y

        return scipy.optimize.brentq(f, -1.0, 2.0)

    with pytest.raises(LostDerivativeError, match=r"use np\.stack"):
        dualad.grad(slope)(0.3)


def test_integrators_and_solvers_name_the_analysis_that_differentiates():
    integrate, optimize = (
        pytest.importorskip("scipy.integrate"),
        pytest.importorskip("scipy.optimize"),
    )
    with pytest.raises(LostDerivativeError, match=r"scipy\.integrate.*dualad\.sensitivity\.ode"):
        dualad.grad(lambda k: integrate.trapezoid(integrate.solve_ivp(
            lambda t, y: -k * y, (0.0, 1.0), [1.0]).y[0]))(2.0)  # fmt: skip
    with pytest.raises(LostDerivativeError, match=r"scipy\.optimize.*dualad\.sensitivity\.root"):
        dualad.grad(lambda k: optimize.newton(lambda x: x * x - k, np.array([1.0, k])))(2.0)
