"""Calls on which the linear operations of the library are proved: shapes, axes, indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .linear import Call, of_shapes

__all__ = ["CALLS"]

ALL, NEW = slice(None), None
REPEATED = np.array([2, 0, 2])
#: As the indices of a traced index come: one row an axis.
PLACES = np.array([[1, 0, 1], [2, 0, 2]])
CONDITION = np.array([True, False, True])


def in_both(*args: Any, **params: Any) -> list[Call]:
    """A call on real and on complex symbols."""
    return [of_shapes(*args, **params), of_shapes(*args, complex=True, **params)]


# fmt: off
CALLS: dict[str, list[Call]] = {
    "getitem": [
        *in_both((3, 2), index=(1, ALL)),
        of_shapes((3, 2), index=(slice(None, None, -2), NEW, ALL)),
        of_shapes((3, 2), index=(REPEATED, ALL)),
        of_shapes((3, 2, 2), index=(REPEATED, ALL, np.array([1, 1, 0]))),
        of_shapes((3, 2), index=(np.array([[0], [2]]), np.array([1, 0]))),
    ],
    "scatter_add": [
        *in_both(3, index=(REPEATED,), shape=(4,)),
        of_shapes(2, index=(1, ALL), shape=(2, 2)),
    ],
    "index_set": [
        *in_both((3, 2), 2, index=(1, ALL)),
        of_shapes(4, 3, index=(REPEATED,)),
    ],
    "gather":      [of_shapes((2, 3), PLACES)],
    "scatter_at":  [of_shapes(3, PLACES, shape=(2, 3))],
    "set_at":      [of_shapes((2, 3), 3, PLACES)],
    "cast":        [of_shapes((2, 2), dtype=np.dtype(float))],
    "reshape":     [*in_both((2, 3), shape=(3, 2)), of_shapes((), shape=(1, 1))],
    "transpose":   [*in_both((2, 3, 2), axes=(2, 0, 1)), of_shapes((2, 3), axes=(1, 0))],
    "broadcast_to": [
        *in_both(3, shape=(2, 3)), of_shapes((2, 1), shape=(3, 2, 2)), of_shapes((), shape=(2,)),
    ],
    "sum_axes": [
        *in_both((2, 3), axes=(0,)), of_shapes((2, 3, 2), axes=(0, 2)), of_shapes(3, axes=()),
        of_shapes((2, 2), axes=(0, 1)),
    ],
    "concatenate": [
        *in_both((2, 2), (2, 1), axis=1), of_shapes((1, 3), (2, 3), (1, 3), axis=0),
    ],
    "stack": [*in_both(2, 2, axis=0), of_shapes(2, 2, 2, axis=1), of_shapes((), (), axis=0)],
    "where": [
        of_shapes(CONDITION, 3, 3), of_shapes(CONDITION, 3, ()),
        of_shapes(CONDITION, 3, 3, complex=True),
    ],
    "real":        [of_shapes((2, 2), complex=True)],
    "imag":        [of_shapes((2, 2), complex=True)],
    "conjugate":   in_both((2, 2)),
    "matmul": [
        *in_both((2, 3), (3, 2)), *in_both(3, 3), of_shapes((2, 3), 3), of_shapes(3, (3, 2)),
        of_shapes((2, 1, 2), (2, 2)), of_shapes((2, 2), (2, 2, 1)),
    ],
    "cross":       [of_shapes(3, 3), of_shapes((2, 3), 3)],
    "convolve": [
        of_shapes(4, 2, mode="full"), of_shapes(4, 2, mode="valid"),
        of_shapes((2, 3), 2, mode="full"),
    ],
    "einsum": [
        *in_both((2, 2), (2, 3), subscripts="ij,jk->ik", optimize=False),
        of_shapes((2, 3), 3, 2, subscripts="ij,j,i->j", optimize=False),
    ],
    "fft":  [*in_both(4, axis=0, norm="backward"), of_shapes((2, 3), axis=1, norm="ortho")],
    "ifft": [*in_both(4, axis=0, norm="backward"), of_shapes((2, 3), axis=1, norm="forward")],
    "rfft": [
        of_shapes(4, axis=0, norm="backward"), of_shapes((2, 3), axis=1, norm="ortho"),
        of_shapes(1, axis=0, norm="forward"),
    ],
    "irfft": [
        of_shapes(2, axis=0, n=3, norm="backward", complex=True),
        of_shapes(3, axis=0, n=4, norm="ortho", complex=True),
    ],
    "bin_sums":    [of_shapes(np.array([2, 0, 2]), 3, length=4)],
    "cumsum":      [*in_both((2, 3), axis=1), of_shapes((2, 3), axis=0)],
    "solve":       [of_shapes((2, 2), (2, 1)), of_shapes((2, 2), (2, 2))],
    "solve_again": [
        of_shapes((2, 2), (2, 1), np.zeros((2, 1)), transposed=False),
        of_shapes((2, 2), (2, 2), np.zeros((2, 2)), transposed=True),
    ],
    "plus_transpose": in_both((2, 2)),
    "trace_of_product": in_both((2, 2), (2, 2)),
    "diagonal_of_product": in_both((2, 2), (2, 2)),
    "hermitian":   [*in_both((2, 2), lower=True), of_shapes((2, 2), lower=False)],
    "folded":      [*in_both((2, 2), lower=True), of_shapes((2, 2), lower=False)],
    "halved":      [*in_both((2, 2), lower=True), of_shapes((2, 2), lower=False)],
    "hermitian_product": [
        *in_both((2, 2), (2, 1), lower=True), of_shapes((2, 2), (2, 1), lower=False),
    ],
    "folded_product": [
        *in_both((2, 1), (2, 1), lower=True), of_shapes((2, 1), (2, 1), lower=False),
    ],
    "zero_wins":   [of_shapes((2, 2), 2)],
    "either_zero_wins": [of_shapes((2, 2), 2)],
    "decided_at_ties": [of_shapes((2, 2), np.zeros((2, 2), bool))],
    "decided_at_ties_of_eig": [of_shapes((2, 2), np.zeros((2, 2), bool))],
}
# fmt: on
