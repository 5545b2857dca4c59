"""The derivative of a NumPy function as a formula, ready for a paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from .convert import _matrix, _own_symbols, on_symbols
from .extra import symbolic_extra

__all__ = ["Formula", "derivative_formula"]


@dataclass(frozen=True)
class Formula:
    """A function and its derivative as SymPy expressions.

    Attributes:
        name: what the function is called.
        symbols: its arguments.
        value: the function itself.
        derivative: its derivative: axes of the result, then those of the argument.
        wrt: the symbols it is differentiated by.
        order: how often.
    """

    name: str
    symbols: tuple[Any, ...]
    value: Any
    derivative: Any
    wrt: Any
    order: int = 1

    def latex(self) -> str:
        r"""The equation for the derivative in LaTeX.

        >>> import numpy as np
        >>> print(derivative_formula(lambda x: np.exp(-x**2), name="f").latex())
        \frac{\mathrm{d} f}{\mathrm{d} x} = - 2 x e^{- x^{2}}
        """
        sympy = symbolic_extra()
        single = np.size(self.wrt) == 1
        d = r"\mathrm{d}" if len(self.symbols) == 1 else r"\partial"
        below = sympy.latex(self.wrt) if single else r"\mathbf{" + self._base() + "}"
        power = "" if self.order == 1 else f"^{{{self.order}}}"
        left = rf"\frac{{{d}{power} {self.name}}}{{{d} {below}{power}}}"
        return f"{left} = {sympy.latex(self.derivative)}"

    def _base(self) -> str:
        names = {str(s).rstrip("0123456789").rstrip("_") for s in np.ravel(self.wrt)}
        return names.pop() if len(names) == 1 else "x"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def __str__(self) -> str:
        return str(self.derivative)


def derivative_formula(
    f: Callable[..., Any],
    *symbols: Any,
    wrt: int | str = 0,
    order: int = 1,
    name: str | None = None,
    simplify: bool = True,
) -> Formula:
    r"""The derivative of a NumPy function as a SymPy expression, with LaTeX output.

    Args:
        f: a function of NumPy arrays with one result.
        symbols: its arguments, as for `to_sympy`; none: a real symbol for each.
        wrt: the argument to differentiate by, by position or by name.
        order: how many times to differentiate.
        name: what the formula calls the function; default its own name.
        simplify: whether to simplify the result.

    Raises:
        ArgumentError: there is no such argument, or it is not made of symbols.
        NotSymbolicError: f uses something that SymPy does not know.

    >>> import numpy as np, sympy
    >>> softplus = lambda x: np.log1p(np.exp(x))
    >>> print(derivative_formula(softplus, name="s"))
    exp(x)/(exp(x) + 1)
    >>> a, b = sympy.symbols("a b", positive=True)
    >>> derivative_formula(lambda v: np.sum(np.log(v)), [a, b]).derivative
    Matrix([
    [1/a],
    [1/b]])
    """
    sympy = symbolic_extra()
    from .calculus import derivative
    from .value import entries_of

    given = symbols or tuple(_own_symbols(f))
    at = _place(wrt, given)
    variables = entries_of(given[at])
    if not all(isinstance(s, sympy.Symbol) for s in variables.ravel()):
        raise ArgumentError(f"argument {wrt!r} is not made of symbols: {given[at]}")
    value = entries = entries_of(on_symbols(f, given))
    for _ in range(order):
        entries = np.frompyfunc(derivative, 2, 1).outer(entries, variables)
    if simplify:
        entries = np.frompyfunc(sympy.simplify, 1, 1)(entries)
    entries = np.asarray(entries, dtype=object)
    label = name or getattr(f, "__name__", "f").replace("<lambda>", "f").replace("_", r"\_")
    target = variables[()] if variables.ndim == 0 else tuple(variables.ravel())
    return Formula(label, given, _matrix(value), _matrix(entries), target, order)


def _place(wrt: int | str, given: tuple) -> int:
    names = [str(s) for s in given]
    if isinstance(wrt, str) and wrt in names:
        return names.index(wrt)
    if isinstance(wrt, int) and -len(given) <= wrt < len(given):
        return wrt
    raise ArgumentError(f"there is no argument {wrt!r}: the arguments are {', '.join(names)}")
