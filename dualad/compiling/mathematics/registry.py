"""The functions of this package as numba sees them, each with its error bound.

Only code that compiles with numba imports this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...extras import required
from . import (
    error_functions,
    exponentials,
    hyperbolics,
    inverse_hyperbolics,
    inverse_trigonometry,
    logarithms,
    powers,
    roots,
    trigonometry,
)
from .arithmetic import DOUBLE, Machine, Real

__all__ = ["FUNCTIONS", "Function"]

required("numba", "compiling to machine code", "pip install 'dualad[jit]'")
from llvmlite import ir  # noqa: E402
from numba.core import types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402


NUMBERS = types.Float, types.Integer, types.Boolean


@dataclass(frozen=True)
class Function:
    """A function for generated loops.

    Attributes:
        name: the ufunc's name.
        compiled: what a numba function calls, with scalars.
        ulp: no result is further than this from the exact one, in units of its last place.
        vectorises: a loop that calls it becomes vector instructions.
        source: where the method comes from.
    """

    name: str
    compiled: Any
    ulp: float
    vectorises: bool
    source: str


def machine(context: Any, builder: Any) -> Machine:
    """What numba compiles for.

    LLVM takes half of the width of AVX-512 unless it is asked for all of it.
    """
    triple, _, features = context.codegen().magic_tuple()
    known = set(features.split(","))
    if "+avx512f" in known:
        # llvmlite knows the attributes that have no value; it prints this one as it stands.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
    return Machine(builder, "+fma" in known or triple.startswith(("aarch64", "arm64")))


def compiled(formula: Callable[..., Real]) -> Any:
    """A formula as a numba function; it is emitted where it is called.

    float32 is computed in float64 and rounded; integers and booleans become float64.
    """

    count = formula.__code__.co_argcount

    def typed(typing_context: Any, *arguments: Any) -> Any:
        if not all(isinstance(x, NUMBERS) for x in arguments):
            return None
        single = all(x == types.float32 for x in arguments)
        kind = types.float32 if single else types.float64

        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            if single:
                values = [builder.fpext(value, DOUBLE) for value in values]
            here = machine(context, builder)
            result = formula(*(Real(here, value) for value in values)).value
            return builder.fptrunc(result, ir.FloatType()) if single else result

        return kind(*[kind] * count), emit

    return intrinsic(named(typed, formula.__name__, count))


def named(typed: Callable[..., Any], name: str, count: int) -> Callable[..., Any]:
    """The same with a name and one or two arguments, which numba reads from the signature."""
    if count == 1:
        wrapped = lambda typing_context, x: typed(typing_context, x)
    else:
        wrapped = lambda typing_context, x, y: typed(typing_context, x, y)
    wrapped.__name__ = name
    return wrapped


CODY_WAITE = "Cody and Waite (1980), Remez polynomial"
FUNCTIONS: dict[str, Function] = {
    formula.__name__: Function(formula.__name__, compiled(formula), ulp, True, source)
    for formula, ulp, source in (
        (exponentials.exp, 1.0, CODY_WAITE),
        (exponentials.exp2, 1.0, CODY_WAITE),
        (exponentials.expm1, 1.0, CODY_WAITE),
        (hyperbolics.sinh, 1.0, CODY_WAITE),
        (hyperbolics.cosh, 1.0, CODY_WAITE),
        (hyperbolics.tanh, 1.0, CODY_WAITE),
        (hyperbolics.expit, 1.0, CODY_WAITE),
        (logarithms.log, 1.0, "fdlibm e_log.c"),
        (logarithms.log1p, 1.0, "fdlibm e_log.c"),
        (logarithms.log2, 1.0, "fdlibm e_log.c"),
        (logarithms.log10, 1.0, "fdlibm e_log.c"),
        (trigonometry.sin, 1.0, CODY_WAITE),
        (trigonometry.cos, 1.0, CODY_WAITE),
        (trigonometry.tan, 1.0, CODY_WAITE),
        (inverse_trigonometry.arcsin, 1.0, "fdlibm e_asin.c"),
        (inverse_trigonometry.arccos, 1.0, "fdlibm e_asin.c"),
        (inverse_trigonometry.arctan, 1.0, "Moshier (1989)"),
        (inverse_trigonometry.arctan2, 1.0, "Moshier (1989)"),
        (inverse_hyperbolics.arcsinh, 2.0, "fdlibm s_asinh.c"),
        (inverse_hyperbolics.arccosh, 2.0, "fdlibm s_asinh.c"),
        (inverse_hyperbolics.arctanh, 2.0, "fdlibm s_asinh.c"),
        (error_functions.erf, 1.0, "Shepherd and Laframboise (1981)"),
        (error_functions.erfc, 2.0, "Shepherd and Laframboise (1981)"),
        (roots.cbrt, 1.0, "fdlibm s_cbrt.c"),
        (roots.hypot, 1.0, "scaled squares with their rounding (Dekker 1971)"),
        (powers.power, 1.0, "Dekker (1971), Markstein (2000)"),
    )
}
