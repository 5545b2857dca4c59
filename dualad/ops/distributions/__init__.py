"""Densities and distribution functions of scipy.stats, in argument and parameters.

They are plain formulas in NumPy and scipy.special, so that everything follows from the rules of
those. Loaded with `dualad.scipy.stats`.
"""
