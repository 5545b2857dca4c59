"""Without SymPy the package imports, and what needs it says how to get it."""

import subprocess
import sys

import pytest

import dualad
from dualad import symbolic, verify


def test_nothing_imports_sympy_before_it_is_used():
    code = "import sys, dualad.symbolic, dualad.verify; assert 'sympy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda: symbolic.to_sympy(lambda x: x),
        lambda: symbolic.from_sympy("x", "x"),
        lambda: symbolic.derivative_formula(lambda x: x),
        lambda: verify.prove(lambda x: x, lambda x: 1),
        lambda: verify.prove_all(),
    ],
)
def test_the_error_names_the_extra(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(dualad.errors.MissingExtraError, match=r"pip install 'dualad\[symbolic\]'"):
        call()
