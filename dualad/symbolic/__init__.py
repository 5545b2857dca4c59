"""NumPy functions as SymPy expressions, and SymPy expressions as NumPy functions.

SymPy is the extra `symbolic`: it is imported when one of these functions is called.
"""

from .convert import to_sympy
from .errors import NotSymbolicError, SymbolicBranchError
from .evaluate import SymbolicFunction, from_sympy
from .formula import Formula, derivative_formula

__all__ = [
    "Formula",
    "NotSymbolicError",
    "SymbolicBranchError",
    "SymbolicFunction",
    "derivative_formula",
    "from_sympy",
    "to_sympy",
]
