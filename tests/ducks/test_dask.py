"""dask arrays inside of duals and transformations: lazy, in their chunks, NumPy's numbers.

Every lazy run is under a scheduler that raises: nothing is computed while a graph is built. The
right values are those of the same program on NumPy arrays, whose derivatives the tests of each
rule state by mathematics.
"""

import contextlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dualad
from dualad.engine.primitives.primitive import PRIMITIVES
from dualad.errors import (
    LostDerivativeError,
    MissingRuleError,
    NotDifferentiableError,
    RefusedAttributeError,
    ShapeError,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
special = pytest.importorskip("scipy.special")

import dualad.ops.special  # noqa: E402  (its functions are loaded when one is met)
from dualad.ducks.dask import operations  # noqa: E402
from dualad.ducks.dask_operations import OPERATIONS  # noqa: E402
from dualad.engine.kinds.duck import LIBRARIES, is_entrywise  # noqa: E402

SPECIAL = ("expit", "erf", "ndtr", "gammaln", "psi", "xlogy", "i0")

RNG = np.random.default_rng(5)
X = RNG.uniform(0.2, 0.9, (6, 4))
V, B = RNG.normal(size=(6, 4)), RNG.uniform(1.2, 2.0, (6, 4))
W = RNG.normal(size=(4, 3))


def chunked(a, size=(3, 2)):
    return da.from_array(a, chunks=size[: a.ndim] if isinstance(size, tuple) else size)


def _computed(*args, **kwargs):
    raise AssertionError("something was computed while the graph was built")


@contextlib.contextmanager
def lazily():
    with dask.config.set(scheduler=_computed):
        yield


def value(x):
    """The number of a lazy result; a NumPy result as it is."""
    return x.compute(scheduler="synchronous") if isinstance(x, da.Array) else np.asarray(x)


def close(*pairs, single=False):
    """Lazy results beside the right ones, all computed together."""
    lazy, eager = zip(*pairs, strict=True)
    for a, b in pairs:
        assert isinstance(a, da.Array)
        assert a.dtype == b.dtype and a.shape == b.shape
    for a, b in zip(dask.compute(*lazy, scheduler="synchronous"), eager, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5 if single else 1e-10, atol=1e-12)


#: Programs of arrays x, and of a constant b and a matrix w of the same library.
PROGRAMS = {
    "powers": lambda x, b, w: x**3 + x**2.5 + 2.0**x + np.float_power(b, x) * x**b,
    "quotients": lambda x, b, w: 1 / x + x / (x + b) + np.reciprocal(x) + b % x + np.fmod(b, x),
    "exponentials": lambda x, b, w: np.exp(x) * np.expm1(x) + np.exp2(-x),
    "logarithms": lambda x, b, w: np.log(x) + np.log2(x) * np.log10(x) - np.log1p(x),
    "sums of exponentials": lambda x, b, w: np.logaddexp(x, b) + np.logaddexp2(b, x),
    "roots": lambda x, b, w: np.sqrt(x) + np.cbrt(x) + np.hypot(x, b) + np.square(x),
    "trigonometric": lambda x, b, w: np.sin(x) * np.cos(x) + np.tan(x) + np.sinc(x),
    "inverse": lambda x, b, w: np.arcsin(x) + np.arccos(x) * np.arctan(x) + np.arctan2(x, b),
    "hyperbolic": lambda x, b, w: np.sinh(x) + np.cosh(x) * np.tanh(x),
    "inverse hyperbolic": lambda x, b, w: np.arcsinh(x) + np.arctanh(x) * np.arccosh(x + 1),
    "angles": lambda x, b, w: np.deg2rad(x) + np.degrees(x) - np.radians(x) + np.rad2deg(x),
    "absolute": lambda x, b, w: np.abs(x - 0.5) + np.fabs(x - b) + np.copysign(x, x - 0.5),
    "extrema of two": lambda x, b, w: np.maximum(x, b - 1) + np.minimum(x, 0.5) + np.fmax(x, x),
    "clip": lambda x, b, w: np.clip(x, 0.3, 0.7) * np.fmin(x, b),
    "steps": lambda x, b, w: (
        x
        * (np.floor(3 * x) + np.rint(x) + np.sign(x - 0.5) + (3 * x // 1) + (x > 0.5).astype(int))
    ),
    "rounding": lambda x, b, w: np.round(x, 1) * x + np.ceil(x) * np.trunc(3 * x) * x,
    "comparisons": lambda x, b, w: np.where((x > 0.3) & ~(x >= b - 1) | (x == b), x * x, -x),
    "closeness": lambda x, b, w: np.where(np.isclose(x, x) & np.isfinite(x), x * b, 0.0),
    "truth along axes": lambda x, b, w: np.where(
        np.all(x > 0.1, axis=0), x, np.any(x < 0, axis=0)
    ),
    "where": lambda x, b, w: np.where(x > 0.5, x * x, np.log(x)),
    "select": lambda x, b, w: np.select([x > 0.5], [x * 2], np.sin(x)),
    "sum": lambda x, b, w: np.sum(x * x),
    "sums along axes": lambda x, b, w: x.sum(axis=0) * x.sum(axis=(0, 1)) + np.sum(x > 0.5),
    "means": lambda x, b, w: x.mean(axis=1, keepdims=True) * np.mean(x) + np.average(x, axis=0),
    "sum of numbers": lambda x, b, w: np.nansum(x, axis=1) + np.nanmean(x),
    "extrema": lambda x, b, w: x.max(axis=0) * np.min(x) + np.ptp(x),
    "spread": lambda x, b, w: x.var(axis=0) + x.std() + np.var(x, axis=1, ddof=1)[:4],
    "covariance": lambda x, b, w: np.cov(x),
    "lengths": lambda x, b, w: np.linalg.norm(x) + np.linalg.norm(x, axis=1),
    "running sum": lambda x, b, w: np.cumsum(x, axis=0) * np.cumsum(x > 0.5, axis=1),
    "running sum of all": lambda x, b, w: np.cumsum(x),
    "reshape": lambda x, b, w: np.reshape(x, (3, 8)) * x.reshape(-1)[:8] + x.ravel()[-1],
    "transpose": lambda x, b, w: np.transpose(x) * x.T + x.swapaxes(0, 1) + np.moveaxis(x, 0, 1),
    "broadcast": lambda x, b, w: np.broadcast_to(x[0], (5, 4)) * 2 + x[1],
    "new axes": lambda x, b, w: np.expand_dims(x, 1) * x[:, :, None] + np.squeeze(x[:1]),
    "slices": lambda x, b, w: x[1:4, ::2] * x[0, 0] + x[3, -1],
    "reversed": lambda x, b, w: x[::-1, 3] * x[:, 0] + np.flip(x, 0)[:, 1],
    "steps and new axes": lambda x, b, w: x[5:0:-2, None, 1:] * x[..., 1:2],
    "nothing": lambda x, b, w: x[3:3].sum() + np.concatenate([x[:0], x])[1],
    "joined": lambda x, b, w: np.concatenate([x, b, np.ones((2, 4)), x * 2]) * 2,
    "stacked": lambda x, b, w: np.stack([x, np.sin(x)], axis=1) + np.hstack([x, b])[:1, None, :4],
    "blocks": lambda x, b, w: np.block([[x, b], [b, x]]) + np.tile(x, (2, 2)),
    "split": lambda x, b, w: np.split(x, 2)[1] * np.array_split(x, 3)[0][0],
    "shifted": lambda x, b, w: np.roll(x, 1, 0)[1:] * np.diff(x, axis=0) + np.pad(x, 1)[2:7, 1:-1],
    "written to": lambda x, b, w: _written(x),
    "matmul": lambda x, b, w: x @ w,
    "matmul of vectors": lambda x, b, w: (x @ w[:, 0])[:4] * (w[:, 1] @ x.T)[:4] + x[0] @ x[1],
    "matmul of stacks": lambda x, b, w: np.stack([x, b]) @ w @ np.stack([w.T, w.T]),
    "matmul from the left": lambda x, b, w: b.T @ x + np.matmul(b[:4].T, x[:4]),
    "products": lambda x, b, w: np.dot(x, w) * np.inner(x, b)[:, :3] + np.vdot(x, b),
    "outer": lambda x, b, w: np.outer(x[0], x[1]) + np.kron(x[:1], b[:1]).reshape(4, 4),
    "tensordot": lambda x, b, w: np.tensordot(x, w, 1) * np.tensordot(x, b, ([0, 1], [0, 1])),
    "einsum": lambda x, b, w: np.einsum("ij,jk->ik", x, w) + np.einsum("ij,ij->i", x, b)[:, None],
    "constants": lambda x, b, w: x + b * x - w.sum() + (b - x) / b + b**x + np.add(b, x),
    "softmax": lambda x, b, w: (
        (e := np.exp(x - x.max(axis=1, keepdims=True))) / e.sum(axis=1, keepdims=True)
    ),
    "complex": lambda x, b, w: np.abs(x + 1j * b) ** 2 + ((x * (1 + 2j)) * np.conj(x * 1j)).imag,
    "precision": lambda x, b, w: np.sqrt(x.astype(np.float32)) * x.astype(np.float32).sum(),
    "kept constant": lambda x, b, w: x * dualad.stop_gradient(x),
    "augmented": lambda x, b, w: _augmented(x),
    "heaviside": lambda x, b, w: np.heaviside(x - 0.5, 0.5) * x,
    "rows": lambda x, b, w: sum(r.sum() ** 2 for r in x),
    "scalars": lambda x, b, w: np.stack([x[0, 0], x[1, 1] ** 2]),
    **{
        f"special.{name}": lambda x, b, w, f=getattr(special, name): (
            f(x, b) if f.nin == 2 else f(x)
        )
        for name in SPECIAL
    },
}


def _augmented(x):
    y = x * 1.0
    y += x
    y *= y
    return y


def _written(x):
    y = x * 1.0
    y[0] = x[1]
    y[1:3, ::2] = x[3:5, :2] * 2
    y[:, 1] = 5.0
    y[-1, ::-1] += x[0]
    return y


def both(name):
    """A program on chunked arrays, and the same on NumPy's."""
    f = PROGRAMS[name]
    b, w = chunked(B), chunked(W)
    return (lambda x: f(x, b, w)), (lambda x: f(x, B, W))


@pytest.mark.parametrize("name", PROGRAMS)
def test_jvp_and_grad_are_lazy_and_right(name):
    lazy, eager = both(name)
    x, v = chunked(X), chunked(V)
    with lazily():
        y, dy = dualad.jvp(lazy, (x,), (v,))
        gradient = dualad.grad(lambda x: np.sum(np.sin(lazy(x))))(x)
    expected, moved = dualad.jvp(eager, (X,), (V,))
    slopes = dualad.grad(lambda x: np.sum(np.sin(eager(x))))(X)
    close((y, expected), (dy, moved), (gradient, slopes), single=name == "precision")
    assert gradient.chunks == x.chunks


@pytest.mark.parametrize("name", ["quotients", "where", "slices", "matmul", "spread", "joined"])
def test_the_other_modes_are_lazy_and_right(name):
    lazy, eager = both(name)
    x, v = chunked(X), chunked(V)

    def curvature(f):
        return lambda x, v: dualad.jvp(dualad.grad(lambda x: np.sum(np.sin(f(x)))), (x,), (v,))[1]

    with lazily():
        y, pullback = dualad.vjp(lazy, x)
        (share,) = pullback(da.ones_like(y))
        _, linear = dualad.linearize(lazy, x)
        moved = linear(v)
        second = curvature(lazy)(x, v)
        twice = dualad.grad(lambda x: np.sum(curvature(lazy)(x, v)))(x)
        whole, part = dualad.value_and_grad(lambda x: np.sum(lazy(x)))(x)
    ones = np.ones(y.shape, y.dtype)
    close(
        (share, dualad.vjp(eager, X)[1](ones)[0]),
        (moved, dualad.jvp(eager, (X,), (V,))[1]),
        (second, curvature(eager)(X, V)),
        (twice, dualad.grad(lambda x: np.sum(curvature(eager)(x, V)))(X)),
        (whole, np.sum(eager(X))),
        (part, dualad.grad(lambda x: np.sum(eager(x)))(X)),
    )
    assert share.chunks == twice.chunks == part.chunks == x.chunks


def test_every_listed_operation_is_used_by_a_program(monkeypatch):
    used = set()
    library = LIBRARIES[da.Array]
    find = library.operation
    monkeypatch.setattr(library, "operation", lambda p: used.add(p.name) or find(p))
    with lazily():
        for name in PROGRAMS:
            lazy, _ = both(name)
            dualad.grad(lambda x, f=lazy: np.sum(np.sin(f(x))))(chunked(X))
    assert set(OPERATIONS) <= set(operations()) and set(OPERATIONS) <= set(PRIMITIVES)
    assert not set(OPERATIONS) - used


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    # The order of bessel_i is a whole number; it belongs to np.i0.
    sorted(n for n, p in PRIMITIVES.items() if p.family == "elementwise" and n != "bessel_i"),
)
def test_every_function_of_single_entries(name):
    """Chunk by chunk it is the same function, at all real numbers, also where it is NaN."""
    primitive = PRIMITIVES[name]
    assert is_entrywise(primitive) and name in operations()
    x = np.array([[-1.5, -0.5, 0.0], [0.4, 0.7, 2.5]])
    many = [np.roll(x, k) for k in range(len(primitive.partials))]
    f = lambda *xs: np.sum(np.real(primitive(*xs)))
    with np.errstate(all="ignore"):
        try:
            eager = dualad.grad(f, argnums=tuple(range(len(many))))(*many)
        except (TypeError, ValueError):
            pytest.skip("not a function of real numbers, or one without a derivative")
        with lazily():
            lazy = dualad.grad(f, argnums=tuple(range(len(many))))(*(chunked(a) for a in many))
        for a, b in zip(lazy, eager, strict=True):
            np.testing.assert_allclose(value(a), b, rtol=1e-10)


def test_vmap_over_a_chunked_axis():
    f = lambda r: np.sin(r) * r.sum()
    with lazily():
        out = dualad.vmap(f)(chunked(X))
        per_row = dualad.vmap(dualad.grad(lambda r: np.sum(f(r))))(chunked(X))
    slopes = np.stack([dualad.grad(lambda r: np.sum(f(r)))(r) for r in X])
    close((out, np.stack([f(r) for r in X])), (per_row, slopes))


# --- zero meets infinity, and warnings -----------------------------------------------------------


def test_zero_wins_over_an_infinite_slope_without_computing():
    z = np.array([0.0, 1.0, 0.0, 4.0])
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)) + np.sum(np.sqrt(x * x))
    with lazily():
        gradient = dualad.grad(f)(chunked(z))
        tangent = dualad.jvp(f, (chunked(z),), (da.ones(4, chunks=2),))[1]
    # Slope of the first sum: 0, 1/2, 0, 1/4; of the second: 0, 1, 0, 1.
    np.testing.assert_allclose(value(gradient), [0.0, 1.5, 0.0, 1.25])
    np.testing.assert_allclose(value(tangent), 2.75)


# --- containers, mixtures, shapes ----------------------------------------------------------------


def test_gradients_of_a_container_of_both_kinds():
    f = lambda p: np.sum(p["a"] * p["b"] ** 2)
    with lazily():
        g = dualad.grad(f)({"a": chunked(X), "b": V})
    np.testing.assert_allclose(value(g["a"]), V**2)
    np.testing.assert_allclose(value(g["b"]), 2 * X * V)


def test_levels_of_different_kinds():
    """d/da sum(a cos(x)) = sum(cos(x)), the gradient in x being a cos(x)."""
    inner = lambda a: dualad.grad(lambda x: np.sum(np.sin(x) * a))(chunked(X))
    with lazily():
        slope = dualad.grad(lambda a: np.sum(inner(a)))(2.0)
    np.testing.assert_allclose(value(slope), np.sum(np.cos(X)))


def test_a_result_that_does_not_depend_is_a_lazy_zero():
    x, v = chunked(X), chunked(V)
    with lazily():
        tangent = dualad.jvp(lambda x: v * 2, (x,), (v,))[1]
        gradient = dualad.grad(lambda x: np.float64(1.0))(x)
    for zero in (tangent, gradient):
        assert isinstance(zero, da.Array) and zero.chunks == x.chunks
        np.testing.assert_array_equal(value(zero), np.zeros(X.shape))


def test_auxiliary_results_are_dask_arrays():
    _, mask = dualad.grad(lambda x: (np.sum(x), x > 0.5), has_aux=True)(chunked(X))
    assert isinstance(mask, da.Array)
    np.testing.assert_array_equal(value(mask), X > 0.5)


def test_tangents_take_the_chunks_of_their_primals():
    y, dy = dualad.jvp(lambda x: x * 2, (chunked(X),), (da.from_array(V, chunks=3),))
    assert dy.chunks == y.chunks
    _, from_numpy = dualad.jvp(lambda x: x * 2, (chunked(X),), (V,))
    np.testing.assert_allclose(value(from_numpy), 2 * V)


def test_arrays_without_axes_and_without_entries():
    with lazily():
        point = dualad.grad(np.sin)(da.asarray(0.5))
        none = dualad.grad(lambda x: np.sum(x * x))(da.zeros((0, 3)))
    np.testing.assert_allclose(value(point), np.cos(0.5))
    assert value(none).shape == (0, 3)


def test_a_gradient_of_a_large_array_is_read_in_part():
    huge = da.ones((30_000, 10_000), chunks=2_000)
    with lazily():
        g = dualad.grad(lambda x: np.sum(x[1:] ** 2) + np.sum(x))(huge)
    assert g.chunks == huge.chunks
    corner = g[:2, :2].compute(scheduler="synchronous")
    np.testing.assert_array_equal(corner, [[1.0, 1.0], [3.0, 3.0]])


def test_a_rule_of_the_users_own():
    @dualad.custom_jvp
    def f(x):
        return np.sin(x) * x

    @f.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return f(x), 7.0 * t * x

    with lazily():
        gradient = dualad.grad(lambda x: np.sum(f(x)))(chunked(X))
    np.testing.assert_allclose(value(gradient), 7.0 * X)
    assert isinstance(f(chunked(X)), da.Array)


# --- what is refused -----------------------------------------------------------------------------

COLUMN = slice(0, 4)
REFUSED = {
    "cholesky": (lambda x: np.linalg.cholesky(x[COLUMN]), MissingRuleError, "cholesky"),
    "solve": (lambda x: np.linalg.solve(x[COLUMN], x[COLUMN]), MissingRuleError, "solve"),
    "svd": (np.linalg.svd, MissingRuleError, "dask"),
    "prod": (np.prod, MissingRuleError, "prod"),
    "cumprod": (np.cumprod, MissingRuleError, "cumprod"),
    "sort": (np.sort, MissingRuleError, "sort"),
    "median": (np.median, MissingRuleError, "dask"),
    "fft": (np.fft.fft, MissingRuleError, "fft"),
    "logsumexp": (lambda x: np.logaddexp.reduce(x), MissingRuleError, "logaddexp"),
    "eigenvalues": (lambda x: np.linalg.eigvalsh(x[COLUMN]), MissingRuleError, "dask"),
    "fill_diagonal": (lambda x: np.fill_diagonal(x * 1.0, 0.0), NotDifferentiableError, "index"),
    "index array": (lambda x: x[[0, 2]], NotDifferentiableError, "index array"),
    "mask": (lambda x: x[x > 0.5], NotDifferentiableError, r"np\.where"),
    "branch": (lambda x: x if x[0, 0] > 0 else -x, LostDerivativeError, r"np\.where"),
    "branch on a mask": (lambda x: x if np.all(x > 0) else -x, LostDerivativeError, "compute"),
    "float": (lambda x: float(x[0, 0]), LostDerivativeError, "float"),
    "float of a count": (lambda x: float(np.sum(x > 0)) * x, LostDerivativeError, "compute"),
    "asarray": (np.asarray, LostDerivativeError, "ndarray"),
    "asarray of a mask": (lambda x: np.asarray(x > 0) * x, LostDerivativeError, "compute"),
    "histogram": (np.histogram, MissingRuleError, "lazy"),
    "da.sum": (lambda x: da.sum(x), LostDerivativeError, r"NumPy's function"),
    "da.stack": (lambda x: da.stack([x, x]), LostDerivativeError, "dask"),
    "da.from_array": (lambda x: da.from_array(x, name="x"), LostDerivativeError, "np.sum"),
    "da.map_blocks": (lambda x: da.map_blocks(np.sin, x), LostDerivativeError, "map_blocks"),
    "map_blocks": (lambda x: x.map_blocks(np.sin), RefusedAttributeError, "map_blocks"),
    "compute": (lambda x: x.compute(), RefusedAttributeError, "compute"),
    "rechunk": (lambda x: x.rechunk(3), RefusedAttributeError, "rechunk"),
    "printed program": (lambda x: dualad.linearize(lambda y: y * x, X)[1].program.source(),
                        MissingRuleError, "entries"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_listed_is_an_error_with_a_remedy(name):
    f, error, text = REFUSED[name]
    for mode in (
        lambda x: dualad.jvp(f, (x,), (x,)),
        lambda x: dualad.grad(lambda x: np.sum(f(x)))(x),
    ):
        with lazily(), pytest.raises(error, match=text):
            mode(chunked(X))


def test_arguments_that_cannot_take_part():
    unknown = chunked(X)[chunked(X) > 0.5]
    with pytest.raises(NotDifferentiableError, match="compute_chunk_sizes"):
        dualad.grad(np.sum)(unknown)
    with pytest.raises(NotDifferentiableError, match="compute_chunk_sizes"):
        dualad.grad(lambda x: np.sum(x * unknown))(X[0, :1])
    with pytest.raises(NotDifferentiableError, match="int64"):
        dualad.grad(np.sum)(da.arange(4))
    masked = chunked(X).map_blocks(np.ma.masked_array, meta=np.ma.masked_array([[0.0]]))
    with pytest.raises(NotDifferentiableError, match="chunks"):
        dualad.grad(np.sum)(masked)
    with pytest.raises(ShapeError):
        dualad.jvp(lambda x: x, (chunked(X),), (chunked(V[:2]),))
    with pytest.raises(ShapeError, match="scalar"):
        dualad.grad(lambda x: x)(chunked(X))


def test_a_lazy_value_inside_is_neither_pickled_nor_shown_as_numbers():
    seen = []

    def f(x):
        seen.append(x > 0.5)
        return np.sum(x)

    dualad.grad(f)(chunked(X))
    assert "dask.array" in repr(seen[0]) and "dask.array" in f"{seen[0]}"
    with pytest.raises(LostDerivativeError):
        pickle.dumps(seen[0])


def test_dask_is_not_imported_without_need():
    code = (
        "import sys, numpy as np, dualad; dualad.grad(np.sum)(np.ones(3)); "
        "print('dask' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


# --- a cluster -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_derivatives_run_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        x, v, w = chunked(X, 3), chunked(V, 3), chunked(W)
        f = lambda x: np.sum(np.log(np.where(x > 0.5, x, 2 * x)) @ w) + np.sum(np.sqrt(x))
        gradient = dualad.grad(f)(x)
        tangent = dualad.jvp(f, (x,), (v,))[1]
        future = client.compute(gradient)
        on_cluster, along = future.result(), client.compute(tangent).result()
    expected = W.sum(axis=1) / X + 0.5 / np.sqrt(X)
    np.testing.assert_allclose(on_cluster, expected)
    np.testing.assert_allclose(along, np.sum(expected * V))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_derivatives_run_in_other_processes():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        for name in PROGRAMS:
            lazy, eager = both(name)
            gradient = dualad.grad(lambda x, f=lazy: np.sum(np.sin(f(x))))(chunked(X)).compute()
            expected = dualad.grad(lambda x, f=eager: np.sum(np.sin(f(x))))(X)
            np.testing.assert_allclose(gradient, expected, rtol=2e-5, atol=1e-7)
