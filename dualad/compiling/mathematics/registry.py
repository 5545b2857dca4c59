"""The functions of this package as numba sees them, each with its error bound.

>>> FUNCTIONS["exp"].ulp
1.0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from typing import Any

from ...extras import required
from . import (
    choices,
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
from .arithmetic import JIT, Machine, Real

__all__ = ["FUNCTIONS", "Function"]

CODY_WAITE = "Cody and Waite, 1980"
FDLIBM = "K. C. Ng's fdlibm, 1993"
MOSHIER = "Moshier, 1989"
LAFRAMBOISE = "Shepherd and Laframboise, 1981"
DEKKER = "Dekker, 1971"
EXACT = "the processor"
WORK = "compiling to machine code"


@dataclass(frozen=True)
class Function:
    """A function for generated loops.

    Attributes:
        formula: states it on `Real` numbers.
        ulp: no result is further than this from the exact one, in units of its last place;
            0 where nothing is rounded.
        source: where the method comes from.
        vectorises: a loop that calls it becomes vector instructions.
    """

    formula: Callable[..., Real]
    ulp: float
    source: str
    vectorises: bool = True

    @property
    def name(self) -> str:
        """The ufunc's name."""
        return self.formula.__name__

    @cached_property
    def arguments(self) -> int:
        """How many numbers it takes."""
        return len(signature(self.formula).parameters)

    @cached_property
    def compiled(self) -> Any:
        """What a numba function calls with scalars; its instructions come in place of the call.

        Numbers of float32 alone are computed in float64 and rounded; integers and booleans
        become float64.

        Raises:
            MissingExtraError: numba is not installed.
        """
        types = required("numba.core.types", WORK, JIT)
        numbers = types.Float, types.Integer, types.Boolean

        def typed(_: Any, *given: Any) -> Any:
            if not all(isinstance(kind, numbers) for kind in given):
                return None
            single = all(kind == types.float32 for kind in given)
            kind = types.float32 if single else types.float64
            return kind(*[kind] * len(given)), self.emitted

        return required("numba.extending", WORK, JIT).intrinsic(self.declared(typed))

    def declared(self, typed: Callable[..., Any]) -> Callable[..., Any]:
        """With named arguments, from which numba reads how many there are."""

        def one(context: Any, x: Any) -> Any:
            return typed(context, x)

        def two(context: Any, x: Any, y: Any) -> Any:
            return typed(context, x, y)

        declared = one if self.arguments == 1 else two
        declared.__name__ = self.name
        return declared

    def emitted(self, context: Any, builder: Any, signature: Any, values: Any) -> Any:
        """Write the formula's instructions."""
        here = machine(context, builder)
        single = signature.return_type.bitwidth == 32
        if single:
            values = [builder.fpext(value, here.real) for value in values]
        result = self.formula(*(Real(here, value) for value in values)).value
        return builder.fptrunc(result, here.ir.FloatType()) if single else result


def machine(context: Any, builder: Any) -> Machine:
    """What numba compiles for.

    LLVM takes half of the width of AVX-512 unless it is asked for all of it.
    """
    triple, _, listed = context.codegen().magic_tuple()
    features = set(listed.split(","))
    if "+avx512f" in features:
        # llvmlite knows only attributes without a value; it prints this one as it stands.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
    return Machine(builder, "+fma" in features or triple.startswith(("aarch64", "arm64")))


#: By the ufunc's name.
FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function(exponentials.exp, 1.0, CODY_WAITE),
        Function(exponentials.exp2, 1.0, CODY_WAITE),
        Function(exponentials.expm1, 1.0, CODY_WAITE),
        Function(hyperbolics.sinh, 1.5, CODY_WAITE),
        Function(hyperbolics.cosh, 1.5, CODY_WAITE),
        Function(hyperbolics.tanh, 1.5, CODY_WAITE),
        Function(hyperbolics.expit, 1.0, CODY_WAITE),
        Function(logarithms.log, 1.0, FDLIBM),
        Function(logarithms.log1p, 1.0, FDLIBM),
        Function(logarithms.log2, 1.0, FDLIBM),
        Function(logarithms.log10, 1.0, FDLIBM),
        Function(logarithms.logaddexp, 2.0, FDLIBM),
        Function(trigonometry.sin, 1.0, CODY_WAITE),
        Function(trigonometry.cos, 1.0, CODY_WAITE),
        Function(trigonometry.tan, 1.5, CODY_WAITE),
        Function(inverse_trigonometry.arcsin, 1.5, FDLIBM),
        Function(inverse_trigonometry.arccos, 1.5, FDLIBM),
        Function(inverse_trigonometry.arctan, 1.0, MOSHIER),
        Function(inverse_trigonometry.arctan2, 1.5, MOSHIER),
        Function(inverse_hyperbolics.arcsinh, 1.5, FDLIBM),
        Function(inverse_hyperbolics.arccosh, 1.5, FDLIBM),
        Function(inverse_hyperbolics.arctanh, 1.5, FDLIBM),
        Function(error_functions.erf, 1.5, LAFRAMBOISE),
        Function(error_functions.erfc, 2.0, LAFRAMBOISE),
        Function(powers.power, 1.5, DEKKER),
        Function(roots.cbrt, 1.0, FDLIBM),
        Function(roots.hypot, 1.0, DEKKER),
        Function(choices.sqrt, 0.5, EXACT),
        Function(choices.absolute, 0.0, EXACT),
        Function(choices.fabs, 0.0, EXACT),
        Function(choices.sign, 0.0, EXACT),
        Function(choices.copysign, 0.0, EXACT),
        Function(choices.maximum, 0.0, EXACT),
        Function(choices.minimum, 0.0, EXACT),
        Function(choices.fmax, 0.0, EXACT),
        Function(choices.fmin, 0.0, EXACT),
        Function(choices.floor, 0.0, EXACT),
        Function(choices.ceil, 0.0, EXACT),
        Function(choices.trunc, 0.0, EXACT),
        Function(choices.rint, 0.0, EXACT),
    )
}
