"""Functions of matrices: expm, logm, sqrtm, powers, and what is written with them.

f of the block matrix [[A, E], [0, A]] has the derivative L(A, E) of f at A along E as its upper
right block, for every analytic f (Mathias, "A chain rule for matrix functions and applications",
1996; Higham, *Functions of Matrices*, 2008, section 3.1). L is linear in E. Its own derivative in
A is L of the block matrix along [[T, 0], [0, T]], which needs no further formula at any order. Its
adjoint is E -> L(A, E^H)^H.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as sp

from ...engine.kinds.direction import constant
from ...engine.levels.spec import Spec
from ...engine.levels.traced import TracedArray, raw
from ...engine.primitives.composite import Composite
from ...engine.primitives.linear import Linear
from ...errors import ArgumentError, SingularPointError
from ..complexes import imag, real
from ..dropin import drop_in, is_tracked, matrix, operand
from ..gaps import ties
from ..general_eigen import eig, smooth_eig
from ..linalg import adjoint
from .equations import sylvester

__all__ = [
    "coshm",
    "cosm",
    "expm",
    "expm_frechet",
    "fractional_matrix_power",
    "funm",
    "logm",
    "signm",
    "sinhm",
    "sinm",
    "sqrtm",
    "tanhm",
    "tanm",
]


# --- the derivative of any analytic function -----------------------------------------------------


def matrix_function_derivative(a: Any, e: Any, function: str, more: tuple, dtype: Any) -> Any:
    """L(a, e) of a function of scipy.linalg; its source is what a linear program prints."""
    import warnings

    import scipy.linalg

    out_dtype = np.result_type(dtype, e)
    size = np.linalg.norm(e)
    if size == 0:
        return np.zeros(e.shape, out_dtype)
    if not (size < np.inf and np.isfinite(a).all()):
        return np.full(e.shape, np.nan, out_dtype)
    if function == "expm":
        return scipy.linalg.expm_frechet(a, e, None, False, False).astype(out_dtype)
    # The block e is brought to the size of a, so that it does not spoil the accuracy.
    scale = (np.linalg.norm(a) or 1.0) / size
    block = np.block([[a, e * scale], [np.zeros_like(a), a]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = getattr(scipy.linalg, function)(block, *more)
    corner = out[: len(a), len(a) :] / scale
    return (corner if out_dtype.kind == "c" else corner.real).astype(out_dtype)


def _block(a: Any, e: Any) -> Any:
    """[[a, e], [0, a]]."""
    below = np.concatenate([np.zeros(a.shape, a.dtype), a], axis=1)
    return np.concatenate([np.concatenate([a, e], axis=1), below])


def _derivative_rule(t: Any, out: Any, a: Any, e: Any, **params: Any) -> Any:
    n, size = a.shape[-1], np.max(np.abs(raw(e)))
    scale = np.max(np.abs(raw(a))) / size if 0 < size < np.inf else 1.0
    block = _block(a, (scale or 1.0) * e)
    return derivative(block, np.kron(np.eye(2), t), **params)[:n, n:] / (scale or 1.0)


derivative = Linear(
    matrix_function_derivative,
    None,
    lambda ct, a, e, **params: adjoint(derivative(a, adjoint(ct), **params)),
    rules=(_derivative_rule, None),
    spec=lambda a, e, dtype, **_: Spec(e.shape, np.result_type(dtype, e.dtype)),
    name="scipy.linalg matrix function derivative",
)


def _analytic(function: str, **options: Any) -> Composite:
    """The primitive of an analytic function of scipy.linalg."""

    def rule(t: Any, out: Any, a: Any, more: tuple) -> Any:
        return derivative(a, t, function=function, more=more, dtype=np.dtype(out.dtype))

    return Composite(
        lambda a, more: getattr(sp, function)(a, *more),
        rule,
        name=f"scipy.linalg.{function}",
        **options,
    )


# --- exponential and trigonometric functions -----------------------------------------------------

_expm = _analytic("expm", batch=lambda args, mine, more: _expm(args[0], more=more))


@drop_in(sp.expm, A=2)
def expm(A: Any) -> Any:
    """scipy.linalg.expm, with the derivative of Al-Mohy and Higham (2009)."""
    return _expm(matrix(np.atleast_2d(operand(A)), "A"), more=())


@drop_in(sp.expm_frechet, A=2, E=2)
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: bool = True) -> Any:
    """scipy.linalg.expm_frechet: linear in E, differentiable in A."""
    A, E = matrix(A, "A"), matrix(E, "E")
    if A.shape != E.shape:
        raise ValueError("expected A and E to be the same shape")
    if method not in (None, "SPS", "blockEnlarge"):
        raise ValueError(f"Unknown implementation {method}")
    dtype = np.result_type(A.dtype, np.float64)
    along = derivative(A, E, function="expm", more=(), dtype=dtype)
    return (expm(A.astype(dtype)), along) if compute_expm else along


def _even(a: Any) -> Any:
    return (expm(a) + expm(-a)) / 2


def _odd(a: Any) -> Any:
    return (expm(a) - expm(-a)) / 2


@drop_in(sp.cosm, A=2)
def cosm(A: Any) -> Any:
    """scipy.linalg.cosm."""
    A = matrix(A, "A")
    return _even(1j * A) if A.dtype.kind == "c" else real(expm(1j * A))


@drop_in(sp.sinm, A=2)
def sinm(A: Any) -> Any:
    """scipy.linalg.sinm."""
    A = matrix(A, "A")
    return -1j * _odd(1j * A) if A.dtype.kind == "c" else imag(expm(1j * A))


@drop_in(sp.tanm, A=2)
def tanm(A: Any) -> Any:
    """scipy.linalg.tanm."""
    return np.linalg.solve(cosm(A), sinm(A))


@drop_in(sp.coshm, A=2)
def coshm(A: Any) -> Any:
    """scipy.linalg.coshm."""
    return _even(matrix(A, "A"))


@drop_in(sp.sinhm, A=2)
def sinhm(A: Any) -> Any:
    """scipy.linalg.sinhm."""
    return _odd(matrix(A, "A"))


@drop_in(sp.tanhm, A=2)
def tanhm(A: Any) -> Any:
    """scipy.linalg.tanhm."""
    return np.linalg.solve(coshm(A), sinhm(A))


# --- logarithm, powers, sign ---------------------------------------------------------------------


def _value_only(disp: Any, name: str) -> None:
    if disp is False:
        raise ArgumentError(
            f"scipy.linalg.{name} with disp=False gives an estimate of its error too, which has "
            f"no derivative: leave disp out."
        )


def _require_regular(a: Any, name: str) -> None:
    s = np.linalg.svdvals(raw(a))
    tiny = a.shape[-1] * np.finfo(s.dtype).eps
    if np.any(s[..., -1:] <= tiny * s[..., :1]):
        raise SingularPointError(
            f"scipy.linalg.{name} has no derivative here: a matrix of shape {a.shape} is "
            "singular. Move the point off the singularity (a + eps * np.eye(n)), or take "
            "dualad.stop_gradient(a)."
        )


_logm = _analytic("logm")
_power = _analytic("fractional_matrix_power")


def _sqrtm_rule(t: Any, out: Any, a: Any) -> Any:
    """X X = A gives X dX + dX X = dA."""
    _require_regular(out, "sqrtm")
    return sylvester(out, out, t)


def _signm_rule(t: Any, out: Any, a: Any) -> Any:
    """N dS + dS N = dA - S dA S with N = S A (Higham, 2008, theorem 5.3)."""
    n = out @ a
    _require_regular(n, "signm")
    return sylvester(n, n, t - out @ t @ out)


_sqrtm = Composite(lambda a: sp.sqrtm(a), _sqrtm_rule, name="scipy.linalg.sqrtm")
_signm = Composite(lambda a: sp.signm(a), _signm_rule, name="scipy.linalg.signm")


@drop_in(sp.logm, A=2)
def logm(A: Any, disp: Any = True) -> Any:
    """scipy.linalg.logm, the principal logarithm."""
    _value_only(disp, "logm")
    A = matrix(A, "A")
    _require_regular(A, "logm")
    return _logm(A, more=())


@drop_in(sp.sqrtm, A=2)
def sqrtm(A: Any, disp: Any = True, blocksize: Any = None) -> Any:
    """scipy.linalg.sqrtm, the principal square root."""
    _value_only(disp, "sqrtm")
    return _sqrtm(matrix(A, "A"))


@drop_in(sp.signm, A=2)
def signm(A: Any, disp: Any = True) -> Any:
    """scipy.linalg.signm: no eigenvalue may be on the imaginary axis."""
    _value_only(disp, "signm")
    return _signm(matrix(A, "A"))


@drop_in(sp.fractional_matrix_power, A=2)
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """scipy.linalg.fractional_matrix_power; a tracked exponent makes it expm(t * logm(A))."""
    A = matrix(A, "A")
    if isinstance(t, TracedArray):
        return expm(t * logm(A))
    if t == int(t):
        return np.linalg.matrix_power(A, int(t))
    _require_regular(A, "fractional_matrix_power")
    return _power(A, more=(float(t),))


# --- any function --------------------------------------------------------------------------------


def funm(A: Any, func: Callable[[Any], Any], disp: Any = True) -> Any:
    """scipy.linalg.funm of a matrix with distinct eigenvalues, V diag(func(w)) V^-1.

    func is differentiated with it, also in what it is a closure over.

    Raises SingularPointError where eigenvalues are repeated: func alone does not say its slope.
    """
    if not is_tracked(A) and is_tracked(func(np.diagonal(A) + 0j)):
        return _by_eigenvectors(operand(A), func, disp)
    return _funm(A, func, disp)


funm.__signature__ = inspect.signature(sp.funm)  # type: ignore[attr-defined]


@drop_in(sp.funm, A=2)
def _funm(A: Any, func: Callable[[Any], Any], disp: Any = True) -> Any:
    return _by_eigenvectors(A, func, disp)


def _by_eigenvectors(A: Any, func: Callable[[Any], Any], disp: Any) -> Any:
    _value_only(disp, "funm")
    A = matrix(A, "A")
    w, v = eig(constant(A))
    if np.any(raw(ties(w)) & ~np.eye(w.shape[-1], dtype=bool)):
        raise SingularPointError(
            "scipy.linalg.funm has no derivative rule at repeated eigenvalues: use expm, logm, "
            "sqrtm, fractional_matrix_power, cosm and their kin, which have one everywhere."
        )
    w, v = smooth_eig(A, w, v)
    out = (v * func(w + 0j)) @ np.linalg.inv(v)
    eps = np.finfo(out.dtype).eps
    rounding = (1e6 if eps < 1e-12 else 1e3) * eps  # SciPy's limits
    is_real = A.dtype.kind != "c" and np.allclose(raw(imag(out)), 0, atol=rounding)
    return real(out) if is_real else out
