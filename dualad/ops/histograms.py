"""Histograms: which bin an entry falls into is decided by values; sums of weights are linear.

The counts of the entries are integers without derivative. Bin edges that NumPy derives from the
data carry the derivative of the smallest and the largest entry, which they lie between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.levels.spec import Spec
from ..engine.levels.traced import TracedArray, raw
from ..engine.primitives.linear import Linear
from ..engine.primitives.primitive import Opaque
from .batch_axis import batch_size, with_batch_axis
from .constants import plain
from .operands import array_of
from .registry import function, kinks

__all__ = ["bin_sums"]


# --- sums of weights -----------------------------------------------------------------------------


def _sums(bins: Any, weights: Any, length: int) -> Any:
    """Zeros of a length with each weight added at its bin; leading axes of both are a batch."""
    out = np.zeros((*weights.shape[:-1], length), weights.dtype)
    at = np.broadcast_to(bins, weights.shape)
    lead = np.indices(weights.shape, sparse=True)[:-1]
    np.add.at(out, (*lead, at), weights)
    return out


def _sums_batch(args: tuple, mine: tuple, length: int) -> Any:
    n = batch_size(args, mine)
    bins, weights = (with_batch_axis(a, m, n) for a, m in zip(args, mine, strict=True))
    return bin_sums(bins, weights, length=length)


bin_sums = Linear(
    _sums,
    None,
    lambda ct, bins, weights, length: np.take_along_axis(ct, bins, -1),
    batch=_sums_batch,
    spec=lambda bins, weights, length: Spec((*weights.shape[:-1], length), weights.dtype),
    name="bin_sums",
)

_counted = Opaque(np.bincount, name="bincount")


@function(np.bincount)
def np_bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """The number of occurrences of each integer, or the sum of their weights."""
    x = array_of(x)
    length = max(int(np.max(raw(x), initial=-1)) + 1, minlength)
    if weights is None:
        return _counted(x, minlength=length)
    weights = array_of(weights)
    if x.ndim != 1 or x.shape != weights.shape:
        raise ValueError("The weights and list don't have the same length.")
    if weights.dtype.kind == "c":
        raise TypeError("the weights of np.bincount must be real")
    if np.any(raw(x) < 0):
        raise ValueError("'list' argument must have no negative elements")
    return bin_sums(x, weights.astype(np.float64), length=length)


# --- one dimension -------------------------------------------------------------------------------


def _edges(a: Any, bins: Any, range: Any, weights: Any) -> Any:
    """The edges of the bins; those that NumPy makes itself lie evenly between two ends."""
    if not isinstance(bins, str) and np.ndim(bins) == 1:
        return array_of(bins)
    values = plain(a, "the data of a histogram")
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weights")
    ends: Any = None if range is None else tuple(float(plain(r, "the range")) for r in range)
    edges = np.histogram_bin_edges(values, bins, ends)
    low, high = _ends(a, range)
    if not isinstance(low, TracedArray) and not isinstance(high, TracedArray):
        return edges
    return np.linspace(low, high, len(edges), dtype=edges.dtype)


def _ends(a: Any, range: Any) -> tuple[Any, Any]:
    if range is not None:
        low, high = range
    elif a.size == 0:
        low, high = 0.0, 1.0
    else:
        low, high = np.min(a), np.max(a)
    # NumPy widens an interval of no length.
    return (low - 0.5, high + 0.5) if np.all(raw(low) == raw(high)) else (low, high)


@function(np.histogram_bin_edges)
def np_histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges that a histogram would have."""
    return _edges(np.ravel(array_of(a)), bins, range, weights)


def _in_bins(values: Any, edges: Any) -> Any:
    """The number of the bin of each value, -1 outside; the last bin has both its ends."""
    values, edges = plain(values, "the data of a histogram"), plain(edges, "the edges of bins")
    at = np.searchsorted(edges, values, "right") - 1
    at = np.where(values == edges[-1], len(edges) - 2, at)
    return np.where((values < edges[0]) | (values > edges[-1]) | np.isnan(values), -1, at)


def _counts(at: Any, weights: Any, shape: Sequence[int]) -> Any:
    """Counts, or sums of weights, of flat bin numbers; those below 0 are in no bin."""
    inside, length = np.flatnonzero(at >= 0), int(np.prod(shape))
    if weights is None:
        return np.bincount(at[inside], minlength=length).reshape(shape)
    weights = np.ravel(array_of(weights))[inside]
    wide = weights.astype(np.result_type(weights.dtype, np.float64))
    return np.reshape(bin_sums(at[inside], wide, length=length), shape)


@function(np.histogram)
def np_histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Counts or sums of weights in bins, and the edges of the bins."""
    a = np.ravel(array_of(a))
    edges = _edges(a, bins, range, weights)
    counts = _counts(_in_bins(a, edges), weights, (edges.shape[0] - 1,))
    if weights is not None:
        counts = counts.astype(array_of(weights).dtype)
    if density:
        counts = counts / np.diff(edges) / np.sum(counts)
    return counts, edges


# --- more dimensions -----------------------------------------------------------------------------


@function(np.histogramdd)
def np_histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """Counts or sums of weights in boxes, and the edges of the bins along each axis."""
    columns = _columns(sample)
    n = len(columns)
    bins = list(bins) if hasattr(bins, "__len__") else [bins] * n
    ranges = [None] * n if range is None else list(range)
    if len(bins) != n or len(ranges) != n:
        raise ValueError("bins and range must have one entry for each dimension of the sample")
    edges = [_edges(c, b, r, None) for c, b, r in zip(columns, bins, ranges, strict=True)]
    places = [_in_bins(c, e) for c, e in zip(columns, edges, strict=True)]
    shape = tuple(e.shape[0] - 1 for e in edges)
    outside = np.any([p < 0 for p in places], axis=0)
    flat = np.ravel_multi_index([np.where(outside, 0, p) for p in places], shape)
    counts = _counts(np.where(outside, -1, flat), weights, shape)
    counts = counts if isinstance(counts, TracedArray) else counts.astype(np.float64)
    if density:
        total = np.sum(counts)
        for axis, e in enumerate(edges):
            widths = np.diff(e)
            counts = counts / np.reshape(widths, (-1, *(1,) * (n - axis - 1)))
        counts = counts / total
    return counts, edges


def _columns(sample: Any) -> list[Any]:
    """The coordinates of a sample: the columns of an (N, D) array, or a sequence of D arrays."""
    if isinstance(sample, (list, tuple)):
        return [array_of(c) for c in sample]
    sample = array_of(sample)
    return [sample] if sample.ndim == 1 else [sample[:, k] for k in np.arange(sample.shape[1])]


@function(np.histogram2d)
def np_histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """Counts or sums of weights in rectangles, and the edges of both axes."""
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [array_of(bins), array_of(bins)]
    counts, (along_x, along_y) = np_histogramdd([x, y], bins, range, density, weights)
    return counts, along_x, along_y


# --- where a derivative is not unique, or not finite ---------------------------------------------

# Edges move with the extreme entries.
kinks(
    (
        "np.histogram_bin_edges(x, 2)[1]",
        "[1.0, 2.0, 3.0]",
        "[0.5, 0.0, 0.5]",
        "edges lie between the extreme entries",
    ),
)
