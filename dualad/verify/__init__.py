"""Derivatives proved on symbols (`prove`), or checked at a point with error bounds (`check`).

SymPy is the extra `symbolic`: it is imported when `prove` is called. `check` needs NumPy alone.
"""

from .builtin import prove_all
from .case import Case
from .numerical import check
from .proof import Entry, Kink, Proof
from .proving import prove
from .report import Report
from .scipy_jacobians import check_jac

__all__ = [
    "Case",
    "Entry",
    "Kink",
    "Proof",
    "Report",
    "check",
    "check_jac",
    "prove",
    "prove_all",
]
