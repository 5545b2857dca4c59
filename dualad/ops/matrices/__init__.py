"""Derivatives of scipy.linalg: a file a family of matrix mathematics.

Loaded with `dualad.scipy.linalg`. A function that SciPy has beside NumPy's shares its rule.
"""
