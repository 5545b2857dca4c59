"""A container that is an argument has what it had, beside what follows from its entries."""

import collections
import dataclasses
import functools

import numpy as np
import pytest

import dualad
from dualad.engine.levels.containers import set_since

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


def labelled(x):
    model = Model(2 * x)
    model.scale, model.offset, model.mode = np.sum(x), x**2, "mean"
    return model


RESULTS = {
    "jvp": lambda x: dualad.jvp(labelled, (x,), (x,))[0],
    "vjp": lambda x: dualad.vjp(labelled, x)[0],
    "linearize": lambda x: dualad.linearize(labelled, x)[0],
    "grad, beside the result": lambda x: dualad.grad(
        lambda x: (np.sum(x**2), labelled(x)), has_aux=True
    )(x)[1],
    "compile": lambda x: dualad.compile(labelled, backend="numpy")(x),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.filterwarnings("ignore::dualad.errors.CompileWarning")
def test_attributes_of_a_result(name):
    out, right = RESULTS[name](W), labelled(W)
    np.testing.assert_array_equal(out.w, right.w)
    assert (out.scale, out.mode) == (3.0, "mean") and type(out.scale) is np.float64
    assert type(out.offset) is np.ndarray
    np.testing.assert_array_equal(out.offset, [1.0, 4.0])
    np.testing.assert_array_equal(out.inverse, right.inverse)


def test_attributes_of_a_result_in_a_nesting():
    """To the transformation outside they are values as others."""
    f = lambda x: np.sum(dualad.jvp(labelled, (x,), (np.ones(2),))[0].offset)
    np.testing.assert_array_equal(dualad.grad(f)(W), 2 * W)
    batch = dualad.vmap(lambda x: labelled(x))(np.stack([W, 3 * W]))
    np.testing.assert_array_equal(batch.scale, [3.0, 9.0])


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


def set_since_of(x, known):
    return set_since(x, "dataclass", known)


def test_what_was_set_since():
    names = ["w"]
    assert set_since_of(changed(), names) == {}
    assert set_since_of(changed(scale=5.0, mode="sum"), names) == {"scale": 5.0}
    assert set_since_of(changed(scale=5), names) == {"scale": 5}
    assert set_since_of(changed(count=2), ["w", "count"]) == {}
    assert list(set_since_of(changed(offset=np.array([0.0, 1e-300])), names)) == ["offset"]
    model = changed(scale=np.nan)
    assert list(set_since_of(model, names)) == ["scale"]

    @dataclasses.dataclass
    class Given:  # of which nobody can make another one
        w: float
        start: dataclasses.InitVar[float]

        def __post_init__(self, start):
            self.at = start

    assert set_since_of(Given(1.0, 2.0), names) == {}


# --- kinds of dicts, lists and tuples ---


class ByAttribute(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class OwnDict(dict):
    """Its attributes are its entries."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


class Scaled:
    scale = 1.0


class ScaledDict(Scaled, dict):
    pass


class ScaledOrder(Scaled, collections.OrderedDict):
    pass


class ScaledList(Scaled, list):
    pass


class ScaledTuple(Scaled, tuple):
    pass


class ScaledPair(Scaled, collections.namedtuple("Pair", "w b")):
    pass


class Totalled(list):
    """An attribute that follows from the entries."""

    def __init__(self, entries=()):
        super().__init__(entries)
        self.total, self.power = sum(np.sum(v) for v in self), 2


class Given(dict):
    """It cannot be made of its entries alone."""

    def __init__(self, entries, name):
        super().__init__(entries)
        self.name = name


@pytest.mark.parametrize("kind", [ByAttribute, OwnDict])
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: dualad.compile(f, backend="numpy")])
def test_a_dict_whose_entries_are_attributes(kind, transform):
    f = transform(dualad.grad(lambda p: np.sum(p.w**2 * p.inner.k)))
    for k in (3.0, 5.0, 7.0):
        gradient = f(kind(w=W, inner=kind(k=k)))
        assert type(gradient) is type(gradient["inner"]) is kind
        np.testing.assert_allclose(gradient.w, 2 * k * W, rtol=1e-15)
        np.testing.assert_allclose(gradient.inner.k, 5.0, rtol=1e-15)


@pytest.mark.parametrize("kind", [ScaledDict, ScaledOrder, ScaledList, ScaledTuple, ScaledPair])
def test_an_attribute_that_was_set(kind):
    entries = {"w": W, "b": 2.0} if issubclass(kind, dict) else [W, 2.0]
    held = kind(*entries) if kind is ScaledPair else kind(entries)

    def f(p):
        w, b = p.values() if isinstance(p, dict) else p
        return p.scale * b * np.sum(w**2)

    g = dualad.compile(dualad.grad(f), backend="numpy")
    for scale in (1.0, 5.0, 7.0):
        held.scale = scale
        for gradient in (dualad.grad(f)(held), g(held), g(held)):
            assert type(gradient) is kind
            w, b = gradient.values() if isinstance(held, dict) else gradient
            np.testing.assert_allclose(w, 4 * scale * W, rtol=1e-15)
            np.testing.assert_allclose(b, 5 * scale, rtol=1e-15)


def test_an_attribute_that_follows_from_the_entries():
    held = Totalled([W, 4.0])
    for power in (2, 3):
        held.power = power
        gradient = dualad.grad(lambda p: p.total**p.power)(held)
        np.testing.assert_allclose(gradient[0], power * 7.0 ** (power - 1) * np.ones(2))
        np.testing.assert_allclose(gradient[1], power * 7.0 ** (power - 1))


def test_a_counter_is_no_counter_of_its_entries():
    gradient = dualad.grad(lambda p: p["a"] ** 2 * p["b"])(collections.Counter(a=2.0, b=5.0))
    assert gradient == collections.Counter(a=20.0, b=4.0)


def test_kinds_that_cannot_be_made_of_their_entries():
    gradient = dualad.grad(lambda p: p["a"] ** 3)(Given({"a": 2.0}, "name"))
    assert gradient == {"a": 12.0}
    held = collections.defaultdict(lambda: 4.0, a=2.0)
    gradient = dualad.grad(lambda p: p["a"] ** 3 * p["missing"])(held)
    assert gradient["a"] == 48.0 and list(held) == ["a"]
    order = collections.OrderedDict(b=1.0, a=2.0)
    assert list(dualad.grad(lambda p: p["a"] * p["b"])(order).items()) == [("b", 2.0), ("a", 1.0)]
