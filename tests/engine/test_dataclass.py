"""A dataclass that is an argument holds what it held, beside what follows from its fields."""

import dataclasses
import functools

import numpy as np
import pytest

import dualad
from dualad.engine.dataclass import set_since

W = np.array([1.0, 2.0])


@dataclasses.dataclass
class Model:
    w: np.ndarray
    count: int = dataclasses.field(init=False, default=1)

    def __post_init__(self):
        self.scale, self.mode, self.offset = 1.0, "sum", np.zeros(2)
        self.inverse = 1 / self.w

    def loss(self):
        size = np.mean if self.mode == "mean" else np.sum
        return size(self.scale * self.count * self.w**2 + self.offset * self.w + self.inverse)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    w: np.ndarray
    scale: float = dataclasses.field(init=False, default=1.0)

    def loss(self):
        return np.sum(self.scale * self.w**2)


def changed(**attributes):
    model = Model(W)
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


CHANGED = {
    "a number": ({"scale": 5.0}, 10 * W - W**-2.0),
    "a field that is set by itself": ({"count": 3}, 6 * W - W**-2.0),
    "a text": ({"mode": "mean"}, (2 * W - W**-2.0) / 2),
    "an array": ({"offset": np.array([3.0, 4.0])}, 2 * W + [3, 4] - W**-2.0),
    "what was derived": ({"inverse": np.array([7.0, 8.0])}, 2 * W),
    "nothing": ({}, 2 * W - W**-2.0),
    "several": ({"scale": 5.0, "count": 3, "mode": "mean"}, (30 * W - W**-2.0) / 2),
}


@pytest.mark.parametrize("case", CHANGED)
def test_derivatives_at_what_it_holds(case):
    attributes, slope = CHANGED[case]
    model = changed(**attributes)
    value, gradient = dualad.value_and_grad(Model.loss)(model)
    assert value == model.loss()
    np.testing.assert_allclose(gradient.w, slope, rtol=1e-15)
    out, move = dualad.jvp(Model.loss, (model,), (Model(np.array([1.0, 10.0])),))
    assert out == model.loss()
    np.testing.assert_allclose(move, slope @ [1.0, 10.0], rtol=1e-15)


def test_second_derivatives():
    model = changed(scale=5.0)
    gradient = dualad.grad(Model.loss)
    tangent = Model(np.array([1.0, 10.0]))
    for twice in (
        dualad.jvp(gradient, (model,), (tangent,))[1].w,
        dualad.grad(lambda m: np.sum(gradient(m).w * tangent.w))(model).w,
    ):
        np.testing.assert_allclose(twice, (10 + 2 * W**-3.0) * tangent.w, rtol=1e-14)


def test_what_is_set_inside_of_a_function_has_the_derivative_of_it():
    def outer(scale):
        model = Model(W)
        model.scale = scale**2
        return np.sum(dualad.grad(Model.loss)(model).w)

    for derivative in (dualad.grad(outer)(3.0), dualad.jvp(outer, (3.0,), (1.0,))[1]):
        np.testing.assert_allclose(derivative, 2 * 3.0 * np.sum(2 * W), rtol=1e-15)


def test_a_frozen_one_with_slots():
    frozen = Frozen(W)
    object.__setattr__(frozen, "scale", 4.0)
    np.testing.assert_array_equal(dualad.grad(Frozen.loss)(frozen).w, 8 * W)


def test_inside_of_another_container():
    models = [changed(scale=2.0), {"a": changed(scale=3.0)}]
    gradient = dualad.grad(lambda m: m[0].loss() + m[1]["a"].loss())(models)
    np.testing.assert_allclose(gradient[0].w, 4 * W - W**-2.0, rtol=1e-15)
    np.testing.assert_allclose(gradient[1]["a"].w, 6 * W - W**-2.0, rtol=1e-15)


def test_under_vmap():
    model = Model(np.stack([W, 3 * W]))
    model.scale, model.offset = 5.0, np.zeros(2)
    out = dualad.vmap(lambda m: np.sum(m.scale * m.w))(model)
    np.testing.assert_array_equal(out, [15.0, 45.0])


@pytest.mark.parametrize("transform", [lambda f: f, dualad.value_and_grad])
def test_compiled(transform):
    f = transform(Model.loss)
    g = dualad.compile(f, backend="numpy")
    for case in [*CHANGED, *CHANGED]:
        model = changed(**CHANGED[case][0])
        for _ in range(3):
            found, right = g(model), f(model)
            if transform is dualad.value_and_grad:
                np.testing.assert_allclose(found[1].w, right[1].w, rtol=1e-14)
                found, right = found[0], right[0]
            np.testing.assert_allclose(found, right, rtol=1e-14)


def test_what_is_computed_when_it_is_first_wanted_moves_with_the_fields():
    """It is no state: as a plain value it would lose the derivative."""

    @dataclasses.dataclass
    class Lazy:
        w: np.ndarray
        known: bool = dataclasses.field(init=False, default=False)
        square: object = dataclasses.field(init=False, default=None)

        @functools.cached_property
        def cube(self):
            return self.w**3

        def loss(self):
            if not self.known:
                self.known, self.square = True, self.w**2
            return np.sum(self.square + self.cube)

    lazy = Lazy(W)
    assert lazy.loss() == 14.0
    np.testing.assert_allclose(dualad.grad(Lazy.loss)(lazy).w, 2 * W + 3 * W**2, rtol=1e-15)


def test_what_was_set_since():
    names = ["w"]
    assert set_since(changed(), names) == {}
    assert set_since(changed(scale=5.0, mode="sum"), names) == {"scale": 5.0}
    assert set_since(changed(scale=5), names) == {"scale": 5}
    assert set_since(changed(count=2), ["w", "count"]) == {}
    assert list(set_since(changed(offset=np.array([0.0, -0.0])), names)) == ["offset"]
    model = changed(scale=np.nan)
    assert list(set_since(model, names)) == ["scale"]

    @dataclasses.dataclass
    class Given:  # of which nobody can make another one
        w: float
        start: dataclasses.InitVar[float]

        def __post_init__(self, start):
            self.at = start

    assert set_since(Given(1.0, 2.0), names) == {}
