"""What holds for every primitive of the registry, whoever states it.

A primitive without sample arguments fails here: add a line to SAMPLES.
"""

import itertools

import numpy as np
import pytest
from scipy_samples import scipy_samples

import dualad
from dualad.engine.levels.spec import Spec, spec_of
from dualad.engine.primitives.chain import Chain
from dualad.engine.primitives.composite import Composite
from dualad.engine.primitives.elementwise import Elementwise
from dualad.engine.primitives.linear import Linear
from dualad.engine.primitives.primitive import PRIMITIVES, Opaque
from dualad.engine.programs.linear import trace_linear

RNG = np.random.default_rng(7)


def real(*shape):
    """Numbers between 0.2 and 0.9, where every function is smooth, or between 1.2 and 1.9."""
    return RNG.uniform(0.2, 0.9, shape)[()]


def kind(argument):
    """The kind of dtype of an argument; an optional one may be left out as None."""
    return "O" if argument is None else np.result_type(argument).kind


class Sample:
    """Arguments of one call. `complex`: the call makes sense for complex arguments too."""

    def __init__(self, *args, complex=True, **params):
        self.args, self.params, self.complex = args, params, complex

    def floats(self):
        return [k for k, a in enumerate(self.args) if kind(a) in "fc"]

    def as_complex(self):
        args = [a + 1j * real(*np.shape(a)) if kind(a) == "f" else a for a in self.args]
        return Sample(*args, **self.params)


def elementwise(primitive, shift=0.0):
    """Equal shapes, broadcasting in both directions, 0-d, empty."""
    n = len(primitive.partials)
    complex_too = primitive.name == "sinc" or (
        isinstance(primitive.impl, np.ufunc)
        and any(t in ("D->D", "DD->D") for t in primitive.impl.types)
    )
    shapes = {1: [((3,),), ((2, 3),), ((),), ((0,),)]}.get(
        n, [((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 1)), ((), (3,)), ((2,), ()), ((), ())]
    )
    return [Sample(*(real(*s) + shift for s in row), complex=complex_too) for row in shapes]


def compound(*shape):
    """Complex numbers."""
    return real(*shape) + 1j * real(*shape)


REPEATED, S, N = np.array([2, 0, 2]), slice(None), None
AT = np.array([[1, 0, 1], [2, 0, 2]])  # as traced indices come: one row an axis
INTEGERS = np.array([5, 12, 3])

#: Arguments of a call of each primitive that is not elementwise.
SAMPLES = {
    "cast": [Sample(real(2, 3), dtype=np.dtype(np.float32), complex=False)],
    "reshape": [Sample(real(2, 3), shape=(3, 2)), Sample(real(), shape=(1, 1))],
    "transpose": [Sample(real(2, 3, 4), axes=(2, 0, 1)), Sample(real(), axes=())],
    "broadcast_to": [Sample(real(3), shape=(2, 3)), Sample(real(2, 1), shape=(4, 2, 3))],
    "sum_axes": [Sample(real(2, 3, 4), axes=(0, 2)), Sample(real(3), axes=())],
    "decided_at_ties": [Sample(real(3, 3), np.zeros((3, 3), bool))],
    "decided_at_ties_of_eig": [Sample(real(3, 3), np.zeros((3, 3), bool))],
    "either_zero_wins": [Sample(real(2, 3), real(3)), Sample(np.array([0.0, 1.0]), real(2))],
    "zero_wins": [Sample(real(2, 3), real(3)), Sample(np.array([0.0, 1.0]), real(2))],
    "getitem": [
        Sample(real(4, 3), index=(1, S)),
        Sample(real(4, 3), index=(slice(None, None, -2), N, slice(1, 3))),
        Sample(real(4, 3), index=(REPEATED, S)),
        Sample(real(4, 3, 2), index=(REPEATED, S, np.array([1, 1, 0]))),
        Sample(real(4, 3, 2), index=(S, REPEATED, np.array([1, 1, 0]))),
        Sample(real(4, 3, 2), index=(np.array([[0], [3]]), np.array([1, 2]), S)),
        Sample(real(4, 3, 2), index=(1, S, np.array([1, 0, 1]))),
        Sample(real(3), index=(np.array([], dtype=int),)),
    ],
    "attained": [
        Sample(real(2, 3), places=np.array([[2], [3]])),
        Sample(real(4), places=np.array([1])),
    ],
    "put_back": [
        Sample(real(2, 1), places=np.array([[2], [3]]), shape=(2, 3)),
        Sample(real(2), places=np.array([5, 0]), shape=(3, 2)),
    ],
    "scatter_add": [
        Sample(real(3), index=(REPEATED,), shape=(4,)),
        Sample(real(3), index=(1, S), shape=(2, 3)),
        Sample(real(3, 2), index=(REPEATED, S, REPEATED), shape=(3, 2, 3)),
        Sample(real(2, 3), index=(slice(None, None, 2), S), shape=(4, 3)),
    ],
    "stack": [
        Sample(real(3, 2), real(3, 2), axis=0),
        Sample(real(2), real(2), real(2), axis=1),
        Sample(real(), real(), axis=0),
    ],
    "concatenate": [
        Sample(real(2, 3), real(2, 1), axis=1),
        Sample(real(1, 3), real(2, 3), real(1, 3), axis=0),
    ],
    "index_set": [
        Sample(real(4, 3), real(3), index=(1, S)),
        Sample(real(4, 3), real(), index=(slice(None, None, 2), S)),
        Sample(
            real(4), real(3), index=(REPEATED,)
        ),  # of the two writes to one place the last one stays
        Sample(real(4, 3, 2), real(3, 3), index=(REPEATED, S, 1)),
    ],
    "gather": [Sample(real(2, 3), AT), Sample(real(2, 3, 4), AT), Sample(real(2, 3), AT[:1])],
    "scatter_at": [
        Sample(real(3), AT, shape=(2, 3)),
        Sample(real(3, 4), AT, shape=(2, 3, 4)),
    ],
    "set_at": [Sample(real(2, 3), real(3), AT), Sample(real(2, 3, 4), real(3, 4), AT)],
    "last_writer": [Sample(AT, shape=(2, 3))],
    "where": [
        Sample(np.array([True, False, True]), real(3), real(3)),
        Sample(np.array([[True], [False]]), real(3), real()),
    ],
    # complex numbers
    "real": [Sample(compound(2, 3)), Sample(compound())],
    "imag": [Sample(compound(2, 3)), Sample(compound())],
    "conjugate": [Sample(compound(2, 3)), Sample(real(3))],
    # products
    "matmul": [
        Sample(real(2, 3), real(3, 4)),
        Sample(real(3), real(3)),
        Sample(real(2, 3), real(3)),
        Sample(real(3), real(3, 2)),
        Sample(real(5, 2, 3), real(3, 4)),
        Sample(real(2, 3), real(5, 3, 4)),
        Sample(real(5, 1, 2, 3), real(4, 3, 2)),
        Sample(real(5, 2, 3), real(3)),
        Sample(real(3), real(5, 3, 2)),
    ],
    "cross": [Sample(real(3), real(3)), Sample(real(4, 3), real(3))],
    "convolve": [
        Sample(real(5), real(3), mode="full"),
        Sample(real(5), real(3), mode="valid"),
        Sample(real(2, 5), real(3), mode="full"),
    ],
    "einsum": [
        Sample(real(2, 3), real(3, 4), subscripts="ij,jk->ik", optimize=False),
        Sample(real(2, 3), real(3), real(2), subscripts="ij,j,i->j", optimize=False),
    ],
    # reductions and scans
    "prod": [Sample(real(2, 3), axis=0), Sample(np.array([0.0, 0.5, 0.0]), axis=0)],
    "logaddexp.reduce": [Sample(real(2, 3), axis=1, complex=False)],
    "max": [
        Sample(real(2, 3), axes=(1,), complex=False),
        Sample(real(2, 3), axes=(0, 1), complex=False),
    ],
    "min": [Sample(real(2, 3), axes=(1,), complex=False)],
    "cumsum": [Sample(real(2, 3), axis=1), Sample(real(2, 3), axis=0)],
    "cumprod": [Sample(real(2, 3), axis=1)],
    "maximum.accumulate": [Sample(real(2, 5), axis=1, complex=False)],
    "minimum.accumulate": [Sample(real(2, 5), axis=1, complex=False)],
    "var": [Sample(real(2, 3), axes=(1,), divisor=2), Sample(real(2, 3), axes=(0, 1), divisor=6)],
    "std": [Sample(real(2, 3), axes=(1,), divisor=2), Sample(real(2, 3), axes=(0, 1), divisor=6)],
    "length": [Sample(real(2, 3), axes=(1,)), Sample(real(2, 3), axes=(0, 1))],
    "p_norm": [Sample(real(2, 3), axes=(1,), p=3.0), Sample(real(4), axes=(0,), p=1.5)],
    "bin_sums": [Sample(np.array([2, 0, 2]), real(3), length=4)],
    "bessel_i": [Sample(real(3), 2, complex=False), Sample(4 * real(2, 2), 1, complex=False)],
    "interp": [Sample(3 * real(4), np.array([0.1, 1.05, 2.2, 2.9]), real(4), complex=False)],
    # what has no derivative
    **{n: [Sample(real(2, 3), axis=1)] for n in ("argmax", "argmin", "argsort", "sort")},
    **{n: [Sample(real(2, 3) > 0.5, axis=(1,))] for n in ("all", "any", "count_nonzero")},
    **{
        n: [Sample(INTEGERS, INTEGERS[::-1].copy())]
        for n in ("bitwise_and", "bitwise_or", "bitwise_xor")
    },
    **{
        n: [Sample(INTEGERS, np.array([2, 9, 1]))]
        for n in ("gcd", "lcm", "left_shift", "right_shift")
    },
    **{n: [Sample(INTEGERS)] for n in ("invert", "bitwise_count")},
    **{
        n: [Sample(real(2, 5), axis=1, kth=2, complex=False)]
        for n in ("argpartition", "partition")
    },
    "astype": [Sample(real(3), dtype=np.dtype(int), complex=False)],
    "isclose": [Sample(real(3), real(3), rtol=0.2, atol=0.1)],
    "round": [Sample(real(3), decimals=1)],
    "lexsort": [Sample(real(2, 5), axis=-1, complex=False)],
    "nonzero": [Sample(real(3) > 0.5)],
    "searchsorted": [Sample(np.array([0.1, 0.4, 0.8]), real(4), side="left", complex=False)],
    "first_places": [Sample(np.array([0.3, 0.1, 0.3]))],
    "places_of_values": [Sample(np.array([0.3, 0.1, 0.3]))],
    "common_places": [
        Sample(np.array([0.3, 0.1]), np.array([0.1, 0.7]), assume_unique=True, complex=False)
    ],
    "weighted_places": [Sample(real(2, 3), np.ones((2, 3)), np.array([0.2, 0.9]), complex=False)],
    "bincount": [Sample(np.array([2, 0, 2]), minlength=4)],
    "turns": [Sample(9 * real(2, 5), jump=None, axis=1, period=2.0, complex=False)],
    "stop_gradient": [Sample(real(3))],
    "isnat": [Sample(np.array(["2000-01-01", "NaT"], "datetime64[D]"))],
    "unravel_index": [Sample(np.array([1, 5, 3]), shape=(2, 3))],
    "ravel_multi_index": [Sample(np.array([1, 0, 1]), np.array([2, 0, 1]), dims=(2, 3))],
    "isin": [Sample(np.array([0.3, 0.1, 0.5]), np.array([0.1, 0.5]), complex=False)],
    "packbits": [Sample(np.array([1, 0, 1, 1, 0, 0, 0, 1], np.uint8), axis=0)],
    "unpackbits": [Sample(np.array([5, 200], np.uint8), axis=0)],
    "real_angle": [Sample(real(3), complex=False)],
    "clip": [
        Sample(
            np.array([0.1, 0.5, 0.9]), 0.3 + 0.0 * real(3), real(2, 3) * 0.1 + 0.7, complex=False
        ),
        Sample(np.array([0.1, 0.5, 0.9]), 0.3, 0.7, complex=False),
    ],
    "ldexp": [Sample(real(3), np.array([1, -2, 0]), complex=False)],
}

#: There is no batch of what has results of many sizes, or takes dates.
NO_BATCH = {"nonzero", "first_places", "places_of_values", "common_places", "isnat"}

#: A matrix of rank 3, and a stack of three regular ones with distinct eigenvalues.
FLAT = np.diag([1.0, 2.0, 3.0, 0.0]) @ (np.eye(4) + 0.2 * real(4, 4))
STACK = np.diag([1.0, 3.0, 6.0]) + 0.5 * real(2, 3, 3)

SAMPLES |= {
    "solve": [
        Sample(STACK[0], real(3, 2)),
        Sample(STACK, real(3, 1)),
        Sample(STACK[0], real(2, 3, 2)),
        Sample(STACK[:, None], real(4, 3, 1)),
    ],
    "solve_again": [
        Sample(STACK[0], real(3, 2), np.zeros((3, 2)), transposed=False),
        Sample(STACK, real(3, 1), np.zeros(()), transposed=True),
    ],
    "gram": [Sample(real(2, 3)), Sample(real(3, 1))],
    "trace_of_product": [Sample(real(3, 3), real(3, 3)), Sample(STACK, real(2, 3, 3))],
    "diagonal_of_product": [Sample(real(3, 2), real(3, 2)), Sample(STACK, real(2, 3, 3))],
    "plus_transpose": [Sample(real(3, 3)), Sample(real(2, 3, 3))],
    "hermitian": [Sample(real(3, 3), lower=True), Sample(real(2, 3, 3), lower=False)],
    "folded": [Sample(real(3, 3), lower=True), Sample(real(2, 3, 3), lower=False)],
    "halved": [Sample(real(3, 3), lower=True), Sample(real(2, 3, 3), lower=False)],
    "hermitian_product": [
        Sample(real(3, 3), real(3, 2), lower=True),
        Sample(real(2, 3, 3), real(3, 3), lower=False),
    ],
    "folded_product": [
        Sample(real(3, 2), real(3, 2), lower=True),
        Sample(real(2, 3, 3), real(2, 3, 3), lower=False),
    ],
    "cholesky_tangent": [Sample(real(3, 3), np.tril(STACK[0]))],
    "cholesky_cotangent": [Sample(real(3, 3), np.tril(STACK[0]))],
    "resolvent": [
        Sample(STACK[0], np.array([0.1, 0.5, 2.0]), real(3, 3), complex=False),
        Sample(STACK, real(2, 3) + [0.0, 2.0, 4.0], real(2, 3, 3), complex=False),
    ],
    "spectral_move": [
        Sample(real(3, 3), STACK[0], np.array([0.1, 0.5, 2.0]), lower=True, complex=False),
        Sample(real(2, 3, 3), STACK, real(2, 3) + [0.0, 2.0, 4.0], lower=False, complex=False),
    ],
    "spectral_cotangent": [
        Sample(real(4, 3), STACK[0], np.array([0.1, 0.5, 2.0]), lower=True, complex=False),
        Sample(real(2, 4, 3), STACK, real(2, 3) + [0.0, 2.0, 4.0], lower=False, complex=False),
    ],
    "inv": [Sample(STACK[0]), Sample(STACK), Sample(np.ones((0, 0)))],
    "inverse_again": [Sample(STACK[0]), Sample(STACK)],
    "det": [
        Sample(STACK[0]),
        Sample(STACK),
        Sample(FLAT),
        Sample(FLAT[:2, :2]),
        Sample(real(1, 1)),
    ],
    "slogdet": [Sample(STACK[0]), Sample(-STACK)],
    "triangular_inverse": [Sample(np.tril(STACK))],
    "cholesky": [Sample(STACK[0], upper=False), Sample(STACK, upper=True)],
    "qr": [
        Sample(STACK, mode="reduced"),
        Sample(real(5, 3), mode="reduced"),
        Sample(real(2, 4), mode="reduced"),
        Sample(real(2, 2, 3), mode="complete"),
    ],
    # Of complex vectors only what does not depend on their phase has a derivative.
    "eigh": [
        Sample(STACK[0], lower=True, complex=False),
        Sample(STACK, lower=False, complex=False),
    ],
    "eig": [
        Sample(STACK[0]),
        Sample(STACK),
        Sample(np.array([[1.0, 2, 0.3], [-1, 1, 1], [0.4, 1, 4]])),
    ],
    "svd": [
        Sample(STACK, full=False, complex=False),
        Sample(np.diag([1.0, 2, 3, 4, 5])[:, :3] + 0.3 * real(5, 3), full=False, complex=False),
        Sample(np.diag([1.0, 2, 3, 4, 5])[:3] + 0.3 * real(3, 5), full=False, complex=False),
        Sample(STACK[0], full=True, complex=False),
    ],
    "pinv": [Sample(real(4, 2), rcond=None), Sample(real(2, 2, 3), rcond=1e-10)],
    "lstsq": [
        Sample(real(5, 2), real(5, 3), rcond=1e-12),
        Sample(real(2, 3), real(2, 1), rcond=1e-12),
    ],
    "poly": [Sample(STACK[0]), Sample(np.eye(3)), Sample(real(1, 1))],
    "roots": [Sample(np.array([1.0, -6.5, 11.0, -5.2])), Sample(np.array([1.0, 2.0, 5.0]))],
    "matrix_rank": [Sample(STACK[0]), Sample(STACK, tol=None)],
    "fft": [Sample(real(2, 5), axis=1, norm="backward"), Sample(real(4, 2), axis=0, norm="ortho")],
    "ifft": [
        Sample(real(2, 5), axis=1, norm="backward"),
        Sample(real(4, 2), axis=0, norm="forward"),
    ],
    "rfft": [
        Sample(real(2, 5), axis=1, norm="backward", complex=False),
        Sample(real(4, 2), axis=0, norm="ortho", complex=False),
        Sample(real(1), axis=0, norm="forward", complex=False),
    ],
    "irfft": [
        Sample(real(2, 3), axis=1, n=5, norm="backward"),
        Sample(real(3, 2), axis=0, n=4, norm="ortho"),
        Sample(real(1), axis=0, n=1, norm="forward"),
    ],
}

SAMPLES |= scipy_samples(Sample, real)

#: Elementwise primitives that need arguments above 1, or an exponent that is a constant.
SHIFTED = {"arccosh": 1.0, "complex_arccosh": 1.0}
CONSTANT_EXPONENT = {"polynomial_power"}


def samples(name):
    primitive = PRIMITIVES[name]
    if name in CONSTANT_EXPONENT:
        return [Sample(real(3), 3, complex=False), Sample(real(2, 2), 2, complex=False)]
    if name == "complex_power":
        return [Sample(real(3) + 0.3j, real(3) - 0.2j), Sample(real() + 1j, real(3) + 0j)]
    if name in SAMPLES:
        return SAMPLES[name]
    if isinstance(primitive, Elementwise):
        return elementwise(primitive, SHIFTED.get(name, 0.0))
    if isinstance(primitive, Opaque) and primitive.elementwise:
        n = getattr(primitive.impl, "nin", 1)
        return [Sample(*(real(3) for _ in range(n)), complex=False)]
    return []


def cases():
    """Every sample in real and, where it makes sense, in complex numbers."""
    global RNG
    for name, primitive in PRIMITIVES.items():
        RNG = np.random.default_rng(7)  # points do not depend on the order of the primitives
        for n, sample in enumerate(samples(name)):
            yield pytest.param(primitive, sample, id=f"{name}-{n}")
            if sample.complex and sample.floats():
                yield pytest.param(primitive, sample.as_complex(), id=f"{name}-{n}-complex")


CASES = list(cases())
LINEAR = [c for c in CASES if isinstance(c.values[0], Linear)]


@pytest.fixture(autouse=True)
def same_numbers_for_every_test():
    """Directions do not depend on which tests ran before in the same process."""
    global RNG
    RNG = np.random.default_rng(7)


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_every_primitive_has_a_sample(name):
    assert samples(name)


# --- each derivative is stated once ----------------------------------------------------------

#: All that a primitive of each family can state. Only Linear has transposes.
STATED = {
    Elementwise: {
        "partials",
        "namespace",
        "operator",
        "text",
        "singular",
        "chooses",
        "linear",
        "joint",
        "complex",
        "constant",
        "twice",
        "call",
        "large",
    },
    Linear: {
        "quick",
        "transposes",
        "transpose_all",
        "rules",
        "is_chained",
        "is_total",
        "in_stack",
        "joint",
        "variadic",
        "_batch",
        "_spec",
        "show",
        "add_into",
        "add_share",
        "in_stack",
    },
    Composite: {"rules", "is_chained", "whole", "reads", "_batch"},
    Opaque: {"elementwise", "_batch"},
}
REVERSE = (
    "vjp",
    "pull",
    "pullback",
    "backward",
    "transpose",
    "transposes",
    "reverse",
    "adjoint",
    "cotangent",
)


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_no_primitive_but_the_linear_ones_has_a_reverse_formula(name):
    primitive = PRIMITIVES[name]
    assert type(primitive) in STATED, "a family of its own could hide a reverse formula"
    assert set(vars(primitive)) <= STATED[type(primitive)] | {"impl", "name", "__name__"}
    if not isinstance(primitive, Linear):
        assert not [a for a in dir(primitive) if a.lstrip("_").startswith(REVERSE)]
    for rule in getattr(primitive, "rules", ()):
        if isinstance(rule, Chain):
            assert all(PRIMITIVES[link.primitive.name] is link.primitive for link in rule.links)
            assert all(isinstance(link.primitive, Linear) for link in rule.links)


# --- the adjoint identity --------------------------------------------------------------------


def leaves(out):
    return out if isinstance(out, tuple) else (out,)


def seed(value):
    """A random tangent or cotangent of the shape and dtype of a value; None where it has none."""
    value = np.asarray(value)
    if value.dtype.kind not in "fc":
        return np.zeros(value.shape)[()]
    s = RNG.normal(size=value.shape)
    if value.dtype.kind == "c":
        s = s + 1j * RNG.normal(size=value.shape)
    return np.asarray(s, value.dtype)[()]


def inner(a, b):
    """Re <a, b> summed over all parts."""
    return sum(np.vdot(u, v).real for u, v in zip(leaves(a), leaves(b), strict=True))


def moving(primitive, sample):
    """The primitive as a function of its floating arguments, and those."""
    where = sample.floats()

    def f(*some):
        args = list(sample.args)
        for k, a in zip(where, some, strict=True):
            args[k] = a
        return primitive(*args, **sample.params)

    return f, tuple(np.asarray(sample.args[k])[()] for k in where)


@pytest.mark.parametrize("primitive, sample", CASES)
def test_reverse_is_the_adjoint_of_forward(primitive, sample):
    """<w, J v> = <J^T w, v> under Re <., .>, which also ties both modes to one derivative."""
    f, args = moving(primitive, sample)
    if not args:
        pytest.skip("no floating argument")
    v = tuple(map(seed, args))
    out, jv = dualad.jvp(f, args, v)
    _, pullback = dualad.vjp(f, *args)
    w = tuple(map(seed, leaves(out)))
    jtw = pullback(w if isinstance(out, tuple) else w[0])
    for a, t in zip(args, jtw, strict=True):
        assert t.shape == a.shape and t.dtype == a.dtype
    for o, t in zip(leaves(out), leaves(jv), strict=True):
        assert np.shape(t) == np.shape(o)
    real_parts = [
        (a, b) for a, b in zip(w, leaves(jv), strict=True) if np.asarray(b).dtype.kind in "fc"
    ]
    left = inner(*map(tuple, zip(*real_parts, strict=True))) if real_parts else 0.0
    scale = sum(np.abs(np.asarray(b)).sum() for b in leaves(jv)) + 1e-300
    tolerance = 1e-5 if any(np.asarray(o).dtype == np.float32 for o in leaves(out)) else 1e-12
    np.testing.assert_allclose(inner(jtw, v), left, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("primitive, sample", CASES)
def test_forward_is_the_limit_of_differences(primitive, sample):
    """Richardson's central differences over a sweep of steps: one of them agrees to 1e-7."""
    f, args = moving(primitive, sample)
    if (
        not args
        or not any(map(np.size, leaves(f(*args))))
        or primitive.name in ("cast", "stop_gradient")
    ):
        pytest.skip("nothing to differentiate, or no accuracy to do it with")
    v = tuple(map(seed, args))
    _, jv = dualad.jvp(f, args, v)

    def moved(h):
        return leaves(f(*(a + h * t for a, t in zip(args, v, strict=True))))

    def difference(h):
        coarse = [(p - m) / (2 * h) for p, m in zip(moved(h), moved(-h), strict=True)]
        fine = [(p - m) / h for p, m in zip(moved(h / 2), moved(-h / 2), strict=True)]
        return [(4 * b - a) / 3 for a, b in zip(coarse, fine, strict=True)]

    if any(np.asarray(o).dtype.kind not in "fc" for o in leaves(f(*args))):
        pytest.skip("a result without tangent space")
    errors = [
        max(np.max(np.abs(d - t)) for d, t in zip(difference(h), leaves(jv), strict=True))
        for h in (1e-2, 1e-3, 1e-4)
    ]
    assert min(errors) < 1e-7 * (1 + max(np.max(np.abs(t)) for t in leaves(jv)))


# --- batching --------------------------------------------------------------------------------


def batches(sample, n):
    """Every choice of arguments to carry a batch axis, with n different entries each."""
    where = [k for k, a in enumerate(sample.args) if np.ndim(a) or k in sample.floats()]
    for r in range(1, len(where) + 1):
        for chosen in itertools.combinations(where, r):
            yield chosen, [varied(a, n) if p in chosen else a for p, a in enumerate(sample.args)]


def varied(a, n):
    """n versions of an argument: scaled, or if it is an index or a mask, reordered."""
    a = np.asarray(a)
    if a.dtype.kind in "fc":
        return np.stack([a * (1 - 0.02 * k) for k in range(n)])
    return np.stack([np.roll(a, k, axis=-1) for k in range(n)])


@pytest.mark.parametrize("primitive, sample", CASES)
def test_batching_agrees_with_a_loop(primitive, sample):
    if primitive.name in NO_BATCH:
        pytest.skip("no batch of this")
    for chosen, args in batches(sample, 3):
        axes = tuple(0 if p in chosen else None for p in range(len(args)))

        def call(*some):
            return primitive(*some, **sample.params)

        at_once = dualad.vmap(call, in_axes=axes)(*args)
        rows = [
            leaves(call(*(a[k] if p in chosen else a for p, a in enumerate(args))))
            for k in range(3)
        ]
        for j, found in enumerate(leaves(at_once)):
            expected = np.stack([np.asarray(r[j]) for r in rows])
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
            assert found.dtype == expected.dtype


@pytest.mark.parametrize("primitive, sample", CASES)
def test_derivatives_of_a_batch_agree_with_a_loop(primitive, sample):
    """vmap of the pullback: the batching rules of everything the transpose is made of."""
    f, args = moving(primitive, sample)
    if not args:
        pytest.skip("no floating argument")
    out, pullback = dualad.vjp(f, *args)
    w = [tuple(map(seed, leaves(out))) for _ in range(2)]
    stacked = tuple(np.stack([np.asarray(row[j]) for row in w]) for j in range(len(leaves(out))))
    several = isinstance(out, tuple)
    at_once = dualad.vmap(pullback)(stacked if several else stacked[0])
    for k in range(2):
        one = pullback(w[k] if several else w[k][0])
        for a, b in zip(at_once, one, strict=True):
            np.testing.assert_allclose(a[k], b, rtol=1e-12, atol=1e-14)


# --- linear programs -------------------------------------------------------------------------


def programs(primitive, sample):
    """The program of a linear primitive in each of its linear arguments, and that argument."""
    args = sample.args
    out = spec_of(primitive(*args, **sample.params))
    for k in range(len(args)):
        if primitive.transpose_in(k) is None or k not in sample.floats():
            continue
        if primitive.joint:
            rest = [np.zeros_like(a) for a in args]
        else:
            rest = list(args)

        def run(t):
            return (primitive(*rest[:k], t, *rest[k + 1 :], **sample.params),)

        yield trace_linear(run, [spec_of(args[k])], [out]), run, args[k]


@pytest.mark.parametrize("primitive, sample", LINEAR)
def test_source_gives_the_same_numbers_in_both_directions(primitive, sample):
    for program, run, argument in programs(primitive, sample):
        t = seed(argument)
        (expected,) = run(t)
        np.testing.assert_allclose(program(t)[0], expected, rtol=1e-13)
        np.testing.assert_allclose(executed(program, (t,))[0], expected, rtol=1e-13)
        back = program.transpose()
        w = seed(expected)
        (pulled,) = program.pull([w])
        np.testing.assert_allclose(executed(back, (w,))[0], pulled, rtol=1e-13)
        tolerance = 1e-5 if expected.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(
            inner(w, expected), inner(pulled, t), rtol=tolerance, atol=tolerance
        )
        np.testing.assert_allclose(executed(back.transpose(), (t,))[0], expected, rtol=1e-13)


@pytest.mark.parametrize("primitive, sample", LINEAR)
def test_spec_is_the_shape_and_dtype_of_the_result(primitive, sample):
    known = [
        Spec(a.shape, a.dtype) if k in sample.floats() else a for k, a in enumerate(sample.args)
    ]
    spec = primitive.out_spec(tuple(known), sample.params)
    out = primitive(*sample.args, **sample.params)
    assert (tuple(spec.shape), np.dtype(spec.dtype)) == (np.shape(out), np.asarray(out).dtype)


@pytest.mark.parametrize("primitive, sample", CASES)
def test_the_linearization_of_every_primitive_runs_as_source(primitive, sample):
    """Whatever its family: the derivative at a point as NumPy source, and its transpose."""
    f, args = moving(primitive, sample)
    if not args:
        pytest.skip("no floating argument")
    out, f_lin = dualad.linearize(f, *args)
    v = tuple(map(seed, args))
    expected = leaves(dualad.jvp(f, args, v)[1])
    program = f_lin.program
    for found, exact in zip(leaves(f_lin(*v)), expected, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-14)
    for found, exact in zip(executed(program, v), expected, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-14)
    w = tuple(map(seed, leaves(out)))
    pulled = dualad.vjp(f, *args)[1](w if isinstance(out, tuple) else w[0])
    for found, exact in zip(executed(program.transpose(), w), pulled, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-14)


def executed(program, tangents):
    """Run the printed source as a reader would, in an empty namespace."""
    scope = {"constants": program.constants()}
    exec(program.source("linear"), scope)
    return scope["linear"](*tangents)
