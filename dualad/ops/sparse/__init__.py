"""Sparse matrices: three primitives on stored entries, and what is written with them.

Loaded by `dualad.scipy.sparse`, since it needs SciPy.
"""
