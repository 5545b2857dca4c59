"""tanh and its slope from one exponential: within their bounds of what mpmath gives."""

import mpmath as mp
import numpy as np
from native_programs import native, program_of

import dualad
from dualad.compiling.native.slopes import with_slopes
from dualad.engine.primitives.primitive import PRIMITIVES


def points():
    rng = np.random.default_rng(5)
    near = rng.uniform(-1, 1, 300) * 10.0 ** rng.integers(-8, 1, 300)
    return np.concatenate(
        [near, rng.uniform(-30, 30, 300), [0.0, -0.0, 0.75, -0.75, 100.0, 300.0]]
    )


def ulps(got, want):
    exact = np.array([float(w) for w in want])
    off = [abs(mp.mpf(float(g)) - w) for g, w in zip(got, want, strict=True)]
    return max(float(d) / np.spacing(abs(e)) for d, e in zip(off, exact, strict=True) if e)


def both(x):
    return np.tanh(x), PRIMITIVES["tanh_slope"](x)


def test_bounds():
    x = points()
    run, values = native(both, x)
    tanh, slope = run(*values)
    with mp.workdps(40):
        assert ulps(tanh, [mp.tanh(mp.mpf(v)) for v in x]) <= 1.5
        assert ulps(slope, [1 / mp.cosh(mp.mpf(v)) ** 2 for v in x]) <= 4
    np.testing.assert_array_equal(np.signbit(tanh), np.signbit(x))


def test_special_values():
    x = np.resize([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 5e-324], 64)
    run, values = native(both, x)
    tanh, slope = run(*values)
    np.testing.assert_array_equal(tanh, np.tanh(x))
    np.testing.assert_array_equal(slope, [1, 1, 0, 0, np.nan, 0, 0, 1] * 8)


def test_gradients_have_one_operation_for_it():
    program, _ = program_of(dualad.grad(lambda x: np.sum(np.tanh(x) * x)), np.ones(50))
    names = [s.primitive.name for s in with_slopes(program).operations]
    assert "tanh_slope" in names
    assert "cosh" not in names
