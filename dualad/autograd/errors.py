"""The errors of custom functions."""

from ..errors import DualADError

__all__ = ["FunctionError", "FunctionTypeError"]


class FunctionError(DualADError, RuntimeError):
    """A custom function does not keep its contract."""


class FunctionTypeError(FunctionError, TypeError):
    """A custom function handed over something that is not a tensor."""
