"""PyTorch's names of NumPy's functions, by how they take their arguments."""

from __future__ import annotations

import numpy as np

__all__ = ["ALIASES", "ALONG", "COPYING", "FLOATING", "KEEPING", "PAIRS", "REDUCTIONS", "TESTING"]

#: Functions of one entry that give floats for integers too.
FLOATING = {
    "exp": np.exp, "expm1": np.expm1, "exp2": np.exp2, "log": np.log, "log1p": np.log1p,
    "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "reciprocal": np.reciprocal,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "arcsin": np.arcsin, "arccos": np.arccos,
    "arctan": np.arctan, "arcsinh": np.arcsinh, "arccosh": np.arccosh, "arctanh": np.arctanh,
    "sinc": np.sinc, "deg2rad": np.deg2rad, "rad2deg": np.rad2deg,
}  # fmt: skip
#: Functions of one entry that keep the dtype, or have one of their own.
KEEPING = {
    "abs": np.abs, "absolute": np.abs, "neg": np.negative, "negative": np.negative,
    "sign": np.sign, "sgn": np.sign, "square": np.square,
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "fix": np.trunc,
    "angle": np.angle, "nan_to_num": np.nan_to_num, "bitwise_not": np.invert,
    "logical_not": np.logical_not,
}  # fmt: skip
#: Functions whose argument may be written to afterwards, as in PyTorch, which saves their result.
#: Their slope at the argument is exact where that from the result is rounded, so that is copied.
COPYING = frozenset({"tanh", "expm1", "reciprocal"})
#: Questions about one entry.
TESTING = {"isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf, "signbit": np.signbit}
#: Functions of two tensors.
PAIRS = {
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin,
    "atan2": np.arctan2, "arctan2": np.arctan2, "hypot": np.hypot, "fmod": np.fmod,
    "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2, "copysign": np.copysign,
    "heaviside": np.heaviside, "nextafter": np.nextafter, "isclose": np.isclose,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "matmul": np.matmul, "mm": np.matmul, "mv": np.matmul, "bmm": np.matmul, "dot": np.dot,
    "inner": np.inner, "outer": np.outer, "kron": np.kron, "vdot": np.vdot,
}  # fmt: skip
#: Functions of all entries, or along dimensions.
REDUCTIONS = {
    "sum": np.sum, "mean": np.mean, "prod": np.prod, "amax": np.max, "amin": np.min,
    "nansum": np.nansum, "nanmean": np.nanmean, "argmax": np.argmax, "argmin": np.argmin,
    "all": np.all, "any": np.any, "count_nonzero": np.count_nonzero,
}  # fmt: skip
#: Functions along one dimension.
ALONG = {"cumsum": np.cumsum, "cumprod": np.cumprod, "diff": np.diff}
#: Other names of the same methods.
ALIASES = {
    "subtract": "sub", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "not_equal": "ne",
}  # fmt: skip
