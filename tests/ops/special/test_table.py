"""What holds for every rule of scipy.special, whoever states it.

A ufunc of SciPy without a rule, or a rule without a sample, fails here.
"""

import itertools
import warnings

import numpy as np
import pytest
import scipy.special as sp

import dualad
import dualad.ops.special
from dualad.engine.primitives.composite import Composite
from dualad.engine.primitives.elementwise import Elementwise
from dualad.engine.primitives.primitive import Opaque
from dualad.errors import MissingRuleError
from dualad.ops.special.table import SPECIAL

#: Hundreds of functions in every mode, many of them by series: `make slow` runs them.
pytestmark = pytest.mark.slow

RNG = np.random.default_rng(5)


class Sample:
    """Arguments at which a function is smooth. Integers and those in `fixed` stay."""

    def __init__(self, *args, fixed=(), differences=True, second=True):
        self.args, self.fixed = args, fixed
        self.differences, self.second = differences, second

    def free(self):
        return [k for k, a in enumerate(self.args) if isinstance(a, float) and k not in self.fixed]


S = Sample
COUNTS = {n: S(1, 4, 0.3) for n in ("bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri")}
ONE = dict.fromkeys(
    [
        *("airye", "bei", "beip", "ber", "berp", "cbrt", "cosdg", "cosm1", "cotdg", "dawsn"),
        *("ellipe", "ellipk", "ellipkm1", "entr", "erf", "erfc", "erfcinv", "erfcx", "erfi"),
        *(
            "erfinv",
            "exp1",
            "exp10",
            "exp2",
            "expi",
            "expit",
            "expm1",
            "exprel",
            "fresnel",
            "gamma",
        ),
        *("gammaln", "i0", "i0e", "i1", "i1e", "it2i0k0", "it2j0y0", "it2struve0", "iti0k0"),
        *("itj0y0", "itmodstruve0", "itstruve0", "j0", "j1", "k0", "k0e", "k1", "k1e", "kei"),
        *("keip", "kelvin", "ker", "kerp", "kolmogi", "kolmogorov", "log1p", "log_expit"),
        *("log_ndtr", "loggamma", "logit", "modfresnelm", "modfresnelp", "ndtr", "ndtri", "psi"),
        *(
            "rgamma",
            "shichi",
            "sici",
            "sindg",
            "spence",
            "tandg",
            "wrightomega",
            "y0",
            "y1",
            "airy",
        ),
    ],
    S(0.7),
)
TWO = dict.fromkeys(
    [
        *("agm", "beta", "betaln", "boxcox", "boxcox1p", "chdtr", "chdtrc", "ellipeinc", "ellipj"),
        *("ellipkinc", "elliprc", "eval_chebyc", "eval_chebys", "eval_chebyt", "eval_chebyu"),
        *(
            "eval_laguerre",
            "eval_legendre",
            "eval_sh_chebyt",
            "eval_sh_chebyu",
            "eval_sh_legendre",
        ),
        *(
            "gammainc",
            "gammaincc",
            "hankel1",
            "hankel1e",
            "hankel2",
            "hankel2e",
            "hyp0f1",
            "huber",
        ),
        *("inv_boxcox", "inv_boxcox1p", "iv", "ive", "jn", "jv", "jve", "kl_div", "kv", "kve"),
        *(
            "owens_t",
            "pbdv",
            "pbvv",
            "pbwa",
            "poch",
            "powm1",
            "pseudo_huber",
            "rel_entr",
            "struve",
        ),
        *("modstruve", "xlog1py", "xlogy", "yv", "yve", "stdtr"),
    ],
    S(0.7, 0.4),
)
THREE = dict.fromkeys(
    [
        *("betainc", "betaincc", "elliprd", "elliprf", "elliprg", "gdtr", "gdtrc", "hyp1f1"),
        *("hyperu", "eval_genlaguerre", "eval_gegenbauer", "fdtr", "fdtrc", "radian"),
        *("voigt_profile", "wright_bessel", "log_wright_bessel", "besselpoly", "chndtr"),
    ],
    S(1.7, 0.6, 0.4),
)
MATHIEU = {
    f"mathieu_{n}": S(2, 0.7, 0.8, fixed=(1,))
    for n in ("cem", "sem", "modcem1", "modcem2", "modsem1", "modsem2")
}
SPHEROIDAL = {
    f"{shape}_{kind}{value}": S(
        *(
            1,
            2,
            0.7,
            *((4.2,) if value else ()),
            1.3 if shape == "pro" and kind != "ang1" else 0.3,
        ),
        fixed=(2, 3) if value else (2,),
        differences=False,
    )
    for shape in ("pro", "obl")
    for kind in ("ang1", "rad1", "rad2")
    for value in ("", "_cv")
}
ROUGH = {
    # SciPy's values have 8 digits, or come from an iteration that stops early.
    "itairy": S(0.7, differences=False),
    "ncfdtridfn": S(0.3, 4.4, 0.8, 1.2, fixed=(0, 1, 2, 3)),
    "ncfdtridfd": S(2.3, 0.45, 0.8, 1.2, differences=False, second=False),
    "ncfdtrinc": S(2.3, 1.4, 0.3, 1.2, differences=False, second=False),
    "nctdtrinc": S(2.3, 0.3, 1.2, differences=False, second=False),
    "stdtridf": S(0.7, 0.6, differences=False),
    "nctdtridf": S(0.6, 0.7, 1.2, differences=False, second=False),
}
OTHERS = {
    "gammasgn": S(0.7),
    "round": S(0.7),
    "binom": S(4.3, 1.2),
    "psi": S(0.7),
    "zetac": S(2.4),
    "_riemann_zeta": S(2.4),
    "_zeta": S(2.4, 0.7),
    "_lambertw": S(0.7, 0, 1e-8, fixed=(2,)),
    "ndtri_exp": S(-0.4),
    "expn": S(2, 0.7),
    "yn": S(2, 0.7),
    "kn": S(2, 0.7),
    "smirnov": S(4, 0.3, second=False),
    "smirnovi": S(4, 0.3, second=False),
    "_smirnovp": S(4, 0.3, fixed=(1,)),
    "eval_hermite": S(2, 0.7),
    "eval_hermitenorm": S(2, 0.7),
    "_spherical_jn": S(2, 0.7),
    "_spherical_yn": S(2, 0.7),
    "_spherical_in": S(2, 0.7),
    "_spherical_kn": S(2, 0.7),
    "lpmv": S(1, 2.3, 0.4),
    "mathieu_a": S(2, 0.7, second=False),
    "mathieu_b": S(2, 0.7, second=False),
    "pro_cv": S(1, 2, 0.7, second=False),
    "obl_cv": S(1, 2, 0.7, second=False),
    "pdtr": S(2, 1.7),
    "pdtrc": S(2, 1.7),
    "pdtri": S(2, 0.4),
    "pdtrik": S(0.4, 2.5),
    "chdtri": S(2.3, 0.4),
    "chdtriv": S(0.4, 1.7),
    "gammaincinv": S(0.7, 0.4),
    "gammainccinv": S(0.7, 0.4),
    "betaincinv": S(0.7, 1.6, 0.4),
    "betainccinv": S(0.7, 1.6, 0.4),
    "btdtria": S(0.4, 2.0, 0.3),
    "btdtrib": S(2.0, 0.4, 0.3),
    "bdtrik": S(0.6, 6.0, 0.3),
    "bdtrin": S(2.0, 0.6, 0.3),
    "nbdtrik": S(0.6, 4.0, 0.3, differences=False),
    "nbdtrin": S(2.0, 0.6, 0.3),
    "fdtri": S(3.0, 4.0, 0.3),
    "fdtridfd": S(3.0, 0.4, 0.8),
    "stdtrit": S(3.0, 0.4),
    "gdtria": S(0.3, 2.3, 1.9),
    "gdtrib": S(0.7, 0.3, 1.9),
    "gdtrix": S(0.7, 2.3, 0.3),
    "nrdtrimn": S(0.3, 1.2, 0.8),
    "nrdtrisd": S(0.2, 0.3, -0.8),
    "chndtrix": S(0.4, 1.4, 0.8),
    "chndtridf": S(2.3, 0.4, 0.8),
    "chndtrinc": S(2.3, 1.4, 0.4),
    "ncfdtr": S(2.3, 1.4, 0.8, 1.2),
    "ncfdtri": S(2.3, 1.4, 0.8, 0.4),
    "nctdtr": S(2.3, 0.7, 1.2),
    "nctdtrit": S(2.3, 0.7, 0.3),
    "tklmbda": S(0.7, 0.3),
    "wofz": S(0.7),
    "elliprj": S(0.7, 1.2, 0.4, 0.9),
    "hyp2f1": S(0.7, 1.2, 0.8, 0.3),
    "eval_jacobi": S(2.3, 0.7, 0.3, 0.4),
    "eval_sh_jacobi": S(2.3, 1.7, 0.3, 0.4),
}
SAMPLES = ONE | TWO | THREE | COUNTS | MATHIEU | SPHEROIDAL | ROUGH | OTHERS
NAMES = sorted(SPECIAL)


def test_every_ufunc_of_scipy_special_has_a_rule():
    public = {n for n in sp.__all__ if isinstance(getattr(sp, n), np.ufunc)}
    rules = {f.impl for f in SPECIAL.values()}
    assert not {n for n in public if getattr(sp, n) not in rules}


def test_every_rule_has_a_sample():
    assert set(NAMES) <= set(SAMPLES)


@pytest.mark.parametrize("name", NAMES)
def test_no_rule_is_a_reverse_formula(name):
    assert type(SPECIAL[name]) in (Elementwise, Composite, Opaque)


def parts(out):
    return list(out) if isinstance(out, tuple) else [out]


def random(value):
    value = np.asarray(value)
    r = RNG.normal(size=value.shape)
    return r + 1j * RNG.normal(size=value.shape) if value.dtype.kind == "c" else r


def moving(name, shapes=None):
    """The ufunc as a function of its free arguments, and arrays of them."""
    sample, f = SAMPLES[name], SPECIAL[name].impl
    free = sample.free()

    def g(*some):
        args = list(sample.args)
        for k, v in zip(free, some, strict=True):
            args[k] = v
        return f(*args)

    shapes = shapes or [(3,)] * len(free)
    spread = (1 + 0.02 * RNG.uniform(-1, 1, s) for s in shapes)
    return g, tuple(sample.args[k] * s for k, s in zip(free, spread, strict=True))


def inner(us, vs):
    return sum(np.vdot(u, v).real for u, v in zip(us, vs, strict=True))


BROADCAST = [[(3,)] * 4, [(2, 3), (3,), (2, 1), ()], [(), (3,), (), (2, 1)]]


@pytest.mark.parametrize("name", NAMES)
def test_reverse_is_the_adjoint_of_forward(name):
    for shapes in BROADCAST:
        f, args = moving(name, shapes[: len(SAMPLES[name].free())])
        if not args:
            continue
        t = tuple(map(random, args))
        out, moved = dualad.jvp(f, args, t)
        value, pull = dualad.vjp(f, *args)
        w = [random(v) for v in parts(value)]
        shares = pull(tuple(w) if isinstance(value, tuple) else w[0])
        for a, s in zip(args, shares, strict=True):
            assert np.shape(s) == np.shape(a) and np.asarray(s).dtype == np.asarray(a).dtype
        left, right = inner(w, parts(moved)), inner(shares, t)
        scale = sum(np.abs(np.asarray(v)).sum() for v in parts(moved))
        np.testing.assert_allclose(left, right, rtol=1e-10, atol=1e-11 * scale)
        for a, b in zip(parts(out), parts(f(*args)), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", [n for n in NAMES if SAMPLES[n].differences])
def test_forward_is_the_limit_of_differences(name):
    """Richardson's central differences: the best of a sweep of steps agrees to 1e-7."""
    f, args = moving(name)
    if not args:
        return
    t = tuple(a * RNG.normal(size=a.shape) for a in args)
    moved = parts(dualad.jvp(f, args, t)[1])

    def at(h):
        return parts(f(*(a + h * u for a, u in zip(args, t, strict=True))))

    def difference(h):
        return [(p - m) / (2 * h) for p, m in zip(at(h), at(-h), strict=True)]

    errors = []
    for h in (1e-2, 3e-3, 1e-3, 1e-4):
        coarse, fine = difference(h), difference(h / 2)
        best = [(4 * b - a) / 3 for a, b in zip(coarse, fine, strict=True)]
        errors.append(max(np.max(np.abs(d - m)) for d, m in zip(best, moved, strict=True)))
    assert min(errors) < 1e-7 * (1 + max(np.max(np.abs(m)) for m in moved))


@pytest.mark.parametrize("name", NAMES)
def test_batching_agrees_with_a_loop(name):
    f, args = moving(name)
    n = len(args)
    many = [np.stack([a, 0.98 * a]) for a in args]
    for mapped in itertools.product((0, None), repeat=n):
        if all(m is None for m in mapped):
            continue
        given = [m if axis == 0 else a for m, a, axis in zip(many, args, mapped, strict=True)]
        at_once = parts(dualad.vmap(f, in_axes=mapped)(*given))
        slopes = parts(dualad.vmap(lambda *v: push(f, v), in_axes=mapped)(*given))
        for k in range(2):
            row = [v[k] if axis == 0 else v for v, axis in zip(given, mapped, strict=True)]
            for a, b in zip(at_once, parts(f(*row)), strict=True):
                np.testing.assert_allclose(a[k], b, rtol=1e-13)
            for a, b in zip(slopes, parts(push(f, row)), strict=True):
                np.testing.assert_allclose(a[k], b, rtol=1e-9, atol=1e-12)


def push(f, args):
    return dualad.jvp(f, tuple(args), tuple(np.ones(a.shape) for a in args))[1]


@pytest.mark.parametrize("name", [n for n in NAMES if SAMPLES[n].second])
def test_second_derivatives_agree_in_all_nestings(name):
    """Forward over reverse, reverse over forward: one symmetric bilinear form."""
    f, args = moving(name)
    if not args:
        return
    weights = [random(v) for v in parts(f(*args))]
    t, u = tuple(map(random, args)), tuple(map(random, args))

    def loss(*v):
        out = zip(weights, parts(f(*v)), strict=True)
        return sum(np.sum(np.real(np.conj(w) * p)) for w, p in out)

    places = tuple(range(len(args)))
    along_t = dualad.jvp(dualad.grad(loss, argnums=places), args, t)[1]
    along_u = dualad.grad(lambda *v: dualad.jvp(loss, v, u)[1], argnums=places)(*args)
    left, right = inner(u, along_t), inner(t, along_u)
    np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-9 * (1 + abs(left)))


def single(name):
    f = SPECIAL[name].impl
    if name in (*SPHEROIDAL, "pro_cv", "obl_cv"):  # some of SciPy's own do not return
        return False
    return any(set(t.split("->")[0]) <= set("flq") and "f" in t for t in f.types)


@pytest.mark.filterwarnings("ignore:non-integer arg n is deprecated")
@pytest.mark.parametrize("name", [n for n in NAMES if single(n)])
def test_float32_stays_float32(name):
    f, args = moving(name)
    small = tuple(a.astype(np.float32) for a in args)
    if not args or np.asarray(parts(f(*small))[0]).dtype not in (np.float32, np.complex64):
        return
    if np.isnan(parts(f(*small))[0]).any():  # SciPy's Mathieu functions
        return
    out, moved = dualad.jvp(f, small, tuple(map(np.ones_like, small)))
    for v, t in zip(parts(out), parts(moved), strict=True):
        assert v.dtype == t.dtype and v.dtype in (np.float32, np.complex64)
    value, pull = dualad.vjp(f, *small)
    shares = pull(
        tuple(map(np.ones_like, value)) if isinstance(value, tuple) else np.ones_like(value)
    )
    assert all(s.dtype == np.float32 for s in shares)
    exact = parts(push(f, args))
    size = max(np.max(np.abs(e)) for e in exact)
    for t, e in zip(parts(moved), exact, strict=True):
        np.testing.assert_allclose(t, e, rtol=2e-2, atol=2e-3 * size)


#: SciPy's own do not return, or raise, at infinite arguments.
UNSAFE = ("hyp1f1", "pbdv", "pbvv")
HARD = [0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 1e-300, 1e300, -0.5]


@pytest.mark.parametrize(
    "name", [n for n in NAMES if len(SAMPLES[n].free()) == len(SAMPLES[n].args)]
)
def test_no_rule_warns_and_zero_stays_zero(name):
    """SciPy's ufuncs give no NumPy warnings, so neither do their derivatives, anywhere."""
    sample = SAMPLES[name]
    n = len(sample.args)
    for k, hard in itertools.product(range(n), HARD):
        if name in UNSAFE and not abs(hard) <= 2:
            continue
        args = tuple(np.float64(hard if j == k else a) for j, a in enumerate(sample.args))
        f = SPECIAL[name].impl
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                out, _ = dualad.jvp(f, args, (1.0,) * n)
                _, still = dualad.jvp(f, args, (0.0,) * n)
                _, pull = dualad.vjp(f, *args)
                zeros = [np.zeros_like(v) for v in parts(out)]
                back = pull(tuple(zeros) if isinstance(out, tuple) else zeros[0])
            except MissingRuleError:
                continue
        finite = all(np.all(np.isfinite(v)) for v in parts(out))
        assert not finite or all(np.all(s == 0) for s in (*parts(still), *back)), (
            args,
            still,
            back,
        )


def test_a_rule_of_the_user_stays():
    """A rule that was stated before those of SciPy are loaded is not replaced."""
    import subprocess
    import sys

    program = (
        "import dualad, scipy.special as sp\n"
        "dualad.defelementwise(sp.erf, lambda out, x: 7.0)\n"
        "assert dualad.grad(sp.gamma)(2.0) > 0\n"
        "assert dualad.grad(sp.erf)(0.3) == 7.0\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_rule_of_the_user_may_come_later():
    f = np.frompyfunc(lambda x: x, 1, 1)
    dualad.defelementwise(f, lambda out, x: 3.0)
    assert dualad.grad(lambda x: sp.erf(0.0) + f(x))(2.0) == 3.0
