"""Loops over the functions become vector instructions, sines and cosines included."""

import math
import re

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from dualad.compiling.mathematics.registry import FUNCTIONS  # noqa: E402

#: Arithmetic on several doubles at once in LLVM's language, on any processor.
VECTOR = re.compile(
    r"\b(f(add|sub|mul|div|cmp)|and|or|bitcast|call|select)\b.*<\d+ x (double|i64)>"
)
LARGEST = 2.0**40


def loop(name):
    function = FUNCTIONS[name].compiled

    def one(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    def two(x, out):
        for i in range(x.size):
            out[i] = function(x[i], out[i])

    chosen = one if FUNCTIONS[name].arguments == 1 else two
    return numba.njit("(f8[::1], f8[::1])", fastmath={"contract"}, error_model="numpy")(chosen)


def program(run):
    """The LLVM functions of the loop itself: neither its wrappers nor the variants of `far`."""
    text = "".join(run.inspect_llvm().values())
    parts = re.findall(r"^define .*?^}", text, re.DOTALL | re.MULTILINE)
    return "".join(part for part in parts if "dualad_far" not in part.partition("{")[0])


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if f.vectorises])
def test_a_loop_computes_several_at_once(name):
    assert VECTOR.search(program(loop(name)))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_the_variants_of_several_lanes_are_called(name):
    assert re.search(rf"<\d+ x double> @dualad_far_{name}_\d", program(loop(name)))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_far_arguments_are_the_librarys_and_leave_their_neighbours_alone(name):
    run, exact = loop(name), getattr(math, name)
    near = np.linspace(-3, 3, 37)
    expected = np.empty(37)
    run(near, expected)
    beyond = np.nextafter(LARGEST, math.inf)
    for far in (beyond, -beyond, 1e22, 6381956970095103 * 2.0**797, math.inf, math.nan):
        right = math.nan if not math.isfinite(far) else exact(far)
        for place in range(37):
            x, out = near.copy(), np.empty(37)
            x[place] = far
            run(x, out)
            wanted = expected.copy()
            wanted[place] = right
            np.testing.assert_array_equal(out, wanted)


def test_sine_and_cosine_of_one_number_share_their_reduction():
    """As two functions of one value do anywhere: what both write down is computed once."""
    sin, cos = FUNCTIONS["sin"].compiled, FUNCTIONS["cos"].compiled

    @numba.njit("(f8[::1], f8[::1], f8[::1])", fastmath={"contract"})
    def both(x, out, other):
        for i in range(x.size):
            number = x[i]  # once: for all that the compiler knows, out may lie on x
            out[i] = sin(number)
            other[i] = cos(number)

    x = np.linspace(-9, 9, 1001)
    out, other = np.empty(1001), np.empty(1001)
    both(x, out, other)
    np.testing.assert_allclose(out**2 + other**2, 1, rtol=4e-16)
    count = lambda run: len(re.findall(r" = f(add|sub|mul)\b", program(run)))
    assert count(both) < 0.8 * (count(loop("sin")) + count(loop("cos")))
