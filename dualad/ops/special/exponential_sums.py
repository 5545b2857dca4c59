"""logsumexp, softmax and log_softmax: sums of exponentials along axes, safe against overflow.

The slopes of logsumexp are the shares of the sum, taken relative to its largest term. Equal
infinities share evenly, as in numpy.logaddexp.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from ...engine.arrays.guard import quiet
from ...engine.primitives.composite import Composite
from ...engine.primitives.primitive import Opaque
from ..structure import axes_of
from .functions import drop_in
from .table import fixed

__all__ = ["log_softmax", "logsumexp", "softmax"]


def _batched(primitive: Any) -> Any:
    """The batch rule of an operation along axes: they stand one further back."""

    def batch(args: tuple, mine: tuple, axes: tuple) -> Any:
        lifted = (x if m else np.asarray(x)[None] for x, m in zip(args, mine, strict=True))
        return primitive()(*lifted, axes=tuple(k + 1 for k in axes))

    return batch


# --- logsumexp -----------------------------------------------------------------------------------


def _terms(a: Any, b: Any, axes: tuple) -> tuple[Any, Any]:
    """exp(a) and b exp(a), both over exp(largest a with a weight)."""
    top = fixed(np.max(np.where(b == 0, -np.inf, a), axis=axes, keepdims=True))
    tied = np.isinf(top)
    e = np.where(tied, a == top, np.exp(a - np.where(tied, 0.0, top)))
    return e, np.where(b == 0, 0.0, b * e)


def _share(t: Any, weights: Any, total: Any, axes: tuple) -> Any:
    return np.sum(weights * t, axis=axes, keepdims=True) / total


def _in_a(t: Any, out: Any, a: Any, b: Any, axes: tuple) -> Any:
    with quiet():
        _, terms = _terms(a, b, axes)
        return _share(t, terms, np.sum(terms, axis=axes, keepdims=True), axes)


def _in_b(t: Any, out: Any, a: Any, b: Any, axes: tuple) -> Any:
    with quiet():
        e, terms = _terms(a, b, axes)
        return _share(t, e, np.sum(terms, axis=axes, keepdims=True), axes)


def _with_sign(part: int) -> Any:
    return lambda a, b, axes: sp.logsumexp(a, axes, b, True, return_sign=True)[part]


log_of_size = Composite(
    _with_sign(0),
    _in_a,
    _in_b,
    name="scipy.special.logsumexp",
    batch=_batched(lambda: log_of_size),
    builtin=False,
)
sign_of_sum = Opaque(
    _with_sign(1), "sign of logsumexp", batch=_batched(lambda: sign_of_sum), builtin=False
)


def _complex_sum(a: Any, b: Any, axes: tuple, return_sign: bool) -> Any:
    top = fixed(np.max(np.real(a), axis=axes, keepdims=True))
    top = np.where(np.isfinite(top), top, 0.0)
    total = np.sum(b * np.exp(a - top), axis=axes, keepdims=True)
    if return_sign:
        return np.log(np.abs(total)) + top, np.sign(total)
    return np.log(total) + top, None


@drop_in("a", "b")
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """log(sum(b exp(a))) along axes; with return_sign a pair of log |sum| and the sum's sign.

    >>> import dualad, numpy as np
    >>> dualad.grad(logsumexp)(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    weights = np.ones(1, a.dtype) if b is None else b
    shape = np.broadcast_shapes(np.shape(a), np.shape(weights)) or (1,)
    inputs = tuple(np.broadcast_to(1.0 * x, shape) for x in (a, weights))
    axes = axes_of(axis, len(shape))
    if any(np.dtype(x.dtype).kind == "c" for x in inputs):
        value, sign = _complex_sum(inputs[0], inputs[1], axes, return_sign)
    else:
        value, sign = log_of_size(*inputs, axes=axes), None
        if b is not None or return_sign:
            sign = sign_of_sum(*inputs, axes=axes)
        if b is not None and not return_sign:
            value = np.where(sign < 0, np.nan, value)
    kept = tuple(1 if k in axes else n for k, n in enumerate(np.shape(a) and shape))
    final = kept if keepdims else tuple(n for k, n in enumerate(shape) if k not in axes)
    value = np.reshape(value, final)
    return (value, np.reshape(sign, final)) if return_sign else value


# --- softmax -------------------------------------------------------------------------------------


def _softmax_rule(t: Any, out: Any, x: Any, axes: tuple) -> Any:
    return out * (t - np.sum(out * t, axis=axes, keepdims=True))


def _log_softmax_rule(t: Any, out: Any, x: Any, axes: tuple) -> Any:
    return t - np.sum(np.exp(out) * t, axis=axes, keepdims=True)


shares = Composite(
    lambda x, axes: sp.softmax(x, axis=axes),
    _softmax_rule,
    name="scipy.special.softmax",
    batch=_batched(lambda: shares),
    builtin=False,
)
log_shares = Composite(
    lambda x, axes: sp.log_softmax(x, axis=axes),
    _log_softmax_rule,
    name="scipy.special.log_softmax",
    batch=_batched(lambda: log_shares),
    builtin=False,
)


@drop_in("x")
def softmax(x: Any, axis: Any = None) -> Any:
    """exp(x) over its sum along axes.

    >>> import dualad, numpy as np
    >>> dualad.jvp(softmax, (np.zeros(2),), (np.array([1.0, 0.0]),))[1]
    array([ 0.25, -0.25])
    """
    return shares(x, axes=axes_of(axis, x.ndim))


@drop_in("x")
def log_softmax(x: Any, axis: Any = None) -> Any:
    """The logarithm of softmax(x).

    >>> import dualad, numpy as np
    >>> dualad.grad(lambda x: log_softmax(x)[0])(np.zeros(2))
    array([ 0.5, -0.5])
    """
    return log_shares(x, axes=axes_of(axis, x.ndim))
