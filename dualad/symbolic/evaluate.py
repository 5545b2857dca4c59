"""A SymPy expression as a NumPy function that brings its derivative with it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..transforms.custom import custom_jvp
from .extra import symbolic_extra

__all__ = ["SymbolicFunction", "from_sympy"]


class SymbolicFunction:
    """A function of NumPy arrays made from an expression; `from_sympy` makes it.

    Calling it is differentiable in every mode, by the derivatives that SymPy found: the partial
    derivatives are computed when they are needed, sharing what they have in common with f.

    Attributes:
        expr: the expression.
        symbols: its arguments, in order.
    """

    def __init__(self, expr: Any, symbols: Sequence[Any]):
        import sympy

        # Arguments are real, which Abs and sign need to know for their derivatives.
        real = {s: sympy.Symbol(s.name, real=True) for s in symbols if s.is_real is None}
        self.symbols = tuple(real.get(s, s) for s in symbols)
        self.expr = expr.xreplace(real)
        expr = self.expr
        self.shape: tuple[int, ...] = getattr(expr, "shape", ())
        if len(self.shape) == 2 and self.shape[1] == 1:
            self.shape = self.shape[:1]
        self._value = _compiled(self.symbols, _cells(expr))
        self._derivatives: list[SymbolicFunction] | None = None
        self._call = custom_jvp(self._evaluate)
        self._call.defjvp(self._rule)

    def __reduce__(self) -> Any:
        return SymbolicFunction, (self.expr, self.symbols)

    def derivatives(self) -> list[SymbolicFunction]:
        """The partial derivative in each argument, as functions of the same kind."""
        if self._derivatives is None:
            self._derivatives = [
                SymbolicFunction(_diff(self.expr, s), self.symbols) for s in self.symbols
            ]
        return self._derivatives

    def gradient(self, *args: Any) -> tuple[Any, ...]:
        """The partial derivatives at a point, one for each argument, subexpressions shared."""
        values = _compiled(
            self.symbols, [c for s in self.symbols for c in _cells(_diff(self.expr, s))]
        )(*args)
        n = max(len(values) // len(self.symbols), 1)
        rows = [values[k : k + n] for k in range(0, len(values), n)]
        return tuple(self._shaped(r, args) for r in rows)

    def __call__(self, *args: Any) -> Any:
        if len(args) != len(self.symbols):
            raise ArgumentError(
                f"this function takes {len(self.symbols)} arguments "
                f"({', '.join(map(str, self.symbols))}), got {len(args)}"
            )
        return self._call(*args)

    def _evaluate(self, *args: Any) -> Any:
        return self._shaped(self._value(*args), args)

    def _shaped(self, values: list[Any], args: tuple) -> Any:
        """The entries as one array, the axes of the arguments behind those of the expression."""
        shape = np.broadcast_shapes(*(getattr(a, "shape", ()) for a in args))
        values = [np.broadcast_to(v, shape)[()] + 0.0 for v in values]
        if not self.shape:
            return values[0]
        stacked = np.stack(values)
        return stacked.reshape(self.shape + stacked.shape[1:])

    def _rule(self, primals: tuple, tangents: tuple) -> tuple[Any, Any]:
        moved = [
            d(*primals) * t for d, t in zip(self.derivatives(), tangents, strict=True)
            if t is not None
        ]  # fmt: skip
        return self(*primals), sum(moved[1:], moved[0])

    def __repr__(self) -> str:
        return f"<function ({', '.join(map(str, self.symbols))}) -> {self.expr}>"


def _cells(expr: Any) -> list[Any]:
    return list(expr.reshape(len(expr), 1)) if hasattr(expr, "shape") else [expr]


def _diff(expr: Any, symbol: Any) -> Any:
    import sympy

    from .calculus import conventional, derivative
    from .errors import NotSymbolicError

    def slope(e: Any) -> Any:
        out = derivative(conventional(e), symbol)
        if out.has(sympy.Derivative, sympy.Subs):
            raise NotSymbolicError(f"SymPy does not know the derivative of {e} in {symbol}")
        return out

    return expr.applyfunc(slope) if hasattr(expr, "shape") else slope(expr)


def _compiled(symbols: Sequence[Any], cells: Sequence[Any]) -> Callable[..., list[Any]]:
    from .errors import NotSymbolicError

    sympy = symbolic_extra()
    modules: list[Any] = [_select(), "numpy"]
    if any(_needs_scipy(c) for c in cells):
        symbolic_extra("scipy.special")
        modules = [_select(), "scipy", "numpy"]
    f = sympy.lambdify(symbols, list(cells), modules=modules, cse=True)

    @functools.wraps(f)
    def evaluate(*args: Any) -> list[Any]:
        try:
            return f(*args)
        except NameError as e:
            raise NotSymbolicError(f"NumPy and SciPy have no counterpart of {e.name}") from None

    return evaluate


def _needs_scipy(e: Any) -> bool:
    """Whether an expression contains a function that SciPy has and NumPy has not."""
    import sympy
    from sympy.functions import special

    return any(
        f.func.__module__.startswith(special.__name__) and f.func.__name__ not in IN_NUMPY
        for f in e.atoms(sympy.Function)
    )


#: What SymPy counts among the special functions, and NumPy can do.
IN_NUMPY = ("Heaviside",)


def _select() -> dict[str, Any]:
    """SymPy prints Piecewise as select: np.where for each piece knows traced values."""

    def select(conditions: Any, choices: Any, default: Any = np.nan) -> Any:
        out = default
        for c, v in zip(reversed(conditions), reversed(choices), strict=True):
            out = np.where(c, v, out)[()]
        return out

    return {"select": select}


def from_sympy(expr: Any, symbols: Any) -> SymbolicFunction:
    """A SymPy expression, or Matrix of them, as a NumPy function with its derivatives.

    Args:
        expr: an expression, or a Matrix or list (whose axes come before those of the arguments).
        symbols: the arguments in order: symbols, or their names with blanks or commas.

    Returns:
        A function of real numbers and arrays that broadcast against each other. It is
        differentiable by all of dualad (its derivative is SymPy's), and has `gradient(*args)`;
        common subexpressions are computed once.

    Raises:
        ArgumentError: the expression contains a symbol that is no argument.
        MissingExtraError: SymPy is not installed.

    >>> import sympy, dualad
    >>> x, k = sympy.symbols("x k")
    >>> f = from_sympy(sympy.exp(-k * x) * x**2, "x k")
    >>> float(f(1.0, 0.0)), dualad.grad(f)(1.0, 0.0)
    (1.0, 2.0)
    >>> [float(g) for g in f.gradient(1.0, 0.0)]
    [2.0, -1.0]
    """
    sympy = symbolic_extra()
    expr = sympy.Matrix(expr) if isinstance(expr, (list, tuple)) else sympy.sympify(expr)
    by_name = {s.name: s for s in expr.free_symbols}
    wanted = symbols.replace(",", " ").split() if isinstance(symbols, str) else list(symbols)
    wanted = [by_name.get(s, sympy.Symbol(s)) if isinstance(s, str) else s for s in wanted]
    unknown = sorted(map(str, expr.free_symbols - set(wanted)))
    if unknown or not wanted:
        raise ArgumentError(
            f"the expression contains {', '.join(unknown) or 'no symbol'}, which is not among the "
            "arguments: name every symbol in `symbols`"
            if unknown
            else "from_sympy needs at least one argument in `symbols`"
        )
    return SymbolicFunction(expr, wanted)
