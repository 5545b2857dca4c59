"""Every error of dualad: a `DualADError` that is also the built-in type a user would catch."""

from numpy.linalg import LinAlgError

__all__ = [
    "ArgumentError",
    "CompileWarning",
    "DirectionNeededError",
    "DualADError",
    "LeakError",
    "LevelError",
    "LinearityError",
    "LostDerivativeError",
    "MissingExtraError",
    "MissingRuleError",
    "NaNError",
    "NotDifferentiableError",
    "RefusedAttributeError",
    "ShapeError",
    "SingularPointError",
    "StructureError",
]


class DualADError(Exception):
    """Base of all errors of this library."""


class LevelError(DualADError, RuntimeError):
    """A level is missing, closed, or used out of order."""


class LeakError(LevelError):
    """A traced value outlived the transformation that made it."""


class LinearityError(DualADError, RuntimeError):
    """A derivative rule is not linear in its tangent."""


class LostDerivativeError(DualADError, TypeError, RuntimeError):
    """An operation would have dropped a derivative without saying so."""


class RefusedAttributeError(LostDerivativeError, AttributeError):
    """An attribute of ndarray that a traced array does not have, because it has no derivative."""


class MissingRuleError(DualADError, NotImplementedError, TypeError):
    """No derivative rule is known for an operation."""


class NotDifferentiableError(DualADError, TypeError, RuntimeError):
    """The value has no tangent space (integer, boolean, string, ...)."""


class SingularPointError(DualADError, LinAlgError):
    """A function has a value at this point, but no derivative."""


class DirectionNeededError(SingularPointError):
    """A derivative exists along each direction, but reverse mode knows none.

    grad and vjp answer it by forward mode; where they cannot, it reaches the user.
    """


class NaNError(DualADError, FloatingPointError):
    """Under `debug_nans`: an operation made the first NaN.

    `operation` is its name; `part` says where the NaN is: in the "value", the "tangent" or the
    "cotangent"; `filename` and `lineno` are the line of the user's code that it is on.
    """

    def __init__(
        self,
        message: str,
        operation: str = "",
        part: str = "",
        filename: str = "",
        lineno: int = 0,
    ):
        super().__init__(message)
        self.operation, self.part = operation, part
        self.filename, self.lineno = filename, lineno


class ArgumentError(DualADError, TypeError, RuntimeError):
    """An argument has a wrong type or there is a wrong number of them."""


class StructureError(DualADError, TypeError, ValueError, RuntimeError):
    """Two containers that must mirror each other do not."""


class ShapeError(DualADError, ValueError, RuntimeError):
    """A shape or dtype is not the one that is required."""


class CompileWarning(UserWarning):
    """A function given to `dualad.compile` that runs as it is, for the reason that is named."""


class MissingExtraError(DualADError, ImportError):
    """An optional dependency is not installed."""
