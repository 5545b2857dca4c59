"""The functions of this package as numba sees them, each with its error bound.

Only code that compiles with numba imports this module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...extras import required
from . import exponentials, hyperbolics, logarithms, trigonometry
from .arithmetic import DOUBLE, Machine, Real

__all__ = ["FUNCTIONS", "Function"]

required("numba", "compiling to machine code", "pip install 'dualad[jit]'")
from numba.core import types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402


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

    def typed(typing_context: Any, x: Any) -> Any:
        if not isinstance(x, (types.Float, types.Integer, types.Boolean)):
            return None
        kind = types.float32 if x == types.float32 else types.float64

        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (value,) = arguments
            if kind == types.float32:
                value = builder.fpext(value, DOUBLE)
            result = formula(Real(machine(context, builder), value)).value
            return (
                builder.fptrunc(result, context.get_value_type(kind))
                if (kind == types.float32)
                else result
            )

        return kind(kind), emit

    typed.__name__ = formula.__name__
    return intrinsic(typed)


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
    )
}
