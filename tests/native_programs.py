"""Programs of functions as the tests need them."""

import numpy as np

from dualad.compiling.native import native_function
from dualad.compiling.numpy_source import Failed, NumpySource
from dualad.compiling.paths import Path
from dualad.compiling.program import trace
from dualad.compiling.signature import signature


def program_of(f, *args):
    """The simplified program of a function, and the values that it takes."""
    call = signature(args, {})
    traced, _, _ = trace(f, call.values, call.rebuild)
    return Path(traced, "numpy").simplified(), call.values


def native(f, *args):
    """The native function of a program, and the values."""
    program, values = program_of(f, *args)
    return native_function(program), values


def is_whole(run):
    """Whether a function is one kernel, with no Python in it."""
    return type(run) is type(len)


def leaves_of(f, *args):
    """The leaves that NumPy gives for the program of f."""
    program, values = program_of(f, *args)
    out = NumpySource(program).function_of()(*values)
    assert type(out) is not Failed
    return out


def check(f, *args, rtol=1e-14, atol=0.0, whole=True):
    """Native code gives what NumPy gives: values, dtypes, shapes, kinds of results."""
    run, values = native(f, *args)
    assert run is not None
    if whole:
        assert is_whole(run)
    with np.errstate(all="ignore"):  # else NumPy would run it where a flag is raised
        got = run(*values)
    want = leaves_of(f, *args)
    assert type(got) is tuple
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert type(g) is type(w)
        assert np.shape(g) == np.shape(w)
        assert g.dtype == w.dtype
        scale = atol * np.max(np.abs(w), initial=0.0) if atol else 0.0
        np.testing.assert_allclose(g, w, rtol=rtol, atol=scale)
    return got
