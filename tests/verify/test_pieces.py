"""Pieces, deadlines and tactics: the parts of the prover."""

import sys
import threading
import time

import pytest
import sympy

from dualad.verify.deadline import Deadline, OutOfTime
from dualad.verify.pieces import boundaries, impossible, pieces
from dualad.verify.region import Region
from dualad.verify.tactics import why_zero

x, y = sympy.symbols("x y", real=True)
p = sympy.Symbol("p", positive=True)


def test_boundaries_are_told_once_however_they_are_written():
    e = sympy.Piecewise((1, x > y), (2, y - x > 0), (3, True)) + sympy.Piecewise(
        (0, x <= y), (1, True)
    )
    assert boundaries(e) == [x - y]


def test_the_pieces_of_two_boundaries():
    e = sympy.Piecewise((1, (x > 0) & (y > 0)), (2, x > 0), (3, True))
    assert sorted(piece.of(e) for piece in pieces(e)) == [1, 2, 3]


def test_a_sign_that_is_known_makes_no_boundary():
    assert boundaries(sympy.Piecewise((1, p > 0), (x, True))) == []


IMPOSSIBLE = [
    ([x, -x], True),
    ([x - 1, 2 - x], False),
    ([x - y, y - 2, 1 - x], True),
    ([-p], True),
    ([sympy.exp(x) - 1, 1 - sympy.exp(x)], True),
    ([x**2], False),
    ([-sympy.exp(x)], True),
]


@pytest.mark.parametrize("positive, answer", IMPOSSIBLE)
def test_what_cannot_be_positive_together(positive, answer):
    assert impossible(positive) is answer


ZERO = [
    sympy.sin(2 * x) - 2 * sympy.sin(x) * sympy.cos(x),
    sympy.tanh(x) - (1 - 2 / (sympy.exp(2 * x) + 1)),
    sympy.log(p**2) - 2 * sympy.log(p),
    1 / sympy.sqrt(p**2 + p) - 1 / (sympy.sqrt(p) * sympy.sqrt(1 + p)),
    sympy.gamma(x + 1) - x * sympy.gamma(x),
]


@pytest.mark.parametrize("e", ZERO)
def test_identities_that_the_tactics_see(e):
    assert why_zero(e)


@pytest.mark.parametrize("e", [x, x - sympy.sin(x), sympy.exp(x) - 1 - x, p - sympy.Abs(x)])
def test_what_is_not_zero_is_never_shown_to_be(e):
    assert why_zero(e) is None


def test_a_deadline_ends_a_long_simplification_in_any_thread():
    def job():
        start = time.monotonic()
        try:
            with Deadline(0.3):
                while True:
                    sympy.expand((x + y + len(ended)) ** 12)
        except OutOfTime:
            ended.append(time.monotonic() - start)

    ended = []
    threads = [threading.Thread(target=job) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
    assert len(ended) == 2 and all(0.3 <= s < 10 for s in ended)


def test_a_deadline_leaves_the_tracing_as_it_was():
    before = sys.gettrace()
    with Deadline(5):
        with Deadline(1) as inner:
            assert sys.gettrace() == inner.watch
    assert sys.gettrace() is before


def test_an_inner_deadline_does_not_extend_the_outer_one():
    with Deadline(1) as outer, Deadline(100) as inner:
        assert inner.end == outer.end


def test_points_lie_in_the_region():
    region = Region({"a": (), "b": (2,), "n": ()}, ["a > 1", "0 < b < 1", "n integer", "n >= 2"])
    symbols = region.symbols
    points = [q for q, _ in zip(region.points(symbols, 0), range(50))]
    assert len(points) == 50
    a, b0, b1, n = symbols
    for q in points:
        assert q[a] > 1 and 0 < q[b0] < 1 and 0 < q[b1] < 1 and q[n] >= 2 and q[n].is_integer
    assert points == [q for q, _ in zip(region.points(symbols, 0), range(50))]


def test_what_a_comparison_says_of_signs():
    region = Region({"a": (), "b": (), "c": (), "d": ()}, ["a > 0", "b < -1", "c != 0", "d > -1"])
    a, b, c, d = region.symbols
    assert a.is_positive and b.is_negative and c.is_nonzero and d.is_positive is None
    assert region.bounds(d) == (-1, sympy.oo)
