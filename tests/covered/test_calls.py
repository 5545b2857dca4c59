"""One call of every function of NumPy and SciPy that has a derivative, in both modes.

`calls.json` holds 838 names, a class and a priority for each, who else covers it, and a call.
Here each call runs as a user would write it: NumPy and the ufuncs of SciPy as they stand, the rest
of SciPy by its drop-in. The forward derivative along a direction is compared with extrapolated
differences, reverse mode with forward mode by the adjoint identity.
"""

import itertools

import numpy as np
import pytest
from calls import CALLS, LEFT, ROWS, function_of

import dualad

#: Arguments in which there is no derivative, by name: they stay constants in the call.
#: All of them have priority 3.
CONSTANT_IN = {
    **{
        f"scipy.special.{kind}_{part}": ("x2",)
        for kind in ("obl", "pro")
        for part in ("ang1", "rad1", "rad2")
    },
    **{
        f"scipy.special.mathieu_{k}": ("x1",)
        for k in ("cem", "sem", "modcem1", "modcem2", "modsem1", "modsem2")
    },
}


#: SciPy computes it to few digits, so that its differences have fewer.
NOISY = {"scipy.special.pro_rad2": 1e-4}


def moving(row):
    fixed = CONSTANT_IN.get(row["name"], ())
    return {k: np.asarray(v, float) for k, v in row["arguments"].items() if k not in fixed}


def numeric(f, args, ts):
    """Central differences, extrapolated twice: for smooth f right to about 1e-9."""
    h = 1e-3 * np.ones(3) / 2.0 ** np.arange(3)
    rows = []
    for step in h:
        up = f(*(a + step * t for a, t in zip(args, ts, strict=True)))
        down = f(*(a - step * t for a, t in zip(args, ts, strict=True)))
        rows.append([(u - d) / (2 * step) for u, d in zip(up, down, strict=True)])
    first = [
        [(4 * b - a) / 3 for a, b in zip(*pair, strict=True)] for pair in itertools.pairwise(rows)
    ]
    return [(16 * b - a) / 15 for a, b in zip(*first, strict=True)]


@pytest.mark.filterwarnings("ignore:floating point number truncated:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated:DeprecationWarning")
@pytest.mark.parametrize("row", CALLS, ids=lambda row: row["name"])
def test_a_call_in_both_modes(row):
    if row["name"] in LEFT:
        pytest.skip(LEFT[row["name"]])
    fixed = {k: np.asarray(v, float) for k, v in row["arguments"].items()}
    free = moving(row)
    whole = function_of(row)
    f = lambda *xs: whole(*{**fixed, **dict(zip(free, xs, strict=True))}.values())
    args = list(free.values())
    rng = np.random.default_rng(7)
    ts = [rng.normal(size=a.shape) for a in args]
    out, forward = dualad.jvp(f, tuple(args), tuple(ts))
    for got, want in zip(out, f(*args), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)
    for got, want in zip(forward, numeric(f, args, ts), strict=True):
        np.testing.assert_allclose(
            got,
            want,
            rtol=NOISY.get(row["name"], 2e-6),
            atol=1e-6 * (1 + np.max(np.abs(want), initial=0)),
        )
    ws = [rng.normal(size=np.shape(o)) for o in out]
    _, pull = dualad.vjp(f, *args)
    shares = pull(ws)
    left = sum(np.vdot(w, d) for w, d in zip(ws, forward, strict=True))
    right = sum(np.vdot(s, t) for s, t in zip(shares, ts, strict=True))
    size = sum(np.linalg.norm(s) * np.linalg.norm(t) for s, t in zip(shares, ts, strict=True))
    np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9 * (1 + size))


def test_nothing_of_priority_one_or_two_is_left():
    first = [r["name"] for r in CALLS if r["priority"] < 3]
    assert len(first) == 434
    assert [name for name in first if name in LEFT or name in CONSTANT_IN] == []


def test_all_of_numpy_is_called():
    rows = [r for r in ROWS if r["differentiable"] and not r["name"].startswith("scipy.")]
    assert [r["name"] for r in rows if "call" not in r] == []
    assert [r["name"] for r in rows if r["name"] in LEFT] == ["ndarray.choose"]
