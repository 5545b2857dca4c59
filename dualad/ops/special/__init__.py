"""Derivatives of scipy.special: a file a family of functions, a line a function.

Loaded when the first ufunc of scipy.special meets a traced array. Where a formula is not
first-year calculus it names its section of the NIST Digital Library of Mathematical Functions
(DLMF, dlmf.nist.gov).
"""

from . import gamma

__all__ = ["gamma"]
