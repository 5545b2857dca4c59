"""Compiled and eager agree in one call of every function of NumPy and SciPy, value, jvp and vjp.

Each call is traced at one point and run at others, where the program has to hold.
"""

import warnings

import numpy as np
import pytest
from calls import CALLS, LEFT, function_of

import dualad
from dualad.errors import CompileWarning

#: Functions that leave the program to Python, by a look at their entries or by a random draw.
EAGER = {
    "ndarray.item", "ndarray.tolist", "scipy.linalg.logm", "scipy.linalg.fractional_matrix_power",
}  # fmt: skip


def same(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
        return
    assert np.shape(got) == np.shape(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore:floating point number truncated:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated:DeprecationWarning")
@pytest.mark.parametrize("backend", ["numpy", pytest.param("auto", marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", CALLS, ids=lambda row: row["name"])
def test_a_call_as_a_program(row, backend):
    if row["name"] in LEFT:
        pytest.skip("no rule")
    f = function_of(row)
    args = [np.asarray(v, float) for v in row["arguments"].values()]
    rng = np.random.default_rng(7)
    n, ts = len(args), [rng.normal(size=a.shape) for a in args]
    ws = [rng.normal(size=np.shape(o)) for o in f(*args)]
    jobs = [
        (f, []),
        (lambda *a: dualad.jvp(f, a[:n], a[n:]), ts),
        (lambda *a: dualad.vjp(f, *a[:n])[1](list(a[n:])), ws),
    ]
    for job, more in jobs:
        try:
            expected = [job(*(a * (1 + 1e-3 * k) for a in args), *more) for k in range(3)]
        except dualad.DualADError:
            continue  # no derivative in one of the arguments
        compiled = dualad.compile(job, backend=backend)
        with warnings.catch_warnings():
            if row["name"] in EAGER:
                warnings.simplefilter("ignore", CompileWarning)
            for k, want in enumerate(expected):
                same(compiled(*(a * (1 + 1e-3 * k) for a in args), *more), want)
