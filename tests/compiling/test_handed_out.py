"""A result that is an argument which was written into, or a view of it, is its memory."""

import warnings

import numpy as np
import pytest

import dualad
from dualad.errors import CompileWarning


def doubled(x):
    x *= 2
    return x


def into(x, out):
    np.sin(x, out=out)
    return out


def part(x):
    y = x[1:]
    y += 1.0
    return y


def view_of_a_view(x):
    y = x.reshape(2, 2).T[1]
    y[:] = 7.0
    return y, x


def written_through_a_view(x):
    x[::2][1:] = 0.0
    return x[::2], x[1]


def written_on_one_path(x):
    if x[0] > 0:
        x[0] = -1.0
    return x


def normalised(x):
    x -= np.mean(x)
    x /= np.sqrt(np.sum(x * x))
    return x[::-1], x * 1.0


def one_of_a_complex_number(x):
    z = x * 1j
    x[0] = 3.0
    return np.real(x), np.imag(z)


def arguments(f):
    x = np.array([1.0, -2.0, 3.0, 0.5])
    return (x, np.zeros(4)) if f is into else (x,)


CASES = [
    doubled, into, part, view_of_a_view, written_through_a_view, written_on_one_path, normalised,
    one_of_a_complex_number,
]  # fmt: skip


def results(out):
    return out if type(out) is tuple else (out,)


@pytest.mark.parametrize("backend", ["numpy", "auto"])
@pytest.mark.parametrize("f", CASES)
def test_what_is_handed_out(f, backend):
    g = dualad.compile(f, backend=backend)
    for k in range(4):
        given, taken = ([a * (1 + k) for a in arguments(f)] for _ in range(2))
        want, found = results(f(*given)), results(g(*taken))
        for v, w in zip(want, found, strict=True):
            np.testing.assert_allclose(w, v, rtol=1e-15)
            assert type(v) is type(w)
            if any(np.may_share_memory(v, a) for a in given):
                assert v.strides == w.strides
            for a, b in zip(given, taken, strict=True):
                assert (v is a) == (w is b)
                assert np.may_share_memory(v, a) == np.may_share_memory(w, b)
        for a, b in zip(given, taken, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-15)


@pytest.mark.parametrize("order", ["C", "F", "reversed"])
def test_whatever_the_layout(order):
    g = dualad.compile(doubled)
    for _ in range(3):
        x = np.arange(12.0).reshape(3, 4)
        x = {"C": x, "F": np.asfortranarray(x), "reversed": x[::-1, ::-1]}[order]
        want = 2 * x
        assert g(x) is x
        np.testing.assert_array_equal(x, want)


def test_in_the_source():
    g = dualad.compile(part, backend="numpy")
    g(np.ones(3))
    assert "return (x0[1:],)" in g.source()


def test_an_argument_that_is_read_only():
    g = dualad.compile(doubled)
    for _ in range(3):
        g(np.ones(3))
        x = np.ones(3)
        x.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            g(x)
        np.testing.assert_array_equal(x, 1.0)


def test_a_value_that_is_kept_is_the_argument_itself():
    held = []

    def f(x):
        x *= 2
        held.append(x)
        return x[0]

    x = np.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        dualad.compile(f, backend="numpy")(x)
    assert held[0] is x
