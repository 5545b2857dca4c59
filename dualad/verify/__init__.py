"""Derivative formulas proved on symbols, or refuted by a counterexample.

SymPy is the extra `symbolic`: it is imported when `prove` is called.
"""

from .builtin import prove_all
from .proof import Entry, Kink, Proof
from .proving import prove

__all__ = ["Entry", "Kink", "Proof", "prove", "prove_all"]
