"""A traced value has no hash: by its number it has no derivative, and no other is found."""

import functools

import numpy as np
import pytest

import dualad
from dualad.errors import LostDerivativeError

TABLE = {1.0: 10.0, 2.0: 20.0}


@functools.lru_cache
def squared(x):
    return x * x


LOOKUPS = {
    "a dict": lambda x: x * TABLE[x],
    "get": lambda x: x * TABLE.get(x, 0.0),
    "a set": lambda x: 2 * x if x in {1.0, 2.0} else 3 * x,
    "how many different": lambda x: x * len({x * 1, x * 1}),
    "a cache": squared,
    "hash": lambda x: x * hash(x),
}
WAYS = {
    "grad": lambda f: dualad.grad(f)(2.0),
    "an entry": lambda f: dualad.grad(lambda v: f(v[0]))(np.array([2.0, 1.0])),
    "jvp": lambda f: dualad.jvp(f, (2.0,), (1.0,)),
    "hessian": lambda f: dualad.hessian(f)(2.0),
    "jacfwd": lambda f: dualad.jacfwd(f)(np.array(2.0)),
    "vmap": lambda f: dualad.vmap(f)(np.array([2.0, 2.0])),
    "compiled": lambda f: dualad.compile(dualad.grad(f))(2.0),
}


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("what", LOOKUPS)
@pytest.mark.filterwarnings("ignore::dualad.errors.CompileWarning")
def test_a_lookup_is_an_error_in_every_transformation(what, how):
    squared(2.0)  # what a cache holds for the number 2 has no derivative
    with pytest.raises(LostDerivativeError, match=r"looked up.*stop_gradient"):
        WAYS[how](LOOKUPS[what])


def test_comparisons_and_constant_tables_are_fine():
    """Both are branches: the derivative is that of the branch taken."""
    for how in ("grad", "an entry"):
        assert np.ravel(WAYS[how](lambda x: 2 * x if x in [1.0, 2.0] else 3 * x))[0] == 2.0
        constant = lambda x: x * TABLE[float(dualad.stop_gradient(x))]
        assert np.ravel(WAYS[how](constant))[0] == 20.0
        assert np.ravel(WAYS[how](squared.__wrapped__))[0] == 4.0


def test_tensors_are_told_apart_by_identity_as_in_pytorch():
    x = dualad.tensor(2.0, requires_grad=True)
    assert len({x, x * 1}) == 2 and {x: 3}[x] == 3


def test_compiled_functions_of_plain_numbers_look_up_as_ever():
    with pytest.warns(dualad.errors.CompileWarning, match="looks a value up"):
        assert dualad.compile(LOOKUPS["a dict"])(2.0) == 40.0
