"""Arrays of other libraries as values: what is listed is used, what is not raises."""

import numpy as np
import pytest

import dualad
from dualad.engine.kinds.duck import LIBRARIES, Library, as_duck
from dualad.errors import LostDerivativeError, MissingRuleError, NotDifferentiableError


class Tally:
    """An array that counts what is computed of it; it is no NumPy array, and not convertible."""

    def __init__(self, numbers):
        self.numbers = np.asarray(numbers)
        self.shape, self.dtype = self.numbers.shape, self.numbers.dtype

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("converted")


def plain(x):
    return x.numbers if isinstance(x, Tally) else x


def on_numbers(f):
    return lambda *xs, **params: Tally(f(*map(plain, xs), **params))


@pytest.fixture
def used():
    """The names of the operations that a Tally was asked for."""
    names = []

    def entrywise(f, name):
        names.append(name)
        return on_numbers(f)

    def admit(x):
        if x.dtype.kind == "U":
            raise NotDifferentiableError("a tally of text")

    Library(
        "tallies",
        Tally,
        {
            "sum_axes": on_numbers(lambda x, axes: np.add.reduce(x, axis=axes)),
            "broadcast_to": on_numbers(np.broadcast_to),
            "zero_wins": on_numbers(lambda a, b: np.where(a == 0, 0, a * b)),
            "either_zero_wins": on_numbers(lambda a, b: np.where((a == 0) | (b == 0), 0, a * b)),
            "reshape": on_numbers(np.reshape),
        },
        entrywise,
        admit,
        constant=lambda x: x,
        alike=lambda value, model: value if isinstance(value, Tally) else Tally(value),
        remedy="count it",
    )
    yield names
    del LIBRARIES[Tally]


def test_a_registered_library_computes_by_its_own_operations(used):
    x = Tally([1.0, 2.0])
    y, dy = dualad.jvp(lambda x: np.sum(np.sin(x) * x), (x,), (Tally([1.0, 0.0]),))
    assert type(y) is type(dy) is Tally and {"sin", "cos", "multiply"} <= set(used)
    np.testing.assert_allclose(dy.numbers, np.sin(1.0) + np.cos(1.0))
    gradient = dualad.grad(lambda x: np.sum(3.0 * x * x))(x)
    assert type(gradient) is Tally
    np.testing.assert_allclose(gradient.numbers, [6.0, 12.0])


def test_it_is_a_constant_beside_traced_values(used):
    x = Tally([1.0, 2.0])
    np.testing.assert_allclose(dualad.grad(lambda s: np.sum(s * x))(2.0).numbers, 3.0)


def test_what_is_not_listed_is_an_error_with_the_remedy(used):
    x = Tally(np.ones((2, 2)))
    with pytest.raises(MissingRuleError, match=r"matmul .*tallies: count it"):
        dualad.grad(lambda x: np.sum(x @ x))(x)
    with pytest.raises(LostDerivativeError, match="count it"):
        bool(as_duck(x))
    with pytest.raises(NotDifferentiableError, match="text"):
        dualad.grad(np.sum)(Tally("text"))


def test_what_is_sealed_answers_no_question_about_entries(used):
    sealed = as_duck(Tally([1.0, 2.0])).primal
    assert sealed.shape == (2,) and sealed.dtype == np.float64 and sealed.ndim == 1
    for question in (bool, np.asarray, np.any, len, lambda s: s == 0, lambda s: s + 1, np.isnan):
        with pytest.raises(MissingRuleError, match="count it"):
            question(sealed)


def test_other_types_are_no_values():
    assert as_duck(object()) is None and as_duck("text") is None
    with pytest.raises(NotDifferentiableError):
        dualad.grad(np.sum)(Tally([1.0]))
