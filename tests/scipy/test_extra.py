"""SciPy is optional: without it dualad works, and dualad.scipy says what to install."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules["scipy"] = None  # as if it were not installed
import dualad
try:
    import dualad.scipy.{module}
except ImportError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("module", ["linalg", "stats", "signal"])
def test_a_missing_scipy_is_named_with_the_extra_that_brings_it(module):
    out = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert out.startswith("MissingExtraError")
    assert "pip install dualad[sens]" in out


def test_namespaces_are_there_when_they_are_named_as_scipys_are():
    code = (
        "import numpy as np, dualad\n"
        "print(dualad.grad(lambda m: dualad.scipy.stats.norm.logpdf(2.0, m))(0.5))\n"
        "print(sorted(set(dualad.scipy.__all__) - set(dir(dualad.scipy))))\n"
        "print(hasattr(dualad.scipy, 'spam'))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["1.5", "[]", "False"]
