"""One call of every function of NumPy and SciPy that has a derivative, as functions to test.

`covered/calls.json` holds 838 names, a class and a priority for each, who else covers it, and a
call. Each runs as a user would write it: NumPy and the ufuncs of SciPy as they stand, the rest of
SciPy by its drop-in.
"""

import json
import types
from pathlib import Path

import numpy as np
import scipy.special

import dualad
import dualad.numpy
import dualad.scipy.linalg
import dualad.scipy.special

ROWS = json.loads((Path(__file__).parent / "covered" / "calls.json").read_text(encoding="utf-8"))
CALLS = [r for r in ROWS if r["differentiable"] and "call" in r]

#: Not covered, with the reason; none of them has priority 1 or 2.
LEFT = {
    "ndarray.choose": "a method of a plain array of integers, which asks no argument",
    "scipy.special.ellip_harm": "no formula for the derivative of Lamé functions is at hand",
}
#: Calls that make a plain array of traced numbers: they need `import dualad.numpy as np`.
NEEDS_DROPIN = {
    "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "full", "full_like",
    "ndarray.choose", "ndarray.tolist", "require", "scipy.special.ellip_harm",
}  # fmt: skip


def changed(x, write):
    """A copy of x after something was written into it."""
    z = x.copy()
    write(z)
    return z


class Special:
    """scipy.special: its ufuncs as they stand, the rest from the drop-in."""

    def __getattr__(self, name):
        f = getattr(scipy.special, name)
        return f if isinstance(f, np.ufunc) else getattr(dualad.scipy.special, name)


def function_of(row):
    """The call as a function of its arguments, complex results as two real ones."""
    namespace = dualad.numpy if row["name"] in NEEDS_DROPIN else np
    sp = types.SimpleNamespace(linalg=dualad.scipy.linalg, special=Special())
    names = list(row["arguments"])
    f = eval(
        f"lambda {', '.join(names)}: {row['call']}",
        {"np": namespace, "sp": sp, "changed": changed},
    )

    def call(*args):
        return [part for x in leaves(f(*args)) for part in real_parts(x)]

    return call


def leaves(out):
    if isinstance(out, (tuple, list)):
        return [leaf for x in out for leaf in leaves(x)]
    return [out]


def real_parts(x):
    kind = np.dtype(getattr(x, "dtype", float)).kind
    if kind == "c":
        return [np.real(x), np.imag(x)]
    return [x] if kind == "f" else []
