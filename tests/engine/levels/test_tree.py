"""Nested containers: taken apart, put together, compared."""

import collections
import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dualad
from dualad.engine.levels.tree import flatten, flatten_like, tree_map
from dualad.errors import StructureError

Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass
class Rates:
    birth: object
    death: object = 0.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: object
    b: object


class Bag(list):
    pass


def containers(leaves):
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(tuple),
            st.dictionaries(st.text("abc", max_size=2), inner, max_size=3),
            st.dictionaries(st.integers(0, 3), inner, max_size=3).map(collections.OrderedDict),
            st.builds(Point, inner, inner),
            st.builds(Rates, inner, inner),
            st.builds(Frozen, inner, inner),
            st.none(),
        ),
        max_leaves=8,
    )


@given(containers(st.floats(-1, 1)))
def test_flatten_and_unflatten_are_inverse(x):
    leaves, tree = flatten(x)
    again = tree.unflatten(leaves)
    assert again == x and type(again) is type(x)
    assert tree.size == len(leaves)
    assert tree == flatten(again)[1]


@given(containers(st.floats(-1, 1)))
def test_a_container_matches_itself(x):
    leaves, tree = flatten(x)
    assert flatten_like(tree, x, "the tangent", "the primal") == leaves


@given(containers(st.floats(-1, 1)))
def test_tree_map_changes_leaves_and_nothing_else(x):
    twice = tree_map(lambda v: 2 * v, x)
    assert flatten(twice)[0] == [2 * v for v in flatten(x)[0]]
    assert flatten(twice)[1] == flatten(x)[1]


def test_kinds_of_containers_are_kept():
    x = {
        "a": Point(1.0, [2.0]),
        "b": (Rates(3.0), None),
        "c": collections.OrderedDict(z=4.0, y=5.0),
    }
    again = tree_map(lambda v: v + 1, x)
    assert again == {
        "a": Point(2.0, [3.0]),
        "b": (Rates(4.0, 1.0), None),
        "c": collections.OrderedDict(z=5.0, y=6.0),
    }
    assert type(again["c"]) is collections.OrderedDict and list(again["c"]) == ["z", "y"]
    default = collections.defaultdict(list, p=1.0)
    again = tree_map(lambda v: v, default)
    assert type(again) is collections.defaultdict and again.default_factory is list


def test_a_subclass_of_list_keeps_its_class():
    assert type(tree_map(lambda v: v, Bag([1.0, 2.0]))) is Bag


def test_what_is_no_container_is_a_leaf():
    array, text, number = np.ones(3), "abc", 2.0
    for leaf in (array, text, number, {1, 2}, range(3), Rates):
        leaves, tree = flatten(leaf)
        assert len(leaves) == 1 and leaves[0] is leaf and tree.describe() == "*"


MISMATCHES = [
    ([1.0, 2.0], [1.0], r"the tangent has 1 entries, but the primal has 2"),
    ([1.0], 3.0, r"the tangent is a float, but the primal has the structure \[\*\]"),
    (1.0, [1.0], r"the tangent is a list, but the primal has an array or number"),
    (1.0, None, r"the tangent is None"),
    (None, 1.0, r"the primal has None there"),
    ({"a": 1.0}, {"b": 1.0}, r"the keys \[\"'b'\"\], but the primal has \[\"'a'\"\]"),
    ({"a": {"b": [1.0]}}, {"a": {"b": 2.0}}, r"the tangent\['a'\]\['b'\] is a float"),
    (
        [1.0, (2.0, 3.0)],
        [1.0, (2.0,)],
        r"the tangent\[1\] has 1 entries, but the primal\[1\] has 2",
    ),
    (Rates([1.0]), Rates(1.0), r"the tangent\.birth is a float, but the primal\.birth"),
]


@pytest.mark.parametrize("like, x, message", MISMATCHES)
def test_a_difference_in_structure_names_its_place(like, x, message):
    with pytest.raises(StructureError, match=message):
        flatten_like(flatten(like)[1], x, "the tangent", "the primal")


def test_dicts_match_by_key_not_by_order():
    tree = flatten({"a": 1.0, "b": 2.0})[1]
    assert flatten_like(tree, {"b": 20.0, "a": 10.0}, "x", "y") == [10.0, 20.0]


def test_derivatives_come_in_the_container_of_their_argument():
    p = {"k": Rates(2.0, np.array([1.0, 3.0])), "t": (Point(0.5, None),)}

    def f(p):
        return p["k"].birth ** 2 * np.sum(p["k"].death) * p["t"][0].x

    g = dualad.grad(f)(p)
    assert type(g["k"]) is Rates and type(g["t"][0]) is Point and g["t"][0].y is None
    assert g["k"].birth == 8.0 and g["t"][0].x == 16.0
    np.testing.assert_array_equal(g["k"].death, [2.0, 2.0])
    _, tangent = dualad.jvp(f, (p,), (p,))
    np.testing.assert_allclose(tangent, 4 * f(p))  # homogeneous of degree 4


def test_outputs_come_in_the_container_that_the_function_returned():
    f = lambda x: {"a": [x, x**2], "b": Point(np.sin(x), 1.0)}
    _, tangent = dualad.jvp(f, (0.5,), (1.0,))
    assert type(tangent["b"]) is Point and tangent["a"] == [1.0, 1.0] and tangent["b"].y == 0.0
    _, pullback = dualad.vjp(f, 0.5)
    (share,) = pullback({"b": Point(0.0, 0.0), "a": [1.0, 10.0]})
    assert share == 11.0
