"""What docs/coverage.md says of NumPy is complete, up to date and true."""

from pathlib import Path

import numpy as np
import pytest

import dualad
from dualad.covered import COMPOSED, WINDOWS, WITHOUT_ARRAYS, WITHOUT_RULE, page, versions
from dualad.covered_by_peers import NEITHER, PEERS
from dualad.engine.levels.buffer import Buffer
from dualad.engine.levels.rules import FUNCTIONS, UFUNCS
from dualad.engine.levels.traced import TracedArray
from dualad.numpy.fresh import BY_RULE
from dualad.numpy.functions import __all__ as BY_DROPIN

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"
ENTRIES = {(e.package, e.name): e.result for e in dualad.coverage()}


def test_the_page_is_up_to_date():
    text = PAGE.read_text(encoding="utf-8")
    if versions() not in text:
        pytest.skip(f"the page describes other versions than {versions()}")
    assert text == page(), "run: python docs/generate_coverage.py"


def test_every_public_function_of_numpy_is_classified():
    """A new one in NumPy fails here, until it has a rule or a reason for having none."""
    reasons = {*WITHOUT_RULE, *WITHOUT_ARRAYS, *COMPOSED, *WINDOWS, *BY_DROPIN, *BY_RULE}
    left = []
    for name in np.__all__:
        f = getattr(np, name)
        if not callable(f) or isinstance(f, type) or name in reasons:
            continue
        if f not in (UFUNCS if isinstance(f, np.ufunc) else FUNCTIONS):
            left.append(name)
    assert left == []


def test_the_reasons_do_not_outlive_a_rule():
    for name in {*WITHOUT_RULE, *WITHOUT_ARRAYS}:
        assert getattr(np, name, None) not in FUNCTIONS


def test_all_rules_for_numpy_are_on_the_page():
    named = {f for f in FUNCTIONS if getattr(f, "__module__", "").startswith("numpy")}
    listed = {
        getattr(module, name, None)
        for package, module in (
            ("numpy", np), ("numpy.linalg", np.linalg), ("numpy.fft", np.fft),
            ("numpy.emath", np.emath), ("numpy.lib.stride_tricks", np.lib.stride_tricks),
        )
        for p, name in ENTRIES
        if p == package
    }  # fmt: skip
    assert named - listed == set()


# --- it is true ----------------------------------------------------------------------------------

X = np.array([[0.25, 0.5, 0.75], [1.25, 1.5, 2.75], [0.3, 2.2, 1.1]])
WHOLE = np.array([5, 12, 3])
BITS = np.array([1, 0, 1, 1], np.uint8)

#: Calls of what does not take one floating array, or two for a ufunc of two arguments.
CALLS = {
    "can_cast": lambda x: np.can_cast(x, np.float64),
    "digitize": lambda x: np.digitize(x, [0.4, 1.4]),
    "einsum_path": lambda x: np.einsum_path("ij,jk", x, x),
    "isin": lambda x: np.isin(x, [0.5]),
    "argpartition": lambda x: np.argpartition(x, 1),
    "ravel_multi_index": lambda x: np.ravel_multi_index(np.nonzero(x > 1), x.shape),
    "unravel_index": lambda x: np.unravel_index(np.argmax(x), x.shape),
    "searchsorted": lambda x: np.searchsorted(x[1], x),
    "isclose": lambda x: np.isclose(x, 0.5),
    **{
        name: lambda x, name=name: getattr(np, name)(x, x)
        for name in ("allclose", "array_equal", "array_equiv", "may_share_memory", "shares_memory")
    },
}
#: Functions of integers, bits, dates or the sizes of arrays.
OF_OTHERS = {
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "gcd", "invert", "isnat", "lcm",
    "left_shift", "right_shift", "packbits", "unpackbits", "isscalar",
    *BY_RULE, *WINDOWS,
}  # fmt: skip


def named(result):
    names = (n for (p, n), r in ENTRIES.items() if p == "numpy" and r == result)
    return sorted(set(names) - OF_OTHERS)


def call_of(name):
    f = getattr(np, name)
    if name not in CALLS and isinstance(f, np.ufunc) and f.nin == 2:
        return lambda x: f(x, X[::-1] + 0.125)
    return CALLS.get(name, f)


def plain(value):
    """Whether no derivative is in a result."""
    if isinstance(value, (tuple, list)):
        return all(map(plain, value))
    return not isinstance(value, TracedArray) or isinstance(value, Buffer)


@pytest.mark.parametrize("name", named("predicate"))
def test_predicates_give_plain_answers(name):
    f, seen = call_of(name), []
    dualad.jvp(lambda x: (seen.append(f(x)), x)[1], (X,), (X,))
    dualad.vjp(lambda x: (seen.append(f(x)), x)[1], X)
    for answer in seen:
        assert plain(answer) and not isinstance(answer, Buffer)
        assert type(answer) is type(f(X))


@pytest.mark.parametrize("name", named("constant"))
def test_constants_have_slope_zero(name):
    f = call_of(name)
    value, tangent = dualad.jvp(f, (X,), (np.ones_like(X),))
    if name != "empty_like":
        np.testing.assert_array_equal(value, f(X))
    assert not np.any(tangent) and tangent.dtype == X.dtype


# --- derivatives: calls of what does not take one matrix -----------------------------------------

V, C, AT = X[0], X[1], np.array([[0], [1], [2]])
MASK = np.array([True, False, True])


def changed(f):
    """What an array is after a function has written into it."""

    def call(x):
        y = x.copy()
        f(y, x)
        return y

    return call


CALLS |= {
    **{
        n: lambda x, n=n: getattr(np, n)([x, X])
        for n in ("block", "column_stack", "concat", "concatenate", "dstack", "hstack",
                  "row_stack", "stack", "vstack")
    },
    **{
        n: lambda x, n=n: getattr(np, n)(x, X)
        for n in ("append", "cross", "dot", "inner", "kron", "outer", "tensordot", "vdot")
    },
    **{
        n: lambda x, n=n: getattr(np, n)(x, X + 0.01)
        for n in ("union1d", "setdiff1d", "setxor1d")
    },
    **{
        n: lambda x, n=n: getattr(np, n)(x[0], C)
        for n in ("convolve", "correlate", "polyadd", "polydiv", "polymul", "polysub", "polyval")
    },
    **{n: lambda x, n=n: getattr(np, n)(x[0]) for n in ("polyder", "polyint", "roots", "vander")},
    **{
        n: lambda x, n=n: getattr(np, n)(x[0, 0], 2.5, 4)
        for n in ("linspace", "logspace", "geomspace")
    },
    **{n: lambda x, n=n: getattr(np, n)(x, 0.3) for n in ("quantile", "nanquantile")},
    **{n: lambda x, n=n: getattr(np, n)(x, 30) for n in ("percentile", "nanpercentile")},
    **{n: lambda x, n=n: getattr(np, n)(x, axis=0) for n in ("cumulative_sum", "cumulative_prod")},
    **{
        n: lambda x, n=n: getattr(np, n)(x, 1)[0]
        for n in ("array_split", "hsplit", "split", "vsplit")
    },
    **{n: changed(lambda y, x, n=n: getattr(np, n)(y, X > 1, x)) for n in ("place", "putmask")},
    "apply_along_axis": lambda x: np.apply_along_axis(np.sum, 0, x),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x, 0),
    "astype": lambda x: np.astype(x, np.float32),
    "bincount": lambda x: np.bincount([0, 1, 1], x[0]),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 3, 3)),
    "choose": lambda x: np.choose(np.array([0, 1, 0]), [x[0], x[1]]),
    "clip": lambda x: np.clip(x, 0.4, 1.4),
    "compress": lambda x: np.compress(MASK, x, axis=0),
    "copyto": changed(np.copyto),
    "delete": lambda x: np.delete(x, 1),
    "dsplit": lambda x: np.dsplit(x[None], 1)[0],
    "einsum": lambda x: np.einsum("ij,jk", x, X),
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "extract": lambda x: np.extract(X > 1, x),
    "fill_diagonal": changed(lambda y, x: np.fill_diagonal(y, x[0])),
    "full_like": lambda x: np.full_like(x, x[0]),
    "heaviside": lambda x: np.heaviside(np.zeros((3, 3)), x),
    "histogram2d": lambda x: np.histogram2d(C, C, 2, weights=x[0])[0],
    "histogramdd": lambda x: np.histogramdd([C], 2, weights=x[0])[0],
    "histogram": lambda x: np.histogram(C, 2, weights=x[0])[0],
    "imag": lambda x: np.imag(1j * x),
    "angle": lambda x: np.angle(1j + x),
    "insert": lambda x: np.insert(x, 1, x[0, 0]),
    "interp": lambda x: np.interp(x, [0.0, 1.0, 3.0], [1.0, 2.0, 0.0]),
    "intersect1d": lambda x: np.intersect1d(x, [0.5, 0.75]),
    "ix_": lambda x: np.ix_(x[0])[0],
    "kaiser": lambda x: np.kaiser(5, x[0, 0]),
    "ldexp": lambda x: np.ldexp(x, 3),
    "modf": lambda x: np.modf(x)[0],
    "frexp": lambda x: np.frexp(1.1 * x)[0],
    "divmod": lambda x: np.divmod(x, 0.4)[1],
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "pad": lambda x: np.pad(x, 1),
    "partition": lambda x: np.partition(x, 1),
    "piecewise": lambda x: np.piecewise(x, [X > 1], [lambda v: v * v, 0.0]),
    "polyfit": lambda x: np.polyfit(C, x[0], 1),
    "put": changed(lambda y, x: np.put(y, [0], x[1, 1])),
    "put_along_axis": changed(lambda y, x: np.put_along_axis(y, AT, x[:, :1], 1)),
    "repeat": lambda x: np.repeat(x, 2),
    "reshape": lambda x: np.reshape(x, (9,)),
    "resize": lambda x: np.resize(x, (2, 2)),
    "roll": lambda x: np.roll(x, 1),
    "rollaxis": lambda x: np.rollaxis(x, 1),
    "select": lambda x: np.select([X > 1], [x]),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "take": lambda x: np.take(x, [0, 4]),
    "take_along_axis": lambda x: np.take_along_axis(x, AT, 1),
    "tile": lambda x: np.tile(x, 2),
    "trim_zeros": lambda x: np.trim_zeros(x[0]),
    "where": lambda x: np.where(X > 1, x, 0.0),
    "unique_all": lambda x: np.unique_all(x).values,
    "unique_counts": lambda x: np.unique_counts(x).values,
    "unique_inverse": lambda x: np.unique_inverse(x).values,
    "gradient": lambda x: np.gradient(x[0]),
    "nextafter": lambda x: np.nextafter(x, 9.0),
    "arccosh": lambda x: np.arccosh(x + 1),
    "acosh": lambda x: np.acosh(x + 1),
    **{n: lambda x, n=n: getattr(np, n)(x / 4) for n in (
        "arcsin", "asin", "arccos", "acos", "arctanh", "atanh")},
}  # fmt: skip


def parts(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


#: Where a step changes which entries are chosen, or is lost in the precision of the result.
WITHOUT_DIFFERENCES = ("intersect1d", "nextafter", "astype")


@pytest.mark.filterwarnings("ignore:`row_stack`")
@pytest.mark.parametrize("name", sorted(set(named("derivative")) - set(BY_DROPIN)))
def test_derivatives_are_those_of_differences_in_both_modes(name):
    f = call_of(name)
    t, h = np.cos(3 * X), 2.0**-17
    value, tangent = dualad.jvp(f, (X,), (t,))
    assert any(np.any(p) for p in parts(tangent))
    columns = [parts(v) for v in (value, f(X), tangent, f(X + h * t), f(X - h * t))]
    if name in WITHOUT_DIFFERENCES:
        columns = columns[:3]
    for got, want, moved, *steps in zip(*columns, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)
        if steps:
            difference = (np.asarray(steps[0]) - steps[1]) / (2 * h)
            np.testing.assert_allclose(moved, difference, rtol=1e-5, atol=1e-6)
    value, pullback = dualad.vjp(f, X)
    ones = [np.ones_like(p) for p in parts(value)]
    share = pullback(type(value)(ones) if isinstance(value, (tuple, list)) else ones[0])[0]
    total = sum(np.sum(np.real(p)) for p in parts(tangent))
    np.testing.assert_allclose(np.sum(share * t), total, rtol=1e-6, atol=1e-9)


def test_an_alias_has_the_peers_of_its_function():
    """np.mod is np.remainder, np.concat is np.concatenate, whichever name peers were tried by."""
    peers = {e.name: e.peers for e in dualad.coverage() if e.package == "numpy"}
    for alias, name in [("mod", "remainder"), ("concat", "concatenate"), ("acos", "arccos")]:
        assert peers[alias] == peers[name] == ("JAX", "autograd")


def test_what_peers_were_tried_by_are_names_of_the_page():
    tried = NEITHER.union(*PEERS.values())
    assert not [n for n in tried if not n.replace(".", "").isidentifier()]
    assert tried <= {e._key for e in dualad.coverage()}
