"""SciPy's sparse classes, whose operations also take traced operands.

Each is a subclass of SciPy's class of the same name and computes by its code, until an entry or an
operand is traced: then the matrix is lifted to a `TracedSparse`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.sparse as sp

from ...errors import LostDerivativeError
from .entries import TracedSparse, concerns, lifted, scipy_class, traced
from .methods import OPERATORS, no_writing

__all__ = ["CLASSES", "adopted"]

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")

#: The other operations of SciPy's classes that take an operand.
OTHERS = (
    "__setitem__",
    "setdiag",
    "maximum",
    "minimum",
    "tensordot",
    *(f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")),
)


def _operation(base: Any, name: str) -> Callable[..., Any]:
    """SciPy's method for plain operands, ours for traced ones."""
    scipys = getattr(base, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if any(map(concerns, args)) or any(map(concerns, kwargs.values())):
            return getattr(lifted(self), name)(*args, **kwargs)
        return scipys(self, *args, **kwargs)

    method.__name__ = name
    return method


def _new(form: str, is_matrix: bool, base: Any) -> Callable[..., Any]:
    def __new__(
        cls: type, arg1: Any = None, shape: Any = None, dtype: Any = None, **kw: Any
    ) -> Any:
        if isinstance(arg1, TracedSparse) or concerns(arg1) or _holds_traced(arg1):
            if form not in ("csr", "csc", "coo"):
                raise LostDerivativeError(
                    f"{base.__name__} takes no traced entries: make a csr, csc or coo matrix of "
                    "them, csr_array((data, (row, col)), shape)."
                )
            return traced(form, is_matrix, arg1, shape, dtype)
        return base.__new__(cls)

    return __new__


def _holds_traced(arg: Any) -> bool:
    return isinstance(arg, (tuple, list)) and any(map(concerns, arg))


def _set(self: Any, name: str, value: Any) -> None:
    if name == "data" and concerns(value):
        no_writing(self, name, value)
    object.__setattr__(self, name, value)


def _container(form: str, is_matrix: bool) -> property:
    """SciPy's methods ask for the class of their result by such a property."""
    return property(lambda self: CLASSES[scipy_class(form, is_matrix).__name__])


def _class(form: str, is_matrix: bool) -> type:
    base = scipy_class(form, is_matrix)
    names = [n for n in (*OPERATORS, *OTHERS) if hasattr(base, n)]
    return type(
        base.__name__,
        (base,),
        {
            "__module__": __name__,
            "__doc__": f"scipy.sparse.{base.__name__}, which takes traced operands and entries.",
            "__array_priority__": 1001.0,
            "__new__": _new(form, is_matrix, base),
            "__setattr__": _set,
            "__hash__": base.__hash__,
            **{n: _operation(base, n) for n in names},
            **{f"_{f}_container": _container(f, is_matrix) for f in FORMATS},
        },
    )


#: By name; SciPy's classes of the same names are their bases.
CLASSES: dict[str, Any] = {}
CLASSES.update(
    {
        scipy_class(form, is_matrix).__name__: _class(form, is_matrix)
        for form in FORMATS
        for is_matrix in (False, True)
    }
)
globals().update(CLASSES)


def adopted(x: Any) -> Any:
    """A matrix of SciPy's as one that takes traced operands; anything else as it is."""
    if not sp.issparse(x) or type(x) in CLASSES.values():
        return x
    return CLASSES[scipy_class(x.format, isinstance(x, sp.spmatrix)).__name__](x)
