"""The complex step: a derivative from one value beside the real axis, without cancellation.

f(x + ih) has the imaginary part h f'(x) + O(h**3) for an analytic f (Squire and Trapp 1998). With
h = 2**-100 that is f' to the last bits, also where differences drown in an offset. Code that is
not analytic (abs, conj, real, ...) gives a wrong number without a word. So the operations of the
code are written down while it runs, and what they give counts only if all are known to be
analytic, and if differences, within their bounds, agree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .space import Space

__all__ = ["complex_step", "is_analytic"]

STEP = 2.0**-100
EPS = float(np.finfo(np.float64).eps)

#: Ufuncs that are analytic where they have a derivative, and comparisons, which choose a piece.
ANALYTIC = frozenset(
    """add subtract multiply divide true_divide negative positive power float_power square sqrt
    reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh
    arcsinh arccosh arctanh matmul vecdot matvec vecmat greater greater_equal less less_equal equal
    not_equal logical_and logical_or logical_not isfinite isnan maximum minimum fmax fmin
    expit erf erfc erfcx gamma loggamma digamma wofz jv jn yv iv kv hyp2f1""".split()
)
#: Functions of arrays that move, add up or multiply entries, or choose between them.
STRUCTURE = frozenset(
    """sum prod mean dot vdot_ inner outer matmul tensordot einsum kron trace cumsum cumprod diff
    where select choose take take_along_axis reshape ravel transpose swapaxes moveaxis squeeze
    expand_dims broadcast_to broadcast_arrays concatenate stack vstack hstack dstack column_stack
    atleast_1d atleast_2d atleast_3d repeat tile roll flip fliplr flipud rot90 diag diagonal triu
    tril split array_split append insert delete pad trapezoid convolve polyval cross ravel_index
    solve inv det zeros_like ones_like empty_like full_like copy ndim shape size copyto compress
    average gradient meshgrid block astype nonzero argmax argmin argsort sort max min amax amin
    var std searchsorted result_type multi_dot matrix_power expand""".split()
) - {"vdot_", "var", "std"}


#: Attributes of an array that are not analytic.
PARTS = ("real", "imag", "ctypes", "data", "__array_interface__")


class _Spy(np.ndarray):
    """An array that notes what is done with it."""

    seen: set[str] | None

    def __array_finalize__(self, parent: Any) -> None:
        self.seen = getattr(parent, "seen", None)

    def note(self, name: str) -> None:
        if self.seen is not None:
            self.seen.add(name)

    def __getattribute__(self, name: str) -> Any:
        if name in PARTS:
            self.note(name)
        return super().__getattribute__(name)

    def conj(self) -> Any:
        self.note("conjugate")
        return super().conj()

    conjugate = conj

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        self.note(ufunc.__name__)
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(_bare(x) for x in out)
        return self._spied(getattr(ufunc, method)(*map(_bare, inputs), **kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self.note(func.__name__)
        bare = _all_bare(args)
        return self._spied(func(*bare, **_all_bare(kwargs)))

    def _spied(self, result: Any) -> Any:
        if isinstance(result, (tuple, list)) and not hasattr(result, "_fields"):
            return type(result)(self._spied(r) for r in result)
        if not isinstance(result, (np.ndarray, np.generic)):
            return result
        out = np.asarray(result).view(_Spy)
        out.seen = self.seen
        return out


def _bare(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, _Spy) else x


def _all_bare(x: Any) -> Any:
    if type(x) in (tuple, list):
        return type(x)(map(_all_bare, x))
    if type(x) is dict:
        return {k: _all_bare(v) for k, v in x.items()}
    return _bare(x)


def is_analytic(f: Callable[..., list[Any]], values: list[Any]) -> bool:
    """Whether all that f does with its arguments is known to be analytic.

    Args:
        f: gives a list of outputs.
        values: its arguments, real arrays.
    """
    seen: set[str] = set()
    spies = []
    for v in values:
        spy = np.array(v).view(_Spy)
        spy.seen = seen
        spies.append(spy)
    try:
        with np.errstate(all="ignore"):
            out = f(*spies)
    except Exception:  # whatever the code cannot do with such arrays: then nothing is known
        return False
    # What has lost its spy went through np.asarray or the like: nothing is known of it.
    watched = all(isinstance(y, _Spy) for y in out)
    return watched and seen <= ANALYTIC | STRUCTURE


def complex_step(
    f: Callable[[np.ndarray], np.ndarray], x: np.ndarray, space: Space, moves: int, seed: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """The Jacobian by complex steps, and how far rounding may have moved it.

    The bound is what the same derivative gives at neighbours that differ from x by rounding.

    Args:
        f: complex vector -> complex vector.
        x: a real vector.
        space: of x.
        moves: how many neighbours.
        seed: of their choice.

    Returns:
        (Jacobian, bound), None if f cannot do it.
    """
    rng = np.random.default_rng(seed)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            here = _jacobian(f, x)
            spread = np.zeros_like(here)
            for _ in range(moves):
                near = x * (1 + EPS * rng.integers(-2, 3, x.shape))
                spread = np.fmax(spread, np.abs(_jacobian(f, near) - here))
    except Exception:  # the code is for real numbers only
        return None
    return here, 8 * spread


def _jacobian(f: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    columns = []
    for k in range(x.size):
        h = STEP * max(abs(x[k]), 1.0)
        moved = x.astype(complex)
        moved[k] += 1j * h
        columns.append(np.imag(f(moved)) / h)
    return np.stack(columns, axis=-1)
