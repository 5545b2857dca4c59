"""jvp: values and tangents in one pass, its containers, its errors."""

from collections import namedtuple

import numpy as np
import pytest

import dualad
from dualad.errors import ArgumentError, NotDifferentiableError, ShapeError, StructureError

Pair = namedtuple("Pair", "a b")


def test_a_product_rule_in_two_arguments():
    y, dy = dualad.jvp(lambda x, y: x * np.sin(y), (2.0, 0.5), (0.1, 10.0))
    np.testing.assert_allclose(y, 2 * np.sin(0.5))
    np.testing.assert_allclose(dy, 0.1 * np.sin(0.5) + 2 * np.cos(0.5) * 10)


def test_containers_come_back_as_what_they_were():
    point, move = Pair(np.array([1.0, 2.0]), {"k": 3.0}), Pair(np.ones(2), {"k": -1.0})
    y, dy = dualad.jvp(lambda p: [p.a * p.b["k"], None], (point,), (move,))
    np.testing.assert_allclose(y[0], [3.0, 6.0])
    np.testing.assert_allclose(dy[0], np.ones(2) * 3 - np.array([1.0, 2.0]))
    assert y[1] is None and dy[1] is None


def test_an_output_that_depends_on_nothing_has_a_zero_tangent():
    y, dy = dualad.jvp(lambda x: np.array([1, 2]), (1.0,), (1.0,))
    assert y.dtype.kind == "i"
    np.testing.assert_array_equal(dy, [0.0, 0.0])


def test_strict_refuses_such_an_output():
    with pytest.raises(ArgumentError, match="does not depend"):
        dualad.jvp(lambda x: 1.0, (1.0,), (1.0,), strict=True)


def test_auxiliary_results_come_back_without_a_derivative():
    y, dy, aux = dualad.jvp(lambda x: (x * x, {"x": x}), (3.0,), (1.0,), has_aux=True)
    assert (y, dy, aux["x"]) == (9.0, 6.0, 3.0)
    assert isinstance(aux["x"], float)


def test_the_result_does_not_share_memory_with_the_tangent_given():
    t = np.ones(2)
    _, dy = dualad.jvp(lambda x: x, (np.zeros(2),), (t,))
    dy[0] = 7.0
    np.testing.assert_array_equal(t, [1.0, 1.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_dtypes_are_kept(dtype):
    x = np.array([1.0, 2.0], dtype)
    y, dy = dualad.jvp(lambda x: np.exp(x) * 2.0 + 1.0, (x,), (np.ones(2, dtype),))
    assert y.dtype == dy.dtype == dtype


@pytest.mark.parametrize(
    "primals, tangents, error, words",
    [
        ((1.0, 2.0), (1.0,), ArgumentError, "2 primals and 1 tangents"),
        (1.0, 1.0, ArgumentError, "primals must be a tuple"),
        (({"a": 1.0},), ({"b": 1.0},), StructureError, "keys"),
        (([1.0, 2.0],), ([1.0],), StructureError, "1 entries"),
        ((np.ones(3),), (np.ones(2),), ShapeError, r"shape \(2,\), it should be \(3,\)"),
        ((np.ones(3),), (1.0,), ShapeError, "shape"),
        ((np.ones(2),), (np.array([1, 0]),), ShapeError, "dtype int64"),
        ((1.0,), (1j,), ShapeError, "complex"),
        ((3,), (1.0,), NotDifferentiableError, "primal 0 has dtype int64"),
        (("a",), (1.0,), NotDifferentiableError, "builtins.str"),
    ],
)
def test_what_does_not_fit_is_named(primals, tangents, error, words):
    with pytest.raises(error, match=words):
        dualad.jvp(lambda *x: x[0], primals, tangents)


def test_a_value_may_be_changed_in_place_inside_but_not_outside():
    x = np.array([1.0, 2.0])

    def f(x):
        x[0] = 5.0
        return x * x

    y, dy = dualad.jvp(f, (x,), (np.ones(2),))
    np.testing.assert_array_equal(y, [25.0, 4.0])
    np.testing.assert_array_equal(dy, [0.0, 4.0])
    np.testing.assert_array_equal(x, [1.0, 2.0])
