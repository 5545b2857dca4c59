"""NumPy's functions on symbolic arrays.

Most of NumPy moves, adds and multiplies entries, which it does on arrays of expressions as they
stand. What looks at the entries is here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from .entries import chosen, entry, expression, number, part
from .errors import REMEDY, NotSymbolicError
from .special import SEVERAL
from .value import FUNCTIONS, Symbolic, apply, entries_of, store, symbolic, wrapped

__all__ = ["METHODS", "UFUNCS"]

#: ufuncs that are not elementwise, and those that NumPy knows under two names.
UFUNCS: dict[str, Callable[..., Any]] = {}
#: Methods of ufuncs.
METHODS: dict[str, Callable[..., Any]] = {}


def handles(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for g in functions:
            FUNCTIONS[g] = f
        return f

    return register


# --- what NumPy does by itself -------------------------------------------------------------------


def plain(x: Any) -> Any:
    """Symbolic arrays inside an argument, as object arrays."""
    if isinstance(x, Symbolic):
        return x.entries
    if type(x) in (list, tuple):
        return type(x)(map(plain, x))
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return entries_of(x) if isinstance(x, np.ndarray) and x.dtype.kind in "fcO" else x


def given_back(x: Any) -> Any:
    """Results of NumPy, whose own zeros and ones become expressions; views stay views."""
    if type(x) in (list, tuple):
        return type(x)(map(given_back, x))
    out = wrapped(x)
    plain_numbers = any(not isinstance(e, sympy.Basic) for e in out.entries.ravel())
    return Symbolic(entries_of(out.entries)) if plain_numbers else out


def by_numpy(f: Any, prepare: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A NumPy function on arrays of expressions; arithmetic prepares truth values as 0 and 1."""

    def given(x: Any) -> Any:
        x = plain(x)
        return prepare(x) if prepare is not None and isinstance(x, np.ndarray) else x

    def call(*args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        kwargs.pop("dtype", None)
        result = given_back(f(*map(given, args), **{k: given(v) for k, v in kwargs.items()}))
        return result if out is None else store(out, result)

    return call


for _f in (
    *(np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis),
    *(np.expand_dims, np.squeeze, np.broadcast_to, np.broadcast_arrays),
    *(np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block),
    *(np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.append, np.insert, np.delete),
    *(np.repeat, np.tile, np.roll, np.flip, np.fliplr, np.flipud, np.rot90, np.take, np.compress),
    *(np.take_along_axis, np.resize, np.pad, np.atleast_1d, np.atleast_2d, np.atleast_3d),
    *(np.diag, np.diagflat, np.diagonal, np.trace, np.tril, np.triu, np.matrix_transpose),
    *(np.copy, np.linalg.matrix_transpose),
):
    FUNCTIONS[_f] = by_numpy(_f)

for _a in (
    *(np.sum, np.prod, np.cumsum, np.cumprod, np.diff, np.ediff1d, np.trapezoid),
    *(np.dot, np.vdot, np.inner, np.outer, np.tensordot, np.kron, np.cross, np.einsum),
    *(np.convolve, np.correlate, np.polyval, np.vander, np.linalg.multi_dot),
):
    FUNCTIONS[_a] = by_numpy(_a, np.frompyfunc(number, 1, 1))

for _name in ("matmul", "vecdot", "matvec", "vecmat"):
    _ufunc = getattr(np, _name, None)
    if _ufunc is not None:
        UFUNCS[_name] = by_numpy(_ufunc)


def several(functions: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    """A ufunc with more than one result."""
    parts = [np.frompyfunc(lambda *a, f=f: f(*map(number, a)), 1, 1) for f in functions]
    return lambda *inputs: tuple(wrapped(p(*map(entries_of, inputs))) for p in parts)


for _name, _functions in SEVERAL.items():
    UFUNCS[_name] = several(_functions)


def method_of(f: Any) -> Callable[..., Any]:
    """A NumPy function as a method; PyTorch's names of axis and keepdims are understood."""

    def method(self: Symbolic, *args: Any, **kwargs: Any) -> Any:
        for theirs, ours in (("dim", "axis"), ("keepdim", "keepdims")):
            if theirs in kwargs:
                kwargs[ours] = kwargs.pop(theirs)
        return FUNCTIONS[f](self, *args, **kwargs)

    return method


# --- making buffers ------------------------------------------------------------------------------


def buffer_of(value: Any) -> Callable[..., Any]:
    def like(a: Any, dtype: Any = None, *args: Any, shape: Any = None, **kwargs: Any) -> Symbolic:
        out = np.empty(symbolic(a).shape if shape is None else shape, object)
        out[...] = sympy.Integer(value)
        return Symbolic(out)

    return like


FUNCTIONS[np.zeros_like] = FUNCTIONS[np.empty_like] = buffer_of(0)
FUNCTIONS[np.ones_like] = buffer_of(1)


@handles(np.full_like)
def full_like(a: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Symbolic:
    out = np.empty(symbolic(a).shape, object)
    out[...] = entries_of(fill_value)
    return Symbolic(out)


@handles(np.copyto)
def copyto(dst: Symbolic, src: Any, casting: Any = None, where: Any = True) -> None:
    dst[...] = src if where is True else FUNCTIONS[np.where](where, src, dst.copy())


@handles(np.fill_diagonal)
def fill_diagonal(a: Symbolic, val: Any, wrap: bool = False) -> None:
    np.fill_diagonal(a.entries, plain(symbolic(val)), wrap)


@handles(np.shape)
def shape(a: Symbolic) -> tuple[int, ...]:
    return a.shape


@handles(np.ndim)
def ndim(a: Symbolic) -> int:
    return a.ndim


@handles(np.size)
def size(a: Symbolic, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]


@handles(np.result_type)
def result_type(*args: Any) -> np.dtype:
    return np.result_type(*(a.dtype if isinstance(a, Symbolic) else a for a in args))


@handles(np.iscomplexobj)
def iscomplexobj(x: Symbolic) -> bool:
    return x.dtype.kind == "c"


@handles(np.isrealobj)
def isrealobj(x: Symbolic) -> bool:
    return x.dtype.kind != "c"


# --- choosing ------------------------------------------------------------------------------------


@handles(np.where)
def where(condition: Any, *branches: Any) -> Symbolic:
    if len(branches) != 2:
        raise NotSymbolicError(f"np.where with one argument asks which symbols are true: {REMEDY}")
    parts = map(entries_of, (condition, *branches))
    return wrapped(np.frompyfunc(chosen, 3, 1)(*parts))


@handles(np.select)
def select(conditions: Any, choices: Any, default: Any = 0) -> Symbolic:
    out = symbolic(default)
    for c, v in reversed(list(zip(conditions, choices, strict=True))):
        out = where(c, v, out)
    return out


@handles(np.piecewise)
def piecewise(x: Any, conditions: Any, functions: Any, *args: Any, **kwargs: Any) -> Symbolic:
    values = [f(x, *args, **kwargs) if callable(f) else f for f in functions]
    given = list(conditions) if isinstance(conditions, (list, tuple)) else [conditions]
    default = values[len(given)] if len(values) > len(given) else 0
    out = symbolic(default) + 0 * x
    for c, v in zip(given, values, strict=False):  # the last that holds wins
        out = where(c, v, out)
    return out


@handles(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    result = symbolic(a)
    result = result if low is None else apply("maximum", result, low)
    result = result if high is None else apply("minimum", result, high)
    return result if out is None else store(out, result)


UFUNCS["clip"] = clip


@handles(np.real)
def real(val: Any) -> Symbolic:
    return apply("real", val)


@handles(np.imag)
def imag(val: Any) -> Symbolic:
    return apply("imag", val)


@handles(np.angle)
def angle(z: Any, deg: bool = False) -> Symbolic:
    out = apply("arctan2", apply("imag", z), apply("real", z))
    return apply("rad2deg", out) if deg else out


@handles(np.sinc)
def sinc(x: Any) -> Symbolic:
    return apply("sinc", x)


@handles(np.i0)
def i0(x: Any) -> Symbolic:
    return apply("i0", x)


@handles(np.nan_to_num)
def nan_to_num(x: Any, *args: Any, **kwargs: Any) -> Symbolic:
    """Symbols stand for finite numbers."""
    return symbolic(x)


@handles(np.isneginf, np.isposinf)
def is_infinite(x: Any) -> Symbolic:
    """Symbols stand for finite numbers."""
    return apply("isinf", x)


@handles(np.heaviside)
def heaviside(x: Any, at_zero: Any) -> Symbolic:
    return apply("heaviside", x, at_zero)


# --- reductions that are not sums or products ----------------------------------------------------


def reduced(name: str, a: Any, axis: Any, keepdims: bool = False) -> Symbolic:
    """A ufunc of two arguments from one entry to the next along axes, None for all."""
    entries, f = entries_of(a), entry(name)
    chosen_axes = range(entries.ndim) if axis is None else np.atleast_1d(axis)
    axes = sorted(int(k) % entries.ndim for k in chosen_axes)
    kept = tuple(1 if k in axes else n for k, n in enumerate(entries.shape))
    rows = np.moveaxis(entries, axes, range(len(axes)))
    rows = rows.reshape(-1, *rows.shape[len(axes) :])
    out = functools.reduce(np.frompyfunc(f, 2, 1), rows)
    result = wrapped(out)
    return result.reshape(kept) if keepdims else result


def by_reduction(name: str) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, **_: Any) -> Any:
        result = reduced(name, a, axis, bool(keepdims) and keepdims is not np._NoValue)
        return result if out is None else store(out, result)

    return reduce


for _functions, _name in (
    ((np.max, np.amax, np.nanmax), "maximum"),
    ((np.min, np.amin, np.nanmin), "minimum"),
    ((np.all,), "logical_and"),
    ((np.any,), "logical_or"),
):
    handles(*_functions)(by_reduction(_name))

FUNCTIONS[np.nansum] = FUNCTIONS[np.sum]
FUNCTIONS[np.nanprod] = FUNCTIONS[np.prod]


def ufunc_reduce(name: str, a: Any, axis: Any = 0, keepdims: bool = False, **_: Any) -> Symbolic:
    return reduced(name, a, axis, keepdims)


def ufunc_accumulate(name: str, a: Any, axis: int = 0, **_: Any) -> Symbolic:
    f = np.frompyfunc(entry(name), 2, 1)
    return wrapped(f.accumulate(entries_of(a), axis=axis, dtype=object))


def ufunc_outer(name: str, a: Any, b: Any, **_: Any) -> Symbolic:
    return wrapped(np.frompyfunc(entry(name), 2, 1).outer(entries_of(a), entries_of(b)))


def ufunc_at(name: str, a: Any, index: Any, *values: Any) -> None:
    buffer = a.entries if isinstance(a, Symbolic) else a
    if buffer.dtype != object:
        raise NotSymbolicError(f"{name}.at cannot write symbols into a plain array: {REMEDY}")
    getattr(np, name).at(buffer, index, *map(entries_of, values))


METHODS |= {
    "reduce": ufunc_reduce,
    "accumulate": ufunc_accumulate,
    "outer": ufunc_outer,
    "at": ufunc_at,
}


@handles(np.sort)
def sort(a: Any, axis: Any = -1, **_: Any) -> Symbolic:
    """A network of exchanges of neighbours: as many rounds as there are entries."""
    entries = entries_of(a)
    rows = entries.ravel() if axis is None else np.moveaxis(entries, axis, 0)
    columns = list(rows)
    low, high = (np.frompyfunc(entry(name), 2, 1) for name in ("minimum", "maximum"))
    for k in range(len(columns)):
        for j in range(k % 2, len(columns) - 1, 2):
            left, right = columns[j : j + 2]
            columns[j : j + 2] = low(left, right), high(left, right)
    out = np.stack([np.asarray(c, dtype=object) for c in columns]) if columns else rows
    return wrapped(out if axis is None else np.moveaxis(out, 0, axis))


@handles(np.median)
def median(a: Any, axis: Any = None, **_: Any) -> Symbolic:
    """Of an even number the mean of the two in the middle."""
    ordered = sort(a, axis)
    n = ordered.shape[0 if axis is None else axis]
    middle = [FUNCTIONS[np.take](ordered, k, axis or 0) for k in ((n - 1) // 2, n // 2)]
    return (middle[0] + middle[1]) / 2


@handles(np.ptp)
def ptp(a: Any, axis: Any = None) -> Symbolic:
    return reduced("maximum", a, axis) - reduced("minimum", a, axis)


@handles(np.mean, np.nanmean)
def mean(a: Any, axis: Any = None, keepdims: Any = False, **_: Any) -> Symbolic:
    total = reduced("add", a, axis, bool(keepdims) and keepdims is not np._NoValue)
    return total / sympy.Rational(entries_of(a).size, max(total.size, 1))


@handles(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, **_: Any) -> Symbolic:
    if weights is None:
        return mean(a, axis)
    w = symbolic(weights)
    return reduced("add", symbolic(a) * w, axis) / reduced("add", w, axis)


@handles(np.var, np.nanvar)
def var(
    a: Any,
    axis: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    correction: Any = None,
    **_: Any,
) -> Symbolic:
    away = symbolic(a) - mean(a, axis, True)
    ddof = ddof if correction is None or correction is np._NoValue else correction
    total = reduced("add", away * away, axis, bool(keepdims) and keepdims is not np._NoValue)
    return total / (sympy.Rational(entries_of(a).size, max(total.size, 1)) - expression(ddof))


@handles(np.std, np.nanstd)
def std(a: Any, axis: Any = None, **options: Any) -> Symbolic:
    return apply("sqrt", var(a, axis, **options))


# --- signals and tables ------------------------------------------------------------------------


def transformed(sign: int, half: bool = False) -> Callable[..., Any]:
    """The discrete Fourier transform as a matrix of roots of unity."""

    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        entries = np.frompyfunc(number, 1, 1)(entries_of(a))
        size = entries.shape[axis]
        if n not in (None, size):
            raise NotSymbolicError(
                f"a Fourier transform with n= is not known on symbols: {REMEDY}"
            )
        turn = sign * 2 * sympy.pi * sympy.I / size
        rows = size // 2 + 1 if half else size
        roots = [[sympy.expand_complex(sympy.exp(turn * j * k)) for k in range(size)]
                 for j in range(rows)]  # fmt: skip
        forward = (norm or "backward") == "backward"
        whole = 1 if (sign < 0) == forward else size
        scale = sympy.sqrt(size) if norm == "ortho" else sympy.Integer(whole)
        out = np.tensordot(np.array(roots, dtype=object), entries, (1, axis)) / scale
        return wrapped(np.moveaxis(out, 0, axis))

    return transform


@handles(np.fft.irfft)
def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Symbolic:
    """The whole spectrum is that of real numbers; what it says twice is read once."""
    half = np.moveaxis(entries_of(a), axis, 0)
    length = 2 * (len(half) - 1) if n is None else n
    if length // 2 + 1 != len(half):
        raise NotSymbolicError(
            f"an irfft that cuts its argument is not known on symbols: {REMEDY}"
        )
    re, im = (np.frompyfunc(part(k), 1, 1)(half) for k in (0, 1))
    rows = []
    for k in range(length):
        total = re[0] + 0 * re[0]
        for j in range(1, len(half)):
            turn = 2 * sympy.pi * j * k / length
            once = 2 * j == length
            wave = sympy.cos(turn) * re[j] - (0 if once else sympy.sin(turn) * im[j])
            total = total + (wave if once else 2 * wave)
        rows.append(total)
    scale = {"ortho": sympy.sqrt(length), "forward": sympy.Integer(1)}.get(norm or "", length)
    return wrapped(np.moveaxis(np.stack([np.asarray(r, object) for r in rows]) / scale, 0, axis))


FUNCTIONS[np.fft.fft] = transformed(-1)
FUNCTIONS[np.fft.ifft] = transformed(1)
FUNCTIONS[np.fft.rfft] = transformed(-1, half=True)


@handles(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Symbolic:
    """The straight line of the interval that x lies in, chosen by where."""
    if period is not None:
        raise NotSymbolicError(f"np.interp with a period is not known on symbols: {REMEDY}")
    x, xp, fp = symbolic(x), symbolic(xp), symbolic(fp)
    out = fp[-1]
    for k in range(len(xp) - 2, -1, -1):
        slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
        out = where(x < xp[k + 1], fp[k] + slope * (x - xp[k]), out)
    out = where(x < xp[0], fp[0] if left is None else left, out)
    return where(x > xp[-1], fp[-1] if right is None else right, out)


# --- linear algebra ------------------------------------------------------------------------------


def per_matrix(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one matrix, on stacks of them."""

    def call(a: Any) -> Symbolic:
        entries = entries_of(a)
        if entries.ndim == 2:
            return symbolic(f(sympy.Matrix(entries)))
        return Symbolic(np.stack([call(Symbolic(m)).entries for m in entries]))

    return call


FUNCTIONS[np.linalg.det] = per_matrix(lambda m: m.det(method="berkowitz"))
FUNCTIONS[np.linalg.inv] = per_matrix(lambda m: m.adjugate() / m.det(method="berkowitz"))


@handles(np.linalg.solve)
def solve(a: Any, b: Any) -> Symbolic:
    """Cramer's rule: no pivot has to be known to differ from zero."""
    return UFUNCS["matmul"](FUNCTIONS[np.linalg.inv](a), symbolic(b))


@handles(np.linalg.slogdet)
def slogdet(a: Any) -> tuple[Symbolic, Symbolic]:
    d = FUNCTIONS[np.linalg.det](a)
    return apply("sign", d), apply("log", apply("absolute", d))


@handles(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Symbolic:
    base = FUNCTIONS[np.linalg.inv](a) if n < 0 else symbolic(a)
    return Symbolic(np.linalg.matrix_power(base.entries, abs(n)))


@handles(np.linalg.cholesky)
def cholesky(a: Any, *, upper: bool = False) -> Symbolic:
    """Column by column; the pivots are taken to be positive, as they are where NumPy succeeds."""
    m = entries_of(a)
    n = len(m)
    low = np.full((n, n), sympy.Integer(0), object)
    for j in range(n):
        low[j, j] = sympy.sqrt(m[j, j] - sum(low[j, :j] ** 2))
        for i in range(j + 1, n):
            low[i, j] = (m[i, j] - sum(low[i, :j] * low[j, :j])) / low[j, j]
    return Symbolic(low.T if upper else low)


@handles(np.linalg.norm, np.linalg.vector_norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Symbolic:
    if symbolic(x).ndim == 2 and axis is None and ord not in (None, "fro"):
        raise NotSymbolicError(f"the matrix norm {ord!r} is not known on symbols: {REMEDY}")
    size = apply("absolute", x)
    if ord in (None, 2, "fro"):
        return apply("sqrt", reduced("add", size * size, axis, keepdims))
    if ord in (np.inf, -np.inf):
        return reduced("maximum" if ord > 0 else "minimum", size, axis, keepdims)
    p = expression(ord)
    return reduced("add", size**p, axis, keepdims) ** (1 / p)


for _name, _function in (
    *(("sum", np.sum), ("prod", np.prod), ("mean", np.mean), ("var", np.var), ("std", np.std)),
    *(("max", np.max), ("min", np.min), ("all", np.all), ("any", np.any), ("ptp", np.ptp)),
    *(("cumsum", np.cumsum), ("cumprod", np.cumprod), ("dot", np.dot), ("clip", np.clip)),
    *(("trace", np.trace), ("diagonal", np.diagonal), ("repeat", np.repeat), ("take", np.take)),
    *(("squeeze", np.squeeze), ("swapaxes", np.swapaxes), ("outer", np.outer)),
):
    setattr(Symbolic, _name, method_of(_function))
