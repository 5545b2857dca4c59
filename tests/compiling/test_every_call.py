"""Compiled and eager agree in one call of every function of NumPy and SciPy, value, jvp and vjp.

Each call is traced at one point and run at others, where the program has to hold.
"""

import json
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import dualad
import dualad.numpy
import dualad.scipy.linalg
import dualad.scipy.special
from dualad.errors import CompileWarning

ROWS = json.loads(
    (Path(__file__).parents[1] / "covered" / "calls.json").read_text(encoding="utf-8")
)
CALLS = [r for r in ROWS if r["differentiable"] and "call" in r]
#: Names that have no rule, and calls that make plain arrays of traced numbers.
LEFT = {"ndarray.choose", "scipy.special.ellip_harm"}
NEEDS_DROPIN = {
    "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "full", "full_like",
    "ndarray.tolist", "require",
}  # fmt: skip
#: Functions that leave the program to Python, by a look at their entries or by a random draw.
EAGER = {
    "ndarray.item", "ndarray.tolist", "scipy.linalg.logm", "scipy.linalg.fractional_matrix_power",
}  # fmt: skip


class Special:
    """scipy.special: its ufuncs as they stand, the rest from the drop-in."""

    def __getattr__(self, name):
        f = getattr(scipy.special, name)
        return f if isinstance(f, np.ufunc) else getattr(dualad.scipy.special, name)


def changed(x, write):
    z = x.copy()
    write(z)
    return z


def function_of(row):
    namespace = dualad.numpy if row["name"] in NEEDS_DROPIN else np
    sp = types.SimpleNamespace(linalg=dualad.scipy.linalg, special=Special())
    scope = {"np": namespace, "sp": sp, "changed": changed}
    f = eval(f"lambda {', '.join(row['arguments'])}: {row['call']}", scope)
    return lambda *args: [part for x in leaves(f(*args)) for part in real_parts(x)]


def leaves(out):
    return [leaf for x in out for leaf in leaves(x)] if isinstance(out, (tuple, list)) else [out]


def real_parts(x):
    kind = np.dtype(getattr(x, "dtype", float)).kind
    if kind == "c":
        return [np.real(x), np.imag(x)]
    return [x] if kind == "f" else []


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
