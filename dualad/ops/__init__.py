"""The formulas: one file a family of mathematics, each derivative stated once.

Importing a module registers its rules: this list says what is covered.
"""

from . import (
    assignment,
    complexes,
    constants,
    convolution,
    einsum,
    elementwise,
    extrema,
    grid,
    indexing,
    interpolate,
    methods,
    norms,
    products,
    quantiles,
    reduce,
    scan,
    select,
    statistics,
    structure,
)

__all__ = [
    "assignment",
    "complexes",
    "constants",
    "convolution",
    "einsum",
    "elementwise",
    "extrema",
    "grid",
    "indexing",
    "interpolate",
    "methods",
    "norms",
    "products",
    "quantiles",
    "reduce",
    "scan",
    "select",
    "statistics",
    "structure",
]
