"""dualad.scipy.stats: SciPy's values, derivatives in argument and parameters, tails, supports."""

import pickle

import mpmath
import numpy as np
import pytest
import scipy.stats
from every_mode import derivative, differences

import dualad
from dualad.errors import (
    LostDerivativeError,
    MissingRuleError,
    NotDifferentiableError,
    SingularPointError,
)
from dualad.ops.distributions.orthants import _bivariate
from dualad.scipy import stats

X = np.array([0.2, 0.7, 0.45])
INF, NAN = np.inf, np.nan
#: Shapes, and three places inside of the support.
CONTINUOUS = {
    "norm": ((), 3 * X - 1),
    "t": ((3.3,), 4 * X - 1.5),
    "beta": ((2.2, 1.4), X),
    "gamma": ((2.5,), 3 * X),
    "chi2": ((3.4,), 3 * X),
    "expon": ((), 2 * X),
    "lognorm": ((0.7,), 2 * X),
    "uniform": ((), X),
}
FUNCTIONS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")
COUNTS = np.array([0.0, 1.0, 4.0, 9.0])
MEAN, COV = (
    np.array([0.1, -0.4, 0.3]),
    np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 1.5]]),
)
POINT = np.array([0.5, -0.2, 1.0])
FLAT = np.ones((2, 2))


def close(actual, wanted, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(actual, wanted, rtol, atol)


def sym(c):
    return (c + np.swapaxes(c, -1, -2)) / 2


# --- one number ------------------------------------------------------------------------------


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions_in_argument_shapes_location_and_scale(name, function):
    shapes, z = CONTINUOUS[name]

    def f(x, loc, scale, *shapes):
        return getattr(getattr(stats, name), function)(x, *shapes, loc=loc, scale=scale)

    all_modes = function in ("logpdf", "cdf") and len(shapes) < 2
    derivative(f, 0.3 + 1.7 * z, 0.3, 1.7, *shapes, batched=all_modes, second=all_modes)


@pytest.mark.parametrize("function", ["pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"])
def test_the_poisson_distribution_in_its_mean(function):
    f = lambda mu: getattr(stats.poisson, function)(COUNTS + 1, mu, loc=1)
    derivative(f, 3.2)
    moved = dualad.jvp(lambda k: getattr(stats.poisson, function)(k, 3.2), (COUNTS,), (COUNTS,))[1]
    close(moved, np.zeros(4))


def test_slopes_that_are_known_by_heart():
    x, m, s = 1.3, 0.4, 1.7
    close(dualad.grad(stats.norm.logpdf, (0, 1, 2))(x, m, s),
          (-(x - m) / s**2, (x - m) / s**2, (x - m) ** 2 / s**3 - 1 / s))  # fmt: skip
    close(dualad.grad(stats.norm.cdf)(x), scipy.stats.norm.pdf(x))
    close(dualad.grad(stats.expon.logpdf, (0, 2))(x, 0.0, s), (-1 / s, x / s**2 - 1 / s))
    close(dualad.grad(lambda mu: stats.poisson.logpmf(3, mu))(2.5), 3 / 2.5 - 1)
    close(dualad.grad(lambda mu: stats.poisson.cdf(3, mu))(2.5), -scipy.stats.poisson.pmf(3, 2.5))
    close(dualad.grad(stats.uniform.logpdf, 2)(0.3, 0.0, 2.0), -0.5)
    close(dualad.grad(stats.gamma.logpdf, 1)(x, 2.0), np.log(x) - float(mpmath.digamma(2)))


def test_forms_of_calling_agree():
    """Positional, by keyword, frozen with each."""
    forms = [
        lambda a: stats.gamma.logpdf(1.5, a, 0.2, 2.0),
        lambda a: stats.gamma.logpdf(1.5, a, scale=2.0, loc=0.2),
        lambda a: stats.gamma.logpdf(x=1.5, a=a, loc=0.2, scale=2.0),
        lambda a: stats.gamma(a, 0.2, 2.0).logpdf(1.5),
        lambda a: stats.gamma(a, scale=2.0, loc=0.2).logpdf(1.5),
        lambda a: stats.gamma(a=a, scale=2.0, loc=0.2).logpdf([1.5])[0],
    ]
    want = differences(lambda a: scipy.stats.gamma.logpdf(1.5, a, 0.2, 2.0), (1.4,), (1.0,))[0]
    for f in forms:
        close(dualad.grad(f)(1.4), want, 1e-8)
    close(dualad.grad(lambda x: stats.norm(1.0, 2.0).logpdf(x))(2.0), -0.25)
    close(dualad.grad(lambda mu: stats.poisson(mu).logpmf(2))(4.0), -0.5)
    with pytest.raises(TypeError):
        dualad.grad(lambda a: stats.gamma.logpdf(1.5, b=a))(1.4)


#: Places on, inside and outside of the supports, and places that floats cannot tell from infinity.
EDGES = np.array([-INF, -1e300, -1.0, 0.0, 0.5, 1.0, 2.0, 1e300, NAN])
MORE_SHAPES = {
    "t": [(INF,), (0.0,), (-1.0,)],
    "beta": [(1.0, 1.0), (0.5, 0.5), (0.0, 1.0)],
    "gamma": [(1.0,), (0.5,), (0.0,)],
    "chi2": [(2.0,), (1.0,), (-1.0,)],
    "lognorm": [(0.0,)],
}


@pytest.mark.parametrize("scale", [1.0, 2.0, 0.0, -1.0])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_values_at_the_edges_are_scipys_and_slopes_outside_are_zero(name, scale):
    distribution, original = getattr(stats, name), getattr(scipy.stats, name)
    for shapes in [CONTINUOUS[name][0], *MORE_SHAPES.get(name, [])]:
        for function in FUNCTIONS:
            f = lambda x: getattr(distribution, function)(x, *shapes, loc=0.0, scale=scale)
            with np.errstate(all="ignore"):
                want = getattr(original, function)(EDGES, *shapes, loc=0.0, scale=scale)
            value, tangent = dualad.jvp(f, (EDGES,), (np.ones_like(EDGES),))
            close(value, want, 1e-11, 1e-15)
            low, high = original.support(*shapes, loc=0.0, scale=scale)
            outside = ~((EDGES >= low) & (EDGES <= high))
            assert np.all(tangent[outside] == 0)
            assert np.all(dualad.vjp(f, EDGES)[1](np.ones_like(EDGES))[0][outside] == 0)


def test_poisson_at_its_edges():
    k = np.array([-INF, -1.0, 0.0, 0.5, 1.0, 2.0, 50.0, NAN])
    for mu in (0.0, 2.5, -1.0):
        for function in ("pmf", "logpmf", "cdf", "sf"):
            value, tangent = dualad.jvp(
                lambda mu: getattr(stats.poisson, function)(k, mu), (mu,), (1.0,)
            )
            close(value, getattr(scipy.stats.poisson, function)(k, mu), 1e-11, 1e-15)
            assert np.all(tangent[[0, 1]] == 0)
    pmf_at_zero = dualad.jvp(lambda mu: stats.poisson.pmf(np.arange(4), mu), (0.0,), (1.0,))[1]
    close(pmf_at_zero, [-1, 1, 0, 0])  # mu**k exp(-mu) / k!


def _normal(z):
    return mpmath.log(mpmath.ncdf(z))


def _gamma(z, a):
    return mpmath.log(mpmath.gammainc(a, 0, z, regularized=True))


def _beta(z, a, b):
    return mpmath.log(mpmath.betainc(a, b, 0, z, regularized=True))


#: Logarithms of distribution functions, far out, and how 50 digits know them.
TAILS = [
    ("norm", (), _normal, [-300.0, -40.0, -1.0, 0.0, 8.0, 20.0]),
    ("expon", (), lambda z: mpmath.log(-mpmath.expm1(-z)), [1e-200, 1e-10, 0.5, 40.0, 200.0]),
    ("lognorm", (0.5,), lambda z, s: _normal(mpmath.log(z) / s), [1e-30, 1e-5, 1.0, 1e5]),
    ("gamma", (50.0,), _gamma, [1e-30, 1e-7, 1.0, 40.0, 100.0]),
    ("chi2", (700.0,), lambda z, v: _gamma(z / 2, v / 2), [1e-5, 1.0, 10.0, 700.0]),
    ("beta", (40.0, 3.0), _beta, [1e-20, 1e-8, 1e-5, 0.5, 0.999]),
]


@pytest.mark.parametrize("case", TAILS, ids=[c[0] for c in TAILS])
def test_logcdf_keeps_its_digits_and_its_slopes_in_the_tails(case):
    name, shapes, exact, places = case
    logcdf = getattr(stats, name).logcdf
    for z in places:
        at = (z, *shapes)
        with mpmath.workdps(160):
            numbers = [mpmath.mpf(v) for v in at]
            for k in range(len(at)):
                h = numbers[k] * mpmath.mpf(10) ** -25 or mpmath.mpf(10) ** -25
                move = [h if j == k else 0 for j in range(len(at))]
                up = exact(*(a + m for a, m in zip(numbers, move, strict=True)))
                down = exact(*(a - m for a, m in zip(numbers, move, strict=True)))
                value, slope = dualad.jvp(logcdf, at, tuple(float(m != 0) for m in move))
                close(value, float(exact(*numbers)), 1e-11, 1e-290)
                close(slope, float((up - down) / (2 * h)), 1e-10, 1e-300)


def test_a_poisson_count_far_below_its_mean():
    """P(K <= 3) = exp(-mu) (1 + mu + mu^2/2 + mu^3/6)."""
    mu = 900.0
    polynomial = 1 + mu + mu**2 / 2 + mu**3 / 6
    value, slope = dualad.jvp(lambda mu: stats.poisson.logcdf(3, mu), (mu,), (1.0,))
    close(value, -mu + np.log(polynomial))
    close(slope, -1 + (1 + mu + mu**2 / 2) / polynomial)
    value, slope = dualad.jvp(lambda mu: stats.poisson.logcdf(50, mu), (2.0,), (1.0,))
    close(slope, -float(mpmath.exp(-2) * mpmath.mpf(2) ** 50 / mpmath.factorial(50)), 1e-10, 0)


def test_students_t_at_zero_and_far_out():
    """With 1 degree of freedom it is 1/2 + arctan(z)/pi."""
    for z in (-1e5, -2.0, 0.0, 2.0):
        value, slope = dualad.jvp(lambda z: stats.t.logcdf(z, 1.0), (z,), (1.0,))
        p = 0.5 + np.arctan(z) / np.pi if z > -10 else -np.arctan(1 / z) / np.pi
        close(value, np.log(p), 1e-9)
        close(slope, 1 / (np.pi * (1 + z * z)) / p, 1e-9)


def test_infinitely_many_degrees_of_freedom_are_the_normal_distribution():
    for name in FUNCTIONS:
        f, g = getattr(stats.t, name), getattr(stats.norm, name)
        close(dualad.grad(lambda z: f(z, INF))(0.7), dualad.grad(g)(0.7))


def test_single_precision_is_computed_in_double_as_scipy_does():
    x = np.float32(0.5)
    value, tangent = dualad.jvp(stats.norm.logpdf, (x,), (np.float32(1.0),))
    assert value.dtype == tangent.dtype == scipy.stats.norm.logpdf(x).dtype == np.float64
    assert dualad.grad(stats.norm.logpdf)(x).dtype == np.float32


# --- the Dirichlet distribution --------------------------------------------------------------


def test_the_dirichlet_density_in_point_and_concentrations():
    alpha = np.array([1.3, 2.2, 0.8])
    simplex = lambda u: np.exp(u) / np.sum(np.exp(u), axis=0)
    derivative(lambda u, a: stats.dirichlet.logpdf(simplex(u), a), X, alpha)
    derivative(lambda u, a: stats.dirichlet(a).pdf(simplex(u)), X, alpha, second=False)
    many = np.stack([X, X[::-1]], axis=1)
    derivative(lambda u, a: stats.dirichlet.logpdf(simplex(u), a), many, alpha, batched=False)
    derivative(lambda u: stats.dirichlet.logpdf(u, alpha), np.array([0.2, 0.5]))


def test_what_is_no_point_of_the_simplex_is_refused_as_by_scipy():
    for x, alpha in (([0.5, 0.6], [1.0, 1.0]), ([-0.5, 1.5], [1.0, 1.0]), ([0.5, 0.5], [1.0, 0.0]),
                     ([0.2], [1.0, 1.0, 1.0]), ([0.5, 0.5], [[1.0, 1.0]])):  # fmt: skip
        with pytest.raises(ValueError):
            scipy.stats.dirichlet.logpdf(x, alpha)
        with pytest.raises(ValueError):
            dualad.grad(lambda x: stats.dirichlet.logpdf(x, np.array(alpha)))(np.array(x))


# --- the normal distribution in several dimensions -------------------------------------------


def test_the_normal_density_in_point_mean_and_covariance():
    f = lambda x, m, c: stats.multivariate_normal.logpdf(x, m, sym(c))
    derivative(f, POINT, MEAN, COV)
    derivative(f, np.stack([POINT, MEAN, -POINT]), MEAN, COV, batched=False)
    derivative(lambda x, m, c: stats.multivariate_normal(m, sym(c)).pdf(x), POINT, MEAN, COV)
    derivative(lambda x, s: stats.multivariate_normal.logpdf(x, MEAN, s), POINT, 2.0)
    derivative(lambda x, d: stats.multivariate_normal.logpdf(x, cov=d), POINT[:1], 2.0)
    derivative(
        lambda x, d: stats.multivariate_normal.logpdf(x, MEAN, d), POINT, np.arange(1.0, 4.0)
    )


def test_the_gradient_in_the_covariance():
    """(a a^T - S^-1) / 2 with a = S^-1 (x - m): symmetric, as every entry counts."""
    a = np.linalg.solve(COV, POINT - MEAN)
    want = (np.outer(a, a) - np.linalg.inv(COV)) / 2
    close(dualad.grad(lambda c: stats.multivariate_normal.logpdf(POINT, MEAN, c))(COV), want)
    object_ = scipy.stats.Covariance.from_cholesky(np.linalg.cholesky(COV))
    close(dualad.grad(lambda x: stats.multivariate_normal.logpdf(x, MEAN, object_))(POINT), -a)


def test_a_singular_covariance():
    """Along its range the density is that of one number with variance 2 s."""
    f = lambda s: stats.multivariate_normal.logpdf(np.array([0.3, 0.3]), None, s * FLAT, True)
    close(f(1.0), scipy.stats.multivariate_normal.logpdf([0.3, 0.3], None, FLAT, True))
    close(dualad.grad(f)(1.0), -0.5 + 0.09 / 2)
    off = lambda x: stats.multivariate_normal.logpdf(x, None, FLAT, True)
    value, tangent = dualad.jvp(off, (np.array([0.3, 0.4]),), (np.ones(2),))
    assert value == -INF and tangent == 0
    with pytest.raises(np.linalg.LinAlgError, match="allow_singular"):
        dualad.grad(lambda x: stats.multivariate_normal.logpdf(x, None, FLAT))(np.ones(2))
    with pytest.raises(ValueError, match="positive semidefinite"):
        dualad.grad(lambda x: stats.multivariate_normal.logpdf(x, None, -FLAT))(np.ones(2))


PAIRS = [(0.3, -0.7, 0.5), (0.0, 0.4, -0.3), (-0.4, 0.0, 0.8), (0.0, -0.3, 0.2), (0.0, 0.0, 0.3),
         (1.0, 1.0, -0.99), (-2.0, -3.0, 0.9), (2.0, -1.0, -0.6)]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_the_bivariate_probability_against_an_integral(pair):
    h, k, rho = pair
    with mpmath.workdps(30):
        root = mpmath.sqrt(1 - mpmath.mpf(rho) ** 2)
        exact = mpmath.quad(
            lambda t: mpmath.npdf(t) * mpmath.ncdf((k - rho * t) / root),
            [-mpmath.inf, -8, -4, -2, -1, h] if h > -1 else [-mpmath.inf, -8, -4, h],
        )
    close(_bivariate(h, k, rho), float(exact), 1e-13, 1e-14)
    assert _bivariate(INF, k, rho) == pytest.approx(scipy.stats.norm.cdf(k))
    assert _bivariate(-INF, k, rho) == 0


def test_the_bivariate_distribution_function_in_every_mode():
    f = lambda x, m, c: stats.multivariate_normal.cdf(x, m, sym(c))
    derivative(f, POINT[:2], MEAN[:2], COV[:2, :2])
    g = lambda x: stats.multivariate_normal(MEAN[:2], COV[:2, :2]).logcdf(x)
    derivative(g, POINT[:2])
    many = dualad.jacrev(lambda x: stats.multivariate_normal.cdf(x, MEAN[:2], COV[:2, :2]))
    assert many(np.stack([POINT[:2], MEAN[:2]])).shape == (2, 2, 2)


def test_slopes_of_a_trivariate_probability():
    """By Plackett's identities against differences of an exact integral over the first number."""
    integrate = pytest.importorskip("scipy.integrate")

    def exact(b, c):
        s = np.sqrt(np.diag(c))
        r, z = c / np.outer(s, s), (b - MEAN) / s
        rest = r[1:, 1:] - np.outer(r[1:, 0], r[1:, 0])
        d = np.sqrt(np.diag(rest))

        def inner(t):
            return scipy.stats.norm.pdf(t) * _bivariate(
                *((z[1:] - r[1:, 0] * t) / d), rest[0, 1] / d[0] / d[1]
            )

        return integrate.quad(inner, -9, z[0], epsabs=1e-13, epsrel=1e-13)[0]

    f = lambda b, c: stats.multivariate_normal.cdf(b, MEAN, c, abseps=1e-7)
    gradients = dualad.grad(f, (0, 1))(POINT, COV)
    moves = (
        np.array([0.3, -1.0, 0.4]),
        np.array([[0.2, 0.1, 0], [0.1, -0.3, 0.4], [0, 0.4, 0.1]]),
    )
    want = differences(exact, (POINT, COV), moves)[0]
    close(np.sum(gradients[0] * moves[0]) + np.sum(gradients[1] * moves[1]), want, 1e-6)


def test_limits_of_the_normal_distribution_function():
    with pytest.raises(NotDifferentiableError, match="lower_limit"):
        dualad.grad(lambda x: stats.multivariate_normal.cdf(x, MEAN, COV, lower_limit=MEAN - 1))(
            POINT
        )
    with pytest.raises(SingularPointError, match="correlated"):
        dualad.grad(lambda x: stats.multivariate_normal.cdf(x, None, FLAT, True))(np.ones(2))


# --- SciPy beside it -------------------------------------------------------------------------


def test_plain_arguments_give_what_scipy_gives():
    for name, (shapes, z) in CONTINUOUS.items():
        for function in FUNCTIONS:
            ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
            np.testing.assert_array_equal(
                getattr(ours, function)(z, *shapes, loc=0.1),
                getattr(theirs, function)(z, *shapes, loc=0.1),
            )
            frozen = ours(*shapes, scale=2.0), theirs(*shapes, scale=2.0)
            np.testing.assert_array_equal(*(getattr(f, function)(z) for f in frozen))
    for function in ("pdf", "logpdf"):
        np.testing.assert_array_equal(
            getattr(stats.multivariate_normal, function)(POINT, MEAN, COV),
            getattr(scipy.stats.multivariate_normal, function)(POINT, MEAN, COV),
        )
    assert stats.dirichlet.pdf([0.5, 0.5], [1, 2]) == scipy.stats.dirichlet.pdf([0.5, 0.5], [1, 2])


def test_other_names_are_scipys():
    assert stats.norm.ppf(0.3) == scipy.stats.norm.ppf(0.3)
    assert stats.norm(1, 2).std() == 2
    assert stats.norm.rvs(random_state=1) == scipy.stats.norm.rvs(random_state=1)
    assert stats.poisson(3).interval(0.5) == scipy.stats.poisson(3).interval(0.5)
    assert stats.cauchy is scipy.stats.cauchy
    assert stats.multivariate_normal.entropy(MEAN, COV) == pytest.approx(
        scipy.stats.multivariate_normal(MEAN, COV).entropy()
    )
    assert {"norm", "cauchy"} <= set(dir(stats))
    with pytest.raises(AttributeError):
        getattr(stats.norm, "pmf")
    with pytest.raises(AttributeError):
        getattr(stats.poisson(2), "pdf")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.norm.ppf(x),
        lambda x: stats.norm(x).ppf(0.3),
        lambda x: stats.multivariate_normal.entropy(x * MEAN, COV),
        lambda x: stats.kstest([x, x], "norm"),
    ],
)
def test_what_has_no_rule_refuses_tracked_values(f):
    with pytest.raises(MissingRuleError, match="has no derivative rule"):
        dualad.grad(f)(0.3)


@pytest.mark.parametrize(
    "f, name",
    [
        (lambda x: scipy.stats.norm.logpdf(x), "norm.logpdf"),
        (lambda x: scipy.stats.norm.logpdf(x[0]), "norm.logpdf"),
        (lambda x: scipy.stats.norm(x, 1.0).cdf(0.0), "norm.cdf"),
        (lambda x: scipy.stats.poisson.pmf(2, x), "poisson.pmf"),
        (lambda x: scipy.stats.multivariate_normal.pdf(x, MEAN, COV), "multivariate_normal.pdf"),
        (lambda x: scipy.stats.dirichlet.pdf(x, MEAN + 1), "dirichlet.pdf"),
    ],
)  # fmt: skip
def test_a_tracked_value_in_scipys_own_object_is_told_the_drop_in(f, name):
    with pytest.raises(LostDerivativeError, match=rf"dualad\.scipy\.stats\.{name} instead"):
        dualad.grad(lambda x: np.sum(f(x)))(POINT)


def test_distributions_and_their_functions_are_picklable():
    assert pickle.loads(pickle.dumps(stats.norm)) is stats.norm
    assert pickle.loads(pickle.dumps(stats.norm.logpdf))(0.5) == stats.norm.logpdf(0.5)
    assert pickle.loads(pickle.dumps(stats.norm(1.0, 2.0))).logpdf(0.5) == stats.norm.logpdf(
        0.5, 1, 2
    )
    gradient = pickle.loads(pickle.dumps(dualad.grad(stats.norm.logpdf)))
    assert gradient(0.5) == -0.5


def test_tensors_give_tensors():
    x = dualad.tensor(0.5, dtype=dualad.float64, requires_grad=True)
    y = stats.norm.logpdf(x)
    assert isinstance(y, dualad.Tensor)
    y.backward()
    assert x.grad.item() == -0.5
    assert isinstance(stats.norm(dualad.tensor(0.0)).pdf(1.0), dualad.Tensor)


def test_a_maximum_likelihood_fit_has_its_information_matrix():
    """Of n normal draws the negative Hessian at the fit is diag(n, 2n) / s^2."""
    data = np.array([1.0, 2.5, -0.3, 0.8, 1.9])
    m, s = data.mean(), data.std()
    loss = lambda p: -np.sum(stats.norm.logpdf(data, p[0], p[1]))
    close(dualad.grad(loss)(np.array([m, s])), [0, 0], atol=1e-10)
    close(dualad.hessian(loss)(np.array([m, s])), np.diag([5, 10]) / s**2, atol=1e-10)


@pytest.mark.parametrize("df", [1e8, 1e12, 1e16, 1e20])
def test_student_with_very_many_degrees(df):
    """The density is phi(z) (1 + (z**4 - 2 z**2 - 1) / 4 df), up to terms in 1/df**2."""
    for z in (0.0, 1.0, -3.0):
        phi, slopes = np.exp(-z * z / 2) / np.sqrt(2 * np.pi), []
        for name in ("logpdf", "pdf", "cdf"):
            f = getattr(stats.t, name)
            slopes.append(dualad.grad(f)(z, df))
            slopes.append(dualad.grad(f, argnums=1)(z, df))
        in_df = -(z**4 - 2 * z * z - 1) / (4 * df * df)
        right = [-z, in_df, -z * phi, in_df * phi, phi, phi * (z**3 + z) / (4 * df * df)]
        np.testing.assert_allclose(slopes, right, 1e-6)
