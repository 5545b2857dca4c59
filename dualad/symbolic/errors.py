"""What a function may do that has no meaning on symbols."""

from ..errors import DualADError

__all__ = ["NotSymbolicError", "SymbolicBranchError"]

#: What can be done where symbols cannot follow.
REMEDY = "check it numerically instead, with dualad.verify.check"


class NotSymbolicError(DualADError, NotImplementedError, TypeError):
    """An operation that cannot be carried out on symbols."""


class SymbolicBranchError(NotSymbolicError):
    """Python's own control flow asked for the truth, or the number, of a symbol."""
